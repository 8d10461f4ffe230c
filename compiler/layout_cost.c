/* SPDX-License-Identifier: MIT
 *
 * Work, bytes, time and parameters of every operator under a shape, and of the
 * layer. The header layout.h states the rules.
 */
#include "compiler/layout_cost.h"

#include <math.h>

/* Share of the compute behind which a collective runs that it really has: it
 * takes multiprocessors and memory bandwidth from the kernels beside it. DeepSeek-V3's
 * exchange of experts has 20 of 132 multiprocessors to itself (arXiv 2412.19437, section
 * 3.2.2); Galvatron's cost model slows both sides down too (Miao et al. 2022, arXiv
 * 2211.13878). A fifth is assumed. */
#define HIDDEN_SHARE 0.8

static void operator_cost(struct layout_walk *walk, uint32_t index)
{
	switch (walk->class->operator[index].kind) {
	case IR_LINEAR:
	case IR_LM_HEAD:
		layout_product_time(walk, index);
		return;
	case IR_ATTENTION:
		layout_attention_cost(walk, index);
		return;
	case IR_RMSNORM:
	case IR_LAYERNORM:
		layout_norm_cost(walk, index);
		return;
	case IR_ROUTER:
		layout_router_cost(walk, index);
		return;
	default:
		layout_kernel_cost(walk, index);
		return;
	}
}

/* Size and shape of what the operator produces. A partial value is as large as
 * a whole one. */
static void output_shape(struct layout_walk *walk, uint32_t index)
{
	struct operator_cost *cost = &walk->result->operator[index];
	uint32_t output = walk->class->operator[index].output;
	const struct ir_value *value = &walk->class->value[output];

	for (uint32_t i = 0; i < value->rank; i++)
		cost->local[i] = layout_extent_size(walk, &value->extent[i],
						    cost->output_layout);
	if (value->router != IR_NONE) {
		double experts = layout_local_experts(
			walk, &walk->class->operator[value->router]);

		cost->local[0] = (uint64_t)experts;
		cost->local[1] = (uint64_t)llround(
			layout_value_rows(walk, output, LAYOUT_WHOLE) / experts);
	}
	cost->output_bytes =
		layout_value_bytes(walk, output, cost->output_layout);
}

/* The host launches the kernels of every operator that is not part of another's;
 * where that takes longer than the kernels, the device waits. */
static void wait_for_host(struct layout_walk *walk)
{
	struct layout_result *result = walk->result;
	double host_s = 0;

	for (uint32_t i = 0; i < walk->class->operator_count; i++)
		if (!walk->operator[i].is_fused &&
		    walk->operator[i].leader == i)
			host_s += walk->ir->topology.device.host_operator_s;
	if (result->forward_s < host_s)
		result->forward_s = host_s;
	if (result->backward_s < host_s)
		result->backward_s = host_s;
}

void layout_walk_costs(struct layout_walk *walk)
{
	const struct ir_class *class = walk->class;
	struct layout_result *result = walk->result;

	for (uint32_t i = 0; i < class->operator_count; i++)
		if (layout_is_product(&class->operator[i]))
			layout_product_work(walk, i);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		struct operator_cost *cost = &result->operator[i];

		operator_cost(walk, i);
		output_shape(walk, i);
		result->forward_s += cost->forward_s;
		result->backward_s += cost->backward_s;
		if (cost->is_expert)
			result->expert_parameters += cost->parameters;
		else
			result->parameters += cost->parameters;
		result->tied_parameters += cost->tied_parameters;
	}
	wait_for_host(walk);
}

/* Bytes of all that runs behind another micro-batch in a direction. */
static double exchanged_bytes(const struct layout_walk *walk, bool backward)
{
	double bytes = 0;

	for (size_t i = 0; i < walk->inferred.count; i++)
		if (walk->inferred.at[i].hidden == HIDDEN_BESIDE &&
		    walk->inferred.at[i].backward == backward)
			bytes += walk->inferred.at[i].bytes;
	return bytes;
}

/* How long each hidden collective has, see HIDDEN_SHARE. Gradients of keys and values
 * travel with the keys and values: each has half of the attention's time. */
void layout_walk_hidden(struct layout_walk *walk)
{
	double ring = (double)(walk->shape->context - 1) / walk->shape->context;
	double exchanged[2];

	exchanged[false] = exchanged_bytes(walk, false);
	exchanged[true] = exchanged_bytes(walk, true);
	for (size_t i = 0; i < walk->inferred.count; i++) {
		struct inferred *inferred = &walk->inferred.at[i];
		const struct operator_state *by;

		if (inferred->hidden == HIDDEN_NOT)
			continue;
		if (inferred->hidden == HIDDEN_BESIDE) {
			inferred->slowing = 1 - HIDDEN_SHARE;
			inferred->hidden_s = HIDDEN_SHARE * inferred->bytes /
					     exchanged[inferred->backward] *
					     (inferred->backward ?
						      walk->result->forward_s :
						      walk->result->backward_s);
			continue;
		}
		by = &walk->operator[inferred->hidden_by];
		if (inferred->hidden == HIDDEN_INPUT_GRADIENT)
			inferred->hidden_s = by->input_gradient_s;
		else if (inferred->hidden == HIDDEN_WEIGHT_GRADIENT)
			inferred->hidden_s = by->weight_gradient_s;
		else if (inferred->backward)
			inferred->hidden_s = by->core_backward_s * ring / 2;
		else
			inferred->hidden_s = by->core_forward_s * ring;
		inferred->hidden_s *= HIDDEN_SHARE;
	}
}

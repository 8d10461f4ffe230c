/* SPDX-License-Identifier: MIT
 *
 * Cost of matrix products: linear layers, the output layer, routers.
 */
#include "compiler/layout_cost.h"

#include "compiler/operator_time.h"

/* Bytes per score of a router, in 32 bits: a copy is written, turned to
 * probabilities, and scanned for the largest; backward the same without the scan. */
#define ROUTER_FORWARD_BYTES (2 + 4 + 8 + 4)
#define ROUTER_BACKWARD_BYTES (8 + 4 + 2)

/* Layout in which the weight's contracted extent lies. */
static enum layout from_layout(const struct operator_state *state)
{
	return state->product == PRODUCT_ROW ? LAYOUT_CUT : LAYOUT_WHOLE;
}

static enum layout to_layout(const struct operator_state *state)
{
	return state->product == PRODUCT_COLUMN ? LAYOUT_CUT : LAYOUT_WHOLE;
}

void layout_product_work(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_state *state = &walk->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];
	const struct ir_operator *router = layout_router(walk, index);
	double m = layout_value_rows(walk, operator->input[0],
				     state->input_layout);
	double k = layout_extent(walk, &operator->from, from_layout(state));
	double n = layout_extent(walk, &operator->to, to_layout(state));
	double experts = router ? layout_local_experts(walk, router) : 1;

	cost->forward_flops = 2 * m * k * n;
	cost->backward_flops = 2 * cost->forward_flops;
	cost->parameters = experts * (k * n + (operator->bias ? n : 0));
	cost->tied_parameters = operator->tied ? k * n : 0;
	cost->is_expert = router != NULL;
	cost->weight_from = k;
	cost->weight_to = n;
	cost->weight_count = experts;
	walk->operator[state->leader].group_n += n;
}

/* Times of the fused group, once all of its columns are known. */
void layout_product_time(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_state *state = &walk->operator[index];
	struct operator_state *leader = &walk->operator[state->leader];
	struct operator_cost *cost = &walk->result->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	enum ir_precision precision = walk->ir->job.precision;
	const struct ir_operator *router = layout_router(walk, index);
	double experts = router ? layout_local_experts(walk, router) : 1;
	double m = layout_value_rows(walk, operator->input[0],
				     state->input_layout) / experts;
	double k = layout_extent(walk, &operator->from, from_layout(state));
	double n = leader->group_n;
	double share = layout_extent(walk, &operator->to, to_layout(state)) / n;

	/* The head stays in 16 bits when the layers are trained in 8. */
	if (operator->kind == IR_LM_HEAD && precision == IR_FP8)
		precision = IR_BF16;
	if (state->leader == index) {
		state->input_gradient_s =
			operator_time_grouped(device, precision, experts, m, n, k);
		state->weight_gradient_s =
			operator_time_grouped(device, precision, experts, k, m, n) +
			operator_time_accumulate(device, experts * k * n);
	}
	cost->forward_s = share * operator_time_grouped(device, precision, experts,
							m, k, n);
	cost->backward_s = share * (leader->input_gradient_s +
				    leader->weight_gradient_s);
	/* A bias' gradient adds up the output's over the rows. */
	if (operator->bias)
		cost->backward_s += operator_time_memory(
			device, walk->element_bytes * experts * m * share * n);
}

/* A product, and kernels over the scores of all experts. */
void layout_router_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_cost *cost = &walk->result->operator[index];
	enum ir_precision precision = walk->ir->job.precision;
	double m = layout_value_rows(walk, operator->input[0],
				     walk->operator[index].input_layout);
	double k = layout_extent(walk, &operator->from, LAYOUT_WHOLE);
	double n = layout_extent(walk, &operator->to, LAYOUT_WHOLE);

	if (precision == IR_FP8)
		precision = IR_BF16;
	cost->weight_from = k;
	cost->weight_to = n;
	cost->weight_count = 1;
	cost->parameters = k * n + (operator->bias ? n : 0);
	cost->forward_flops = 2 * m * k * n;
	cost->backward_flops = 2 * cost->forward_flops;
	layout_move(walk, index, ROUTER_FORWARD_BYTES * m * n,
		    ROUTER_BACKWARD_BYTES * m * n);
	cost->forward_s += operator_time_gemm(device, precision, m, k, n);
	cost->backward_s += operator_time_gemm(device, precision, m, n, k) +
			    operator_time_gemm(device, precision, k, m, n) +
			    operator_time_accumulate(device, k * n);
}

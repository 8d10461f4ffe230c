/* SPDX-License-Identifier: MIT
 *
 * Cost of operators whose kernels only layout_move bytes: tables, elementwise work, losses,
 * the permutations around experts; and of operators the spec counts itself.
 */
#include "compiler/layout_cost.h"

#include "compiler/operator_time.h"

/* Bytes per logit of the loss kernels beyond reading (forward) or writing
 * (backward) it once in the training precision: a copy in 32 bits is written,
 * scanned for the largest, shifted by it, turned to exponentials, added up and
 * divided; backward scales these and reads them to convert
 * (Megatron-LM, core/tensor_parallel/cross_entropy.py). */
#define LOSS_FORWARD_BYTES (4 + 4 + 8 + 8 + 4 + 8)
#define LOSS_BACKWARD_BYTES (8 + 4)

void layout_move(struct layout_walk *walk, uint32_t index,
		 double forward_bytes, double backward_bytes)
{
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_cost *cost = &walk->result->operator[index];

	cost->forward_bytes += forward_bytes;
	cost->backward_bytes += backward_bytes;
	cost->forward_s += operator_time_memory(device, forward_bytes);
	cost->backward_s += operator_time_memory(device, backward_bytes);
}

/* Rows are read and written, and again for learned positions. Backward, the
 * gradient of the table is made dense in the training precision and added to
 * the 32-bit one, as autograd does it. */
static void embedding_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];
	double to = layout_extent(walk, &operator->to, LAYOUT_CUT);
	double table = layout_extent(walk, &operator->from, LAYOUT_CUT) * to;
	double output = layout_value_bytes(walk, operator->output, LAYOUT_CUT);
	double positions = (double)operator->positions * to;
	double types = (double)operator->types * to;
	double e = walk->element_bytes;

	cost->parameters = table + positions + types;
	layout_move(walk, index, 2 * output, output + table * (2 * e + 8));
	if (operator->positions)
		layout_move(walk, index, 3 * output, output + positions * (2 * e + 8));
	if (operator->types)
		layout_move(walk, index, 3 * output, output + types * (2 * e + 8));
}

static void loss_cost(struct layout_walk *walk, uint32_t index)
{
	uint32_t input = walk->class->operator[index].input[0];
	double logits = layout_value_elements(walk, input,
					      walk->operator[index].input_layout);

	layout_move(walk, index, logits * (LOSS_FORWARD_BYTES + walk->element_bytes),
		    logits * (LOSS_BACKWARD_BYTES + walk->element_bytes));
}

static void unary_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double count = layout_value_elements(walk, operator->output, layout);
	double e = walk->element_bytes;

	if (walk->operator[index].is_fused)
		return;
	if (operator->kind == IR_DROPOUT)
		layout_move(walk, index, count * (2 * e + MASK_BYTES),
			    count * (2 * e + MASK_BYTES));
	else
		layout_move(walk, index, count * 2 * e, count * 3 * e);
}

static void binary_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double count = layout_value_elements(walk, operator->output, layout);
	double e = walk->element_bytes;

	if (operator->kind == IR_MULTIPLY) {
		layout_move(walk, index, count * 3 * e, count * 5 * e);
		return;
	}
	if (!walk->operator[index].takes_dropout) {
		layout_move(walk, index, count * 3 * e, count * 3 * e);
		return;
	}
	/* The mask is written on the way; undoing it is a kernel of its own. */
	layout_move(walk, index, count * (3 * e + MASK_BYTES), count * 3 * e);
	layout_move(walk, index, 0, count * (2 * e + MASK_BYTES));
}

/* Numbers are per token and device; the tensor group shares them where the
 * operator works on a cut value or by sequence. */
static void custom_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_cost *cost = &walk->result->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double tensor = walk->shape->tensor;
	double tokens = (double)walk->shape->micro_batch *
			(double)(walk->ir->model.sequence_length /
				 walk->shape->context);
	double peak = device->peak_flops[walk->ir->job.precision] *
		      device->gemm_efficiency * (1 - device->throttling);
	double bytes;

	if (layout == LAYOUT_CUT || layout == LAYOUT_SEQUENCE)
		tokens /= tensor;
	cost->parameters = operator->custom_parameters /
			   (layout == LAYOUT_CUT ? tensor : 1);
	cost->forward_flops = tokens * operator->custom_flops;
	cost->backward_flops = 2 * cost->forward_flops;
	bytes = tokens * (operator->custom_read_bytes +
			  operator->custom_write_bytes);
	layout_move(walk, index, bytes, 2 * bytes);
	if (peak > 0) {
		double work_s = cost->forward_flops / peak;

		if (work_s > cost->forward_s)
			cost->forward_s = work_s;
		if (2 * work_s > cost->backward_s)
			cost->backward_s = 2 * work_s;
	}
}

/* Bytes of the rows that a device sends to the experts, or gets back. */
static double sent_bytes(const struct layout_walk *walk, uint32_t routed)
{
	return layout_value_bytes(walk, routed, LAYOUT_WHOLE) /
	       walk->shape->expert_tensor;
}

/* Rows are put in the order of the ranks they go to, on the way out and back;
 * what has come together is put in the order of the experts and back again. */
static void permute_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	bool out = operator->kind == IR_DISPATCH;
	uint32_t routed = out ? operator->output : operator->input[0];
	uint32_t tokens = out ? operator->input[0] : operator->output;
	double held = layout_value_bytes(walk, tokens, LAYOUT_SEQUENCE);
	double sent = sent_bytes(walk, routed);
	double all = layout_value_bytes(walk, routed, LAYOUT_WHOLE);
	const struct ir_operator *router =
		&walk->class->operator[walk->class->value[routed].router];

	layout_move(walk, index, held + sent, held + sent);
	if (walk->shape->expert * walk->shape->expert_tensor > 1 &&
	    layout_local_experts(walk, router) > 1)
		layout_move(walk, index, 2 * all, 2 * all);
}

void layout_kernel_cost(struct layout_walk *walk, uint32_t index)
{
	switch (walk->class->operator[index].kind) {
	case IR_EMBEDDING:
		embedding_cost(walk, index);
		return;
	case IR_CROSS_ENTROPY:
		loss_cost(walk, index);
		return;
	case IR_ADD:
	case IR_MULTIPLY:
		binary_cost(walk, index);
		return;
	case IR_CUSTOM:
		custom_cost(walk, index);
		return;
	case IR_DISPATCH:
	case IR_COMBINE:
		permute_cost(walk, index);
		return;
	case IR_AUXILIARY_LOSS:
		return;
	default:
		unary_cost(walk, index);
		return;
	}
}

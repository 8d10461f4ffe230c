/* SPDX-License-Identifier: MIT
 *
 * Cost of norms: in one kernel, or written in framework operations.
 */
#include "compiler/layout_cost.h"

/* Bytes that each kernel of an RMSNorm written in framework operations moves per
 * element: `half` numbers in the training precision, `full` in 32 bits. Forward x is
 * converted, squared, averaged, scaled, converted back and weighted, and the mean
 * goes through two more kernels of a number a row (huggingface/transformers,
 * LlamaRMSNorm); backward is what autograd runs for each. */
struct eager_kernel {
	double half, full;
};

static const struct eager_kernel eager_forward[] = {
	{ 1, 1 }, { 0, 2 }, { 0, 1 }, { 0, 2 }, { 1, 1 }, { 2, 0 },
};

static const struct eager_kernel eager_backward[] = {
	{ 2, 0 },		/* to the scaled rows */
	{ 3, 0 }, { 1, 0 },	/* to the weight, added up */
	{ 1, 1 },		/* converted */
	{ 0, 2 },		/* to x by the scale, */
	{ 0, 3 }, { 0, 1 },	/* to the scale, added up, */
	{ 0, 1 },		/* spread over the row, */
	{ 0, 2 }, { 0, 2 }, { 0, 3 },	/* times 2 x */
	{ 0, 3 },		/* both together */
	{ 1, 1 },		/* converted back */
};

static double eager_bytes(const struct eager_kernel *kernel, double element_bytes)
{
	return kernel->half * element_bytes + 4 * kernel->full;
}

static void eager_norm(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double count = layout_value_elements(walk, operator->input[0], layout);
	double rows = layout_value_rows(walk, operator->input[0], layout);
	double e = walk->element_bytes;

	for (size_t i = 0; i < sizeof(eager_forward) / sizeof(*eager_forward); i++)
		layout_move(walk, index, count * eager_bytes(&eager_forward[i], e), 0);
	for (size_t i = 0; i < sizeof(eager_backward) / sizeof(*eager_backward); i++)
		layout_move(walk, index, 0, count * eager_bytes(&eager_backward[i], e));
	for (int i = 0; i < 2; i++)
		layout_move(walk, index, 8 * rows, 12 * rows);
}

void layout_norm_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_value *input = &walk->class->value[operator->input[0]];
	enum layout layout = walk->operator[index].input_layout;
	double bytes = layout_value_bytes(walk, operator->input[0], layout);
	double width = operator->from.term_count ?
			       layout_extent(walk, &operator->from, LAYOUT_WHOLE) :
		       input->rank == 0 ? 1 :
		layout_extent(walk, &input->extent[input->rank - 1], layout);

	walk->result->operator[index].parameters =
		operator->kind == IR_LAYERNORM && operator->bias ? 2 * width :
								   width;
	if (operator->eager)
		eager_norm(walk, index);
	else
		/* Backward x and dy are read for dx and again for the weight's
		 * gradient. */
		layout_move(walk, index, 2 * bytes, 5 * bytes);
}

/* SPDX-License-Identifier: MIT
 *
 * Activations kept for the backward pass, derived per value from what each
 * operator's backward needs, and the largest transient of one operator.
 *
 *	product, norm, activation	its input
 *	flash attention			query, key (with its shared part, if any, in
 *					every head), value and result
 *	attention with scores		query, key, value; per score the softmax
 *					result and, with dropout, a mask byte and the
 *					result of dropout
 *	multiplication			both inputs; an activation fused into it
 *					is computed again from its own input
 *	dropout				a mask byte per element
 *	loss				the logits in 32 bits, in place of the
 *					exponentials
 *	router				its input, and its scores in 32 bits
 *	addition, embedding, dispatch	nothing
 *	  and combination of experts
 *
 * A value lies as it rests between operators: by sequence rather than gathered.
 */
#include "compiler/layout_walk.h"

/* First operator that keeps each value, and whether the value is only kept by
 * attention's core, which selective recomputation runs again. */
struct keeper {
	uint32_t operator;		/* IR_NONE: not kept */
	double element_bytes;
	bool only_core;
};

static void keep(const struct layout_walk *walk, struct keeper *keeper,
		 uint32_t value, uint32_t operator, bool core)
{
	struct keeper *of = &keeper[value];

	if (of->operator == IR_NONE) {
		of->operator = operator;
		of->element_bytes = walk->element_bytes;
		of->only_core = core;
	}
	of->only_core &= core;
}

static bool is_fused_activation(const struct layout_walk *walk, uint32_t value)
{
	uint32_t producer = walk->class->value[value].producer;

	return producer != IR_NONE && walk->operator[producer].is_fused &&
	       layout_is_activation(&walk->class->operator[producer]);
}

/* Keys with a shared part are kept as attention puts them together. */
static bool is_part_of_key(const struct ir_operator *operator, uint32_t input)
{
	return operator->kind == IR_ATTENTION && operator->input_count > 3 &&
	       (input == 1 || input == 3);
}

/* Values that one operator keeps. */
static void keep_values(const struct layout_walk *walk, struct keeper *keeper,
			uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];

	switch (operator->kind) {
	case IR_ADD:
	case IR_EMBEDDING:
	case IR_DROPOUT:
	case IR_CUSTOM:
	case IR_DISPATCH:
	case IR_COMBINE:
	case IR_AUXILIARY_LOSS:
		return;
	case IR_MULTIPLY:
		for (uint32_t i = 0; i < operator->input_count; i++)
			if (!is_fused_activation(walk, operator->input[i]))
				keep(walk, keeper, operator->input[i], index,
				     false);
		return;
	case IR_CROSS_ENTROPY:
		keep(walk, keeper, operator->input[0], index, false);
		keeper[operator->input[0]].element_bytes = 4;
		return;
	default:
		for (uint32_t i = 0; i < operator->input_count; i++)
			if (!is_part_of_key(operator, i))
				keep(walk, keeper, operator->input[i], index,
				     false);
		if (operator->kind == IR_ATTENTION && operator->flash)
			keep(walk, keeper, operator->output, index, true);
		return;
	}
}

/* Bytes of the scores that attention without flash keeps. */
static double score_bytes(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	double tokens = (double)walk->ir->model.sequence_length;
	double scores = (double)walk->shape->micro_batch *
			(double)layout_axis_size(walk, operator->heads_axis,
						 walk->operator[index].input_layout) *
			(tokens / walk->shape->context) * tokens;

	return scores * (operator->dropout > 0 ? 2 * walk->element_bytes + 1 :
						 walk->element_bytes);
}

/* What an operator keeps that is no value of the graph. */
static void keep_own(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double tokens;

	switch (operator->kind) {
	case IR_DROPOUT:
		cost->saved_bytes += layout_value_elements(
			walk, operator->output, layout);
		return;
	case IR_ROUTER:
		cost->saved_bytes += 4 * layout_value_elements(
			walk, operator->output, layout);
		return;
	case IR_ATTENTION:
		if (operator->input_count > 3)
			cost->saved_bytes += layout_key_bytes(walk, index);
		if (operator->flash)
			return;
		cost->core_saved_bytes += score_bytes(walk, index);
		cost->saved_bytes += score_bytes(walk, index);
		return;
	case IR_CUSTOM:
		tokens = (double)walk->shape->micro_batch *
			 (double)(walk->ir->model.sequence_length /
				  walk->shape->context);
		if (layout == LAYOUT_CUT || layout == LAYOUT_SEQUENCE)
			tokens /= walk->shape->tensor;
		cost->saved_bytes += tokens * operator->custom_saved_bytes;
		return;
	default:
		return;
	}
}

/* Gradients of inputs and output together with what was gathered. */
static double transient_bytes(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct operator_state *state = &walk->operator[index];
	const struct operator_cost *cost = &walk->result->operator[index];
	double bytes = 0;

	for (uint32_t i = 0; i < operator->input_count; i++) {
		double input = layout_value_bytes(walk, operator->input[i],
						  state->input_layout);

		if (operator->kind != IR_EMBEDDING)
			bytes += state->gathers ? 2 * input : input;
	}
	if (layout_is_product(operator))
		return bytes + walk->element_bytes * state->group_n *
				       layout_value_rows(walk, operator->input[0],
							 state->input_layout);
	/* Rows leave and arrive in buffers of their own. */
	if (operator->kind == IR_DISPATCH)
		bytes += 2 * cost->output_bytes / walk->shape->expert_tensor;
	if (operator->kind == IR_COMBINE)
		bytes += 2 * layout_value_bytes(walk, operator->input[0],
						LAYOUT_WHOLE) /
			 walk->shape->expert_tensor;
	/* A table's gradient is dense in the training precision. */
	if (operator->kind == IR_EMBEDDING)
		bytes += walk->element_bytes * cost->parameters;
	if (operator->kind == IR_ATTENTION && !operator->flash)
		bytes += score_bytes(walk, index);
	return bytes + cost->output_bytes;
}

void layout_walk_saved(struct layout_walk *walk)
{
	const struct ir_class *class = walk->class;
	struct layout_result *result = walk->result;
	struct keeper *keeper = ARENA_ARRAY(walk->arena, struct keeper,
					    class->value_count);

	for (uint32_t i = 0; i < class->value_count; i++)
		keeper[i].operator = IR_NONE;
	for (uint32_t i = 0; i < class->operator_count; i++) {
		double transient = transient_bytes(walk, i);

		keep_values(walk, keeper, i);
		if (transient > result->working_bytes)
			result->working_bytes = transient;
	}
	for (uint32_t i = 0; i < class->value_count; i++) {
		const struct value_state *state = &walk->value[i];
		struct operator_cost *cost;
		double bytes;

		if (keeper[i].operator == IR_NONE)
			continue;
		bytes = keeper[i].element_bytes *
			layout_value_elements(walk, i,
					      state->saved_whole ? LAYOUT_WHOLE :
								   state->layout);
		cost = &result->operator[keeper[i].operator];
		cost->saved_bytes += bytes;
		if (keeper[i].only_core)
			cost->core_saved_bytes += bytes;
	}
	for (uint32_t i = 0; i < class->operator_count; i++)
		keep_own(walk, i);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		result->saved_bytes += result->operator[i].saved_bytes;
		result->core_saved_bytes += result->operator[i].core_saved_bytes;
	}
	result->input_saved = class->input != IR_NONE &&
			      keeper[class->input].operator != IR_NONE;
}

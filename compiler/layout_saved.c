/* SPDX-License-Identifier: MIT
 *
 * Activations kept for the backward pass, derived per value from what each
 * operator's backward needs, and the largest transient of one operator.
 *
 *	product, norm, activation	its input
 *	norm of many kernels		its input in 32 bits, and the normalised rows
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
 *	product inside layers, fp8	an 8-bit copy of its input, which is all that its
 *					weight gradient reads
 *	addition, embedding, dispatch	nothing
 *	  and combination of experts
 *
 * A value lies as it rests between operators: by sequence rather than gathered.
 * Selective recomputation drops what only operators keep that are redone with
 * the one that makes it, and keeps what enters a redone module.
 *
 * fp8: Transformer Engine (pytorch/module/linear.py, grouped_linear.py) quantises the
 * input of each product and keeps the copy for the weight gradient alone; who
 * else needs the value keeps it in 16 bits. Scales are neglected.
 */
#include "compiler/layout_walk.h"

/* First operator that keeps each value, and whether it is kept as well under
 * selective recomputation. */
struct keeper {
	uint32_t operator;		/* IR_NONE: not kept */
	double element_bytes;
	bool selective;
	uint32_t reader;		/* of a module that it stays for; where selective
					 * and not kept */
};

/* The module that makes a value again; RECOMPUTE_MODULE_COUNT: none. */
static enum recompute_module module_of(const struct layout_walk *walk,
				       uint32_t value)
{
	uint32_t producer = walk->class->value[value].producer;

	return producer == IR_NONE ? RECOMPUTE_MODULE_COUNT :
				     walk->operator[producer].module;
}

/* Whether a value stays for an operator that keeps or, being redone, reads it. */
static bool stays(const struct layout_walk *walk, uint32_t value,
		  uint32_t operator)
{
	enum recompute_module module = module_of(walk, value);

	if (module == RECOMPUTE_MODULE_COUNT)
		return true;
	return !recompute_module_discards(module) &&
	       module != walk->operator[operator].module;
}

static void keep(const struct layout_walk *walk, struct keeper *keeper,
		 uint32_t value, uint32_t operator)
{
	struct keeper *of = &keeper[value];

	if (of->operator == IR_NONE) {
		of->operator = operator;
		of->element_bytes = walk->element_bytes;
	}
	of->selective |= stays(walk, value, operator);
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

/* Whether an operator keeps an 8-bit copy of its input in place of the input. The head
 * is trained in 16 bits. */
static bool keeps_copy(const struct layout_walk *walk, uint32_t index)
{
	return walk->ir->job.precision == IR_FP8 &&
	       walk->class->operator[index].kind == IR_LINEAR;
}

/* Values that one operator keeps. */
static void keep_values(const struct layout_walk *walk, struct keeper *keeper,
			uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];

	if (keeps_copy(walk, index))
		return;
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
				keep(walk, keeper, operator->input[i], index);
		return;
	case IR_CROSS_ENTROPY:
		keep(walk, keeper, operator->input[0], index);
		keeper[operator->input[0]].element_bytes = 4;
		return;
	case IR_RMSNORM:
		if (operator->eager)
			return;
		keep(walk, keeper, operator->input[0], index);
		return;
	default:
		for (uint32_t i = 0; i < operator->input_count; i++)
			if (!is_part_of_key(operator, i))
				keep(walk, keeper, operator->input[i], index);
		if (operator->kind == IR_ATTENTION && operator->flash)
			keep(walk, keeper, operator->output, index);
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

/* Elements of a value as it lies while it is kept. */
static double kept_elements(const struct layout_walk *walk, uint32_t value)
{
	const struct value_state *state = &walk->value[value];

	return layout_value_elements(walk, value, state->saved_whole ?
							  LAYOUT_WHOLE :
							  state->layout);
}

/* Bytes of what an operator keeps that is no value of the graph. */
static double own_bytes(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double tokens;

	switch (operator->kind) {
	case IR_LINEAR:
		/* One for all products in a kernel. */
		return keeps_copy(walk, index) &&
				       walk->operator[index].leader == index ?
			       kept_elements(walk, operator->input[0]) : 0;
	case IR_DROPOUT:
		return layout_value_elements(walk, operator->output, layout);
	case IR_ROUTER:
		return 4 * layout_value_elements(walk, operator->output, layout);
	case IR_RMSNORM:
		return operator->eager ?
			       (4 + walk->element_bytes) *
				       layout_value_elements(walk, operator->input[0],
							     layout) : 0;
	case IR_ATTENTION:
		return operator->flash ? 0 : score_bytes(walk, index);
	case IR_CUSTOM:
		tokens = (double)walk->shape->micro_batch *
			 (double)(walk->ir->model.sequence_length /
				  walk->shape->context);
		if (layout == LAYOUT_CUT || layout == LAYOUT_SEQUENCE)
			tokens /= walk->shape->tensor;
		return tokens * operator->custom_saved_bytes;
	default:
		return 0;
	}
}

static void count_selective(struct layout_walk *walk, uint32_t operator,
			    double bytes)
{
	walk->result->operator[operator].selective_saved_bytes += bytes;
	walk->result->selective_saved_bytes += bytes;
}

/* Counts bytes that an operator keeps, for one policy and the other. */
static void count(struct layout_walk *walk, uint32_t operator, double bytes,
		  bool selective)
{
	walk->result->operator[operator].saved_bytes += bytes;
	walk->result->saved_bytes += bytes;
	if (selective)
		count_selective(walk, operator, bytes);
}

/* Bytes that a module makes again while it is redone. */
static void count_redone(struct layout_walk *walk, double *redone,
			 enum recompute_module module, double bytes)
{
	if (module == RECOMPUTE_MODULE_COUNT)
		return;
	redone[module] += bytes;
	if (walk->result->selective_working_bytes < redone[module])
		walk->result->selective_working_bytes = redone[module];
}

/* Whether what an operator keeps of its own stays under selective recomputation. A
 * product keeps its input as it is, not a copy, where a module discards it and
 * makes it again. */
static bool own_stays(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];

	return walk->operator[index].module == RECOMPUTE_MODULE_COUNT &&
	       (operator->kind != IR_LINEAR ||
		stays(walk, operator->input[0], index));
}

static void count_own(struct layout_walk *walk, uint32_t index, double *redone)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum recompute_module module = walk->operator[index].module;
	double bytes = own_bytes(walk, index);
	bool stays = own_stays(walk, index);

	count(walk, index, bytes, stays);
	count_redone(walk, redone, module, bytes);
	if (operator->kind != IR_ATTENTION || operator->input_count < 4)
		return;
	/* Keys are put together where the rotation is, see is_part_of_key. */
	module = module_of(walk, operator->input[1]);
	bytes = layout_key_bytes(walk, index);
	stays = module == RECOMPUTE_MODULE_COUNT;
	count(walk, index, bytes, stays);
	count_redone(walk, redone, module, bytes);
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

static void stay(struct keeper *keeper, uint32_t reader)
{
	if (!keeper->selective)
		keeper->reader = reader;
	keeper->selective = true;
}

/* A module that is redone keeps what enters it. */
static void keep_entering(const struct layout_walk *walk, struct keeper *keeper,
			  uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];

	if (walk->operator[index].module == RECOMPUTE_MODULE_COUNT)
		return;
	for (uint32_t i = 0; i < operator->input_count; i++)
		if (!is_part_of_key(operator, i) &&
		    stays(walk, operator->input[i], index))
			stay(&keeper[operator->input[i]], index);
}

/* The shared part of a key enters the module that puts keys together. */
static void keep_shared_key(const struct layout_walk *walk,
			    struct keeper *keeper, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];

	if (operator->kind == IR_ATTENTION && operator->input_count > 3 &&
	    module_of(walk, operator->input[1]) != RECOMPUTE_MODULE_COUNT)
		stay(&keeper[operator->input[3]], index);
}

static void count_value(struct layout_walk *walk, const struct keeper *keeper,
			uint32_t value, double *redone)
{
	bool kept = keeper->operator != IR_NONE;
	double bytes = (kept ? keeper->element_bytes : walk->element_bytes) *
		       kept_elements(walk, value);

	if (kept)
		count(walk, keeper->operator, bytes, keeper->selective);
	else if (keeper->selective)
		count_selective(walk, keeper->reader, bytes);
	if (kept && !keeper->selective)
		count_redone(walk, redone, module_of(walk, value), bytes);
}

void layout_walk_saved(struct layout_walk *walk)
{
	const struct ir_class *class = walk->class;
	struct layout_result *result = walk->result;
	double redone[RECOMPUTE_MODULE_COUNT] = { 0 };
	struct keeper *keeper = ARENA_ARRAY(walk->arena, struct keeper,
					    class->value_count);

	for (uint32_t i = 0; i < class->value_count; i++)
		keeper[i].operator = IR_NONE;
	for (uint32_t i = 0; i < class->operator_count; i++) {
		double transient = transient_bytes(walk, i);

		keep_values(walk, keeper, i);
		keep_entering(walk, keeper, i);
		keep_shared_key(walk, keeper, i);
		if (transient > result->working_bytes)
			result->working_bytes = transient;
	}
	for (uint32_t i = 0; i < class->value_count; i++)
		count_value(walk, &keeper[i], i, redone);
	for (uint32_t i = 0; i < class->operator_count; i++)
		count_own(walk, i, redone);
	result->input_saved = class->input != IR_NONE &&
			      keeper[class->input].operator != IR_NONE;
}

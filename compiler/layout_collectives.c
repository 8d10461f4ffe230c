/* SPDX-License-Identifier: MIT
 *
 * The walk over the operator graph: the layout of every value and the
 * collectives that conversions imply, forward and transposed.
 */
#include "compiler/layout_convert.h"

static void produce(struct layout_walk *walk, uint32_t operator,
		    enum layout layout, uint32_t cause)
{
	uint32_t output = walk->class->operator[operator].output;

	walk->value[output].layout = layout;
	walk->value[output].cause = cause;
	walk->result->operator[operator].output_layout = layout;
}

static void visit_product(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_state *state = &walk->operator[index];
	uint32_t from = layout_cut_axis(walk, &operator->from);
	uint32_t to = layout_cut_axis(walk, &operator->to);
	uint32_t input = operator->input[0];

	switch (state->product) {
	case PRODUCT_COLUMN:
		layout_want_whole(walk, input, index, to, true);
		state->input_layout = LAYOUT_WHOLE;
		produce(walk, index, LAYOUT_CUT, to);
		return;
	case PRODUCT_ROW:
		layout_want_cut(walk, input, index, from);
		state->input_layout = LAYOUT_CUT;
		produce(walk, index, LAYOUT_PARTIAL, from);
		return;
	default:
		layout_settle(walk, input);
		state->input_layout = walk->value[input].layout;
		produce(walk, index, state->input_layout,
			walk->value[input].cause);
		return;
	}
}

static void visit_embedding(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t from = layout_cut_axis(walk, &operator->from);
	uint32_t to = layout_cut_axis(walk, &operator->to);

	walk->operator[index].input_layout = LAYOUT_WHOLE;
	if (from != IR_NONE)
		produce(walk, index, LAYOUT_PARTIAL, from);
	else if (to != IR_NONE)
		produce(walk, index, LAYOUT_CUT, to);
	else
		produce(walk, index, LAYOUT_WHOLE, IR_NONE);
}

/* Keys and values of the whole sequence pass every context rank, forward and
 * again backward, where their gradients travel with them: the two share what
 * attention hides. */
static void exchange_keys(struct layout_walk *walk, uint32_t index)
{
	static const enum collective kind[] = { COLLECTIVE_ALL_GATHER,
						COLLECTIVE_ALL_GATHER,
						COLLECTIVE_REDUCE_SCATTER };
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	uint32_t axis = layout_sequence_axis(walk->class);
	double bytes = layout_key_bytes(walk, index) +
		       layout_value_bytes(walk, operator->input[2], layout);

	if (walk->shape->context == 1)
		return;
	for (int i = 0; i < 3; i++) {
		struct inferred *inferred = layout_record(walk, kind[i], i > 0, index,
							  operator->input[1], axis);

		inferred->group = GROUP_CONTEXT;
		inferred->bytes = bytes * walk->shape->context;
		inferred->hidden = HIDDEN_ATTENTION;
		inferred->hidden_by = index;
	}
}

static void visit_attention(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t cut = layout_value_cut_axis(walk, operator->output);
	enum layout layout = cut == IR_NONE ? LAYOUT_WHOLE : LAYOUT_CUT;

	for (uint32_t i = 0; i < operator->input_count; i++) {
		if (cut == IR_NONE)
			layout_want_whole(walk, operator->input[i], index,
					  layout_value_cut_axis(walk,
								operator->input[i]),
					  false);
		else
			layout_want_cut(walk, operator->input[i], index, cut);
	}
	walk->operator[index].input_layout = layout;
	exchange_keys(walk, index);
	produce(walk, index, layout, cut);
}

/* An all-reduce of count numbers in 32 bits per row of the input. */
static void reduce_rows(struct layout_walk *walk, uint32_t index, bool backward,
			double count)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t input = operator->input[0];
	struct inferred *inferred =
		layout_record(walk, COLLECTIVE_ALL_REDUCE, backward, index, input,
			      layout_value_cut_axis(walk, input));

	inferred->bytes =
		4 * count * layout_value_rows(walk, input, LAYOUT_CUT);
}

/* Whether the last extent of the operator's input lies cut. */
static bool last_is_cut(const struct layout_walk *walk, uint32_t index)
{
	uint32_t input = walk->class->operator[index].input[0];
	const struct ir_value *value = &walk->class->value[input];

	if (walk->class->operator[index].from.term_count)
		return false;		/* a norm within heads */
	return walk->value[input].layout == LAYOUT_CUT && value->rank &&
	       layout_cut_axis(walk, &value->extent[value->rank - 1]) !=
		       IR_NONE;
}

/* A norm over a cut axis adds up its statistics. */
static void visit_norm(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct value_state *input;

	layout_settle(walk, operator->input[0]);
	input = &walk->value[operator->input[0]];
	walk->operator[index].input_layout = input->layout;
	if (last_is_cut(walk, index)) {
		double count = operator->kind == IR_LAYERNORM ? 2 : 1;

		reduce_rows(walk, index, false, count);
		reduce_rows(walk, index, true, count);
	}
	produce(walk, index, input->layout, input->cause);
}

/* Over a cut vocabulary: largest logit, sum of exponentials, logit of the label. */
static void visit_cross_entropy(struct layout_walk *walk, uint32_t index)
{
	uint32_t input = walk->class->operator[index].input[0];

	layout_settle(walk, input);
	walk->operator[index].input_layout = walk->value[input].layout;
	if (!last_is_cut(walk, index)) {
		produce(walk, index, walk->value[input].layout,
			walk->value[input].cause);
		return;
	}
	for (int i = 0; i < 3; i++)
		reduce_rows(walk, index, false, 1);
	produce(walk, index, LAYOUT_WHOLE, IR_NONE);
}

static void visit_unary(struct layout_walk *walk, uint32_t index)
{
	uint32_t input = walk->class->operator[index].input[0];

	layout_settle(walk, input);
	walk->operator[index].input_layout = walk->value[input].layout;
	produce(walk, index, walk->value[input].layout,
		walk->value[input].cause);
}

/* Both inputs in one layout: cut if either is, else by sequence if either is. */
static void visit_binary(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t a = operator->input[0], b = operator->input[1];
	struct value_state *left = &walk->value[a], *right = &walk->value[b];
	enum layout layout;

	if (operator->kind == IR_ADD && left->layout == LAYOUT_PARTIAL &&
	    right->layout == LAYOUT_PARTIAL) {
		walk->operator[index].input_layout = LAYOUT_PARTIAL;
		produce(walk, index, LAYOUT_PARTIAL, left->cause);
		return;
	}
	layout_settle(walk, a);
	layout_settle(walk, b);
	layout = left->layout;
	if (left->layout == LAYOUT_CUT || right->layout == LAYOUT_CUT) {
		layout = LAYOUT_CUT;
		layout_want_cut(walk, a, index, right->cause);
		layout_want_cut(walk, b, index, left->cause);
	} else if (left->layout != right->layout) {
		layout = LAYOUT_SEQUENCE;
		layout_want_sequence(walk, a, index);
		layout_want_sequence(walk, b, index);
	}
	walk->operator[index].input_layout = layout;
	produce(walk, index, layout,
		left->cause != IR_NONE ? left->cause : right->cause);
}

/* The first axis split over the ranks that hold parts of the same experts. */
static uint32_t expert_tensor_axis(const struct layout_walk *walk)
{
	for (uint32_t i = 0; i < walk->class->axis_count; i++)
		if (walk->class->axis[i].split == IR_SPLIT_EXPERT_TENSOR)
			return i;
	return IR_NONE;
}

/* An exchange of the rows of all tokens between the ranks of the experts. */
static void exchange_rows(struct layout_walk *walk, uint32_t index,
			  uint32_t routed, bool backward)
{
	uint32_t router = walk->class->value[routed].router;
	uint32_t axis = walk->class->operator[router].to.term[0].axis[0];
	struct inferred *inferred;

	if (walk->shape->expert == 1)
		return;
	inferred = layout_record(walk, COLLECTIVE_ALL_TO_ALL, backward, index, routed,
				 axis);
	inferred->group = GROUP_EXPERT;
	inferred->bytes /= walk->shape->expert_tensor;
	if (walk->ir->job.overlap_experts)
		inferred->hidden = HIDDEN_BESIDE;
}

/* Between the ranks that hold parts of the same experts. */
static void share_rows(struct layout_walk *walk, uint32_t index,
		       uint32_t routed, enum collective kind, bool backward)
{
	if (walk->shape->expert_tensor > 1)
		layout_record(walk, kind, backward, index, routed,
			      expert_tensor_axis(walk));
}

static void visit_dispatch(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t routed = operator->output;

	layout_settle(walk, operator->input[0]);
	walk->operator[index].input_layout =
		walk->value[operator->input[0]].layout;
	exchange_rows(walk, index, routed, false);
	share_rows(walk, index, routed, COLLECTIVE_ALL_GATHER, false);
	share_rows(walk, index, routed, COLLECTIVE_REDUCE_SCATTER, true);
	exchange_rows(walk, index, routed, true);
	produce(walk, index, LAYOUT_WHOLE, IR_NONE);
	/* That was the reduction of its gradient. */
	walk->value[routed].gradient_reduced = true;
}

static void visit_combine(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t routed = operator->input[0];

	if (walk->value[routed].layout == LAYOUT_CUT)
		layout_want_whole(walk, routed, index, expert_tensor_axis(walk), false);
	walk->operator[index].input_layout = LAYOUT_WHOLE;
	if (walk->value[routed].layout == LAYOUT_PARTIAL)
		share_rows(walk, index, routed, COLLECTIVE_REDUCE_SCATTER, false);
	exchange_rows(walk, index, routed, false);
	exchange_rows(walk, index, routed, true);
	share_rows(walk, index, routed, COLLECTIVE_ALL_GATHER, true);
	produce(walk, index, layout_resting(walk, operator->output), IR_NONE);
}

static void visit(struct layout_walk *walk, uint32_t index)
{
	switch (walk->class->operator[index].kind) {
	case IR_LINEAR:
	case IR_LM_HEAD:
		visit_product(walk, index);
		return;
	case IR_EMBEDDING:
		visit_embedding(walk, index);
		return;
	case IR_ATTENTION:
		visit_attention(walk, index);
		return;
	case IR_RMSNORM:
	case IR_LAYERNORM:
		visit_norm(walk, index);
		return;
	case IR_CROSS_ENTROPY:
		visit_cross_entropy(walk, index);
		return;
	case IR_ADD:
	case IR_MULTIPLY:
		visit_binary(walk, index);
		return;
	case IR_DISPATCH:
		visit_dispatch(walk, index);
		return;
	case IR_COMBINE:
		visit_combine(walk, index);
		return;
	default:
		visit_unary(walk, index);
		return;
	}
}

/* Token numbers are whole on every rank. */
static bool is_tokens(const struct layout_walk *walk, uint32_t value)
{
	uint32_t reader = walk->value[value].last_use;

	return walk->value[value].uses > 0 &&
	       walk->class->operator[reader].kind == IR_EMBEDDING;
}

static void enter_layer(struct layout_walk *walk)
{
	uint32_t input = walk->class->input;
	struct value_state *state;

	if (input == IR_NONE)
		return;
	state = &walk->value[input];
	state->cause = IR_NONE;
	state->layout = LAYOUT_WHOLE;
	if (is_tokens(walk, input))
		return;
	state->layout = layout_resting(walk, input);
	walk->result->input_bytes =
		layout_value_bytes(walk, input, state->layout);
	if (layout_value_cut_axis(walk, input) == IR_NONE)
		return;
	layout_want_cut(walk, input, IR_NONE, IR_NONE);
	state->layout = LAYOUT_CUT;
	state->cause = layout_value_cut_axis(walk, input);
	state->gathered = false;
	state->sliced = false;
}

/* A loss or logits end the model: nothing follows that wants them. */
static bool ends_model(const struct layout_walk *walk)
{
	uint32_t producer = walk->class->value[walk->class->output].producer;

	if (producer == IR_NONE)
		return false;
	return walk->class->operator[producer].kind == IR_CROSS_ENTROPY ||
	       walk->class->operator[producer].kind == IR_LM_HEAD;
}

static void leave_layer(struct layout_walk *walk)
{
	uint32_t output = walk->class->output;
	enum layout rest = layout_resting(walk, output);
	uint32_t axis = layout_value_cut_axis(walk, output);

	if (ends_model(walk))
		return;
	layout_settle(walk, output);
	if (walk->value[output].layout == LAYOUT_CUT)
		layout_want_whole(walk, output, IR_NONE, axis, false);
	if (walk->value[output].layout != rest && rest == LAYOUT_SEQUENCE)
		layout_record(walk, COLLECTIVE_ALL_GATHER, true, IR_NONE, output, axis);
	walk->result->output_bytes = layout_value_bytes(walk, output, rest);
}

void layout_walk_values(struct layout_walk *walk)
{
	enter_layer(walk);
	for (uint32_t i = 0; i < walk->class->operator_count; i++)
		visit(walk, i);
	leave_layer(walk);
}

/* SPDX-License-Identifier: MIT
 *
 * The walk over the operator graph: the layout of every value and the
 * collectives that conversions imply, forward and transposed.
 */
#include "compiler/layout_walk.h"

static bool has_sequence(const struct layout_walk *walk, uint32_t value)
{
	const struct ir_value *of = &walk->class->value[value];

	for (uint32_t i = 0; i < of->rank; i++)
		for (uint32_t j = 0; j < of->extent[i].term_count; j++) {
			const struct ir_term *term = &of->extent[i].term[j];

			for (uint32_t k = 0; k < term->axis_count; k++)
				if (walk->axis[term->axis[k]].is_sequence)
					return true;
		}
	return false;
}

/* The layout a value has between regions that are cut. */
static enum layout resting_layout(const struct layout_walk *walk,
				  uint32_t value)
{
	return walk->sequence && has_sequence(walk, value) &&
			       walk->class->value[value].router == IR_NONE ?
		       LAYOUT_SEQUENCE : LAYOUT_WHOLE;
}

static struct span axis_span(const struct layout_walk *walk, uint32_t axis)
{
	return axis == IR_NONE ? SPAN_NONE :
				 walk->class->axis[axis].split_span;
}

/* Appends a collective over the tensor group (of routed values the
 * expert-tensor group), exposed, of a whole value. */
static struct inferred *record(struct layout_walk *walk,
			       enum collective kind, bool backward,
			       uint32_t operator, uint32_t value, uint32_t axis)
{
	struct inferred *last;

	VEC_GROW(&walk->inferred, walk->arena);
	last = &walk->inferred.at[walk->inferred.count - 1];
	*last = (struct inferred){
		.kind = kind,
		.group = walk->class->value[value].router == IR_NONE ?
				 GROUP_TENSOR : GROUP_EXPERT_TENSOR,
		.backward = backward,
		.operator = operator,
		.value = value,
		.bytes = layout_value_bytes(walk, value, LAYOUT_WHOLE),
		.hidden_by = IR_NONE,
		.span = operator == IR_NONE ?
				walk->class->value[value].span :
				walk->class->operator[operator].span,
		.split_span = axis_span(walk, axis),
	};
	return last;
}

/* Runs a collective behind a product's gradients. */
static void hide(struct layout_walk *walk, struct inferred *inferred,
		 uint32_t operator, enum hidden hidden)
{
	if (operator == IR_NONE ||
	    !layout_is_product(&walk->class->operator[operator]))
		return;
	inferred->hidden = hidden;
	inferred->hidden_by = walk->operator[operator].leader;
}

/* Adds up a partial value. */
static void settle(struct layout_walk *walk, uint32_t value)
{
	struct value_state *state = &walk->value[value];
	uint32_t producer = walk->class->value[value].producer;

	if (state->layout != LAYOUT_PARTIAL)
		return;
	state->layout = resting_layout(walk, value);
	if (state->layout == LAYOUT_WHOLE) {
		record(walk, COLLECTIVE_ALL_REDUCE, false, producer, value,
		       state->cause);
		return;
	}
	record(walk, COLLECTIVE_REDUCE_SCATTER, false, producer, value,
	       state->cause);
	record(walk, COLLECTIVE_ALL_GATHER, true, producer, value,
	       state->cause);
}

static void gather(struct layout_walk *walk, uint32_t value, uint32_t operator,
		   uint32_t axis)
{
	struct value_state *state = &walk->value[value];
	bool is_product;

	if (!state->gathered)
		record(walk, COLLECTIVE_ALL_GATHER, false, operator, value,
		       axis);
	state->gathered = true;
	if (operator == IR_NONE)
		return;
	walk->operator[operator].gathers = true;
	is_product = layout_is_product(&walk->class->operator[operator]);
	if (!is_product)
		state->saved_whole = true;
	if (!is_product || state->regathered)
		return;
	state->regathered = true;
	hide(walk,
	     record(walk, COLLECTIVE_ALL_GATHER, true, operator, value, axis),
	     operator, HIDDEN_INPUT_GRADIENT);
}

/* Makes the value whole for an operator. If that operator works on a part of
 * its output, the input's gradient is a sum over the group. */
static void want_whole(struct layout_walk *walk, uint32_t value,
		       uint32_t operator, uint32_t axis, bool cutting)
{
	struct value_state *state = &walk->value[value];
	enum collective reduction = COLLECTIVE_ALL_REDUCE;

	settle(walk, value);
	if (state->layout != LAYOUT_WHOLE) {
		gather(walk, value, operator, axis);
		reduction = COLLECTIVE_REDUCE_SCATTER;
	}
	if (!cutting || state->gradient_reduced)
		return;
	state->gradient_reduced = true;
	hide(walk, record(walk, reduction, true, operator, value, axis),
	     operator, HIDDEN_WEIGHT_GRADIENT);
}

/* Takes a part of a whole value; the gradients of the parts are gathered. */
static void slice(struct layout_walk *walk, uint32_t value, uint32_t operator,
		  uint32_t axis)
{
	struct value_state *state = &walk->value[value];

	if (state->layout != LAYOUT_WHOLE)
		gather(walk, value, operator, axis);
	if (state->sliced)
		return;
	state->sliced = true;
	record(walk, COLLECTIVE_ALL_GATHER, true, operator, value, axis);
}

static void want_cut(struct layout_walk *walk, uint32_t value,
		     uint32_t operator, uint32_t cause)
{
	uint32_t axis = layout_value_cut_axis(walk, value);

	settle(walk, value);
	if (axis == IR_NONE)
		want_whole(walk, value, operator, cause, true);
	else if (walk->value[value].layout != LAYOUT_CUT)
		slice(walk, value, operator, axis);
}

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
		want_whole(walk, input, index, to, true);
		state->input_layout = LAYOUT_WHOLE;
		produce(walk, index, LAYOUT_CUT, to);
		return;
	case PRODUCT_ROW:
		want_cut(walk, input, index, from);
		state->input_layout = LAYOUT_CUT;
		produce(walk, index, LAYOUT_PARTIAL, from);
		return;
	default:
		settle(walk, input);
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
		struct inferred *inferred = record(walk, kind[i], i > 0, index,
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
			want_whole(walk, operator->input[i], index,
				   layout_value_cut_axis(walk,
							 operator->input[i]),
				   false);
		else
			want_cut(walk, operator->input[i], index, cut);
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
		record(walk, COLLECTIVE_ALL_REDUCE, backward, index, input,
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

	settle(walk, operator->input[0]);
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

	settle(walk, input);
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

	settle(walk, input);
	walk->operator[index].input_layout = walk->value[input].layout;
	produce(walk, index, walk->value[input].layout,
		walk->value[input].cause);
}

/* Makes a value by sequence for an operator whose other input lies so. */
static void want_sequence(struct layout_walk *walk, uint32_t value,
			  uint32_t operator)
{
	if (walk->value[value].layout != LAYOUT_SEQUENCE)
		slice(walk, value, operator, layout_value_cut_axis(walk, value));
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
	settle(walk, a);
	settle(walk, b);
	layout = left->layout;
	if (left->layout == LAYOUT_CUT || right->layout == LAYOUT_CUT) {
		layout = LAYOUT_CUT;
		want_cut(walk, a, index, right->cause);
		want_cut(walk, b, index, left->cause);
	} else if (left->layout != right->layout) {
		layout = LAYOUT_SEQUENCE;
		want_sequence(walk, a, index);
		want_sequence(walk, b, index);
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
	inferred = record(walk, COLLECTIVE_ALL_TO_ALL, backward, index, routed,
			  axis);
	inferred->group = GROUP_EXPERT;
	inferred->bytes /= walk->shape->expert_tensor;
}

/* Between the ranks that hold parts of the same experts. */
static void share_rows(struct layout_walk *walk, uint32_t index,
		       uint32_t routed, enum collective kind, bool backward)
{
	if (walk->shape->expert_tensor > 1)
		record(walk, kind, backward, index, routed,
		       expert_tensor_axis(walk));
}

static void visit_dispatch(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t routed = operator->output;

	settle(walk, operator->input[0]);
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
		want_whole(walk, routed, index, expert_tensor_axis(walk), false);
	walk->operator[index].input_layout = LAYOUT_WHOLE;
	if (walk->value[routed].layout == LAYOUT_PARTIAL)
		share_rows(walk, index, routed, COLLECTIVE_REDUCE_SCATTER, false);
	exchange_rows(walk, index, routed, false);
	exchange_rows(walk, index, routed, true);
	share_rows(walk, index, routed, COLLECTIVE_ALL_GATHER, true);
	produce(walk, index, resting_layout(walk, operator->output), IR_NONE);
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
	state->layout = resting_layout(walk, input);
	walk->result->input_bytes =
		layout_value_bytes(walk, input, state->layout);
	if (layout_value_cut_axis(walk, input) == IR_NONE)
		return;
	want_cut(walk, input, IR_NONE, IR_NONE);
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
	enum layout rest = resting_layout(walk, output);
	uint32_t axis = layout_value_cut_axis(walk, output);

	if (ends_model(walk))
		return;
	settle(walk, output);
	if (walk->value[output].layout == LAYOUT_CUT)
		want_whole(walk, output, IR_NONE, axis, false);
	if (walk->value[output].layout != rest && rest == LAYOUT_SEQUENCE)
		record(walk, COLLECTIVE_ALL_GATHER, true, IR_NONE, output, axis);
	walk->result->output_bytes = layout_value_bytes(walk, output, rest);
}

void layout_walk_values(struct layout_walk *walk)
{
	enter_layer(walk);
	for (uint32_t i = 0; i < walk->class->operator_count; i++)
		visit(walk, i);
	leave_layer(walk);
}

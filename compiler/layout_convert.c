/* SPDX-License-Identifier: MIT
 *
 * Conversions of values between layouts, and the collectives they imply, forward
 * and transposed.
 */
#include "compiler/layout_convert.h"

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

enum layout layout_resting(const struct layout_walk *walk, uint32_t value)
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

struct inferred *layout_record(struct layout_walk *walk,
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

void layout_settle(struct layout_walk *walk, uint32_t value)
{
	struct value_state *state = &walk->value[value];
	uint32_t producer = walk->class->value[value].producer;

	if (state->layout != LAYOUT_PARTIAL)
		return;
	state->layout = layout_resting(walk, value);
	if (state->layout == LAYOUT_WHOLE) {
		layout_record(walk, COLLECTIVE_ALL_REDUCE, false, producer, value,
			      state->cause);
		return;
	}
	layout_record(walk, COLLECTIVE_REDUCE_SCATTER, false, producer, value,
		      state->cause);
	layout_record(walk, COLLECTIVE_ALL_GATHER, true, producer, value,
		      state->cause);
}

static void gather(struct layout_walk *walk, uint32_t value, uint32_t operator,
		   uint32_t axis)
{
	struct value_state *state = &walk->value[value];
	bool is_product;

	if (!state->gathered)
		layout_record(walk, COLLECTIVE_ALL_GATHER, false, operator, value,
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
	     layout_record(walk, COLLECTIVE_ALL_GATHER, true, operator, value, axis),
	     operator, HIDDEN_INPUT_GRADIENT);
}

void layout_want_whole(struct layout_walk *walk, uint32_t value,
		       uint32_t operator, uint32_t axis, bool cutting)
{
	struct value_state *state = &walk->value[value];
	enum collective reduction = COLLECTIVE_ALL_REDUCE;

	layout_settle(walk, value);
	if (state->layout != LAYOUT_WHOLE) {
		gather(walk, value, operator, axis);
		reduction = COLLECTIVE_REDUCE_SCATTER;
	}
	if (!cutting || state->gradient_reduced)
		return;
	state->gradient_reduced = true;
	hide(walk, layout_record(walk, reduction, true, operator, value, axis),
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
	layout_record(walk, COLLECTIVE_ALL_GATHER, true, operator, value, axis);
}

void layout_want_cut(struct layout_walk *walk, uint32_t value,
		     uint32_t operator, uint32_t cause)
{
	uint32_t axis = layout_value_cut_axis(walk, value);

	layout_settle(walk, value);
	if (axis == IR_NONE)
		layout_want_whole(walk, value, operator, cause, true);
	else if (walk->value[value].layout != LAYOUT_CUT)
		slice(walk, value, operator, axis);
}

void layout_want_sequence(struct layout_walk *walk, uint32_t value,
			  uint32_t operator)
{
	if (walk->value[value].layout != LAYOUT_SEQUENCE)
		slice(walk, value, operator, layout_value_cut_axis(walk, value));
}

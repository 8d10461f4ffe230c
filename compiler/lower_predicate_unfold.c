/* SPDX-License-Identifier: MIT
 *
 * Where the stack machine has no instruction, a few steps stand for it: `x in
 * {a, b}` is x = a or x = b, and min(a, b) is a (a < b) + b (a >= b).
 */
#include "compiler/lower_predicate.h"

static bool in_range(struct predicate_builder *builder, const struct ast *binary,
		     const struct range *range)
{
	const struct ast *left = binary->child[0];
	struct span span = binary->child[1]->span;
	struct operand operand;

	if (!predicate_compile(builder, left, &operand))
		return false;
	if (operand.kind != OPERAND_NUMBER || !unit_is_none(operand.unit))
		return operand_error(builder, &operand, "a plain number");
	if (!predicate_push_number(builder, span, (double)range->low) ||
	    !predicate_push_op(builder, span, PREDICATE_GREATER_EQUAL) ||
	    !predicate_compile(builder, left, &operand) ||
	    !predicate_push_number(builder, span, (double)range->high) ||
	    !predicate_push_op(builder, span, PREDICATE_LESS_EQUAL) ||
	    !predicate_push_op(builder, span, PREDICATE_AND))
		return false;
	/* A range holds whole numbers only. */
	return predicate_compile(builder, left, &operand) &&
	       predicate_push_number(builder, span, (double)range->low) &&
	       predicate_push_op(builder, span, PREDICATE_SUBTRACT) &&
	       predicate_push_number(builder, span, (double)range->step) &&
	       predicate_push_op(builder, span, PREDICATE_REMAINDER) &&
	       predicate_push_number(builder, span, 0) &&
	       predicate_push_op(builder, span, PREDICATE_EQUAL) &&
	       predicate_push_op(builder, span, PREDICATE_AND);
}

static bool in_element(struct predicate_builder *builder,
		       const struct ast *binary, const struct value *element)
{
	struct operand left, right = {
		.span = binary->child[1]->span,
		.unit = UNIT_NONE,
	};
	double number;

	if (!predicate_compile(builder, binary->child[0], &left))
		return false;
	right.step = builder->step.count;
	if (!operand_of_value(element, &right, &number))
		return diag_error(builder->lower->diags, E_REQUIREMENT_TYPE,
				  right.span, "only numbers, truths and words can "
				  "stand in this set");
	return predicate_push_number(builder, right.span, number) &&
	       operand_check_comparison(builder, binary, PREDICATE_EQUAL, &left, &right) &&
	       predicate_push_op(builder, binary->span, PREDICATE_EQUAL);
}

bool predicate_unfold_in(struct predicate_builder *builder,
			 const struct ast *binary, struct operand *operand)
{
	struct lower *lower = builder->lower;
	const struct ast *set = binary->child[1];
	struct value value;
	uint64_t count;

	operand->kind = OPERAND_BOOLEAN;
	if (lower_mentions_plan(lower, set))
		return diag_error(lower->diags, E_REQUIREMENT_FORM, set->span,
				  "what stands after 'in' cannot depend on the plan");
	if (!eval_expression(&lower->eval, lower->scope, set, &value))
		return false;
	if (value.kind == VALUE_RANGE)
		return in_range(builder, binary, &value.range);
	if (!value_count(&value, &count))
		return diag_error(lower->diags, E_REQUIREMENT_TYPE, set->span,
				  "a set or a range is needed after 'in'");
	if (!count)
		return diag_error(lower->diags, E_REQUIREMENT_FALSE, set->span,
				  "this set is empty, so nothing is in it");
	for (uint64_t i = 0; i < count; i++) {
		struct value element = value_at(&value, i);

		if (!in_element(builder, binary, &element) ||
		    (i && !predicate_push_op(builder, binary->span, PREDICATE_OR)))
			return false;
	}
	return true;
}

/* if c then a else b: c a + (1 - c) b, or the same with and, or. */
bool predicate_unfold_if(struct predicate_builder *builder, const struct ast *choice,
			 struct operand *operand)
{
	enum predicate_op times = PREDICATE_MULTIPLY, plus = PREDICATE_ADD;
	struct operand condition, other;

	if (!predicate_compile(builder, choice->child[0], &condition) ||
	    !operand_want_truth(builder, &condition) ||
	    !predicate_compile(builder, choice->child[1], operand))
		return false;
	if (operand->kind != OPERAND_NUMBER) {
		times = PREDICATE_AND;
		plus = PREDICATE_OR;
		if (!operand_want_truth(builder, operand))
			return false;
	}
	if (!predicate_push_op(builder, choice->span, times) ||
	    !predicate_compile(builder, choice->child[0], &condition) ||
	    !operand_want_truth(builder, &condition) ||
	    !predicate_push_op(builder, choice->span, PREDICATE_NOT) ||
	    !predicate_compile(builder, choice->child[2], &other))
		return false;
	if (times == PREDICATE_AND ? !operand_want_truth(builder, &other) :
	    !operand_want_number(builder, &other))
		return false;
	if (times == PREDICATE_MULTIPLY && !other.is_zero && !operand->is_zero &&
	    !unit_equal(operand->unit, other.unit))
		return operand_error(builder, &other,
				     operand_describe(builder, operand));
	if (operand->is_zero)
		operand->unit = other.unit;
	operand->is_zero = false;
	return predicate_push_op(builder, choice->span, times) &&
	       predicate_push_op(builder, choice->span, plus);
}

/* The smaller (or larger) of two: each times whether it is. */
bool predicate_unfold_extreme(struct predicate_builder *builder,
			      const struct ast *call, bool least,
			      struct operand *operand)
{
	static const enum predicate_op wins[2][2] = {
		{ PREDICATE_GREATER, PREDICATE_LESS_EQUAL },
		{ PREDICATE_LESS, PREDICATE_GREATER_EQUAL },
	};
	const struct ast *const *argument =
		(const struct ast *const *)call->child[1]->child;
	struct operand other;

	for (int side = 0; side < 2; side++) {
		if (!predicate_compile(builder, argument[side], operand) ||
		    !predicate_compile(builder, argument[0], operand) ||
		    !predicate_compile(builder, argument[1], &other) ||
		    !operand_same_unit(builder, call, operand, &other) ||
		    !predicate_push_op(builder, call->span, wins[least][side]) ||
		    !predicate_push_op(builder, call->span, PREDICATE_MULTIPLY))
			return false;
	}
	operand->is_zero = false;
	return predicate_push_op(builder, call->span, PREDICATE_ADD);
}

/* floor, ceil: x - x % 1, less or plus one where the remainder is negative or
 * positive (it has the sign of x). */
bool predicate_unfold_rounded(struct predicate_builder *builder,
			      const struct ast *call, bool down,
			      struct operand *operand)
{
	const struct ast *argument = call->child[1]->child[0];
	struct span span = call->span;

	if (!predicate_compile(builder, argument, operand) ||
	    !operand_want_number(builder, operand))
		return false;
	if (!unit_is_none(operand->unit))
		return operand_error(builder, operand, "a plain number");
	return predicate_compile(builder, argument, operand) &&
	       predicate_push_number(builder, span, 1) &&
	       predicate_push_op(builder, span, PREDICATE_REMAINDER) &&
	       predicate_push_op(builder, span, PREDICATE_SUBTRACT) &&
	       predicate_compile(builder, argument, operand) &&
	       predicate_push_number(builder, span, 1) &&
	       predicate_push_op(builder, span, PREDICATE_REMAINDER) &&
	       predicate_push_number(builder, span, 0) &&
	       predicate_push_op(builder, span, down ? PREDICATE_LESS : PREDICATE_GREATER) &&
	       predicate_push_op(builder, span, down ? PREDICATE_SUBTRACT : PREDICATE_ADD);
}

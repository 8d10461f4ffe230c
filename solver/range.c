/* SPDX-License-Identifier: MIT
 *
 * Interval arithmetic for the operations of predicates. Where a tight range
 * is not worth the trouble the answer is "anything".
 */
#include "solver/range.h"

#include <assert.h>
#include <math.h>

#include "solver/most.h"

static const struct range anything = { -INFINITY, INFINITY, true };

static bool is_point(struct range a)
{
	return a.low == a.high && !a.may_nan;
}

/* Infinities that meet make NaN: give up on such ranges. */
static struct range tidy(struct range range)
{
	if (isnan(range.low) || isnan(range.high))
		return anything;
	return range;
}

static struct range truth(bool surely, bool possibly)
{
	return (struct range){ surely, possibly, false };
}

/* The range of a monotone operation from its values at the four corners.
 * Rounding is monotone too, so what the operation gives in floating point
 * stays inside. */
static struct range corners(double p, double q, double r, double s, bool nan)
{
	if (isnan(p) || isnan(q) || isnan(r) || isnan(s))
		return anything;
	return (struct range){ least(least(p, q), least(r, s)),
			       most(most(p, q), most(r, s)), nan };
}

static struct range multiply(struct range a, struct range b)
{
	bool nan = a.may_nan || b.may_nan;

	if (a.low >= 0 && b.low >= 0 && (isinf(a.high) || isinf(b.high)))
		return tidy((struct range){ a.low * b.low, INFINITY, true });
	return corners(a.low * b.low, a.low * b.high, a.high * b.low,
		       a.high * b.high, nan);
}

static struct range divide(struct range a, struct range b)
{
	if (b.low <= 0 && b.high >= 0) {
		if (b.low >= 0 && a.low >= 0 && b.high > 0) {
			return tidy((struct range){ a.low / b.high, INFINITY,
						    true });
		}
		return anything;
	}
	return corners(a.low / b.low, a.low / b.high, a.high / b.low,
		       a.high / b.high, a.may_nan || b.may_nan);
}

static struct range power(struct range a, struct range b)
{
	if (is_point(a) && is_point(b))
		return tidy(range_point(pow(a.low, b.low)));
	if (is_point(b) && b.low > 0 && a.low >= 0)
		return tidy((struct range){ pow(a.low, b.low),
					    pow(a.high, b.low), a.may_nan });
	return anything;
}

/* Truth as predicate.h defines it: neither 0 nor NaN. */
static bool surely_true(struct range a)
{
	return range_is_true(a);
}

static bool possibly_true(struct range a)
{
	return a.low != 0 || a.high != 0;
}

static struct range compare(enum predicate_op op, struct range a, struct range b)
{
	bool nan = a.may_nan || b.may_nan;
	bool meet = a.low <= b.high && b.low <= a.high;

	switch (op) {
	case PREDICATE_EQUAL:
		return truth(!nan && is_point(a) && is_point(b) &&
			     a.low == b.low, meet);
	case PREDICATE_NOT_EQUAL:
		return truth(!nan && !meet,
			     !(a.low == a.high && b.low == b.high &&
			       a.low == b.low));
	case PREDICATE_LESS:
		return truth(!nan && a.high < b.low, a.low < b.high);
	case PREDICATE_LESS_EQUAL:
		return truth(!nan && a.high <= b.low, a.low <= b.high);
	case PREDICATE_GREATER:
		return truth(!nan && a.low > b.high, a.high > b.low);
	default:
		return truth(!nan && a.low >= b.high, a.high >= b.low);
	}
}

static struct range variable_range(const struct predicate_step *step,
				   const struct range_input *input)
{
	if (step->variable != VARIABLE_STAGE_LAYERS)
		return input->value[step->variable];
	if (!input->stages_known)
		return (struct range){ 0, INFINITY, true };
	if (step->index >= input->stage_count)
		return (struct range){ NAN, NAN, true };
	if (!input->stage_layers)
		return (struct range){ 0, INFINITY, false };
	return input->stage_layers[step->index];
}

static struct range apply_leaf(const struct predicate_step *step,
			       const struct range_input *input)
{
	if (step->op == PREDICATE_CONSTANT)
		return range_point(step->number);
	return tidy(variable_range(step, input));
}

static struct range apply_unary(enum predicate_op op, struct range a)
{
	if (op == PREDICATE_NEGATE)
		return (struct range){ -a.high, -a.low, a.may_nan };
	return truth(!possibly_true(a), !surely_true(a));
}

static struct range apply_binary(enum predicate_op op, struct range a,
				 struct range b)
{
	bool nan = a.may_nan || b.may_nan;

	switch (op) {
	case PREDICATE_ADD:
		return tidy((struct range){ a.low + b.low, a.high + b.high, nan });
	case PREDICATE_SUBTRACT:
		return tidy((struct range){ a.low - b.high, a.high - b.low, nan });
	case PREDICATE_MULTIPLY:
		return multiply(a, b);
	case PREDICATE_DIVIDE:
		return divide(a, b);
	case PREDICATE_REMAINDER:
		return is_point(a) && is_point(b) ?
			tidy(range_point(fmod(a.low, b.low))) : anything;
	case PREDICATE_POWER:
		return power(a, b);
	case PREDICATE_AND:
		return truth(surely_true(a) && surely_true(b),
			     possibly_true(a) && possibly_true(b));
	case PREDICATE_OR:
		return truth(surely_true(a) || surely_true(b),
			     possibly_true(a) || possibly_true(b));
	default:
		return compare(op, a, b);
	}
}

struct range range_evaluate(const struct predicate *predicate,
			    const struct range_input *input)
{
	struct range stack[PREDICATE_STACK_MAX];
	uint32_t depth = 0;

	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];
		struct range *top;

		depth += 1 - predicate_operands(step->op);
		top = &stack[depth - 1];
		switch (predicate_operands(step->op)) {
		case 0:
			*top = apply_leaf(step, input);
			break;
		case 1:
			*top = apply_unary(step->op, *top);
			break;
		default:
			*top = apply_binary(step->op, top[0], top[1]);
			break;
		}
	}
	assert(depth == 1);
	return stack[0];
}

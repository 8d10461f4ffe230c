/* SPDX-License-Identifier: MIT
 *
 * Trends through the operations of predicates.
 */
#include "solver/trend.h"

#include <assert.h>

/* Trend and sign of a value on the stack. */
struct motion {
	enum trend trend;
	bool nonnegative;
};

static enum trend flip(enum trend trend)
{
	return trend == TREND_UP ? TREND_DOWN :
	       trend == TREND_DOWN ? TREND_UP : trend;
}

/* Of a function that does not decrease in either argument. */
static enum trend both(enum trend a, enum trend b)
{
	if (a == TREND_NONE)
		return b;
	return b == TREND_NONE || a == b ? a : TREND_ANY;
}

/* Of any function. */
static enum trend either(enum trend a, enum trend b)
{
	return a == TREND_NONE && b == TREND_NONE ? TREND_NONE : TREND_ANY;
}

static struct motion move_binary(enum predicate_op op, struct motion a,
				 struct motion b)
{
	bool nonnegative = a.nonnegative && b.nonnegative;

	switch (op) {
	case PREDICATE_ADD:
	case PREDICATE_AND:
	case PREDICATE_OR:
		return (struct motion){ both(a.trend, b.trend),
					nonnegative || op != PREDICATE_ADD };
	case PREDICATE_SUBTRACT:
		return (struct motion){ both(a.trend, flip(b.trend)), false };
	case PREDICATE_MULTIPLY:
		return (struct motion){ nonnegative ? both(a.trend, b.trend) :
						      either(a.trend, b.trend),
					nonnegative };
	case PREDICATE_DIVIDE:
		return (struct motion){ nonnegative && b.trend == TREND_NONE ?
						a.trend :
						either(a.trend, b.trend),
					nonnegative };
	case PREDICATE_LESS:
	case PREDICATE_LESS_EQUAL:
		return (struct motion){ both(flip(a.trend), b.trend), true };
	case PREDICATE_GREATER:
	case PREDICATE_GREATER_EQUAL:
		return (struct motion){ both(a.trend, flip(b.trend)), true };
	default:
		return (struct motion){ either(a.trend, b.trend), false };
	}
}

static struct motion move_leaf(const struct predicate_step *step)
{
	if (step->op == PREDICATE_CONSTANT)
		return (struct motion){ TREND_NONE, step->number >= 0 };
	switch (step->variable) {
	case VARIABLE_TIME:
	case VARIABLE_COST:
	case VARIABLE_ENERGY:
		return (struct motion){ TREND_UP, true };
	case VARIABLE_BUBBLE:
		return (struct motion){ TREND_ANY, true };
	default:
		return (struct motion){ TREND_NONE, true };
	}
}

enum trend predicate_trend(const struct predicate *predicate)
{
	struct motion stack[PREDICATE_STACK_MAX];
	uint32_t depth = 0;

	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];

		struct motion *top;

		depth += 1 - predicate_operands(step->op);
		top = &stack[depth - 1];
		switch (predicate_operands(step->op)) {
		case 0:
			*top = move_leaf(step);
			break;
		case 1:
			*top = (struct motion){ flip(top->trend),
						step->op == PREDICATE_NOT };
			break;
		default:
			*top = move_binary(step->op, top[0], top[1]);
			break;
		}
	}
	assert(depth == 1);
	return stack[0].trend;
}

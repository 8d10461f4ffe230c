/* SPDX-License-Identifier: MIT
 *
 * The stack machine for requirements and objectives.
 */
#include "solver/predicate.h"

#include <assert.h>
#include <math.h>

static bool is_true(double number)
{
	return number != 0 && !isnan(number);
}

static double apply_leaf(const struct predicate_step *step,
			 const struct predicate_input *input)
{
	if (step->op == PREDICATE_CONSTANT)
		return step->number;
	if (step->variable != VARIABLE_STAGE_LAYERS)
		return input->value[step->variable];
	if (!input->stage_layers || step->index >= input->stage_count)
		return NAN;
	return input->stage_layers[step->index];
}

static double apply_unary(enum predicate_op op, double a)
{
	return op == PREDICATE_NEGATE ? -a : !is_true(a);
}

static double apply_binary(enum predicate_op op, double a, double b)
{
	switch (op) {
	case PREDICATE_ADD:
		return a + b;
	case PREDICATE_SUBTRACT:
		return a - b;
	case PREDICATE_MULTIPLY:
		return a * b;
	case PREDICATE_DIVIDE:
		return b == 0 ? NAN : a / b;
	case PREDICATE_REMAINDER:
		return fmod(a, b);
	case PREDICATE_POWER:
		return pow(a, b);
	case PREDICATE_EQUAL:
		return a == b;
	case PREDICATE_NOT_EQUAL:
		return a < b || a > b;
	case PREDICATE_LESS:
		return a < b;
	case PREDICATE_LESS_EQUAL:
		return a <= b;
	case PREDICATE_GREATER:
		return a > b;
	case PREDICATE_GREATER_EQUAL:
		return a >= b;
	case PREDICATE_AND:
		return is_true(a) && is_true(b);
	case PREDICATE_OR:
		return is_true(a) || is_true(b);
	case PREDICATE_CONSTANT:
	case PREDICATE_VARIABLE:
	case PREDICATE_NEGATE:
	case PREDICATE_NOT:
		break;
	}
	return NAN;
}

double predicate_evaluate(const struct predicate *predicate,
			  const struct predicate_input *input)
{
	double stack[PREDICATE_STACK_MAX];
	uint32_t depth = 0;

	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];

		double *top;

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

bool predicate_is_valid(const struct predicate *predicate)
{
	uint32_t depth = 0;

	if (!predicate->step)
		return false;
	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];
		uint32_t wanted = predicate_operands(step->op);

		if ((unsigned)step->op > PREDICATE_OR)
			return false;
		if (step->op == PREDICATE_VARIABLE &&
		    (unsigned)step->variable >= VARIABLE_COUNT)
			return false;
		if (depth < wanted)
			return false;
		depth += 1 - wanted;
		if (depth > PREDICATE_STACK_MAX)
			return false;
	}
	return depth == 1;
}

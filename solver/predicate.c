/* SPDX-License-Identifier: MIT
 *
 * The stack machine for requirements and objectives.
 */
#include "solver/predicate.h"

#include <assert.h>
#include <math.h>

static bool op_is_binary(enum predicate_op op)
{
	return op >= PREDICATE_ADD;
}

static bool is_true(double number)
{
	return number != 0 && !isnan(number);
}

static double variable_value(const struct predicate_step *step,
			     const struct predicate_input *input)
{
	if (step->variable != VARIABLE_STAGE_LAYERS)
		return input->value[step->variable];
	if (!input->stage_layers || step->index >= input->stage_count)
		return NAN;
	return input->stage_layers[step->index];
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

		switch (step->op) {
		case PREDICATE_CONSTANT:
			stack[depth++] = step->number;
			break;
		case PREDICATE_VARIABLE:
			stack[depth++] = variable_value(step, input);
			break;
		case PREDICATE_NEGATE:
			stack[depth - 1] = -stack[depth - 1];
			break;
		case PREDICATE_NOT:
			stack[depth - 1] = !is_true(stack[depth - 1]);
			break;
		default:
			depth--;
			stack[depth - 1] = apply_binary(step->op,
							stack[depth - 1],
							stack[depth]);
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
		uint32_t wanted = 0;

		if ((unsigned)step->op > PREDICATE_OR)
			return false;
		if (step->op == PREDICATE_VARIABLE &&
		    (unsigned)step->variable >= VARIABLE_COUNT)
			return false;
		if (op_is_binary(step->op))
			wanted = 2;
		else if (step->op == PREDICATE_NEGATE || step->op == PREDICATE_NOT)
			wanted = 1;
		if (depth < wanted)
			return false;
		depth += 1 - wanted;
		if (depth > PREDICATE_STACK_MAX)
			return false;
	}
	return depth == 1;
}

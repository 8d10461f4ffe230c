/* SPDX-License-Identifier: MIT
 *
 * Built-in functions: min, max, ceil, floor, round, log2, sqrt, abs, sum,
 * count.
 */
#include "lang/builtin.h"

#include <math.h>
#include <string.h>

#include "lang/diag.h"
#include "lang/eval_internal.h"

#define ARGUMENTS_MAX 1024u

static const struct ast *argument_ast(const struct ast *call, uint32_t index)
{
	const struct ast *arguments = call->child[1];

	if (arguments && index < arguments->child_count)
		return arguments->child[index];
	return call;
}

static const char *argument_of(struct eval *eval, const struct ast *call)
{
	return arena_printf(&eval->compilation->arena, "the argument of '%s'",
			    call->child[0]->name);
}

/* The numbers of the arguments, or of the one list among them, must be of one
 * dimension; *numbers receives them. */
static bool like_numbers(struct eval *eval, const struct ast *call,
			 struct value *argument, uint32_t count,
			 struct value **numbers, uint64_t *number_count)
{
	struct arena *arena = &eval->compilation->arena;
	bool spread = count == 1 && value_count(&argument[0], number_count);
	struct ast comparison = {
		.kind = AST_BINARY, .span = call->span,
		.name = call->child[0]->name,
		.name_span = call->child[0]->span,
	};

	if (!spread)
		*number_count = count;
	if (!eval_steps(eval, *number_count, call->span))
		return false;
	*numbers = ARENA_ARRAY(arena, struct value, *number_count + 1);
	for (uint64_t i = 0; i < *number_count; i++) {
		const struct ast *here = argument_ast(call, spread ? 0 : (uint32_t)i);
		struct value *now = &(*numbers)[i];

		*now = spread ? value_at(&argument[0], i) : argument[i];
		if (now->kind != VALUE_NUMBER)
			return eval_wrong_kind(eval, now, here->span,
					       spread ? "an element"
						      : argument_of(eval, call),
					       "a number");
		if (i && !eval_same_dimension(eval, &comparison,
					      argument_ast(call, spread ? 0 : (uint32_t)i - 1),
					      now - 1, here, now))
			return false;
	}
	return true;
}

static bool need_some(struct eval *eval, const struct ast *call, uint64_t count)
{
	if (count)
		return true;
	return diag_error(&eval->compilation->diags, E_UNDEFINED, call->span,
			  "'%s' of no elements has no value",
			  call->child[0]->name);
}

static bool apply_extreme(struct eval *eval, const struct ast *call,
			  struct value *argument, uint32_t count, double sign,
			  struct value *value)
{
	struct value *numbers;
	uint64_t number_count;

	if (!like_numbers(eval, call, argument, count, &numbers, &number_count) ||
	    !need_some(eval, call, number_count))
		return false;
	*value = numbers[0];
	for (uint64_t i = 1; i < number_count; i++)
		if (sign * numbers[i].number > sign * value->number)
			*value = numbers[i];
	return true;
}

static bool apply_min(struct eval *eval, const struct ast *call,
		      struct value *argument, uint32_t count,
		      struct value *value)
{
	return apply_extreme(eval, call, argument, count, -1, value);
}

static bool apply_max(struct eval *eval, const struct ast *call,
		      struct value *argument, uint32_t count,
		      struct value *value)
{
	return apply_extreme(eval, call, argument, count, 1, value);
}

static bool apply_sum(struct eval *eval, const struct ast *call,
		      struct value *argument, uint32_t count,
		      struct value *value)
{
	struct value *numbers;
	uint64_t number_count;
	double sum = 0;

	if (!like_numbers(eval, call, argument, count, &numbers, &number_count))
		return false;
	for (uint64_t i = 0; i < number_count; i++)
		sum += numbers[i].number;
	return eval_finish_number(eval, sum,
				  number_count ? numbers[0].unit : UNIT_NONE,
				  call->span, value);
}

static bool apply_count(struct eval *eval, const struct ast *call,
			struct value *argument, uint32_t count,
			struct value *value)
{
	uint64_t elements;

	(void)count;
	if (!value_count(&argument[0], &elements))
		return eval_wrong_kind(eval, &argument[0],
				       argument_ast(call, 0)->span,
				       argument_of(eval, call), "a list");
	*value = value_of_number((double)elements, UNIT_NONE, call->span);
	return true;
}

/* The one argument as a number; a plain one if so wanted. */
static bool one_number(struct eval *eval, const struct ast *call,
		       const struct value *argument, bool plain)
{
	if (argument->kind != VALUE_NUMBER ||
	    (plain && !unit_is_none(argument->unit)))
		return eval_wrong_kind(eval, argument,
				       argument_ast(call, 0)->span,
				       argument_of(eval, call),
				       plain ? "a plain number" : "a number");
	return true;
}

static bool apply_rounding(struct eval *eval, const struct ast *call,
			   const struct value *argument,
			   double (*rounding)(double), struct value *value)
{
	if (!one_number(eval, call, argument, true))
		return false;
	/* Adding zero turns -0 into 0. */
	*value = value_of_number(rounding(argument->number) + 0.0, UNIT_NONE,
				 call->span);
	return true;
}

static bool apply_ceil(struct eval *eval, const struct ast *call,
		       struct value *argument, uint32_t count,
		       struct value *value)
{
	(void)count;
	return apply_rounding(eval, call, argument, ceil, value);
}

static bool apply_floor(struct eval *eval, const struct ast *call,
			struct value *argument, uint32_t count,
			struct value *value)
{
	(void)count;
	return apply_rounding(eval, call, argument, floor, value);
}

static bool apply_round(struct eval *eval, const struct ast *call,
			struct value *argument, uint32_t count,
			struct value *value)
{
	(void)count;
	return apply_rounding(eval, call, argument, round, value);
}

static bool apply_log2(struct eval *eval, const struct ast *call,
		       struct value *argument, uint32_t count,
		       struct value *value)
{
	(void)count;
	if (!one_number(eval, call, argument, true))
		return false;
	if (argument->number <= 0)
		return diag_error(&eval->compilation->diags, E_UNDEFINED,
				  argument_ast(call, 0)->span,
				  "'log2' needs a number above 0, and this is %s",
				  eval_show(eval, argument));
	*value = value_of_number(log2(argument->number), UNIT_NONE, call->span);
	return true;
}

static bool apply_sqrt(struct eval *eval, const struct ast *call,
		       struct value *argument, uint32_t count,
		       struct value *value)
{
	struct unit unit = UNIT_NONE;

	(void)count;
	if (!one_number(eval, call, argument, false))
		return false;
	if (argument->number < 0)
		return diag_error(&eval->compilation->diags, E_UNDEFINED,
				  argument_ast(call, 0)->span,
				  "'sqrt' needs a number that is not negative, and this is %s",
				  eval_show(eval, argument));
	for (int i = 0; i < BASE_DIMENSION_COUNT; i++) {
		if (argument->unit.power[i] % 2)
			return diag_error(&eval->compilation->diags, E_DIMENSION,
					  argument_ast(call, 0)->span,
					  "the square root of %s has no dimension",
					  eval_describe(eval, argument));
		unit.power[i] = (int8_t)(argument->unit.power[i] / 2);
	}
	*value = value_of_number(sqrt(argument->number), unit, call->span);
	return true;
}

static bool apply_abs(struct eval *eval, const struct ast *call,
		      struct value *argument, uint32_t count,
		      struct value *value)
{
	(void)count;
	if (!one_number(eval, call, argument, false))
		return false;
	*value = value_of_number(fabs(argument->number), argument->unit,
				 call->span);
	return true;
}

static const struct builtin builtins[] = {
	{ "min", 1, ARGUMENTS_MAX, apply_min },
	{ "max", 1, ARGUMENTS_MAX, apply_max },
	{ "ceil", 1, 1, apply_ceil },
	{ "floor", 1, 1, apply_floor },
	{ "round", 1, 1, apply_round },
	{ "log2", 1, 1, apply_log2 },
	{ "sqrt", 1, 1, apply_sqrt },
	{ "abs", 1, 1, apply_abs },
	{ "sum", 1, 1, apply_sum },
	{ "count", 1, 1, apply_count },
};

#define BUILTIN_COUNT (sizeof(builtins) / sizeof(*builtins))

const struct builtin *builtin_find(const char *name)
{
	for (size_t i = 0; i < BUILTIN_COUNT; i++)
		if (!strcmp(builtins[i].name, name))
			return &builtins[i];
	return NULL;
}

const char *builtin_suggest(const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 0, distance;

	for (size_t i = 0; i < BUILTIN_COUNT; i++) {
		if (diag_resembles(name, builtins[i].name, &distance) &&
		    (!best || distance < best_distance)) {
			best = builtins[i].name;
			best_distance = distance;
		}
	}
	return best;
}

bool builtin_match(struct eval *eval, const struct builtin *builtin,
		   const struct ast *call)
{
	struct diags *diags = &eval->compilation->diags;
	const struct ast *arguments = call->child[1];
	uint32_t count = arguments ? arguments->child_count : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ast *argument = arguments->child[i];

		if (argument && argument->kind == AST_ARGUMENT)
			return diag_error(diags, E_UNKNOWN_PARAMETER,
					  argument->name_span,
					  "'%s' takes its arguments without names",
					  builtin->name);
	}
	if (count >= builtin->least && count <= builtin->most)
		return true;
	return diag_error(diags, E_MISSING_ARGUMENT, call->span,
			  "'%s' takes %s, and %lu are given", builtin->name,
			  builtin->most == 1 ? "one argument"
					     : "at least one argument",
			  (unsigned long)count);
}

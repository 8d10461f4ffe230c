/* SPDX-License-Identifier: MIT
 *
 * Operators: arithmetic on quantities, comparison, logic, membership.
 */
#include <math.h>
#include <string.h>

#include "lang/eval_internal.h"

/* Largest exponent of `^`; its powers are made by repeated squaring, so that
 * they are the same on every machine. */
#define EXPONENT_MAX 1024

bool eval_same_dimension(struct eval *eval, const struct ast *operator,
			 const struct ast *left_ast, struct value *left,
			 const struct ast *right_ast, struct value *right)
{
	struct diags *diags = &eval->compilation->diags;
	const struct value *plain = NULL;
	const struct ast *plain_ast = NULL;
	struct unit unit = UNIT_NONE;

	if (unit_equal(left->unit, right->unit))
		return true;
	if (unit_is_none(left->unit)) {
		plain = left;
		plain_ast = left_ast;
		unit = right->unit;
	} else if (unit_is_none(right->unit)) {
		plain = right;
		plain_ast = right_ast;
		unit = left->unit;
	}
	if (plain && plain->number == 0) {
		left->unit = unit;
		right->unit = unit;
		return true;
	}
	diag_error(diags, E_DIMENSION, operator->name_span,
		   "'%s' needs quantities of one dimension, not %s and %s",
		   operator->name, eval_describe(eval, left),
		   eval_describe(eval, right));
	diag_label(diags, left_ast->span, "%s: %s", eval_show(eval, left),
		   eval_describe(eval, left));
	diag_label(diags, right_ast->span, "%s: %s", eval_show(eval, right),
		   eval_describe(eval, right));
	if (plain)
		eval_suggest_unit(eval, plain_ast, plain, unit);
	return false;
}

struct operation {
	struct eval *eval;
	struct scope *scope;
	const struct ast *ast;		/* AST_BINARY */
	const struct ast *left_ast, *right_ast;
	struct value left, right;
};

static bool both_numbers(struct operation *operation)
{
	const char *what = arena_printf(&operation->eval->compilation->arena,
					"an operand of '%s'",
					operation->ast->name);

	if (operation->left.kind != VALUE_NUMBER)
		return eval_wrong_kind(operation->eval, &operation->left,
				       operation->left_ast->span, what,
				       "a number");
	if (operation->right.kind != VALUE_NUMBER)
		return eval_wrong_kind(operation->eval, &operation->right,
				       operation->right_ast->span, what,
				       "a number");
	return true;
}

static bool do_sum(struct operation *operation, double sign,
		   struct value *value)
{
	if (!eval_same_dimension(operation->eval, operation->ast,
				 operation->left_ast, &operation->left,
				 operation->right_ast, &operation->right))
		return false;
	return eval_finish_number(operation->eval,
				  operation->left.number +
					  sign * operation->right.number,
				  operation->left.unit, operation->ast->span,
				  value);
}

static bool unit_too_large(struct operation *operation)
{
	return diag_error(&operation->eval->compilation->diags, E_OVERFLOW,
			  operation->ast->span,
			  "the dimension of the result has too large an exponent");
}

static bool do_multiply(struct operation *operation, struct value *value)
{
	struct unit unit;

	if (!unit_multiply(operation->left.unit, operation->right.unit, &unit))
		return unit_too_large(operation);
	return eval_finish_number(operation->eval,
				  operation->left.number *
					  operation->right.number,
				  unit, operation->ast->span, value);
}

static bool divides_by_zero(struct operation *operation)
{
	struct diags *diags = &operation->eval->compilation->diags;

	if (operation->right.number != 0)
		return false;
	diag_error(diags, E_DIVISION_BY_ZERO, operation->ast->name_span,
		   "division by zero");
	diag_label(diags, operation->right_ast->span, "this is 0");
	return true;
}

static bool do_divide(struct operation *operation, struct value *value)
{
	struct unit unit;

	if (divides_by_zero(operation))
		return false;
	if (!unit_divide(operation->left.unit, operation->right.unit, &unit))
		return unit_too_large(operation);
	return eval_finish_number(operation->eval,
				  operation->left.number /
					  operation->right.number,
				  unit, operation->ast->span, value);
}

/* The remainder has the sign of the divisor: -1 % 8 is 7. */
static bool do_remainder(struct operation *operation, struct value *value)
{
	const int64_t most = (int64_t)VALUE_INTEGER_MAX;
	int64_t left, right, rest;

	if (!eval_whole(operation->eval, operation->scope, operation->left_ast,
			&operation->left, -most, most, "an operand of '%'",
			&left) ||
	    !eval_whole(operation->eval, operation->scope, operation->right_ast,
			&operation->right, -most, most, "an operand of '%'",
			&right) ||
	    divides_by_zero(operation))
		return false;
	rest = left % right;
	if (rest && (rest < 0) != (right < 0))
		rest += right;
	*value = value_of_number((double)rest, UNIT_NONE, operation->ast->span);
	return true;
}

static bool do_power(struct operation *operation, struct value *value)
{
	double power = 1, square = operation->left.number;
	struct unit unit;
	int64_t exponent;

	if (!eval_whole(operation->eval, operation->scope, operation->right_ast,
			&operation->right, -EXPONENT_MAX, EXPONENT_MAX,
			"an exponent", &exponent))
		return false;
	if (!unit_power(operation->left.unit, (int)exponent, &unit))
		return unit_too_large(operation);
	if (exponent < 0 && operation->left.number == 0)
		return diag_error(&operation->eval->compilation->diags,
				  E_DIVISION_BY_ZERO, operation->ast->name_span,
				  "a negative power of zero is a division by zero");
	for (uint64_t rest = (uint64_t)(exponent < 0 ? -exponent : exponent);
	     rest; rest >>= 1) {
		if (rest & 1)
			power *= square;
		if (rest > 1)
			square *= square;
	}
	return eval_finish_number(operation->eval,
				  exponent < 0 ? 1 / power : power, unit,
				  operation->ast->span, value);
}

static bool do_order(struct operation *operation, struct value *value)
{
	const char *name = operation->ast->name;
	double left, right;

	if (!both_numbers(operation) ||
	    !eval_same_dimension(operation->eval, operation->ast,
				 operation->left_ast, &operation->left,
				 operation->right_ast, &operation->right))
		return false;
	left = operation->left.number;
	right = operation->right.number;
	value->kind = VALUE_BOOL;
	if (!strcmp(name, "<"))
		value->boolean = left < right;
	else if (!strcmp(name, "<="))
		value->boolean = left <= right;
	else if (!strcmp(name, ">"))
		value->boolean = left > right;
	else
		value->boolean = left >= right;
	return true;
}

static bool report_unlike(struct operation *operation)
{
	struct eval *eval = operation->eval;
	struct diags *diags = &eval->compilation->diags;
	const struct value *side[2] = { &operation->left, &operation->right };
	const struct ast *ast[2] = { operation->left_ast, operation->right_ast };

	for (int i = 0; i < 2; i++)
		if (side[i]->kind == VALUE_PLAN_VARIABLE)
			return eval_wrong_kind(eval, side[i], ast[i]->span, "",
					       "");
	diag_error(diags, E_TYPE, operation->ast->name_span,
		   "'%s' cannot compare %s with %s", operation->ast->name,
		   eval_describe(eval, side[0]), eval_describe(eval, side[1]));
	for (int i = 0; i < 2; i++)
		diag_label(diags, ast[i]->span, "%s", eval_show(eval, side[i]));
	return false;
}

static bool values_equal(const struct value *left, const struct value *right,
			 bool *equal)
{
	if (left->kind != right->kind)
		return false;
	switch (left->kind) {
	case VALUE_BOOL:
		*equal = left->boolean == right->boolean;
		return true;
	case VALUE_NUMBER:
		*equal = left->number == right->number;
		return true;
	case VALUE_STRING:
	case VALUE_SYMBOL:
		*equal = !strcmp(left->string, right->string);
		return true;
	default:
		return false;
	}
}

static bool do_equal(struct operation *operation, struct value *value)
{
	bool equal;

	if (operation->left.kind == VALUE_NUMBER &&
	    operation->right.kind == VALUE_NUMBER &&
	    !eval_same_dimension(operation->eval, operation->ast,
				 operation->left_ast, &operation->left,
				 operation->right_ast, &operation->right))
		return false;
	if (!values_equal(&operation->left, &operation->right, &equal))
		return report_unlike(operation);
	value->kind = VALUE_BOOL;
	value->boolean = equal == !strcmp(operation->ast->name, "==");
	return true;
}

static bool in_range(const struct range *range, const struct value *value)
{
	double number = value->number;

	return unit_is_none(value->unit) && floor(number) == number &&
	       number >= (double)range->low && number <= (double)range->high &&
	       ((int64_t)number - range->low) % range->step == 0;
}

static bool do_in(struct operation *operation, struct value *value)
{
	struct eval *eval = operation->eval;
	const struct value set = operation->right;
	struct value element = operation->left;

	if (element.kind == VALUE_PLAN_VARIABLE)
		return report_unlike(operation);
	value->kind = VALUE_BOOL;
	value->boolean = false;
	if (set.kind == VALUE_RANGE) {
		if (element.kind != VALUE_NUMBER)
			return eval_wrong_kind(eval, &element,
					       operation->left_ast->span,
					       "an element of a range",
					       "a number");
		value->boolean = in_range(&set.range, &element);
		return true;
	}
	if (set.kind != VALUE_SET && set.kind != VALUE_LIST)
		return eval_wrong_kind(eval, &set, operation->right_ast->span,
				       "the right side of 'in'",
				       "a set, a list or a range");
	if (!eval_steps(eval, set.item_count, operation->ast->span))
		return false;
	for (uint32_t i = 0; i < set.item_count; i++) {
		bool equal;

		operation->left = element;
		operation->right = set.item[i];
		if (element.kind == VALUE_NUMBER &&
		    operation->right.kind == VALUE_NUMBER &&
		    !eval_same_dimension(eval, operation->ast,
					 operation->left_ast, &operation->left,
					 operation->right_ast,
					 &operation->right))
			return false;
		if (!values_equal(&operation->left, &operation->right, &equal))
			return report_unlike(operation);
		if (equal)
			value->boolean = true;
	}
	return true;
}

/* `and` and `or` look at the right side only when they must. */
static bool eval_logic(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	bool is_and = !strcmp(expression->name, "and");
	const char *what = is_and ? "an operand of 'and'" : "an operand of 'or'";
	bool boolean;

	if (!eval_boolean(eval, scope, expression->child[0], what, &boolean))
		return false;
	if (boolean == is_and &&
	    !eval_boolean(eval, scope, expression->child[1], what, &boolean))
		return false;
	value->kind = VALUE_BOOL;
	value->boolean = boolean;
	return true;
}

static bool eval_unary(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	const struct ast *operand = expression->child[0];
	bool boolean;

	if (!strcmp(expression->name, "not")) {
		if (!eval_boolean(eval, scope, operand, "the operand of 'not'",
				  &boolean))
			return false;
		value->kind = VALUE_BOOL;
		value->boolean = !boolean;
		return true;
	}
	if (!eval_expression(eval, scope, operand, value))
		return false;
	if (value->kind != VALUE_NUMBER)
		return eval_wrong_kind(eval, value, operand->span,
				       "the operand of '-'", "a number");
	/* No negative zero: it would print as -0. */
	value->number = 0 - value->number;
	return true;
}

static bool do_arithmetic(struct operation *operation, struct value *value)
{
	if (!both_numbers(operation))
		return false;
	switch (operation->ast->name[0]) {
	case '+':
		return do_sum(operation, 1, value);
	case '-':
		return do_sum(operation, -1, value);
	case '*':
		return do_multiply(operation, value);
	case '/':
		return do_divide(operation, value);
	case '%':
		return do_remainder(operation, value);
	default:
		return do_power(operation, value);
	}
}

bool eval_operator(struct eval *eval, struct scope *scope,
		   const struct ast *expression, struct value *value)
{
	struct operation operation = {
		.eval = eval, .scope = scope, .ast = expression
	};
	const char *name = expression->name;
	bool left_ok, right_ok;

	if (expression->kind == AST_UNARY)
		return eval_unary(eval, scope, expression, value);
	if (!strcmp(name, "and") || !strcmp(name, "or"))
		return eval_logic(eval, scope, expression, value);
	operation.left_ast = expression->child[0];
	operation.right_ast = expression->child[1];
	left_ok = eval_expression(eval, scope, operation.left_ast,
				  &operation.left);
	right_ok = eval_expression(eval, scope, operation.right_ast,
				   &operation.right);
	if (!left_ok || !right_ok)
		return false;
	if (!strcmp(name, "in"))
		return do_in(&operation, value);
	if (!strcmp(name, "==") || !strcmp(name, "!="))
		return do_equal(&operation, value);
	if (name[0] == '<' || name[0] == '>')
		return do_order(&operation, value);
	return do_arithmetic(&operation, value);
}

/* SPDX-License-Identifier: MIT
 *
 * Parts of a requirement: what each is, and which fit together under an operator.
 */
#include <math.h>
#include <string.h>

#include "compiler/lower_predicate.h"

bool operand_of_value(const struct value *value, struct operand *operand,
		      double *number)
{
	*number = NAN;
	switch (value->kind) {
	case VALUE_NUMBER:
		operand->kind = OPERAND_NUMBER;
		operand->unit = value->unit;
		operand->is_zero = value->number == 0;
		*number = value->number;
		return true;
	case VALUE_BOOL:
		operand->kind = OPERAND_BOOLEAN;
		*number = value->boolean;
		return true;
	case VALUE_SYMBOL:
		operand->kind = OPERAND_SYMBOL;
		operand->symbol = value->string;
		return true;
	default:
		return false;
	}
}

const char *operand_describe(struct predicate_builder *builder,
			     const struct operand *operand)
{
	struct text scratch;

	text_init(&scratch, builder->lower->arena);
	switch (operand->kind) {
	case OPERAND_NUMBER:
		return unit_describe(operand->unit, &scratch);
	case OPERAND_BOOLEAN:
		return "true or false";
	case OPERAND_CHOICE:
		return variable_symbols(operand->variable);
	case OPERAND_SYMBOL:
		break;
	}
	return arena_printf(builder->lower->arena, "the word '%s'",
			    operand->symbol);
}

bool operand_error(struct predicate_builder *builder,
		   const struct operand *operand, const char *wanted)
{
	diag_error(builder->lower->diags, E_REQUIREMENT_TYPE, operand->span,
		   "%s is needed here, and this is %s", wanted,
		   operand_describe(builder, operand));
	if (operand->kind == OPERAND_NUMBER && !strcmp(wanted, "true or false"))
		diag_help(builder->lower->diags,
			  "compare it with something, for instance '.. <= 8'");
	return false;
}

bool operand_want_number(struct predicate_builder *builder,
			 const struct operand *operand)
{
	return operand->kind == OPERAND_NUMBER ||
	       operand_error(builder, operand, "a number");
}

bool operand_want_truth(struct predicate_builder *builder, struct operand *operand)
{
	uint32_t number;

	if (operand->kind == OPERAND_SYMBOL &&
	    variable_symbol(VARIABLE_SEQUENCE, operand->symbol, &number)) {
		builder->step.at[operand->step].number = number;
		operand->kind = OPERAND_BOOLEAN;
	}
	return operand->kind == OPERAND_BOOLEAN ||
	       operand_error(builder, operand, "true or false");
}

bool operand_same_unit(struct predicate_builder *builder, const struct ast *binary,
		       struct operand *left, struct operand *right)
{
	struct diags *diags = builder->lower->diags;

	if (!operand_want_number(builder, left) || !operand_want_number(builder, right))
		return false;
	if (left->is_zero)
		left->unit = right->unit;
	if (right->is_zero || unit_equal(left->unit, right->unit))
		return true;
	diag_error(diags, E_DIMENSION, binary->name_span,
		   "'%s' joins %s and %s", binary->name,
		   operand_describe(builder, left), operand_describe(builder, right));
	diag_label(diags, left->span, "%s", operand_describe(builder, left));
	diag_label(diags, right->span, "%s", operand_describe(builder, right));
	return false;
}

static bool is_symbolic(const struct operand *operand)
{
	return operand->kind == OPERAND_CHOICE || operand->kind == OPERAND_BOOLEAN;
}

/* Gives a symbol the number it has as a value of the choice on the other
 * side of a comparison. */
static bool resolve_symbol(struct predicate_builder *builder,
			   const struct operand *choice, struct operand *symbol)
{
	enum plan_variable variable = choice->kind == OPERAND_CHOICE ?
				      choice->variable : VARIABLE_SEQUENCE;
	uint32_t number;

	if (!variable_symbol(variable, symbol->symbol, &number))
		return diag_error(builder->lower->diags, E_REQUIREMENT_TYPE,
				  symbol->span, "'%s' is never '%s': it is %s",
				  variable_name(variable), symbol->symbol,
				  variable_symbols(variable));
	builder->step.at[symbol->step].number = number;
	symbol->kind = choice->kind;
	symbol->variable = choice->variable;
	return true;
}

bool operand_check_comparison(struct predicate_builder *builder,
			      const struct ast *binary, enum predicate_op op,
			      struct operand *left, struct operand *right)
{
	struct diags *diags = builder->lower->diags;

	if (left->kind == OPERAND_SYMBOL && is_symbolic(right) &&
	    !resolve_symbol(builder, right, left))
		return false;
	if (right->kind == OPERAND_SYMBOL && is_symbolic(left) &&
	    !resolve_symbol(builder, left, right))
		return false;
	if (left->kind == OPERAND_NUMBER && right->kind == OPERAND_NUMBER)
		return operand_same_unit(builder, binary, left, right);
	if (left->kind == right->kind && is_symbolic(left) &&
	    (op == PREDICATE_EQUAL || op == PREDICATE_NOT_EQUAL))
		return true;
	diag_error(diags, E_REQUIREMENT_TYPE, binary->name_span,
		   "'%s' cannot compare these", binary->name);
	diag_label(diags, left->span, "%s", operand_describe(builder, left));
	diag_label(diags, right->span, "%s", operand_describe(builder, right));
	if (left->kind == right->kind && is_symbolic(left))
		diag_help(diags, "such values are equal or not, without an order");
	return false;
}

static bool check_product(struct predicate_builder *builder,
			  const struct ast *binary, enum predicate_op op,
			  struct operand *left, struct operand *right)
{
	bool fits;

	if (!operand_want_number(builder, left) || !operand_want_number(builder, right))
		return false;
	fits = op == PREDICATE_MULTIPLY ?
	       unit_multiply(left->unit, right->unit, &left->unit) :
	       unit_divide(left->unit, right->unit, &left->unit);
	return fits || diag_error(builder->lower->diags, E_DIMENSION, binary->span,
				  "the dimension of this is out of bounds");
}

static bool check_power(struct predicate_builder *builder,
			const struct operand *left, const struct operand *right)
{
	if (!operand_want_number(builder, left) || !operand_want_number(builder, right))
		return false;
	if (unit_is_none(left->unit) && unit_is_none(right->unit))
		return true;
	return operand_error(builder, unit_is_none(left->unit) ? right : left,
			     "a plain number");
}

bool operand_check_binary(struct predicate_builder *builder,
			  const struct ast *binary, enum predicate_op op,
			  struct operand *left, struct operand *right)
{
	switch (op) {
	case PREDICATE_ADD:
	case PREDICATE_SUBTRACT:
	case PREDICATE_REMAINDER:
		return operand_same_unit(builder, binary, left, right);
	case PREDICATE_MULTIPLY:
	case PREDICATE_DIVIDE:
		return check_product(builder, binary, op, left, right);
	case PREDICATE_POWER:
		return check_power(builder, left, right);
	case PREDICATE_AND:
	case PREDICATE_OR:
		return operand_want_truth(builder, left) &&
		       operand_want_truth(builder, right);
	default:
		if (!operand_check_comparison(builder, binary, op, left, right))
			return false;
		left->kind = OPERAND_BOOLEAN;
		return true;
	}
}

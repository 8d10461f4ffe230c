/* SPDX-License-Identifier: MIT
 *
 * Expressions over plan variables to stack programs, with their kinds and
 * dimensions checked. What does not depend on the plan is folded by the
 * evaluator. Where the machine has no instruction, a few steps stand for it:
 * `x in {a, b}` is x = a or x = b, and min(a, b) is a (a < b) + b (a >= b).
 */
#include <math.h>
#include <string.h>

#include "compiler/lower.h"

/* ---- building ---- */

/* How a step changes the number of values on the stack. */
static int step_effect(enum predicate_op op)
{
	switch (op) {
	case PREDICATE_CONSTANT:
	case PREDICATE_VARIABLE:
		return 1;
	case PREDICATE_NEGATE:
	case PREDICATE_NOT:
		return 0;
	default:
		return -1;
	}
}

bool predicate_push(struct predicate_builder *builder, struct span span,
		    struct predicate_step step)
{
	struct lower *lower = builder->lower;

	if (builder->step.count >= PREDICATE_STEPS_MAX ||
	    builder->depth + 1 > PREDICATE_STACK_MAX) {
		diag_error(lower->diags, E_REQUIREMENT_SIZE, span,
			   "this requirement is too long");
		diag_note(lower->diags, SPAN_NONE,
			  "it takes more than %d steps, or more than %d numbers at once",
			  PREDICATE_STEPS_MAX, PREDICATE_STACK_MAX);
		diag_help(lower->diags, "split it into several requirements");
		return false;
	}
	if (step.op == PREDICATE_VARIABLE && step.variable >= VARIABLE_TIME)
		builder->needs_outcome = true;
	builder->depth = (uint32_t)((int)builder->depth + step_effect(step.op));
	VEC_PUSH(&builder->step, lower->arena, step);
	return true;
}

struct predicate predicate_finish(const struct predicate_builder *builder,
				  uint32_t source)
{
	return (struct predicate){
		.step = builder->step.at,
		.step_count = (uint32_t)builder->step.count,
		.needs_outcome = builder->needs_outcome,
		.source = source,
	};
}

static bool push_op(struct predicate_builder *builder, struct span span,
		    enum predicate_op op)
{
	return predicate_push(builder, span, (struct predicate_step){ .op = op });
}

static bool push_number(struct predicate_builder *builder, struct span span,
			double number)
{
	return predicate_push(builder, span, (struct predicate_step){
		.op = PREDICATE_CONSTANT, .number = number });
}

static bool push_variable(struct predicate_builder *builder, struct span span,
			  enum plan_variable variable, uint32_t index)
{
	return predicate_push(builder, span, (struct predicate_step){
		.op = PREDICATE_VARIABLE, .variable = variable, .index = index });
}

/* ---- operands ---- */

static const char *operand_describe(struct predicate_builder *builder,
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

static bool operand_error(struct predicate_builder *builder,
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

static bool want_number(struct predicate_builder *builder,
			const struct operand *operand)
{
	return operand->kind == OPERAND_NUMBER ||
	       operand_error(builder, operand, "a number");
}

bool predicate_truth(struct predicate_builder *builder, struct operand *operand)
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

/* Both numbers of one dimension; a constant 0 fits any. */
static bool same_unit(struct predicate_builder *builder, const struct ast *binary,
		      struct operand *left, struct operand *right)
{
	struct diags *diags = builder->lower->diags;

	if (!want_number(builder, left) || !want_number(builder, right))
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

/* ---- leaves ---- */

static struct unit variable_unit(enum plan_variable variable)
{
	switch (variable) {
	case VARIABLE_TIME:
		return UNIT_SECOND;
	case VARIABLE_MEMORY:
		return UNIT_BYTE;
	case VARIABLE_COST:
		return (struct unit){ { [BASE_DOLLAR] = 1 } };
	case VARIABLE_ENERGY:
		return (struct unit){ { [BASE_WATT] = 1, [BASE_SECOND] = 1 } };
	default:
		return UNIT_NONE;
	}
}

static bool compile_constant(struct predicate_builder *builder,
			     const struct ast *expression,
			     struct operand *operand)
{
	struct lower *lower = builder->lower;
	struct text scratch;
	struct value value;
	double number = NAN;

	if (!eval_expression(&lower->eval, lower->scope, expression, &value))
		return false;
	operand->step = builder->step.count;
	switch (value.kind) {
	case VALUE_ERROR:
		return false;
	case VALUE_NUMBER:
		operand->kind = OPERAND_NUMBER;
		operand->unit = value.unit;
		operand->is_zero = value.number == 0;
		number = value.number;
		break;
	case VALUE_BOOL:
		operand->kind = OPERAND_BOOLEAN;
		number = value.boolean;
		break;
	case VALUE_SYMBOL:
		operand->kind = OPERAND_SYMBOL;
		operand->symbol = value.string;
		break;
	default:
		text_init(&scratch, lower->arena);
		return diag_error(lower->diags, E_REQUIREMENT_TYPE, expression->span,
				  "a number, a truth or a word is needed here, and this is %s",
				  value_describe(&value, &scratch));
	}
	return push_number(builder, expression->span, number);
}

static bool compile_variable(struct predicate_builder *builder,
			     const struct ast *expression,
			     enum plan_variable variable,
			     struct operand *operand)
{
	operand->variable = variable;
	operand->unit = variable_unit(variable);
	operand->kind = variable == VARIABLE_SEQUENCE ? OPERAND_BOOLEAN :
			variable == VARIABLE_RECOMPUTE ||
			variable == VARIABLE_SCHEDULE ? OPERAND_CHOICE :
							 OPERAND_NUMBER;
	return push_variable(builder, expression->span, variable, 0);
}

static bool compile_name(struct predicate_builder *builder,
			 const struct ast *name, struct operand *operand)
{
	struct lower *lower = builder->lower;
	enum plan_variable variable = variable_find(name->name);

	if (variable != VARIABLE_COUNT)
		return compile_variable(builder, name, variable, operand);
	for (size_t i = 0; i < lower->let.count; i++)
		if (lower->let.at[i].name == name->name)
			return predicate_compile(builder,
						 lower->let.at[i].expression,
						 operand);
	diag_error(lower->diags, E_REQUIREMENT_FORM, name->span,
		   "'%s' is no number by itself", name->name);
	diag_help(lower->diags, strcmp(name->name, "stage") ?
		  "write stages.uniform" : "write for instance stage[0].layers");
	return false;
}

static bool is_named(const struct ast *expression, const char *name)
{
	return expression && expression->kind == AST_NAME &&
	       !strcmp(expression->name, name);
}

/* stage[i].layers and stages.uniform; the parser gives a member, or a path of
 * names for the latter. */
static bool compile_member(struct predicate_builder *builder,
			   const struct ast *expression, struct operand *operand)
{
	bool is_path = expression->kind == AST_PATH;
	const char *member = is_path && expression->child_count == 2 ?
			     expression->child[1]->name : expression->name;
	const struct ast *base = expression->child[0];
	struct lower *lower = builder->lower;
	int64_t index;

	if (is_named(base, "stages") && member && !strcmp(member, "uniform")) {
		operand->kind = OPERAND_BOOLEAN;
		return push_variable(builder, expression->span,
				     VARIABLE_STAGES_UNIFORM, 0);
	}
	if (base->kind != AST_INDEX || !is_named(base->child[0], "stage") ||
	    !member || strcmp(member, "layers")) {
		diag_error(lower->diags, E_REQUIREMENT_FORM, expression->span,
			   "a plan has no such part");
		diag_help(lower->diags,
			  "about stages one can ask stage[0].layers and stages.uniform");
		return false;
	}
	if (lower_mentions_plan(lower, base->child[1]))
		return diag_error(lower->diags, E_REQUIREMENT_FORM,
				  base->child[1]->span,
				  "the number of a stage cannot depend on the plan");
	if (!eval_integer(&lower->eval, lower->scope, base->child[1], 0,
			  CHAIN_MAX - 1, "the number of a stage", &index))
		return false;
	operand->kind = OPERAND_NUMBER;
	operand->unit = UNIT_NONE;
	return push_variable(builder, expression->span, VARIABLE_STAGE_LAYERS,
			     (uint32_t)index);
}

/* ---- operators ---- */

static bool compile_unary(struct predicate_builder *builder,
			  const struct ast *unary, struct operand *operand)
{
	bool negate = !strcmp(unary->name, "-");

	if (!predicate_compile(builder, unary->child[0], operand))
		return false;
	if (negate)
		return want_number(builder, operand) &&
		       push_op(builder, unary->span, PREDICATE_NEGATE);
	return predicate_truth(builder, operand) &&
	       push_op(builder, unary->span, PREDICATE_NOT);
}

static const struct {
	const char *name;
	enum predicate_op op;
} binary_operators[] = {
	{ "+", PREDICATE_ADD }, { "-", PREDICATE_SUBTRACT },
	{ "*", PREDICATE_MULTIPLY }, { "/", PREDICATE_DIVIDE },
	{ "%", PREDICATE_REMAINDER }, { "^", PREDICATE_POWER },
	{ "==", PREDICATE_EQUAL }, { "!=", PREDICATE_NOT_EQUAL },
	{ "<", PREDICATE_LESS }, { "<=", PREDICATE_LESS_EQUAL },
	{ ">", PREDICATE_GREATER }, { ">=", PREDICATE_GREATER_EQUAL },
	{ "and", PREDICATE_AND }, { "or", PREDICATE_OR },
};

static bool binary_find(const char *name, enum predicate_op *op)
{
	for (size_t i = 0; i < sizeof(binary_operators) / sizeof(*binary_operators); i++) {
		*op = binary_operators[i].op;
		if (!strcmp(binary_operators[i].name, name))
			return true;
	}
	return false;
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

static bool is_symbolic(const struct operand *operand)
{
	return operand->kind == OPERAND_CHOICE || operand->kind == OPERAND_BOOLEAN;
}

/* == and != of any two alike; order only of numbers. */
static bool check_comparison(struct predicate_builder *builder,
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
		return same_unit(builder, binary, left, right);
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

	if (!want_number(builder, left) || !want_number(builder, right))
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
	if (!want_number(builder, left) || !want_number(builder, right))
		return false;
	if (unit_is_none(left->unit) && unit_is_none(right->unit))
		return true;
	return operand_error(builder, unit_is_none(left->unit) ? right : left,
			     "a plain number");
}

/* Checks both sides and leaves in *left what the result is. */
static bool check_binary(struct predicate_builder *builder,
			 const struct ast *binary, enum predicate_op op,
			 struct operand *left, struct operand *right)
{
	switch (op) {
	case PREDICATE_ADD:
	case PREDICATE_SUBTRACT:
	case PREDICATE_REMAINDER:
		return same_unit(builder, binary, left, right);
	case PREDICATE_MULTIPLY:
	case PREDICATE_DIVIDE:
		return check_product(builder, binary, op, left, right);
	case PREDICATE_POWER:
		return check_power(builder, left, right);
	case PREDICATE_AND:
	case PREDICATE_OR:
		return predicate_truth(builder, left) &&
		       predicate_truth(builder, right);
	default:
		if (!check_comparison(builder, binary, op, left, right))
			return false;
		left->kind = OPERAND_BOOLEAN;
		return true;
	}
}

static bool compile_in(struct predicate_builder *builder,
		       const struct ast *binary, struct operand *operand);

static bool compile_binary(struct predicate_builder *builder,
			   const struct ast *binary, struct operand *operand)
{
	struct operand right;
	enum predicate_op op;

	if (!strcmp(binary->name, "in"))
		return compile_in(builder, binary, operand);
	if (!binary_find(binary->name, &op))
		return diag_error(builder->lower->diags, E_REQUIREMENT_FORM,
				  binary->name_span,
				  "'%s' cannot be applied to plan variables",
				  binary->name);
	if (!predicate_compile(builder, binary->child[0], operand) ||
	    !predicate_compile(builder, binary->child[1], &right) ||
	    !check_binary(builder, binary, op, operand, &right))
		return false;
	operand->is_zero = false;
	return push_op(builder, binary->span, op);
}

/* ---- x in domain ---- */

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
	if (!push_number(builder, span, (double)range->low) ||
	    !push_op(builder, span, PREDICATE_GREATER_EQUAL) ||
	    !predicate_compile(builder, left, &operand) ||
	    !push_number(builder, span, (double)range->high) ||
	    !push_op(builder, span, PREDICATE_LESS_EQUAL) ||
	    !push_op(builder, span, PREDICATE_AND))
		return false;
	/* A range holds whole numbers only. */
	return predicate_compile(builder, left, &operand) &&
	       push_number(builder, span, (double)range->low) &&
	       push_op(builder, span, PREDICATE_SUBTRACT) &&
	       push_number(builder, span, (double)range->step) &&
	       push_op(builder, span, PREDICATE_REMAINDER) &&
	       push_number(builder, span, 0) &&
	       push_op(builder, span, PREDICATE_EQUAL) &&
	       push_op(builder, span, PREDICATE_AND);
}

static bool in_element(struct predicate_builder *builder,
		       const struct ast *binary, const struct value *element)
{
	struct operand left, right = {
		.span = binary->child[1]->span,
		.unit = UNIT_NONE,
	};
	double number = NAN;

	if (!predicate_compile(builder, binary->child[0], &left))
		return false;
	right.step = builder->step.count;
	switch (element->kind) {
	case VALUE_NUMBER:
		right.kind = OPERAND_NUMBER;
		right.unit = element->unit;
		right.is_zero = element->number == 0;
		number = element->number;
		break;
	case VALUE_BOOL:
		right.kind = OPERAND_BOOLEAN;
		number = element->boolean;
		break;
	case VALUE_SYMBOL:
		right.kind = OPERAND_SYMBOL;
		right.symbol = element->string;
		break;
	default:
		return diag_error(builder->lower->diags, E_REQUIREMENT_TYPE,
				  right.span, "only numbers, truths and words can "
				  "stand in this set");
	}
	return push_number(builder, right.span, number) &&
	       check_comparison(builder, binary, PREDICATE_EQUAL, &left, &right) &&
	       push_op(builder, binary->span, PREDICATE_EQUAL);
}

static bool compile_in(struct predicate_builder *builder,
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
		    (i && !push_op(builder, binary->span, PREDICATE_OR)))
			return false;
	}
	return true;
}

/* ---- if and functions ---- */

/* if c then a else b: c a + (1 - c) b, or the same with and, or. */
static bool compile_if(struct predicate_builder *builder, const struct ast *choice,
		       struct operand *operand)
{
	enum predicate_op times = PREDICATE_MULTIPLY, plus = PREDICATE_ADD;
	struct operand condition, other;

	if (!predicate_compile(builder, choice->child[0], &condition) ||
	    !predicate_truth(builder, &condition) ||
	    !predicate_compile(builder, choice->child[1], operand))
		return false;
	if (operand->kind != OPERAND_NUMBER) {
		times = PREDICATE_AND;
		plus = PREDICATE_OR;
		if (!predicate_truth(builder, operand))
			return false;
	}
	if (!push_op(builder, choice->span, times) ||
	    !predicate_compile(builder, choice->child[0], &condition) ||
	    !predicate_truth(builder, &condition) ||
	    !push_op(builder, choice->span, PREDICATE_NOT) ||
	    !predicate_compile(builder, choice->child[2], &other))
		return false;
	if (times == PREDICATE_AND ? !predicate_truth(builder, &other) :
	    !want_number(builder, &other))
		return false;
	if (times == PREDICATE_MULTIPLY && !other.is_zero && !operand->is_zero &&
	    !unit_equal(operand->unit, other.unit))
		return operand_error(builder, &other,
				     operand_describe(builder, operand));
	if (operand->is_zero)
		operand->unit = other.unit;
	operand->is_zero = false;
	return push_op(builder, choice->span, times) &&
	       push_op(builder, choice->span, plus);
}

/* The smaller (or larger) of two: each times whether it is. */
static bool compile_extreme(struct predicate_builder *builder,
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
		    !same_unit(builder, call, operand, &other) ||
		    !push_op(builder, call->span, wins[least][side]) ||
		    !push_op(builder, call->span, PREDICATE_MULTIPLY))
			return false;
	}
	operand->is_zero = false;
	return push_op(builder, call->span, PREDICATE_ADD);
}

/* floor, ceil: x - x % 1, less or plus one where the remainder is negative or
 * positive (it has the sign of x). */
static bool compile_rounded(struct predicate_builder *builder,
			    const struct ast *call, bool down,
			    struct operand *operand)
{
	const struct ast *argument = call->child[1]->child[0];
	struct span span = call->span;

	if (!predicate_compile(builder, argument, operand) ||
	    !want_number(builder, operand))
		return false;
	if (!unit_is_none(operand->unit))
		return operand_error(builder, operand, "a plain number");
	return predicate_compile(builder, argument, operand) &&
	       push_number(builder, span, 1) &&
	       push_op(builder, span, PREDICATE_REMAINDER) &&
	       push_op(builder, span, PREDICATE_SUBTRACT) &&
	       predicate_compile(builder, argument, operand) &&
	       push_number(builder, span, 1) &&
	       push_op(builder, span, PREDICATE_REMAINDER) &&
	       push_number(builder, span, 0) &&
	       push_op(builder, span, down ? PREDICATE_LESS : PREDICATE_GREATER) &&
	       push_op(builder, span, down ? PREDICATE_SUBTRACT : PREDICATE_ADD);
}

static bool compile_call(struct predicate_builder *builder, const struct ast *call,
			 struct operand *operand)
{
	struct lower *lower = builder->lower;
	const struct ast *callee = call->child[0];
	uint32_t count = call->child[1] ? call->child[1]->child_count : 0;

	if (count == 2 && (is_named(callee, "min") || is_named(callee, "max")))
		return compile_extreme(builder, call, is_named(callee, "min"),
				       operand);
	if (count == 1 && (is_named(callee, "floor") || is_named(callee, "ceil")))
		return compile_rounded(builder, call, is_named(callee, "floor"),
				       operand);
	diag_error(lower->diags, E_REQUIREMENT_FORM, callee->span,
		   "this function cannot be applied to plan variables");
	diag_help(lower->diags, "min and max of two, floor and ceil can; "
		  "write anything else out");
	return false;
}

/* ---- all expressions ---- */

static bool compile_any(struct predicate_builder *builder,
			const struct ast *expression, struct operand *operand)
{
	switch (expression->kind) {
	case AST_NAME:
		return compile_name(builder, expression, operand);
	case AST_MEMBER:
	case AST_PATH:
		return compile_member(builder, expression, operand);
	case AST_UNARY:
		return compile_unary(builder, expression, operand);
	case AST_BINARY:
		return compile_binary(builder, expression, operand);
	case AST_IF:
		return compile_if(builder, expression, operand);
	case AST_CALL:
		return compile_call(builder, expression, operand);
	case AST_ERROR:
		return false;
	default:
		return diag_error(builder->lower->diags, E_REQUIREMENT_FORM,
				  expression->span,
				  "a %s cannot depend on the plan",
				  ast_kind_name(expression->kind));
	}
}

bool predicate_compile(struct predicate_builder *builder,
		       const struct ast *expression, struct operand *operand)
{
	struct lower *lower = builder->lower;
	bool good;

	*operand = (struct operand){ .span = expression->span };
	if (!lower_enter(lower, expression->span))
		return false;
	good = lower_mentions_plan(lower, expression) ?
	       compile_any(builder, expression, operand) :
	       compile_constant(builder, expression, operand);
	lower_leave(lower);
	operand->span = expression->span;
	return good;
}

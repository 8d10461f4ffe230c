/* SPDX-License-Identifier: MIT
 *
 * Expressions over plan variables to stack programs. What does not depend on the
 * plan is folded by the evaluator.
 */
#include <string.h>

#include "compiler/lower_predicate.h"

/* Whether a name depends on the plan: a variable, the stages, or a let of the
 * job that was kept aside because it does. */
static bool name_is_plan(const struct lower *lower, const char *name)
{
	if (variable_find(name) != VARIABLE_COUNT || !strcmp(name, "stage") ||
	    !strcmp(name, "stages"))
		return true;
	for (size_t i = 0; i < lower->let.count; i++)
		if (lower->let.at[i].name == name)
			return true;
	return false;
}

bool lower_mentions_plan(struct lower *lower, const struct ast *expression)
{
	uint32_t first = 0, last = expression->child_count;
	bool found = false;

	if (expression->kind == AST_NAME)
		return name_is_plan(lower, expression->name);
	/* Functions, and members of modules and records, are not variables. */
	if (expression->kind == AST_CALL && last &&
	    expression->child[0]->kind == AST_NAME)
		first = 1;
	if (expression->kind == AST_PATH && last)
		last = 1;
	if (!lower_enter(lower, expression->span))
		return true;
	for (uint32_t i = first; i < last && !found; i++)
		found = expression->child[i] &&
			lower_mentions_plan(lower, expression->child[i]);
	lower_leave(lower);
	return found;
}

/* ---- building ---- */

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
	builder->depth += 1 - predicate_operands(step.op);
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

bool predicate_push_op(struct predicate_builder *builder, struct span span,
		       enum predicate_op op)
{
	return predicate_push(builder, span, (struct predicate_step){ .op = op });
}

bool predicate_push_number(struct predicate_builder *builder, struct span span,
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
	double number;

	if (!eval_expression(&lower->eval, lower->scope, expression, &value))
		return false;
	operand->step = builder->step.count;
	if (value.kind == VALUE_ERROR)
		return false;
	if (operand_of_value(&value, operand, &number))
		return predicate_push_number(builder, expression->span, number);
	text_init(&scratch, lower->arena);
	return diag_error(lower->diags, E_REQUIREMENT_TYPE, expression->span,
			  "a number, a truth or a word is needed here, and this is %s",
			  value_describe(&value, &scratch));
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
		return operand_want_number(builder, operand) &&
		       predicate_push_op(builder, unary->span, PREDICATE_NEGATE);
	return operand_want_truth(builder, operand) &&
	       predicate_push_op(builder, unary->span, PREDICATE_NOT);
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

static bool compile_binary(struct predicate_builder *builder,
			   const struct ast *binary, struct operand *operand)
{
	struct operand right;
	enum predicate_op op;

	if (!strcmp(binary->name, "in"))
		return predicate_unfold_in(builder, binary, operand);
	if (!binary_find(binary->name, &op))
		return diag_error(builder->lower->diags, E_REQUIREMENT_FORM,
				  binary->name_span,
				  "'%s' cannot be applied to plan variables",
				  binary->name);
	if (!predicate_compile(builder, binary->child[0], operand) ||
	    !predicate_compile(builder, binary->child[1], &right) ||
	    !operand_check_binary(builder, binary, op, operand, &right))
		return false;
	operand->is_zero = false;
	return predicate_push_op(builder, binary->span, op);
}

/* ---- if and functions ---- */

static bool compile_call(struct predicate_builder *builder, const struct ast *call,
			 struct operand *operand)
{
	struct lower *lower = builder->lower;
	const struct ast *callee = call->child[0];
	uint32_t count = call->child[1] ? call->child[1]->child_count : 0;

	if (count == 2 && (is_named(callee, "min") || is_named(callee, "max")))
		return predicate_unfold_extreme(builder, call, is_named(callee, "min"),
						operand);
	if (count == 1 && (is_named(callee, "floor") || is_named(callee, "ceil")))
		return predicate_unfold_rounded(builder, call, is_named(callee, "floor"),
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
		return predicate_unfold_if(builder, expression, operand);
	case AST_CALL:
		return compile_call(builder, expression, operand);
	case AST_ERROR:
		return false;
	default:
		return diag_error(builder->lower->diags, E_REQUIREMENT_FORM,
				  expression->span,
				  "%s cannot depend on the plan",
				  ast_a_kind(expression->kind));
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

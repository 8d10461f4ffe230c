/* SPDX-License-Identifier: MIT
 *
 * Expressions: the one place where each kind of node goes to what gives its value.
 * Evaluation is total: every step counts against a limit, every level of nesting
 * against another, and a name that needs itself is an error.
 */
#include "lang/eval.h"

#include <math.h>
#include <string.h>

#include "lang/base/vec.h"
#include "lang/eval_internal.h"
#include "lang/module.h"

void eval_init(struct eval *eval, struct compilation *compilation)
{
	memset(eval, 0, sizeof(*eval));
	eval->compilation = compilation;
}

bool eval_steps(struct eval *eval, uint64_t steps, struct span span)
{
	uint64_t limit = eval->compilation->step_max;

	if (eval->stopped)
		return false;
	if (steps <= limit && eval->steps <= limit - steps) {
		eval->steps += steps;
		return true;
	}
	eval->stopped = true;
	diag_error(&eval->compilation->diags, E_STEP_LIMIT, span,
		   "evaluation takes more than %llu steps",
		   (unsigned long long)limit);
	diag_help(&eval->compilation->diags,
		  "repeat equal layers with 'N * layer(..)', and name a value used often with 'let'");
	return false;
}

bool eval_step(struct eval *eval, struct span span)
{
	return eval_steps(eval, 1, span);
}

bool eval_finish_number(struct eval *eval, double number, struct unit unit,
			struct span span, struct value *value)
{
	if (!isfinite(number)) {
		*value = VALUE_FAILED;
		return diag_error(&eval->compilation->diags, E_OVERFLOW, span,
				  "the result is too large to be represented");
	}
	*value = value_of_number(number, unit, span);
	return true;
}

/* ---- members and elements ---- */

static bool eval_module_member(struct eval *eval, const struct module *module,
			       const struct ast *expression, struct value *value)
{
	struct binding *binding = scope_find_here(module->scope,
						  expression->name);
	struct diags *diags = &eval->compilation->diags;
	struct scope own = *module->scope;
	const char *suggestion;

	if (binding && binding->declaration->kind != AST_IMPORT)
		return eval_binding(eval, binding, expression->span, value);
	diag_error(diags, E_UNKNOWN_MEMBER, expression->name_span,
		   "the module '%s' declares no '%s'",
		   expression->child[0]->name, expression->name);
	own.outer = NULL;
	suggestion = scope_suggest(&own, expression->name);
	if (suggestion)
		diag_help(diags, "did you mean '%s'?", suggestion);
	return false;
}

static bool eval_member_expression(struct eval *eval, struct scope *scope,
				   const struct ast *expression,
				   struct value *value)
{
	const struct ast *base = expression->child[0];
	struct value record;

	if (base->kind == AST_NAME) {
		const struct binding *binding = scope_find(scope, base->name);

		if (binding && binding->module)
			return eval_module_member(eval, binding->module,
						  expression, value);
	}
	if (!eval_expression(eval, scope, base, &record) ||
	    !eval_force(eval, base->span, &record))
		return false;
	return eval_member(eval, &record, expression->name,
			   expression->name_span, value);
}

static bool eval_index(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	struct diags *diags = &eval->compilation->diags;
	const struct ast *index_ast = expression->child[1];
	struct value base, index_value;
	uint64_t count;
	int64_t index;

	if (!eval_expression(eval, scope, expression->child[0], &base))
		return false;
	if (!value_count(&base, &count))
		return eval_wrong_kind(eval, &base, expression->child[0]->span,
				       "what is indexed", "a list");
	if (!eval_expression(eval, scope, index_ast, &index_value) ||
	    !eval_whole(eval, scope, index_ast, &index_value,
			-(int64_t)VALUE_INTEGER_MAX, (int64_t)VALUE_INTEGER_MAX,
			"an index", &index))
		return false;
	if (index < 0 || (uint64_t)index >= count) {
		diag_error(diags, E_INDEX, index_ast->span,
			   "there is no element %lld in %s of %llu",
			   (long long)index, eval_describe(eval, &base),
			   (unsigned long long)count);
		if (count)
			diag_help(diags, "the elements are numbered from 0 to %llu",
				  (unsigned long long)count - 1);
		return false;
	}
	*value = value_at(&base, (uint64_t)index);
	return value->kind != VALUE_ERROR;
}

/* ---- composite values ---- */

static bool eval_range(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	const int64_t most = (int64_t)VALUE_INTEGER_MAX;
	struct range range = { .step = 1 };

	if (!eval_integer(eval, scope, expression->child[0], -most, most,
			  "the low end of a range", &range.low) ||
	    !eval_integer(eval, scope, expression->child[1], -most, most,
			  "the high end of a range", &range.high))
		return false;
	if (expression->child_count > 2 && expression->child[2] &&
	    !eval_integer(eval, scope, expression->child[2], 1, most,
			  "the step of a range", &range.step))
		return false;
	value->kind = VALUE_RANGE;
	value->range = range;
	return true;
}

/* Lists keep ranges as they are; sets take their elements. */
static bool eval_items(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	bool is_set = expression->kind == AST_SET;
	VEC(struct value) item = { 0 };
	bool ok = true;

	for (uint32_t i = 0; i < expression->child_count; i++) {
		struct value one;
		uint64_t count;

		if (!eval_expression(eval, scope, expression->child[i], &one)) {
			ok = false;
			continue;
		}
		if (!is_set || one.kind != VALUE_RANGE) {
			VEC_PUSH(&item, &eval->compilation->arena, one);
			continue;
		}
		value_count(&one, &count);
		if (!eval_steps(eval, count, expression->child[i]->span))
			return false;
		for (uint64_t j = 0; j < count; j++)
			VEC_PUSH(&item, &eval->compilation->arena,
				 value_at(&one, j));
	}
	if (!ok)
		return false;
	value->kind = is_set ? VALUE_SET : VALUE_LIST;
	value->item = item.at;
	value->item_count = (uint32_t)item.count;
	return true;
}

static bool eval_if(struct eval *eval, struct scope *scope,
		    const struct ast *expression, struct value *value)
{
	bool condition;

	if (!eval_boolean(eval, scope, expression->child[0],
			  "the condition of 'if'", &condition))
		return false;
	return eval_expression(eval, scope, expression->child[condition ? 1 : 2],
			       value);
}

static bool evaluate(struct eval *eval, struct scope *scope,
		     const struct ast *expression, struct value *value)
{
	struct diags *diags = &eval->compilation->diags;

	switch (expression->kind) {
	case AST_NUMBER:
		return eval_finish_number(eval, expression->number,
					  expression->unit, expression->span,
					  value);
	case AST_STRING:
		value->kind = VALUE_STRING;
		value->string = expression->text;
		return true;
	case AST_BOOLEAN:
		value->kind = VALUE_BOOL;
		value->boolean = expression->number != 0;
		return true;
	case AST_NAME:
		return eval_name(eval, scope, expression, value);
	case AST_MEMBER:
		return eval_member_expression(eval, scope, expression, value);
	case AST_INDEX:
		return eval_index(eval, scope, expression, value);
	case AST_CALL:
		return eval_call(eval, scope, expression, value);
	case AST_UNARY:
	case AST_BINARY:
		return eval_operator(eval, scope, expression, value);
	case AST_RANGE:
		return eval_range(eval, scope, expression, value);
	case AST_SET:
	case AST_LIST:
		return eval_items(eval, scope, expression, value);
	case AST_IF:
		return eval_if(eval, scope, expression, value);
	case AST_WITH:
		return eval_with(eval, scope, expression, value);
	case AST_ARROW:
		return diag_error(diags, E_MISPLACED_ITEM, expression->span,
				  "'a -> b' may stand only as an argument of an operator in a template");
	case AST_ERROR:
		return false;
	default:
		return diag_error(diags, E_TYPE, expression->span,
				  "a %s is no value",
				  ast_kind_name(expression->kind));
	}
}

bool eval_expression(struct eval *eval, struct scope *scope,
		     const struct ast *expression, struct value *value)
{
	bool ok;

	*value = VALUE_FAILED;
	if (!expression || !eval_step(eval, expression->span))
		return false;
	if (eval->depth >= eval->compilation->depth_max) {
		eval->stopped = true;
		return diag_error(&eval->compilation->diags, E_DEPTH_LIMIT,
				  expression->span,
				  "this is nested more than %lu levels deep",
				  (unsigned long)eval->compilation->depth_max);
	}
	eval->depth++;
	ok = evaluate(eval, scope, expression, value);
	eval->depth--;
	if (!ok)
		*value = VALUE_FAILED;
	/* A name keeps the place its value came from. */
	if (expression->kind != AST_NAME || value->kind == VALUE_SYMBOL || !ok)
		value->span = expression->span;
	return ok;
}

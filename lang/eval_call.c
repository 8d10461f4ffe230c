/* SPDX-License-Identifier: MIT
 *
 * Application: calls of functions, of declarations that give records, and of
 * built-in functions.
 */

#include "lang/builtin.h"
#include "lang/call.h"
#include "lang/eval_internal.h"
#include "lang/module.h"
#include "lang/name_report.h"

/* ---- built-in functions ---- */

static bool eval_builtin(struct eval *eval, struct scope *scope,
			 const struct builtin *builtin, const struct ast *call,
			 struct value *value)
{
	const struct ast *arguments = call->child[1];
	struct value *argument;
	bool ok = true;

	if (!builtin_match(eval, builtin, call))
		return false;
	argument = ARENA_ARRAY(&eval->compilation->arena, struct value,
			       arguments->child_count);
	for (uint32_t i = 0; i < arguments->child_count; i++)
		if (!eval_expression(eval, scope, arguments->child[i],
				     &argument[i]))
			ok = false;
	return ok && builtin->apply(eval, call, argument, arguments->child_count,
				    value);
}

/* ---- declarations ---- */

/* How deep axes are looked for in a body; they stand near its surface. */
#define AXIS_DEPTH_MAX 64u

/* Whether a name is used as an axis below a node: in a shape, an arrow, or a
 * `split`. */
static bool names_axis(const struct ast *node, const char *name, bool in_axis,
		       unsigned depth)
{
	if (!node || depth > AXIS_DEPTH_MAX)
		return false;
	if (node->kind == AST_NAME)
		return in_axis && node->name == name;
	if (node->kind == AST_AXES || node->kind == AST_ARROW ||
	    node->kind == AST_SPLIT)
		in_axis = true;
	for (uint32_t i = 0; i < node->child_count; i++)
		if (names_axis(node->child[i], name, in_axis, depth + 1))
			return true;
	return false;
}

/* A number that a template uses as an axis must be whole; said where it is
 * given, with the division it came from. */
static bool check_axis(struct eval *eval, const struct ast *declaration,
		       struct scope *where, const struct ast *parameter,
		       const struct ast *expression, const struct value *value)
{
	const char *what;
	int64_t number;

	if (!unit_is_none(value->unit) || value_is_integer(value) ||
	    !names_axis(declaration->child[1], parameter->name, false, 0))
		return true;
	what = arena_printf(&eval->compilation->arena, "the axis '%s'",
			    parameter->name);
	return eval_whole(eval, where, expression, value, 0,
			  (int64_t)VALUE_INTEGER_MAX, what, &number);
}

/* Binds every parameter in `inside`: what the call gives is evaluated where
 * the call stands, a default where the declaration does, after the parameters
 * before it. */
static bool bind_parameters(struct eval *eval, const struct ast *declaration,
			    struct scope *scope, struct scope *inside,
			    const struct ast *const *given)
{
	const struct ast *parameters = declaration_parameters(declaration);
	bool ok = true;

	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];
		const struct ast *expression = given[i] ? given[i]
							: parameter->child[1];
		struct scope *where = given[i] ? scope : inside;
		struct binding *binding;
		struct value value;
		bool is_good;

		/* Before the name is added: in `n = n` the second is another. */
		is_good = eval_expression(eval, where, expression, &value) &&
			  eval_check_type(eval, where, parameter->child[0],
					  parameter->name, expression, &value);
		binding = scope_add(inside, parameter->name);
		if (!binding)
			continue;	/* reported by the checker */
		binding->declaration = parameter;
		binding->state = BINDING_DONE;
		if (!is_good) {
			binding->value = VALUE_FAILED;
			ok = false;
			continue;
		}
		value.span = expression->span;
		binding->value = value;
		if (declaration->kind == AST_TEMPLATE && value.kind == VALUE_NUMBER &&
		    !check_axis(eval, declaration, where, parameter, expression,
				&value))
			ok = false;
	}
	return ok;
}

/* A function of a shared library: only with the reader's permission, since
 * nothing is known about what it does. */
static bool apply_extern(struct eval *eval, const struct ast *declaration,
			 const struct scope *inside, struct span span,
			 struct value *value)
{
	struct compilation *compilation = eval->compilation;
	const struct ast *parameters = declaration_parameters(declaration);
	uint32_t count = parameters ? parameters->child_count : 0;
	struct value *argument;

	if (!compilation->allow_extern || !compilation->call_extern) {
		diag_error(&compilation->diags, E_EXTERN_REFUSED, span,
			   "'%s' would call the shared library '%s'",
			   declaration->name, declaration->child[0]->text);
		diag_note(&compilation->diags, declaration->name_span,
			  "declared here");
		diag_help(&compilation->diags,
			  "give --allow-extern if you trust that library");
		return false;
	}
	argument = ARENA_ARRAY(&compilation->arena, struct value, count);
	for (uint32_t i = 0; i < count; i++)
		argument[i] = scope_find_here(inside, parameters->child[i]->name)
				      ->value;
	return compilation->call_extern(compilation, declaration, argument,
					span, value);
}

static bool apply_inside(struct eval *eval, const struct ast *declaration,
			 struct scope *inside, struct scope *visible,
			 struct span span, struct value *value)
{
	if (declaration->kind == AST_FUNCTION)
		return eval_expression(eval, inside, declaration->child[1],
				       value);
	if (declaration->kind == AST_EXTERN)
		return apply_extern(eval, declaration, inside, span, value);
	return eval_declaration_record(eval, declaration, inside, visible, span,
				       value);
}

/* The call may be NULL: no arguments. */
static bool apply(struct eval *eval, const struct ast *declaration,
		  struct scope *home, struct scope *scope,
		  const struct ast *call, struct span span, struct value *value)
{
	struct compilation *compilation = eval->compilation;
	struct diags *diags = &compilation->diags;
	struct diag_frame frame;
	struct scope *visible, *inside;
	const struct ast **given;
	bool has_frame, ok;

	*value = VALUE_FAILED;
	if (call && call->child_count > 2 && call->child[2])
		return diag_error(diags, E_MISPLACED_ITEM, call->child[2]->span,
				  "a block '{ x -> ... }' may follow only an operator of a template");
	if (!call_match(diags, &compilation->arena, declaration, call, span,
			&given))
		return false;
	visible = scope_new(&compilation->arena, home);
	inside = scope_new(&compilation->arena, visible);
	/* Looked at where it is declared, it has no use to speak of. */
	has_frame = span.file != declaration->name_span.file ||
		    span.begin != declaration->name_span.begin;
	if (has_frame)
		diag_push_frame(diags, &frame, span,
				arena_printf(&compilation->arena,
					     "in '%s' used here",
					     declaration->name));
	ok = bind_parameters(eval, declaration, scope, inside, given) &&
	     apply_inside(eval, declaration, inside, visible, span, value);
	if (has_frame)
		diag_pop_frame(diags);
	value->span = span;
	return ok;
}

bool eval_apply(struct eval *eval, const struct value *callee,
		struct scope *scope, const struct ast *call,
		struct value *value)
{
	struct span span = call ? call->span : callee->span;
	bool ok;

	*value = VALUE_FAILED;
	if (callee->kind != VALUE_CALLABLE)
		return eval_wrong_kind(eval, callee, span, "what is called",
				       "a function or a declaration with parameters");
	if (!eval_step(eval, span))
		return false;
	if (eval->depth >= eval->compilation->depth_max) {
		eval->stopped = true;
		return diag_error(&eval->compilation->diags, E_DEPTH_LIMIT, span,
				  "this is nested more than %lu levels deep",
				  (unsigned long)eval->compilation->depth_max);
	}
	eval->depth++;
	ok = apply(eval, callee->callable.declaration, callee->callable.home,
		   scope, call, span, value);
	eval->depth--;
	if (!ok)
		*value = VALUE_FAILED;
	return ok;
}

bool eval_force(struct eval *eval, struct span span, struct value *value)
{
	struct value callee = *value;

	if (value->kind != VALUE_CALLABLE ||
	    value->callable.declaration->kind == AST_FUNCTION ||
	    value->callable.declaration->kind == AST_EXTERN)
		return true;
	callee.span = span;
	return eval_apply(eval, &callee, callee.callable.home, NULL, value);
}

bool eval_applied(struct eval *eval, struct span span, struct value *value)
{
	if (value->kind == VALUE_CALLABLE &&
	    !declaration_needs_no_argument(value->callable.declaration))
		return true;
	return eval_force(eval, span, value);
}

/* A declaration that may stand before `(...)`, without applying it. */
static bool find_callee(struct scope *scope, const struct ast *expression,
			struct value *callee)
{
	const struct binding *binding = NULL;

	if (expression->kind == AST_NAME) {
		binding = scope_find(scope, expression->name);
	} else if (expression->kind == AST_MEMBER &&
		   expression->child[0]->kind == AST_NAME) {
		const struct binding *outer =
			scope_find(scope, expression->child[0]->name);

		if (outer && outer->module)
			binding = scope_find_here(outer->module->scope,
						  expression->name);
	}
	if (!binding || binding->rival || !binding->declaration ||
	    !declaration_is_callable(binding->declaration))
		return false;
	callee->kind = VALUE_CALLABLE;
	callee->span = expression->span;
	callee->callable.declaration = binding->declaration;
	callee->callable.home = binding->home;
	return true;
}

static bool report_unknown_function(struct eval *eval, struct scope *scope,
				    const struct ast *callee)
{
	struct diags *diags = &eval->compilation->diags;
	const char *suggestion = builtin_suggest(callee->name);

	if (!suggestion || scope_suggest(scope, callee->name))
		return report_unknown_name(eval->compilation, scope,
					   callee->name, callee->span);
	diag_error(diags, E_UNKNOWN_NAME, callee->span, "unknown name '%s'",
		   callee->name);
	diag_help(diags, "did you mean '%s'?", suggestion);
	diag_fix(diags, callee->span, suggestion);
	return false;
}

bool eval_call(struct eval *eval, struct scope *scope, const struct ast *call,
	       struct value *value)
{
	const struct ast *callee_ast = call->child[0];
	struct value callee;

	if (find_callee(scope, callee_ast, &callee))
		return eval_apply(eval, &callee, scope, call, value);
	if (callee_ast->kind == AST_NAME &&
	    !scope_find(scope, callee_ast->name)) {
		const struct builtin *builtin = builtin_find(callee_ast->name);

		if (builtin)
			return eval_builtin(eval, scope, builtin, call, value);
		return report_unknown_function(eval, scope, callee_ast);
	}
	if (!eval_expression(eval, scope, callee_ast, &callee))
		return false;
	if (callee.kind != VALUE_CALLABLE)
		return diag_error(&eval->compilation->diags, E_NOT_CALLABLE,
				  callee_ast->span,
				  "%s is %s and cannot be called",
				  eval_source_text(eval, callee_ast->span),
				  eval_describe(eval, &callee));
	return eval_apply(eval, &callee, scope, call, value);
}

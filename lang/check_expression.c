/* SPDX-License-Identifier: MIT
 *
 * Names and calls in expressions. The parser bounds the depth of a tree, so
 * these walks may recurse.
 */
#include <string.h>

#include "lang/builtin.h"
#include "lang/call.h"
#include "lang/check_internal.h"
#include "lang/eval.h"
#include "lang/name_report.h"
#include "lang/symbol.h"

/* The item further down in a body around here that gives the name. */
static const struct ast *given_later(const struct check *check,
				     const char *name)
{
	for (const struct check_body *at = check->body; at; at = at->outer) {
		for (uint32_t i = 0; i < at->body->child_count; i++) {
			const struct ast *item = at->body->child[i];

			if (item && item->name == name &&
			    (item->kind == AST_FIELD || item->kind == AST_LET ||
			     item->kind == AST_VALUE))
				return item;
		}
	}
	return NULL;
}

static void report_unknown(struct check *check, struct scope *scope,
			   const struct ast *name)
{
	const struct ast *later;

	/* It may be what a module that could not be read declares. */
	if (check->module->incomplete)
		return;
	later = given_later(check, name->name);
	if (!later) {
		report_unknown_name(check->compilation, scope, name->name,
				    name->span);
		return;
	}
	diag_error(check->diags, E_USED_BEFORE, name->span,
		   "'%s' is used before it is given", name->name);
	diag_label(check->diags, later->name_span, "given here");
}

static void note_use(struct check *check, const struct binding *binding,
		     struct span span)
{
	struct check_use use = { check->item, binding->index, span };

	if (binding->home != check->module->scope || !binding->declaration ||
	    binding->declaration !=
		    check->module->tree->child[binding->index])
		return;
	VEC_PUSH(&check->use, check->arena, use);
}

/* The binding of a name, NULL for a symbol or after a report. */
static const struct binding *check_name(struct check *check,
					struct scope *scope,
					const struct ast *name)
{
	const struct binding *binding = scope_find(scope, name->name);

	if (!binding) {
		if (!symbol_is_known(SYMBOL_WORD, name->name))
			report_unknown(check, scope, name);
		return NULL;
	}
	if (binding->rival) {
		report_ambiguous_name(check->compilation, binding, name->span);
		return NULL;
	}
	note_use(check, binding, name->span);
	return binding;
}

static bool is_module(const struct binding *binding)
{
	return binding && binding->declaration &&
	       binding->declaration->kind == AST_IMPORT;
}

/* alias.name: what the module declares so, or NULL after a report. */
static const struct binding *check_module_member(struct check *check,
						 const struct binding *alias,
						 const struct ast *member)
{
	const struct binding *binding;
	const char *suggestion;
	struct scope own;

	if (!alias->module)
		return NULL;	/* it could not be read: reported */
	binding = scope_find_here(alias->module->scope, member->name);
	if (binding && !is_module(binding))
		return binding;
	diag_error(check->diags, E_UNKNOWN_MEMBER, member->name_span,
		   "the module '%s' declares no '%s'", alias->name,
		   member->name);
	own = *alias->module->scope;
	own.outer = NULL;
	suggestion = scope_suggest(&own, member->name);
	if (suggestion) {
		diag_help(check->diags, "did you mean '%s'?", suggestion);
		diag_fix(check->diags, member->name_span, suggestion);
	}
	return NULL;
}

/* *is_alias: the member is one of a module, and nothing else is to be done. */
static const struct binding *check_member(struct check *check,
					  struct scope *scope,
					  const struct ast *member,
					  bool *is_alias)
{
	const struct ast *base = member->child[0];

	*is_alias = false;
	if (base->kind == AST_NAME) {
		const struct binding *outer = scope_find(scope, base->name);

		if (is_module(outer)) {
			*is_alias = true;
			return check_module_member(check, outer, member);
		}
	}
	check_expression(check, scope, base);
	return NULL;
}

/* ---- calls ---- */

static void check_arguments(struct check *check, struct scope *scope,
			    const struct ast *call)
{
	const struct ast *arguments = call->child[1];

	for (uint32_t i = 0; arguments && i < arguments->child_count; i++)
		check_expression(check, scope, arguments->child[i]);
}

/* In a template a name before `(` is an operator first. */
static bool is_operator(const struct check *check, const struct scope *scope,
			const char *name)
{
	const char *const *at = check->compilation->operator_names;
	const struct binding *binding;

	if (!check->in_template)
		return false;
	if (!at) {		/* not told: whatever is no function */
		binding = scope_find(scope, name);
		return !builtin_find(name) &&
		       (!binding || !binding->declaration ||
			binding->declaration->kind != AST_FUNCTION);
	}
	while (*at && strcmp(*at, name))
		at++;
	return *at != NULL;
}

/* A name before `(` that nothing declares. */
static void check_free_callee(struct check *check, struct scope *scope,
			      const struct ast *call)
{
	const struct ast *callee = call->child[0];
	const struct builtin *builtin = builtin_find(callee->name);
	const char *const *operators = check->compilation->operator_names;
	const char *suggestion = NULL;
	unsigned best = 0, distance;
	struct eval eval;

	if (builtin) {
		eval_init(&eval, check->compilation);
		builtin_match(&eval, builtin, call);
		return;
	}
	if (!check->in_template) {
		suggestion = builtin_suggest(callee->name);
		operators = NULL;
	}
	for (; operators && *operators; operators++) {
		if (diag_resembles(callee->name, *operators, &distance) &&
		    (!suggestion || distance < best)) {
			suggestion = *operators;
			best = distance;
		}
	}
	if (!suggestion || scope_suggest(scope, callee->name)) {
		report_unknown(check, scope, callee);
		return;
	}
	diag_error(check->diags,
		   check->in_template ? E_UNKNOWN_OPERATOR : E_UNKNOWN_NAME,
		   callee->span, "unknown %s '%s'",
		   check->in_template ? "operator" : "name", callee->name);
	diag_help(check->diags, "did you mean '%s'?", suggestion);
	diag_fix(check->diags, callee->span, suggestion);
}

static bool takes_arguments(const struct binding *binding)
{
	return binding && binding->declaration &&
	       declaration_is_callable(binding->declaration);
}

static void check_call(struct check *check, struct scope *scope,
		       const struct ast *call)
{
	const struct ast *callee = call->child[0];
	const struct binding *binding = NULL;
	const struct ast **ignored;
	bool is_alias;

	check_arguments(check, scope, call);
	if (call->child_count > 2)
		check_expression(check, scope, call->child[2]);
	if (callee->kind == AST_MEMBER) {
		binding = check_member(check, scope, callee, &is_alias);
	} else if (callee->kind == AST_NAME) {
		if (is_operator(check, scope, callee->name))
			return;
		if (!scope_find(scope, callee->name)) {
			check_free_callee(check, scope, call);
			return;
		}
		binding = check_name(check, scope, callee);
	} else {
		check_expression(check, scope, callee);
	}
	if (takes_arguments(binding))
		call_match(check->diags, check->arena, binding->declaration,
			   call, call->span, &ignored);
}

static void check_with(struct check *check, struct scope *scope,
		       const struct ast *body)
{
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (!item)
			continue;
		if (item->kind == AST_FIELD)
			check_expression(check, scope, item->child[0]);
		else if (item->kind == AST_BLOCK)
			check_with(check, scope, item->child[0]);
		else if (item->kind == AST_NAMED_BLOCK)
			check_with(check, scope, item->child[1]);
	}
}

static void check_lambda(struct check *check, struct scope *scope,
			 const struct ast *lambda)
{
	struct scope *inner = scope_new(check->arena, scope);

	scope_set(inner, lambda->name, (struct value){ .kind = VALUE_NONE });
	check_expression(check, inner, lambda->child[0]);
}

void check_expression(struct check *check, struct scope *scope,
		      const struct ast *expression)
{
	const struct binding *binding;
	bool is_alias;

	if (!expression)
		return;
	switch (expression->kind) {
	case AST_NAME:
		binding = check_name(check, scope, expression);
		if (is_module(binding)) {
			diag_error(check->diags, E_TYPE, expression->span,
				   "'%s' is a module, not a value",
				   expression->name);
			diag_help(check->diags,
				  "write '%s.name' for something it declares",
				  expression->name);
		}
		return;
	case AST_MEMBER:
		check_member(check, scope, expression, &is_alias);
		return;
	case AST_CALL:
		check_call(check, scope, expression);
		return;
	case AST_WITH:
		check_expression(check, scope, expression->child[0]);
		check_with(check, scope, expression->child[1]);
		return;
	case AST_LAMBDA:
		check_lambda(check, scope, expression);
		return;
	case AST_NUMBER:
	case AST_STRING:
	case AST_BOOLEAN:
	case AST_ERROR:
		return;
	default:
		for (uint32_t i = 0; i < expression->child_count; i++)
			check_expression(check, scope, expression->child[i]);
	}
}

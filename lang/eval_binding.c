/* SPDX-License-Identifier: MIT
 *
 * Names: what one stands for is evaluated when it is first asked for, and once.
 * One that is asked for while it is being evaluated needs itself.
 */
#include "lang/call.h"
#include "lang/eval_internal.h"
#include "lang/name_report.h"
#include "lang/symbol.h"

static bool report_cycle(struct eval *eval, const struct binding *binding,
			 struct span span)
{
	struct diags *diags = &eval->compilation->diags;
	const struct eval_running *running;
	struct text chain;

	/* The innermost comes first on the list; it is printed last. */
	text_init(&chain, diags->arena);
	text_printf(&chain, "'%s'", binding->name);
	for (running = eval->running; running; running = running->outer) {
		const char *rest = chain.at;

		text_init(&chain, diags->arena);
		text_printf(&chain, "'%s' needs %s", running->binding->name,
			    rest);
		if (running->binding == binding)
			break;
	}
	return diag_error(diags, E_RECURSION, span,
			  "'%s' needs itself: %s", binding->name, chain.at);
}

/* A declaration to call; one that needs no argument has its value at once. */
static bool eval_callable(struct eval *eval, const struct binding *binding,
			  struct span span, struct value *value)
{
	const struct ast *declaration = binding->declaration;

	value->kind = VALUE_CALLABLE;
	value->span = declaration->name_span;
	value->callable.declaration = declaration;
	value->callable.home = binding->home;
	return declaration->kind == AST_TEMPLATE ||
	       declaration_parameters(declaration) ||
	       eval_force(eval, span, value);
}

static bool eval_declaration(struct eval *eval, struct binding *binding,
			     struct span span, struct value *value)
{
	const struct ast *declaration = binding->declaration;
	struct diags *diags = &eval->compilation->diags;

	if (declaration_is_callable(declaration))
		return eval_callable(eval, binding, span, value);
	switch (declaration->kind) {
	case AST_LET:
		return eval_expression(eval, binding->home,
				       declaration->child[0], value);
	case AST_PARAM:
		return eval_param(eval, binding, value);
	case AST_JOB:
		if (eval->compilation->plan_of_job)
			return eval->compilation->plan_of_job(
				eval, declaration, binding->home, value);
		diag_error(diags, E_TYPE, span, "'%s' is a job, not a value",
			   binding->name);
		diag_help(diags,
			  "only tests may speak of its plan: expect %s.tensor == 8",
			  binding->name);
		return false;
	case AST_IMPORT:
		diag_error(diags, E_TYPE, span, "'%s' is a module, not a value",
			   binding->name);
		diag_help(diags, "write '%s.name' for something it declares",
			  binding->name);
		return false;
	default:
		return false;
	}
}

bool eval_binding(struct eval *eval, struct binding *binding, struct span span,
		  struct value *value)
{
	struct eval_running running = {
		.binding = binding, .span = span, .outer = eval->running
	};
	bool ok;

	*value = VALUE_FAILED;
	if (binding->rival)
		return report_ambiguous_name(eval->compilation, binding, span);
	if (binding->state == BINDING_RUNNING)
		return report_cycle(eval, binding, span);
	if (binding->state == BINDING_UNEVALUATED) {
		binding->state = BINDING_RUNNING;
		eval->running = &running;
		ok = eval_declaration(eval, binding, span, &binding->value);
		eval->running = running.outer;
		/* What a limit stopped may succeed for another evaluation. */
		binding->state = eval->stopped ? BINDING_UNEVALUATED
					       : BINDING_DONE;
		if (!ok)
			binding->value = VALUE_FAILED;
	}
	*value = binding->value;
	return value->kind != VALUE_ERROR;
}

bool eval_name(struct eval *eval, struct scope *scope,
	       const struct ast *expression, struct value *value)
{
	const char *name = expression->name;
	struct binding *binding = scope_find(scope, name);

	if (binding)
		return eval_binding(eval, binding, expression->span, value);
	if (symbol_is_known(SYMBOL_WORD, name)) {
		value->kind = VALUE_SYMBOL;
		value->string = name;
		return true;
	}
	return report_unknown_name(eval->compilation, scope, name,
				   expression->span);
}

/* SPDX-License-Identifier: MIT
 *
 * Declarations of a file. The scopes built here and in check_*.c mirror those the
 * evaluator (eval_call.c, eval_record.c) and the lowering of templates and jobs build.
 */
#include "lang/check.h"

#include <string.h>

#include "lang/call.h"
#include "lang/check_internal.h"
#include "lang/eval.h"

static void check_type(struct check *check, const struct ast *type)
{
	if (!type || type->kind != AST_TYPE || type_is_known(type->name))
		return;
	diag_error(check->diags, E_UNKNOWN_TYPE, type->span,
		   "there is no type '%s'", type->name);
	diag_help(check->diags,
		  "types are int, float, bool, string, quantities such as "
		  "size, time and bandwidth, and device, topology, model");
}

/* Only numbers cross the border to a shared library. */
static void check_native(struct check *check, const struct ast *type,
			 struct span span, const char *what)
{
	struct unit unit;

	if (type && (!type_is_known(type->name) || !strcmp(type->name, "int") ||
		     !strcmp(type->name, "float") ||
		     unit_of_type(type->name, &unit)))
		return;
	diag_error(check->diags, E_EXTERN_SIGNATURE,
		   type ? type->span : span, "%s must be a number", what);
	diag_help(check->diags,
		  "types of extern functions are int, float, and quantities such as size and time");
}

static void check_signature(struct check *check, const struct ast *declaration)
{
	const struct ast *parameters = declaration->child[1];

	for (uint32_t i = 0; i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];

		if (parameter->kind == AST_PARAMETER)
			check_native(check, parameter->child[0],
				     parameter->name_span,
				     arena_printf(check->arena,
						  "the type of '%s'",
						  parameter->name));
	}
	check_native(check, declaration->child[2], declaration->name_span,
		     "the result of an extern function");
}

static void report_twice(struct check *check, const struct ast *second,
			 const struct ast *first)
{
	diag_error(check->diags, E_DUPLICATE_NAME, second->name_span,
		   "'%s' is declared twice", second->name);
	diag_label(check->diags, first->name_span, "declared here first");
}

void check_declare(struct check *check, struct scope *scope,
		   const struct ast *item)
{
	if (!scope_declare(scope, item, scope))
		report_twice(check, item,
			     scope_find_here(scope, item->name)->declaration);
}

void check_some_value(struct check *check, struct scope *scope,
		      const char *name)
{
	scope_set(scope, intern_string(&check->compilation->intern, name),
		  (struct value){ .kind = VALUE_NONE });
}

void check_parameters(struct check *check, struct scope *scope,
		      const struct ast *declaration)
{
	const struct ast *parameters = declaration_parameters(declaration);

	if (!parameters)
		return;
	if (parameters->child_count > CALL_PARAMETERS_MAX)
		diag_error(check->diags, E_OUT_OF_RANGE, parameters->span,
			   "'%s' has more than %u parameters",
			   declaration->name, CALL_PARAMETERS_MAX);
	for (uint32_t i = 0; i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];

		if (!parameter || parameter->kind != AST_PARAMETER)
			continue;
		check_type(check, parameter->child[0]);
		if (parameter->child_count > 1)
			check_expression(check, scope, parameter->child[1]);
		check_declare(check, scope, parameter);
	}
}

void check_let(struct check *check, struct scope *scope,
	       const struct ast *item)
{
	check_expression(check, scope, item->child[0]);
	check_declare(check, scope, item);
}

void check_refuse(struct check *check, const struct ast *item,
		  const char *where)
{
	if (item->kind == AST_ERROR)
		return;
	diag_error(check->diags, E_MISPLACED_ITEM, item->span,
		   "%s cannot stand in a %s", ast_a_kind(item->kind),
		   where);
}

static void check_declaration(struct check *check, const struct ast *item)
{
	struct scope *scope = check->module->scope;

	switch (item->kind) {
	case AST_LET:
		check_expression(check, scope, item->child[0]);
		return;
	case AST_PARAM:
		check_type(check, item->child[0]);
		check_expression(check, scope, item->child[1]);
		return;
	case AST_FUNCTION:
		scope = scope_new(check->arena, scope);
		check_parameters(check, scope, item);
		check_expression(check, scope, item->child[1]);
		return;
	case AST_EXTERN:
		check_parameters(check, scope_new(check->arena, scope), item);
		check_type(check, item->child[2]);
		check_signature(check, item);
		return;
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_MODEL:
		check_record(check, item);
		return;
	case AST_TEMPLATE:
		scope = scope_new(check->arena, scope);
		check_parameters(check, scope, item);
		check_template(check, scope, item);
		return;
	case AST_JOB:
		check_job(check, item);
		return;
	case AST_TEST:
		check_test(check, item);
		return;
	default:
		return;
	}
}

static void check_duplicate(struct check *check, const struct ast *item)
{
	const struct binding *binding;

	if (!item->name || item->kind == AST_ERROR)
		return;
	binding = scope_find_here(check->module->scope, item->name);
	if (binding && binding->declaration != item)
		report_twice(check, item, binding->declaration);
}

void check_module(struct compilation *compilation, const struct module *module)
{
	struct check check = {
		.compilation = compilation,
		.diags = &compilation->diags,
		.arena = &compilation->arena,
		.module = module,
	};

	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];

		if (!item)
			continue;
		check.item = i;
		check_duplicate(&check, item);
		check_declaration(&check, item);
	}
	check_cycles(&check);
}

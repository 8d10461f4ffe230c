/* SPDX-License-Identifier: MIT
 *
 * Declarations and bodies. The scopes built here mirror those the evaluator
 * (eval_call.c, eval_record.c) and the lowering of templates and jobs build.
 */
#include "lang/check.h"

#include <string.h>

#include "lang/call.h"
#include "lang/check_internal.h"
#include "lang/eval.h"
#include "lang/symbol.h"

static const struct value some_value = { .kind = VALUE_NONE };

/* ---- types and parameters ---- */

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

static void report_twice(struct check *check, enum diag_code code,
			 const struct ast *second, const struct ast *first)
{
	diag_error(check->diags, code, second->name_span,
		   "'%s' is declared twice", second->name);
	diag_label(check->diags, first->name_span, "declared here first");
}

static void check_parameters(struct check *check, struct scope *scope,
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
		if (!scope_declare(scope, parameter, scope))
			report_twice(check, E_DUPLICATE_NAME, parameter,
				     scope_find_here(scope, parameter->name)
					     ->declaration);
	}
}

/* ---- bodies of devices, topologies, models ---- */

static void check_let(struct check *check, struct scope *scope,
		      const struct ast *item)
{
	check_expression(check, scope, item->child[0]);
	if (!scope_declare(scope, item, scope))
		report_twice(check, E_DUPLICATE_NAME, item,
			     scope_find_here(scope, item->name)->declaration);
}

/* A function inside a body; it can name only what stands before it. */
static void check_function(struct check *check, struct scope *scope,
			   const struct ast *item)
{
	struct scope *inside = scope_new(check->arena, scope);

	check_parameters(check, inside, item);
	check_expression(check, inside, item->child[1]);
	if (!scope_declare(scope, item, scope))
		report_twice(check, E_DUPLICATE_NAME, item,
			     scope_find_here(scope, item->name)->declaration);
}

static void refuse(struct check *check, const struct ast *item,
		   const char *where)
{
	if (item->kind == AST_ERROR)
		return;
	diag_error(check->diags, E_MISPLACED_ITEM, item->span,
		   "a %s cannot stand in a %s", ast_kind_name(item->kind),
		   where);
}

static void check_layers(struct check *check, struct scope *scope,
			 const struct ast *body)
{
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];
		struct scope *inner;

		if (!item)
			continue;
		switch (item->kind) {
		case AST_ITEM:
			check_expression(check, scope, item->child[0]);
			break;
		case AST_LET:
			check_let(check, scope, item);
			break;
		case AST_FOR:
			check_expression(check, scope, item->child[0]);
			inner = scope_new(check->arena, scope);
			scope_set(inner, item->name, some_value);
			check_layers(check, inner, item->child[1]);
			break;
		default:
			refuse(check, item, "list of layers");
		}
	}
	check->body = here.outer;
}

struct record_body {
	enum { IN_DEVICE, IN_TOPOLOGY, IN_LEVEL, IN_BLOCK, IN_MODEL } kind;
	struct scope *inside;	/* parameters and lets */
	struct scope *visible;	/* fields so far */
	struct scope *levels;	/* of a topology */
};

static void check_record_body(struct check *check, const struct ast *body,
			      struct record_body record);

static const char *body_name(const struct record_body *record)
{
	static const char *const names[] = {
		[IN_DEVICE] = "device", [IN_TOPOLOGY] = "topology",
		[IN_LEVEL] = "level", [IN_BLOCK] = "block", [IN_MODEL] = "model",
	};

	return names[record->kind];
}

static void check_inner(struct check *check, const struct ast *body,
			const struct record_body *outer, int kind)
{
	struct record_body record = { .kind = kind };

	record.visible = scope_new(check->arena, outer->inside);
	record.inside = scope_new(check->arena, record.visible);
	check_record_body(check, body, record);
}

/* Declares a field, or reports that it is given twice. */
static void check_field_name(struct check *check, struct scope *visible,
			     const struct ast *item)
{
	if (scope_declare(visible, item, visible))
		return;
	diag_error(check->diags, E_DUPLICATE_FIELD, item->name_span,
		   "'%s' is given twice", item->name);
	diag_label(check->diags,
		   scope_find_here(visible, item->name)->declaration->name_span,
		   "given here first");
}

static void check_block(struct check *check, const struct ast *item,
			const struct record_body *record)
{
	if (record->kind == IN_MODEL && !strcmp(item->name, "layers")) {
		check_layers(check, scope_new(check->arena, record->inside),
			     item->child[0]);
		check_field_name(check, record->visible, item);
		return;
	}
	if (record->kind == IN_MODEL || record->kind == IN_TOPOLOGY) {
		diag_error(check->diags, E_UNKNOWN_BLOCK, item->name_span,
			   "a %s has no block '%s'", body_name(record),
			   item->name);
		diag_help(check->diags, record->kind == IN_MODEL ?
			  "its layers stand in 'layers { .. }'" :
			  "a level has a name: 'level node { .. }'");
		return;
	}
	check_inner(check, item->child[0], record, IN_BLOCK);
	check_field_name(check, record->visible, item);
}

static void check_named_block(struct check *check, const struct ast *item,
			      const struct record_body *record)
{
	const struct ast *label = item->child[0];

	if (record->kind == IN_TOPOLOGY && !strcmp(item->name, "level")) {
		check_inner(check, item->child[1], record, IN_LEVEL);
		if (scope_declare(record->levels, label, record->levels))
			return;
		diag_error(check->diags, E_DUPLICATE_NAME, label->span,
			   "the level '%s' is given twice", label->name);
		diag_label(check->diags,
			   scope_find_here(record->levels, label->name)
				   ->declaration->span,
			   "given here first");
		return;
	}
	diag_error(check->diags, E_UNKNOWN_BLOCK, item->name_span,
		   "a %s has no block '%s' with a name", body_name(record),
		   item->name);
}

/* Nodes and links have names of their own kind, whose indices are values. */
static void check_place(struct check *check, const struct ast *place,
			struct scope *scope)
{
	while (place->kind != AST_NAME) {
		if (place->kind == AST_INDEX)
			check_expression(check, scope, place->child[1]);
		place = place->child[0];
	}
}

static void check_graph_item(struct check *check, const struct ast *item,
			     const struct record_body *record)
{
	const struct ast *body = item->kind == AST_SWITCH_ITEM ?
					 NULL : item->child[2];

	if (record->kind != IN_TOPOLOGY) {
		refuse(check, item, body_name(record));
		return;
	}
	check_place(check, item->child[0], record->inside);
	if (item->kind == AST_NODE_ITEM)
		check_expression(check, record->inside, item->child[1]);
	if (item->kind == AST_LINK)
		check_place(check, item->child[1], record->inside);
	if (body)
		check_inner(check, body, record, IN_BLOCK);
}

static void check_graph_loop(struct check *check, const struct ast *item,
			     const struct record_body *record)
{
	struct record_body inner = *record;

	check_expression(check, record->inside, item->child[0]);
	inner.inside = scope_new(check->arena, record->inside);
	scope_set(inner.inside, item->name, some_value);
	check_record_body(check, item->child[1], inner);
}

static void check_record_item(struct check *check, const struct ast *item,
			      const struct record_body *record)
{
	switch (item->kind) {
	case AST_LET:
		check_let(check, record->inside, item);
		return;
	case AST_FUNCTION:
		check_function(check, record->inside, item);
		return;
	case AST_FIELD:
		check_expression(check, record->inside, item->child[0]);
		check_field_name(check, record->visible, item);
		return;
	case AST_BLOCK:
		check_block(check, item, record);
		return;
	case AST_NAMED_BLOCK:
		check_named_block(check, item, record);
		return;
	case AST_NODE_ITEM:
	case AST_SWITCH_ITEM:
	case AST_LINK:
		check_graph_item(check, item, record);
		return;
	case AST_FOR:
		if (record->kind == IN_TOPOLOGY)
			check_graph_loop(check, item, record);
		else
			refuse(check, item, body_name(record));
		return;
	default:
		refuse(check, item, body_name(record));
	}
}

static void check_record_body(struct check *check, const struct ast *body,
			      struct record_body record)
{
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i])
			check_record_item(check, body->child[i], &record);
	check->body = here.outer;
}

/* ---- templates ---- */

/* A value of a template; its form is the business of the lowering. */
static void check_template_name(struct check *check, struct scope *scope,
				const struct ast *item)
{
	const struct binding *first = scope_find_here(scope, item->name);

	if (scope_declare(scope, item, scope))
		return;
	diag_error(check->diags, E_NAMED_TWICE, item->name_span,
		   "'%s' already stands for something else", item->name);
	if (first->declaration)
		diag_label(check->diags, first->declaration->name_span,
			   "it is named here");
	else
		diag_note(check->diags, SPAN_NONE,
			  "it is an axis of every template");
	diag_help(check->diags, "give this value another name");
}

static void check_template_item(struct check *check, struct scope *scope,
				const struct ast *item)
{
	switch (item->kind) {
	case AST_VALUE:
		check_expression(check, scope, item->child[0]);
		check_template_name(check, scope, item);
		return;
	case AST_LET:
	case AST_FIELD:
		check_expression(check, scope, item->child[0]);
		check_template_name(check, scope, item);
		return;
	case AST_RETURN:
	case AST_ITEM:
		check_expression(check, scope, item->child[0]);
		return;
	case AST_SPLIT:
		for (uint32_t i = 0; i < item->child_count; i++)
			check_expression(check, scope, item->child[i]);
		if (symbol_is_known(SYMBOL_SPLIT, item->name) ||
		    symbol_is_known(SYMBOL_PLAN, item->name))
			return;		/* the lowering tells more of these */
		diag_error(check->diags, E_SPLIT_DIMENSION, item->name_span,
			   "an axis cannot be split by '%s'", item->name);
		diag_help(check->diags,
			  "axes are split by tensor, context, expert or expert_tensor");
		return;
	default:
		return;		/* refused by the lowering */
	}
}

static void check_template(struct check *check, struct scope *scope,
			   const struct ast *declaration)
{
	const struct ast *body = declaration->child[1];
	struct check_body here = { body, check->body };
	struct intern *intern = &check->compilation->intern;

	for (int i = 0; i < 2; i++) {
		const char *axis = intern_string(intern, i ? "seq" : "batch");
		const struct binding *taken = scope_find_here(scope, axis);

		if (taken)
			diag_error(check->diags, E_NAMED_TWICE,
				   taken->declaration->name_span,
				   "'%s' is an axis of every template and cannot be a parameter",
				   axis);
		else
			scope_set(scope, axis, some_value);
	}
	check->body = &here;
	check->in_template = true;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i])
			check_template_item(check, scope, body->child[i]);
	check->in_template = false;
	check->body = here.outer;
}

/* ---- jobs and tests ---- */

/* Scopes of a job: its lets in the module's scope, then its records, then the
 * names of the plan, which come first. */
struct job_scopes {
	struct scope *lets;
	struct scope *plan;
};

static struct job_scopes job_scopes_new(struct check *check)
{
	struct intern *intern = &check->compilation->intern;
	struct job_scopes scopes;
	struct scope *records;
	const char *word;

	scopes.lets = scope_new(check->arena, check->module->scope);
	records = scope_new(check->arena, scopes.lets);
	scope_set(records, intern_string(intern, "device"), some_value);
	scope_set(records, intern_string(intern, "topology"), some_value);
	scope_set(records, intern_string(intern, "model"), some_value);
	scopes.plan = scope_new(check->arena, records);
	for (unsigned i = 0; (word = symbol_at(SYMBOL_PLAN, i)); i++)
		scope_set(scopes.plan, intern_string(intern, word), some_value);
	return scopes;
}

static void check_job_items(struct check *check, const struct ast *body,
			    const struct job_scopes *scopes);

static void check_job_item(struct check *check, const struct ast *item,
			   const struct job_scopes *scopes)
{
	switch (item->kind) {
	case AST_FIELD:
		/* A value of a plan (`plan { tensor = 8 }`) or of the job. */
		check_expression(check, scopes->lets, item->child[0]);
		return;
	case AST_LET:
		check_expression(check, scopes->plan, item->child[0]);
		if (!scope_declare(scopes->lets, item, scopes->lets))
			report_twice(check, E_DUPLICATE_NAME, item,
				     scope_find_here(scopes->lets, item->name)
					     ->declaration);
		return;
	case AST_IN:
	case AST_ITEM:
	case AST_REQUIRE:
	case AST_PREFER:
	case AST_MINIMIZE:
		for (uint32_t i = 0; i < item->child_count; i++)
			check_expression(check, scopes->plan, item->child[i]);
		return;
	case AST_BLOCK:
		/* What `place` names are levels and groups, not values. */
		if (strcmp(item->name, "place"))
			check_job_items(check, item->child[0], scopes);
		return;
	case AST_NAMED_BLOCK:
		check_job_items(check, item->child[1], scopes);
		return;
	default:
		return;		/* refused by the lowering */
	}
}

static void check_job_items(struct check *check, const struct ast *body,
			    const struct job_scopes *scopes)
{
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i])
			check_job_item(check, body->child[i], scopes);
	check->body = here.outer;
}

static void check_test(struct check *check, const struct ast *body)
{
	struct scope *scope = scope_new(check->arena, check->module->scope);
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind == AST_LET)
			check_let(check, scope, item);
		else if (item->kind == AST_EXPECT)
			check_expression(check, scope, item->child[0]);
		else
			refuse(check, item, "test");
	}
	check->body = here.outer;
}

/* ---- the file ---- */

static void check_record(struct check *check, const struct ast *item, int kind)
{
	struct record_body record = { .kind = kind };

	record.visible = scope_new(check->arena, check->module->scope);
	record.inside = scope_new(check->arena, record.visible);
	record.levels = scope_new(check->arena, NULL);
	check_parameters(check, record.inside, item);
	check_record_body(check, item->child[1], record);
}

static void check_declaration(struct check *check, const struct ast *item)
{
	struct scope *scope = check->module->scope;
	struct job_scopes scopes;

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
		check_record(check, item, IN_DEVICE);
		return;
	case AST_TOPOLOGY:
		check_record(check, item, IN_TOPOLOGY);
		return;
	case AST_MODEL:
		check_record(check, item, IN_MODEL);
		return;
	case AST_TEMPLATE:
		scope = scope_new(check->arena, scope);
		check_parameters(check, scope, item);
		check_template(check, scope, item);
		return;
	case AST_JOB:
		scopes = job_scopes_new(check);
		check_job_items(check, item->child[0], &scopes);
		return;
	case AST_TEST:
		check_test(check, item->child[0]);
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
		report_twice(check, E_DUPLICATE_NAME, item,
			     binding->declaration);
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

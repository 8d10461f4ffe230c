/* SPDX-License-Identifier: MIT
 *
 * The table of warnings, and names that are never used. A name counts as used
 * wherever it stands in the part of the text where it could be meant, whatever
 * it means there: a warning is given only where nobody can have meant it.
 */
#include "lang/lint_internal.h"

#include <string.h>

#include "lang/call.h"
#include "lang/fix.h"

static const struct {
	const char *name;
	enum diag_code code;
} lints[] = {
#define LINT(enumerator, name, code) { name, code },
#include "lang/lint.def"
#undef LINT
};

enum lint lint_find(const char *name)
{
	for (int i = 0; i < LINT_COUNT; i++)
		if (strcmp(lints[i].name, name) == 0)
			return (enum lint)i;
	return LINT_COUNT;
}

const char *lint_suggest(const char *name)
{
	for (int i = 0; i < LINT_COUNT; i++)
		if (diag_resembles(name, lints[i].name, NULL))
			return lints[i].name;
	return NULL;
}

bool lint_report(struct linter *linter, enum lint lint, struct span span,
		 const char *message)
{
	struct diags *diags = &linter->compilation->diags;
	enum lint_level level = linter->levels->level[lint];

	if (level == LINT_OFF || lint_is_allowed(linter, lint, span))
		return false;
	if (level == LINT_ERROR)
		diag_error(diags, lints[lint].code, span, "%s", message);
	else
		diag_warning(diags, lints[lint].code, span, "%s", message);
	return true;
}

/* ---- uses ---- */

static bool uses(const struct ast *node, const char *name)
{
	if (!node)
		return false;
	if ((node->kind == AST_NAME || node->kind == AST_MEMBER) &&
	    node->name == name)
		return true;
	/* `tensor in { 1 }` standing alone names what is left of the `in`. */
	if (node->kind == AST_IN && node->name == name)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++)
		if (uses(node->child[i], name))
			return true;
	return false;
}

static size_t hash(const char *name)
{
	return ((size_t)name >> 3) * 0x9e3779b97f4a7c15u >> 20;
}

static const char **find_slot(const struct linter *linter, const char *name)
{
	size_t at = hash(name) & (linter->capacity - 1);

	while (linter->slot[at] && linter->slot[at] != name)
		at = (at + 1) & (linter->capacity - 1);
	return &linter->slot[at];
}

static size_t count_nodes(const struct ast *node)
{
	size_t count = 1;

	if (!node)
		return 0;
	for (uint32_t i = 0; i < node->child_count; i++)
		count += count_nodes(node->child[i]);
	return count;
}

static void note_uses(struct linter *linter, const struct ast *node)
{
	/* The path of an import uses no names. */
	if (!node || node->kind == AST_IMPORT)
		return;
	if (node->kind == AST_NAME || node->kind == AST_MEMBER ||
	    node->kind == AST_IN)
		*find_slot(linter, node->name) = node->name;
	for (uint32_t i = 0; i < node->child_count; i++)
		note_uses(linter, node->child[i]);
}

static void collect_uses(struct linter *linter, const struct ast *tree)
{
	size_t nodes = count_nodes(tree);

	linter->capacity = 64;
	while (linter->capacity < 2 * nodes)
		linter->capacity *= 2;
	linter->slot = ARENA_ARRAY(&linter->compilation->arena, const char *,
				   linter->capacity);
	note_uses(linter, tree);
}

static bool is_used(const struct linter *linter, const char *name)
{
	return *find_slot(linter, name) != NULL;
}

/* ---- imports and params ---- */

/* Whether some name that an import brings is used. */
static bool import_is_used(const struct linter *linter, const struct ast *import)
{
	const struct scope *imports = linter->module->scope->outer;

	if (import->name)
		return is_used(linter, import->name);
	for (uint32_t i = 0; i < imports->capacity; i++)
		for (const struct binding *at = imports->slot[i]; at;
		     at = at->next)
			if (at->import == import && is_used(linter, at->name))
				return true;
	return false;
}

static void lint_import(struct linter *linter, const struct ast *import)
{
	if (import_is_used(linter, import))
		return;
	if (lint_report(linter, LINT_UNUSED_IMPORT, import->span,
		   "nothing of this import is used"))
		fix_remove_item(linter->compilation, import->span);
}

static void lint_param(struct linter *linter, const struct ast *param)
{
	if (!is_used(linter, param->name))
		lint_report(linter, LINT_UNUSED_PARAM, param->name_span,
		       arena_printf(&linter->compilation->arena,
				    "the param '%s' is never used",
				    param->name));
}

/* ---- parameters and lets ---- */

/* The sequence length of a model is looked for by its name. */
static bool is_special(const struct ast *declaration, const char *name)
{
	return declaration->kind == AST_MODEL && strcmp(name, "seq") == 0;
}

static void lint_parameters(struct linter *linter,
			    const struct ast *declaration)
{
	const struct ast *parameters = declaration_parameters(declaration);

	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];

		if (is_special(declaration, parameter->name) ||
		    uses(parameters, parameter->name) ||
		    uses(declaration_body(declaration), parameter->name))
			continue;
		lint_report(linter, LINT_UNUSED_PARAMETER, parameter->name_span,
		       arena_printf(&linter->compilation->arena,
				    "the parameter '%s' of '%s' is never used",
				    parameter->name, declaration->name));
	}
}

static bool has_lets(const struct ast *body)
{
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i]->kind == AST_LET)
			return true;
	return false;
}

/* Lets of a body. Those of records may be asked for from anywhere, as members:
 * then the whole file is looked at. */
static void lint_lets(struct linter *linter, const struct ast *body,
		      bool is_record)
{
	/* A view whose table holds the names used in the body alone. */
	struct linter inside = *linter;

	if (!is_record && has_lets(body))
		collect_uses(&inside, body);
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind != AST_LET || is_used(&inside, item->name))
			continue;
		lint_report(linter, LINT_UNUSED_LET, item->name_span,
		       arena_printf(&linter->compilation->arena,
				    "'%s' is never used", item->name));
	}
}

static void lint_declaration(struct linter *linter, const struct ast *item)
{
	switch (item->kind) {
	case AST_IMPORT:
		lint_import(linter, item);
		return;
	case AST_PARAM:
		lint_param(linter, item);
		return;
	case AST_FUNCTION:
		lint_parameters(linter, item);
		return;
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_MODEL:
		lint_parameters(linter, item);
		lint_lets(linter, declaration_body(item), true);
		return;
	case AST_TEMPLATE:
		lint_parameters(linter, item);
		lint_lets(linter, declaration_body(item), false);
		return;
	case AST_JOB:
	case AST_TEST:
		lint_lets(linter, declaration_body(item), false);
		return;
	default:
		return;
	}
}

void lint_module(struct compilation *compilation, const struct module *module,
		 const struct lint_levels *levels)
{
	struct linter linter = {
		.compilation = compilation,
		.module = module,
		.levels = levels,
	};

	lint_collect_allows(&linter);
	collect_uses(&linter, module->tree);
	for (uint32_t i = 0; i < module->tree->child_count; i++)
		lint_declaration(&linter, module->tree->child[i]);
	lint_names(&linter);
	lint_units(&linter);
	lint_unused_allows(&linter);
}

/* SPDX-License-Identifier: MIT
 *
 * Names that hide others, and uses of declarations that are deprecated: those
 * with a line `## Deprecated: ..` in their documentation.
 */
#include "lang/lint_internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lang/builtin.h"
#include "lang/call.h"
#include "lang/symbol.h"

#define DEPRECATED "deprecated"

/* ---- names that hide ---- */

static bool report_hiding(struct linter *linter, const struct ast *binder,
			  const char *what)
{
	return lint_report(linter, LINT_SHADOWED_NAME, binder->name_span,
			   arena_printf(&linter->compilation->arena,
					"'%s' hides %s", binder->name, what));
}

static void show_hidden(struct linter *linter, struct span here,
			struct span hidden, const char *text)
{
	struct diags *diags = &linter->compilation->diags;

	if (hidden.file == here.file)
		diag_label(diags, hidden, "%s", text);
	else
		diag_note(diags, hidden, "%s", text);
}

/* A declaration of the file with the name of something that is always there. */
static void check_declaration(struct linter *linter, const struct ast *item)
{
	struct diags *diags = &linter->compilation->diags;

	if (item->kind != AST_LET && item->kind != AST_PARAM &&
	    item->kind != AST_FUNCTION && item->kind != AST_EXTERN)
		return;
	if (symbol_is_known(SYMBOL_PLAN, item->name)) {
		if (report_hiding(linter, item, "a variable of the plan"))
			diag_note(diags, SPAN_NONE,
				  "in jobs the name means the plan's variable all the same");
	} else if (symbol_is_known(SYMBOL_WORD, item->name)) {
		report_hiding(linter, item, "a word of the language");
	} else if (builtin_find(item->name)) {
		report_hiding(linter, item, "a built-in function");
	}
}

/* A parameter, let or loop variable with a name from further out. Axes and
 * fields are looked for by name, and are not meant to be new. */
static void check_inner(struct linter *linter, const struct ast *binder,
			const struct scope *local)
{
	const struct binding *binding =
		local ? scope_find(local, binder->name) : NULL;

	if (binding) {
		if (report_hiding(linter, binder, "the same name further out"))
			show_hidden(linter, binder->name_span,
				    binding->declaration->name_span,
				    "which is this one");
		return;
	}
	binding = scope_find(linter->module->scope, binder->name);
	if (binding && binding->declaration) {
		if (report_hiding(linter, binder,
				  arena_printf(&linter->compilation->arena,
					       "the %s of that name",
					       ast_kind_name(binding->declaration->kind))))
			show_hidden(linter, binder->name_span,
				    binding->declaration->name_span,
				    "declared here");
	} else if (builtin_find(binder->name)) {
		report_hiding(linter, binder, "a built-in function");
	}
}

/* ---- what is deprecated ---- */

/* The rest of a line, without blanks around it and the stop at its end. */
static const char *advice_of(struct arena *arena, const char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strcspn(text, "\n");
	while (length && strchr(" \t\r.", text[length - 1]))
		length--;
	return arena_copy(arena, text, length);
}

/* What the documentation says behind `Deprecated:`, or NULL. */
static const char *deprecation_of(struct arena *arena,
				  const struct ast *declaration)
{
	const char *line = declaration->documentation;

	while (line && *line) {
		size_t length = strcspn(line, "\n");
		size_t blanks = strspn(line, " \t");

		if (blanks <= length &&
		    strncasecmp(line + blanks, DEPRECATED,
				strlen(DEPRECATED)) == 0) {
			line += blanks + strlen(DEPRECATED);
			if (*line == ':' || *line == '.')
				return advice_of(arena, line + 1);
		}
		line += length + (line[length] == '\n');
	}
	return NULL;
}

/* The name behind `use `, if a declaration of that name is visible here. */
static const char *replacement_of(struct linter *linter, const char *advice)
{
	struct compilation *compilation = linter->compilation;
	const char *name = strstr(advice, "use ");
	size_t length = 0;

	if (!name)
		return NULL;
	name += strlen("use ");
	name += *name == '\'';
	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	name = intern_string(&compilation->intern,
			     arena_copy(&compilation->arena, name, length));
	return length && scope_find(linter->module->scope, name) ? name : NULL;
}

static void check_use(struct linter *linter, const struct ast *use)
{
	struct compilation *compilation = linter->compilation;
	const struct binding *binding =
		scope_find(linter->module->scope, use->name);
	const char *advice, *replacement;

	if (!binding || !binding->declaration)
		return;
	advice = deprecation_of(&compilation->arena, binding->declaration);
	if (!advice ||
	    !lint_report(linter, LINT_DEPRECATED, use->span,
			 arena_printf(&compilation->arena,
				      "'%s' is deprecated%s%s", use->name,
				      *advice ? ": " : "", advice)))
		return;
	diag_note(&compilation->diags, binding->declaration->name_span,
		  "declared here");
	replacement = replacement_of(linter, advice);
	if (!replacement)
		return;
	diag_help(&compilation->diags, "write '%s'", replacement);
	diag_fix_safe(&compilation->diags, use->span, replacement);
}

/* ---- the walk ---- */

static void walk(struct linter *linter, const struct ast *node,
		 struct scope *local);

static void walk_children(struct linter *linter, const struct ast *node,
			  uint32_t first, struct scope *local)
{
	for (uint32_t i = first; i < node->child_count; i++)
		walk(linter, node->child[i], local);
}

/* A second one of that name in the same scope is an error found before. */
static void bind(struct linter *linter, struct scope *inner,
		 const struct ast *binder)
{
	struct binding *binding = scope_add(inner, binder->name);

	if (!binding)
		return;
	binding->declaration = binder;
	check_inner(linter, binder, inner->outer);
}

static struct scope *inner_scope(struct linter *linter, struct scope *local)
{
	return scope_new(&linter->compilation->arena, local);
}

static void walk_declaration(struct linter *linter, const struct ast *node,
			     struct scope *local)
{
	const struct ast *parameters = declaration_parameters(node);
	struct scope *inner = local;

	if (parameters && parameters->child_count)
		inner = inner_scope(linter, local);
	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		walk_children(linter, parameters->child[i], 0, inner);
		bind(linter, inner, parameters->child[i]);
	}
	walk(linter, declaration_body(node), inner);
}

static bool is_local_name(const struct ast *item)
{
	return item && (item->kind == AST_LET || item->kind == AST_FUNCTION);
}

/* Lets of a body are visible in all of it. */
static void walk_body(struct linter *linter, const struct ast *body,
		      struct scope *local)
{
	struct scope *inner = local;

	for (uint32_t i = 0; i < body->child_count; i++) {
		if (!is_local_name(body->child[i]))
			continue;
		if (inner == local)
			inner = inner_scope(linter, local);
		bind(linter, inner, body->child[i]);
	}
	walk_children(linter, body, 0, inner);
}

/* `for x in range { .. }`, `{ e -> .. }`: what the name is not visible in comes
 * first. */
static void walk_binder(struct linter *linter, const struct ast *node,
			uint32_t outside, struct scope *local)
{
	struct scope *inner = inner_scope(linter, local);

	for (uint32_t i = 0; i < outside; i++)
		walk(linter, node->child[i], local);
	bind(linter, inner, node);
	walk_children(linter, node, outside, inner);
}

static void walk(struct linter *linter, const struct ast *node,
		 struct scope *local)
{
	if (!node)
		return;
	switch (node->kind) {
	case AST_NAME:
		if (!local || !scope_find(local, node->name))
			check_use(linter, node);
		return;
	case AST_IMPORT:
	case AST_TYPE:
	case AST_SPLIT:
	case AST_AXES:
		return;
	case AST_FUNCTION:
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
		walk_declaration(linter, node, local);
		return;
	case AST_BODY:
		walk_body(linter, node, local);
		return;
	case AST_FOR:
		walk_binder(linter, node, 1, local);
		return;
	case AST_LAMBDA:
		walk_binder(linter, node, 0, local);
		return;
	default:
		walk_children(linter, node, 0, local);
	}
}

void lint_names(struct linter *linter)
{
	const struct ast *tree = linter->module->tree;

	for (uint32_t i = 0; i < tree->child_count; i++) {
		if (!tree->child[i])
			continue;
		check_declaration(linter, tree->child[i]);
		walk(linter, tree->child[i], NULL);
	}
}

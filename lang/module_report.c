/* SPDX-License-Identifier: MIT
 *
 * Imports that lead nowhere, with the module of the standard library that was
 * probably meant, and imports that lead back to where they began.
 */
#include "lang/module_internal.h"

#include <string.h>

#include "lang/ast.h"

const char *module_dotted_name(struct compilation *compilation,
			       const char *embedded_path)
{
	struct text text;

	text_init(&text, &compilation->arena);
	text_append(&text, "std.");
	for (const char *c = embedded_path; *c && strcmp(c, ".nest"); c++)
		text_append_char(&text, *c == '/' ? '.' : *c);
	return text.at;
}

/* The embedded module most like the one asked for. */
static const char *suggest_embedded(struct compilation *compilation,
				    const char *dotted)
{
	const char *best = NULL;
	unsigned best_distance = 0, distance;

	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name;

		if (!strcmp(file->path, PRELUDE_PATH))
			continue;
		name = module_dotted_name(compilation, file->path);
		if (diag_resembles(dotted, name, &distance) &&
		    (!best || distance < best_distance)) {
			best = name;
			best_distance = distance;
		}
	}
	return best;
}

/* What the directory of the library holds in which the module was sought. */
static const char *siblings(struct compilation *compilation, const char *dotted)
{
	const char *dot = strrchr(dotted, '.');
	size_t prefix = dot ? (size_t)(dot - dotted) + 1 : 0;
	struct text text;
	uint32_t count = 0;

	text_init(&text, &compilation->arena);
	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name = module_dotted_name(compilation, file->path);

		if (!strcmp(file->path, PRELUDE_PATH) ||
		    strncmp(name, dotted, prefix) || strchr(name + prefix, '.'))
			continue;
		text_printf(&text, "%s'%s'", count++ ? ", " : "", name);
	}
	return count ? text.at : NULL;
}

/* The module of the library whose name ends in the last part of this one, as
 * people write it who leave out where it lies. */
static const char *find_last_part(struct compilation *compilation,
				  const char *dotted)
{
	const char *wanted = strrchr(dotted, '.');

	wanted = wanted ? wanted + 1 : dotted;
	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name = module_dotted_name(compilation, file->path);
		const char *last = strrchr(name, '.');

		if (last && !strcmp(last + 1, wanted) &&
		    strcmp(file->path, PRELUDE_PATH))
			return name;
	}
	return NULL;
}

static const char *import_spelling(struct arena *arena, const struct ast *target)
{
	struct text text;

	if (target->kind == AST_STRING)
		return target->text;
	text_init(&text, arena);
	for (uint32_t i = 0; i < target->child_count; i++)
		text_printf(&text, "%s%s", i ? "." : "", target->child[i]->name);
	return text.at;
}

void import_report_not_found(struct import_search *search)
{
	struct compilation *compilation = search->compilation;
	struct diags *diags = &compilation->diags;
	const struct ast *target = search->import->child[0];
	const char *spelling = import_spelling(&compilation->arena, target);
	const char *suggestion, *list;

	/* A string without an end was reported, and names no file. */
	if (target->kind == AST_STRING &&
	    compilation->sources.at[target->span.file]
			    ->bytes[target->span.end - 1] != '"' &&
	    compilation->diags.errors)
		return;
	diag_error(diags, E_UNKNOWN_MODULE, target->span,
		   "there is no module '%s'", spelling);
	for (size_t i = 0; i < search->tried.count; i++)
		diag_note(diags, SPAN_NONE, "there is no file '%s'",
			  search->tried.at[i]);
	if (target->kind == AST_STRING) {
		if (siblings(compilation, spelling) && strchr(spelling, '.') &&
		    !strncmp(spelling, "std.", 4))
			diag_help(diags, "modules of the library are named without quotes: import %s",
				  spelling);
		return;
	}
	suggestion = suggest_embedded(compilation, spelling);
	if (!suggestion)
		suggestion = suggest_embedded(compilation,
					      arena_printf(&compilation->arena,
							   "std.%s", spelling));
	if (!suggestion)
		suggestion = find_last_part(compilation, spelling);
	list = siblings(compilation, spelling);
	if (!list)
		list = siblings(compilation, arena_printf(&compilation->arena,
							  "%s.", spelling));
	if (suggestion) {
		diag_help(diags, "did you mean '%s'?", suggestion);
		diag_fix(diags, target->span, suggestion);
	} else if (list) {
		diag_help(diags, "the standard library has %s", list);
	}
}

void import_report_cycle(struct compilation *compilation,
			 const struct module *module,
			 const struct import_chain *chain)
{
	struct diags *diags = &compilation->diags;
	const struct import_chain *link;
	const char *way = module_source(compilation, module)->name;

	for (link = chain; link; link = link->outer) {
		way = arena_printf(&compilation->arena, "%s -> %s",
				   module_source(compilation, link->module)->name,
				   way);
		if (link->module == module)
			break;
	}
	diag_error(diags, E_IMPORT_CYCLE, chain->import->span,
		   "these modules import each other: %s", way);
	for (link = chain->outer; link && chain->module != module;
	     link = link->outer) {
		diag_note(diags, link->import->span, "imported here");
		if (link->module == module)
			break;
	}
	diag_help(diags, "move what both need into a module that imports neither");
}

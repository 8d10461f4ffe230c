/* SPDX-License-Identifier: MIT
 *
 * Making and applying fixes.
 */
#include "lang/fix.h"

#include <stdlib.h>
#include <string.h>

#include "lang/ast.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"
#include "lang/module.h"

/* The offset behind the end of the line of an offset. */
static uint32_t line_end(const struct source *source, uint32_t at)
{
	while (at < source->length && source->bytes[at] != '\n')
		at++;
	return at < source->length ? at + 1 : at;
}

static const struct module *module_of(const struct compilation *compilation,
				      uint32_t file)
{
	const struct module *module = compilation->modules;

	while (module && module->file != file)
		module = module->next;
	return module && module->tree ? module : NULL;
}

void fix_add_import(struct compilation *compilation, uint32_t file,
		    const char *dotted)
{
	const struct module *module = module_of(compilation, file);
	const struct source *source = compilation->sources.at[file];
	const struct ast *last = NULL;
	bool line_is_open;
	uint32_t at;

	/* The edition comes first: its own fix, then this one. */
	if (!module || source->is_embedded || !module->tree->number)
		return;
	for (uint32_t i = 0; i < module->tree->child_count; i++)
		if (module->tree->child[i] &&
		    module->tree->child[i]->kind == AST_IMPORT)
			last = module->tree->child[i];
	/* Without one: behind the edition, after the comments before it. */
	at = line_end(source, last ? last->span.end :
				     source_skip_blanks(source, 0));
	line_is_open = at > 0 && source->bytes[at - 1] != '\n';
	diag_fix_safe(&compilation->diags, (struct span){ file, at, at },
		      arena_printf(&compilation->arena, "%s%simport %s\n",
				   line_is_open ? "\n" : "", last ? "" : "\n",
				   dotted));
}

void fix_remove_item(struct compilation *compilation, struct span item)
{
	const struct source *source = compilation->sources.at[item.file];
	const char *bytes = source->bytes;
	uint32_t begin = item.begin, end = item.end;

	while (begin > 0 && strchr(" \t", bytes[begin - 1]))
		begin--;
	while (end < source->length && strchr(" \t\r,;", bytes[end]))
		end++;
	if (end < source->length && bytes[end] == '#')
		return;
	/* Something else on the line keeps it. */
	if ((begin > 0 && bytes[begin - 1] != '\n') ||
	    (end < source->length && bytes[end] != '\n'))
		begin = item.begin;
	else if (end < source->length)
		end++;
	diag_fix_safe(&compilation->diags,
		      (struct span){ item.file, begin, end }, "");
}

/* ---- applying ---- */

struct edit {
	struct span span;
	const char *text;
	uint32_t order;			/* of being found */
};

static int by_place(const void *a, const void *b)
{
	const struct edit *left = a, *right = b;

	if (left->span.begin != right->span.begin)
		return left->span.begin < right->span.begin ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

/* Whether an edit can be made behind the one before it. */
static bool is_clear(const struct edit *before, const struct edit *edit)
{
	return edit->span.begin >= before->span.end &&
	       edit->span.begin > before->span.begin;
}

uint32_t fix_apply(const struct compilation *compilation, uint32_t file,
		   struct text *out)
{
	const struct source *source = compilation->sources.at[file];
	const struct diags *diags = &compilation->diags;
	VEC(struct edit) edits = { 0 };
	const struct edit *before = NULL;
	uint32_t applied = 0, done = 0;

	for (size_t i = 0; i < diags->count; i++)
		for (const struct diag_part *part = diags->at[i]->parts; part;
		     part = part->next) {
			struct edit edit = { part->span, part->text,
					     (uint32_t)edits.count };

			if (part->kind == DIAG_FIX_SAFE &&
			    part->span.file == file)
				VEC_PUSH(&edits, out->arena, edit);
		}
	if (!edits.count)
		return 0;
	qsort(edits.at, edits.count, sizeof(*edits.at), by_place);
	for (size_t i = 0; i < edits.count; i++) {
		const struct edit *edit = &edits.at[i];

		if (before && !is_clear(before, edit))
			continue;
		text_append_bytes(out, source->bytes + done,
				  edit->span.begin - done);
		text_append(out, edit->text);
		done = edit->span.end;
		before = edit;
		applied++;
	}
	text_append_bytes(out, source->bytes + done, source->length - done);
	return applied;
}

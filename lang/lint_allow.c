/* SPDX-License-Identifier: MIT
 *
 * Comments of the form `# nest: allow(unused-let)`: the author has seen it.
 */
#include "lang/lint_internal.h"

#include <ctype.h>
#include <string.h>

#define WORDS "nest: allow("

/* The offset of the '#' of the comment of a line; its end if there is none. */
static uint32_t comment_of(const char *line, uint32_t length)
{
	bool quoted = false;
	uint32_t at;

	for (at = 0; at < length; at++) {
		if (line[at] == '\\' && quoted)
			at++;
		else if (line[at] == '"')
			quoted = !quoted;
		else if (line[at] == '#' && !quoted)
			break;
	}
	return at < length ? at : length;
}

static bool is_blank(const char *text, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (!isspace((unsigned char)text[i]))
			return false;
	return true;
}

/* The next line that holds more than a comment. */
static uint32_t next_code(const struct source *source, uint32_t line)
{
	while (++line <= source->line_count) {
		uint32_t length;
		const char *text = source_line(source, line, &length);

		if (!is_blank(text, comment_of(text, length)))
			break;
	}
	return line;
}

/* The names between the parentheses. */
static void collect_names(struct linter *linter, const char *text,
			  const char *end, uint32_t line)
{
	struct arena *arena = &linter->compilation->arena;
	uint32_t file = linter->module->file;
	const char *bytes = linter->compilation->sources.at[file]->bytes;

	while (text < end && *text != ')') {
		const char *first = text;
		struct lint_allow allow = { .line = line };

		while (text < end && (isalnum((unsigned char)*text) ||
				      *text == '-' || *text == '_'))
			text++;
		if (text == first) {
			text++;
			continue;
		}
		allow.lint = lint_find(arena_copy(arena, first,
						  (size_t)(text - first)));
		allow.span = (struct span){ file, (uint32_t)(first - bytes),
					    (uint32_t)(text - bytes) };
		VEC_PUSH(&linter->allow, arena, allow);
	}
}

void lint_collect_allows(struct linter *linter)
{
	const struct source *source =
		linter->compilation->sources.at[linter->module->file];

	for (uint32_t line = 1; line <= source->line_count; line++) {
		uint32_t length, at;
		const char *text = source_line(source, line, &length);
		const char *end = text + length, *word;

		/* Most lines have no comment, and none of them such a one. */
		if (!memchr(text, '#', length))
			continue;
		at = comment_of(text, length);
		word = text + at;
		while (word < end && (*word == '#' || *word == ' '))
			word++;
		if ((size_t)(end - word) < strlen(WORDS) ||
		    memcmp(word, WORDS, strlen(WORDS)) != 0)
			continue;
		collect_names(linter, word + strlen(WORDS), end,
			      is_blank(text, at) ? next_code(source, line) :
						   line);
	}
}

/* They are in the order of the lines they speak of. */
static size_t first_of_line(const struct linter *linter, uint32_t line)
{
	size_t low = 0, high = linter->allow.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (linter->allow.at[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lint_is_allowed(struct linter *linter, enum lint lint, struct span span)
{
	const struct source *source;
	bool allowed = false;
	uint32_t line;

	if (!linter->allow.count)
		return false;
	source = linter->compilation->sources.at[span.file];
	line = source_place(source, span.begin).line;
	for (size_t i = first_of_line(linter, line);
	     i < linter->allow.count && linter->allow.at[i].line == line; i++) {
		struct lint_allow *allow = &linter->allow.at[i];

		if (allow->lint != lint)
			continue;
		allow->used = true;
		allowed = true;
	}
	return allowed;
}

static const char *name_of(struct linter *linter, struct span span)
{
	const struct source *source =
		linter->compilation->sources.at[span.file];

	return arena_copy(&linter->compilation->arena,
			  source->bytes + span.begin, span.end - span.begin);
}

/* A warning that is off does not come, but not for want of a reason. */
void lint_unused_allows(struct linter *linter)
{
	struct compilation *compilation = linter->compilation;

	for (size_t i = 0; i < linter->allow.count; i++) {
		const struct lint_allow *allow = &linter->allow.at[i];
		const char *name = name_of(linter, allow->span), *near;

		if (allow->used ||
		    (allow->lint != LINT_COUNT &&
		     linter->levels->level[allow->lint] == LINT_OFF))
			continue;
		if (allow->lint != LINT_COUNT) {
			lint_report(linter, LINT_UNUSED_ALLOW, allow->span,
				    arena_printf(&compilation->arena,
						 "there is no warning '%s' here to allow",
						 name));
			continue;
		}
		if (!lint_report(linter, LINT_UNUSED_ALLOW, allow->span,
				 arena_printf(&compilation->arena,
					      "no warning is called '%s'", name)))
			continue;
		near = lint_suggest(name);
		if (!near)
			continue;
		diag_help(&compilation->diags, "did you mean '%s'?", near);
		diag_fix(&compilation->diags, allow->span, near);
	}
}

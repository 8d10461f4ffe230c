/* SPDX-License-Identifier: MIT
 *
 * Words for what an inquiry speaks of.
 */
#include "compiler/infeasible_internal.h"

#include <string.h>

#include "compiler/describe.h"
#include "lang/compilation.h"

const char *inquiry_degrees(struct inquiry *inquiry, const struct plan *plan,
			    const struct problem *problem)
{
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	describe_choice(problem, plan, &text);
	return text.at;
}

const char *inquiry_bytes(struct inquiry *inquiry, double number)
{
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	describe_bytes(number, &text);
	return text.at;
}

const char *inquiry_written(struct inquiry *inquiry, struct span span,
			    const char *other)
{
	struct compilation *compilation = inquiry->compilation;
	const char *at;
	struct text text;

	if (span_is_nowhere(span) || span.end - span.begin > 60)
		return other;
	at = compilation->sources.at[span.file]->bytes + span.begin;
	if (memchr(at, '\n', span.end - span.begin))
		return other;
	text_init(&text, &compilation->arena);
	text_append_char(&text, '\'');
	for (uint32_t i = 0; i < span.end - span.begin; i++)
		if (at[i] != ' ' || !i || at[i - 1] != ' ')
			text_append_char(&text, at[i]);
	text_append_char(&text, '\'');
	return text.at;
}

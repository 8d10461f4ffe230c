/* SPDX-License-Identifier: MIT
 *
 * Values, units and expressions as messages show them.
 */
#include <string.h>

#include "lang/eval_internal.h"

const char *eval_show(struct eval *eval, const struct value *value)
{
	struct text text;

	text_init(&text, &eval->compilation->arena);
	value_print(value, &text);
	return text.at;
}

const char *eval_describe(struct eval *eval, const struct value *value)
{
	struct text text;

	text_init(&text, &eval->compilation->arena);
	return value_describe(value, &text);
}

const char *eval_describe_unit(struct eval *eval, struct unit unit)
{
	struct text text;

	text_init(&text, &eval->compilation->arena);
	return unit_describe(unit, &text);
}

const char *eval_source_text(struct eval *eval, struct span span)
{
	const struct sources *sources = &eval->compilation->sources;
	const struct source *source;
	uint32_t length;

	if (span_is_nowhere(span) || span.file >= sources->count)
		return "this";
	source = sources->at[span.file];
	if (span.begin > span.end || span.end > source->length)
		return "this";
	length = span.end - span.begin;
	if (length > 60 || memchr(source->bytes + span.begin, '\n', length))
		return "this";
	return arena_copy(&eval->compilation->arena, source->bytes + span.begin,
			  length);
}

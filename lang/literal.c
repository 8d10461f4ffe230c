/* SPDX-License-Identifier: MIT
 *
 * The values of number and string literals, and the units behind numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/diag.h"
#include "lang/token.h"

/* The digits without the underscores that group them. */
static char *plain_digits(struct parse *parse)
{
	const char *bytes = parse->source->bytes;
	char *digits = arena_alloc(parse->arena, parse->number_end -
						 parse->number_begin + 1);
	size_t length = 0;

	for (uint32_t at = parse->number_begin; at < parse->number_end; at++)
		if (bytes[at] != '_')
			digits[length++] = bytes[at];
	return digits;
}

/* Whether a digit other than 0 stands before the exponent. */
static bool is_nonzero(const char *digits)
{
	return strspn(digits, "0.") < strcspn(digits, "eE");
}

/* Rounded once, so that 5us is 5e-6 and 66.9TFLOP/s is 66.9e12: a small unit
 * divides by its exact inverse instead of multiplying by a rounded number. */
static double scaled(const char *digits, double scale)
{
	long double number = strtold(digits, NULL);

	if (scale < 1)
		return (double)(number / roundl(1 / (long double)scale));
	return (double)(number * (long double)scale);
}

struct ast *literal_number(struct parse *parse, struct unit unit, double scale)
{
	struct diags *diags = &parse->compilation->diags;
	struct span span = parse_span(parse, parse->number_begin, parse->end);
	struct ast *node = ast_new(parse->arena, AST_NUMBER, span);
	struct arena_mark mark;
	bool is_zero;
	char *digits;

	node->unit = unit;
	node->text = intern_bytes(&parse->compilation->intern,
				  parse->source->bytes + span.begin,
				  span.end - span.begin);
	mark = arena_mark(parse->arena);
	digits = plain_digits(parse);
	node->number = scaled(digits, scale);
	is_zero = node->number == 0 && is_nonzero(digits);
	arena_rewind(parse->arena, mark);
	if ((isinf(node->number) || is_zero) && parse_may_report(parse)) {
		diag_error(diags, E_NUMBER_RANGE, span,
			   "the number is too %s to be kept",
			   is_zero ? "small" : "large");
		diag_note(diags, SPAN_NONE,
			  "numbers reach from about 1e-308 to 1e308");
	}
	return node;
}

/* Whether what follows a number and a blank is the name of the next item and
 * only looks like a unit: "heads = 8 d = 4". */
static bool begins_item(const struct parse *parse, uint32_t at)
{
	const char *bytes = parse->source->bytes;

	while (bytes[at] == ' ' || bytes[at] == '\t')
		at++;
	switch (bytes[at]) {
	case '=':
		return bytes[at + 1] != '=';
	case '.':
		return bytes[at + 1] != '.';
	case ':':
	case '(':
	case '[':
		return true;
	}
	return false;
}

static size_t suffix_length(const char *text, size_t length)
{
	const char *slash = memchr(text, '/', length);

	return slash ? (size_t)(slash - text) : length;
}

/* A suggestion for "a/b" made from one for either side, or NULL. */
static const char *suggest_ratio(struct parse *parse, const char *text,
				 size_t slash, size_t length)
{
	const char *under = text + slash + 1;
	size_t under_length = length - slash - 1;
	struct unit unit;
	double scale;
	const char *over = unit_suggest(text, slash);

	if (unit_parse(text, slash, &unit, &scale) == slash)
		over = arena_copy(parse->arena, text, slash);
	if (!over)
		return NULL;
	/* "TFLOPs/s": a rate as it is. */
	if (strchr(over, '/') && under_length && under[0] == 's')
		return over;
	if (unit_parse(under, under_length, &unit, &scale) != under_length) {
		under = unit_suggest(under, under_length);
		if (!under)
			return NULL;
		under_length = strlen(under);
	}
	return arena_printf(parse->arena, "%s/%.*s", over, (int)under_length,
			    under);
}

/* Reports an unknown unit and takes the likely one for it, so that the
 * quantity has the dimension that was meant. */
static void suggest_unit(struct parse *parse, const char *text, size_t length,
			 bool separate, struct unit *unit, double *scale)
{
	struct diags *diags = &parse->compilation->diags;
	uint32_t begin = parse->begin + separate;
	struct span span = parse_span(parse, begin, begin + (uint32_t)length);
	size_t first = suffix_length(text, length);
	const char *better = unit_suggest(text, length);
	const char *digits = parse->source->bytes + parse->number_begin;
	int digit_count = (int)(parse->number_end - parse->number_begin);

	if (!better && first < length)
		better = suggest_ratio(parse, text, first, length);
	if (better)
		unit_parse(better, strlen(better), unit, scale);
	if (!parse_may_report(parse))
		return;
	diag_error(diags, E_UNKNOWN_UNIT, span, "'%.*s' is no unit",
		   (int)(length < 40 ? length : 40), text);
	if (length == 3 && !strncmp(text, "f1b", 3)) {
		diag_help(diags, "the schedule is written one_f_one_b");
	} else if (length == 1 && strchr("kKMGTB", *text)) {
		diag_help(diags, "what is counted has no unit: write it out, as in 4_000_000; sizes are such as 4MB");
	} else if (better) {
		diag_help(diags, "did you mean '%.*s%s'?",
			  digit_count < 40 ? digit_count : 0, digits, better);
		diag_fix(diags, span, better);
	} else if (!separate) {
		diag_help(diags, "units are such as GB, GiB, GB/s, us, TFLOP/s,"
				 " $/h and %%; a name stands apart from a"
				 " number");
	}
}

size_t literal_unit(struct parse *parse, const char *text, size_t length,
		    bool separate, struct unit *unit, double *scale)
{
	size_t known = unit_parse(text, length, unit, scale);
	size_t first = suffix_length(text, length);
	uint32_t end = parse->begin + separate;

	/* Standing apart, '%' is the remainder. */
	if (known && separate &&
	    (text[0] == '%' || begins_item(parse, end + (uint32_t)known))) {
		*unit = UNIT_NONE;
		*scale = 1.0;
		return 0;
	}
	if (known == length)
		return known;
	if (known && unit_is_misspelt(text + known + 1, length - known - 1)) {
		suggest_unit(parse, text, length, separate, unit, scale);
		return length;
	}
	if (known)
		return known;
	if (!separate) {
		/* The other side of the '/' belongs to it if it is a unit. */
		struct unit other;
		double other_scale;

		if (first < length &&
		    !unit_parse(text + first + 1, length - first - 1, &other,
				&other_scale))
			length = first;
		suggest_unit(parse, text, length, false, unit, scale);
		return length;
	}
	if (!unit_is_misspelt(text, first) ||
	    begins_item(parse, end + (uint32_t)first))
		return 0;
	suggest_unit(parse, text, first, true, unit, scale);
	return first;
}

static void report_escape(struct parse *parse, uint32_t at)
{
	struct diags *diags = &parse->compilation->diags;

	if (!parse_may_report(parse))
		return;
	diag_error(diags, E_STRING, parse_span(parse, at, at + 2),
		   "unknown escape in a string");
	diag_help(diags, "the escapes are \\\" \\\\ \\n and \\t");
}

const char *literal_string(struct parse *parse, const char *text,
			   size_t length)
{
	struct diags *diags = &parse->compilation->diags;
	bool is_closed = false;
	char *value = arena_alloc(parse->arena, length + 1);
	size_t count = 0;

	for (size_t i = 1; i < length; i++) {
		if (text[i] == '"') {
			is_closed = true;
			break;
		}
		if (text[i] != '\\' || i + 1 == length) {
			value[count++] = text[i];
			continue;
		}
		i++;
		if (text[i] == 'n')
			value[count++] = '\n';
		else if (text[i] == 't')
			value[count++] = '\t';
		else
			value[count++] = text[i];
		if (!strchr("nt\"\\", text[i]))
			report_escape(parse, parse->begin + (uint32_t)i - 1);
	}
	if (!is_closed && parse_may_report(parse)) {
		diag_error(diags, E_STRING,
			   parse_span(parse, parse->begin, parse->end),
			   "the string is not closed on its line");
		diag_help(diags, "end it with '\"'; a line break inside is"
				 " written \\n");
	}
	return value;
}

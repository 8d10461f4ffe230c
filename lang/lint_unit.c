/* SPDX-License-Identifier: MIT
 *
 * Numbers of hardware whose unit is most likely a slip: out of all usual bounds,
 * sizes in bits, and rates of network cards in bytes that are sold in bits.
 */
#include "lang/lint_internal.h"

#include <string.h>

#include "lang/call.h"

static const struct {
	const char *place, *field;
	double low, high;
	const char *example;
} usual[] = {
#define USUAL(place, field, low, high, example) \
	{ place, field, low, high, example },
#include "lang/usual.def"
#undef USUAL
};

#define USUAL_COUNT (sizeof(usual) / sizeof(*usual))

/* Whether the unit of a number, as written, is one of bits: "80Gb". */
static bool is_in_bits(struct linter *linter, const struct ast *number)
{
	const struct source *source =
		linter->compilation->sources.at[number->span.file];
	const char *text = source->bytes + number->span.begin;
	uint32_t length = number->span.end - number->span.begin;
	const char *slash = memchr(text, '/', length);

	if (slash)
		length = (uint32_t)(slash - text);
	return length && text[length - 1] == 'b';
}

static void advise(struct linter *linter, const char *example)
{
	diag_help(&linter->compilation->diags, "typical is '%s'", example);
}

static const char *written(struct linter *linter, const struct ast *number)
{
	const struct source *source =
		linter->compilation->sources.at[number->span.file];

	return arena_copy(&linter->compilation->arena,
			  source->bytes + number->span.begin,
			  number->span.end - number->span.begin);
}

static void check_bounds(struct linter *linter, const struct ast *field,
			 const struct ast *number, size_t row)
{
	struct arena *arena = &linter->compilation->arena;
	bool small = number->number < usual[row].low;

	if (!small && number->number <= usual[row].high)
		return;
	/* A zero says that there is none of it. */
	if (number->number == 0 || unit_is_none(number->unit))
		return;
	if (lint_report(linter, LINT_SUSPICIOUS_UNIT, number->span,
			arena_printf(arena, "'%s' of %s is far %s what exists",
				     field->name, written(linter, number),
				     small ? "below" : "above")))
		advise(linter, usual[row].example);
}

/* What memory holds, and how fast, is said in bytes. */
static void check_bits(struct linter *linter, const struct ast *field,
		       const struct ast *number)
{
	struct arena *arena = &linter->compilation->arena;
	char *bytes;

	if (strncmp(field->name, "memory", strlen("memory")) != 0 ||
	    !is_in_bits(linter, number))
		return;
	if (!lint_report(linter, LINT_SUSPICIOUS_UNIT, number->span,
			 arena_printf(arena, "'%s' of %s is in bits",
				      field->name, written(linter, number))))
		return;
	bytes = arena_printf(arena, "%s", written(linter, number));
	*strrchr(bytes, 'b') = 'B';
	diag_help(&linter->compilation->diags, "in bytes: '%s'", bytes);
	diag_fix(&linter->compilation->diags, number->span, bytes);
}

/* Network cards and switches are named after their bits. Inside the innermost
 * level such rates in bytes do exist. */
static void check_network(struct linter *linter, const struct ast *field,
			  const struct ast *number)
{
	static const double sold[] = { 100, 200, 400, 800 };
	struct arena *arena = &linter->compilation->arena;
	const char *text = written(linter, number);
	char *bits;

	if (strcmp(field->name, "bandwidth") != 0 || !strstr(text, "GB"))
		return;
	for (size_t i = 0; i < sizeof(sold) / sizeof(*sold); i++) {
		if (number->number != sold[i] * 1e9 ||
		    !lint_report(linter, LINT_SUSPICIOUS_UNIT, number->span,
				 arena_printf(arena,
					      "%s a device between nodes is %g Gb/s",
					      text, sold[i] * 8)))
			continue;
		bits = arena_printf(arena, "%s", text);
		*strchr(bits, 'B') = 'b';
		diag_help(&linter->compilation->diags,
			  "network cards are sold by bits: '%s'?", bits);
		diag_fix(&linter->compilation->diags, number->span, bits);
	}
}

static void check_field(struct linter *linter, const struct ast *field,
			const char *place)
{
	const struct ast *number = field->child[0];

	if (!number || number->kind != AST_NUMBER)
		return;
	for (size_t i = 0; i < USUAL_COUNT; i++) {
		if (strcmp(usual[i].place, place) != 0 ||
		    strcmp(usual[i].field, field->name) != 0)
			continue;
		check_bounds(linter, field, number, i);
		check_bits(linter, field, number);
	}
}

static void check_fields(struct linter *linter, const struct ast *body,
			 const char *place, bool is_network)
{
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (!item)
			continue;
		if (item->kind == AST_FIELD) {
			check_field(linter, item, place);
			if (is_network && item->child[0]->kind == AST_NUMBER)
				check_network(linter, item, item->child[0]);
		} else if (item->kind == AST_BLOCK) {
			check_fields(linter, item->child[0], item->name, false);
		}
	}
}

/* The innermost level is no network; a level after it is. */
static void check_levels(struct linter *linter, const struct ast *body)
{
	uint32_t level = 0;

	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item && item->kind == AST_NAMED_BLOCK)
			check_fields(linter, item->child[1], "level",
				     level++ > 0);
	}
}

/* `h100_sxm with { memory = 96Gb }`: a change of a device, most often; fields
 * of other things have other names. */
static void check_changes(struct linter *linter, const struct ast *node)
{
	if (!node)
		return;
	if (node->kind == AST_WITH)
		check_fields(linter, node->child[1], "device", false);
	for (uint32_t i = 0; i < node->child_count; i++)
		check_changes(linter, node->child[i]);
}

void lint_units(struct linter *linter)
{
	const struct ast *tree = linter->module->tree;

	for (uint32_t i = 0; i < tree->child_count; i++) {
		const struct ast *item = tree->child[i];

		if (!item)
			continue;
		check_changes(linter, item);
		if (item->kind == AST_DEVICE)
			check_fields(linter, declaration_body(item), "device",
				     false);
		else if (item->kind == AST_TOPOLOGY)
			check_levels(linter, declaration_body(item));
	}
}

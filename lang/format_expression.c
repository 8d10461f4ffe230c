/* SPDX-License-Identifier: MIT
 *
 * Expressions: on one line where they fit; else lists are filled up to the
 * width behind their opening bracket, sums break behind their operators and
 * choices before their `else`. A list with comments in it has a line for each
 * of its elements.
 */
#include <string.h>

#include "lang/format_internal.h"

/* A list that would begin beyond this column has a line for each element. */
#define HANGING_COLUMN 50u
/* A factor and its operator of so many columns do not stand on a line alone. */
#define SHORT_FACTOR 16u

/* ---- leaves ---- */

void format_string(struct format *format, const char *string)
{
	format_put(format, "\"");
	for (; *string; string++) {
		if (*string == '\n')
			format_put(format, "\\n");
		else if (*string == '\t')
			format_put(format, "\\t");
		else if (*string == '"' || *string == '\\')
			format_put_bytes(format, *string == '"' ? "\\\"" : "\\\\",
					 2);
		else
			format_put_bytes(format, string, 1);
	}
	format_put(format, "\"");
}

/* As written, but a blank before the unit is one blank. */
static void put_number(struct format *format, const char *text)
{
	for (; *text; text++)
		format_put_bytes(format, *text == '\t' ? " " : text, 1);
}

static void put_path(struct format *format, const struct ast *node)
{
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (i)
			format_put(format, ".");
		format_put(format, node->child[i]->name);
	}
}

/* ---- lists ---- */

static void put_parameter(struct format *format, const struct ast *node,
			  uint32_t after)
{
	format_put(format, node->name);
	if (node->child[0]) {
		format_put(format, ": ");
		format_put(format, node->child[0]->name);
	}
	if (!node->child[1])
		return;
	format_put(format, " = ");
	format_expression(format, node->child[1], POWER_VALUE, after);
}

static void put_element(struct format *format, const struct ast *node,
			uint32_t after)
{
	switch (node->kind) {
	case AST_PARAMETER:
		put_parameter(format, node, after);
		return;
	case AST_ARGUMENT:
		format_put(format, node->name);
		format_put(format, " = ");
		format_expression(format, node->child[0], POWER_VALUE, after);
		return;
	case AST_ARROW:
		format_expression(format, node->child[0], POWER_OR, 3);
		format_put(format, " -> ");
		format_expression(format, node->child[1], POWER_OR, after);
		return;
	default:
		format_expression(format, node, POWER_VALUE, after);
	}
}

struct format format_measuring(const struct format *format, uint32_t limit)
{
	struct format flat = *format;

	flat.is_flat = true;
	flat.is_silent = true;
	flat.has_failed = false;
	flat.column = 0;
	flat.limit = limit;
	return flat;
}

uint32_t format_measured(const struct format *measuring)
{
	return measuring->has_failed ? measuring->limit + 1 : measuring->column;
}

static uint32_t measure_element(struct format *format, const struct ast *node,
				uint32_t limit)
{
	struct format flat = format_measuring(format, limit);

	put_element(&flat, node, 0);
	return format_measured(&flat);
}

struct brackets {
	const char *open, *close;	/* with a blank inside where wanted */
};

/* The brackets around a list; a set has blanks inside them. */
static struct brackets brackets_of(const struct ast *list)
{
	switch (list->kind) {
	case AST_PARAMETERS:
	case AST_ARGUMENTS:
		return (struct brackets){ "(", ")" };
	case AST_SET:
		if (list->child_count)
			return (struct brackets){ "{ ", " }" };
		return (struct brackets){ "{", "}" };
	default:
		return (struct brackets){ "[", "]" };
	}
}

static void put_list_flat(struct format *format, const struct ast *list)
{
	struct brackets brackets = brackets_of(list);

	format_put(format, brackets.open);
	for (uint32_t i = 0; i < list->child_count && !format->has_failed; i++) {
		if (i)
			format_put(format, ", ");
		put_element(format, list->child[i], 0);
	}
	format_put(format, brackets.close);
}

/* Comments on lines of their own up to a place of the source. */
static void put_comments(struct format *format, uint32_t until)
{
	while (format_comment_before(format, until))
		format_own_line(format);
}

/* Comments behind what ended at a place, before a place and on its line. */
static void put_tail(struct format *format, uint32_t place, uint32_t until)
{
	const struct span *comment = format_comment_before(format, until);

	if (comment && format_source_line(format, comment->begin) ==
			       format_source_line(format, place))
		format_tail(format);
	format_newline(format);
}

static void put_list_by_lines(struct format *format, const struct ast *list)
{
	struct brackets brackets = brackets_of(list);
	uint32_t end = list->span.end - 1;

	format_put_bytes(format, brackets.open, 1);
	put_tail(format, list->span.begin,
		 list->child_count ? list->child[0]->span.begin : end);
	format->indent += 2;
	for (uint32_t i = 0; i < list->child_count; i++) {
		const struct ast *element = list->child[i];

		put_comments(format, element->span.begin);
		format_pad(format, format->indent);
		put_element(format, element, 1);
		format_put(format, ",");
		put_tail(format, element->span.end,
			 i + 1 < list->child_count ?
				 list->child[i + 1]->span.begin : end);
	}
	put_comments(format, end);
	format->indent -= 2;
	format_pad(format, format->indent);
	format_put(format, brackets.close + strlen(brackets.close) - 1);
}

static void put_list_filled(struct format *format, const struct ast *list,
			    uint32_t after)
{
	struct brackets brackets = brackets_of(list);
	uint32_t close = (uint32_t)strlen(brackets.close);
	uint32_t hanging;

	format_put(format, brackets.open);
	hanging = format->column;
	for (uint32_t i = 0; i < list->child_count; i++) {
		bool is_last = i + 1 == list->child_count;
		uint32_t behind = is_last ? close + after : 1;
		uint32_t width = measure_element(format, list->child[i],
						 FORMAT_WIDTH);

		if (i && format->column + 1 + width + behind > FORMAT_WIDTH) {
			format_newline(format);
			format_pad(format, hanging);
		} else if (i) {
			format_put(format, " ");
		}
		put_element(format, list->child[i], behind);
		if (!is_last)
			format_put(format, ",");
	}
	format_put(format, brackets.close);
}

static void put_list(struct format *format, const struct ast *list,
		     uint32_t after)
{
	bool has_comments = format_comments_in(format, list->span) > 0;
	struct format flat;

	if (format->is_flat) {
		format->has_failed |= has_comments;
		put_list_flat(format, list);
		return;
	}
	if (has_comments) {
		put_list_by_lines(format, list);
		return;
	}
	flat = format_measuring(format, FORMAT_WIDTH);
	put_list_flat(&flat, list);
	if (format->column + format_measured(&flat) + after <= FORMAT_WIDTH) {
		format->is_flat = true;
		put_list_flat(format, list);
		format->is_flat = false;
	} else if (format->column > HANGING_COLUMN) {
		put_list_by_lines(format, list);
	} else {
		put_list_filled(format, list, after);
	}
}

void format_parameters(struct format *format, const struct ast *parameters,
		       uint32_t after)
{
	if (parameters)
		put_list(format, parameters, after);
}

/* ---- operators ---- */

/* Whether the right side of an operator begins on the operator's line although
 * it is too long for it: a call, which breaks inside its brackets, where the
 * next line would not hold it either, or behind a short factor as in
 * `80 * block(..)`. */
static bool stays_behind_operator(const struct format *format,
				  const struct ast *right,
				  enum binding_power power, uint32_t begin,
				  uint32_t width)
{
	if (right->kind != AST_CALL || right->parentheses)
		return false;
	return begin + width > FORMAT_WIDTH ||
	       (power >= POWER_PRODUCT && format->column <= begin + SHORT_FACTOR);
}

static void put_binary(struct format *format, const struct ast *node,
		       uint32_t after)
{
	enum binding_power power = format_power(node);
	enum binding_power right = format_power_right(node, power);
	uint32_t operator_width = (uint32_t)strlen(node->name) + 1;
	uint32_t begin = format->column, width;

	format_expression(format, node->child[0], format_power_left(power),
			  operator_width);
	format_put(format, " ");
	format_put(format, node->name);
	if (!format->is_flat && begin + operator_width < format->column) {
		width = format_measure(format, node->child[1], right,
				       FORMAT_WIDTH);
		width += after;
		if (format->column + 1 + width > FORMAT_WIDTH &&
		    !stays_behind_operator(format, node->child[1], power,
					   begin, width)) {
			format_newline(format);
			format_pad(format, begin);
			format_expression(format, node->child[1], right, after);
			return;
		}
	}
	format_put(format, " ");
	format_expression(format, node->child[1], right, after);
}

static void put_unary(struct format *format, const struct ast *node,
		      uint32_t after)
{
	if (strcmp(node->name, "not") == 0) {
		format_put(format, "not ");
		format_expression(format, node->child[0], POWER_NOT, after);
	} else {
		format_put(format, "-");
		format_expression(format, node->child[0], POWER_POWER, after);
	}
}

static void put_range(struct format *format, const struct ast *node,
		      uint32_t after)
{
	const struct ast *step = node->child[2];

	format_expression(format, node->child[0], POWER_SUM, 3);
	format_put(format, " .. ");
	format_expression(format, node->child[1], POWER_SUM, step ? 5 : after);
	if (!step)
		return;
	format_put(format, " step ");
	format_expression(format, step, POWER_SUM, after);
}

static void put_if(struct format *format, const struct ast *node,
		   uint32_t after)
{
	uint32_t begin = format->column;

	for (;;) {
		const struct ast *no = node->child[2];

		format_put(format, "if ");
		format_expression(format, node->child[0], POWER_OR, 5);
		format_put(format, " then ");
		format_expression(format, node->child[1], POWER_VALUE, 0);
		if (format->is_flat) {
			format_put(format, " ");
		} else {
			format_newline(format);
			format_pad(format, begin);
		}
		format_put(format, "else ");
		if (no->kind != AST_IF || no->parentheses) {
			format_expression(format, no, POWER_VALUE, after);
			return;
		}
		node = no;
	}
}

static void put_call(struct format *format, const struct ast *node,
		     uint32_t after)
{
	const struct ast *lambda = node->child[2];

	format_expression(format, node->child[0], POWER_POSTFIX, 1);
	put_list(format, node->child[1],
		 lambda ? 6 + (uint32_t)strlen(lambda->name) : after);
	if (!lambda)
		return;
	format_put(format, " { ");
	format_put(format, lambda->name);
	format_put(format, " ->");
	if (format->is_flat) {
		format_put(format, " ");
		format_expression(format, lambda->child[0], POWER_CONDITIONAL,
				  0);
		format_put(format, " }");
		return;
	}
	format->indent += 2;
	format_newline(format);
	format_pad(format, format->indent);
	format_expression(format, lambda->child[0], POWER_CONDITIONAL, 0);
	format->indent -= 2;
	format_newline(format);
	format_pad(format, format->indent);
	format_put(format, "}");
}

static void put_inner(struct format *format, const struct ast *node,
		      uint32_t after)
{
	switch (node->kind) {
	case AST_NUMBER:
		put_number(format, node->text);
		return;
	case AST_STRING:
		format_string(format, node->text);
		return;
	case AST_BOOLEAN:
		format_put(format, node->number != 0 ? "true" : "false");
		return;
	case AST_NAME:
	case AST_TYPE:
		format_put(format, node->name);
		return;
	case AST_PATH:
		put_path(format, node);
		return;
	case AST_MEMBER:
		format_expression(format, node->child[0], POWER_POSTFIX, after);
		format_put(format, ".");
		format_put(format, node->name);
		return;
	case AST_INDEX:
		format_expression(format, node->child[0], POWER_POSTFIX, 1);
		format_put(format, "[");
		format_expression(format, node->child[1], POWER_VALUE,
				  after + 1);
		format_put(format, "]");
		return;
	case AST_CALL:
		put_call(format, node, after);
		return;
	case AST_SET:
	case AST_LIST:
	case AST_AXES:
		put_list(format, node, after);
		return;
	case AST_UNARY:
		put_unary(format, node, after);
		return;
	case AST_BINARY:
		put_binary(format, node, after);
		return;
	case AST_RANGE:
		put_range(format, node, after);
		return;
	case AST_IF:
		put_if(format, node, after);
		return;
	case AST_WITH:
		format_expression(format, node->child[0], POWER_POSTFIX, 7);
		format_put(format, " with ");
		format_body(format, node->child[1]);
		return;
	default:
		format->has_failed = true;
	}
}

static void put_parenthesised(struct format *format, const struct ast *node,
			      enum binding_power power, uint32_t after)
{
	bool is_wrapped = node->parentheses > 0 || format_power(node) < power;

	if (is_wrapped)
		format_put(format, "(");
	put_inner(format, node, after + is_wrapped);
	if (is_wrapped)
		format_put(format, ")");
}

uint32_t format_measure(struct format *format, const struct ast *node,
			enum binding_power power, uint32_t limit)
{
	struct format flat = format_measuring(format, limit);

	/* Every level takes a column at least. */
	if (node->depth > limit)
		return limit + 1;
	put_parenthesised(&flat, node, power, 0);
	return format_measured(&flat);
}

void format_expression(struct format *format, const struct ast *node,
		       enum binding_power power, uint32_t after)
{
	/* Once too long, always too long. */
	if (format->is_silent && format->has_failed)
		return;
	if (!format->is_flat && node->child_count &&
	    format->column + format_measure(format, node, power, FORMAT_WIDTH) +
			    after <= FORMAT_WIDTH) {
		format->is_flat = true;
		put_parenthesised(format, node, power, after);
		format->is_flat = false;
		return;
	}
	put_parenthesised(format, node, power, after);
}

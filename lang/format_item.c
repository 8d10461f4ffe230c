/* SPDX-License-Identifier: MIT
 *
 * Items by themselves: their heads, and those without a body.
 */
#include <string.h>

#include "lang/format_internal.h"

/* ---- heads: what stands before a `=`, an `in` or a body ---- */

static bool is_declaration_block(enum ast_kind kind)
{
	switch (kind) {
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
	case AST_JOB:
		return true;
	default:
		return false;
	}
}

const struct ast *format_body_of(const struct ast *item)
{
	const struct ast *last = item->child_count ?
					 item->child[item->child_count - 1] :
					 NULL;

	return last && last->kind == AST_BODY ? last : NULL;
}

void format_block_head(struct format *format, const struct ast *item)
{
	if (is_declaration_block(item->kind)) {
		format_put(format, ast_kind_name(item->kind));
		format_put(format, " ");
		format_put(format, item->name);
		if (item->kind != AST_JOB)
			format_parameters(format, item->child[0], 2);
		return;
	}
	switch (item->kind) {
	case AST_TEST:
		format_put(format, "test ");
		format_string(format, item->text);
		return;
	case AST_NAMED_BLOCK:
		format_put(format, item->name);
		format_put(format, " ");
		format_put(format, item->child[0]->name);
		return;
	case AST_FOR:
		format_put(format, "for ");
		format_put(format, item->name);
		format_put(format, " in ");
		format_expression(format, item->child[0], POWER_VALUE, 2);
		return;
	case AST_NODE_ITEM:
		format_put(format, "node ");
		format_expression(format, item->child[0], POWER_POSTFIX, 2);
		format_put(format, " : ");
		format_expression(format, item->child[1], POWER_OR,
				  format_body_of(item) ? 2 : 0);
		return;
	case AST_LINK:
		format_put(format, "link ");
		format_expression(format, item->child[0], POWER_POSTFIX, 4);
		format_put(format, item->name ? " -> " : " -- ");
		format_expression(format, item->child[1], POWER_POSTFIX, 2);
		return;
	default:
		format_put(format, item->name);
	}
}

/* Of items whose neighbours are aligned with them; false for others. */
bool format_name_head(struct format *format, const struct ast *item)
{
	switch (item->kind) {
	case AST_FIELD:
	case AST_IN:
		format_put(format, item->name);
		return true;
	case AST_LET:
		format_put(format, "let ");
		format_put(format, item->name);
		return true;
	case AST_PARAM:
		format_put(format, "param ");
		format_put(format, item->name);
		if (!item->child[0])
			return true;
		format_put(format, ": ");
		format_put(format, item->child[0]->name);
		return true;
	default:
		return false;
	}
}

bool format_is_aligned(enum ast_kind kind)
{
	return kind == AST_FIELD || kind == AST_IN || kind == AST_LET ||
	       kind == AST_PARAM;
}

/* ---- items ---- */

static void put_named(struct format *format, const struct ast *item,
		      const struct alignment *alignment)
{
	uint32_t begin = format->column;

	format_name_head(format, item);
	if (alignment->name && !format->is_flat)
		format_pad(format, begin + alignment->name);
	if (item->kind == AST_IN) {
		format_put(format, " in ");
		format_expression(format, item->child[0],
				  item->child[0]->kind == AST_SET ?
					  POWER_VALUE : POWER_RANGE, 0);
		return;
	}
	format_put(format, " = ");
	format_expression(format, item->child[item->child_count - 1],
			  POWER_VALUE, 0);
}

static void put_split(struct format *format, const struct ast *item)
{
	const struct ast *pad = item->child[0];

	format_put(format, "split ");
	for (uint32_t i = 1; i < item->child_count; i++) {
		if (i > 1)
			format_put(format, ", ");
		format_put(format, item->child[i]->name);
	}
	format_put(format, " by ");
	format_put(format, item->name);
	if (!pad)
		return;
	format_put(format, " pad ");
	format_expression(format, pad, POWER_OR, 0);
}

/* A further part of a requirement: on the next line where it does not fit. */
static void put_clause(struct format *format, const char *word,
		       const struct ast *node)
{
	uint32_t width = format_measure(format, node, POWER_OR, FORMAT_WIDTH);
	uint32_t needed = (uint32_t)strlen(word) + 2 + width;

	if (!format->is_flat && format->column + needed > FORMAT_WIDTH) {
		format_newline(format);
		format_pad(format, format->indent + 2);
	} else {
		format_put(format, " ");
	}
	format_put(format, word);
	format_put(format, " ");
	format_expression(format, node, POWER_OR, 0);
}

static void put_require(struct format *format, const struct ast *item)
{
	bool has_clause = item->child[1] || item->child[2];

	if (!item->name)
		format_put(format, "require ");
	format_expression(format, item->child[0],
			  has_clause ? POWER_OR : POWER_CONDITIONAL, 0);
	if (item->child[1])
		put_clause(format, "when", item->child[1]);
	if (item->child[2])
		put_clause(format, "else", item->child[2]);
}

static void put_minimize(struct format *format, const struct ast *item)
{
	format_put(format, "minimize ");
	for (uint32_t i = 0; i < item->child_count; i++) {
		if (i)
			put_clause(format, "then", item->child[i]);
		else
			format_expression(format, item->child[i],
					  item->child_count > 1 ?
						  POWER_OR : POWER_CONDITIONAL,
					  0);
	}
}

static void put_within(struct format *format, const struct ast *item)
{
	if (item->child[0]) {
		format_expression(format, item->child[0], POWER_OR, 7);
		format_put(format, " within ");
	} else {
		format_put(format, "avoid ");
	}
	format_expression(format, item->child[1],
			  item->child[0] ? POWER_OR : POWER_VALUE, 0);
}

static void put_import(struct format *format, const struct ast *item)
{
	format_put(format, "import ");
	format_expression(format, item->child[0], POWER_VALUE, 0);
	if (!item->name)
		return;
	format_put(format, " as ");
	format_put(format, item->name);
}

static void put_function(struct format *format, const struct ast *item)
{
	if (item->kind == AST_EXTERN) {
		format_put(format, "extern ");
		format_string(format, item->child[0]->text);
		format_put(format, " ");
	}
	format_put(format, "fn ");
	format_put(format, item->name);
	if (item->kind == AST_EXTERN) {
		format_parameters(format, item->child[1], 4);
		format_put(format, " -> ");
		format_put(format, item->child[2]->name);
		return;
	}
	format_parameters(format, item->child[0], 3);
	format_put(format, " = ");
	format_expression(format, item->child[1], POWER_VALUE, 0);
}

static void put_word_item(struct format *format, const char *word,
			  const struct ast *expression,
			  enum binding_power power)
{
	format_put(format, word);
	format_put(format, " ");
	format_expression(format, expression, power, 0);
}

/* An item without a body. */
void format_plain_item(struct format *format, const struct ast *item,
		       const struct alignment *alignment)
{
	switch (item->kind) {
	case AST_VALUE:
		format_put(format, item->name);
		format_put(format, " : ");
		format_expression(format, item->child[0], POWER_VALUE, 0);
		return;
	case AST_SPLIT:
		put_split(format, item);
		return;
	case AST_RETURN:
		put_word_item(format, "return", item->child[0],
			      POWER_CONDITIONAL);
		return;
	case AST_EXPECT:
		put_word_item(format, "expect", item->child[0],
			      POWER_CONDITIONAL);
		return;
	case AST_ITEM:
		format_expression(format, item->child[0], POWER_CONDITIONAL, 0);
		return;
	case AST_REQUIRE:
		put_require(format, item);
		return;
	case AST_PREFER:
		put_word_item(format, "prefer", item->child[0], POWER_OR);
		put_clause(format, "weight", item->child[1]);
		return;
	case AST_MINIMIZE:
		put_minimize(format, item);
		return;
	case AST_WITHIN:
		put_within(format, item);
		return;
	case AST_SWITCH_ITEM:
		put_word_item(format, "switch", item->child[0], POWER_POSTFIX);
		return;
	case AST_NODE_ITEM:
	case AST_LINK:
		format_block_head(format, item);
		return;
	case AST_IMPORT:
		put_import(format, item);
		return;
	case AST_FUNCTION:
	case AST_EXTERN:
		put_function(format, item);
		return;
	default:
		put_named(format, item, alignment);
	}
}

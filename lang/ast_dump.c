/* SPDX-License-Identifier: MIT
 *
 * The tree as text, one node a line: kind, name, number or text, and the byte
 * range. Depth is bounded by AST_DEPTH_MAX, so recursion is safe.
 */
#include "lang/ast.h"

static void dump_text(const char *key, const char *value, struct text *out)
{
	text_printf(out, " %s\"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			text_printf(out, "\\%c", *value);
		else if (*value == '\n')
			text_append(out, "\\n");
		else if (*value == '\t')
			text_append(out, "\\t");
		else
			text_append_char(out, *value);
	}
	text_append_char(out, '"');
}

/* The dimension as exponents: "byte second^-1". */
static void dump_unit(struct unit unit, struct text *out)
{
	static const char *const names[BASE_DIMENSION_COUNT] = {
		[BASE_BYTE] = "byte",
		[BASE_SECOND] = "second",
		[BASE_FLOP] = "flop",
		[BASE_WATT] = "watt",
		[BASE_DOLLAR] = "dollar",
	};

	for (int i = 0; i < BASE_DIMENSION_COUNT; i++) {
		if (unit.power[i] == 1)
			text_printf(out, " %s", names[i]);
		else if (unit.power[i])
			text_printf(out, " %s^%d", names[i], unit.power[i]);
	}
}

static void dump_node(const struct ast *node, int depth, struct text *out)
{
	for (int i = 0; i < depth; i++)
		text_append(out, "  ");
	if (!node) {
		text_append(out, "-\n");
		return;
	}
	text_append(out, ast_kind_name(node->kind));
	if (node->name)
		text_printf(out, " '%s'", node->name);
	if (node->kind == AST_NUMBER || node->kind == AST_BOOLEAN ||
	    node->kind == AST_FILE) {
		text_append_char(out, ' ');
		text_append_number(out, node->number);
		dump_unit(node->unit, out);
	}
	if (node->text)
		dump_text("", node->text, out);
	if (node->documentation)
		dump_text("##", node->documentation, out);
	text_printf(out, " [%u,%u)\n", node->span.begin, node->span.end);
	for (uint32_t i = 0; i < node->child_count; i++)
		dump_node(node->child[i], depth + 1, out);
}

void ast_dump(const struct ast *node, struct text *out)
{
	dump_node(node, 0, out);
}

/* SPDX-License-Identifier: MIT
 *
 * How strongly expressions bind, and their operands must: where parentheses are
 * needed.
 */
#include <string.h>

#include "lang/format_internal.h"

static bool is_operator(const struct ast *node, const char *name)
{
	return strcmp(node->name, name) == 0;
}

static enum binding_power power_of_binary(const struct ast *node)
{
	switch (node->name[0]) {
	case 'o':
		return POWER_OR;
	case 'a':
		return POWER_AND;
	case '+':
	case '-':
		return POWER_SUM;
	case '*':
	case '/':
	case '%':
		return POWER_PRODUCT;
	case '^':
		return POWER_POWER;
	default:
		return POWER_COMPARISON;
	}
}

enum binding_power format_power(const struct ast *node)
{
	switch (node->kind) {
	case AST_SET:
		return POWER_VALUE;
	case AST_IF:
		return POWER_CONDITIONAL;
	case AST_BINARY:
		return power_of_binary(node);
	case AST_UNARY:
		return is_operator(node, "not") ? POWER_NOT : POWER_SIGN;
	case AST_RANGE:
		return POWER_RANGE;
	default:
		return POWER_POSTFIX;
	}
}

enum binding_power format_power_left(enum binding_power power)
{
	switch (power) {
	case POWER_COMPARISON:
		return POWER_RANGE;
	case POWER_POWER:
		return POWER_POSTFIX;
	default:
		return power;
	}
}

enum binding_power format_power_right(const struct ast *node,
					     enum binding_power power)
{
	switch (power) {
	case POWER_POWER:
		return POWER_SIGN;
	case POWER_COMPARISON:
		if (is_operator(node, "in") && node->child[1]->kind == AST_SET)
			return POWER_VALUE;
		return POWER_RANGE;
	default:
		return power + 1;
	}
}

/* SPDX-License-Identifier: MIT
 *
 * Making syntax tree nodes.
 */
#include "lang/ast.h"

#include <stdarg.h>
#include <string.h>

static const char *const kind_names[] = {
#define NODE(kind, name, children) [AST_##kind] = name,
#include "lang/ast.def"
#undef NODE
};
_Static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == AST_KIND_COUNT,
	       "every kind has a name");

/* Those that begin with a vowel as they are said. */
static const char *const kind_names_with_article[] = {
#define NODE(kind, name, children) \
	[AST_##kind] = (name[0] == 'a' || name[0] == 'e' || name[0] == 'i' || \
			name[0] == 'o') ? "an " name : "a " name,
#include "lang/ast.def"
#undef NODE
};

const char *ast_kind_name(enum ast_kind kind)
{
	return kind_names[kind];
}

const char *ast_a_kind(enum ast_kind kind)
{
	return kind_names_with_article[kind];
}

/* A node and room for its children right behind it. */
static struct ast *allocate(struct arena *arena, enum ast_kind kind,
			    struct span span, uint32_t count)
{
	struct ast *node = arena_alloc(arena, sizeof(*node) +
					      count * sizeof(*node->child));

	node->kind = kind;
	node->span = span;
	node->name_span = SPAN_NONE;
	node->depth = 1;
	node->child_count = count;
	node->child = (struct ast **)(void *)(node + 1);
	return node;
}

struct ast *ast_new(struct arena *arena, enum ast_kind kind, struct span span)
{
	return allocate(arena, kind, span, 0);
}

static void note_depth(struct ast *node, const struct ast *child)
{
	if (child && child->depth >= node->depth)
		node->depth = child->depth + 1;
}

struct ast *ast_with(struct arena *arena, enum ast_kind kind, struct span span,
		     uint32_t count, ...)
{
	struct ast *node = allocate(arena, kind, span, count);
	va_list children;

	va_start(children, count);
	for (uint32_t i = 0; i < count; i++) {
		node->child[i] = va_arg(children, struct ast *);
		note_depth(node, node->child[i]);
	}
	va_end(children);
	return node;
}

void ast_list_push(struct ast_list *list, struct arena *arena, struct ast *node)
{
	if (list->count == list->capacity) {
		uint32_t capacity = list->count ? 2 * list->count : 4;
		struct ast **at = ARENA_ARRAY(arena, struct ast *, capacity);

		if (list->count)
			memcpy(at, list->at, list->count * sizeof(*at));
		list->at = at;
		list->capacity = capacity;
	}
	list->at[list->count++] = node;
}

void ast_adopt(struct ast *node, struct arena *arena,
	       const struct ast_list *list)
{
	uint32_t count = node->child_count + list->count;
	struct ast **child = ARENA_ARRAY(arena, struct ast *, count);

	if (node->child_count)
		memcpy(child, node->child, node->child_count * sizeof(*child));
	if (list->count)
		memcpy(child + node->child_count, list->at,
		       list->count * sizeof(*child));
	for (uint32_t i = node->child_count; i < count; i++)
		note_depth(node, child[i]);
	node->child = child;
	node->child_count = count;
}

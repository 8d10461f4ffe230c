/* SPDX-License-Identifier: MIT
 *
 * The syntax tree. One node type serves all kinds; ast.def says what each
 * kind keeps in its name, text, number and children. Nodes live in the
 * compilation's arena and are not changed after parsing.
 */
#ifndef NEST_LANG_AST_H
#define NEST_LANG_AST_H

#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/text.h"
#include "lang/source.h"
#include "lang/unit.h"

enum ast_kind {
#define NODE(kind, name, children) AST_##kind,
#include "lang/ast.def"
#undef NODE
	AST_KIND_COUNT
};

struct ast {
	enum ast_kind kind;
	uint32_t child_count;
	struct span span;		/* the whole construct */
	struct span name_span;		/* where name stands */
	const char *name;		/* interned, or NULL */
	const char *text;		/* string contents, or a number as written */
	const char *documentation;	/* `##` lines before it, or NULL */
	double number;			/* in base units */
	struct unit unit;		/* of number */
	struct ast **child;
};

/* A growing list of nodes while the parser reduces. */
struct ast_list {
	struct ast **at;
	uint32_t count;
	uint32_t capacity;
};

struct ast *ast_new(struct arena *arena, enum ast_kind kind, struct span span);
/* A node whose children are those given (count of them, NULLs allowed). */
struct ast *ast_with(struct arena *arena, enum ast_kind kind, struct span span,
		     uint32_t count, ...);
void ast_list_push(struct ast_list *list, struct arena *arena, struct ast *node);
void ast_adopt(struct ast *node, const struct ast_list *list);

/* "field", "call", ...: for dumps and messages. */
const char *ast_kind_name(enum ast_kind kind);

/* The tree as indented text with spans, for tests. */
void ast_dump(const struct ast *node, struct text *out);

#endif

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

/* Greatest number of nodes on a path from the root. The parser replaces what
 * would be deeper by AST_ERROR and reports it, so that whoever walks a tree
 * may recurse. */
#define AST_DEPTH_MAX 1000

enum ast_kind {
#define NODE(kind, name, children) AST_##kind,
#include "lang/ast.def"
#undef NODE
	AST_KIND_COUNT
};

struct ast {
	enum ast_kind kind;
	uint32_t child_count;
	uint32_t depth;			/* nodes on the longest path downwards */
	uint32_t parentheses;		/* pairs around it, which mean nothing */
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
/* Makes the elements of a list the last children of a node that has been
 * given none or some already; the list itself is not kept. */
void ast_adopt(struct ast *node, struct arena *arena,
	       const struct ast_list *list);

/* "field", "call", ...: for dumps and messages. */
const char *ast_kind_name(enum ast_kind kind);
/* The same behind "a" or "an". */
const char *ast_a_kind(enum ast_kind kind);

/* The tree as indented text with spans, for tests. */
void ast_dump(const struct ast *node, struct text *out);

#endif

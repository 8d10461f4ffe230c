/* SPDX-License-Identifier: MIT
 *
 * Text to syntax tree: the one call around scanner and grammar.
 */
#ifndef NEST_LANG_PARSE_H
#define NEST_LANG_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/source.h"

struct ast;
struct compilation;

/* Comments of a file in their order, each from its `#` to the end of the
 * line. */
struct comments {
	struct span *at;
	size_t count;
	size_t capacity;
};

/* Parses source number file. Always gives a tree (AST_FILE; what could not be
 * read is AST_ERROR in it, and its depth is at most AST_DEPTH_MAX + 1); *clean says whether there was no syntax error.
 * Errors are reported in compilation->diags. */
struct ast *parse_file(struct compilation *compilation, uint32_t file,
		       bool *clean);

/* The same, and appends the comments of the file. */
struct ast *parse_file_and_comments(struct compilation *compilation,
				    uint32_t file, bool *clean,
				    struct comments *comments);

/* Parses a single expression (for -D and eval -e); NULL after an error. */
struct ast *parse_expression(struct compilation *compilation, uint32_t file);

/* Parses what would stand between the braces of a block (for explain --why-not) to
 * an AST_BODY; NULL after an error. */
struct ast *parse_items(struct compilation *compilation, uint32_t file);

#endif

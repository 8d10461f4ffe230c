/* SPDX-License-Identifier: MIT
 *
 * Text to syntax tree: the one call around scanner and grammar.
 */
#ifndef NEST_LANG_PARSE_H
#define NEST_LANG_PARSE_H

#include <stdbool.h>
#include <stdint.h>

struct ast;
struct compilation;

/* Parses source number file. Always gives a tree (AST_FILE; what could not be
 * read is AST_ERROR in it, and its depth is at most AST_DEPTH_MAX + 1); *clean says whether there was no syntax error.
 * Errors are reported in compilation->diags. */
struct ast *parse_file(struct compilation *compilation, uint32_t file,
		       bool *clean);

/* Parses a single expression (for -D and eval -e); NULL after an error. */
struct ast *parse_expression(struct compilation *compilation, uint32_t file);

#endif

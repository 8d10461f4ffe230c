/* SPDX-License-Identifier: MIT
 *
 * The one layout of a spec: a tree and its comments back to text. Formatting
 * what has been formatted changes nothing, and no comment is lost.
 */
#ifndef NEST_LANG_FORMAT_H
#define NEST_LANG_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/text.h"

struct ast;
struct compilation;

/* Columns that lines are broken to fit, where they can be. */
#define FORMAT_WIDTH 88u
/* Columns within which a block stays on the one line it was written on. */
#define FORMAT_BLOCK_WIDTH 100u
/* Where comments behind code stand, if that code ends before. */
#define FORMAT_COMMENT_COLUMN 36u

/* Appends source number file as it should look. False, reported, after a
 * syntax error; nothing is appended then. */
bool format_source(struct compilation *compilation, uint32_t file,
		   struct text *out);

/* Whether two trees are the same but for places and documentation. */
bool format_same(const struct ast *a, const struct ast *b);

#endif

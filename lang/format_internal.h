/* SPDX-License-Identifier: MIT
 *
 * What the files of the formatter share. Only format*.c include this.
 *
 * Text is laid out from the tree. Where a comment stands in a place that the
 * tree does not know (in the middle of a sum, before a `by`), the item around
 * it is copied as it is, only moved to its indentation.
 */
#ifndef NEST_LANG_FORMAT_INTERNAL_H
#define NEST_LANG_FORMAT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/base/vec.h"
#include "lang/format.h"
#include "lang/parse.h"
#include "lang/source.h"

/* A comment that waits behind a line until all columns are known. */
struct format_tail {
	size_t at;		/* in the text: the end of its line */
	uint32_t line;		/* of the text */
	uint32_t width;		/* of that line */
	struct span comment;
};

struct format {
	struct arena *arena;
	const struct source *source;
	struct comments comments;
	size_t next;			/* comment not yet written */

	struct text *out;
	uint32_t column;		/* of the end of out */
	uint32_t line;			/* lines finished */
	uint32_t indent;		/* of the item being written */
	bool in_template;		/* its values are not aligned */
	VEC(struct format_tail) tails;

	bool is_flat;			/* nothing may break */
	/* While measuring: nothing is written. */
	bool is_silent;
	bool has_failed;		/* it cannot stand on one line */
	uint32_t limit;			/* columns it may take */
};

/* How loosely an expression may bind where it stands: each of these and
 * what is below it needs no parentheses. */
enum binding_power {
	POWER_VALUE,		/* a set */
	POWER_CONDITIONAL,	/* if */
	POWER_OR,
	POWER_AND,
	POWER_NOT,
	POWER_COMPARISON,
	POWER_RANGE,
	POWER_SUM,
	POWER_PRODUCT,
	POWER_SIGN,
	POWER_POWER,
	POWER_POSTFIX,
};

/* The columns shared by an item and its neighbours. */
struct alignment {
	uint32_t name;			/* width of what stands before `=` or `in` */
	const uint32_t *cell;		/* widths of the fields of a block */
	uint32_t cell_count;
	uint32_t head;			/* width before the `{` of a block */
};

/* ---- format_text.c: writing ---- */

void format_put(struct format *format, const char *string);
void format_put_bytes(struct format *format, const char *bytes, size_t length);
void format_pad(struct format *format, uint32_t column);
void format_newline(struct format *format);
/* Columns that a text takes. */
uint32_t format_width(const char *bytes, size_t length);

/* The line of the source on which a byte stands. */
uint32_t format_source_line(const struct format *format, uint32_t offset);
/* How many comments lie within a range of the source. */
size_t format_comments_in(const struct format *format, struct span span);
/* The next comment if it begins before a place of the source, else NULL. */
const struct span *format_comment_before(const struct format *format,
					 uint32_t offset);
/* Writes the next comment behind the line, or as a line of its own. */
void format_tail(struct format *format);
void format_own_line(struct format *format);
/* Copies a range of the source, its further lines moved along with the first;
 * comments in it count as written. */
void format_copy(struct format *format, struct span span);
/* The text with its tails in their columns. */
void format_finish(struct format *format, struct text *out);

/* ---- format_power.c ---- */

/* How strongly an expression binds. */
enum binding_power format_power(const struct ast *node);
/* What the operands of a binary operator, which binds with this power, must at least
 * bind. */
enum binding_power format_power_left(enum binding_power power);
enum binding_power format_power_right(const struct ast *node,
				      enum binding_power power);

/* ---- format_expression.c ---- */

/* `after` columns are needed behind it on the same line. */
void format_expression(struct format *format, const struct ast *node,
		       enum binding_power power, uint32_t after);
/* Columns of it on one line; more than limit when it cannot stand so. */
uint32_t format_measure(struct format *format, const struct ast *node,
			enum binding_power power, uint32_t limit);
/* A copy that measures what is put into it, and what it found. */
struct format format_measuring(const struct format *format, uint32_t limit);
uint32_t format_measured(const struct format *measuring);
void format_parameters(struct format *format, const struct ast *parameters,
		       uint32_t after);
void format_string(struct format *format, const char *string);

/* ---- format_item.c ---- */

/* What stands before a body; before a `=` or an `in` (false: it has none). */
void format_block_head(struct format *format, const struct ast *item);
bool format_name_head(struct format *format, const struct ast *item);
/* An item without a body. */
void format_plain_item(struct format *format, const struct ast *item,
		       const struct alignment *alignment);
/* The body an item ends with, or NULL. */
const struct ast *format_body_of(const struct ast *item);
/* Whether neighbours of that kind have their `=` in one column. */
bool format_is_aligned(enum ast_kind kind);

/* ---- format_align.c ---- */

/* How many items from number `first` on are aligned with it, and how. */
uint32_t format_align_names(struct format *format, const struct ast *body,
			    uint32_t first, struct alignment *alignment);
/* The same for blocks of one line: a table of their fields. */
uint32_t format_align_rows(struct format *format, const struct ast *body,
			   uint32_t first, struct alignment *alignment);

/* ---- format.c: bodies ---- */

/* Any item, with its body. */
void format_item(struct format *format, const struct ast *item,
		 const struct alignment *alignment);
/* Whether a body was written on one line. */
bool format_is_on_one_line(const struct format *format, const struct ast *body);

/* Columns of an item on one line; more than limit when it cannot stand so. */
uint32_t format_measure_item(struct format *format, const struct ast *item,
			     uint32_t limit);
void format_body(struct format *format, const struct ast *body);
/* Whether all comments within a node stand where its parts are kept apart. */
bool format_is_laid_out(const struct format *format, const struct ast *node);

#endif

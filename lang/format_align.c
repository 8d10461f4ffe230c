/* SPDX-License-Identifier: MIT
 *
 * Neighbours that are aligned: the `=` of fields, and the parts of blocks of one
 * line, which make a table.
 */
#include "lang/format_internal.h"

static bool follows(const struct format *format, const struct ast *before,
		    const struct ast *item)
{
	return format_source_line(format, item->span.begin) <=
	       format_source_line(format, before->span.end - 1) + 1;
}

static uint32_t head_width(struct format *format, const struct ast *item)
{
	struct format flat = format_measuring(format, FORMAT_WIDTH);

	if (!format_name_head(&flat, item))
		format_block_head(&flat, item);
	return format_measured(&flat);
}

/* The neighbours of item number `first` that are aligned with it, and how. */
uint32_t format_align_names(struct format *format, const struct ast *body,
			    uint32_t first, struct alignment *alignment)
{
	uint32_t count = 0;

	for (uint32_t i = first; i < body->child_count; i++, count++) {
		const struct ast *item = body->child[i];
		uint32_t width;

		if (item->kind != body->child[first]->kind ||
		    !format_is_laid_out(format, item) ||
		    (i > first && !follows(format, body->child[i - 1], item)))
			break;
		width = head_width(format, item);
		if (width > alignment->name)
			alignment->name = width;
	}
	/* Formulas are not a table. */
	if (format->in_template)
		alignment->name = 0;
	return count ? count : 1;
}

/* Whether an item is a block that can be a row of a table: of fields only, and
 * on one line. */
static bool is_row(struct format *format, const struct ast *item)
{
	const struct ast *body = format_body_of(item);

	if (!body || !body->child_count ||
	    format_comments_in(format, item->span) ||
	    !format_is_on_one_line(format, body))
		return false;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i]->kind != AST_FIELD)
			return false;
	return format->indent + format_measure_item(format, item,
						    FORMAT_BLOCK_WIDTH) <=
	       FORMAT_BLOCK_WIDTH;
}

/* Fields behind which all rows that go on do so with a field of one name. */
static uint32_t common_cells(const struct ast *body, uint32_t first,
			     uint32_t count)
{
	for (uint32_t cell = 0;; cell++) {
		const char *name = NULL;

		for (uint32_t i = first; i < first + count; i++) {
			const struct ast *row = format_body_of(body->child[i]);

			if (cell + 1 >= row->child_count)
				continue;
			if (name && row->child[cell + 1]->name != name)
				return cell;
			name = row->child[cell + 1]->name;
		}
		if (!name)
			return cell;
	}
}

static uint32_t widest_cell(struct format *format, const struct ast *body,
			    uint32_t first, uint32_t count, uint32_t cell)
{
	uint32_t widest = 0;

	for (uint32_t i = first; i < first + count; i++) {
		const struct ast *row = format_body_of(body->child[i]);
		uint32_t width;

		/* The last of a row pads nothing. */
		if (cell + 1 >= row->child_count)
			continue;
		width = format_measure_item(format, row->child[cell],
					    FORMAT_BLOCK_WIDTH);
		if (width > widest)
			widest = width;
	}
	return widest;
}

/* Columns of a row with its alignment. */
static uint32_t row_width(struct format *format, const struct ast *item,
			  const struct alignment *alignment)
{
	struct format flat = format_measuring(format, 2 * FORMAT_BLOCK_WIDTH);

	format_item(&flat, item, alignment);
	return format_measured(&flat);
}

static bool fits_as_table(struct format *format, const struct ast *body,
			  uint32_t first, uint32_t count,
			  const struct alignment *alignment)
{
	for (uint32_t i = first; i < first + count; i++)
		if (format->indent + row_width(format, body->child[i],
					       alignment) >
		    FORMAT_BLOCK_WIDTH)
			return false;
	return true;
}

/* The same for blocks: a table of fields. */
uint32_t format_align_rows(struct format *format, const struct ast *body,
			   uint32_t first, struct alignment *alignment)
{
	uint32_t count = 0, *cell;

	for (uint32_t i = first; i < body->child_count; i++, count++) {
		const struct ast *item = body->child[i];
		uint32_t width;

		if (item->kind != body->child[first]->kind ||
		    !is_row(format, item) ||
		    (i > first && !follows(format, body->child[i - 1], item)))
			break;
		width = head_width(format, item);
		if (width > alignment->head)
			alignment->head = width;
	}
	if (count < 2) {
		alignment->head = 0;
		return 1;
	}
	alignment->cell_count = common_cells(body, first, count);
	cell = ARENA_ARRAY(format->arena, uint32_t, alignment->cell_count);
	for (uint32_t i = 0; i < alignment->cell_count; i++)
		cell[i] = widest_cell(format, body, first, count, i);
	alignment->cell = cell;
	/* Too wide a table is aligned at its braces only, or not at all. */
	if (!fits_as_table(format, body, first, count, alignment))
		alignment->cell_count = 0;
	if (!fits_as_table(format, body, first, count, alignment))
		alignment->head = 0;
	return count;
}

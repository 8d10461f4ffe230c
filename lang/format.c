/* SPDX-License-Identifier: MIT
 *
 * Items and bodies. An item has a line of its own; the `=` of neighbouring
 * fields are aligned, and so are the parts of neighbouring blocks of one line.
 * A block stays on one line if it was written so and fits.
 */
#include "lang/format.h"

#include <string.h>

#include "lang/compilation.h"
#include "lang/format_internal.h"

/* The columns shared by an item and its neighbours. */
struct alignment {
	uint32_t name;			/* width of what stands before `=` or `in` */
	const uint32_t *cell;		/* widths of the fields of a block */
	uint32_t cell_count;
	uint32_t head;			/* width before the `{` of a block */
};

static void put_item(struct format *format, const struct ast *item,
		     const struct alignment *alignment);

/* ---- comments that have a place ---- */

static bool keeps_parts_apart(const struct ast *node)
{
	switch (node->kind) {
	case AST_PARAMETERS:
	case AST_ARGUMENTS:
	case AST_LIST:
	case AST_SET:
	case AST_AXES:
		return true;
	default:
		return false;
	}
}

/* How many comments within a node the layout finds a place for. */
static size_t placed_comments(const struct format *format,
			      const struct ast *node)
{
	size_t all = format_comments_in(format, node->span);
	size_t inside = 0, placed = 0;

	if (!all || node->kind == AST_BODY)
		return all;
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (!node->child[i])
			continue;
		inside += format_comments_in(format, node->child[i]->span);
		placed += placed_comments(format, node->child[i]);
	}
	return placed + (keeps_parts_apart(node) ? all - inside : 0);
}

bool format_is_laid_out(const struct format *format, const struct ast *node)
{
	return placed_comments(format, node) ==
	       format_comments_in(format, node->span);
}

/* ---- heads: what stands before a `=`, an `in` or a body ---- */

static bool is_declaration_block(enum ast_kind kind)
{
	switch (kind) {
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
	case AST_JOB:
		return true;
	default:
		return false;
	}
}

static const struct ast *body_of(const struct ast *item)
{
	const struct ast *last = item->child_count ?
					 item->child[item->child_count - 1] :
					 NULL;

	return last && last->kind == AST_BODY ? last : NULL;
}

static void put_block_head(struct format *format, const struct ast *item)
{
	if (is_declaration_block(item->kind)) {
		format_put(format, ast_kind_name(item->kind));
		format_put(format, " ");
		format_put(format, item->name);
		if (item->kind != AST_JOB)
			format_parameters(format, item->child[0], 2);
		return;
	}
	switch (item->kind) {
	case AST_TEST:
		format_put(format, "test ");
		format_string(format, item->text);
		return;
	case AST_NAMED_BLOCK:
		format_put(format, item->name);
		format_put(format, " ");
		format_put(format, item->child[0]->name);
		return;
	case AST_FOR:
		format_put(format, "for ");
		format_put(format, item->name);
		format_put(format, " in ");
		format_expression(format, item->child[0], POWER_VALUE, 2);
		return;
	case AST_NODE_ITEM:
		format_put(format, "node ");
		format_expression(format, item->child[0], POWER_POSTFIX, 2);
		format_put(format, " : ");
		format_expression(format, item->child[1], POWER_OR,
				  body_of(item) ? 2 : 0);
		return;
	case AST_LINK:
		format_put(format, "link ");
		format_expression(format, item->child[0], POWER_POSTFIX, 4);
		format_put(format, item->name ? " -> " : " -- ");
		format_expression(format, item->child[1], POWER_POSTFIX, 2);
		return;
	default:
		format_put(format, item->name);
	}
}

/* Of items whose neighbours are aligned with them; false for others. */
static bool put_name_head(struct format *format, const struct ast *item)
{
	switch (item->kind) {
	case AST_FIELD:
	case AST_IN:
		format_put(format, item->name);
		return true;
	case AST_LET:
		format_put(format, "let ");
		format_put(format, item->name);
		return true;
	case AST_PARAM:
		format_put(format, "param ");
		format_put(format, item->name);
		if (!item->child[0])
			return true;
		format_put(format, ": ");
		format_put(format, item->child[0]->name);
		return true;
	default:
		return false;
	}
}

static bool is_aligned(enum ast_kind kind)
{
	return kind == AST_FIELD || kind == AST_IN || kind == AST_LET ||
	       kind == AST_PARAM;
}

/* ---- items ---- */

static void put_named(struct format *format, const struct ast *item,
		      const struct alignment *alignment)
{
	uint32_t begin = format->column;

	put_name_head(format, item);
	if (alignment->name && !format->is_flat)
		format_pad(format, begin + alignment->name);
	if (item->kind == AST_IN) {
		format_put(format, " in ");
		format_expression(format, item->child[0],
				  item->child[0]->kind == AST_SET ?
					  POWER_VALUE : POWER_RANGE, 0);
		return;
	}
	format_put(format, " = ");
	format_expression(format, item->child[item->child_count - 1],
			  POWER_VALUE, 0);
}

static void put_split(struct format *format, const struct ast *item)
{
	const struct ast *pad = item->child[0];

	format_put(format, "split ");
	for (uint32_t i = 1; i < item->child_count; i++) {
		if (i > 1)
			format_put(format, ", ");
		format_put(format, item->child[i]->name);
	}
	format_put(format, " by ");
	format_put(format, item->name);
	if (!pad)
		return;
	format_put(format, " pad ");
	format_expression(format, pad, POWER_OR, 0);
}

/* A further part of a requirement: on the next line where it does not fit. */
static void put_clause(struct format *format, const char *word,
		       const struct ast *node)
{
	uint32_t width = format_measure(format, node, POWER_OR, FORMAT_WIDTH);
	uint32_t needed = (uint32_t)strlen(word) + 2 + width;

	if (!format->is_flat && format->column + needed > FORMAT_WIDTH) {
		format_newline(format);
		format_pad(format, format->indent + 2);
	} else {
		format_put(format, " ");
	}
	format_put(format, word);
	format_put(format, " ");
	format_expression(format, node, POWER_OR, 0);
}

static void put_require(struct format *format, const struct ast *item)
{
	bool has_clause = item->child[1] || item->child[2];

	if (!item->name)
		format_put(format, "require ");
	format_expression(format, item->child[0],
			  has_clause ? POWER_OR : POWER_CONDITIONAL, 0);
	if (item->child[1])
		put_clause(format, "when", item->child[1]);
	if (item->child[2])
		put_clause(format, "else", item->child[2]);
}

static void put_minimize(struct format *format, const struct ast *item)
{
	format_put(format, "minimize ");
	for (uint32_t i = 0; i < item->child_count; i++) {
		if (i)
			put_clause(format, "then", item->child[i]);
		else
			format_expression(format, item->child[i],
					  item->child_count > 1 ?
						  POWER_OR : POWER_CONDITIONAL,
					  0);
	}
}

static void put_within(struct format *format, const struct ast *item)
{
	if (item->child[0]) {
		format_expression(format, item->child[0], POWER_OR, 7);
		format_put(format, " within ");
	} else {
		format_put(format, "avoid ");
	}
	format_expression(format, item->child[1],
			  item->child[0] ? POWER_OR : POWER_VALUE, 0);
}

static void put_import(struct format *format, const struct ast *item)
{
	format_put(format, "import ");
	format_expression(format, item->child[0], POWER_VALUE, 0);
	if (!item->name)
		return;
	format_put(format, " as ");
	format_put(format, item->name);
}

static void put_function(struct format *format, const struct ast *item)
{
	if (item->kind == AST_EXTERN) {
		format_put(format, "extern ");
		format_string(format, item->child[0]->text);
		format_put(format, " ");
	}
	format_put(format, "fn ");
	format_put(format, item->name);
	if (item->kind == AST_EXTERN) {
		format_parameters(format, item->child[1], 4);
		format_put(format, " -> ");
		format_put(format, item->child[2]->name);
		return;
	}
	format_parameters(format, item->child[0], 3);
	format_put(format, " = ");
	format_expression(format, item->child[1], POWER_VALUE, 0);
}

static void put_word_item(struct format *format, const char *word,
			  const struct ast *expression,
			  enum binding_power power)
{
	format_put(format, word);
	format_put(format, " ");
	format_expression(format, expression, power, 0);
}

/* An item without a body. */
static void put_plain_item(struct format *format, const struct ast *item,
			   const struct alignment *alignment)
{
	switch (item->kind) {
	case AST_VALUE:
		format_put(format, item->name);
		format_put(format, " : ");
		format_expression(format, item->child[0], POWER_VALUE, 0);
		return;
	case AST_SPLIT:
		put_split(format, item);
		return;
	case AST_RETURN:
		put_word_item(format, "return", item->child[0],
			      POWER_CONDITIONAL);
		return;
	case AST_EXPECT:
		put_word_item(format, "expect", item->child[0],
			      POWER_CONDITIONAL);
		return;
	case AST_ITEM:
		format_expression(format, item->child[0], POWER_CONDITIONAL, 0);
		return;
	case AST_REQUIRE:
		put_require(format, item);
		return;
	case AST_PREFER:
		put_word_item(format, "prefer", item->child[0], POWER_OR);
		put_clause(format, "weight", item->child[1]);
		return;
	case AST_MINIMIZE:
		put_minimize(format, item);
		return;
	case AST_WITHIN:
		put_within(format, item);
		return;
	case AST_SWITCH_ITEM:
		put_word_item(format, "switch", item->child[0], POWER_POSTFIX);
		return;
	case AST_NODE_ITEM:
	case AST_LINK:
		put_block_head(format, item);
		return;
	case AST_IMPORT:
		put_import(format, item);
		return;
	case AST_FUNCTION:
	case AST_EXTERN:
		put_function(format, item);
		return;
	default:
		put_named(format, item, alignment);
	}
}

/* ---- bodies on one line ---- */

static bool is_on_one_line(const struct format *format, const struct ast *body)
{
	return format_source_line(format, body->span.begin) ==
	       format_source_line(format, body->span.end - 1);
}

/* Whether an item on the same line needs a comma before it: a bare expression
 * is hard to tell from what stands beside it. */
static bool needs_comma(const struct ast *before, const struct ast *item)
{
	switch (before->kind) {
	case AST_FIELD:
	case AST_IN:
	case AST_LET:
	case AST_VALUE:
	case AST_BLOCK:
	case AST_NAMED_BLOCK:
	case AST_MINIMIZE:
		break;
	default:
		return true;
	}
	return item->kind != AST_FIELD && item->kind != AST_IN &&
	       item->kind != AST_LET && item->kind != AST_BLOCK &&
	       item->kind != AST_NAMED_BLOCK && item->kind != AST_MINIMIZE &&
	       item->kind != AST_VALUE;
}

static void put_body_flat(struct format *format, const struct ast *body,
			  const struct alignment *alignment)
{
	uint32_t begin = 0;

	if (!body->child_count && !format_comments_in(format, body->span)) {
		format_put(format, "{}");
		return;
	}
	if (!is_on_one_line(format, body))
		format->has_failed = true;
	format_put(format, "{ ");
	for (uint32_t i = 0; i < body->child_count && !format->has_failed; i++) {
		if (i && needs_comma(body->child[i - 1], body->child[i])) {
			format_put(format, ", ");
		} else if (i) {
			if (i <= alignment->cell_count)
				format_pad(format,
					   begin + alignment->cell[i - 1]);
			format_put(format, "  ");
		}
		begin = format->column;
		put_item(format, body->child[i], &(struct alignment){ 0 });
	}
	format_put(format, " }");
}

/* ---- bodies of several lines ---- */

static bool follows(const struct format *format, const struct ast *before,
		    const struct ast *item)
{
	return format_source_line(format, item->span.begin) <=
	       format_source_line(format, before->span.end - 1) + 1;
}

static uint32_t head_width(struct format *format, const struct ast *item)
{
	struct format flat = format_measuring(format, FORMAT_WIDTH);

	if (!put_name_head(&flat, item))
		put_block_head(&flat, item);
	return format_measured(&flat);
}

/* The neighbours of item number `first` that are aligned with it, and how. */
static uint32_t align_names(struct format *format, const struct ast *body,
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
	const struct ast *body = body_of(item);

	if (!body || !body->child_count ||
	    format_comments_in(format, item->span) ||
	    !is_on_one_line(format, body))
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
			const struct ast *row = body_of(body->child[i]);

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
		const struct ast *row = body_of(body->child[i]);
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

	put_item(&flat, item, alignment);
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
static uint32_t align_rows(struct format *format, const struct ast *body,
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

/* Whether an item must be kept apart from the next by more than a line break:
 * `level` alone would be taken together with a name on the next line, as a
 * `split` would be with a `pad`. */
static bool needs_separator(const struct ast *item, const struct ast *next)
{
	static const char *const words[] = {
		"level", "plan", "node", "link", "switch"
	};

	if (!next)
		return false;
	if (item->kind == AST_SPLIT)
		return !item->child[0];
	if (item->kind != AST_ITEM || item->child[0]->kind != AST_NAME ||
	    item->child[0]->parentheses)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(item->child[0]->name, words[i]) == 0)
			return true;
	return false;
}

/* Whether a split's neighbour begins with the word. */
static bool begins_with_pad(const struct format *format, const struct ast *item)
{
	return strncmp(format->source->bytes + item->span.begin, "pad", 3) == 0;
}

/* Where a list of items stands in the source, while it is written. */
struct progress {
	uint32_t line;			/* of the source, written last */
	bool is_first;			/* nothing has been written yet */
};

/* Keeps one of the empty lines before something. */
static void keep_gap(struct format *format, struct progress *progress,
		     uint32_t offset)
{
	if (!progress->is_first &&
	    format_source_line(format, offset) > progress->line + 1)
		format_newline(format);
	progress->is_first = false;
}

/* Comments on lines of their own up to a place of the source. */
static void put_comments(struct format *format, struct progress *progress,
			 uint32_t until)
{
	const struct span *comment;

	while ((comment = format_comment_before(format, until))) {
		keep_gap(format, progress, comment->begin);
		progress->line = format_source_line(format, comment->begin);
		format_own_line(format);
	}
}

/* Ends a line, with the comment that stands behind it in the source. */
static void end_line(struct format *format, struct progress *progress,
		     uint32_t until)
{
	const struct span *comment = format_comment_before(format, until);

	if (comment &&
	    format_source_line(format, comment->begin) == progress->line)
		format_tail(format);
	format_newline(format);
}

static void put_items(struct format *format, const struct ast *body,
		      struct progress *progress, uint32_t end)
{
	struct alignment alignment = { 0 };
	uint32_t aligned = 0;		/* items before this one are aligned */

	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];
		const struct ast *next = i + 1 < body->child_count ?
						 body->child[i + 1] : NULL;

		if (i == aligned) {
			alignment = (struct alignment){ 0 };
			aligned += is_aligned(item->kind) ?
				align_names(format, body, i, &alignment) :
				align_rows(format, body, i, &alignment);
		}
		put_comments(format, progress, item->span.begin);
		keep_gap(format, progress, item->span.begin);
		format_pad(format, format->indent);
		put_item(format, item, &alignment);
		if (needs_separator(item, next) &&
		    (item->kind != AST_SPLIT || begins_with_pad(format, next)))
			format_put(format, ";");
		progress->line = format_source_line(format, item->span.end - 1);
		end_line(format, progress, next ? next->span.begin : end);
	}
	put_comments(format, progress, end);
}

static void put_body_by_lines(struct format *format, const struct ast *body)
{
	uint32_t end = body->span.end - 1;
	struct progress progress = {
		.line = format_source_line(format, body->span.begin),
		.is_first = true,
	};

	if (!body->child_count && !format_comments_in(format, body->span)) {
		format_put(format, "{}");
		return;
	}
	format_put(format, "{");
	end_line(format, &progress,
		 body->child_count ? body->child[0]->span.begin : end);
	format->indent += 2;
	put_items(format, body, &progress, end);
	format->indent -= 2;
	format_pad(format, format->indent);
	format_put(format, "}");
}

static void put_body(struct format *format, const struct ast *body,
		     const struct alignment *alignment)
{
	struct format flat;

	if (format->is_flat) {
		put_body_flat(format, body, alignment);
		return;
	}
	flat = format_measuring(format, FORMAT_BLOCK_WIDTH);
	put_body_flat(&flat, body, alignment);
	if (format->column + format_measured(&flat) > FORMAT_BLOCK_WIDTH) {
		put_body_by_lines(format, body);
		return;
	}
	format->is_flat = true;
	put_body_flat(format, body, alignment);
	format->is_flat = false;
}

void format_body(struct format *format, const struct ast *body)
{
	put_body(format, body, &(struct alignment){ 0 });
}

/* ---- any item ---- */

static void put_block(struct format *format, const struct ast *item,
		      const struct alignment *alignment)
{
	const struct ast *body = body_of(item);
	uint32_t begin = format->column;

	put_block_head(format, item);
	if (alignment->head)
		format_pad(format, begin + alignment->head);
	format_put(format, " ");
	format->in_template = item->kind == AST_TEMPLATE;
	put_body(format, body, alignment);
	format->in_template = false;
}

/* A block whose head has comments in odd places: that head as it stands. */
static void copy_head(struct format *format, const struct ast *item)
{
	const struct ast *body = body_of(item);
	const char *bytes = format->source->bytes;
	struct span head = item->span;
	size_t last = format->next;

	head.end = body->span.begin;
	while (last < format->comments.count &&
	       format->comments.at[last].begin < head.end)
		last++;
	while (head.end > head.begin && strchr(" \t\r\n", bytes[head.end - 1]))
		head.end--;
	format_copy(format, head);
	if (last && format->comments.at[last - 1].end >= head.end) {
		format_newline(format);
		format_pad(format, format->indent);
	} else {
		format_put(format, " ");
	}
	format_body(format, body);
}

static void put_item(struct format *format, const struct ast *item,
		     const struct alignment *alignment)
{
	const struct ast *body = body_of(item);

	if (!format->is_flat && !format_is_laid_out(format, item)) {
		if (body)
			copy_head(format, item);
		else
			format_copy(format, item->span);
	} else if (body && item->kind != AST_FIELD) {
		put_block(format, item, alignment);
	} else {
		put_plain_item(format, item, alignment);
	}
}

uint32_t format_measure_item(struct format *format, const struct ast *item,
			     uint32_t limit)
{
	struct format flat = format_measuring(format, limit);

	put_item(&flat, item, &(struct alignment){ 0 });
	return format_measured(&flat);
}

/* ---- files ---- */

/* The place of `nest 1` in the source. */
static struct span find_edition(const struct format *format)
{
	const char *bytes = format->source->bytes;
	struct span edition = { .begin = 0 };

	/* A byte order mark is no text. */
	if (strncmp(bytes, "\xef\xbb\xbf", 3) == 0)
		edition.begin = 3;
	edition.begin = source_skip_blanks(format->source, edition.begin);
	edition.end = source_skip_blanks(format->source, edition.begin + 4);
	while (edition.end < format->source->length &&
	       !strchr(" \t\r\n#,;", bytes[edition.end]))
		edition.end++;
	return edition;
}

static void put_edition(struct format *format, struct progress *progress,
			const struct ast *tree)
{
	struct span edition = find_edition(format);

	put_comments(format, progress, edition.begin);
	keep_gap(format, progress, edition.begin);
	if (format_comments_in(format, edition))
		format_copy(format, edition);
	else
		format_put(format, "nest 1");
	progress->line = format_source_line(format, edition.end - 1);
	end_line(format, progress,
		 tree->child_count ? tree->child[0]->span.begin :
				     format->source->length);
}

bool format_source(struct compilation *compilation, uint32_t file,
		   struct text *out)
{
	struct text text;
	struct format format = {
		.arena = &compilation->arena,
		.source = compilation->sources.at[file],
		.out = &text,
	};
	struct progress progress = { .line = 1, .is_first = true };
	struct ast *tree;
	bool is_clean;

	tree = parse_file_and_comments(compilation, file, &is_clean,
				       &format.comments);
	if (!is_clean)
		return false;
	text_init(&text, &compilation->arena);
	put_edition(&format, &progress, tree);
	put_items(&format, tree, &progress, format.source->length);
	format_finish(&format, out);
	return true;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool format_same(const struct ast *a, const struct ast *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->child_count != b->child_count ||
	    !same_text(a->name, b->name) || a->number != b->number ||
	    !unit_equal(a->unit, b->unit))
		return false;
	if (a->kind != AST_NUMBER && !same_text(a->text, b->text))
		return false;
	for (uint32_t i = 0; i < a->child_count; i++)
		if (!format_same(a->child[i], b->child[i]))
			return false;
	return true;
}

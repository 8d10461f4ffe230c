/* SPDX-License-Identifier: MIT
 *
 * Bodies and files. An item has a line of its own; the `=` of neighbouring
 * fields are aligned, and so are the parts of neighbouring blocks of one line.
 * A block stays on one line if it was written so and fits.
 */
#include "lang/format.h"

#include <string.h>

#include "lang/compilation.h"
#include "lang/format_internal.h"

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

/* ---- bodies on one line ---- */

bool format_is_on_one_line(const struct format *format, const struct ast *body)
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
	if (!format_is_on_one_line(format, body))
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
		format_item(format, body->child[i], &(struct alignment){ 0 });
	}
	format_put(format, " }");
}

/* ---- bodies of several lines ---- */

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
			aligned += format_is_aligned(item->kind) ?
				format_align_names(format, body, i, &alignment) :
				format_align_rows(format, body, i, &alignment);
		}
		put_comments(format, progress, item->span.begin);
		keep_gap(format, progress, item->span.begin);
		format_pad(format, format->indent);
		format_item(format, item, &alignment);
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
	const struct ast *body = format_body_of(item);
	uint32_t begin = format->column;

	format_block_head(format, item);
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
	const struct ast *body = format_body_of(item);
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

void format_item(struct format *format, const struct ast *item,
		 const struct alignment *alignment)
{
	const struct ast *body = format_body_of(item);

	if (!format->is_flat && !format_is_laid_out(format, item)) {
		if (body)
			copy_head(format, item);
		else
			format_copy(format, item->span);
	} else if (body && item->kind != AST_FIELD) {
		put_block(format, item, alignment);
	} else {
		format_plain_item(format, item, alignment);
	}
}

uint32_t format_measure_item(struct format *format, const struct ast *item,
			     uint32_t limit)
{
	struct format flat = format_measuring(format, limit);

	format_item(&flat, item, &(struct alignment){ 0 });
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

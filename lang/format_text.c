/* SPDX-License-Identifier: MIT
 *
 * Writing formatted text: columns, comments, and copies of the source.
 */
#include <string.h>

#include "lang/format_internal.h"

/* Lines longer than this do not push the comments of their neighbours. */
#define LONG_LINE 60u

/* Columns of the indentation that a tab stands for in an old text. */
#define TAB_WIDTH 8u

void format_put_bytes(struct format *format, const char *bytes, size_t length)
{
	format->column += format_width(bytes, length);
	if (format->is_silent)
		format->has_failed |= format->column > format->limit;
	else
		text_append_bytes(format->out, bytes, length);
}

void format_put(struct format *format, const char *string)
{
	format_put_bytes(format, string, strlen(string));
}

uint32_t format_width(const char *bytes, size_t length)
{
	uint32_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return width;
}

void format_pad(struct format *format, uint32_t column)
{
	while (format->column < column)
		format_put_bytes(format, " ", 1);
}

void format_newline(struct format *format)
{
	if (format->is_flat) {
		format->has_failed = true;
		return;
	}
	text_append_char(format->out, '\n');
	format->column = 0;
	format->line++;
}

/* ---- the source ---- */

uint32_t format_source_line(const struct format *format, uint32_t offset)
{
	return source_place(format->source, offset).line;
}

/* The first comment that begins at an offset or behind it. */
static size_t comment_from(const struct format *format, uint32_t offset)
{
	size_t low = 0, high = format->comments.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (format->comments.at[middle].begin < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t format_comments_in(const struct format *format, struct span span)
{
	return comment_from(format, span.end) - comment_from(format, span.begin);
}

const struct span *format_comment_before(const struct format *format,
					 uint32_t offset)
{
	if (format->next >= format->comments.count ||
	    format->comments.at[format->next].begin >= offset)
		return NULL;
	return &format->comments.at[format->next];
}

/* ---- comments ---- */

/* A comment without blanks at its end. */
static size_t comment_length(const struct format *format, struct span comment)
{
	const char *bytes = format->source->bytes + comment.begin;
	size_t length = comment.end - comment.begin;

	while (length && strchr(" \t\r\f\v", bytes[length - 1]))
		length--;
	return length;
}

void format_own_line(struct format *format)
{
	struct span comment = format->comments.at[format->next++];

	format_pad(format, format->indent);
	format_put_bytes(format, format->source->bytes + comment.begin,
			 comment_length(format, comment));
	format_newline(format);
}

void format_tail(struct format *format)
{
	struct format_tail tail = {
		.at = format->out->length,
		.line = format->line,
		.width = format->column,
		.comment = format->comments.at[format->next++],
	};

	VEC_PUSH(&format->tails, format->arena, tail);
}

static bool is_long(const struct format_tail *tail)
{
	return tail->width > LONG_LINE;
}

/* Tails on lines that follow each other, from one on. */
static size_t run_length(const struct format *format, size_t first)
{
	size_t count = 1;

	while (first + count < format->tails.count &&
	       format->tails.at[first + count].line ==
		       format->tails.at[first].line + count)
		count++;
	return count;
}

/* The column of the comments of a run, for its long or its short lines. */
static uint32_t run_column(const struct format_tail *tail, size_t count,
			   bool of_long)
{
	uint32_t column = FORMAT_COMMENT_COLUMN;

	for (size_t i = 0; i < count; i++)
		if (is_long(&tail[i]) == of_long && tail[i].width + 2 > column)
			column = tail[i].width + 2;
	return column;
}

static void add_tail(const struct format *format,
		     const struct format_tail *tail, uint32_t column,
		     struct text *out)
{
	for (uint32_t i = tail->width; i < column; i++)
		text_append_char(out, ' ');
	text_append_bytes(out, format->source->bytes + tail->comment.begin,
			  comment_length(format, tail->comment));
}

void format_finish(struct format *format, struct text *out)
{
	const struct format_tail *tails = format->tails.at;
	size_t done = 0;

	for (size_t i = 0; i < format->tails.count;) {
		size_t count = run_length(format, i);
		uint32_t column[2] = { run_column(&tails[i], count, false),
				       run_column(&tails[i], count, true) };

		for (; count; count--, i++) {
			text_append_bytes(out, format->out->at + done,
					  tails[i].at - done);
			done = tails[i].at;
			add_tail(format, &tails[i], column[is_long(&tails[i])],
				 out);
		}
	}
	text_append_bytes(out, format->out->at + done,
			  format->out->length - done);
}

/* ---- copies ---- */

static uint32_t blank_width(const char *bytes, size_t length)
{
	uint32_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += bytes[i] == '\t' ? TAB_WIDTH - width % TAB_WIDTH : 1;
	return width;
}

/* The column of the source at which a byte stands. */
static uint32_t source_column(const struct format *format, uint32_t offset)
{
	const char *bytes = format->source->bytes;
	uint32_t begin = offset, blanks;

	while (begin && bytes[begin - 1] != '\n')
		begin--;
	blanks = begin;
	while (blanks < offset && (bytes[blanks] == ' ' || bytes[blanks] == '\t'))
		blanks++;
	return blank_width(bytes + begin, blanks - begin) +
	       format_width(bytes + blanks, offset - blanks);
}

static uint32_t line_end(const struct format *format, uint32_t at, uint32_t end)
{
	while (at < end && format->source->bytes[at] != '\n')
		at++;
	return at;
}

/* The range without blanks at its end. */
static uint32_t trimmed(const struct format *format, uint32_t at, uint32_t end)
{
	while (end > at && strchr(" \t\r", format->source->bytes[end - 1]))
		end--;
	return end;
}

void format_copy(struct format *format, struct span span)
{
	const char *bytes = format->source->bytes;
	int64_t moved = (int64_t)format->column -
			source_column(format, span.begin);
	uint32_t at = span.begin, end = line_end(format, at, span.end);
	bool was_empty = false;

	format_put_bytes(format, bytes + at, trimmed(format, at, end) - at);
	while (end < span.end) {
		int64_t column;
		uint32_t length;

		at = end + 1;
		while (at < span.end && (bytes[at] == ' ' || bytes[at] == '\t'))
			at++;
		column = blank_width(bytes + end + 1, at - end - 1) + moved;
		end = line_end(format, at, span.end);
		length = trimmed(format, at, end) - at;
		if (was_empty && !length)
			continue;
		was_empty = !length;
		format_newline(format);
		/* Never as far out as an item. */
		if (column < format->indent + 2)
			column = format->indent + 2;
		if (length)
			format_pad(format, (uint32_t)column);
		format_put_bytes(format, bytes + at, length);
	}
	format->next = comment_from(format, span.end);
}

/* SPDX-License-Identifier: MIT
 *
 * Diagnostics for people: place and message, the source line with carets
 * under it, then notes and advice. Columns are those of a terminal: tabs reach
 * to the next multiple of eight, wide characters take two cells. Long lines
 * are cut around what they are shown for.
 */
#include "lang/diag.h"

#include <string.h>

#define GUTTER "      | "
#define WIDTH_MAX 100		/* cells of a source line that are shown */
#define WIDTH_BEFORE 40		/* of those, before the mark when cut */
#define MARKS_MAX 16		/* ranges drawn for one diagnostic */

#define COLOUR_ERROR "1;31"
#define COLOUR_WARNING "1;35"
#define COLOUR_NOTE "1;36"
#define COLOUR_HELP "1;32"
#define COLOUR_PLACE "1"
#define COLOUR_GUTTER "34"

struct painter {
	const struct sources *sources;
	struct text *out;
	bool colour;
	const char *mark_colour;	/* of the primary range */
};

static void begin_colour(const struct painter *painter, const char *colour)
{
	if (painter->colour)
		text_printf(painter->out, "\033[%sm", colour);
}

static void end_colour(const struct painter *painter)
{
	if (painter->colour)
		text_append(painter->out, "\033[0m");
}

static void paint(const struct painter *painter, const char *colour,
		  const char *text)
{
	begin_colour(painter, colour);
	text_append(painter->out, text);
	end_colour(painter);
}

/* One character of a line as it is shown. */
struct cell {
	uint32_t bytes;		/* it takes in the source */
	uint32_t width;		/* it takes on the screen */
	bool printable;
};

static uint32_t decode(const unsigned char *text, uint32_t left,
		       uint32_t *bytes)
{
	uint32_t length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 :
			  text[0] < 0xf0 ? 3 : 4;
	uint32_t character;

	*bytes = 1;
	if (length == 1)
		return text[0];
	if (text[0] < 0xc2 || text[0] > 0xf4 || length > left)
		return UINT32_MAX;
	character = text[0] & (0xffu >> (length + 1));
	for (uint32_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		character = character << 6 | (text[i] & 0x3f);
	}
	*bytes = length;
	return character;
}

struct character_range {
	uint32_t first, last;
};

static bool is_among(const struct character_range *range, size_t count,
		     uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= range[i].first && character <= range[i].last)
			return true;
	return false;
}

#define IS_AMONG(ranges, character) \
	is_among((ranges), sizeof(ranges) / sizeof((ranges)[0]), (character))

/* Control characters and those that change the direction of writing, which
 * could make a terminal show something else than what is there. */
static const struct character_range unprintable[] = {
	{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0x200b, 0x200f },
	{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
	{ UINT32_MAX, UINT32_MAX },
};
static const struct character_range combining[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd },
	{ 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x900, 0x902 },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};
static const struct character_range wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf },
	{ 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1faff }, { 0x20000, 0x3fffd },
};

static struct cell next_cell(const char *text, uint32_t left, uint32_t column)
{
	struct cell cell = { .bytes = 1, .width = 1, .printable = true };
	uint32_t character;

	if (*text >= ' ' && *text < 0x7f)
		return cell;
	if (*text == '\t') {
		cell.width = 8 - column % 8;
		return cell;
	}
	character = decode((const unsigned char *)text, left, &cell.bytes);
	cell.printable = !IS_AMONG(unprintable, character);
	if (cell.printable && IS_AMONG(combining, character))
		cell.width = 0;
	else if (IS_AMONG(wide, character))
		cell.width = 2;
	return cell;
}

/* The column of the screen, from 0, at which a byte of a line stands. */
static uint32_t column_at(const char *line, uint32_t length, uint32_t offset)
{
	uint32_t column = 0;

	for (uint32_t at = 0; at < offset && at < length;) {
		struct cell cell = next_cell(line + at, length - at, column);

		at += cell.bytes;
		column += cell.width;
	}
	return column;
}

/* A part of one line to be marked, in screen columns. */
struct mark {
	uint32_t line;
	uint32_t begin, end;
	const char *label;
	bool is_primary;
};

struct drawing {
	const struct source *source;
	struct mark mark[MARKS_MAX];
	unsigned count;
};

static void add_mark(struct drawing *drawing, uint32_t line, uint32_t begin,
		     uint32_t end, const char *label, bool is_primary)
{
	const struct source *source = drawing->source;
	uint32_t line_begin = source->line_begin[line - 1];
	uint32_t length;
	const char *text = source_line(source, line, &length);
	struct mark *mark = &drawing->mark[drawing->count++];

	*mark = (struct mark){
		.line = line,
		.begin = column_at(text, length, begin - line_begin),
		.end = column_at(text, length, end - line_begin),
		.label = label && *label ? label : NULL,
		.is_primary = is_primary,
	};
	/* An empty range, or one behind the end of the line. */
	if (mark->end <= mark->begin)
		mark->end = mark->begin + 1;
}

static uint32_t indentation(const char *text, uint32_t length)
{
	uint32_t at = 0;

	while (at < length && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

/* A range over several lines is marked on its first and its last. */
static void add_range(struct drawing *drawing, struct span span,
		      const char *label, bool is_primary)
{
	const struct source *source = drawing->source;
	uint32_t first = source_place(source, span.begin).line;
	uint32_t last = source_place(source, span.end > span.begin
						     ? span.end - 1
						     : span.begin).line;
	uint32_t length, begin;
	const char *text;

	if (drawing->count + 2 > MARKS_MAX)
		return;
	if (first == last) {
		add_mark(drawing, first, span.begin, span.end, label,
			 is_primary);
		return;
	}
	source_line(source, first, &length);
	begin = source->line_begin[first - 1];
	add_mark(drawing, first, span.begin, begin + length, NULL, is_primary);
	text = source_line(source, last, &length);
	begin = source->line_begin[last - 1];
	add_mark(drawing, last, begin + indentation(text, length), span.end,
		 label, false);
}

/* The columns of a line that are shown. */
struct window {
	uint32_t begin, end;
	bool cut_left;
};

static struct window choose_window(uint32_t width, uint32_t mark_begin)
{
	struct window window = { .begin = 0, .end = width };

	if (width <= WIDTH_MAX)
		return window;
	if (mark_begin > WIDTH_MAX - WIDTH_BEFORE) {
		window.begin = mark_begin - WIDTH_BEFORE;
		window.cut_left = true;
	}
	if (window.end - window.begin > WIDTH_MAX)
		window.end = window.begin + WIDTH_MAX;
	return window;
}

static void append_blanks(struct text *out, uint32_t count)
{
	while (count--)
		text_append_char(out, ' ');
}

static void draw_source(const struct painter *painter, const char *text,
			uint32_t length, struct window window)
{
	uint32_t column = 0;

	if (window.cut_left)
		text_append(painter->out, "…");
	for (uint32_t at = 0; at < length && column < window.end;) {
		struct cell cell = next_cell(text + at, length - at, column);

		if (column < window.begin) {
			/* A character half inside leaves blanks. */
			if (column + cell.width > window.begin)
				append_blanks(painter->out, column +
					      cell.width - window.begin);
		} else if (text[at] == '\t') {
			append_blanks(painter->out, cell.width);
		} else if (!cell.printable) {
			text_append(painter->out, "\xef\xbf\xbd");
		} else {
			text_append_bytes(painter->out, text + at, cell.bytes);
		}
		at += cell.bytes;
		column += cell.width;
		if (column >= window.end && at < length)
			text_append(painter->out, "…");
	}
	text_append_char(painter->out, '\n');
}

static void draw_gutter(const struct painter *painter, uint32_t line)
{
	begin_colour(painter, COLOUR_GUTTER);
	if (line)
		text_printf(painter->out, "%5u | ", line);
	else
		text_append(painter->out, GUTTER);
	end_colour(painter);
}

/* Which mark of the line covers a column; the primary range wins. */
static const struct mark *mark_at(const struct mark *const *marks,
				  unsigned count, uint32_t column)
{
	const struct mark *found = NULL;

	for (unsigned i = 0; i < count; i++) {
		if (column < marks[i]->begin || column >= marks[i]->end)
			continue;
		if (!found || marks[i]->is_primary)
			found = marks[i];
	}
	return found;
}

static void draw_label(const struct painter *painter, const struct mark *mark)
{
	paint(painter, mark->is_primary ? painter->mark_colour : COLOUR_NOTE,
	      mark->label);
}

/* The line of ^ and ~, with the label of the rightmost mark behind it. */
static void draw_underline(const struct painter *painter,
			   const struct mark *const *marks, unsigned count,
			   struct window window)
{
	const struct mark *rightmost = marks[count - 1];
	uint32_t end = 0;

	for (unsigned i = 0; i < count; i++)
		if (marks[i]->end > end)
			end = marks[i]->end;
	if (end > window.end + 1)
		end = window.end + 1;
	draw_gutter(painter, 0);
	append_blanks(painter->out, window.cut_left);
	for (uint32_t column = window.begin; column < end; column++) {
		const struct mark *mark = mark_at(marks, count, column);

		if (!mark)
			text_append_char(painter->out, ' ');
		else
			paint(painter,
			      mark->is_primary ? painter->mark_colour
					       : COLOUR_NOTE,
			      mark->is_primary && column == mark->begin ? "^"
									: "~");
	}
	if (rightmost->label) {
		text_append_char(painter->out, ' ');
		draw_label(painter, rightmost);
	}
	text_append_char(painter->out, '\n');
}

static void draw_line(const struct painter *painter,
		      const struct source *source,
		      const struct mark *const *marks, unsigned count)
{
	uint32_t line = marks[0]->line;
	uint32_t length, width, focus = marks[0]->begin;
	const char *text = source_line(source, line, &length);
	struct window window;

	width = column_at(text, length, length);
	for (unsigned i = 0; i < count; i++)
		if (marks[i]->is_primary)
			focus = marks[i]->begin;
	window = choose_window(width, focus);
	draw_gutter(painter, line);
	draw_source(painter, text, length, window);
	draw_underline(painter, marks, count, window);
	for (unsigned i = count - 1; i-- > 0;) {
		if (!marks[i]->label || marks[i]->begin < window.begin)
			continue;
		draw_gutter(painter, 0);
		append_blanks(painter->out, marks[i]->begin - window.begin +
					    window.cut_left);
		draw_label(painter, marks[i]);
		text_append_char(painter->out, '\n');
	}
}

/* Draws each line that has marks, in the order its first mark was added. */
static void draw(const struct painter *painter, const struct drawing *drawing)
{
	bool drawn[MARKS_MAX] = { false };
	uint32_t line_before = 0;

	for (unsigned i = 0; i < drawing->count; i++) {
		const struct mark *marks[MARKS_MAX] = { &drawing->mark[i] };
		unsigned count = 0;

		if (drawn[i])
			continue;
		for (unsigned j = i; j < drawing->count; j++) {
			const struct mark *mark = &drawing->mark[j];
			unsigned at = count;

			if (mark->line != drawing->mark[i].line)
				continue;
			drawn[j] = true;
			for (; at && marks[at - 1]->begin > mark->begin; at--)
				marks[at] = marks[at - 1];
			marks[at] = mark;
			count++;
		}
		if (line_before && marks[0]->line > line_before + 1)
			paint(painter, COLOUR_GUTTER, "  ...\n");
		draw_line(painter, drawing->source, marks, count);
		line_before = marks[0]->line;
	}
}

static const struct source *source_of(const struct painter *painter,
				      struct span span)
{
	if (span.file >= painter->sources->count)
		return NULL;
	return painter->sources->at[span.file];
}

static void append_place(const struct painter *painter, struct span span)
{
	const struct source *source = source_of(painter, span);
	struct place place;

	if (!source)
		return;
	place = source_place(source, span.begin);
	begin_colour(painter, COLOUR_PLACE);
	text_printf(painter->out, "%s:%u:%u:", source->name, place.line,
		    place.column);
	end_colour(painter);
	text_append_char(painter->out, ' ');
}

/* The primary range and the labels in the same file, then those in others. */
static void draw_ranges(const struct painter *painter,
			const struct diagnostic *diag)
{
	struct drawing drawing = { .source = source_of(painter, diag->span) };
	const struct diag_part *part;

	if (drawing.source) {
		add_range(&drawing, diag->span, diag->label, true);
		for (part = diag->parts; part; part = part->next)
			if (part->kind == DIAG_LABEL &&
			    part->span.file == diag->span.file)
				add_range(&drawing, part->span, part->text,
					  false);
		draw(painter, &drawing);
	}
	for (part = diag->parts; part; part = part->next) {
		if (part->kind != DIAG_LABEL ||
		    (drawing.source && part->span.file == diag->span.file) ||
		    !source_of(painter, part->span))
			continue;
		text_append(painter->out, "   ");
		append_place(painter, part->span);
		/* Nothing follows its last blank. */
		painter->out->at[painter->out->length - 1] = '\n';
		drawing.source = source_of(painter, part->span);
		drawing.count = 0;
		add_range(&drawing, part->span, part->text, false);
		draw(painter, &drawing);
		drawing.source = source_of(painter, diag->span);
	}
}

/* Further lines of a text stand under its first. */
static void append_indented(struct text *out, const char *text)
{
	for (; *text; text++) {
		text_append_char(out, *text);
		if (*text == '\n')
			append_blanks(out, 9);
	}
	text_append_char(out, '\n');
}

static void draw_remarks(const struct painter *painter,
			 const struct diagnostic *diag)
{
	const struct diag_part *part;

	for (part = diag->parts; part; part = part->next) {
		if (part->kind != DIAG_REMARK && part->kind != DIAG_HELP)
			continue;
		text_append(painter->out, "   ");
		if (part->kind == DIAG_REMARK)
			paint(painter, COLOUR_NOTE, "note:");
		else
			paint(painter, COLOUR_HELP, "help:");
		text_append_char(painter->out, ' ');
		append_place(painter, part->span);
		append_indented(painter->out, part->text);
	}
}

void diag_render_text(const struct diags *diags, const struct diagnostic *diag,
		      bool colour, struct text *out)
{
	struct painter painter = {
		.sources = diags->sources,
		.out = out,
		.colour = colour,
		.mark_colour = diag->severity == DIAG_ERROR ? COLOUR_ERROR
							    : COLOUR_WARNING,
	};

	if (source_of(&painter, diag->span))
		append_place(&painter, diag->span);
	else
		text_append(out, "nestc: ");
	begin_colour(&painter, painter.mark_colour);
	text_printf(out, "%s[%s]:", diag_severity_name(diag->severity),
		    diag_code_name(diag->code));
	end_colour(&painter);
	text_append_char(out, ' ');
	append_indented(out, diag->message);
	draw_ranges(&painter, diag);
	draw_remarks(&painter, diag);
}

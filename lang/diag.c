/* SPDX-License-Identifier: MIT
 *
 * Collecting diagnostics: reporting, attaching parts, sorting, counting.
 */
#include "lang/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* More than this many are counted but not kept. */
#define KEPT_MAX 2000
/* Levels of a chain of expansions that are told. */
#define FRAMES_MAX 8

static const struct {
	const char *code, *name, *title;
	enum diag_severity severity;
} codes[] = {
#define CODE(enumerator, number, severity, name, title) \
	[enumerator] = { "E0" #number, name, title, severity },
#include "lang/codes.def"
#undef CODE
};

#define CODE(enumerator, number, severity, name, title) \
	_Static_assert((number) >= 100 && (number) <= 999, \
		       "codes are written with four digits");
#include "lang/codes.def"
#undef CODE

const char *diag_code_name(enum diag_code code)
{
	return codes[code].code;
}

const char *diag_code_short_name(enum diag_code code)
{
	return codes[code].name;
}

const char *diag_code_title(enum diag_code code)
{
	return codes[code].title;
}

static bool same_letters(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a | 0x20) != (*b | 0x20))
			return false;
	return !*a && !*b;
}

enum diag_code diag_code_find(const char *name)
{
	int code;

	for (code = 0; code < DIAG_CODE_COUNT; code++)
		if (same_letters(codes[code].code, name))
			break;
	return (enum diag_code)code;
}

const char *diag_severity_name(enum diag_severity severity)
{
	switch (severity) {
	case DIAG_ERROR:
		return "error";
	case DIAG_WARNING:
		return "warning";
	case DIAG_NOTE:
		break;
	}
	return "note";
}

void diags_init(struct diags *diags, struct arena *arena,
		const struct sources *sources)
{
	*diags = (struct diags){
		.arena = arena,
		.sources = sources,
		.errors_max = 20,
	};
}

static char *format_text(struct arena *arena, const char *format,
			 va_list arguments) __attribute__((nonnull(2)));

static char *format_text(struct arena *arena, const char *format,
			 va_list arguments)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		length = 0;
	text = arena_alloc(arena, (size_t)length + 1);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	return text;
}

static struct diag_part *new_part(struct diags *diags,
				  enum diag_part_kind kind, struct span span,
				  const char *text)
{
	struct diag_part *part = ARENA_NEW(diags->arena, struct diag_part);

	part->kind = kind;
	part->span = span;
	part->text = text;
	return part;
}

/* Copies the chain of expansions, which lives on the callers' stacks. */
static struct diag_part *copy_frames(struct diags *diags,
				     const struct diag_frame *left_out)
{
	struct diag_part *first = NULL, **tail = &first;
	const struct diag_frame *frame = diags->frame;
	unsigned count = 0;

	for (; frame && count < FRAMES_MAX; frame = frame->outer, count++) {
		if (frame == left_out)
			continue;
		*tail = new_part(diags, DIAG_REMARK, frame->span,
				 arena_copy(diags->arena, frame->text,
					    strlen(frame->text)));
		tail = &(*tail)->next;
	}
	for (count = 0; frame; frame = frame->outer)
		count++;
	if (count)
		*tail = new_part(diags, DIAG_REMARK, SPAN_NONE,
				 arena_printf(diags->arena,
					      "and %u outer expansions",
					      count));
	return first;
}

static bool is_in_library(const struct diags *diags, struct span span)
{
	return !span_is_nowhere(span) && span.file < diags->sources->count &&
	       diags->sources->at[span.file]->is_embedded;
}

/* What is found while the library is expanded is a mistake of the spec that uses
 * it: the innermost use that stands in a file of people's own, or NULL. */
static const struct diag_frame *own_use(const struct diags *diags,
					struct span span)
{
	const struct diag_frame *frame = diags->frame;

	if (!is_in_library(diags, span))
		return NULL;
	while (frame && (span_is_nowhere(frame->span) ||
			 is_in_library(diags, frame->span)))
		frame = frame->outer;
	return frame;
}

static void keep(struct diags *diags, struct diagnostic *diag)
{
	if (diags->count == KEPT_MAX) {
		diags->errors_dropped += diag->severity == DIAG_ERROR;
		return;
	}
	if (diags->count == diags->capacity) {
		size_t capacity = diags->count ? 2 * diags->count : 16;
		struct diagnostic **at =
			ARENA_ARRAY(diags->arena, struct diagnostic *,
				    capacity);

		if (diags->count)
			memcpy(at, diags->at, diags->count * sizeof(*at));
		diags->at = at;
		diags->capacity = capacity;
	}
	diags->at[diags->count++] = diag;
}

static void report(struct diags *diags, enum diag_code code,
		   enum diag_severity severity, struct span span,
		   const char *format, va_list arguments)
{
	struct diagnostic *diag = ARENA_NEW(diags->arena, struct diagnostic);
	const struct diag_frame *use = own_use(diags, span);

	if (severity == DIAG_WARNING && diags->warnings_are_errors)
		severity = DIAG_ERROR;
	diag->code = code;
	diag->severity = severity;
	diag->span = use ? use->span : span;
	diag->message = format_text(diags->arena, format, arguments);
	diag->tail = &diag->parts;
	if (use) {
		diag->found = new_part(diags, DIAG_LABEL, span, "found here");
		*diag->tail = diag->found;
		diag->tail = &diag->found->next;
	}
	diag->frames = copy_frames(diags, use);
	diag->order = diags->reported++;
	if (severity == DIAG_ERROR)
		diags->errors++;
	else
		diags->warnings++;
	diags->last = diag;
	keep(diags, diag);
}

bool diag_error(struct diags *diags, enum diag_code code, struct span span,
		const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(diags, code, DIAG_ERROR, span, format, arguments);
	va_end(arguments);
	return false;
}

bool diag_warning(struct diags *diags, enum diag_code code, struct span span,
		  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report(diags, code, DIAG_WARNING, span, format, arguments);
	va_end(arguments);
	return false;
}

static void add_part(struct diags *diags, enum diag_part_kind kind,
		     struct span span, const char *text)
{
	struct diagnostic *diag = diags->last;

	if (!diag)
		return;
	*diag->tail = new_part(diags, kind, span, text);
	diag->tail = &(*diag->tail)->next;
}

void diag_caption(struct diags *diags, const char *format, ...)
{
	va_list arguments;

	if (!diags->last)
		return;
	va_start(arguments, format);
	if (diags->last->found)
		diags->last->found->text = format_text(diags->arena, format,
						       arguments);
	else
		diags->last->label = format_text(diags->arena, format,
						 arguments);
	va_end(arguments);
}

void diag_label(struct diags *diags, struct span span, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_part(diags, DIAG_LABEL, span,
		 format_text(diags->arena, format, arguments));
	va_end(arguments);
}

void diag_note(struct diags *diags, struct span span, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_part(diags, DIAG_REMARK, span,
		 format_text(diags->arena, format, arguments));
	va_end(arguments);
}

void diag_help(struct diags *diags, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_part(diags, DIAG_HELP, SPAN_NONE,
		 format_text(diags->arena, format, arguments));
	va_end(arguments);
}

void diag_fix(struct diags *diags, struct span span, const char *replacement)
{
	add_part(diags, DIAG_FIX, span,
		 arena_copy(diags->arena, replacement, strlen(replacement)));
}

void diag_fix_safe(struct diags *diags, struct span span,
		   const char *replacement)
{
	add_part(diags, DIAG_FIX_SAFE, span,
		 arena_copy(diags->arena, replacement, strlen(replacement)));
}

void diag_push_frame(struct diags *diags, struct diag_frame *frame,
		     struct span span, const char *text)
{
	*frame = (struct diag_frame){
		.text = text,
		.span = span,
		.outer = diags->frame,
	};
	diags->frame = frame;
}

void diag_pop_frame(struct diags *diags)
{
	diags->frame = diags->frame->outer;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* By place, then in the order of reporting; those without a place come last. */
static int compare(const void *left, const void *right)
{
	const struct diagnostic *a = *(struct diagnostic *const *)left;
	const struct diagnostic *b = *(struct diagnostic *const *)right;
	int result = compare_numbers(a->span.file, b->span.file);

	if (!result && !span_is_nowhere(a->span))
		result = compare_numbers(a->span.begin, b->span.begin);
	return result ? result : compare_numbers(a->order, b->order);
}

static bool is_repeat(const struct diagnostic *a, const struct diagnostic *b)
{
	return a->code == b->code && a->span.file == b->span.file &&
	       a->span.begin == b->span.begin && a->span.end == b->span.end &&
	       strcmp(a->message, b->message) == 0;
}

/* Whether a diagnostic already stands among those kept at the same place. */
static bool is_kept(struct diagnostic *const *kept, size_t count,
		    const struct diagnostic *diag)
{
	while (count-- && kept[count]->span.file == diag->span.file &&
	       kept[count]->span.begin == diag->span.begin)
		if (is_repeat(kept[count], diag))
			return true;
	return false;
}

/* Sorts, drops repeats and errors beyond the maximum; gives how many of the
 * latter there were, counting those that were never kept. */
static uint32_t select_shown(struct diags *diags)
{
	uint32_t hidden = diags->errors_dropped;
	size_t kept = 0;

	diags->errors_dropped = 0;
	if (diags->count)
		qsort(diags->at, diags->count, sizeof(*diags->at), compare);
	for (size_t i = 0; i < diags->count; i++) {
		struct diagnostic *diag = diags->at[i];

		if (is_kept(diags->at, kept, diag))
			continue;
		if (diag->severity == DIAG_ERROR) {
			if (diags->errors_shown >= diags->errors_max) {
				hidden++;
				continue;
			}
			diags->errors_shown++;
		}
		*diag->tail = diag->frames;
		diag->frames = NULL;
		diags->at[kept++] = diag;
	}
	diags->count = kept;
	return hidden;
}

static void render(const struct diags *diags, enum diag_format format,
		   bool colour, struct text *out)
{
	if (format == DIAG_FORMAT_SARIF) {
		diag_render_sarif(diags, diags->at, diags->count, out);
		return;
	}
	for (size_t i = 0; i < diags->count; i++) {
		if (format == DIAG_FORMAT_JSON)
			diag_render_json(diags, diags->at[i], out);
		else
			diag_render_text(diags, diags->at[i], colour, out);
	}
}

void diags_flush(struct diags *diags, FILE *out, enum diag_format format,
		 bool colour)
{
	struct arena_mark mark;
	struct text text;
	uint32_t hidden;

	hidden = select_shown(diags);
	mark = arena_mark(diags->arena);
	text_init(&text, diags->arena);
	render(diags, format, colour, &text);
	if (hidden && format == DIAG_FORMAT_TEXT)
		text_printf(&text, "%u more error%s not shown\n", hidden,
			    hidden == 1 ? "" : "s");
	fwrite(text.at, 1, text.length, out);
	arena_rewind(diags->arena, mark);
	diags->count = 0;
	diags->last = NULL;
}

bool diag_resembles(const char *a, const char *b, unsigned *distance)
{
	enum { LENGTH_MAX = 64 };
	unsigned rows[3][LENGTH_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	size_t length_a = strlen(a), length_b = strlen(b);
	size_t longer = length_a > length_b ? length_a : length_b;

	if (longer > LENGTH_MAX)
		return false;
	for (size_t j = 0; j <= length_b; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= length_a; i++) {
		unsigned *spare = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= length_b; j++) {
			unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			/* Two letters exchanged are one slip. */
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		before = above;
		above = row;
		row = spare;
	}
	if (distance)
		*distance = above[length_b];
	return above[length_b] <= 2 && 3 * above[length_b] <= longer;
}

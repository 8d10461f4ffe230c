/* SPDX-License-Identifier: MIT
 *
 * Diagnostics are collected as values, sorted and printed at the end of a
 * phase. Functions that report return false, so that a caller writes
 * `return diag_error(...)`.
 */
#ifndef NEST_LANG_DIAG_H
#define NEST_LANG_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lang/base/arena.h"
#include "lang/base/text.h"
#include "lang/source.h"

/* Every code once: CODE(enumerator, number, severity, name, title). */
enum diag_code {
#define CODE(enumerator, number, severity, name, title) enumerator,
#include "lang/codes.def"
#undef CODE
	DIAG_CODE_COUNT
};

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

/* A labelled range, a note or a piece of advice attached to a diagnostic. */
enum diag_part_kind {
	DIAG_LABEL,	/* second range in the same drawing, drawn with ~ */
	DIAG_REMARK,	/* "note:", with or without a place of its own */
	DIAG_HELP,	/* "help:", one concrete way out */
	DIAG_FIX,	/* replacement text for the span: likely what was meant */
	DIAG_FIX_SAFE,	/* likewise, and surely: a program may apply it */
};

struct diag_part {
	enum diag_part_kind kind;
	struct span span;		/* SPAN_NONE where there is none */
	const char *text;
	struct diag_part *next;
};

struct diagnostic {
	enum diag_code code;
	enum diag_severity severity;
	struct span span;
	const char *message;
	const char *label;		/* text beside the caret, or NULL */
	struct diag_part *parts;	/* in the order they were added */
	struct diag_part **tail;
	struct diag_part *frames;	/* the chain of expansions, come last */
	struct diag_part *found;	/* where it was found, if that is in the library
					 * and span is where the spec uses it; else NULL */
	uint32_t order;			/* of reporting, for a stable sort */
};

enum diag_format { DIAG_FORMAT_TEXT, DIAG_FORMAT_JSON, DIAG_FORMAT_SARIF };

struct diags {
	struct arena *arena;
	const struct sources *sources;
	struct diagnostic **at;
	size_t count;
	size_t capacity;
	uint32_t errors;
	uint32_t warnings;
	uint32_t errors_max;		/* errors after these are only counted */
	bool warnings_are_errors;
	/* Instantiation chain while a template, model or function is expanded;
	 * every diagnostic reported meanwhile gets these as notes. */
	struct diag_frame *frame;
	struct diagnostic *last;	/* to which parts are added */
	uint32_t reported;		/* all ever reported: gives the order */
	uint32_t errors_shown;		/* over all flushes */
	uint32_t errors_dropped;	/* not kept since the last flush */
};

/* One level of "while expanding ...", kept on the caller's stack. */
struct diag_frame {
	const char *text;		/* "in 'llama_block' expanded here" */
	struct span span;
	struct diag_frame *outer;
};

void diags_init(struct diags *diags, struct arena *arena,
		const struct sources *sources);

/* Reports; the message is formatted into the arena. Always returns false. */
bool diag_error(struct diags *diags, enum diag_code code, struct span span,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
bool diag_warning(struct diags *diags, enum diag_code code, struct span span,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* These add to the diagnostic reported last. */
void diag_caption(struct diags *diags, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void diag_label(struct diags *diags, struct span span, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void diag_note(struct diags *diags, struct span span, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void diag_help(struct diags *diags, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void diag_fix(struct diags *diags, struct span span, const char *replacement);
/* A fix that nobody has to look at: it keeps what the spec means, or is the only
 * thing that can have been meant. 'check --fix' applies it. */
void diag_fix_safe(struct diags *diags, struct span span,
		   const char *replacement);

void diag_push_frame(struct diags *diags, struct diag_frame *frame,
		     struct span span, const char *text);
void diag_pop_frame(struct diags *diags);

/* "E0312", the stable spelling of a code; static storage per code. */
const char *diag_code_name(enum diag_code code);
/* The short title of a code, and its severity by default. */
const char *diag_code_title(enum diag_code code);
/* Finds a code by "E0312" (either case); DIAG_CODE_COUNT when unknown. */
enum diag_code diag_code_find(const char *name);

/* Sorts by place, drops exact repeats, prints to out, and empties the list.
 * The counts of errors and warnings stay. SARIF is one document a call. */
void diags_flush(struct diags *diags, FILE *out, enum diag_format format,
		 bool colour);

/* Rendering of one diagnostic, one file each. */
void diag_render_text(const struct diags *diags, const struct diagnostic *diag,
		      bool colour, struct text *out);
void diag_render_json(const struct diags *diags, const struct diagnostic *diag,
		      struct text *out);
void diag_render_sarif(const struct diags *diags,
		       struct diagnostic *const *list, size_t count,
		       struct text *out);

/* "error" or "warning". */
const char *diag_severity_name(enum diag_severity severity);
/* The short name of a code ("unknown-name"), and its number. */
const char *diag_code_short_name(enum diag_code code);

/* Whether a is a plausible misspelling of b: edit distance at most 2 and at
 * most a third of the longer. The distance is stored where wanted. */
bool diag_resembles(const char *a, const char *b, unsigned *distance);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Source files: their bytes, names, and the map from byte offsets to lines
 * and columns. A span is a byte range of one file; lines and columns are
 * computed only when something is printed.
 */
#ifndef NEST_LANG_SOURCE_H
#define NEST_LANG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/base/arena.h"

/* Largest source file that is read, in bytes. */
#define SOURCE_BYTES_MAX (64u * 1024 * 1024)

/* A half-open byte range [begin, end) of source number file. */
struct span {
	uint32_t file;		/* index into struct sources; SPAN_NOWHERE if none */
	uint32_t begin;
	uint32_t end;
};

#define SPAN_NOWHERE UINT32_MAX
#define SPAN_NONE ((struct span){ .file = SPAN_NOWHERE })

static inline bool span_is_nowhere(struct span span)
{
	return span.file == SPAN_NOWHERE;
}

/* The smallest span that holds both (which are of one file). */
struct span span_join(struct span a, struct span b);

struct source {
	const char *name;		/* as shown to people */
	const char *path;		/* canonical path, or "std:..." when embedded */
	const char *bytes;		/* length bytes, then two NULs for the scanner */
	uint32_t length;
	const uint32_t *line_begin;	/* byte offset of each line */
	uint32_t line_count;
	bool is_embedded;		/* part of the standard library in the binary */
};

struct sources {
	struct arena *arena;
	const char *stdin_name;		/* as which standard input is shown, and beside
					 * which its imports lie; NULL: "<stdin>" */
	struct source **at;
	uint32_t count;
	uint32_t capacity;
};

/* One-based line and column; the column counts Unicode characters. */
struct place {
	uint32_t line;
	uint32_t column;
};

void sources_init(struct sources *sources, struct arena *arena);

/* Adds a text under a name; bytes are copied. Returns its file number. */
uint32_t sources_add(struct sources *sources, const char *name,
		     const char *path, const char *bytes, size_t length,
		     bool is_embedded);

enum source_status {
	SOURCE_OK,
	SOURCE_UNREADABLE,	/* errno says why */
	SOURCE_TOO_LARGE,	/* more than SOURCE_BYTES_MAX */
	SOURCE_NOT_TEXT,	/* holds a NUL byte or is not valid UTF-8; added
				 * all the same: parse_file reports where */
};

/* Adds bytes in the place of a file that is not read ("-": standard input). */
uint32_t sources_add_file(struct sources *sources, const char *path,
			  const char *bytes, size_t length);

/* Reads a file ("-" is standard input) and adds it; *file receives the number. */
enum source_status sources_read(struct sources *sources, const char *path,
				uint32_t *file);

/* Whether all of it is UTF-8 without NUL; if not, *offset is the first byte
 * that is wrong. */
bool source_is_text(const struct source *source, uint32_t *offset);

struct place source_place(const struct source *source, uint32_t offset);

/* The text of a line (one-based) without its end; *length receives its bytes. */
const char *source_line(const struct source *source, uint32_t line,
			uint32_t *length);

/* The offset after the blanks and comments that begin at an offset. */
uint32_t source_skip_blanks(const struct source *source, uint32_t at);

#endif

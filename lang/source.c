/* SPDX-License-Identifier: MIT
 *
 * Reading source files and finding lines and columns in them.
 */
#include "lang/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span span_join(struct span a, struct span b)
{
	if (span_is_nowhere(a))
		return b;
	if (span_is_nowhere(b) || a.file != b.file)
		return a;
	if (b.begin < a.begin)
		a.begin = b.begin;
	if (b.end > a.end)
		a.end = b.end;
	return a;
}

void sources_init(struct sources *sources, struct arena *arena)
{
	*sources = (struct sources){ .arena = arena };
}

static void index_lines(struct source *source, struct arena *arena)
{
	const char *bytes = source->bytes;
	uint32_t *begin;
	uint32_t count = 1;

	for (uint32_t i = 0; i < source->length; i++)
		count += bytes[i] == '\n';
	begin = ARENA_ARRAY(arena, uint32_t, count);
	count = 1;
	for (uint32_t i = 0; i < source->length; i++)
		if (bytes[i] == '\n')
			begin[count++] = i + 1;
	source->line_begin = begin;
	source->line_count = count;
}

uint32_t sources_add(struct sources *sources, const char *name,
		     const char *path, const char *bytes, size_t length,
		     bool is_embedded)
{
	struct arena *arena = sources->arena;
	struct source *source = ARENA_NEW(arena, struct source);
	char *copy;

	/* The callers check; a longer text could not be addressed. */
	if (length > SOURCE_BYTES_MAX)
		length = SOURCE_BYTES_MAX;
	copy = arena_alloc(arena, length + 2);
	if (length)
		memcpy(copy, bytes, length);
	source->name = arena_copy(arena, name, strlen(name));
	source->path = arena_copy(arena, path, strlen(path));
	source->bytes = copy;
	source->length = (uint32_t)length;
	source->is_embedded = is_embedded;
	index_lines(source, arena);

	if (sources->count == sources->capacity) {
		uint32_t capacity = sources->count ? 2 * sources->count : 8;
		struct source **at =
			ARENA_ARRAY(arena, struct source *, capacity);

		if (sources->count)
			memcpy(at, sources->at, sources->count * sizeof(*at));
		sources->at = at;
		sources->capacity = capacity;
	}
	sources->at[sources->count] = source;
	return sources->count++;
}

/* Length of the well-formed UTF-8 character at text, 0 if there is none. */
static uint32_t character_length(const unsigned char *text, uint32_t left)
{
	unsigned char first = text[0];
	unsigned char low = 0x80, high = 0xbf;
	uint32_t length;

	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		length = 2;
	else if (first >= 0xe0 && first <= 0xef)
		length = 3;
	else if (first >= 0xf0 && first <= 0xf4)
		length = 4;
	else
		return 0;
	/* Over-long forms, surrogates and what lies beyond U+10FFFF. */
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	if (left < length || text[1] < low || text[1] > high)
		return 0;
	for (uint32_t i = 2; i < length; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return length;
}

bool source_is_text(const struct source *source, uint32_t *offset)
{
	const unsigned char *bytes = (const unsigned char *)source->bytes;
	uint32_t at = 0;

	while (at < source->length) {
		uint32_t length =
			character_length(bytes + at, source->length - at);

		if (!length || !bytes[at]) {
			*offset = at;
			return false;
		}
		at += length;
	}
	return true;
}

/* The whole of a stream in malloc'd memory; NULL with errno set. */
static char *read_stream(FILE *in, size_t *length, bool *too_large)
{
	size_t capacity = 64 * 1024, used = 0;
	char *bytes = malloc(capacity);

	*too_large = false;
	while (bytes) {
		char *more;

		used += fread(bytes + used, 1, capacity - used, in);
		if (used > SOURCE_BYTES_MAX) {
			*too_large = true;
			break;
		}
		if (used < capacity)
			break;
		capacity *= 2;
		more = realloc(bytes, capacity);
		if (!more)
			free(bytes);
		bytes = more;
	}
	if (!bytes) {
		errno = ENOMEM;
		return NULL;
	}
	if (ferror(in)) {
		free(bytes);
		return NULL;
	}
	*length = used;
	return bytes;
}

/* The path that identifies a file however it was reached. */
static const char *canonical_path(struct arena *arena, const char *path)
{
	char *resolved = realpath(path, NULL);
	const char *copy;

	if (!resolved)
		return path;
	copy = arena_copy(arena, resolved, strlen(resolved));
	free(resolved);
	return copy;
}

uint32_t sources_add_file(struct sources *sources, const char *path,
			  const char *bytes, size_t length)
{
	if (strcmp(path, "-") != 0)
		return sources_add(sources, path,
				   canonical_path(sources->arena, path), bytes,
				   length, false);
	return sources_add(sources,
			   sources->stdin_name ? sources->stdin_name :
						 "<stdin>",
			   "<stdin>", bytes, length, false);
}

enum source_status sources_read(struct sources *sources, const char *path,
				uint32_t *file)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "rb");
	uint32_t offset;
	size_t length;
	bool too_large;
	char *bytes;
	int error;

	if (!in)
		return SOURCE_UNREADABLE;
	bytes = read_stream(in, &length, &too_large);
	error = errno;
	if (!is_stdin)
		fclose(in);
	if (!bytes) {
		errno = error;
		return SOURCE_UNREADABLE;
	}
	if (too_large) {
		free(bytes);
		return SOURCE_TOO_LARGE;
	}
	*file = sources_add_file(sources, path, bytes, length);
	free(bytes);
	return source_is_text(sources->at[*file], &offset) ? SOURCE_OK
							   : SOURCE_NOT_TEXT;
}

/* The zero-based line that holds an offset. */
static uint32_t line_of(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->line_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->line_begin[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct place source_place(const struct source *source, uint32_t offset)
{
	uint32_t line, column = 1;

	if (offset > source->length)
		offset = source->length;
	line = line_of(source, offset);
	for (uint32_t i = source->line_begin[line]; i < offset; i++)
		column += ((unsigned char)source->bytes[i] & 0xc0) != 0x80;
	return (struct place){ .line = line + 1, .column = column };
}

const char *source_line(const struct source *source, uint32_t line,
			uint32_t *length)
{
	uint32_t begin, end;

	if (line < 1 || line > source->line_count) {
		*length = 0;
		return "";
	}
	begin = source->line_begin[line - 1];
	end = line < source->line_count ? source->line_begin[line] - 1
					: source->length;
	if (end > begin && source->bytes[end - 1] == '\r')
		end--;
	*length = end - begin;
	return source->bytes + begin;
}

uint32_t source_skip_blanks(const struct source *source, uint32_t at)
{
	const char *bytes = source->bytes;

	while (at < source->length) {
		if (bytes[at] == '#')
			while (at < source->length && bytes[at] != '\n')
				at++;
		else if (strchr(" \t\r\n", bytes[at]))
			at++;
		else
			break;
	}
	return at;
}

/* SPDX-License-Identifier: MIT
 *
 * JSON files that people give to the compiler, with the places of what stands
 * in them: jansson reads the values, and where one stands is looked for in the
 * text only when there is something to say about it.
 */
#ifndef NEST_COMPILER_JSON_FILE_H
#define NEST_COMPILER_JSON_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "lang/compilation.h"

struct json_file {
	const struct source *text;
	uint32_t source;		/* its number: of spans */
	json_t *root;			/* owned: json_file_release */
};

/* Reads a file of a spec; `asked` is where the spec names it, or SPAN_NONE.
 * False, reported, if it cannot be read or is no JSON (with that code, where
 * jansson stopped); there is nothing to release then. Keys given twice are
 * refused. */
bool json_file_read(struct compilation *compilation, const char *path,
		    struct span asked, enum diag_code code,
		    struct json_file *file);
void json_file_release(struct json_file *file);

/* Where things stand. A place is the span of a value; each of these finds an
 * inner one, and gives the outer place itself where that has none. The time
 * grows with the text before it. */
struct span json_file_root(const struct json_file *file);
struct span json_file_element(const struct json_file *file, struct span array,
			      size_t index);
struct span json_file_member(const struct json_file *file, struct span object,
			     const char *key);
/* The key of a member, without its quotes. */
struct span json_file_key(const struct json_file *file, struct span object,
			  const char *key);
/* A string without its quotes; any other value stays. */
struct span json_file_inside(const struct json_file *file, struct span string);

#endif

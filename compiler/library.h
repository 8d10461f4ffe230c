/* SPDX-License-Identifier: MIT
 *
 * What modules declare, for people: the standard library's, or a spec's.
 */
#ifndef NEST_COMPILER_LIBRARY_H
#define NEST_COMPILER_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"

/* One declaration that other files can name, or a job. */
struct library_item {
	const char *module;		/* "std.device.h100", or a file's name */
	const struct ast *item;
	uint32_t file;
};

struct library {
	struct library_item *at;
	size_t count;
	size_t capacity;
};

/* The word by which a kind of declaration is asked for ("device"); NULL for
 * those that are not listed. */
const char *library_kind(const struct ast *item);

/* Appends what the whole standard library declares; false if a part of it does
 * not parse. */
bool library_add_standard(struct compilation *compilation,
			  struct library *library);
/* Appends what a source declares; false, reported, if it does not parse. */
bool library_add_file(struct compilation *compilation, uint32_t file,
		      const char *module, struct library *library);

/* The first line of a declaration's documentation; "" if it has none. */
const char *library_about(struct arena *arena, const struct ast *item);

#endif

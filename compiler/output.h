/* SPDX-License-Identifier: MIT
 *
 * Output files: all of one run are written aside, then renamed together, so
 * that each appears whole or not at all. What is no regular file (a terminal,
 * a pipe, /dev/full) is written directly.
 */
#ifndef NEST_COMPILER_OUTPUT_H
#define NEST_COMPILER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"

struct diags;

struct output {
	const char *path;	/* as given; NULL is standard output */
	const char *bytes;
	size_t length;
	const char *target;	/* path with symbolic links followed */
	const char *aside;	/* temporary file beside the target, or NULL */
};

struct outputs {
	struct arena *arena;
	struct diags *diags;
	VEC(struct output) all;
};

/* What cannot be written is reported as E_UNWRITABLE in diags. */
void outputs_init(struct outputs *outputs, struct arena *arena,
		  struct diags *diags);

/* Plans a file; the bytes are kept, not copied. A path of NULL or "-" is
 * standard output. False, with a complaint about the command line, if the path
 * has been given before. */
bool outputs_add(struct outputs *outputs, const char *path, const char *bytes,
		 size_t length);

/* Writes everything. False, reported, when anything failed; no regular file
 * has been changed then. */
bool outputs_write(struct outputs *outputs);

#endif

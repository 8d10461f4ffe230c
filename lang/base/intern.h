/* SPDX-License-Identifier: MIT
 *
 * Unique strings: two interned strings are equal exactly when their pointers
 * are. They live in the arena given at the start.
 */
#ifndef NEST_LANG_BASE_INTERN_H
#define NEST_LANG_BASE_INTERN_H

#include <stddef.h>

#include "lang/base/arena.h"

struct intern {
	struct arena *arena;
	const char **slot;	/* open addressing, power of two */
	size_t capacity;
	size_t count;
};

void intern_init(struct intern *intern, struct arena *arena);

/* The unique copy of these bytes (NUL-terminated). */
const char *intern_bytes(struct intern *intern, const char *text, size_t length);
const char *intern_string(struct intern *intern, const char *text);

#endif

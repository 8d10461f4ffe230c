/* SPDX-License-Identifier: MIT
 *
 * A growing text buffer in an arena. The text is always NUL-terminated.
 */
#ifndef NEST_LANG_BASE_TEXT_H
#define NEST_LANG_BASE_TEXT_H

#include <stddef.h>

#include "lang/base/arena.h"

struct text {
	struct arena *arena;
	char *at;
	size_t length;
	size_t capacity;
};

void text_init(struct text *text, struct arena *arena);
void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const char *bytes, size_t length);
void text_append_char(struct text *text, char c);
void text_printf(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends a double in the shortest decimal form that reads back the same. */
void text_append_number(struct text *text, double number);

#endif

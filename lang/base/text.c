/* SPDX-License-Identifier: MIT
 *
 * Growing text: the capacity doubles; old storage stays in the arena.
 */
#include "lang/base/text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_init(struct text *text, struct arena *arena)
{
	*text = (struct text){ .arena = arena, .capacity = 64 };
	text->at = arena_alloc(arena, text->capacity);
}

/* Makes room for length more bytes and the NUL. */
static void reserve(struct text *text, size_t length)
{
	size_t capacity = text->capacity;
	char *at;

	if (length < capacity - text->length)
		return;
	while (length >= capacity - text->length)
		capacity *= 2;
	at = arena_alloc(text->arena, capacity);
	memcpy(at, text->at, text->length);
	text->at = at;
	text->capacity = capacity;
}

void text_append_bytes(struct text *text, const char *bytes, size_t length)
{
	if (!length)
		return;
	reserve(text, length);
	memcpy(text->at + text->length, bytes, length);
	text->length += length;
	text->at[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
	text_append_bytes(text, string, strlen(string));
}

void text_append_char(struct text *text, char c)
{
	text_append_bytes(text, &c, 1);
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length <= 0)
		return;
	reserve(text, (size_t)length);
	va_start(arguments, format);
	vsnprintf(text->at + text->length, (size_t)length + 1, format,
		  arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

void text_append_number(struct text *text, double number)
{
	char digits[40];
	/* Every decimal of 15 digits survives the way through a double, unless
	 * it is subnormal: the first of these that reads back the same is the
	 * shortest. */
	int precision = fabs(number) < DBL_MIN ? 1 : 15;

	for (; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, number);
		if (strtod(digits, NULL) == number)
			break;
	}
	text_append(text, digits);
}

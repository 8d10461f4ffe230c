/* SPDX-License-Identifier: MIT
 *
 * Prints jansson values the way nestc writes JSON: numbers as the shortest
 * decimals that read back the same (jansson has a fixed precision), small
 * objects and arrays on one line, so that a difference of two files is short.
 */
#ifndef NEST_COMPILER_JSON_PRINT_H
#define NEST_COMPILER_JSON_PRINT_H

#include <jansson.h>

#include "lang/base/text.h"

/* On one line, without an end of line. */
void json_print_flat(const json_t *value, struct text *out);

/* The same if it fits on the line at that indentation (in columns), else one
 * member a line. */
void json_print(const json_t *value, unsigned indentation, struct text *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Values in full, as a spec would write them or as JSON.
 */
#ifndef NEST_COMPILER_VALUE_SHOW_H
#define NEST_COMPILER_VALUE_SHOW_H

#include <jansson.h>

#include "lang/value.h"

/* Appends the value without a line break at its end; records take several
 * lines. */
void value_show(const struct value *value, struct text *out);

/* A new reference. Quantities become objects that hold the number in base
 * units, the unit and the text; plain numbers stay numbers. */
json_t *value_json(const struct value *value, struct arena *arena);

#endif

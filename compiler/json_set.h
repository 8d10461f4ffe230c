/* SPDX-License-Identifier: MIT
 *
 * One word for what building JSON objects mostly is.
 */
#ifndef NEST_COMPILER_JSON_SET_H
#define NEST_COMPILER_JSON_SET_H

#include <jansson.h>

/* Gives an object a member; the object takes the value over. jansson fails on keys
 * and values that are no UTF-8 or NULL, and then nothing is set. */
static inline void json_set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Growing arrays whose elements live in an arena. Declare one with
 * VEC(type) name; it starts as all zeros.
 */
#ifndef NEST_LANG_BASE_VEC_H
#define NEST_LANG_BASE_VEC_H

#include <stddef.h>
#include <string.h>

#include "lang/base/arena.h"

#define VEC(type)                \
	struct {                 \
		type *at;        \
		size_t count;    \
		size_t capacity; \
	}

/* Makes room for one more element and counts it; returns nothing. The new
 * element is zeroed. Old storage stays in the arena until it is released. */
#define VEC_GROW(vec, arena)                                                  \
	do {                                                                  \
		if ((vec)->count == (vec)->capacity) {                        \
			size_t vec_capacity_ =                                \
				(vec)->capacity ? 2 * (vec)->capacity : 8;    \
			void *vec_new_ = arena_array((arena), vec_capacity_,  \
						     sizeof(*(vec)->at));     \
			if ((vec)->count)                                     \
				memcpy(vec_new_, (vec)->at,                   \
				       (vec)->count * sizeof(*(vec)->at));    \
			(vec)->at = vec_new_;                                 \
			(vec)->capacity = vec_capacity_;                      \
		}                                                             \
		(vec)->count++;                                               \
	} while (0)

#define VEC_PUSH(vec, arena, element)                          \
	do {                                                   \
		VEC_GROW((vec), (arena));                      \
		(vec)->at[(vec)->count - 1] = (element);       \
	} while (0)

#endif

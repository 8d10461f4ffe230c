/* SPDX-License-Identifier: MIT
 *
 * Integer arithmetic that notices overflow: each function stores the result
 * and gives true, or gives false when the exact result does not fit.
 */
#ifndef NEST_LANG_BASE_CHECKED_H
#define NEST_LANG_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool checked_add(int64_t a, int64_t b, int64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

static inline bool checked_subtract(int64_t a, int64_t b, int64_t *difference)
{
	return !__builtin_sub_overflow(a, b, difference);
}

static inline bool checked_multiply(int64_t a, int64_t b, int64_t *product)
{
	return !__builtin_mul_overflow(a, b, product);
}

#endif

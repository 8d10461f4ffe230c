/* SPDX-License-Identifier: MIT
 *
 * Extents: sums of products of axes in normal form. Axes of a term ascend, terms
 * with the same axes are merged, and terms stand in order of their axes. Two extents
 * are the same shape exactly when their normal forms are equal; equal sizes alone
 * are not enough.
 */
#ifndef NEST_COMPILER_EXTENT_H
#define NEST_COMPILER_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/text.h"

/* The first two axes of every class. */
enum { AXIS_BATCH, AXIS_SEQ };

/* Largest size of an axis, an extent or a weight: numbers of the language are
 * exact up to here. */
#define SIZE_MAX_EXACT (1ull << 53)

void extent_of_axis(uint32_t axis, struct ir_extent *extent);

/* False when the result does not fit the bounds of an extent (IR_TERM_MAX,
 * IR_FACTOR_MAX, coefficients of 64 bits). The result may be an operand. */
bool extent_add(const struct ir_extent *a, const struct ir_extent *b,
		struct ir_extent *sum);
bool extent_multiply(const struct ir_extent *a, const struct ir_extent *b,
		     struct ir_extent *product);

bool extent_equal(const struct ir_extent *a, const struct ir_extent *b);
bool extent_has_axis(const struct ir_extent *extent, uint32_t axis);

/* "heads * head_dim". */
void extent_print(const struct ir_axis *axis, const struct ir_extent *extent,
		  struct text *out);

/* Its whole size, batch counted as 1; false beyond SIZE_MAX_EXACT. */
bool extent_size(const struct ir_axis *axis, const struct ir_extent *extent,
		 uint64_t *size);

#endif

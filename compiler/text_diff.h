/* SPDX-License-Identifier: MIT
 *
 * The difference of two texts in the unified format that patch reads.
 */
#ifndef NEST_COMPILER_TEXT_DIFF_H
#define NEST_COMPILER_TEXT_DIFF_H

#include <stddef.h>

#include "lang/base/text.h"

/* Appends nothing when the texts are equal. */
void text_diff(const char *name, const char *before, size_t before_length,
	       const char *after, size_t after_length, struct text *out);

#endif

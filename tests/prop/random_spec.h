/* SPDX-License-Identifier: MIT
 *
 * Random specs: texts of the whole grammar, with comments, blanks and line
 * breaks wherever the language allows them. They parse; what they say makes no
 * sense.
 */
#ifndef NEST_TESTS_RANDOM_SPEC_H
#define NEST_TESTS_RANDOM_SPEC_H

#include <stdint.h>

#include "lang/base/text.h"

void random_spec(uint64_t seed, struct text *out);

#endif

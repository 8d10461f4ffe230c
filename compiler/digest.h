/* SPDX-License-Identifier: MIT
 *
 * What tells one input file from another.
 */
#ifndef NEST_COMPILER_DIGEST_H
#define NEST_COMPILER_DIGEST_H

#include "lang/base/arena.h"
#include "lang/source.h"

/* SHA-256 of the bytes, in hexadecimal; lives in the arena. */
const char *source_sha256(struct arena *arena, const struct source *source);

#endif

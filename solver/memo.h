/* SPDX-License-Identifier: MIT
 *
 * Results kept by the words that they were computed from, so that nothing is computed
 * twice. Keys are compared as a whole: what is found is what would be computed.
 */
#ifndef NEST_SOLVER_MEMO_H
#define NEST_SOLVER_MEMO_H

#include <stddef.h>
#include <stdint.h>

#include "lang/base/arena.h"

#define MEMO_SLOTS 4096

struct memo_entry;

struct memo {
	struct arena arena;
	size_t left_bytes;		/* of keys and results; then no more are kept */
	struct memo_entry *slot[MEMO_SLOTS];
};

void memo_init(struct memo *memo, size_t most_bytes);
void memo_release(struct memo *memo);

/* The result kept for a key, or NULL. It lives as long as the memo. */
const void *memo_find(const struct memo *memo, const uint32_t *key, size_t words);

/* Keeps a copy of a result whose key has none, if there is room. */
void memo_keep(struct memo *memo, const uint32_t *key, size_t words,
	       const void *result, size_t bytes);

#endif

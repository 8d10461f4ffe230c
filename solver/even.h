/* SPDX-License-Identifier: MIT
 *
 * Interleaved cuts are nearly even. With chunks b_0 .. b_(n-1) counted in
 * layers that are blocks, those between the first and the last differ by at
 * most one, and the first and the last, which also hold the embedding and the
 * head, have at most one more than the least of the others. Anything else
 * stalls on its larger chunks; frameworks cut no other way by themselves.
 */
#ifndef NEST_SOLVER_EVEN_H
#define NEST_SOLVER_EVEN_H

#include <stdbool.h>
#include <stdint.h>

/* What the chunks so far allow the next one. All zero before the first. */
struct even {
	uint32_t first;		/* blocks of the first chunk */
	uint32_t low, high;	/* least and most of the inner ones so far */
	bool has_inner;
};

/* Whether chunk number `chunk` of `chunks` may hold so many blocks when so many are
 * left after it; *next receives what then holds. */
bool even_allows(const struct even *even, uint32_t chunk, uint32_t chunks,
		 uint32_t blocks, uint32_t left, struct even *next);

/* Whether a whole cut is nearly even. blocks[i]: block layers among the first
 * i layers of the chain; first[c]: first layer of chunk c. */
bool even_cut(const uint32_t *blocks, const uint32_t *first, uint32_t chunks);

/* The least blocks that `count` inner chunks hold together in any nearly even
 * cut of so many blocks. */
uint32_t even_least(uint32_t blocks, uint32_t chunks, uint32_t count);

#endif

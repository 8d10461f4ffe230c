/* SPDX-License-Identifier: MIT
 *
 * Nearly even cuts.
 */
#include "solver/even.h"

/* Whether the chunks after an inner one can take what is left. */
static bool rest_fits(const struct even *even, uint32_t inner_left, uint32_t left)
{
	uint64_t most = even->low + 1;
	uint64_t least = even->high ? even->high - 1 : 0;

	return left >= inner_left * least && left <= inner_left * most + most;
}

bool even_allows(const struct even *even, uint32_t chunk, uint32_t chunks,
		 uint32_t blocks, uint32_t left, struct even *next)
{
	*next = *even;
	if (chunk == 0) {
		next->first = blocks;
		return true;
	}
	if (chunk + 1 == chunks)
		return !even->has_inner || blocks <= even->low + 1;
	if (blocks + 1 < even->first)
		return false;
	if (!even->has_inner) {
		next->low = next->high = blocks;
		next->has_inner = true;
	} else {
		if (blocks < next->low)
			next->low = blocks;
		if (blocks > next->high)
			next->high = blocks;
		if (next->high - next->low > 1)
			return false;
	}
	return rest_fits(next, chunks - 2 - chunk, left);
}

bool even_cut(const uint32_t *blocks, const uint32_t *first, uint32_t chunks)
{
	struct even even = { 0 };

	for (uint32_t c = 0; c < chunks; c++)
		if (!even_allows(&even, c, chunks,
				 blocks[first[c + 1]] - blocks[first[c]],
				 blocks[first[chunks]] - blocks[first[c + 1]], &even))
			return false;
	return true;
}

/* With least inner chunk `low`, as many inner chunks hold low as the sum and at
 * most low + 1 in each other chunk allow. */
uint32_t even_least(uint32_t blocks, uint32_t chunks, uint32_t count)
{
	uint64_t inner = chunks - 2, best = UINT64_MAX;
	uint64_t from = (blocks + chunks - 1) / chunks, to = blocks / inner;

	for (uint64_t low = from ? from - 1 : 0; low <= to; low++) {
		uint64_t others = blocks > 2 * (low + 1) ? blocks - 2 * (low + 1) : 0;
		uint64_t all = inner * (low + 1);
		uint64_t small = all > others ? all - others : 0, sum;

		if (small > count)
			small = count;
		sum = count * (low + 1) - small;
		if (sum < best)
			best = sum;
	}
	return best == UINT64_MAX ? 0 : (uint32_t)best;
}

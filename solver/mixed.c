/* SPDX-License-Identifier: MIT
 *
 * Where the ranks of a plan on a mixed cluster lie.
 */
#include "solver/mixed.h"

#include <stddef.h>

const struct segment *mixed_segment(const struct plan *plan, uint32_t rank)
{
	for (uint32_t i = 0; i < plan->segment_count; i++) {
		if (rank < plan->segment[i].ranks)
			return &plan->segment[i];
		rank -= plan->segment[i].ranks;
	}
	return NULL;
}

const struct problem *mixed_problem(const struct problem *problem,
				    const struct plan *plan, uint32_t rank,
				    uint32_t *local)
{
	const struct segment *segment = mixed_segment(plan, rank);

	if (local)
		*local = rank;
	if (!segment)
		return problem;
	for (const struct segment *at = plan->segment; local && at < segment; at++)
		*local -= at->ranks;
	return problem->kind[segment->kind];
}

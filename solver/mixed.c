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

static double larger(double a, double b)
{
	return a > b ? a : b;
}

struct network_line mixed_joint(const struct problem *a,
				const struct placement *a_placement,
				const struct problem *b,
				const struct placement *b_placement)
{
	struct network_line from = network_transfer_line(a, a_placement,
							 a->level_count - 1);
	struct network_line to = network_transfer_line(b, b_placement,
						       b->level_count - 1);

	return (struct network_line){
		.latency_s = larger(from.latency_s, to.latency_s),
		.s_per_byte = larger(from.s_per_byte, to.s_per_byte),
	};
}

struct mixed_rate mixed_rate(const struct problem *problem,
			     const struct plan *plan)
{
	struct mixed_rate rate = { problem->device_dollars_per_s,
				   problem->device_watts };

	if (!plan->segment_count)
		return rate;
	rate = (struct mixed_rate){ 0, 0 };
	for (uint32_t i = 0; i < plan->segment_count; i++) {
		const struct segment *segment = &plan->segment[i];
		const struct problem *kind = problem->kind[segment->kind];
		double share = (double)segment->ranks / plan->choice.pipeline;

		rate.dollars_per_s += share * kind->device_dollars_per_s;
		rate.watts += share * kind->device_watts;
	}
	return rate;
}

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

static uint32_t first_device(const struct problem *problem, uint32_t kind)
{
	uint32_t first = 0;

	for (uint32_t k = 0; k < kind; k++)
		first += problem->kind[k]->device_count;
	return first;
}

/* A device of the equal part of all kinds, given by its number there: the child of
 * the outermost level tells the kind, and the places below are the same in it. */
static uint32_t device_of_equal_part(const struct problem *problem,
				     uint32_t device)
{
	uint32_t top = problem->level_count - 1, below = 1, own = 0, kind = 0;
	uint32_t position[LEVEL_MAX];

	for (uint32_t l = 0; l < top; l++) {
		position[l] = device % problem->level[l].fanout;
		device /= problem->level[l].fanout;
	}
	while (device >= problem->kind[kind]->level[problem->kind[kind]
							    ->level_count - 1]
				 .fanout) {
		const struct problem *other = problem->kind[kind++];

		device -= other->level[other->level_count - 1].fanout;
	}
	for (uint32_t l = 0; l + 1 < problem->kind[kind]->level_count; l++) {
		own += position[l] * below;
		below *= problem->kind[kind]->level[l].fanout;
	}
	return first_device(problem, kind) + own + device * below;
}

/* The number of a rank in plan.device. */
static uint32_t number_of(const struct problem *problem, const struct plan *plan,
			  const uint32_t coordinate[DIMENSION_COUNT])
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];

	return coordinate[DIMENSION_TENSOR] +
	       shape->tensor * (coordinate[DIMENSION_CONTEXT] +
				shape->context *
					(coordinate[DIMENSION_DATA] +
					 plan->choice.data *
						 coordinate[DIMENSION_PIPELINE]));
}

uint32_t mixed_device(const struct problem *problem, const struct plan *plan,
		      const uint32_t coordinate[DIMENSION_COUNT])
{
	uint32_t local[DIMENSION_COUNT];
	const struct segment *segment;
	const struct problem *kind;

	if (!plan->segment_count)
		return device_of_equal_part(
			problem,
			plan->device ? plan->device[number_of(problem, plan,
							      coordinate)] :
				       network_device(problem, &plan->placement,
						      coordinate));
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		local[d] = coordinate[d];
	segment = mixed_segment(plan, coordinate[DIMENSION_PIPELINE]);
	kind = mixed_problem(problem, plan, coordinate[DIMENSION_PIPELINE],
			     &local[DIMENSION_PIPELINE]);
	if (plan->device)
		return first_device(problem, segment->kind) +
		       plan->device[number_of(problem, plan, coordinate)];
	return first_device(problem, segment->kind) +
	       network_device(kind, &segment->placement, local);
}

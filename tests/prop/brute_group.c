/* SPDX-License-Identifier: MIT
 *
 * The oracle: who is in a group, and what crosses between stages.
 */
#include "tests/prop/brute_parts.h"

#include <math.h>

/* False if the placement does not fit the expert degrees. */
bool brute_deal_experts(const struct problem *problem,
			const struct problem_shape *shape,
			const struct placement *placement,
			struct brute_expert_parts *dealt)
{
	uint32_t left[2] = { shape->expert_tensor, shape->expert };

	for (uint32_t d = 0; d < DIMENSION_PIPELINE; d++) {
		for (uint32_t l = 0; l < problem->level_count; l++) {
			uint32_t rest = placement->factor[d][l];

			for (uint32_t g = 0; g < 2; g++) {
				uint32_t take = brute_smaller(rest, left[g]);

				if (rest % take != 0 || left[g] % take != 0)
					return false;
				dealt->part[g][d][l] = take;
				left[g] /= take;
				rest /= take;
			}
			dealt->part[2][d][l] = rest;
		}
	}
	return true;
}

static void expert_group(const struct brute_pricing *pricing, uint32_t g,
			 struct group_shape *shape)
{
	struct brute_expert_parts dealt;

	brute_deal_experts(pricing->problem, pricing->shape,
			   &pricing->plan->placement, &dealt);
	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		uint32_t members = 1, stretch = 1, before = 1;

		for (uint32_t d = 0; d < DIMENSION_PIPELINE; d++) {
			for (uint32_t i = 0; i < 3; i++) {
				before *= dealt.part[i][d][l];
				if (i != g || dealt.part[i][d][l] == 1)
					continue;
				members *= dealt.part[i][d][l];
				stretch = before;
			}
		}
		shape->used[l] = pricing->used[l];
		shape->members[l] = members;
		shape->apart[l] = stretch / members;
	}
}

static void group_of(const struct brute_pricing *pricing, enum group group,
		     struct group_shape *shape)
{
	const struct placement *f = &pricing->plan->placement;

	if (group == GROUP_EXPERT_TENSOR)
		expert_group(pricing, 0, shape);
	if (group == GROUP_EXPERT)
		expert_group(pricing, 1, shape);
	if (group == GROUP_EXPERT_DATA)
		expert_group(pricing, 2, shape);
	if (group >= GROUP_EXPERT)
		return;

	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		uint32_t t = f->factor[DIMENSION_TENSOR][l];
		uint32_t c = f->factor[DIMENSION_CONTEXT][l];
		uint32_t d = f->factor[DIMENSION_DATA][l];

		shape->used[l] = pricing->used[l];
		shape->members[l] = group == GROUP_TENSOR ? t :
				    group == GROUP_CONTEXT ? c : c * d;
		shape->apart[l] = group == GROUP_TENSOR ? 1 : t;
	}
}

double brute_group_time(const struct brute_pricing *pricing, enum group group,
			enum collective kind, double bytes)
{
	struct group_shape shape;

	if (pricing->plan->placement.packing != PACKING_FACTORS)
		return brute_linear_time(pricing, group, kind, bytes);
	group_of(pricing, group, &shape);
	return brute_collective(pricing->problem, &shape, kind, bytes);
}

static bool takes_part(const struct brute_pricing *pricing, uint32_t l,
		       bool inside)
{
	uint32_t cut = pricing->plan->choice.shard_level;

	return inside ? l < cut : l >= cut;
}

double brute_part_time(const struct brute_pricing *pricing, enum group group,
		       bool inside, enum collective kind, double bytes)
{
	struct group_shape shape;

	if (pricing->plan->choice.shard_level == 0)
		return inside ? brute_group_time(pricing, group, kind, bytes) : 0;
	group_of(pricing, group, &shape);
	for (uint32_t l = 0; l < pricing->problem->level_count; l++)
		if (!takes_part(pricing, l, inside))
			shape.members[l] = 1;
	return brute_collective(pricing->problem, &shape, kind, bytes);
}

uint32_t brute_sharers(const struct brute_pricing *pricing, enum group group)
{
	const struct problem_shape *degrees = pricing->shape;
	struct group_shape shape;
	uint32_t count = degrees->context * pricing->plan->choice.data;

	if (pricing->plan->choice.shard_level == 0)
		return group == GROUP_DATA_CONTEXT ? count :
		       count * degrees->tensor / degrees->expert /
		       degrees->expert_tensor;
	count = 1;
	group_of(pricing, group, &shape);
	for (uint32_t l = 0; l < pricing->problem->level_count; l++)
		if (takes_part(pricing, l, true))
			count *= shape.members[l];
	return count;
}

/* Level between two pipeline ranks. */
uint32_t brute_border(const struct brute_pricing *pricing, uint32_t a, uint32_t b)
{
	const uint32_t *factor =
		pricing->plan->placement.factor[DIMENSION_PIPELINE];
	uint32_t level = 0, inside = 1;

	if (pricing->plan->placement.packing != PACKING_FACTORS)
		return brute_linear_border(pricing, a, b);
	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		if (a / inside % factor[l] != b / inside % factor[l])
			level = l;
		inside *= factor[l];
	}
	return level;
}

/* Devices of one pipeline rank at a level: the step to the next rank. */
static uint32_t stage_width(const struct brute_pricing *pricing, uint32_t l)
{
	const struct placement *f = &pricing->plan->placement;

	return f->factor[DIMENSION_TENSOR][l] * f->factor[DIMENSION_CONTEXT][l] *
	       f->factor[DIMENSION_DATA][l];
}

/* Whether the last stage of a child and the first one of the next lie on
 * different rails. */
static bool changes_rail(const struct brute_pricing *pricing, uint32_t level)
{
	const struct problem *problem = pricing->problem;
	uint32_t last = 0, devices = 1;

	if (!problem->level[level].rails)
		return false;
	for (uint32_t l = 0; l < level; l++) {
		uint32_t p = pricing->plan->placement
				     .factor[DIMENSION_PIPELINE][l];

		last += (p - 1) * stage_width(pricing, l) * devices;
		devices *= problem->level[l].fanout;
	}
	return last % problem->level[level].rails != 0;
}

/* Rate and latency from each device of a pipeline rank to one `ahead` at level l, a
 * child of which has `ranks` of them. */
static double neighbour(const struct brute_pricing *pricing, uint32_t l,
			uint32_t ranks, uint32_t ahead, double *latency)
{
	const struct problem *problem = pricing->problem;
	const struct problem_level *level = &problem->level[l];
	double apart = 1, share = 1, hops = 1;

	if (brute_is_ring(problem, l)) {
		apart = stage_width(pricing, l);
		hops = ahead * apart;
		if (level->wrap && level->fanout - hops < hops)
			hops = level->fanout - hops;
		share = level->wrap && 2 * hops == level->fanout ? 1 : 0.5;
	}
	if (brute_is_full(problem, l) && level->fanout > 1)
		share = 1.0 / (level->fanout - 1);
	*latency = hops * level->latency_s;
	return level->efficiency *
	       brute_rate(problem, l, apart * pricing->used[l] / ranks, share);
}

/* A transfer across a level. */
static struct network_line factor_line(const struct brute_pricing *pricing,
				       uint32_t l)
{
	const struct problem *problem = pricing->problem;
	const uint32_t *p = pricing->plan->placement.factor[DIMENSION_PIPELINE];
	const struct problem_level *level = &problem->level[l];
	struct network_line line = { level->overhead_s, 0 };
	uint32_t ranks[LEVEL_MAX] = { 1 };
	double latency, Bps;

	for (uint32_t i = 0; i < l; i++)
		ranks[i + 1] = ranks[i] * p[i];
	Bps = neighbour(pricing, l, ranks[l], 1, &latency);
	Bps = brute_through(problem, l, Bps, pricing->used, ranks);
	line.latency_s += latency;
	for (uint32_t i = l; i > 0 && problem->level[i].joined; i--) {
		double back = neighbour(pricing, i - 1, ranks[i - 1],
					p[i - 1] - 1, &latency);

		if (p[i - 1] == 1)
			continue;
		Bps = fmin(Bps, back);
		line.latency_s += latency;
	}
	line.s_per_byte = 1 / Bps;
	if (l > 0 && changes_rail(pricing, l)) {
		level--;
		line.latency_s += level->latency_s;
		line.s_per_byte += 1 / level->bandwidth_Bps / level->efficiency;
	}
	return line;
}

double brute_send(const struct brute_pricing *pricing, uint32_t a, uint32_t b,
		  double bytes)
{
	uint32_t l = brute_border(pricing, a, b);
	bool linear = pricing->plan->placement.packing != PACKING_FACTORS;
	struct network_line line = linear ? brute_linear_line(pricing, l) :
					    factor_line(pricing, l);

	return line.latency_s + bytes * line.s_per_byte;
}

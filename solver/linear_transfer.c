/* SPDX-License-Identifier: MIT
 *
 * What crosses between pipeline ranks under a linear placement.
 */
#include "solver/linear.h"

#include <string.h>

#include "solver/most.h"
#include "solver/network_rate.h"

/* The highest level at which two devices lie in different children. */
static uint32_t level_between(const struct problem *problem, uint32_t a,
			      uint32_t b)
{
	uint32_t level = 0;

	for (uint32_t l = 0; a != b && l < problem->level_count; l++) {
		level = l;
		a /= problem->level[l].fanout;
		b /= problem->level[l].fanout;
	}
	return level;
}

static uint32_t stage_width(const struct placement *placement)
{
	return placement->factor[DIMENSION_TENSOR][0] *
	       placement->factor[DIMENSION_CONTEXT][0] *
	       placement->factor[DIMENSION_DATA][0];
}

uint32_t linear_pipeline_level(const struct problem *problem,
			       const struct placement *placement,
			       const uint32_t *device, uint32_t a, uint32_t b)
{
	uint32_t width = stage_width(placement), highest = 0;

	for (uint32_t i = 0; i < width; i++) {
		uint32_t level = level_between(problem, device[a * width + i],
					       device[b * width + i]);

		highest = level > highest ? level : highest;
	}
	return highest;
}

/* Transfers seen so far. */
struct traffic {
	const struct problem *problem;
	uint32_t below[LEVEL_MAX];	/* C_l */
	uint32_t *leaving[LEVEL_MAX];	/* by child, of the transfers at once */
	uint32_t most[LEVEL_MAX];	/* k_l */
	bool changes[LEVEL_MAX];	/* rails */
	bool crossed[LEVEL_MAX];	/* by some transfer as its highest level */
};

/* One transfer; the level that it crosses. */
static uint32_t add_transfer(struct traffic *traffic, uint32_t from, uint32_t to)
{
	uint32_t level = level_between(traffic->problem, from, to), rails, below;

	for (uint32_t l = 0; l <= level; l++) {
		uint32_t *count = &traffic->leaving[l][from / traffic->below[l]];

		if (++*count > traffic->most[l])
			traffic->most[l] = *count;
	}
	traffic->crossed[level] = true;
	rails = traffic->problem->level[level].rails;
	below = traffic->below[level];
	if (rails && from % below % rails != to % below % rails)
		traffic->changes[level] = true;
	return level;
}

static uint32_t children_of(const struct traffic *traffic, uint32_t l)
{
	return traffic->problem->device_count / traffic->below[l];
}

static struct network_line transfer_line(const struct traffic *traffic,
					 uint32_t level)
{
	const struct problem_level *at = &traffic->problem->level[level];
	struct network_line line = { at->overhead_s + at->latency_s, 0 };

	for (uint32_t l = 0; l <= level; l++) {
		const struct problem_level *on = &traffic->problem->level[l];
		double share = 1, Bps;

		if (l < level && on->kind != LEVEL_SWITCH)
			continue;
		if (on->kind == LEVEL_FULL && on->fanout > 1)
			share = 1.0 / (on->fanout - 1);
		Bps = on->efficiency * link_rate(on, traffic->below[l],
						 traffic->most[l], share);
		line.s_per_byte = most(line.s_per_byte, 1 / Bps);
	}
	if (level && traffic->changes[level]) {
		line.latency_s += at[-1].latency_s;
		line.s_per_byte += 1 / (at[-1].efficiency * at[-1].bandwidth_Bps);
	}
	return line;
}

void linear_transfers(const struct problem *problem,
		      const struct placement *placement, const uint32_t *device,
		      struct arena *scratch, struct network_line *line,
		      uint8_t *boundary_level)
{
	uint32_t pipeline = placement->factor[DIMENSION_PIPELINE][0];
	uint32_t width = stage_width(placement), below = 1;
	struct arena_mark mark = arena_mark(scratch);
	struct traffic traffic = { .problem = problem };

	for (uint32_t l = 0; l < problem->level_count; l++) {
		traffic.below[l] = below;
		traffic.most[l] = 1;
		traffic.leaving[l] = ARENA_ARRAY(scratch, uint32_t,
						 children_of(&traffic, l));
		below *= problem->level[l].fanout;
	}
	for (uint32_t r = 0; r < pipeline; r++) {
		uint32_t next = (r + 1) % pipeline, highest = 0;

		/* Back to the first one: not at once with the others. */
		for (uint32_t l = 0; !next && l < problem->level_count; l++)
			memset(traffic.leaving[l], 0,
			       children_of(&traffic, l) * sizeof(uint32_t));
		for (uint32_t i = 0; i < width; i++) {
			uint32_t level = add_transfer(&traffic,
						      device[r * width + i],
						      device[next * width + i]);

			highest = level > highest ? level : highest;
		}
		boundary_level[r] = (uint8_t)highest;
	}
	for (uint32_t l = 0; l < problem->level_count; l++) {
		line[l] = transfer_line(&traffic, l);
		for (uint32_t j = 0; j < l; j++) {
			if (!traffic.crossed[j])
				continue;
			line[l].latency_s = most(line[l].latency_s,
						 line[j].latency_s);
			line[l].s_per_byte = most(line[l].s_per_byte,
						  line[j].s_per_byte);
		}
	}
	arena_rewind(scratch, mark);
}

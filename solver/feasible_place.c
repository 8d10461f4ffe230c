/* SPDX-License-Identifier: MIT
 *
 * The independent checker: where the ranks lie. One site holds the whole plan;
 * on a mixed cluster a plan may have one for each segment of its pipeline.
 */
#include "solver/feasible_check.h"

/* The groups of experts cover strides too: 1 .. x, x .. x e and the rest. Each of
 * the two borders must fall between digits or divide the digit it falls into. */
static bool check_expert_digits(struct check *c, const struct site *site)
{
	uint64_t inner = site->shape->expert_tensor;
	uint64_t outer = inner * site->shape->expert;
	uint64_t from, to;

	for (int d = 0; d < DIMENSION_PIPELINE; d++)
		for (uint32_t l = 0; l < site->problem->level_count; l++) {
			feasible_digit_strides(site, d, l, &from, &to);
			if ((inner % to == 0 || to % inner == 0) &&
			    (outer % to == 0 || to % outer == 0))
				continue;
			text_printf(c->reason, "level %u: the factors do not fit "
				    "expert %u x expert tensor %u", l,
				    site->shape->expert,
				    site->shape->expert_tensor);
			return false;
		}
	return true;
}

/* The factors at one level, given the products of those below. */
static bool check_column(struct check *c, struct site *site, uint32_t l,
			 uint64_t *row)
{
	const struct problem *problem = site->problem;
	uint64_t column = 1;

	for (int d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t factor = site->placement->factor[d][l];

		column *= factor;
		row[d] *= factor;
		if (factor > 1 && problem->within[d] && l >= problem->within[d]) {
			text_printf(c->reason, "level %u: a dimension goes "
				    "beyond the level it must stay within", l);
			return false;
		}
		if (factor == 0 || column > problem->level[l].fanout ||
		    row[d] > site->degree[d]) {
			text_printf(c->reason, "level %u: factors beyond "
				    "the fan-out or the degree", l);
			return false;
		}
	}
	site->below[l] = l ? site->below[l - 1] * problem->level[l - 1].fanout : 1;
	if (l == 0)
		site->used[l] = 1;
	if (l + 1 < problem->level_count)
		site->used[l + 1] = site->used[l] * (double)column;
	return true;
}

/* A linear placement has its degrees at the innermost level. */
static bool check_degrees_alone(struct check *c, struct site *site)
{
	double below = 1;

	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		site->below[l] = below;
		below *= site->problem->level[l].fanout;
	}
	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++) {
			uint32_t factor = site->placement->factor[d][l];

			if (l == 0 ? factor == site->degree[d] : factor <= 1)
				continue;
			text_printf(c->reason, "level %u: a factor of a linear "
				    "placement", l);
			return false;
		}
	return true;
}

static bool check_factors(struct check *c, struct site *site)
{
	const struct problem *problem = site->problem;
	uint64_t row[DIMENSION_COUNT] = { 1, 1, 1, 1 };

	if (site->placement->packing != PACKING_FACTORS)
		return check_degrees_alone(c, site);
	if (site->placement->aligned > 0) {
		text_append(c->reason, "aligned, though not linear");
		return false;
	}
	for (uint32_t l = 0; l < problem->level_count; l++)
		if (!check_column(c, site, l, row))
			return false;
	for (uint32_t l = problem->level_count; l < LEVEL_MAX; l++)
		for (int d = 0; d < DIMENSION_COUNT; d++)
			if (site->placement->factor[d][l] > 1) {
				text_printf(c->reason, "a factor at level %u of %u",
					    l, problem->level_count);
				return false;
			}
	for (int d = 0; d < DIMENSION_COUNT; d++)
		if (row[d] != site->degree[d]) {
			text_printf(c->reason, "dimension %d: factors multiply to "
				    "%u and not to %u", d, (uint32_t)row[d],
				    site->degree[d]);
			return false;
		}
	return check_expert_digits(c, site);
}

static bool fill_site(struct check *c, struct site *site,
		      const struct problem *problem,
		      const struct placement *placement, uint32_t ranks)
{
	const struct problem_shape *shape = &problem->shape[c->plan->choice.shape];
	uint32_t data = c->plan->choice.data;

	site->problem = problem;
	site->choice = &c->plan->choice;
	site->placement = placement;
	site->shape = shape;
	site->degree[DIMENSION_TENSOR] = shape->tensor;
	site->degree[DIMENSION_CONTEXT] = shape->context;
	site->degree[DIMENSION_DATA] = data;
	site->degree[DIMENSION_PIPELINE] = ranks;
	site->replicas = (double)data * shape->context;
	site->expert_replicas = site->replicas * shape->tensor /
				((double)shape->expert * shape->expert_tensor);
	site->scratch = c->scratch;
	if (!check_factors(c, site) || !feasible_devices(c, site))
		return false;
	if (c->plan->choice.shard_level >= problem->level_count) {
		text_printf(c->reason, "shard level %u of %u",
			    c->plan->choice.shard_level, problem->level_count);
		return false;
	}
	site->shards = site->replicas;
	site->expert_shards = site->expert_replicas;
	if (c->plan->choice.shard_level == 0)
		return true;
	site->shards = feasible_size(site, feasible_shard(site,
							  GROUP_DATA_CONTEXT));
	site->expert_shards = feasible_size(site, feasible_shard(site,
							GROUP_EXPERT_DATA));
	return true;
}

/* Segments of a mixed plan: one after the other, of different kinds, and only
 * in the plainest of schedules. */
static bool check_segments(struct check *c)
{
	const struct plan *plan = c->plan;
	uint64_t ranks = 0;

	if (plan->segment_count > c->problem->kind_count) {
		text_printf(c->reason, "%u segments on %u kinds of devices",
			    plan->segment_count, c->problem->kind_count);
		return false;
	}
	for (uint32_t i = 0; i < plan->segment_count; i++) {
		ranks += plan->segment[i].ranks;
		for (uint32_t j = 0; j <= i; j++) {
			if (plan->segment[i].kind < c->problem->kind_count &&
			    plan->segment[i].ranks > 0 &&
			    (j == i || plan->segment[j].kind !=
				       plan->segment[i].kind))
				continue;
			text_printf(c->reason, "segment %u is empty, or its kind "
				    "exists twice or not at all", i);
			return false;
		}
	}
	if (ranks != plan->choice.pipeline || plan->choice.shard_level > 0 ||
	    plan->choice.schedule != SCHEDULE_1F1B ||
	    plan->choice.virtual_stages != 1) {
		text_append(c->reason, "segments that are no 1F1B pipeline with "
			    "whole shard groups");
		return false;
	}
	return true;
}

bool feasible_placement(struct check *c)
{
	const struct plan *plan = c->plan;
	uint32_t rank = 0;

	c->site_count = plan->segment_count ? plan->segment_count : 1;
	if (plan->segment_count > 1 && !check_segments(c))
		return false;
	c->site = ARENA_ARRAY(c->scratch, struct site, c->site_count);
	/* One segment is a plan of that kind's own problem (choose_problem). */
	if (plan->segment_count < 2)
		return fill_site(c, c->site, c->problem, &plan->placement,
				 plan->choice.pipeline);
	for (uint32_t s = 0; s < c->site_count; s++) {
		const struct segment *segment = &plan->segment[s];

		c->site[s].first_rank = rank;
		if (!fill_site(c, &c->site[s], c->problem->kind[segment->kind],
			       &segment->placement, segment->ranks))
			return false;
		rank += segment->ranks;
	}
	return true;
}

const struct site *feasible_site(const struct check *c, uint32_t rank)
{
	const struct site *site = &c->site[c->site_count - 1];

	if (c->routed)
		return &c->routed_site[rank];
	while (site > c->site && rank < site->first_rank)
		site--;
	return site;
}

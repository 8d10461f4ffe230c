/* SPDX-License-Identifier: MIT
 *
 * What pricing needs of one placement: the lines of its groups and transfers, and
 * what ZeRO shares out among.
 */
#include "solver/placement.h"

#include "solver/devices.h"
#include "solver/linear.h"
#include "solver/share.h"

static struct network_lines group_lines(const struct problem *problem,
					const struct placement *placement,
					const struct problem_shape *degrees,
					enum group group)
{
	struct group_shape shape = network_group(problem, placement, degrees,
						 group);

	return network_lines(problem, &shape);
}

static void price_factors(const struct problem *problem,
			  const struct problem_shape *shape, bool experts,
			  struct placed *placed)
{
	uint32_t pipeline = 1;

	for (int i = 0; i < GROUP_COUNT; i++)
		if (i < GROUP_EXPERT || experts)
			placed->group[i] = group_lines(problem,
						       &placed->placement, shape,
						       (enum group)i);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		placed->transfer[l] = network_transfer_line(
			problem, &placed->placement, l);
		pipeline *= placed->placement.factor[DIMENSION_PIPELINE][l];
	}
	for (uint32_t r = 0; r < pipeline; r++)
		placed->boundary_level[r] = (uint8_t)network_pipeline_level(
			problem, &placed->placement, r, (r + 1) % pipeline);
}

static void price_linear(const struct problem *problem,
			 const struct problem_shape *shape, bool experts,
			 struct arena *arena, struct placed *placed)
{
	for (int i = 0; i < GROUP_COUNT; i++)
		if (i < GROUP_EXPERT || experts)
			placed->group[i] = linear_lines(
				problem, &placed->placement, shape,
				placed->device, (enum group)i, arena);
	linear_transfers(problem, &placed->placement, placed->device, arena,
			 placed->transfer, placed->boundary_level);
}

static bool level_is_wanted(const struct problem *problem, uint32_t level)
{
	if (!level)
		return true;
	for (uint32_t zero = 0; zero < 4; zero++)
		if (problem->zero[zero] &&
		    shard_level_allowed(problem, zero, level))
			return true;
	return false;
}

static void price_sharding(const struct problem *problem,
			   const struct problem_shape *shape, struct arena *arena,
			   struct placed *placed)
{
	uint32_t levels = placed->placement.packing == PACKING_FACTORS ?
		problem->level_count : 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		struct sharding *sharding = NULL;

		if (l < levels && level_is_wanted(problem, l)) {
			sharding = ARENA_NEW(arena, struct sharding);
			*sharding = sharding_of(problem, &placed->placement, shape,
						placed->group, l);
		}
		placed->sharding[l] = sharding;
	}
}

/* Lays the ranks of a linear placement; NULL where they find no room, or where factors,
 * the plainer way to say where ranks are, say the same. */
static const uint32_t *lay_linear(const struct problem *problem,
				  const struct problem_shape *shape,
				  const struct placement *placement,
				  struct arena *arena)
{
	struct placement factors;
	const uint32_t *device;

	if (linear_divides(problem, placement, &factors) &&
	    network_experts_fit(problem, &factors, shape))
		return NULL;
	device = devices_lay(problem, placement, arena);
	if (!device ||
	    (linear_is_factored(problem, placement, device, &factors) &&
	     network_experts_fit(problem, &factors, shape)))
		return NULL;
	return device;
}

/* Whether the replicas of a weight lie in several innermost children. */
static bool replicas_leave(const struct problem *problem,
			   const struct placement *placement)
{
	uint32_t inner = placement->factor[DIMENSION_CONTEXT][0] *
			 placement->factor[DIMENSION_DATA][0];
	uint32_t replicas = 1, devices = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		replicas *= placement->factor[DIMENSION_CONTEXT][l] *
			    placement->factor[DIMENSION_DATA][l];
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			devices *= placement->factor[d][l];
	}
	if (placement->packing == PACKING_FACTORS)
		return replicas > inner;
	return replicas > 1 && devices > problem->level[0].fanout;
}

bool placement_price_with(const struct problem *problem,
			  const struct problem_shape *shape, bool experts,
			  struct arena *arena, struct placed *placed)
{
	const uint32_t *row = placed->placement.factor[DIMENSION_PIPELINE];
	uint32_t pipeline = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		pipeline *= row[l];
	placed->boundary_level = ARENA_ARRAY(arena, uint8_t, pipeline);
	placed->device = NULL;
	placed->replicas_leave = replicas_leave(problem, &placed->placement);
	for (int i = 0; i < GROUP_COUNT; i++)
		placed->group[i] = (struct network_lines){ .alone = true };
	if (placed->placement.packing == PACKING_FACTORS) {
		price_factors(problem, shape, experts, placed);
		price_sharding(problem, shape, arena, placed);
		return true;
	}
	placed->device = lay_linear(problem, shape, &placed->placement, arena);
	if (!placed->device)
		return false;
	price_linear(problem, shape, experts, arena, placed);
	price_sharding(problem, shape, arena, placed);
	return true;
}

bool placement_price(const struct problem *problem,
		     const struct problem_shape *shape, struct arena *arena,
		     struct placed *placed)
{
	return placement_price_with(problem, shape, share_has_experts(problem),
				    arena, placed);
}

static void reach_factors(const struct problem *problem,
			  const struct group_shape *shape,
			  struct placement_reach *reach)
{
	uint32_t inside = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		reach->members *= shape->members[l];
	for (uint32_t l = 0; l <= problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];
		struct placement_part *part = &reach->level[l];

		part->least = part->most = part->copies = inside;
		if (l == problem->level_count)
			break;
		part->crossed = shape->members[l] > 1;
		part->sharers = inside < reach->members ?
			shape->used[l] / inside : 0;
		part->share = 1;
		if (level->kind == LEVEL_FULL && part->crossed)
			part->share = (shape->members[l] - 1.0) /
				      (level->fanout - 1);
		if (level->kind == LEVEL_RING)
			part->share = (level->wrap &&
				       shape->apart[l] * shape->members[l] ==
					       level->fanout ? 1 : 0.5) /
				      shape->apart[l];
		inside *= shape->members[l];
	}
}

void placement_reach(const struct problem *problem,
		     const struct problem_shape *shape,
		     const struct placed *placed, enum group group,
		     struct arena *scratch, struct placement_reach *reach)
{
	struct group_shape group_shape;

	*reach = (struct placement_reach){ .members = 1 };
	if (placed->device) {
		linear_reach(problem, &placed->placement, shape, placed->device,
			     group, scratch, reach);
		return;
	}
	group_shape = network_group(problem, &placed->placement, shape, group);
	reach_factors(problem, &group_shape, reach);
}

uint32_t placement_pipeline_level(const struct problem *problem,
				  const struct placed *placed, uint32_t a,
				  uint32_t b)
{
	if (placed->device)
		return linear_pipeline_level(problem, &placed->placement,
					     placed->device, a, b);
	return network_pipeline_level(problem, &placed->placement, a, b);
}

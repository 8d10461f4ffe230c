/* SPDX-License-Identifier: MIT
 *
 * Cutting replica groups at a level.
 */
#include "solver/shard.h"

struct group_shape shard_inside(const struct group_shape *group, uint32_t level)
{
	struct group_shape shape = *group;

	for (uint32_t l = level ? level : LEVEL_MAX; l < LEVEL_MAX; l++)
		shape.members[l] = 1;
	return shape;
}

struct group_shape shard_outside(const struct group_shape *group, uint32_t level)
{
	struct group_shape shape = *group;

	for (uint32_t l = 0; l < (level ? level : LEVEL_MAX); l++)
		shape.members[l] = 1;
	return shape;
}

static double member_count(const struct problem *problem,
			   const struct group_shape *group)
{
	double count = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		count *= group->members[l];
	return count;
}

static struct shard_group cut(const struct problem *problem,
			      const struct placement *placement,
			      const struct problem_shape *shape, enum group kind,
			      uint32_t level)
{
	struct group_shape whole = network_group(problem, placement, shape, kind);
	struct group_shape inside = shard_inside(&whole, level);
	struct group_shape outside = shard_outside(&whole, level);

	return (struct shard_group){
		.members = member_count(problem, &inside),
		.others = member_count(problem, &outside),
		.inside = network_lines(problem, &inside),
		.outside = network_lines(problem, &outside),
	};
}

struct sharding sharding_of(const struct problem *problem,
			    const struct placement *placement,
			    const struct problem_shape *shape, uint32_t level)
{
	return (struct sharding){
		.parameters = cut(problem, placement, shape,
				  GROUP_DATA_CONTEXT, level),
		.experts = cut(problem, placement, shape, GROUP_EXPERT_DATA,
			       level),
	};
}

bool shard_level_allowed(const struct problem *problem, uint32_t zero,
			 uint32_t level)
{
	if (!zero || !level) {
		for (uint32_t l = 1; zero && l < LEVEL_MAX; l++)
			if (problem->shard_level[l])
				return problem->shard_level[0];
		return !level;
	}
	return level < problem->level_count && problem->shard_level[level];
}

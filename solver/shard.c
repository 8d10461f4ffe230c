/* SPDX-License-Identifier: MIT
 *
 * Cutting replica groups at a level.
 */
#include "solver/shard.h"

#include <stddef.h>

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

/* The whole group, under any packing. */
static struct shard_group whole(const struct network_lines *lines,
				double members)
{
	return (struct shard_group){
		.members = members,
		.others = 1,
		.inside = *lines,
		.outside = { .alone = true },
	};
}

static struct shard_group cut(const struct problem *problem,
			      const struct placement *placement,
			      const struct problem_shape *shape, enum group kind,
			      uint32_t level)
{
	struct group_shape group = network_group(problem, placement, shape, kind);
	struct group_shape inside = shard_inside(&group, level);
	struct group_shape outside = shard_outside(&group, level);

	return (struct shard_group){
		.members = member_count(problem, &inside),
		.others = member_count(problem, &outside),
		.inside = network_lines(problem, &inside),
		.outside = network_lines(problem, &outside),
	};
}

static double degree_of(const struct problem *problem,
			const struct placement *placement,
			enum dimension dimension)
{
	double degree = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		degree *= placement->factor[dimension][l];
	return degree;
}

struct sharding sharding_of(const struct problem *problem,
			    const struct placement *placement,
			    const struct problem_shape *shape,
			    const struct network_lines *group, uint32_t level)
{
	double replicas = degree_of(problem, placement, DIMENSION_DATA) *
			  shape->context;

	if (!level)
		return (struct sharding){
			.parameters = whole(&group[GROUP_DATA_CONTEXT], replicas),
			.experts = whole(&group[GROUP_EXPERT_DATA],
					 replicas * shape->tensor / shape->expert /
						 shape->expert_tensor),
		};
	return (struct sharding){
		.parameters = cut(problem, placement, shape, GROUP_DATA_CONTEXT,
				  level),
		.experts = cut(problem, placement, shape, GROUP_EXPERT_DATA,
			       level),
	};
}

static double reduce_group(const struct shard_group *group, uint32_t zero,
			   double bytes)
{
	double time = 0;

	if (!zero)
		return network_time(&group->inside, COLLECTIVE_ALL_REDUCE, bytes,
				    NULL);
	if (zero == 1)
		time = network_time(&group->inside, COLLECTIVE_REDUCE_SCATTER,
				    bytes, NULL);
	return time + network_time(&group->outside, COLLECTIVE_ALL_REDUCE,
				   bytes / group->members, NULL);
}

double shard_reduce_s(const struct sharding *sharding, uint32_t zero,
		      double bytes, double expert_bytes)
{
	return reduce_group(&sharding->parameters, zero, bytes) +
	       reduce_group(&sharding->experts, zero, expert_bytes);
}

double shard_gather_s(const struct sharding *sharding, uint32_t zero,
		      double bytes, double expert_bytes)
{
	if (zero != 1 && zero != 2)
		return 0;
	return network_time(&sharding->parameters.inside, COLLECTIVE_ALL_GATHER,
			    bytes, NULL) +
	       network_time(&sharding->experts.inside, COLLECTIVE_ALL_GATHER,
			    expert_bytes, NULL);
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

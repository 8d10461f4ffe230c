/* SPDX-License-Identifier: MIT
 *
 * The groups over which ZeRO shares out: a group of replicas cut in two at a level,
 * the members in one child of it (the shard group) and one member of each such
 * group (the rest group).
 *
 * Under a placement the replica group has n_l members below each level l
 * (network_group). With shard level L > 0 the shard group has n_l at the levels l <
 * L and 1 from L on, the rest group 1 below L and n_l from L on; the devices used
 * below each level and the members of other groups that lie between are those
 * of the whole group: all shard groups communicate at once, and so do all rest
 * groups. L = 0: the shard group is the whole group. A linear placement has shard
 * level 0 only.
 */
#ifndef NEST_SOLVER_SHARD_H
#define NEST_SOLVER_SHARD_H

#include "solver/network.h"

/* One kind of parameter. */
struct shard_group {
	double members;			/* of the shard group */
	double others;			/* of the rest group */
	struct network_lines inside;	/* over the shard group */
	struct network_lines outside;	/* over the rest group */
};

struct sharding {
	struct shard_group parameters;	/* of data x context */
	struct shard_group experts;	/* of expert data */
};

/* What a replica group is cut into. */
struct group_shape shard_inside(const struct group_shape *group, uint32_t level);
struct group_shape shard_outside(const struct group_shape *group, uint32_t level);

/* Both kinds under a placement that fits the shape, whose groups have these
 * lines (by enum group). */
struct sharding sharding_of(const struct problem *problem,
			    const struct placement *placement,
			    const struct problem_shape *shape,
			    const struct network_lines *group, uint32_t level);

/* Time of the reduction at the end of the last backward: of so many bytes of
 * gradients of either kind on each device. */
double shard_reduce_s(const struct sharding *sharding, uint32_t zero,
		      double bytes, double expert_bytes);

/* Time of the gather after the step, of so many bytes of parameters. */
double shard_gather_s(const struct sharding *sharding, uint32_t zero,
		      double bytes, double expert_bytes);

/* Whether the level is allowed with that ZeRO stage. */
bool shard_level_allowed(const struct problem *problem, uint32_t zero,
			 uint32_t level);

#endif

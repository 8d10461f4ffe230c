/* SPDX-License-Identifier: MIT
 *
 * The time of one layer of every class under one shape, recomputation policy
 * and placement of its groups: compute plus what of the layer's collectives, and
 * of the gathers and scatters of ZeRO 2 and 3, is exposed (price.h).
 */
#ifndef NEST_SOLVER_LAYER_H
#define NEST_SOLVER_LAYER_H

#include "solver/shard.h"

struct layer_time {
	double forward_s;		/* collectives included */
	double backward_s;
	double compute_s;		/* of both together: compute, */
	double tensor_s;		/*   exposed tensor-parallel, */
	double context_s;		/*   context-parallel, */
	double expert_s;		/*   expert-parallel communication */
	double sharding_s;		/*   and gathers and scatters of ZeRO 2 and 3 */
};

/* What decides the times besides the class. */
struct layer_setting {
	const struct problem *problem;
	uint32_t shape;
	enum recompute recompute;
	uint32_t zero;
	const struct network_lines *group;	/* by enum group */
	const struct sharding *sharding;	/* ZeRO 2 and 3; else may be NULL */
};

struct layer_time layer_time(const struct layer_setting *setting,
			     uint32_t class_index);

/* Fills time[class_count]. */
void layer_times(const struct layer_setting *setting, struct layer_time *time);

/* Whether a class that is recomputed under the choice keeps everything instead
 * where it is not among the first recompute_layers of a chunk. */
static inline bool layer_may_be_kept(const struct problem *problem,
				     const struct choice *choice,
				     uint32_t class_index)
{
	return choice->recompute == RECOMPUTE_FULL && choice->recompute_layers &&
	       problem->class_is_block[class_index];
}

#endif

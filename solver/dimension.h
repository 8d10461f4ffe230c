/* SPDX-License-Identifier: MIT
 *
 * The vocabulary shared by the solver and the compiler: dimensions of
 * parallelism, process groups, collectives, recomputation, plan variables.
 */
#ifndef NEST_SOLVER_DIMENSION_H
#define NEST_SOLVER_DIMENSION_H

/* Dimensions whose degrees multiply to the number of devices used. Each is a
 * row of the placement matrix. Expert parallelism is no factor of the world:
 * its groups are laid over tensor, context and data ranks (enum group). */
enum dimension {
	DIMENSION_TENSOR,
	DIMENSION_CONTEXT,
	DIMENSION_DATA,
	DIMENSION_PIPELINE,
	DIMENSION_COUNT
};

/* Process groups that communicate. */
enum group {
	GROUP_TENSOR,
	GROUP_CONTEXT,
	GROUP_DATA_CONTEXT,	/* replicas of a weight: gradient synchronisation, ZeRO */
	GROUP_EXPERT,		/* expert-parallel group: dispatch and combine */
	GROUP_EXPERT_TENSOR,	/* ranks that hold parts of the same experts */
	GROUP_EXPERT_DATA,	/* replicas of an expert's weight: tensor x context x
				 * data / (expert x expert_tensor) */
	GROUP_COUNT
};

enum collective {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_COUNT
};

/* How a collective is carried out; the cheapest is chosen and named. */
enum algorithm {
	ALGORITHM_NONE,			/* group of one */
	ALGORITHM_RING,			/* one flat ring over the whole group */
	ALGORITHM_HIERARCHICAL,		/* level by level, shards at the outer levels */
	ALGORITHM_TREE,			/* double binary tree; all-reduce only */
	ALGORITHM_DIRECT,		/* pairwise all-to-all */
	ALGORITHM_IN_NETWORK,		/* hierarchical, added up by switches where they can */
	ALGORITHM_COUNT
};

enum recompute {
	RECOMPUTE_NONE,
	RECOMPUTE_SELECTIVE,	/* the attention core only */
	RECOMPUTE_FULL,		/* whole layers: only the layer's input is kept */
	RECOMPUTE_COUNT
};

/* schedule.h has the orders of operations. */
enum schedule {
	SCHEDULE_1F1B,		/* one chunk per device */
	SCHEDULE_INTERLEAVED,	/* several */
	SCHEDULE_GPIPE,		/* one; all forwards, then all backwards */
	SCHEDULE_COUNT
};

#endif

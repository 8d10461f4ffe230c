/* SPDX-License-Identifier: MIT
 *
 * What the plans of one placement take at least on the links, whichever child takes
 * which place.
 *
 * The hierarchy has every child as fast as the fastest. Of a plan whose places are
 * known more can be said, from cuts alone (graph_cut.h):
 *
 *	pairs	what goes from one child to one sibling passes the links that lead there.
 *		With k devices of a pipeline rank in a child of level l, a boundary across
 *		it takes k / pair_l; a group of n_l > 1 members there sends of its bytes
 *		(n_l - 1)/n_l / N_l / 2 a device to each neighbour, the same child for
 *		all of them
 *	slow	a plan that uses K children of a level uses one whose uplink is at most
 *		the K-th widest, u; and as many such as there are among the K widest. In
 *		each lies one block of pipeline ranks: their groups, where they leave the
 *		child, and both boundaries of the block take at least their bytes over u.
 *		Which blocks these are, the plan may choose: there is a case for each
 *		choice, and a plan is in one of them
 *
 * Only flows of the rank's own class are counted, and the bytes that leave a set of
 * vertices over the sum of its links: the most loaded of the links that these flows
 * use is loaded no less. So every line here is at most the routed one (routed.h), for
 * all ways to put children into places. Latencies stay those of the hierarchy.
 */
#ifndef NEST_SOLVER_GRAPH_BOUND_H
#define NEST_SOLVER_GRAPH_BOUND_H

#include "solver/graph_cut.h"
#include "solver/placement.h"

/* Choices of several blocks, if there are more, are not looked at: then it is one. */
#define GRAPH_CASES_MAX 64

/* Blocks of pipeline ranks in slow children. */
struct graph_case {
	const uint32_t *first;		/* rank of each block */
	uint32_t blocks;
	uint32_t count;			/* ranks of a block; all of them: the boundaries are
					 * those of the placement */
	struct placed placed;		/* boundaries of the blocks as slow as they are */
	struct placed slow;		/* groups and sharding of the blocks' ranks */
};

struct graph_site {
	struct placed placed;		/* of the hierarchy, raised by pairs */
	/* Cases by the level of the slow child; a plan is in one of each. */
	const struct graph_case *at[LEVEL_MAX];
	uint32_t count[LEVEL_MAX];	/* 0: no child need be slow */
};

/* Of a placement that placement_price has priced on the hierarchy. Linear ones
 * stay as they are. */
void graph_site(const struct problem *problem, const struct graph_cuts *cuts,
		const struct problem_shape *shape, const struct placed *placed,
		struct arena *arena, struct graph_site *site);

#endif

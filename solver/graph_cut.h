/* SPDX-License-Identifier: MIT
 *
 * What leaves a child of a hierarchy at most: over the links around it, and over
 * those of them that lead on to one sibling.
 *
 * What the devices of a child send to others leaves every set of vertices that holds
 * them and no other devices. Taken are the vertices nearer to the child than to
 * others, up to every distance; and the sets of the children inside, together.
 */
#ifndef NEST_SOLVER_GRAPH_CUT_H
#define NEST_SOLVER_GRAPH_CUT_H

#include "solver/graph_owner.h"

/* Pairs of roots and links that are looked at for graph_cuts.pair_Bps. */
#define GRAPH_PAIRS_MAX (1u << 24)

/* The least cut around a child. */
struct graph_uplink {
	double rate_Bps;		/* sum of the links out of it */
	bool lone;			/* there is one: all that leaves shares it */
};

/* Of every child of each level: uplink[l][child]. */
void graph_uplinks(const struct graph *graph, const struct problem_level *level,
		   const struct graph_owners *owners, struct arena *arena,
		   struct graph_uplink *uplink[LEVEL_MAX]);

struct graph_cuts {
	uint32_t count[LEVEL_MAX];	/* children of each level with a device in use */
	/* Uplinks of a level, the widest first: of k + 1 children, whichever they are,
	 * one is no wider than widest[l][k]. That is lone if all are that are no wider. */
	struct graph_uplink *widest[LEVEL_MAX];
	/* The most that one child can send to one sibling: the sum of the links out of
	 * its vertices that lie on ways to the other. INFINITY where that is not known. */
	double pair_Bps[LEVEL_MAX];
	/* And the least time that n + 1 children inside take for a byte each to as many
	 * inside the sibling, by n: graph_match.h. */
	double *match_s[LEVEL_MAX];
};

/* Of a hierarchy with these owners; places that are avoided are in no plan. */
void graph_cuts(const struct problem *problem, const struct graph *graph,
		const struct graph_owners *owners, struct arena *arena,
		struct graph_cuts *cuts);

#endif

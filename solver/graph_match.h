/* SPDX-License-Identifier: MIT
 *
 * Transfers from one child to a sibling, when some of the children inside send to as
 * many inside the other, each to one of its own: the least time over all ways to pair
 * them.
 */
#ifndef NEST_SOLVER_GRAPH_MATCH_H
#define NEST_SOLVER_GRAPH_MATCH_H

#include "solver/graph_owner.h"

/* Larger levels are not looked at: children inside a child, vertices passed by all
 * ways together, and steps of the search for one number of senders. */
#define GRAPH_MATCH_FANOUT_MAX 16
#define GRAPH_MATCH_WAYS_MAX (1u << 22)
#define GRAPH_MATCH_STEPS_MAX 100000

/* Seconds for a byte from each of n + 1 children inside, n below the fan-out, over the
 * most loaded link: s[n]. All zero for the innermost level, where a child inside has
 * several roots, and where there is too much to look at. */
void graph_match(const struct graph *graph, const struct graph_owners *owners,
		 const struct problem_level *levels, const uint32_t *device,
		 uint32_t level, struct arena *arena, double *s);

#endif

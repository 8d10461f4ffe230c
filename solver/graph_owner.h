/* SPDX-License-Identifier: MIT
 *
 * To which child of a hierarchy every vertex of a graph is nearest.
 */
#ifndef NEST_SOLVER_GRAPH_OWNER_H
#define NEST_SOLVER_GRAPH_OWNER_H

#include "solver/graph.h"
#include "solver/problem.h"

/* Nearest are devices of several children. */
enum { GRAPH_SEVERAL = UINT32_MAX - 1 };

struct graph_owners {
	uint32_t level_count;
	uint32_t device_count;		/* places of the hierarchy */
	uint32_t *place;		/* of each device of the graph, or GRAPH_NONE */
	uint32_t below[LEVEL_MAX + 1];	/* devices of a child; at last, of all */
	/* By level and vertex: the child it is nearest to, GRAPH_SEVERAL, or
	 * GRAPH_NONE where no device can reach it; at last, of the whole. */
	uint32_t *owner[LEVEL_MAX + 1];
	uint32_t *near;			/* links between a vertex and the nearest device */
};

/* device: of the graph, by place. */
void graph_owners(const struct graph *graph, const struct problem_level *level,
		  uint32_t level_count, const uint32_t *device,
		  uint32_t device_count, struct arena *arena,
		  struct graph_owners *owners);

#endif

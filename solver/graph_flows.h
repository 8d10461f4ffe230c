/* SPDX-License-Identifier: MIT
 *
 * The time of sets of flows that run at once over a routed graph (graph.h).
 */
#ifndef NEST_SOLVER_GRAPH_FLOWS_H
#define NEST_SOLVER_GRAPH_FLOWS_H

#include "solver/graph.h"

struct graph_flow {
	uint32_t from, to;		/* devices */
	double bytes;
	uint32_t class;			/* whose time it counts for */
};

/* What flows of one class take, and the link that decides it (GRAPH_NONE: they have
 * no bytes). */
struct graph_time {
	double time_s;
	uint32_t link;
};

/* Flows that run at once. time[c] becomes that of the most loaded of the links that
 * flows of class c use, with the load of all flows; brief[c], if brief is not NULL, the
 * same by the protocol for short messages. */
void graph_flows(const struct graph *graph, const struct graph_flow *flow,
		 uint32_t count, struct graph_time *time, struct graph_time *brief,
		 uint32_t class_count, struct arena *scratch);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The network of a plan as the graph routes it: the lines of every group of every
 * pipeline rank, and those of every boundary.
 *
 * All groups of one kind communicate at once, those of all pipeline ranks too; the
 * lines of a rank are those of the slowest of its own (graph_lines.h). All
 * boundaries send at once, forward; and, apart from that, backward; a boundary has
 * the larger time of both, and the largest latency and overhead of its pairs.
 *
 * None of these lines is below that of the hierarchy (graph_hierarchy.h says why
 * no network is that fast): the larger is taken, term by term. A plan's routed
 * time is therefore never below its time on the hierarchy.
 *
 * Groups of a linear placement, whose members the levels do not share out evenly,
 * are one ring in the order of the devices.
 */
#ifndef NEST_SOLVER_ROUTED_H
#define NEST_SOLVER_ROUTED_H

#include "solver/graph.h"
#include "solver/memo.h"
#include "solver/placement.h"
#include "solver/plan.h"

/* Of one pipeline rank. */
struct routed_rank {
	struct network_lines group[GROUP_COUNT];
	struct sharding sharding;	/* at the plan's shard level */
	/* The links that decide, GRAPH_NONE for groups of one: of each group, and of
	 * the boundary to the next rank. */
	uint32_t link[GROUP_COUNT];
	uint32_t boundary_link;
};

struct routed {
	struct routed_rank *rank;
	struct network_line *boundary;	/* rank r to (r + 1) mod pipeline */
	/* The exchange of a tied weight between its two ranks: a latency, and a
	 * transfer. Nothing where both layers are on one rank. */
	double tied_latency_s;
	struct network_line tied;
};

/* Of a plan whose placement, device (devices_fill), device_map and chunks are
 * known, in a problem with a graph; placed and sharding are those on the
 * hierarchy. memo, if not NULL, is one of the problem's own: what has been routed before
 * is taken from it. */
void routed_network(const struct problem *problem, const struct plan *plan,
		    const struct placed *placed,
		    const struct sharding *sharding, struct memo *memo,
		    struct arena *arena, struct routed *routed);

/* The same of a priced plan of such a problem. */
void routed_plan(const struct problem *problem, const struct plan *plan,
		 struct arena *arena, struct routed *routed);

#endif

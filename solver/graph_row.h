/* SPDX-License-Identifier: MIT
 *
 * What all ways to one root are like, from every vertex.
 */
#ifndef NEST_SOLVER_GRAPH_ROW_H
#define NEST_SOLVER_GRAPH_ROW_H

#include "solver/graph.h"

struct graph_row {
	uint32_t *order;		/* vertices of the core, nearest first */
	uint32_t count;			/* that reach the root */
	/* By number in the core: */
	double *latency_s;		/* sum on the way */
	double *overhead_s;		/* the least over the ways of the largest */
	double *short_overhead_s;	/* the same by the protocol for short messages */
	double *width_Bps;		/* the most over the ways of the least rate, each
					 * link at link_Bps */
};

struct graph_row graph_row_new(const struct graph *graph, struct arena *arena);

/* link_Bps by link. */
void graph_row_fill(const struct graph *graph, uint32_t root,
		    const double *link_Bps, struct graph_row *row);

/* Whether graph.out[at] is on a way to a root, by its number. */
bool graph_leads(const struct graph *graph, uint32_t root, uint32_t at);
/* The same of so many of them, at most 64, as bits, the first the lowest; `count` above
 * that counts as 64. */
uint64_t graph_leads_of(const struct graph *graph, uint32_t root, uint32_t at,
			uint32_t count);
/* Hops to a root from a vertex of the core, by its number there. */
uint32_t graph_hops(const struct graph *graph, uint32_t root, uint32_t core);

#endif

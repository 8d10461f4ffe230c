/* SPDX-License-Identifier: MIT
 *
 * One pass over the core in the order of distance.
 */
#include "solver/graph_row.h"

#include <math.h>

#include "solver/most.h"

struct graph_row graph_row_new(const struct graph *graph, struct arena *arena)
{
	uint32_t core = graph->core_count + 1;

	return (struct graph_row){
		.order = ARENA_ARRAY(arena, uint32_t, core),
		.latency_s = ARENA_ARRAY(arena, double, core),
		.overhead_s = ARENA_ARRAY(arena, double, core),
		.short_overhead_s = ARENA_ARRAY(arena, double, core),
		.width_Bps = ARENA_ARRAY(arena, double, core),
	};
}

/* Breadth first, against the links that lead on. */
static void order_vertices(const struct graph *graph, uint32_t root,
			   struct graph_row *row)
{
	uint32_t head = 0;

	row->count = 0;
	row->order[row->count++] = graph->root[root];
	while (head < row->count) {
		uint32_t v = row->order[head++];
		uint32_t hop = graph_hops(graph, root, graph->core_of[v]);

		for (uint32_t i = graph->in_first[v]; i < graph->in_first[v + 1];
		     i++) {
			uint32_t from = graph->link[graph->in[i]].from;
			uint32_t at = graph->core_of[from];

			if (at == GRAPH_NONE || row->width_Bps[at] > 0 ||
			    graph_hops(graph, root, at) != hop + 1)
				continue;
			row->width_Bps[at] = INFINITY;
			row->order[row->count++] = from;
		}
	}
}

static void fill_vertex(const struct graph *graph, uint32_t root, uint32_t v,
			const double *link_Bps, struct graph_row *row)
{
	uint32_t at = graph->core_of[v];
	double width = 0, overhead = INFINITY, brief = INFINITY;

	for (uint32_t i = graph->out_first[v]; i < graph->out_first[v + 1]; i++) {
		uint32_t link = graph->out[i], to;
		double rate = link_Bps[link];

		if (!graph_leads(graph, root, i))
			continue;
		to = graph->core_of[graph->link[link].to];
		if (row->width_Bps[to] < rate)
			rate = row->width_Bps[to];
		width = most(width, rate);
		row->latency_s[at] = graph->link[link].latency_s +
				     row->latency_s[to];
		overhead = fmin(overhead, most(graph->link[link].overhead_s,
					       row->overhead_s[to]));
		brief = fmin(brief, most(graph->link[link].short_overhead_s,
					 row->short_overhead_s[to]));
	}
	row->width_Bps[at] = width;
	row->overhead_s[at] = overhead;
	row->short_overhead_s[at] = brief;
}

void graph_row_fill(const struct graph *graph, uint32_t root,
		    const double *link_Bps, struct graph_row *row)
{
	uint32_t first = graph->core_of[graph->root[root]];

	for (uint32_t i = 0; i < graph->core_count; i++)
		row->width_Bps[i] = 0;
	row->width_Bps[first] = INFINITY;
	row->latency_s[first] = row->overhead_s[first] =
		row->short_overhead_s[first] = 0;
	order_vertices(graph, root, row);
	for (uint32_t i = 1; i < row->count; i++)
		fill_vertex(graph, root, row->order[i], link_Bps, row);
}

/* SPDX-License-Identifier: MIT
 *
 * Tables of ways to every root: breadth first against the links for the number
 * of hops, then the least latency hop by hop.
 */
#include "solver/graph.h"

#include <math.h>
#include <string.h>

#include "solver/graph_row.h"
#include "solver/most.h"

/* Latencies closer than this, relative to the larger, are the same. */
#define SAME_LATENCY 1e-9

static void index_links(struct graph *graph, struct arena *arena)
{
	uint32_t vertices = graph->vertex_count, links = graph->link_count;
	uint32_t *fill_out = ARENA_ARRAY(arena, uint32_t, vertices + 1);
	uint32_t *fill_in = ARENA_ARRAY(arena, uint32_t, vertices + 1);

	graph->out_first = ARENA_ARRAY(arena, uint32_t, vertices + 1);
	graph->in_first = ARENA_ARRAY(arena, uint32_t, vertices + 1);
	graph->out = ARENA_ARRAY(arena, uint32_t, links + 1);
	graph->in = ARENA_ARRAY(arena, uint32_t, links + 1);
	for (uint32_t i = 0; i < links; i++) {
		graph->out_first[graph->link[i].from + 1]++;
		graph->in_first[graph->link[i].to + 1]++;
	}
	for (uint32_t v = 0; v < vertices; v++) {
		graph->out_first[v + 1] += graph->out_first[v];
		graph->in_first[v + 1] += graph->in_first[v];
		fill_out[v] = graph->out_first[v];
		fill_in[v] = graph->in_first[v];
	}
	for (uint32_t i = 0; i < links; i++) {
		graph->out[fill_out[graph->link[i].from]++] = i;
		graph->in[fill_in[graph->link[i].to]++] = i;
	}
}

static uint32_t out_count(const struct graph *graph, uint32_t vertex)
{
	return graph->out_first[vertex + 1] - graph->out_first[vertex];
}

static uint32_t in_count(const struct graph *graph, uint32_t vertex)
{
	return graph->in_first[vertex + 1] - graph->in_first[vertex];
}

/* Devices first: whether a vertex hangs decides what the core is. Two devices
 * that only have each other are both their own roots. */
static void find_roots(struct graph *graph, struct arena *arena)
{
	bool *hangs = ARENA_ARRAY(arena, bool, graph->vertex_count);

	for (uint32_t d = 0; d < graph->device_count; d++) {
		struct graph_device *device = &graph->device[d];
		uint32_t v = device->vertex, up, down;

		device->root = v;
		device->up = device->down = GRAPH_NONE;
		if (out_count(graph, v) != 1 || in_count(graph, v) != 1)
			continue;
		up = graph->out[graph->out_first[v]];
		down = graph->in[graph->in_first[v]];
		if (graph->link[up].to != graph->link[down].from ||
		    hangs[graph->link[up].to])
			continue;
		hangs[v] = true;
		device->root = graph->link[up].to;
		device->up = up;
		device->down = down;
	}
	graph->core_of = ARENA_ARRAY(arena, uint32_t, graph->vertex_count);
	graph->root_of = ARENA_ARRAY(arena, uint32_t, graph->vertex_count);
	graph->root = ARENA_ARRAY(arena, uint32_t, graph->vertex_count);
	graph->core_count = graph->root_count = 0;
	for (uint32_t v = 0; v < graph->vertex_count; v++) {
		graph->core_of[v] = hangs[v] ? GRAPH_NONE : graph->core_count++;
		graph->root_of[v] = GRAPH_NONE;
	}
	for (uint32_t d = 0; d < graph->device_count; d++) {
		uint32_t root = graph->device[d].root;

		if (graph->root_of[root] != GRAPH_NONE)
			continue;
		graph->root_of[root] = graph->root_count;
		graph->root[graph->root_count++] = root;
	}
}

bool graph_is_too_large(const struct graph *graph, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct graph copy = *graph;
	bool large;

	copy.device = ARENA_ARRAY(scratch, struct graph_device,
				  graph->device_count + 1);
	if (graph->device_count)
		memcpy(copy.device, graph->device,
		       graph->device_count * sizeof(*copy.device));
	index_links(&copy, scratch);
	find_roots(&copy, scratch);
	large = (uint64_t)copy.root_count * copy.core_count > GRAPH_TABLE_MAX ||
		(uint64_t)copy.root_count * copy.link_count >
			GRAPH_TABLE_LINKS_MAX;
	arena_rewind(scratch, mark);
	return large;
}

/* ---- tables ---- */

static uint64_t lead_bit(const struct graph *graph, uint32_t root, uint32_t at)
{
	return (uint64_t)root * graph->link_count + at;
}

bool graph_leads(const struct graph *graph, uint32_t root, uint32_t at)
{
	uint64_t bit = lead_bit(graph, root, at);

	return graph->leads[bit / 64] >> (bit % 64) & 1;
}

/* The table has a word more than it needs. */
uint64_t graph_leads_of(const struct graph *graph, uint32_t root, uint32_t at,
			uint32_t count)
{
	uint64_t bit = lead_bit(graph, root, at);
	uint64_t bits = graph->leads[bit / 64] >> (bit % 64);

	if (bit % 64)
		bits |= graph->leads[bit / 64 + 1] << (64 - bit % 64);
	return count < 64 ? bits & ((UINT64_C(1) << count) - 1) : bits;
}

static uint16_t *hops_row(const struct graph *graph, uint32_t root)
{
	return graph->hops + (size_t)root * graph->core_count;
}

uint32_t graph_hops(const struct graph *graph, uint32_t root, uint32_t core)
{
	return hops_row(graph, root)[core];
}

/* Vertices in the order in which the search meets them. */
static uint32_t spread(struct graph *graph, uint32_t root, uint32_t *queue)
{
	uint16_t *hops = hops_row(graph, root);
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < graph->core_count; i++)
		hops[i] = UINT16_MAX;
	hops[graph->core_of[graph->root[root]]] = 0;
	queue[tail++] = graph->root[root];
	while (head < tail) {
		uint32_t v = queue[head++];
		uint32_t next = hops[graph->core_of[v]] + 1u;

		for (uint32_t i = graph->in_first[v]; i < graph->in_first[v + 1];
		     i++) {
			uint32_t from = graph->link[graph->in[i]].from;

			if (graph->core_of[from] == GRAPH_NONE ||
			    hops[graph->core_of[from]] != UINT16_MAX)
				continue;
			hops[graph->core_of[from]] = (uint16_t)next;
			queue[tail++] = from;
		}
	}
	return tail;
}

/* Marks the links that leave one vertex along the least latency. */
static void mark_links(struct graph *graph, uint32_t root, uint32_t vertex,
		       double *latency_s)
{
	const uint16_t *hops = hops_row(graph, root);
	uint32_t hop = hops[graph->core_of[vertex]];
	double least = INFINITY;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = graph->out_first[vertex];
		     i < graph->out_first[vertex + 1]; i++) {
			const struct graph_link *link =
				&graph->link[graph->out[i]];
			uint32_t to = graph->core_of[link->to];
			double whole;

			if (to == GRAPH_NONE || hops[to] + 1u != hop)
				continue;
			whole = link->latency_s + latency_s[to];
			if (!pass && whole < least)
				least = whole;
			if (pass && whole <= least * (1 + SAME_LATENCY)) {
				uint64_t bit = lead_bit(graph, root, i);

				graph->leads[bit / 64] |= UINT64_C(1) << bit % 64;
			}
		}
	}
	latency_s[graph->core_of[vertex]] = least;
}

/* ---- ways ---- */

/* stays: the way leads over one root only. */
static void way_add(const struct graph *graph, uint32_t link, bool stays,
		    struct graph_way *way)
{
	const struct graph_link *at = &graph->link[link];

	way->hops++;
	way->latency_s += at->latency_s;
	if (!at->inner || stays) {
		way->overhead_s = most(way->overhead_s, at->overhead_s);
		way->short_overhead_s = most(way->short_overhead_s,
					     at->short_overhead_s);
	}
	if (at->rate_Bps < way->rate_Bps)
		way->rate_Bps = at->rate_Bps;
}

/* The first link out of a vertex, other than the root, that leads on. */
static uint32_t first_lead(const struct graph *graph, uint32_t root, uint32_t vertex)
{
	uint32_t i = graph->out_first[vertex], end = graph->out_first[vertex + 1];

	for (;;) {
		uint64_t bits = graph_leads_of(graph, root, i, end - i);

		if (bits)
			return i + (uint32_t)__builtin_ctzll(bits);
		i += 64;
	}
}

static struct graph_way find_way(const struct graph *graph, uint32_t from_root,
				 uint32_t to_root)
{
	struct graph_way way = { .rate_Bps = INFINITY };
	uint32_t v = graph->root[from_root];

	while (v != graph->root[to_root]) {
		uint32_t at = first_lead(graph, to_root, v);

		way_add(graph, graph->out[at], false, &way);
		v = graph->link[graph->out[at]].to;
	}
	return way;
}

/* Of all ways to a root, in the order of vertices met. */
static void keep_ways(struct graph *graph, uint32_t root, const uint32_t *queue,
		      uint32_t met, struct graph_way *way)
{
	way[graph->core_of[queue[0]]] = (struct graph_way){ .rate_Bps = INFINITY };
	for (uint32_t i = 1; i < met; i++) {
		uint32_t at = first_lead(graph, root, queue[i]);
		const struct graph_link *link = &graph->link[graph->out[at]];
		struct graph_way *here = &way[graph->core_of[queue[i]]];

		*here = way[graph->core_of[link->to]];
		way_add(graph, graph->out[at], false, here);
	}
	for (uint32_t from = 0; from < graph->root_count; from++)
		graph->way[(size_t)root * graph->root_count + from] =
			way[graph->core_of[graph->root[from]]];
}

/* ---- all of it ---- */

/* Of one vertex of the core at a time. */
struct scratch {
	uint32_t *queue;
	double *latency_s;
	struct graph_way *way;
};

static void route_root(struct graph *graph, uint32_t root,
		       const struct scratch *scratch)
{
	uint32_t *queue = scratch->queue, met = spread(graph, root, queue), hops;

	scratch->latency_s[graph->core_of[queue[0]]] = 0;
	for (uint32_t i = 1; i < met; i++)
		mark_links(graph, root, queue[i], scratch->latency_s);
	hops = hops_row(graph, root)[graph->core_of[queue[met - 1]]];
	if (hops > graph->hops_most)
		graph->hops_most = hops;
	if (graph->way)
		keep_ways(graph, root, queue, met, scratch->way);
}

static bool find_lost(struct graph *graph)
{
	graph->lost_from = graph->lost_to = GRAPH_NONE;
	for (uint32_t to = 0; to < graph->device_count; to++) {
		uint32_t root = graph->root_of[graph->device[to].root];

		if (to && graph->device[to].root == graph->device[to - 1].root)
			continue;
		for (uint32_t from = 0; from < graph->device_count; from++) {
			uint32_t at = graph->core_of[graph->device[from].root];

			if (hops_row(graph, root)[at] != UINT16_MAX)
				continue;
			graph->lost_from = from;
			graph->lost_to = to;
			return false;
		}
	}
	return true;
}

bool graph_prepare(struct graph *graph, struct arena *arena)
{
	size_t roots;
	struct scratch scratch;

	index_links(graph, arena);
	find_roots(graph, arena);
	roots = graph->root_count;
	graph->hops = ARENA_ARRAY(arena, uint16_t, roots * graph->core_count + 1);
	graph->leads = ARENA_ARRAY(arena, uint64_t,
				   roots * graph->link_count / 64 + 2);
	graph->way = roots > GRAPH_WAY_ROOTS_MAX ? NULL :
		     ARENA_ARRAY(arena, struct graph_way, roots * roots + 1);
	scratch = (struct scratch){
		.queue = ARENA_ARRAY(arena, uint32_t, graph->vertex_count + 1),
		.latency_s = ARENA_ARRAY(arena, double, graph->core_count + 1),
		.way = ARENA_ARRAY(arena, struct graph_way,
				   graph->core_count + 1),
	};
	graph->hops_most = 0;
	for (uint32_t r = 0; r < roots; r++)
		route_root(graph, r, &scratch);
	return find_lost(graph);
}

struct graph_way graph_way(const struct graph *graph, uint32_t from, uint32_t to)
{
	const struct graph_device *a = &graph->device[from];
	const struct graph_device *b = &graph->device[to];
	uint32_t a_root = graph->root_of[a->root], b_root = graph->root_of[b->root];
	struct graph_way way;

	if (from == to)
		return (struct graph_way){ .rate_Bps = INFINITY };
	way = graph->way ? graph->way[(size_t)b_root * graph->root_count + a_root] :
			   find_way(graph, a_root, b_root);
	if (a->up != GRAPH_NONE)
		way_add(graph, a->up, a_root == b_root, &way);
	if (b->down != GRAPH_NONE)
		way_add(graph, b->down, a_root == b_root, &way);
	return way;
}

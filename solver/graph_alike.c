/* SPDX-License-Identifier: MIT
 *
 * What stands out in a graph, and what does not.
 */
#include "solver/graph_alike.h"

#include <string.h>

#include "solver/graph_row.h"
#include "solver/most.h"

/* Slow links that are looked for. */
#define FAULTS_MAX 256

/* ---- which devices a slow link is near to ---- */

/* How far a vertex is from a device; GRAPH_NONE: it cannot be reached. */
static uint32_t hops_from(const struct graph *graph, uint32_t vertex,
			  uint32_t device)
{
	const struct graph_device *at = &graph->device[device];
	uint32_t core = graph->core_of[vertex], hops;

	if (at->vertex == vertex)
		return 0;
	if (core == GRAPH_NONE)
		return GRAPH_NONE;
	hops = graph_hops(graph, graph->root_of[at->root], core);
	return hops == UINT16_MAX ? GRAPH_NONE : hops + (at->up != GRAPH_NONE);
}

/* The number of devices nearest to a vertex, which are marked if so wanted. */
static uint32_t nearest_devices(const struct graph *graph, uint32_t vertex,
				bool *mark)
{
	uint32_t nearest = GRAPH_NONE, count = 0;

	for (uint32_t d = 0; d < graph->device_count; d++) {
		uint32_t hops = hops_from(graph, vertex, d);

		if (hops < nearest) {
			nearest = hops;
			count = 0;
		}
		count += hops == nearest;
	}
	for (uint32_t d = 0; mark && d < graph->device_count; d++)
		mark[d] |= hops_from(graph, vertex, d) == nearest;
	return count;
}

/* Of a slow link the end with fewer devices near it. */
static void mark_faulty(const struct graph *graph, const struct graph_link *link,
			bool *faulty)
{
	uint32_t from = nearest_devices(graph, link->from, NULL);
	uint32_t to = nearest_devices(graph, link->to, NULL);

	if (from <= to)
		nearest_devices(graph, link->from, faulty);
	if (to <= from)
		nearest_devices(graph, link->to, faulty);
}

bool *graph_faulty(const struct graph *graph, struct arena *arena)
{
	bool *faulty = ARENA_ARRAY(arena, bool, graph->device_count);
	uint32_t families = 0, found = 0;
	double *rate;

	for (uint32_t i = 0; i < graph->link_count; i++)
		if (graph->link[i].family >= families)
			families = graph->link[i].family + 1;
	rate = ARENA_ARRAY(arena, double, families);
	for (uint32_t i = 0; i < graph->link_count; i++)
		rate[graph->link[i].family] =
			most(rate[graph->link[i].family],
			     graph->link[i].rate_Bps);
	for (uint32_t i = 0; i < graph->link_count && found < FAULTS_MAX; i++) {
		if (graph->link[i].rate_Bps >= rate[graph->link[i].family])
			continue;
		mark_faulty(graph, &graph->link[i], faulty);
		found++;
	}
	return faulty;
}

/* ---- twins: children that could change places and nobody would know ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* What one link is to the child that owns one end of it (`way` says which); the
 * other end counts by its number where it lies outside. */
static uint64_t link_hash(const struct graph_link *link, uint64_t way,
			  uint64_t outside)
{
	uint64_t hash = mix(way, outside);

	hash = mix(hash, bits_of(link->rate_Bps));
	hash = mix(hash, bits_of(link->latency_s));
	hash = mix(hash, bits_of(link->overhead_s));
	hash = mix(hash, bits_of(link->short_rate_Bps));
	hash = mix(hash, bits_of(link->short_overhead_s));
	hash = mix(hash, link->count);
	return mix(hash, link->family);
}

/* Children are twins if all links in and around them are the same. */
uint64_t *graph_twins(const struct graph *graph, const uint32_t *owner,
		      uint32_t count, struct arena *arena)
{
	uint64_t *twin = ARENA_ARRAY(arena, uint64_t, count);

	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *link = &graph->link[i];
		uint32_t from = owner[link->from], to = owner[link->to];
		bool inside = from == to;

		if (from < count)
			twin[from] += link_hash(link, 1, inside ? UINT64_MAX :
								  link->to);
		if (to < count && !inside)
			twin[to] += link_hash(link, 2, link->from);
	}
	return twin;
}

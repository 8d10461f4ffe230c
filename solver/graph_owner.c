/* SPDX-License-Identifier: MIT
 *
 * Every device tells all vertices how near it is.
 */
#include "solver/graph_owner.h"

#include "solver/graph_row.h"

/* Takes note of a device at a distance from a vertex. */
static void near_device(struct graph_owners *owners, uint32_t vertex,
			uint32_t place, uint32_t hops, uint32_t *nearest)
{
	if (hops > nearest[vertex])
		return;
	for (uint32_t l = 0; l <= owners->level_count; l++) {
		uint32_t *owner = &owners->owner[l][vertex];
		uint32_t child = place / owners->below[l];

		if (hops < nearest[vertex] || *owner == GRAPH_NONE)
			*owner = child;
		else if (*owner != child)
			*owner = GRAPH_SEVERAL;
	}
	nearest[vertex] = hops;
}

static void from_device(const struct graph *graph, struct graph_owners *owners,
			uint32_t d, uint32_t *nearest)
{
	const struct graph_device *device = &graph->device[d];
	uint32_t root = graph->root_of[device->root];
	uint32_t more = device->up != GRAPH_NONE;

	near_device(owners, device->vertex, owners->place[d], 0, nearest);
	for (uint32_t v = 0; v < graph->vertex_count; v++) {
		uint32_t at = graph->core_of[v];

		if (at == GRAPH_NONE ||
		    graph_hops(graph, root, at) == UINT16_MAX)
			continue;
		near_device(owners, v, owners->place[d],
			    graph_hops(graph, root, at) + more, nearest);
	}
}

void graph_owners(const struct graph *graph, const struct problem_level *level,
		  uint32_t level_count, const uint32_t *device,
		  uint32_t device_count, struct arena *arena,
		  struct graph_owners *owners)
{
	uint32_t *nearest = ARENA_ARRAY(arena, uint32_t, graph->vertex_count);

	*owners = (struct graph_owners){
		.level_count = level_count,
		.device_count = device_count,
		.place = ARENA_ARRAY(arena, uint32_t, graph->device_count),
		.below = { 1 },
		.near = nearest,
	};
	for (uint32_t d = 0; d < graph->device_count; d++)
		owners->place[d] = GRAPH_NONE;
	for (uint32_t i = 0; i < device_count; i++)
		owners->place[device[i]] = i;
	for (uint32_t v = 0; v < graph->vertex_count; v++)
		nearest[v] = UINT32_MAX;
	for (uint32_t l = 0; l <= level_count; l++) {
		owners->owner[l] = ARENA_ARRAY(arena, uint32_t,
					       graph->vertex_count);
		for (uint32_t v = 0; v < graph->vertex_count; v++)
			owners->owner[l][v] = GRAPH_NONE;
		if (l < level_count)
			owners->below[l + 1] = owners->below[l] *
					       level[l].fanout;
	}
	for (uint32_t d = 0; d < graph->device_count; d++)
		if (owners->place[d] != GRAPH_NONE)
			from_device(graph, owners, d, nearest);
}

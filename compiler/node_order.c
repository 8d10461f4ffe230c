/* SPDX-License-Identifier: MIT
 *
 * Ranks gathered into nodes.
 */
#include "compiler/node_order.h"

#include <string.h>

#include "compiler/site.h"

/* Devices of one cluster, each with its node. */
struct nodes {
	uint32_t *of;		/* by device */
	uint32_t *size;		/* devices, by node */
	uint32_t device_count;
};

/* Of a graph, devices of one node are called alike up to the last '/'. */
static bool share_node(const char *one, const char *two)
{
	const char *slash = strrchr(one, '/');
	size_t length = slash ? (size_t)(slash - one) + 1 : 0;

	return slash && strncmp(one, two, length) == 0 && !strchr(two + length, '/');
}

static struct nodes nodes_of(const struct ir_topology *topology,
			     struct arena *arena)
{
	const struct ir_graph *graph = topology->graph;
	struct nodes nodes = {
		.device_count = graph ? graph->graph.device_count :
					cluster_devices(topology),
	};

	nodes.of = ARENA_ARRAY(arena, uint32_t, nodes.device_count);
	nodes.size = ARENA_ARRAY(arena, uint32_t, nodes.device_count);
	for (uint32_t i = 0; i < nodes.device_count; i++) {
		if (!graph)
			nodes.of[i] = cluster_node(topology, i);
		else if (i)
			nodes.of[i] = nodes.of[i - 1] +
				      !share_node(graph->device_name[i - 1],
						  graph->device_name[i]);
		nodes.size[nodes.of[i]]++;
	}
	return nodes;
}

struct node_order node_order_read(const struct ir_topology *topology,
				  const struct problem *problem,
				  const struct plan *plan, enum rank_order order,
				  struct arena *arena)
{
	struct nodes nodes = nodes_of(topology, arena);
	struct node_order result = { .are_blocks = true, .is_whole = true };
	bool *seen = ARENA_ARRAY(arena, bool, nodes.device_count);
	uint32_t last = 0, before = 0;

	result.node = ARENA_ARRAY(arena, uint32_t, plan->devices);
	result.device = ARENA_ARRAY(arena, uint32_t, plan->devices);
	for (uint32_t i = 0; i < plan->devices; i++) {
		uint32_t device = physical_device(
			plan, rank_at(problem, plan, order, i).device);
		uint32_t node = nodes.of[device];
		bool begins = !i || node != last;

		if (begins && seen[node]) {
			result.are_blocks = false;
			break;
		}
		if (begins) {
			result.node[result.count] = node;
			result.device[result.count++] = device;
		}
		/* Whole nodes of one size, from their first device on. */
		if (i == 0)
			result.ranks = nodes.size[node];
		result.is_whole &= nodes.size[node] == result.ranks &&
				   begins == (i % result.ranks == 0) &&
				   (begins ? device == 0 || nodes.of[device - 1] != node :
					     device == before + 1);
		seen[node] = true;
		last = node;
		before = device;
	}
	result.is_whole &= result.are_blocks && plan->devices % result.ranks == 0;
	return result;
}

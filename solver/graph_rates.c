/* SPDX-License-Identifier: MIT
 *
 * Cuts around children, for the rates of graph_hierarchy.h.
 */
#include "solver/graph_rates.h"

#include <math.h>
#include <string.h>

#include "solver/graph_owner.h"
#include "solver/graph_row.h"
#include "solver/most.h"

struct rates {
	const struct graph *graph;
	struct arena *arena;
	struct graph_hierarchy *hierarchy;
	struct graph_owners owners;
	double *uplink_Bps[LEVEL_MAX + 1];	/* by child */
	double *link_Bps;
};

static uint32_t children(const struct rates *rates, uint32_t level)
{
	return rates->hierarchy->device_count / rates->owners.below[level];
}

/* ---- uplinks ---- */

static void find_uplinks(struct rates *rates, uint32_t level)
{
	const struct graph *graph = rates->graph;
	uint32_t count = children(rates, level);
	double *uplink = ARENA_ARRAY(rates->arena, double, count);

	for (uint32_t i = 0; i < graph->link_count; i++) {
		uint32_t child = rates->owners.owner[level][graph->link[i].from];

		if (child < count &&
		    rates->owners.owner[level][graph->link[i].to] != child)
			uplink[child] += graph->link[i].rate_Bps;
	}
	for (uint32_t c = 0; level && c < count; c++) {
		uint32_t fanout = rates->hierarchy->level[level - 1].fanout;
		double inside = 0;

		for (uint32_t i = 0; i < fanout; i++)
			inside += rates->uplink_Bps[level - 1][c * fanout + i];
		uplink[c] = fmin(uplink[c], inside);
	}
	rates->uplink_Bps[level] = uplink;
}

/* ---- latencies ---- */

static void find_latencies(struct rates *rates)
{
	const struct graph *graph = rates->graph;
	struct graph_hierarchy *hierarchy = rates->hierarchy;
	struct graph_row row = graph_row_new(graph, rates->arena);
	uint32_t filled = GRAPH_NONE;

	for (uint32_t l = 0; l < hierarchy->level_count; l++)
		hierarchy->level[l].latency_s =
			hierarchy->level[l].overhead_s = INFINITY;
	for (uint32_t b = 0; b < hierarchy->device_count; b++) {
		const struct graph_device *to =
			&graph->device[hierarchy->device[b]];

		if (to->root != filled)
			graph_row_fill(graph, graph->root_of[to->root],
				       rates->link_Bps, &row);
		filled = to->root;
		for (uint32_t a = 0; a < hierarchy->device_count; a++) {
			const struct graph_device *from =
				&graph->device[hierarchy->device[a]];
			uint32_t at = graph->core_of[from->root], l = 0;
			double latency = row.latency_s[at];
			double overhead = row.overhead_s[at];

			if (a == b)
				continue;
			while (a / rates->owners.below[l + 1] != b / rates->owners.below[l + 1])
				l++;
			if (from->up != GRAPH_NONE) {
				latency += graph->link[from->up].latency_s;
				overhead = most(overhead, graph->link[from->up]
								  .overhead_s);
			}
			if (to->down != GRAPH_NONE) {
				latency += graph->link[to->down].latency_s;
				overhead = most(overhead, graph->link[to->down]
								  .overhead_s);
			}
			hierarchy->level[l].latency_s =
				fmin(hierarchy->level[l].latency_s, latency);
			hierarchy->level[l].overhead_s =
				fmin(hierarchy->level[l].overhead_s, overhead);
		}
	}
}

/* ---- full levels ---- */

/* Whether all ways from one child to its siblings lead straight into them. */
static bool is_straight(const struct rates *rates, uint32_t level)
{
	const struct graph *graph = rates->graph;
	const uint32_t *owner = rates->owners.owner[level];
	uint32_t count = children(rates, level);
	uint32_t fanout = rates->hierarchy->level[level].fanout;
	uint32_t last = GRAPH_NONE;

	for (uint32_t b = 0; b < rates->hierarchy->device_count; b++) {
		uint32_t device = rates->hierarchy->device[b];
		uint32_t root = graph->root_of[graph->device[device].root];
		uint32_t child = b / rates->owners.below[level];

		if (root == last)
			continue;
		last = root;
		for (uint32_t i = 0; i < graph->link_count; i++) {
			const struct graph_link *link = &graph->link[i];
			uint32_t from = owner[link->from], to = owner[link->to];

			if (from >= count || from == child || from == to ||
			    from / fanout != child / fanout ||
			    graph->core_of[link->from] == GRAPH_NONE ||
			    graph->core_of[link->to] == GRAPH_NONE)
				continue;
			if (to != child && graph_leads(graph, root, i))
				return false;
		}
	}
	return true;
}

/* The most that links lead from a child straight into one sibling. */
static double widest_pair(const struct rates *rates, uint32_t level)
{
	const struct graph *graph = rates->graph;
	const uint32_t *owner = rates->owners.owner[level];
	uint32_t count = children(rates, level);
	uint32_t fanout = rates->hierarchy->level[level].fanout;
	double *pair = ARENA_ARRAY(rates->arena, double, (size_t)count * fanout);
	double widest = 0;

	for (uint32_t i = 0; i < graph->link_count; i++) {
		uint32_t from = owner[graph->link[i].from];
		uint32_t to = owner[graph->link[i].to];

		if (from >= count || to >= count || from == to ||
		    from / fanout != to / fanout)
			continue;
		pair[(size_t)from * fanout + to % fanout] +=
			graph->link[i].rate_Bps;
	}
	for (size_t i = 0; i < (size_t)count * fanout; i++)
		widest = most(widest, pair[i]);
	return widest;
}

/* ---- levels ---- */

static void settle_level(struct rates *rates, uint32_t l)
{
	struct problem_level *level = &rates->hierarchy->level[l];
	double inner_Bps = l ? level[-1].bandwidth_Bps : INFINITY;
	double uplink = 0, pairs;

	for (uint32_t c = 0; c < children(rates, l); c++)
		uplink = most(uplink, rates->uplink_Bps[l][c]);
	level->kind = LEVEL_SWITCH;
	level->bandwidth_Bps = fmin(inner_Bps, uplink);
	level->efficiency = 1;
	pairs = level->fanout > 2 ? widest_pair(rates, l) *
					    (level->fanout - 1) : 0;
	if (pairs > 0 && pairs <= uplink && is_straight(rates, l)) {
		level->kind = LEVEL_FULL;
		level->bandwidth_Bps = fmin(inner_Bps, pairs);
		uplink = pairs;
	}
	level->oversubscription = most(1, rates->owners.below[l] *
					  level->bandwidth_Bps / uplink);
}

/* The first vertex that belongs to the first of the next level's children as a
 * whole, and to none of its children here. */
static uint32_t find_witness(const struct rates *rates, uint32_t l)
{
	for (uint32_t v = 0; v < rates->graph->vertex_count; v++)
		if (rates->owners.owner[l][v] == GRAPH_SEVERAL &&
		    rates->owners.owner[l + 1][v] == 0)
			return v;
	return GRAPH_NONE;
}

void graph_rates(const struct graph *graph, struct arena *arena,
		 struct graph_hierarchy *hierarchy)
{
	struct rates rates = {
		.graph = graph,
		.arena = arena,
		.hierarchy = hierarchy,
		.link_Bps = ARENA_ARRAY(arena, double, graph->link_count + 1),
	};

	for (uint32_t i = 0; i < graph->link_count; i++)
		rates.link_Bps[i] = graph->link[i].rate_Bps;
	graph_owners(graph, hierarchy->level, hierarchy->level_count,
		     hierarchy->device, hierarchy->device_count, arena,
		     &rates.owners);
	find_latencies(&rates);
	for (uint32_t l = 0; l < hierarchy->level_count; l++) {
		find_uplinks(&rates, l);
		settle_level(&rates, l);
		hierarchy->witness[l] = find_witness(&rates, l);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * Rates out of the cuts around children (graph_cut.h), latencies, kinds of levels.
 */
#include "solver/graph_rates.h"

#include <math.h>
#include <string.h>

#include "solver/graph_cut.h"
#include "solver/graph_row.h"
#include "solver/most.h"

struct rates {
	const struct graph *graph;
	struct arena *arena;
	struct graph_hierarchy *hierarchy;
	struct graph_owners owners;
	struct graph_uplink *uplink[LEVEL_MAX];	/* by child */
	double *link_Bps;
};

static uint32_t children(const struct rates *rates, uint32_t level)
{
	return rates->hierarchy->device_count / rates->owners.below[level];
}

/* ---- latencies ---- */

/* What links add that a device hangs by; of several devices the least. */
struct hanging {
	double latency_s, overhead_s, short_overhead_s;
};

/* Neighbours in the hierarchy with one root, in one child of level 1: what any of
 * them is to others further away. */
struct bunch {
	uint32_t first, count;		/* places */
	uint32_t root;			/* vertex */
	struct hanging up, down;
};

static struct hanging hanging_of(const struct graph *graph, uint32_t link,
				 bool stays)
{
	const struct graph_link *at = &graph->link[link];

	if (link == GRAPH_NONE)
		return (struct hanging){ 0 };
	if (at->inner && !stays)
		return (struct hanging){ .latency_s = at->latency_s };
	return (struct hanging){ at->latency_s, at->overhead_s,
				 at->short_overhead_s };
}

static void keep_least(struct hanging *least, struct hanging other)
{
	least->latency_s = fmin(least->latency_s, other.latency_s);
	least->overhead_s = fmin(least->overhead_s, other.overhead_s);
	least->short_overhead_s = fmin(least->short_overhead_s,
				       other.short_overhead_s);
}

static uint32_t list_bunches(const struct rates *rates, struct bunch *bunch)
{
	const struct graph *graph = rates->graph;
	uint32_t count = 0, inside = rates->owners.below[1];

	for (uint32_t i = 0; i < rates->hierarchy->device_count; i++) {
		const struct graph_device *device =
			&graph->device[rates->hierarchy->device[i]];
		struct hanging up = hanging_of(graph, device->up, false);
		struct hanging down = hanging_of(graph, device->down, false);
		struct bunch *at = &bunch[count ? count - 1 : 0];

		if (count && at->root == device->root &&
		    at->first / inside == i / inside) {
			at->count++;
			keep_least(&at->up, up);
			keep_least(&at->down, down);
			continue;
		}
		bunch[count++] = (struct bunch){ i, 1, device->root, up, down };
	}
	return count;
}

/* Two that meet at a level: its latency and overheads are the least of all. */
static void meet_at(struct problem_level *level, const struct hanging *up,
		    const struct hanging *way, const struct hanging *down)
{
	level->latency_s = fmin(level->latency_s, up->latency_s +
				way->latency_s + down->latency_s);
	level->overhead_s = fmin(level->overhead_s,
				 most(way->overhead_s, most(up->overhead_s,
							    down->overhead_s)));
	level->short_overhead_s = fmin(level->short_overhead_s,
				       most(way->short_overhead_s,
					    most(up->short_overhead_s,
						 down->short_overhead_s)));
}

/* Pairs of one bunch meet at the innermost level, over their root. */
static void meet_inside(const struct rates *rates, const struct bunch *bunch)
{
	const struct graph *graph = rates->graph;
	const struct hanging nothing = { 0 };

	for (uint32_t a = bunch->first; a < bunch->first + bunch->count; a++) {
		for (uint32_t b = bunch->first; b < bunch->first + bunch->count;
		     b++) {
			const uint32_t *device = rates->hierarchy->device;
			struct hanging up = hanging_of(
				graph, graph->device[device[a]].up, true);
			struct hanging down = hanging_of(
				graph, graph->device[device[b]].down, true);

			if (a != b)
				meet_at(&rates->hierarchy->level[0], &up,
					&nothing, &down);
		}
	}
}

static uint32_t meeting_level(const struct rates *rates, uint32_t a, uint32_t b)
{
	const uint32_t *below = rates->owners.below;
	uint32_t l = 0;

	while (a / below[l + 1] != b / below[l + 1])
		l++;
	return l;
}

/* From every other bunch to this one. */
static void meet_outside(const struct rates *rates, const struct graph_row *row,
			 const struct bunch *bunch, uint32_t count,
			 const struct bunch *to)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct bunch *from = &bunch[i];
		uint32_t at = rates->graph->core_of[from->root];
		struct hanging way = { row->latency_s[at], row->overhead_s[at],
				       row->short_overhead_s[at] };

		/* Of one root in two children: what stays there counts in full, but
		 * that needs no more than this. */
		if (from != to)
			meet_at(&rates->hierarchy->level[meeting_level(
					rates, from->first, to->first)],
				&from->up, &way, &to->down);
	}
}

static void find_latencies(struct rates *rates)
{
	const struct graph *graph = rates->graph;
	struct graph_hierarchy *hierarchy = rates->hierarchy;
	struct graph_row row = graph_row_new(graph, rates->arena);
	struct bunch *bunch = ARENA_ARRAY(rates->arena, struct bunch,
					  hierarchy->device_count);
	uint32_t count = list_bunches(rates, bunch), filled = GRAPH_NONE;

	for (uint32_t l = 0; l < hierarchy->level_count; l++)
		hierarchy->level[l].latency_s =
			hierarchy->level[l].overhead_s =
			hierarchy->level[l].short_overhead_s = INFINITY;
	for (uint32_t b = 0; b < count; b++) {
		if (bunch[b].root != filled)
			graph_row_fill(graph, graph->root_of[bunch[b].root],
				       rates->link_Bps, &row);
		filled = bunch[b].root;
		meet_inside(rates, &bunch[b]);
		meet_outside(rates, &row, bunch, count, &bunch[b]);
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
			const struct graph_link *link =
				&graph->link[graph->out[i]];
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

/* The share of their rate that links out of the vertices of any child keep by the
 * protocol for short messages, of the link that keeps most. */
static double short_share(const struct rates *rates, uint32_t l)
{
	const struct graph *graph = rates->graph;
	double share = 0;

	for (uint32_t i = 0; i < graph->link_count; i++)
		if (rates->owners.owner[l][graph->link[i].from] < children(rates, l))
			share = most(share, graph->link[i].short_rate_Bps /
						    graph->link[i].rate_Bps);
	return share;
}

/* A level that loses nothing by that protocol has none. */
static void settle_short(const struct rates *rates, uint32_t l)
{
	struct problem_level *level = &rates->hierarchy->level[l];
	double share = rates->graph->has_short ? short_share(rates, l) : 1;

	if (share < 1 || level->short_overhead_s < level->overhead_s)
		level->short_efficiency = share;
	else
		level->short_overhead_s = 0;
}

static void settle_level(struct rates *rates, uint32_t l)
{
	struct problem_level *level = &rates->hierarchy->level[l];
	double inner_Bps = l ? level[-1].bandwidth_Bps : INFINITY;
	double uplink = 0, pairs;

	for (uint32_t c = 0; c < children(rates, l); c++)
		uplink = most(uplink, rates->uplink[l][c].rate_Bps);
	level->kind = LEVEL_SWITCH;
	level->bandwidth_Bps = fmin(inner_Bps, uplink);
	level->efficiency = 1;
	settle_short(rates, l);
	/* A flat ring uses the links of an inner full level less than network.h
	 * has it, so that would be no bound there. */
	pairs = level->fanout > 2 && l + 1 == rates->hierarchy->level_count ?
		widest_pair(rates, l) * (level->fanout - 1) : 0;
	if (pairs > 0 && pairs <= uplink && is_straight(rates, l)) {
		level->kind = LEVEL_FULL;
		level->bandwidth_Bps = fmin(inner_Bps, pairs);
		uplink = pairs;
	}
	level->oversubscription = most(1, rates->owners.below[l] *
					  level->bandwidth_Bps / uplink);
}

/* Of the vertices that belong to the first of the next level's children as a
 * whole, and to none of its children here, the one nearest to its first device. */
static uint32_t find_witness(const struct rates *rates, uint32_t l)
{
	const struct graph *graph = rates->graph;
	const struct graph_device *first =
		&graph->device[rates->hierarchy->device[0]];
	uint32_t root = graph->root_of[first->root];
	uint32_t witness = GRAPH_NONE, nearest = UINT32_MAX;

	for (uint32_t v = 0; v < graph->vertex_count; v++) {
		uint32_t at = graph->core_of[v];

		if (rates->owners.owner[l][v] != GRAPH_SEVERAL ||
		    rates->owners.owner[l + 1][v] != 0 || at == GRAPH_NONE ||
		    graph_hops(graph, root, at) >= nearest)
			continue;
		nearest = graph_hops(graph, root, at);
		witness = v;
	}
	return witness;
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
	graph_uplinks(graph, hierarchy->level, &rates.owners, arena,
		      rates.uplink);
	for (uint32_t l = 0; l < hierarchy->level_count; l++) {
		settle_level(&rates, l);
		hierarchy->witness[l] = find_witness(&rates, l);
	}
}

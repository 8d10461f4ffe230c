/* SPDX-License-Identifier: MIT
 *
 * Sums of link rates over cuts.
 */
#include "solver/graph_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/graph_match.h"
#include "solver/graph_row.h"
#include "solver/most.h"

static uint32_t children(const struct graph_owners *owners, uint32_t level)
{
	return owners->device_count / owners->below[level];
}

/* ---- uplinks ---- */

/* Of the children of a child together. */
static double uplinks_inside(const struct problem_level *levels,
			     struct graph_uplink *const *uplink, uint32_t level,
			     uint32_t child)
{
	uint32_t fanout = level ? levels[level - 1].fanout : 0;
	double inside = 0;

	for (uint32_t i = 0; i < fanout; i++)
		inside += uplink[level - 1][child * fanout + i].rate_Bps;
	return level ? inside : INFINITY;
}

/* What links out of a child's vertices at most h away carry more than out of those at
 * most h - 1 away, and how many more these are. */
struct change {
	double rate_Bps;
	int32_t links;
};

static void change_by(struct change *change, double rate_Bps, int32_t links)
{
	change->rate_Bps += links * rate_Bps;
	change->links += links;
}

/* By child and distance. */
static struct change *find_changes(const struct graph *graph,
				   const struct graph_owners *owners,
				   uint32_t level, uint32_t reach,
				   struct arena *arena)
{
	const uint32_t *owner = owners->owner[level], *near = owners->near;
	uint32_t count = children(owners, level);
	struct change *change = ARENA_ARRAY(arena, struct change,
					    (size_t)count * (reach + 1));

	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *link = &graph->link[i];
		uint32_t child = owner[link->from];
		bool inside = owner[link->to] == child;

		if (child >= count || near[link->from] > reach ||
		    (inside && near[link->to] <= near[link->from]))
			continue;
		change_by(&change[(size_t)child * (reach + 1) + near[link->from]],
			  link->rate_Bps, 1);
		if (inside)
			change_by(&change[(size_t)child * (reach + 1) +
					  near[link->to]],
				  link->rate_Bps, -1);
	}
	return change;
}

static struct graph_uplink least_cut(const struct change *change, uint32_t reach,
				     double inside_Bps)
{
	struct graph_uplink least = { .rate_Bps = inside_Bps };
	double cut = 0;
	int32_t links = 0;

	for (uint32_t h = 0; h <= reach; h++) {
		cut += change[h].rate_Bps;
		links += change[h].links;
		if (cut < least.rate_Bps || (cut == least.rate_Bps && links == 1))
			least = (struct graph_uplink){ cut, links == 1 };
	}
	return least;
}

void graph_uplinks(const struct graph *graph, const struct problem_level *level,
		   const struct graph_owners *owners, struct arena *arena,
		   struct graph_uplink *uplink[LEVEL_MAX])
{
	uint32_t reach = graph->hops_most + 2;	/* beyond the farthest vertex */

	for (uint32_t l = 0; l < owners->level_count; l++) {
		uint32_t count = children(owners, l);
		struct change *change = find_changes(graph, owners, l, reach,
						     arena);

		uplink[l] = ARENA_ARRAY(arena, struct graph_uplink, count);
		for (uint32_t c = 0; c < count; c++)
			uplink[l][c] = least_cut(
				&change[(size_t)c * (reach + 1)], reach,
				uplinks_inside(level, uplink, l, c));
	}
}

/* ---- pairs ---- */

/* Roots in the order of the hierarchy, each as often as devices of it are apart. */
struct ends {
	uint32_t *root, *place;
	uint32_t count;
};

static struct ends list_ends(const struct graph *graph,
			     const struct graph_owners *owners,
			     const uint32_t *device, struct arena *arena)
{
	struct ends ends = {
		.root = ARENA_ARRAY(arena, uint32_t, owners->device_count),
		.place = ARENA_ARRAY(arena, uint32_t, owners->device_count),
	};

	for (uint32_t i = 0; i < owners->device_count; i++) {
		uint32_t root = graph->root_of[graph->device[device[i]].root];

		if (ends.count && ends.root[ends.count - 1] == root)
			continue;
		ends.root[ends.count] = root;
		ends.place[ends.count++] = i;
	}
	return ends;
}

/* Whether some device hangs at a vertex that is of no child of the level: then
 * ways to a root say nothing about which child they end in. */
static bool shares_roots(const struct graph *graph,
			 const struct graph_owners *owners,
			 const uint32_t *device, uint32_t level)
{
	for (uint32_t i = 0; i < owners->device_count; i++)
		if (owners->owner[level][graph->device[device[i]].root] !=
		    i / owners->below[level])
			return true;
	return false;
}

/* Adds a link out of a child to all siblings that it leads to. */
static void add_link(const struct graph *graph, const struct graph_owners *owners,
		     const struct ends *ends, uint32_t level, uint32_t fanout,
		     uint32_t at, double *pair)
{
	const struct graph_link *link = &graph->link[graph->out[at]];
	uint32_t from = owners->owner[level][link->from];
	uint32_t added = GRAPH_NONE;

	for (uint32_t i = 0; i < ends->count; i++) {
		uint32_t to = ends->place[i] / owners->below[level];

		if (to == added || to == from || to / fanout != from / fanout ||
		    !graph_leads(graph, ends->root[i], at))
			continue;
		pair[(size_t)from * fanout + to % fanout] += link->rate_Bps;
		added = to;
	}
}

static double widest_pair(const struct graph *graph,
			  const struct graph_owners *owners,
			  const struct ends *ends, uint32_t level,
			  uint32_t fanout, struct arena *arena)
{
	const uint32_t *owner = owners->owner[level];
	uint32_t count = children(owners, level);
	double *pair = ARENA_ARRAY(arena, double, (size_t)count * fanout);
	double widest = 0;

	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *link = &graph->link[graph->out[i]];

		if (owner[link->from] < count &&
		    owner[link->to] != owner[link->from] &&
		    graph->core_of[link->from] != GRAPH_NONE)
			add_link(graph, owners, ends, level, fanout, i, pair);
	}
	for (size_t i = 0; i < (size_t)count * fanout; i++)
		widest = most(widest, pair[i]);
	return widest > 0 ? widest : INFINITY;
}

static int widest_first(const void *a, const void *b)
{
	const struct graph_uplink *x = a, *y = b;

	return x->rate_Bps > y->rate_Bps ? -1 : x->rate_Bps < y->rate_Bps;
}

/* Lone only where those that are no wider are too. */
static void sort_uplinks(struct graph_uplink *uplink, uint32_t count)
{
	qsort(uplink, count, sizeof(*uplink), widest_first);
	for (uint32_t i = count - 1; i-- > 0;)
		uplink[i].lone &= uplink[i + 1].lone;
	for (uint32_t i = 1; i < count; i++)
		if (uplink[i].rate_Bps == uplink[i - 1].rate_Bps)
			uplink[i].lone = uplink[i - 1].lone;
}

/* Leaves out children of which all devices are avoided. */
static uint32_t keep_usable(const struct problem *problem, uint32_t below,
			    struct graph_uplink *uplink)
{
	uint32_t children = problem->device_count / below, kept = 0, at = 0;

	for (uint32_t c = 0; c < children; c++) {
		uint32_t avoided = 0;

		for (; at < problem->avoided_count &&
		       problem->avoided[at] < (c + 1) * below; at++)
			avoided++;
		if (avoided < below)
			uplink[kept++] = uplink[c];
	}
	return kept;
}

void graph_cuts(const struct problem *problem, const struct graph *graph,
		const struct graph_owners *owners, struct arena *arena,
		struct graph_cuts *cuts)
{
	const struct problem_level *level = problem->level;
	const uint32_t *device = problem->graph_device;
	struct ends ends = list_ends(graph, owners, device, arena);
	bool few = (uint64_t)ends.count * graph->link_count <= GRAPH_PAIRS_MAX;

	*cuts = (struct graph_cuts){ .count = { 0 } };
	graph_uplinks(graph, level, owners, arena, cuts->widest);
	for (uint32_t l = 0; l < owners->level_count; l++) {
		cuts->count[l] = keep_usable(problem, owners->below[l],
					     cuts->widest[l]);
		sort_uplinks(cuts->widest[l], cuts->count[l]);
		cuts->pair_Bps[l] = few && !shares_roots(graph, owners, device, l) ?
			widest_pair(graph, owners, &ends, l, level[l].fanout,
				    arena) : INFINITY;
		cuts->match_s[l] = ARENA_ARRAY(arena, double,
					       l ? level[l - 1].fanout : 1);
		graph_match(graph, owners, level, device, l, arena,
			    cuts->match_s[l]);
	}
}

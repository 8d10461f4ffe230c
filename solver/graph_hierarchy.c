/* SPDX-License-Identifier: MIT
 *
 * Which devices make a level: distances between roots, groups within a distance
 * step by step, and equal fan-outs out of these. The rates: graph_rates.c.
 */
#include "solver/graph_hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/divisor.h"
#include "solver/graph_rates.h"
#include "solver/graph_row.h"
#include "solver/most.h"

/* Rates within this factor of each other are one class. */
#define CLASS_WIDTH 1.2
#define CLASS_MAX 63
#define HOPS_MAX 1023
/* Steps of distance that are looked at, besides the last. */
#define STEPS_MAX 24
/* Above so many candidates the next one is not chosen but taken in order. */
#define CHOOSE_MAX 512

/* Devices that stay together from here on. */
struct item {
	uint32_t *device;
	uint32_t root;			/* number of the root, while it has one only */
};

struct builder {
	const struct graph *graph;
	struct arena *arena;
	struct graph_hierarchy *hierarchy;
	double *class_Bps;		/* least rate of each class, falling */
	uint32_t class_count;
	double *link_Bps;		/* of each link, as of its family */
	struct item *item;
	uint32_t item_count;
	uint32_t below;			/* devices of an item */
	uint16_t *distance;		/* item x item: class, then hops */
};

/* ---- distances ---- */

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

static void find_classes(struct builder *builder)
{
	const struct graph *graph = builder->graph;
	uint32_t families = 0;
	double *rate;

	for (uint32_t i = 0; i < graph->link_count; i++)
		if (graph->link[i].family >= families)
			families = graph->link[i].family + 1;
	rate = ARENA_ARRAY(builder->arena, double, families);
	for (uint32_t i = 0; i < graph->link_count; i++)
		rate[graph->link[i].family] =
			most(rate[graph->link[i].family],
			     graph->link[i].rate_Bps);
	builder->link_Bps = ARENA_ARRAY(builder->arena, double,
					graph->link_count);
	for (uint32_t i = 0; i < graph->link_count; i++)
		builder->link_Bps[i] = rate[graph->link[i].family];
	qsort(rate, families, sizeof(*rate), falling);
	builder->class_Bps = rate;
	for (uint32_t i = 0; i < families; i++) {
		uint32_t last = builder->class_count - 1;

		if (builder->class_count &&
		    (rate[i] * CLASS_WIDTH > rate[last] ||
		     builder->class_count == CLASS_MAX))
			continue;
		rate[builder->class_count++] = rate[i];
	}
}

static uint16_t distance_of(const struct builder *builder, double rate_Bps,
			    uint32_t hops)
{
	uint32_t class = 0;

	while (class + 1 < builder->class_count &&
	       rate_Bps < builder->class_Bps[class] / CLASS_WIDTH)
		class++;
	return (uint16_t)(class << 10 | (hops < HOPS_MAX ? hops : HOPS_MAX));
}

static double rate_of(const struct builder *builder, uint16_t distance)
{
	return builder->class_Bps[distance >> 10];
}

/* The narrower of the links by which a device hangs, and how many hops these
 * add to its ways. */
static double port_Bps(const struct builder *builder, uint32_t device,
		       uint32_t *hops)
{
	const struct graph_device *at = &builder->graph->device[device];

	*hops = at->up != GRAPH_NONE;
	if (at->up == GRAPH_NONE)
		return INFINITY;
	return fmin(builder->link_Bps[at->up], builder->link_Bps[at->down]);
}

/* ---- items and what they make ---- */

static uint16_t *distance_at(const struct builder *builder, uint32_t a, uint32_t b)
{
	return &builder->distance[(size_t)a * builder->item_count + b];
}

/* Distances between items, each of one root, both ways. */
static void measure(struct builder *builder)
{
	const struct graph *graph = builder->graph;
	struct graph_row row = graph_row_new(graph, builder->arena);
	uint32_t filled = GRAPH_NONE;

	builder->distance = ARENA_ARRAY(builder->arena, uint16_t,
					(size_t)builder->item_count *
						builder->item_count);
	for (uint32_t b = 0; b < builder->item_count; b++) {
		uint32_t root = builder->item[b].root, b_hops, a_hops;
		double b_Bps = port_Bps(builder, builder->item[b].device[0],
					&b_hops);

		if (root != filled)
			graph_row_fill(graph, root, builder->link_Bps, &row);
		filled = root;
		for (uint32_t a = 0; a < builder->item_count; a++) {
			double a_Bps = port_Bps(builder,
						builder->item[a].device[0],
						&a_hops);
			uint32_t at = graph->core_of[
				graph->root[builder->item[a].root]];
			uint16_t key = distance_of(
				builder, fmin(fmin(a_Bps, b_Bps),
					      row.width_Bps[at]),
				graph_hops(graph, root, at) + a_hops + b_hops);

			if (key > *distance_at(builder, a, b))
				*distance_at(builder, a, b) = key;
			if (key > *distance_at(builder, b, a))
				*distance_at(builder, b, a) = key;
		}
	}
}

/* A way to put items together. */
struct grouping {
	uint32_t *group;		/* of each item */
	uint32_t *size;			/* of each group */
	uint32_t count;
};

/* Items kept when every group gives as many children of fanout as it has. */
static uint32_t kept_items(const struct grouping *grouping, uint32_t fanout,
			   uint32_t *groups)
{
	uint32_t kept = 0;

	*groups = 0;
	for (uint32_t i = 0; i < grouping->count; i++) {
		*groups += grouping->size[i] / fanout;
		kept += grouping->size[i] / fanout * fanout;
	}
	return kept;
}

/* The fan-out of a level made of these groups; 1: none. step: by how much the
 * bandwidth falls beyond it. */
static uint32_t choose_fanout(const struct grouping *grouping, uint32_t items,
			      double step, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	uint32_t *of_size = ARENA_ARRAY(scratch, uint32_t, items + 1);
	uint32_t divisor = 0, common = 1, kept, groups;

	for (uint32_t i = 0; i < grouping->count; i++) {
		divisor = (uint32_t)common_divisor(grouping->size[i], divisor);
		of_size[grouping->size[i]] += grouping->size[i];
	}
	for (uint32_t s = 1; s <= items; s++)
		if (of_size[s] >= of_size[common])
			common = s;
	arena_rewind(scratch, mark);
	if (common == divisor || step < 2)
		return divisor;
	kept = kept_items(grouping, common, &groups);
	if (groups < 2 || 8ull * kept < (divisor > 1 ? 7ull : 6ull) * items)
		return divisor;
	return common;
}

/* Replaces the items by their groups of `fanout`, in order; what is over is
 * left out. */
static void join(struct builder *builder, const struct grouping *grouping,
		 uint32_t fanout)
{
	struct graph_hierarchy *hierarchy = builder->hierarchy;
	uint32_t groups, below = builder->below;
	uint32_t kept = kept_items(grouping, fanout, &groups);
	struct item *made = ARENA_ARRAY(builder->arena, struct item, groups);
	uint32_t *member = ARENA_ARRAY(builder->arena, uint32_t, kept + 1);
	uint16_t *distance = NULL;
	uint32_t count = 0, listed = 0;

	for (uint32_t g = 0; g < grouping->count; g++) {
		uint32_t left = grouping->size[g] / fanout * fanout;

		for (uint32_t i = 0; i < builder->item_count && left; i++) {
			struct item *item = &made[count];
			uint32_t place = listed % fanout;

			if (grouping->group[i] != g)
				continue;
			if (!place)
				item->device = ARENA_ARRAY(builder->arena,
							   uint32_t,
							   fanout * below);
			memcpy(item->device + place * below,
			       builder->item[i].device, below * sizeof(uint32_t));
			item->root = builder->item[i].root;
			member[listed++] = i;
			left--;
			count += place + 1 == fanout;
		}
	}
	if (builder->distance) {
		distance = ARENA_ARRAY(builder->arena, uint16_t,
				       (size_t)count * count);
		for (uint32_t a = 0; a < kept; a++) {
			for (uint32_t b = 0; b < kept; b++) {
				uint16_t *to = &distance[(size_t)(a / fanout) *
							 count + b / fanout];
				uint16_t from = *distance_at(builder, member[a],
							     member[b]);

				*to = from > *to ? from : *to;
			}
		}
	}
	builder->distance = distance;
	builder->item = made;
	builder->item_count = count;
	builder->below = below * fanout;
	hierarchy->level[hierarchy->level_count++].fanout = fanout;
}

/* ---- groups within a distance ---- */

static bool is_near(const struct builder *builder, uint32_t a, uint32_t b,
		    uint16_t limit)
{
	return *distance_at(builder, a, b) <= limit;
}

/* Of the candidates that with most others near. */
static uint32_t choose_next(const struct builder *builder,
			    const uint32_t *candidate, uint32_t count,
			    uint16_t limit)
{
	uint32_t best = 0, best_near = 0;

	for (uint32_t i = 0; i < count && count <= CHOOSE_MAX; i++) {
		uint32_t near = 0;

		for (uint32_t j = 0; j < count; j++)
			near += is_near(builder, candidate[i], candidate[j],
					limit);
		if (near > best_near) {
			best_near = near;
			best = i;
		}
		/* Near to all: no other can have more. */
		if (near == count)
			break;
	}
	return best;
}

static void group_around(const struct builder *builder, uint32_t first,
			 uint16_t limit, uint32_t *candidate,
			 struct grouping *grouping)
{
	uint32_t count = 0, group = grouping->count++;

	grouping->group[first] = group;
	grouping->size[group] = 1;
	for (uint32_t i = first + 1; i < builder->item_count; i++)
		if (grouping->group[i] == GRAPH_NONE &&
		    is_near(builder, first, i, limit))
			candidate[count++] = i;
	while (count) {
		uint32_t taken = candidate[choose_next(builder, candidate,
						       count, limit)];
		uint32_t left = 0;

		grouping->group[taken] = group;
		grouping->size[group]++;
		for (uint32_t i = 0; i < count; i++)
			if (candidate[i] != taken &&
			    is_near(builder, taken, candidate[i], limit))
				candidate[left++] = candidate[i];
		count = left;
	}
}

static struct grouping group_within(struct builder *builder, uint16_t limit)
{
	uint32_t items = builder->item_count;
	struct grouping grouping = {
		.group = ARENA_ARRAY(builder->arena, uint32_t, items),
		.size = ARENA_ARRAY(builder->arena, uint32_t, items),
	};
	uint32_t *candidate = ARENA_ARRAY(builder->arena, uint32_t, items);

	for (uint32_t i = 0; i < items; i++)
		grouping.group[i] = GRAPH_NONE;
	for (uint32_t i = 0; i < items; i++)
		if (grouping.group[i] == GRAPH_NONE)
			group_around(builder, i, limit, candidate, &grouping);
	return grouping;
}

/* The distinct distances between items, rising, into step[]; all but the last
 * of too many are cut off. */
static uint32_t find_steps(const struct builder *builder, uint16_t *step)
{
	size_t pairs = (size_t)builder->item_count * builder->item_count;
	bool *seen = ARENA_ARRAY(builder->arena, bool, UINT16_MAX + 1);
	uint32_t count = 0;

	for (uint32_t a = 0; a < builder->item_count; a++)
		*distance_at(builder, a, a) = 0;
	for (size_t i = 0; i < pairs; i++)
		seen[builder->distance[i]] = true;
	for (uint32_t key = 1; key <= UINT16_MAX; key++) {
		if (!seen[key])
			continue;
		if (count > STEPS_MAX)
			count--;
		step[count++] = (uint16_t)key;
	}
	return count;
}

/* ---- the levels, innermost first ---- */

/* Devices with one root. */
static void start(struct builder *builder)
{
	const struct graph *graph = builder->graph;
	uint32_t devices = graph->device_count, fanout;
	struct grouping grouping = {
		.group = ARENA_ARRAY(builder->arena, uint32_t, devices),
		.size = ARENA_ARRAY(builder->arena, uint32_t, graph->root_count),
		.count = graph->root_count,
	};
	double inside_Bps = 0, step;
	double *outside_Bps = ARENA_ARRAY(builder->arena, double,
					  graph->root_count);
	double widest_Bps = 0;

	builder->item = ARENA_ARRAY(builder->arena, struct item, devices);
	builder->item_count = devices;
	builder->below = 1;
	for (uint32_t d = 0; d < devices; d++) {
		const struct graph_device *device = &graph->device[d];
		uint32_t hops, root = graph->root_of[device->root];
		double port = port_Bps(builder, d, &hops);

		builder->item[d].device = ARENA_NEW(builder->arena, uint32_t);
		builder->item[d].device[0] = d;
		builder->item[d].root = root;
		grouping.group[d] = root;
		grouping.size[root]++;
		if (hops)
			inside_Bps = most(inside_Bps, port);
	}
	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *link = &graph->link[i];
		uint32_t root = graph->root_of[link->from];

		if (root == GRAPH_NONE ||
		    graph->core_of[link->to] == GRAPH_NONE)
			continue;
		outside_Bps[root] += builder->link_Bps[i] /
				     grouping.size[root];
		widest_Bps = most(widest_Bps, outside_Bps[root]);
	}
	step = widest_Bps > 0 ? inside_Bps / widest_Bps : 0;
	fanout = choose_fanout(&grouping, devices, step, builder->arena);
	if (fanout > 1)
		join(builder, &grouping, fanout);
}

void graph_hierarchy(const struct graph *graph, struct arena *arena,
		     struct graph_hierarchy *hierarchy)
{
	struct builder builder = {
		.graph = graph,
		.arena = arena,
		.hierarchy = hierarchy,
	};
	uint16_t step[STEPS_MAX + 2];
	uint32_t steps;

	*hierarchy = (struct graph_hierarchy){ .level_count = 0 };
	find_classes(&builder);
	start(&builder);
	measure(&builder);
	steps = find_steps(&builder, step);
	for (uint32_t i = 0; i < steps && builder.item_count > 1; i++) {
		bool last = i + 1 == steps;
		struct grouping grouping;
		uint32_t fanout;

		if (!last && hierarchy->level_count == LEVEL_MAX - 1)
			continue;
		grouping = group_within(&builder, step[i]);
		fanout = last ? builder.item_count :
			 choose_fanout(&grouping, builder.item_count,
				       rate_of(&builder, step[i]) /
					       rate_of(&builder, step[i + 1]),
				       arena);
		if (fanout > 1)
			join(&builder, &grouping, fanout);
	}
	hierarchy->device = builder.item[0].device;
	hierarchy->device_count = builder.below;
	graph_rates(graph, arena, hierarchy);
}

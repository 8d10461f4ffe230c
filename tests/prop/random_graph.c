/* SPDX-License-Identifier: MIT
 *
 * Draws a network of one of the sorts.
 */
#include "tests/prop/random_graph.h"

#include <math.h>
#include <stdlib.h>

struct kind {
	uint32_t family;
	uint32_t lines;
	double Bps, latency_s;
};

static double between(struct random_graph *graph, double low, double high)
{
	return low * pow(high / low, random_unit(graph->random));
}

static uint32_t count(struct random_graph *graph, uint32_t low, uint32_t high)
{
	return low + random_below(graph->random, high - low + 1);
}

static struct kind draw_kind(struct random_graph *graph, uint32_t family,
			     double Bps)
{
	return (struct kind){
		.family = family,
		.lines = count(graph, 1, 2),
		.Bps = Bps * between(graph, 0.5, 2),
		.latency_s = between(graph, 0.1, 1),
	};
}

static void join(struct random_graph *graph, uint32_t a, uint32_t b,
		 const struct kind *kind)
{
	struct flow_wire wire = {
		.from = a, .to = b, .lines = kind->lines,
		.Bps = kind->Bps * kind->lines, .latency_s = kind->latency_s,
	};

	VEC_PUSH(&graph->wire, graph->arena, wire);
	VEC_PUSH(&graph->family, graph->arena, 2 * kind->family);
	wire.from = b;
	wire.to = a;
	VEC_PUSH(&graph->wire, graph->arena, wire);
	VEC_PUSH(&graph->family, graph->arena, 2 * kind->family + 1);
}

/* Switches with devices below. */
static void hang(struct random_graph *graph, uint32_t switches, uint32_t each)
{
	struct kind port = draw_kind(graph, 0, 4);

	port.lines = 1;
	graph->devices = switches * each;
	graph->vertices = graph->devices + switches;
	for (uint32_t d = 0; d < graph->devices; d++)
		join(graph, d, graph->devices + d / each, &port);
}

static void fat_tree(struct random_graph *graph, uint32_t most)
{
	uint32_t each = count(graph, 1, 4), pods = count(graph, 1, 3);
	uint32_t leaves = count(graph, 2, 4), spines = count(graph, 1, 3);
	struct kind up = draw_kind(graph, 1, 2), core = draw_kind(graph, 2, 2);
	uint32_t first;

	while (pods * leaves * each > most)
		pods > 1 ? pods-- : leaves > 2 ? leaves-- : each--;
	hang(graph, pods * leaves, each);
	first = graph->vertices;
	graph->vertices += pods * spines;
	for (uint32_t p = 0; p < pods; p++)
		for (uint32_t l = 0; l < leaves; l++)
			for (uint32_t s = 0; s < spines; s++)
				join(graph, graph->devices + p * leaves + l,
				     first + p * spines + s, &up);
	if (pods == 1)
		return;
	for (uint32_t s = 0; s < spines; s++) {
		uint32_t top = graph->vertices++;

		for (uint32_t p = 0; p < pods; p++)
			join(graph, first + p * spines + s, top, &core);
	}
}

static void dragonfly(struct random_graph *graph, uint32_t most)
{
	uint32_t each = count(graph, 1, 2), routers = count(graph, 2, 4);
	uint32_t groups = count(graph, 2, routers + 1);
	struct kind local = draw_kind(graph, 1, 4), far = draw_kind(graph, 2, 2);

	while (groups * routers * each > most)
		groups > 2 ? groups-- : each > 1 ? each-- : routers--;
	hang(graph, groups * routers, each);
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t a = 0; a < routers; a++)
			for (uint32_t b = a + 1; b < routers; b++)
				join(graph, graph->devices + g * routers + a,
				     graph->devices + g * routers + b, &local);
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t h = g + 1; h < groups; h++)
			join(graph,
			     graph->devices + g * routers + (h - 1) % routers,
			     graph->devices + h * routers + g % routers, &far);
}

/* A ring of switches, and every second edge of another round. */
static void regular(struct random_graph *graph, uint32_t most)
{
	uint32_t each = count(graph, 1, 3), switches = count(graph, 4, 8);
	struct kind edge = draw_kind(graph, 1, 4);
	uint32_t apart;

	while (switches * each > most)
		each > 1 ? each-- : switches--;
	hang(graph, switches, each);
	apart = 2 + random_below(graph->random, switches / 2 - 1);
	for (uint32_t i = 0; i < switches; i++)
		join(graph, graph->devices + i,
		     graph->devices + (i + 1) % switches, &edge);
	for (uint32_t i = 0; i < switches; i++)
		if (i < (i + apart) % switches && (i + apart) % switches != i)
			join(graph, graph->devices + i,
			     graph->devices + (i + apart) % switches, &edge);
}

/* Devices that are linked themselves, all to all or in a ring. */
static void mesh(struct random_graph *graph, uint32_t most)
{
	uint32_t n = count(graph, 4, most < 8 ? most : 8);
	bool full = random_chance(graph->random, 0.5);
	struct kind edge = draw_kind(graph, 1, 4);

	graph->devices = graph->vertices = n;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			if (full || b == a + 1 || (!a && b == n - 1))
				join(graph, a, b, &edge);
}

/* Between switches, or devices that are linked to each other. */
static void slow_down(struct random_graph *graph)
{
	double factor = between(graph, 0.1, 0.6);
	size_t at = random_below(graph->random,
				 (uint32_t)graph->wire.count / 2) * 2;

	graph->slow = true;
	graph->wire.at[at].Bps *= factor;
	graph->wire.at[at + 1].Bps *= factor;
}

void random_graph(struct random_graph *graph, struct arena *arena,
		  struct random *random, uint32_t devices_most)
{
	static void (*const draw[])(struct random_graph *, uint32_t) = {
		[SORT_FAT_TREE] = fat_tree,
		[SORT_DRAGONFLY] = dragonfly,
		[SORT_REGULAR] = regular,
		[SORT_MESH] = mesh,
	};

	*graph = (struct random_graph){ .arena = arena, .random = random };
	graph->sort = random_below(random, SORT_COUNT);
	draw[graph->sort](graph, devices_most);
	if (random_chance(random, 0.4))
		slow_down(graph);
	graph->short_share = random_chance(random, 0.5) ?
				     0.2 + 0.8 * random_unit(random) : 1;
}

void random_graph_prepare(const struct random_graph *from, struct arena *arena,
			  struct graph *graph)
{
	uint32_t links = (uint32_t)from->wire.count;
	struct graph_link *link = ARENA_ARRAY(arena, struct graph_link, links);
	bool has_short = from->short_share < 1;

	*graph = (struct graph){
		.vertex_count = from->vertices,
		.link = link,
		.link_count = links,
		.device = ARENA_ARRAY(arena, struct graph_device, from->devices),
		.device_count = from->devices,
	};
	for (uint32_t i = 0; i < links; i++)
		link[i] = (struct graph_link){
			.from = from->wire.at[i].from,
			.to = from->wire.at[i].to,
			.count = from->wire.at[i].lines,
			.rate_Bps = from->wire.at[i].Bps,
			.latency_s = from->wire.at[i].latency_s,
			.overhead_s = has_short ? 2 : 1,
			.short_rate_Bps = from->wire.at[i].Bps,
			.short_overhead_s = 1,
			.family = from->family.at[i],
		};
	for (uint32_t i = 0; i < links && has_short; i++)
		if (link[i].from < from->devices || link[i].to < from->devices) {
			link[i].short_rate_Bps *= from->short_share;
			link[i].inner = from->sort != SORT_MESH;
		}
	graph->has_short = has_short;
	for (uint32_t d = 0; d < from->devices; d++)
		graph->device[d].vertex = d;
	if (!graph_prepare(graph, arena))
		abort();
}

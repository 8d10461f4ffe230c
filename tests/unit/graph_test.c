/* SPDX-License-Identifier: MIT
 *
 * Routes, loads and hierarchies of small graphs, worked out by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/graph_flows.h"
#include "solver/graph_hierarchy.h"
#include "solver/graph_lines.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct small {
	struct arena arena;
	struct graph graph;
	struct graph_link link[128];
};

static void start(struct small *small, uint32_t devices, uint32_t vertices)
{
	memset(small, 0, sizeof(*small));
	arena_init(&small->arena);
	small->graph.vertex_count = vertices;
	small->graph.link = small->link;
	small->graph.device_count = devices;
	small->graph.device = ARENA_ARRAY(&small->arena, struct graph_device,
					  devices);
	for (uint32_t d = 0; d < devices; d++)
		small->graph.device[d].vertex = d;
}

static void one_way(struct small *small, uint32_t from, uint32_t to,
		    double rate_Bps, double latency_s, uint32_t count)
{
	small->link[small->graph.link_count++] = (struct graph_link){
		.from = from, .to = to, .count = count, .rate_Bps = rate_Bps,
		.latency_s = latency_s, .short_rate_Bps = rate_Bps,
	};
}

static void both(struct small *small, uint32_t a, uint32_t b, double rate_Bps,
		 double latency_s)
{
	one_way(small, a, b, rate_Bps, latency_s, 1);
	one_way(small, b, a, rate_Bps, latency_s, 1);
}

static void assert_near(double actual, double expected)
{
	if (fabs(actual - expected) > 1e-12 * fabs(expected))
		fail_msg("%.17g, expected %.17g", actual, expected);
}

/* Two ways of two links from 0 to 3, over 1 (rate 4, three lines) and over 2 (one
 * line): three quarters of the bytes take the first. */
static void test_shares(void **state)
{
	struct graph_flow flow = { .from = 0, .to = 1, .bytes = 8 };
	struct graph_time time;
	struct small small;

	(void)state;
	start(&small, 2, 4);
	one_way(&small, 0, 2, 4, 1, 3);
	one_way(&small, 0, 3, 4, 1, 1);
	one_way(&small, 2, 1, 4, 1, 3);
	one_way(&small, 3, 1, 1, 1, 1);
	one_way(&small, 1, 0, 1, 1, 1);
	assert_true(graph_prepare(&small.graph, &small.arena));
	graph_flows(&small.graph, &flow, 1, &time, NULL, 1, &small.arena);
	/* 6 bytes at 4 a second; 2 at 1: the second decides. */
	assert_near(time.time_s, 2);
	assert_int_equal(time.link, 3);
	/* Back there is one link, of latency 1; out two. */
	assert_near(graph_way(&small.graph, 0, 1).latency_s, 2);
	assert_int_equal(graph_way(&small.graph, 0, 1).hops, 2);
	assert_near(graph_way(&small.graph, 1, 0).latency_s, 1);
	arena_release(&small.arena);
}

/* Fewest links first, whatever they take; then the least latency. */
static void test_ways(void **state)
{
	struct small small;

	(void)state;
	start(&small, 2, 5);
	both(&small, 0, 2, 1, 5);
	both(&small, 2, 1, 1, 5);
	both(&small, 0, 3, 1, 1);
	both(&small, 3, 1, 2, 2);
	both(&small, 3, 4, 1, 0);
	both(&small, 4, 1, 1, 0);
	assert_true(graph_prepare(&small.graph, &small.arena));
	/* 0-3-1 takes 3, 0-2-1 takes 10, 0-3-4-1 takes 1 over three links. */
	assert_int_equal(graph_way(&small.graph, 0, 1).hops, 2);
	assert_near(graph_way(&small.graph, 0, 1).latency_s, 3);
	assert_near(graph_way(&small.graph, 0, 1).rate_Bps, 1);
	arena_release(&small.arena);
}

static void test_lost(void **state)
{
	struct small small;

	(void)state;
	start(&small, 3, 3);
	both(&small, 0, 1, 1, 1);
	one_way(&small, 1, 2, 1, 1, 1);
	assert_false(graph_prepare(&small.graph, &small.arena));
	/* Nothing leads back from 2. */
	assert_int_equal(small.graph.lost_from, 2);
	assert_int_equal(small.graph.lost_to, 0);
	arena_release(&small.arena);
}

/* Loads add up over all flows; a class has the time of the links it uses. */
static void test_classes(void **state)
{
	struct graph_flow flow[] = {
		{ .from = 0, .to = 3, .bytes = 2, .class = 0 },
		{ .from = 1, .to = 3, .bytes = 4, .class = 1 },
		{ .from = 2, .to = 1, .bytes = 1, .class = 2 },
	};
	struct graph_time time[3];
	struct small small;

	(void)state;
	start(&small, 4, 5);
	for (uint32_t d = 0; d < 4; d++)
		both(&small, d, 4, 1, 1);
	assert_true(graph_prepare(&small.graph, &small.arena));
	assert_int_equal(small.graph.root_count, 1);
	graph_flows(&small.graph, flow, COUNT(flow), time, NULL, 3, &small.arena);
	/* The link to 3 carries 6; that from 2 and that to 1 carry 1. */
	assert_near(time[0].time_s, 6);
	assert_near(time[1].time_s, 6);
	assert_near(time[2].time_s, 1);
	arena_release(&small.arena);
}

/* A tree of two racks of two devices: leaves 4 and 5, spine 6. */
static void rack_pair(struct small *small, double slow_Bps)
{
	start(small, 4, 7);
	for (uint32_t d = 0; d < 4; d++)
		both(small, d, 4 + d / 2, 4, 1);
	both(small, 4, 6, 2, 1);
	both(small, 5, 6, slow_Bps, 1);
	for (uint32_t i = 8; i < 12; i++)
		small->link[i].family = 1;
	assert_true(graph_prepare(&small->graph, &small->arena));
}

static void test_hierarchy(void **state)
{
	struct graph_hierarchy hierarchy;
	struct small small;

	(void)state;
	/* One uplink is slow: the rate is that of the other, the levels are the same. */
	for (int slow = 0; slow < 2; slow++) {
		rack_pair(&small, slow ? 0.5 : 2);
		graph_hierarchy(&small.graph, &small.arena, &hierarchy);
		assert_int_equal(hierarchy.level_count, 2);
		assert_int_equal(hierarchy.device_count, 4);
		assert_int_equal(hierarchy.level[0].fanout, 2);
		assert_int_equal(hierarchy.level[1].fanout, 2);
		assert_near(hierarchy.level[0].bandwidth_Bps, 4);
		assert_near(hierarchy.level[0].oversubscription, 1);
		/* One device may have the whole uplink of 2; two share it. */
		assert_near(hierarchy.level[1].bandwidth_Bps, 2);
		assert_near(hierarchy.level[1].oversubscription, 2);
		assert_near(hierarchy.level[0].latency_s, 2);
		assert_near(hierarchy.level[1].latency_s, 4);
		assert_int_equal(hierarchy.witness[0], 4);
		assert_int_equal(hierarchy.witness[1], 6);
		arena_release(&small.arena);
	}
}

/* All four devices as one group, along the levels. */
static void test_lines(void **state)
{
	static const uint32_t device[] = { 0, 1, 2, 3 }, class[] = { 0 };
	struct graph_groups groups = {
		.count = 1, .size = 4, .device = device, .class = class,
		.class_count = 1, .level_count = 2, .members = { 2, 2 },
		.direct = true,
	};
	struct network_lines lines;
	struct small small;
	uint32_t link;

	(void)state;
	rack_pair(&small, 0.5);
	graph_lines(&small.graph, &groups, &lines, &link, &small.arena);
	assert_false(lines.alone);
	/* From the second leaf to the spine, or back. */
	assert_true(link == 10 || link == 11);
	/* Within the racks 1/2 byte at 4; then from each device 1/4 to the other rack,
	 * two of them over the uplink of 0.5: 1/8 + 1. */
	assert_near(lines.by[0].half[1].s_per_byte, 0.125 + 1);
	/* One hop of 2, one of 4. */
	assert_near(lines.by[0].half[1].latency_s, 2 + 4);
	/* Two rings, each with half: in each 3/4 of it pass every link around, and both
	 * cross the uplink once: 3/4 / 0.5. */
	assert_near(lines.by[0].half[0].s_per_byte, 1.5);
	/* Around 2 + 4 + 2 + 4, all but the shortest. */
	assert_near(lines.by[0].half[0].latency_s, 10);
	/* Two devices send half of a byte each to the other rack. */
	assert_near(lines.by[0].all_to_all.s_per_byte, 2);
	assert_near(lines.by[0].all_reduce[1].s_per_byte, 2 * 1.125);
	arena_release(&small.arena);
}

/* The ports keep half of their rate by the protocol for short messages, and a third of
 * the overhead of 3; the uplinks keep all of both. */
static void test_short(void **state)
{
	static const uint32_t device[] = { 0, 1, 2, 3 }, class[] = { 0 };
	struct graph_groups groups = {
		.count = 1, .size = 4, .device = device, .class = class,
		.class_count = 1, .level_count = 2, .members = { 2, 2 },
	};
	struct graph_hierarchy hierarchy;
	struct network_lines lines;
	struct small small;

	(void)state;
	rack_pair(&small, 2);
	small.graph.has_short = true;
	for (uint32_t i = 0; i < small.graph.link_count; i++)
		small.link[i].overhead_s = small.link[i].short_overhead_s = 0.5;
	for (uint32_t i = 0; i < 8; i++) {
		small.link[i].overhead_s = 3;
		small.link[i].short_overhead_s = 1;
		small.link[i].short_rate_Bps = 2;
	}
	graph_lines(&small.graph, &groups, &lines, NULL, &small.arena);
	assert_int_equal(lines.protocols, 2);
	/* 1/2 byte at 4, or at 2, and 1/4 from both devices of a rack at 2. */
	assert_near(lines.by[0].half[1].s_per_byte, 0.125 + 0.25);
	assert_near(lines.by[1].half[1].s_per_byte, 0.25 + 0.25);
	assert_near(lines.by[0].half[1].latency_s, 2 + 4 + 3);
	assert_near(lines.by[1].half[1].latency_s, 2 + 4 + 1);
	graph_hierarchy(&small.graph, &small.arena, &hierarchy);
	assert_near(hierarchy.level[0].overhead_s, 3);
	assert_near(hierarchy.level[0].short_efficiency, 0.5);
	assert_near(hierarchy.level[0].short_overhead_s, 1);
	/* A way between racks begins and ends at ports. */
	assert_near(hierarchy.level[1].overhead_s, 3);
	assert_near(hierarchy.level[1].short_efficiency, 1);
	assert_near(hierarchy.level[1].short_overhead_s, 1);
	arena_release(&small.arena);
}

/* Three pairs of devices, each pair at a switch, all switches linked to each other:
 * the outermost level is full. */
static void test_full(void **state)
{
	struct graph_hierarchy hierarchy;
	struct small small;

	(void)state;
	start(&small, 6, 9);
	for (uint32_t d = 0; d < 6; d++)
		both(&small, d, 6 + d / 2, 8, 1);
	for (uint32_t a = 6; a < 9; a++)
		for (uint32_t b = a + 1; b < 9; b++) {
			both(&small, a, b, 2, 1);
			small.link[small.graph.link_count - 1].family = 1;
			small.link[small.graph.link_count - 2].family = 1;
		}
	assert_true(graph_prepare(&small.graph, &small.arena));
	graph_hierarchy(&small.graph, &small.arena, &hierarchy);
	assert_int_equal(hierarchy.level_count, 2);
	assert_int_equal(hierarchy.level[1].fanout, 3);
	assert_int_equal(hierarchy.level[1].kind, LEVEL_FULL);
	/* Two links of 2 for two devices. */
	assert_near(hierarchy.level[1].bandwidth_Bps, 4);
	assert_near(hierarchy.level[1].oversubscription, 2);
	arena_release(&small.arena);
}

/* Four groups of 4, 4, 4 and 3 devices at switches with slow uplinks: the odd one
 * is left out. */
static void test_uneven(void **state)
{
	struct graph_hierarchy hierarchy;
	struct small small;

	(void)state;
	start(&small, 15, 20);
	for (uint32_t d = 0; d < 15; d++)
		both(&small, d, 15 + d / 4, 10, 1);
	for (uint32_t s = 15; s < 19; s++) {
		both(&small, s, 19, 10, 1);
		small.link[small.graph.link_count - 1].family = 1;
		small.link[small.graph.link_count - 2].family = 2;
	}
	assert_true(graph_prepare(&small.graph, &small.arena));
	graph_hierarchy(&small.graph, &small.arena, &hierarchy);
	assert_int_equal(hierarchy.device_count, 12);
	assert_int_equal(hierarchy.level_count, 2);
	assert_int_equal(hierarchy.level[0].fanout, 4);
	assert_int_equal(hierarchy.level[1].fanout, 3);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(hierarchy.device[i], i);
	arena_release(&small.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_hierarchy),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_uneven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

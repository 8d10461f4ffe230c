/* SPDX-License-Identifier: MIT
 *
 * Collectives on rings, full meshes, tori and in the network, by arithmetic on
 * paper: 120 bytes, links as said, no latency.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/network.h"

static struct problem_level level(enum level_kind kind, uint32_t fanout,
				  double bandwidth_Bps)
{
	return (struct problem_level){
		.kind = kind, .fanout = fanout, .bandwidth_Bps = bandwidth_Bps,
		.oversubscription = 1, .efficiency = 1,
		.wrap = kind == LEVEL_RING,
	};
}

/* All devices of the levels in one group. */
static double whole(const struct problem *problem, enum collective kind)
{
	struct group_shape shape;
	uint32_t used = 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		shape.members[l] = l < problem->level_count ?
			problem->level[l].fanout : 1;
		shape.used[l] = used;
		shape.apart[l] = 1;
		used *= shape.members[l];
	}
	return network_collective(problem, &shape, kind, 120, NULL);
}

static bool is(double number, double expected)
{
	return fabs(number - expected) < 1e-9 * expected;
}

/* 4 devices, 12 B/s over two links. Closed: 3/4 120/12 = 7.5 s; a line has half
 * of that: 15 s. All-to-all: 30 bytes to each of three others, one of them two
 * hops away: 4 x 30 (1 + 1 + 2) = 480 bytes over 8 links of 6 B/s = 10 s. */
static void test_ring(void **state)
{
	struct problem problem = { .level_count = 1 };

	(void)state;
	problem.level[0] = level(LEVEL_RING, 4, 12);
	assert_true(is(whole(&problem, COLLECTIVE_REDUCE_SCATTER), 7.5));
	assert_true(is(whole(&problem, COLLECTIVE_ALL_REDUCE), 15));
	assert_true(is(whole(&problem, COLLECTIVE_ALL_TO_ALL), 10));
	problem.level[0].wrap = false;
	assert_true(is(whole(&problem, COLLECTIVE_REDUCE_SCATTER), 15));
}

/* 4 devices with three links of 4 B/s each: 30 bytes to every other one, 7.5 s. */
static void test_full(void **state)
{
	struct problem problem = { .level_count = 1 };

	(void)state;
	problem.level[0] = level(LEVEL_FULL, 4, 12);
	assert_true(is(whole(&problem, COLLECTIVE_REDUCE_SCATTER), 7.5));
	assert_true(is(whole(&problem, COLLECTIVE_ALL_TO_ALL), 7.5));
}

/* 4 x 4 x 4, 12 B/s a dimension. Each third of the data: 40 x 3/4 / 12 = 2.5 s in
 * its first dimension, a quarter of that in the second, a sixteenth in the third:
 * 2.5 (1 + 1/4 + 1/16) = 3.28125 s, which is 63/64 120 / 36. */
static void test_torus(void **state)
{
	struct problem problem = { .level_count = 3 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		problem.level[i] = level(LEVEL_RING, 4, 12);
		problem.level[i].joined = i > 0;
	}
	assert_true(is(whole(&problem, COLLECTIVE_ALL_GATHER),
		       63 / 64.0 * 120 / 36));
}

/* Eight devices at 308 B/s: (8 + 1)/8 120/308 s; bus bandwidth is 2 (8 - 1)/8 of
 * 120 over that, 479 B/s. Nothing else gains. */
static void test_in_network(void **state)
{
	struct problem problem = { .level_count = 1 };
	double time;

	(void)state;
	problem.level[0] = level(LEVEL_SWITCH, 8, 450);
	problem.level[0].efficiency = 0.7;
	problem.level[0].in_network_reduction = true;
	problem.level[0].reduction_efficiency = 308 / 450.0;
	time = whole(&problem, COLLECTIVE_ALL_REDUCE);
	assert_true(is(time, 9 / 8.0 * 120 / 308));
	assert_true(round(1.75 * 120 / time) == 479);
	assert_true(is(whole(&problem, COLLECTIVE_REDUCE_SCATTER),
		       7 / 8.0 * 120 / 315));
}

/* Two nodes of eight devices, four NICs of 10 B/s a node: each device has 5 B/s.
 * Of the 120 bytes of each, 8/16 go to the other node. */
static void test_shared_nics(void **state)
{
	struct problem problem = { .level_count = 2 };

	(void)state;
	problem.level[0] = level(LEVEL_SWITCH, 8, 1000);
	problem.level[1] = level(LEVEL_SWITCH, 2, 10);
	problem.level[1].nics = 4;
	assert_true(is(whole(&problem, COLLECTIVE_ALL_TO_ALL), 60 / 5.0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_torus),
		cmocka_unit_test(test_in_network),
		cmocka_unit_test(test_shared_nics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

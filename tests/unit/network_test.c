/* SPDX-License-Identifier: MIT
 *
 * Collectives and transfers on two levels, by the formulas of network.h worked
 * out by hand: 8 devices a node at 400 B/s and 1 s, 4 nodes at 50 B/s and 2 s.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/network.h"

static struct problem two_levels(double oversubscription)
{
	return (struct problem){
		.level = {
			{ .fanout = 8, .bandwidth_Bps = 400, .latency_s = 1,
			  .oversubscription = 1, .efficiency = 1 },
			{ .fanout = 4, .bandwidth_Bps = 50, .latency_s = 2,
			  .oversubscription = oversubscription, .efficiency = 1 },
		},
		.level_count = 2, .device_count = 32,
	};
}

static struct placement placed(enum dimension dimension, uint32_t inner,
			       uint32_t outer)
{
	struct placement placement = { 0 };

	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (int l = 0; l < LEVEL_MAX; l++)
			placement.factor[d][l] = 1;
	placement.factor[dimension][0] = inner;
	placement.factor[dimension][1] = outer;
	return placement;
}

static const struct problem_shape dense = { 1, 1, 1, 1, false, 1 };

static double all_devices(double oversubscription, enum collective kind,
			  double bytes, enum algorithm *algorithm)
{
	struct problem problem = two_levels(oversubscription);
	struct placement placement = placed(DIMENSION_DATA, 8, 4);
	struct group_shape shape = network_group(&problem, &placement, &dense,
						 GROUP_DATA_CONTEXT);

	return network_collective(&problem, &shape, kind, bytes, algorithm);
}

/* 3,200 bytes. Hierarchical: 2 7/8 3200/400 + 14 = 28, 2 3/4 400/50 + 12 = 24.
 * Tree: 2 x 3200/400 + 2 (3 x 1 + 2 x 2) = 30. Ring: 15.5 + 70. */
static void test_all_reduce(void **state)
{
	enum algorithm algorithm;

	(void)state;
	assert_float_equal(all_devices(1, COLLECTIVE_ALL_REDUCE, 3200, &algorithm),
			   30, 1e-9);
	assert_int_equal(algorithm, ALGORITHM_TREE);
	/* 32 MB: tree 160,014; ring 2 31/32 32e6/400 and twice 4 x 7 hops of 1 s in
	 * the nodes, 3 of 2 s between them, one more of 2 instead of 1: 70 s. */
	assert_float_equal(all_devices(1, COLLECTIVE_ALL_REDUCE, 32e6, &algorithm),
			   155070, 1e-6);
	assert_int_equal(algorithm, ALGORITHM_RING);
	assert_float_equal(all_devices(1, COLLECTIVE_ALL_REDUCE, 0, &algorithm), 0, 0);
	assert_int_equal(algorithm, ALGORITHM_NONE);
}

/* Hierarchical, 7/8 3200/400 + 7 = 14 and 3/4 400/50 + 6 = 12; an uplink of
 * half the width takes 3/4 400/25 + 6 = 18. */
static void test_halves(void **state)
{
	enum algorithm algorithm;

	(void)state;
	assert_float_equal(all_devices(1, COLLECTIVE_REDUCE_SCATTER, 3200,
				       &algorithm), 26, 1e-9);
	assert_int_equal(algorithm, ALGORITHM_HIERARCHICAL);
	assert_float_equal(all_devices(1, COLLECTIVE_ALL_GATHER, 3200, &algorithm),
			   26, 1e-9);
	assert_float_equal(all_devices(2, COLLECTIVE_ALL_GATHER, 3200, &algorithm),
			   32, 1e-9);
}

/* Of 3,200 bytes 24/32 leave the node, at 50 B/s: 48, and 7 + 3 x 2 of latency. */
static void test_all_to_all(void **state)
{
	enum algorithm algorithm;

	(void)state;
	assert_float_equal(all_devices(1, COLLECTIVE_ALL_TO_ALL, 3200, &algorithm),
			   61, 1e-9);
	assert_int_equal(algorithm, ALGORITHM_DIRECT);
}

/* In a node, 3,200 bytes by the protocol for large messages: 7/8 3200/400 + 7 + 100 =
 * 114; by that for short ones at a quarter of the bandwidth 7/8 3200/100 + 7 + 10 = 45.
 * 32,000 bytes: 70 + 107 = 177 against 280 + 17. Its reductions are not the
 * network's: of 1,600 bytes the tree's 2 x 1600/100 + 6 + 10 = 48 against 9/8 1600/400 +
 * 2 + 100; of 32,000 the network's 90 + 102. */
static void test_short_messages(void **state)
{
	struct problem problem = two_levels(1);
	struct placement placement = placed(DIMENSION_DATA, 8, 1);
	struct group_shape shape = network_group(&problem, &placement, &dense,
						 GROUP_DATA_CONTEXT);
	enum algorithm algorithm;

	(void)state;
	problem.level[0].overhead_s = 100;
	problem.level[0].short_efficiency = 0.25;
	problem.level[0].short_overhead_s = 10;
	problem.level[0].in_network_reduction = true;
	assert_float_equal(network_collective(&problem, &shape,
					      COLLECTIVE_ALL_GATHER, 3200, NULL),
			   45, 1e-9);
	assert_float_equal(network_collective(&problem, &shape,
					      COLLECTIVE_ALL_GATHER, 32000, NULL),
			   177, 1e-9);
	assert_float_equal(network_collective(&problem, &shape,
					      COLLECTIVE_ALL_REDUCE, 1600,
					      &algorithm), 48, 1e-9);
	assert_int_equal(algorithm, ALGORITHM_TREE);
	assert_float_equal(network_collective(&problem, &shape,
					      COLLECTIVE_ALL_REDUCE, 32000,
					      &algorithm), 192, 1e-9);
	assert_int_equal(algorithm, ALGORITHM_IN_NETWORK);
}

/* Eight stages as 2 in a node and 4 nodes: 1 to 2 leaves the node. With four
 * tensor ranks beside them half the node's uplink of 400 B/s is for each stage:
 * 4 senders, 50 B/s each. */
static void test_transfer(void **state)
{
	struct problem problem = two_levels(1);
	struct placement placement = placed(DIMENSION_PIPELINE, 2, 4);

	(void)state;
	placement.factor[DIMENSION_TENSOR][0] = 4;
	assert_int_equal(network_pipeline_level(&problem, &placement, 0, 1), 0);
	assert_int_equal(network_pipeline_level(&problem, &placement, 1, 2), 1);
	assert_int_equal(network_pipeline_level(&problem, &placement, 7, 0), 1);
	assert_float_equal(network_transfer(&problem, &placement, 0, 800), 3, 1e-9);
	assert_float_equal(network_transfer(&problem, &placement, 1, 100), 4, 1e-9);
	problem.level[1].oversubscription = 4;	/* 8 x 50 / 4 / 4 = 25 B/s */
	assert_float_equal(network_transfer(&problem, &placement, 1, 100), 6, 1e-9);
}

/* Tensor 2 and data 2 in a node: tensor varies fastest; data 4 across nodes. */
static void test_device(void **state)
{
	struct problem problem = two_levels(1);
	struct placement placement = placed(DIMENSION_DATA, 2, 4);
	uint32_t coordinate[DIMENSION_COUNT] = { 0 };

	(void)state;
	placement.factor[DIMENSION_TENSOR][0] = 2;
	coordinate[DIMENSION_TENSOR] = 1;
	coordinate[DIMENSION_DATA] = 5;		/* digits 1 and 2 */
	assert_int_equal(network_device(&problem, &placement, coordinate),
			 1 + 2 * 1 + 8 * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_reduce),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_all_to_all),
		cmocka_unit_test(test_short_messages),
		cmocka_unit_test(test_transfer),
		cmocka_unit_test(test_device),
	};

	return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * What is told of linear placements from their degrees alone must be what laying
 * every rank shows. All degrees on small networks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/devices.h"
#include "solver/linear.h"

struct tally {
	uint32_t laid, divided, moved;
};

static void check_laid(const struct problem *problem,
		       const uint32_t degree[DIMENSION_COUNT],
		       enum packing packing, uint32_t aligned,
		       struct arena *arena, struct tally *tally)
{
	struct placement linear = linear_placement(degree, packing, aligned);
	struct placement loose = linear_placement(degree, packing, 0);
	struct placement told, found;
	const uint32_t *device = devices_lay(problem, &linear, arena);
	const uint32_t *other = devices_lay(problem, &loose, arena);
	uint32_t count = degree[0] * degree[1] * degree[2] * degree[3];

	if (!linear_aligns(problem, &linear)) {
		assert_true((device == NULL) == (other == NULL));
		if (device)
			assert_memory_equal(device, other,
					    count * sizeof(*device));
	} else {
		tally->moved++;
	}
	if (device)
		tally->laid++;
	if (!linear_divides(problem, &linear, &told))
		return;
	tally->divided++;
	assert_non_null(device);
	assert_true(linear_is_factored(problem, &linear, device, &found));
	assert_memory_equal(told.factor, found.factor, sizeof(told.factor));
}

static void check_network(uint32_t a, uint32_t b, uint32_t c, struct tally *tally)
{
	const uint32_t fanout[] = { a, b, c };
	struct problem problem = { .device_count = 1 };
	struct arena arena;
	uint32_t d[DIMENSION_COUNT];

	arena_init(&arena);
	for (; problem.level_count < 3; problem.level_count++) {
		problem.level[problem.level_count].fanout =
			fanout[problem.level_count];
		problem.device_count *= fanout[problem.level_count];
	}
	for (d[0] = 1; d[0] <= problem.device_count; d[0]++)
		for (d[1] = 1; d[0] * d[1] <= problem.device_count; d[1]++)
			for (d[2] = 1; d[0] * d[1] * d[2] <= problem.device_count;
			     d[2]++)
				for (d[3] = 1; d[0] * d[1] * d[2] * d[3] <=
					       problem.device_count; d[3]++)
					for (uint32_t i = 0; i < 8; i++) {
						struct arena_mark mark =
							arena_mark(&arena);

						check_laid(&problem, d,
							   (enum packing)(i / 4 + PACKING_DATA_PIPELINE),
							   i % 4, &arena, tally);
						arena_rewind(&arena, mark);
					}
	arena_release(&arena);
}

static void test_told_is_laid(void **state)
{
	struct tally tally = { 0 };

	(void)state;
	check_network(4, 2, 2, &tally);
	check_network(2, 3, 4, &tally);
	check_network(6, 2, 1, &tally);
	check_network(3, 3, 2, &tally);
	/* All three kinds must have been met. */
	assert_true(tally.divided > 500);
	assert_true(tally.laid > tally.divided + 500);
	assert_true(tally.moved > 100);
}

/* Tensor 2 x data 6 in order on nodes of 4, 3 to a rack: 2 of data in a node, 3
 * across the rack. With data 5 the last node is half empty, and factors cannot
 * say that. */
static void test_by_hand(void **state)
{
	struct problem problem = { .device_count = 12, .level_count = 2 };
	uint32_t degree[DIMENSION_COUNT] = { 2, 1, 6, 1 };
	struct placement linear, factors;

	(void)state;
	problem.level[0].fanout = 4;
	problem.level[1].fanout = 3;
	linear = linear_placement(degree, PACKING_DATA_PIPELINE, 0);
	assert_true(linear_divides(&problem, &linear, &factors));
	assert_int_equal(factors.factor[DIMENSION_TENSOR][0], 2);
	assert_int_equal(factors.factor[DIMENSION_DATA][0], 2);
	assert_int_equal(factors.factor[DIMENSION_DATA][1], 3);
	degree[DIMENSION_DATA] = 5;
	linear = linear_placement(degree, PACKING_DATA_PIPELINE, 0);
	assert_false(linear_divides(&problem, &linear, &factors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_is_laid),
		cmocka_unit_test(test_by_hand),
	};

	return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}

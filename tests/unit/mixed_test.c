/* SPDX-License-Identifier: MIT
 *
 * Clusters of two device types, small enough for arithmetic. Twelve equal layers,
 * each of which takes a fast device 1 s forward and 2 s backward; eight
 * micro-batches of one sequence; one device of each type, and a network that takes
 * no time worth counting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/feasible.h"
#include "solver/mixed.h"
#include "solver/solver.h"

enum { LAYERS = 12, MICRO_BATCHES = 8 };

struct pair {
	struct arena arena;
	struct problem_run run;
	bool is_block;
	struct problem_shape shape;
	struct problem_weight weight;
	struct problem_cost cost[3][RECOMPUTE_COUNT];	/* fast, slow, as the slowest */
	struct problem kind[2], whole;
	const struct problem *kind_at[2];
	struct solve_result result;
};

/* The job on so many devices of one speed. */
static struct problem one_type(struct pair *pair, uint32_t which, double slowness,
			       uint32_t devices)
{
	struct problem problem = {
		.run = &pair->run,
		.run_count = 1,
		.class_count = 1,
		.class_is_block = &pair->is_block,
		.tied_class = CLASS_NONE,
		.tied_with_class = CLASS_NONE,
		.shape = &pair->shape,
		.shape_count = 1,
		.cost = pair->cost[which],
		.weight = &pair->weight,
		.level = { { .fanout = devices, .kind = LEVEL_SWITCH,
			     .bandwidth_Bps = 1e15, .oversubscription = 1,
			     .efficiency = 1 } },
		.level_count = 1,
		.device_count = devices,
		.global_batch = MICRO_BATCHES,
		.zero = { true },
		.recompute = { [RECOMPUTE_NONE] = true },
		.memory = { .limit_bytes = 1000, .weight_bytes = 1 },
	};

	for (int r = 0; r < RECOMPUTE_COUNT; r++)
		pair->cost[which][r] = (struct problem_cost){
			.forward_s = slowness, .backward_s = 2 * slowness };
	return problem;
}

/* A layer has ten parameters of a byte; the slow device is so much slower. */
static void make_pair(struct pair *pair, double slowness)
{
	memset(pair, 0, sizeof(*pair));
	arena_init(&pair->arena);
	pair->run = (struct problem_run){ .count = LAYERS };
	pair->is_block = true;
	pair->shape = (struct problem_shape){ .tensor = 1, .context = 1,
					      .expert = 1, .expert_tensor = 1,
					      .micro_batch = 1 };
	pair->weight = (struct problem_weight){ .parameters = 10,
						.output_bytes = 1 };
	pair->kind[0] = one_type(pair, 0, 1, 1);
	pair->kind[1] = one_type(pair, 1, slowness, 1);
	pair->whole = one_type(pair, 2, slowness, 2);
	pair->kind_at[0] = &pair->kind[0];
	pair->kind_at[1] = &pair->kind[1];
	pair->whole.kind = pair->kind_at;
	pair->whole.kind_count = 2;
}

/* Solves, and lets the independent checker confirm. */
static const struct plan *solve_pair(struct pair *pair)
{
	const struct solve_limits limits = { 0 };
	struct text reason;

	assert_null(problem_check(&pair->whole));
	assert_int_equal(solve(&pair->whole, &limits, &pair->arena, &pair->result),
			 SOLVE_OPTIMAL);
	text_init(&reason, &pair->arena);
	if (!feasible_check(&pair->whole, &pair->result.plan, &pair->arena, &reason))
		fail_msg("%s", reason.at);
	return &pair->result.plan;
}

static uint32_t layers_on(const struct plan *plan, uint32_t kind)
{
	uint32_t layers = 0;

	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		if (mixed_segment(plan, k)->kind == kind)
			layers += plan->stage[k].layers;
	return layers;
}

/* At half the speed: eight layers x 3 s on the one and four x 6 s on the other, 24 s
 * each, are a pipeline of (8 + 2 - 1) x 24 s. The fast one alone takes
 * 8 x 12 x 3 s = 288 s, and so do two slow ones that share the batch:
 * 4 x 12 x 6 s. */
static void test_faster_type_has_more_layers(void **state)
{
	struct pair pair;
	const struct plan *plan;

	(void)state;
	make_pair(&pair, 2);
	plan = solve_pair(&pair);
	assert_int_equal(plan->segment_count, 2);
	assert_int_equal(layers_on(plan, 0), 8);
	assert_int_equal(layers_on(plan, 1), 4);
	assert_true(plan->time_s > 215.999 && plan->time_s < 216.001);
	arena_release(&pair.arena);
}

/* The slow device has room for two layers of ten bytes: the other one takes ten, at
 * least 8 x 30 s. All devices as the slowest have no room at all. */
static void test_smaller_memory_has_fewer_layers(void **state)
{
	struct pair pair;
	const struct plan *plan;

	(void)state;
	make_pair(&pair, 2);
	pair.kind[1].memory.limit_bytes = 25;
	pair.whole.memory.limit_bytes = 25;
	plan = solve_pair(&pair);
	assert_int_equal(plan->segment_count, 2);
	assert_int_equal(layers_on(plan, 0), 10);
	assert_int_equal(layers_on(plan, 1), 2);
	assert_true(plan->time_s >= 240 && plan->time_s < 288);
	arena_release(&pair.arena);
}

/* A single layer takes the slow device 60 s, eight times that is more than the 288 s
 * of the fast one alone. */
static void test_slow_pool_is_left_idle(void **state)
{
	struct pair pair;
	const struct plan *plan;

	(void)state;
	make_pair(&pair, 20);
	plan = solve_pair(&pair);
	assert_int_equal(plan->segment_count, 1);
	assert_int_equal(plan->segment[0].kind, 0);
	assert_int_equal(plan->devices, 1);
	assert_true(plan->time_s > 287.999 && plan->time_s < 288.001);
	arena_release(&pair.arena);
}

/* Equal speeds: two devices share the batch without any pipeline,
 * 4 x 12 x 3 s = 144 s, and a pipeline takes (8 + 1) x 18 s = 162 s. */
static void test_equal_types_share_the_batch(void **state)
{
	struct pair pair;
	const struct plan *plan;

	(void)state;
	make_pair(&pair, 1);
	plan = solve_pair(&pair);
	assert_int_equal(plan->segment_count, 0);
	assert_int_equal(plan->choice.data, 2);
	assert_true(plan->time_s > 143.999 && plan->time_s < 144.001);
	arena_release(&pair.arena);
}

/* Nothing fits: each kind says by how much. The least of 12 x 10 bytes on one
 * device is 120. */
static void test_no_type_has_room(void **state)
{
	const struct solve_limits limits = { 0 };
	struct pair pair;

	(void)state;
	make_pair(&pair, 2);
	pair.kind[0].memory.limit_bytes = 45;
	pair.kind[1].memory.limit_bytes = 25;
	pair.whole.memory.limit_bytes = 25;
	assert_int_equal(solve(&pair.whole, &limits, &pair.arena, &pair.result),
			 SOLVE_INFEASIBLE);
	assert_non_null(pair.result.failure.kind);
	for (int k = 0; k < 2; k++) {
		assert_true(pair.result.failure.kind[k].has_nearest);
		assert_true(pair.result.failure.kind[k].nearest.memory_peak_bytes ==
			    120);
	}
	arena_release(&pair.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faster_type_has_more_layers),
		cmocka_unit_test(test_smaller_memory_has_fewer_layers),
		cmocka_unit_test(test_slow_pool_is_left_idle),
		cmocka_unit_test(test_equal_types_share_the_batch),
		cmocka_unit_test(test_no_type_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

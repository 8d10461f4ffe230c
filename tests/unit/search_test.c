/* SPDX-License-Identifier: MIT
 *
 * Searches whose answers can be worked out by hand: four equal layers, forward
 * 1 s, backward 2 s, 10 bytes of weights each, on four devices with a network
 * that costs nothing; four sequences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/solver.h"

struct small {
	struct problem_run run;
	bool is_block;
	struct problem_shape shape;
	struct problem_cost cost[RECOMPUTE_COUNT];
	struct problem_weight weight;
	struct problem problem;
	struct solve_limits limits;
	struct solve_result result;
	struct arena arena;
};

static void small_init(struct small *small)
{
	*small = (struct small){
		.run = { 0, 4 },
		.is_block = true,
		.shape = { 1, 1, 1, 1, false, 1 },
		.cost = { { .forward_s = 1, .backward_s = 2 } },
		.weight = { .parameters = 10 },
	};
	small->problem = (struct problem){
		.run = &small->run, .run_count = 1,
		.class_count = 1, .class_is_block = &small->is_block,
		.tied_class = CLASS_NONE, .tied_with_class = CLASS_NONE,
		.shape = &small->shape, .shape_count = 1,
		.cost = small->cost, .weight = &small->weight,
		.level = { { .fanout = 4, .bandwidth_Bps = 1e9,
			     .oversubscription = 1, .efficiency = 1 } },
		.level_count = 1, .device_count = 4, .global_batch = 4,
		.zero = { true }, .recompute = { true },
		.memory = { .limit_bytes = 1e6, .weight_bytes = 1 },
	};
	arena_init(&small->arena);
}

static enum solve_status run(struct small *small)
{
	const struct certificate *c = &small->result.plan.certificate;
	enum solve_status status;

	assert_null(problem_check(&small->problem));
	status = solve(&small->problem, &small->limits, &small->arena,
		       &small->result);
	if (status == SOLVE_OPTIMAL)
		assert_int_equal(c->configurations,
				 c->priced + c->bounded + c->infeasible_memory +
					 c->infeasible_requirement +
					 c->infeasible_placement);
	return status;
}

/* Every device one sequence: 4 x 3 s. */
static void test_data(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_float_equal(small.result.plan.time_s, 12, 1e-9);
	assert_int_equal(small.result.plan.choice.data, 4);
	assert_float_equal(small.result.plan.certificate.lower_bound, 12, 1e-9);
	/* data 1, 2, 4 with micro-batches 4, 2, 1. Pipelines 1 .. 4 for data 1, of
	 * which 2 also with 2 chunks (4 micro-batches; 4 has no second chunk); 1 and
	 * 2 for data 2, 2 again with 2 chunks; 1 for data 4: 5 + 3 + 1. */
	assert_int_equal(small.result.plan.certificate.configurations, 9);
	arena_release(&small.arena);
}

/* Half the layers per device: two pipelines of two stages, two micro-batches.
 * Plain: (2 + 1) 6 s; two chunks: 2 x 6 + 3 s. */
static void test_memory_limit(void **state)
{
	static const uint32_t plain = 1;
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.memory.limit_bytes = 20;
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_float_equal(small.result.plan.time_s, 15, 1e-9);
	assert_int_equal(small.result.plan.choice.virtual_stages, 2);
	small.problem.virtual_stages = (struct problem_domain){ &plain, 1 };
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_float_equal(small.result.plan.time_s, 18, 1e-9);
	assert_float_equal(small.result.plan.memory_peak_bytes, 20, 0);
	arena_release(&small.arena);
}

/* Four stages hold 10 bytes each: one too many. */
static void test_nearest(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.memory.limit_bytes = 9;
	assert_int_equal(run(&small), SOLVE_INFEASIBLE);
	assert_true(small.result.failure.has_nearest);
	assert_int_equal(small.result.failure.nearest.choice.pipeline, 4);
	assert_float_equal(small.result.failure.excess_bytes, 1, 1e-9);
	arena_release(&small.arena);
}

/* Three layers on the first of two stages, one pipeline, four micro-batches:
 * the first stage never waits, 4 x 9 s. */
static void test_stage_layers(void **state)
{
	static const struct predicate_step three[] = {
		{ .op = PREDICATE_VARIABLE, .variable = VARIABLE_STAGE_LAYERS },
		{ .op = PREDICATE_CONSTANT, .number = 3 },
		{ .op = PREDICATE_EQUAL },
	};
	static const struct predicate requirement = { three, 3, true, 0 };
	static const uint32_t one = 1, two = 2;
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.requirement = &requirement;
	small.problem.requirement_count = 1;
	small.problem.data = (struct problem_domain){ &one, 1 };
	small.problem.pipeline = (struct problem_domain){ &two, 1 };
	small.problem.virtual_stages = (struct problem_domain){ &one, 1 };
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_float_equal(small.result.plan.time_s, 36, 1e-9);
	assert_int_equal(small.result.plan.chunk_first[1], 3);
	arena_release(&small.arena);
}

/* No plan has five stages; every configuration fails that and only that. */
static void test_removed_by(void **state)
{
	static const struct predicate_step five[] = {
		{ .op = PREDICATE_VARIABLE, .variable = VARIABLE_PIPELINE },
		{ .op = PREDICATE_CONSTANT, .number = 5 },
		{ .op = PREDICATE_GREATER_EQUAL },
	};
	static const struct predicate requirement = { five, 3, false, 0 };
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.requirement = &requirement;
	small.problem.requirement_count = 1;
	assert_int_equal(run(&small), SOLVE_INFEASIBLE);
	assert_false(small.result.failure.has_nearest);
	assert_int_equal(small.result.failure.removed_by[0], 9);
	arena_release(&small.arena);
}

/* Fewest devices first, then time: all four sequences on one. */
static void test_objectives(void **state)
{
	static const struct predicate_step devices = {
		.op = PREDICATE_VARIABLE, .variable = VARIABLE_DEVICES };
	static const struct predicate_step time = {
		.op = PREDICATE_VARIABLE, .variable = VARIABLE_TIME };
	static const struct predicate objective[] = {
		{ &devices, 1, false, 0 }, { &time, 1, true, 1 },
	};
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.objective = objective;
	small.problem.objective_count = 2;
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_int_equal(small.result.plan.devices, 1);
	assert_float_equal(small.result.plan.time_s, 48, 1e-9);
	assert_float_equal(small.result.plan.certificate.value, 1, 0);
	arena_release(&small.arena);
}

/* One device: 40 bytes of weights, and of four layers 10 bytes each or, recomputed for
 * another second, 1. Of 55 bytes the activations may have 15: two layers recomputed
 * keep 22, three 13. Four sequences: 4 x (4 + 8 + 3). */
static void test_partial(void **state)
{
	const uint32_t layers[] = { 1, 2, 3, 4 }, one = 1;
	const struct certificate *c;
	struct small small;

	(void)state;
	small_init(&small);
	small.cost[RECOMPUTE_NONE].saved_bytes = 10;
	small.cost[RECOMPUTE_FULL] = (struct problem_cost){
		.forward_s = 1, .backward_s = 3, .saved_bytes = 1,
	};
	small.problem.recompute[RECOMPUTE_NONE] = false;
	small.problem.recompute[RECOMPUTE_FULL] = true;
	small.problem.recompute_layers = (struct problem_domain){ layers, 4 };
	small.problem.devices = (struct problem_domain){ &one, 1 };
	small.problem.memory.limit_bytes = 55;
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	c = &small.result.plan.certificate;
	assert_int_equal(small.result.plan.choice.recompute_layers, 3);
	assert_float_equal(small.result.plan.time_s, 60, 1e-9);
	assert_int_equal(c->configurations, 4);
	assert_int_equal(c->infeasible_memory, 2);
	arena_release(&small.arena);
}

/* Two stages of 2 s and 4 s with 3 s between them, four micro-batches. 1F1B holds
 * two at a time: 18 + 18 + 6. GPipe holds all: 18 + 3 x 6. */
static void test_gpipe(void **state)
{
	const uint32_t one = 1, two = 2;
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.level[0].latency_s = 3;
	small.problem.data = (struct problem_domain){ &one, 1 };
	small.problem.pipeline = (struct problem_domain){ &two, 1 };
	small.problem.virtual_stages = (struct problem_domain){ &one, 1 };
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_float_equal(small.result.plan.time_s, 42, 1e-9);
	small.problem.schedule[SCHEDULE_1F1B] = true;
	small.problem.schedule[SCHEDULE_GPIPE] = true;
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_float_equal(small.result.plan.time_s, 36, 1e-9);
	assert_int_equal(small.result.plan.choice.schedule, SCHEDULE_GPIPE);
	assert_int_equal(small.result.plan.certificate.configurations, 2);
	arena_release(&small.arena);
}

/* Four replicas of 40 bytes each: a quarter of them and two layers of 10 that are
 * whole for a while are 30. In halves it would be 40. */
static void test_shards(void **state)
{
	const uint32_t four = 4;
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.level[0].fanout = 2;
	small.problem.level[1] = small.problem.level[0];
	small.problem.level_count = 2;
	small.problem.data = (struct problem_domain){ &four, 1 };
	small.problem.zero[0] = false;
	small.problem.zero[3] = true;
	small.problem.shard_level[0] = small.problem.shard_level[1] = true;
	small.problem.memory.limit_bytes = 39;
	assert_int_equal(run(&small), SOLVE_OPTIMAL);
	assert_int_equal(small.result.plan.choice.shard_level, 0);
	assert_float_equal(small.result.plan.memory_peak_bytes, 30, 1e-9);
	assert_int_equal(small.result.plan.certificate.infeasible_memory, 1);
	small.problem.shard_level[0] = false;
	assert_int_equal(run(&small), SOLVE_INFEASIBLE);
	assert_float_equal(small.result.failure.excess_bytes, 1, 1e-9);
	arena_release(&small.arena);
}

static void test_bad_problems(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.device_count = 5;
	assert_non_null(problem_check(&small.problem));
	small_init(&small);
	small.problem.shard_level[LEVEL_MAX - 1] = true;
	assert_non_null(problem_check(&small.problem));
	small_init(&small);
	small.run.count = CHAIN_MAX + 1;
	assert_non_null(problem_check(&small.problem));
	small_init(&small);
	small.problem.level[0].bandwidth_Bps = 0;
	assert_non_null(problem_check(&small.problem));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_stage_layers),
		cmocka_unit_test(test_removed_by),
		cmocka_unit_test(test_objectives),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_gpipe),
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_bad_problems),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}

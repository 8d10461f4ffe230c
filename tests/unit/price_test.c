/* SPDX-License-Identifier: MIT
 *
 * Prices of small plans, added up by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/price.h"

/* Four equal layers: forward 1 s, backward 2 s, 10 parameters, 5 bytes kept,
 * 7 bytes at work. Two devices joined at 16 B/s. */
struct small {
	struct problem_run run[2];
	bool is_block[2];
	struct problem_shape shape;
	struct problem_cost cost[2 * RECOMPUTE_COUNT];
	struct problem_weight weight[2];
	struct problem problem;
	struct plan plan;
	uint32_t first[5];
	struct arena arena;
};

static void small_init(struct small *small)
{
	*small = (struct small){
		.run = { { 0, 4 } },
		.is_block = { true, true },
		.shape = { 1, 1, 1, 1, false, 1 },
		.weight = { { .parameters = 10 } },
	};
	for (int i = 0; i < 2 * RECOMPUTE_COUNT; i++)
		small->cost[i] = (struct problem_cost){ 1, 2, 5, 7, 0, 0 };
	small->weight[1] = small->weight[0];
	small->problem = (struct problem){
		.run = small->run, .run_count = 1,
		.class_count = 1, .class_is_block = small->is_block,
		.tied_class = CLASS_NONE, .tied_with_class = CLASS_NONE,
		.shape = &small->shape, .shape_count = 1,
		.cost = small->cost, .weight = small->weight,
		.level = { { .fanout = 2, .bandwidth_Bps = 16,
			     .oversubscription = 1, .efficiency = 1 } },
		.level_count = 1, .device_count = 2, .global_batch = 4,
		.zero = { true, true }, .recompute = { true },
		.memory = { 1e6, 100, 3, 2, 4, 12 },
		.sync = { .reduce_bytes = 4, .gather_bytes = 2,
			  .overlap_reduce = true, .overlap_gather = true,
			  .step_bytes = 8, .memory_bandwidth_Bps = 16 },
		.device_dollars_per_s = 0.5, .device_watts = 3,
	};
	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (int l = 0; l < LEVEL_MAX; l++)
			small->plan.placement.factor[d][l] = 1;
	small->plan.chunk_first = small->first;
	arena_init(&small->arena);
	assert_null(problem_check(&small->problem));
}

/* Two stages of two layers, four micro-batches. */
static void use_pipeline(struct small *small)
{
	small->plan.choice = (struct choice){
		.data = 1, .pipeline = 2, .virtual_stages = 1, .micro_batches = 4,
	};
	small->plan.placement.factor[DIMENSION_PIPELINE][0] = 2;
	small->plan.chunk_count = 2;
	small->first[1] = 2;
	small->first[2] = 4;
}

/* One stage on two replicas, two micro-batches each. */
static void use_data(struct small *small, uint32_t zero)
{
	small->plan.choice = (struct choice){
		.data = 2, .pipeline = 1, .virtual_stages = 1, .micro_batches = 2,
		.zero = zero,
	};
	small->plan.placement.factor[DIMENSION_DATA][0] = 2;
	small->plan.chunk_count = 1;
	small->first[1] = 4;
}

/* (4 + 1)(2 + 4) = 30, then the step: 20 x 8 / 16 = 10. */
static void test_pipeline(void **state)
{
	struct small small;
	const struct breakdown *b = &small.plan.breakdown;

	(void)state;
	small_init(&small);
	use_pipeline(&small);
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.time_s, 40, 1e-9);
	assert_float_equal(b->compute_s, 24, 1e-9);
	assert_float_equal(b->bubble_s, 6, 1e-9);
	assert_float_equal(b->optimizer_s, 10, 1e-9);
	assert_float_equal(b->pipeline_s + b->data_s + b->tensor_s, 0, 1e-9);
	assert_int_equal(small.plan.devices, 2);
	arena_release(&small.arena);
}

/* Stage 0: 20 parameters, two micro-batches of 10 bytes in flight, one group. */
static void test_memory(void **state)
{
	struct small small;
	const struct stage_memory *m;

	(void)state;
	small_init(&small);
	use_pipeline(&small);
	price_plan(&small.problem, &small.arena, &small.plan);
	m = &small.plan.stage[0].memory;
	assert_float_equal(m->parameters, 40, 0);
	assert_float_equal(m->gradients, 80, 0);
	assert_float_equal(m->optimizer, 240, 0);
	assert_float_equal(m->activations, 20, 0);
	assert_float_equal(m->working, 7, 0);
	assert_float_equal(m->reserve, 103, 0);
	assert_float_equal(m->total, 490, 0);
	assert_float_equal(small.plan.stage[1].memory.total, 480, 0);
	assert_float_equal(small.plan.memory_peak_bytes, 490, 0);
	assert_int_equal(small.plan.memory_peak_stage, 0);
	arena_release(&small.arena);
}

/* All-reduce of 40 x 4 bytes over two: 160 / 16 = 10, of which the backward of
 * 8 hides 8. 2 x 12 + 2, then the step: 40 x 8 / 16 = 20. */
static void test_all_reduce(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	use_data(&small, 0);
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].reduce_s, 10, 1e-9);
	assert_float_equal(small.plan.stage[0].reduce_exposed_s, 2, 1e-9);
	assert_float_equal(small.plan.time_s, 46, 1e-9);
	arena_release(&small.arena);
}

/* Two stages on two replicas, all across the outer level: a transfer of 32 bytes takes
 * 32/16 = 2 s, a reduction of 2 layers x 10 x 4 bytes over two ranks 2 x 1/2 x 80/16 =
 * 5 s. The backward of a stage takes 4 s. That of stage 1 sends for 2 s of these, so
 * 5 - (4 - 2) = 3 s are left; that of stage 0 sends nothing: 5 - 4 = 1. With the
 * stages within a child the transfer does not meet the reduction. */
static void test_uplinks(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	use_pipeline(&small);
	small.problem.level[1] = small.problem.level[0];
	small.problem.level[1].fanout = 4;
	small.problem.level_count = 2;
	small.problem.device_count = 8;
	small.weight[0].output_bytes = 32;
	small.plan.choice.data = 2;
	small.plan.choice.micro_batches = 2;
	small.plan.placement.factor[DIMENSION_PIPELINE][0] = 1;
	small.plan.placement.factor[DIMENSION_PIPELINE][1] = 2;
	small.plan.placement.factor[DIMENSION_DATA][1] = 2;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].send_s, 2, 1e-12);
	assert_float_equal(small.plan.stage[1].reduce_s, 5, 1e-12);
	assert_float_equal(small.plan.stage[0].reduce_exposed_s, 1, 1e-12);
	assert_float_equal(small.plan.stage[1].reduce_exposed_s, 3, 1e-12);
	small.plan.placement.factor[DIMENSION_PIPELINE][0] = 2;
	small.plan.placement.factor[DIMENSION_PIPELINE][1] = 1;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[1].reduce_exposed_s, 1, 1e-12);
	arena_release(&small.arena);
}

/* Reduce-scatter 5 behind 8, gather of 40 x 2 bytes 2.5 behind 4, half the
 * step: 24 + 10. Nothing hidden: 24 + 5 + 10 + 2.5. */
static void test_zero(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	use_data(&small, 1);
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.time_s, 34, 1e-9);
	assert_float_equal(small.plan.stage[0].memory.optimizer, 240, 0);
	small.problem.sync.overlap_reduce = false;
	small.problem.sync.overlap_gather = false;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.time_s, 41.5, 1e-9);
	assert_float_equal(small.plan.breakdown.data_s, 7.5, 1e-9);
	arena_release(&small.arena);
}

/* Every layer scatters 10 x 4 bytes, 20 / 16 = 1.25 behind its backward of 2; the
 * gather after the step hides as above. Nothing hidden: 2 (4 + 4 x 3.25) + 10 + 2.5.
 * The gradients of two layers are whole at a time: 7 + 20 x 4. */
static void test_zero_2(void **state)
{
	const struct stage_memory *m;
	struct small small;

	(void)state;
	small_init(&small);
	use_data(&small, 2);
	price_plan(&small.problem, &small.arena, &small.plan);
	m = &small.plan.stage[0].memory;
	assert_float_equal(small.plan.time_s, 34, 1e-9);
	assert_float_equal(small.plan.stage[0].reduce_s, 0, 0);
	assert_float_equal(m->parameters, 80, 0);
	assert_float_equal(m->gradients, 80, 0);
	assert_float_equal(m->optimizer, 240, 0);
	assert_float_equal(m->working, 87, 0);
	small.problem.sync.overlap_reduce = false;
	small.problem.sync.overlap_gather = false;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.time_s, 46.5, 1e-9);
	assert_float_equal(small.plan.stage[0].sharding_s, 5, 1e-9);
	assert_float_equal(small.plan.breakdown.data_s, 12.5, 1e-9);
	arena_release(&small.arena);
}

/* At 8 B/s a layer gathers 10 x 2 bytes in 1.25, 0.25 more than its forward, and
 * again behind its backward of 2, with the 2.5 of its scatter: 1.75 more. So
 * 2 x 4 x (1.25 + 3.75), and the step of 10; no gather after it. */
static void test_zero_3(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	use_data(&small, 3);
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.time_s, 34, 1e-9);
	assert_float_equal(small.plan.stage[0].gather_s, 0, 0);
	assert_float_equal(small.plan.stage[0].memory.parameters, 40, 0);
	assert_float_equal(small.plan.stage[0].memory.working, 7 + 20 * 6, 0);
	small.problem.level[0].bandwidth_Bps = 8;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].forward_s, 5, 1e-9);
	assert_float_equal(small.plan.stage[0].backward_s, 15, 1e-9);
	assert_float_equal(small.plan.time_s, 50, 1e-9);
	assert_float_equal(small.plan.breakdown.data_s, 16, 1e-9);
	small.problem.sync.overlap_reduce = false;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].backward_s, 4 * 4.5, 1e-9);
	arena_release(&small.arena);
}

/* Four replicas, two in each half, 4 B/s between the halves; one micro-batch each.
 * ZeRO 1 in halves: scatter 160 bytes in 80 / 16 = 5, all-reduce the 80 that are
 * left in 80 / 4 = 20, of which the backward of 8 hides 8: 12 + 17 + 10. ZeRO 3: only
 * the 20 come at the end. Three groups: all, the half, the others. */
static void test_shards(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	small.problem.level[1] = small.problem.level[0];
	small.problem.level[1].bandwidth_Bps = 4;
	small.problem.level_count = 2;
	small.problem.device_count = 4;
	use_data(&small, 1);
	small.plan.choice.data = 4;
	small.plan.choice.micro_batches = 1;
	small.plan.choice.shard_level = 1;
	small.plan.placement.factor[DIMENSION_DATA][1] = 2;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].reduce_s, 25, 1e-9);
	assert_float_equal(small.plan.time_s, 39, 1e-9);
	assert_float_equal(small.plan.stage[0].memory.optimizer, 240, 0);
	assert_float_equal(small.plan.stage[0].memory.reserve, 109, 0);
	small.plan.choice.zero = 3;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].reduce_s, 20, 1e-9);
	assert_float_equal(small.plan.time_s, 34, 1e-9);
	arena_release(&small.arena);
}

/* Recomputed, a layer takes 3 backward and keeps 2. One of the two of each stage:
 * (4 + 1)(2 + 5), and 2 x (2 + 5) bytes on the first; both: (4 + 1)(2 + 6). */
static void test_partial(void **state)
{
	const struct stage_memory *m;
	struct small small;

	(void)state;
	small_init(&small);
	small.cost[RECOMPUTE_FULL] = (struct problem_cost){ 1, 3, 2, 9, 0, 0 };
	use_pipeline(&small);
	small.plan.choice.recompute = RECOMPUTE_FULL;
	small.plan.choice.recompute_layers = 1;
	price_plan(&small.problem, &small.arena, &small.plan);
	m = &small.plan.stage[0].memory;
	assert_float_equal(small.plan.time_s, 45, 1e-9);
	assert_float_equal(m->activations, 14, 0);
	assert_float_equal(m->working, 9, 0);
	for (uint32_t layers = 0; layers < 5; layers += 2) {
		small.plan.choice.recompute_layers = layers;
		price_plan(&small.problem, &small.arena, &small.plan);
		assert_float_equal(small.plan.time_s, 50, 1e-9);
		assert_float_equal(small.plan.stage[0].memory.activations, 8, 0);
	}
	arena_release(&small.arena);
}

/* 12 through both stages and 3 x (2 + 4), as long as 1F1B, but all four
 * micro-batches are kept. */
static void test_gpipe(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	use_pipeline(&small);
	small.plan.choice.schedule = SCHEDULE_GPIPE;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.time_s, 40, 1e-9);
	assert_float_equal(small.plan.stage[0].memory.activations, 40, 0);
	assert_float_equal(small.plan.stage[1].memory.activations, 40, 0);
	arena_release(&small.arena);
}

/* A first layer shares 8 parameters with the last: apart, both stages wait for
 * 8 x 4 bytes at 16 B/s and two latencies of 0.5; together they are stored once. */
static void test_tied(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	small.run[0] = (struct problem_run){ 0, 1 };
	small.run[1] = (struct problem_run){ 1, 1 };
	small.problem.run_count = small.problem.class_count = 2;
	small.problem.tied_class = 1;
	small.problem.tied_with_class = 0;
	small.weight[1].tied_parameters = 8;
	small.problem.level[0].latency_s = 0.5;
	assert_null(problem_check(&small.problem));
	use_pipeline(&small);
	small.first[1] = 1;
	small.first[2] = 2;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].reduce_exposed_s, 3, 1e-9);
	assert_float_equal(small.plan.stage[1].reduce_exposed_s, 3, 1e-9);
	assert_float_equal(small.plan.stage[1].parameters, 10, 0);
	/* Two replicas of each stage have half of the gradient each. */
	small.problem.level[0].fanout = small.problem.device_count = 4;
	small.plan.choice.data = 2;
	small.plan.choice.micro_batches = 2;
	small.plan.choice.zero = 2;
	small.plan.placement.factor[DIMENSION_DATA][0] = 2;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].reduce_exposed_s, 2, 1e-9);
	small.problem.level[0].fanout = small.problem.device_count = 2;
	small.plan.placement.factor[DIMENSION_PIPELINE][0] = 1;
	use_data(&small, 0);
	small.first[1] = 2;
	price_plan(&small.problem, &small.arena, &small.plan);
	assert_float_equal(small.plan.stage[0].parameters, 12, 0);
	arena_release(&small.arena);
}

static void test_variables(void **state)
{
	struct predicate_input input;
	struct small small;

	(void)state;
	small_init(&small);
	use_pipeline(&small);
	price_plan(&small.problem, &small.arena, &small.plan);
	price_variables(&small.problem, &small.plan, &small.arena, &input);
	assert_float_equal(input.value[VARIABLE_TIME], 40, 1e-9);
	assert_float_equal(input.value[VARIABLE_BUBBLE], 6.0 / 40, 1e-9);
	assert_float_equal(input.value[VARIABLE_COST], 40 * 2 * 0.5, 1e-9);
	assert_float_equal(input.value[VARIABLE_ENERGY], 40 * 2 * 3, 1e-9);
	assert_float_equal(input.value[VARIABLE_STAGES_UNIFORM], 1, 0);
	assert_int_equal(input.stage_count, 2);
	assert_int_equal(input.stage_layers[1], 2);
	arena_release(&small.arena);
}

/* Of 10 parameters of a layer 8 are in two matrices, of 5 and 3, with 6 bytes of
 * states; their steps take 4 s, the longer one 3. */
static void use_matrices(struct small *small)
{
	small->weight[0].apart = (struct problem_apart){ 8, 4, 5, 3 };
	small->problem.memory.apart_bytes = 6;
	small->problem.states_apart = true;
	assert_null(problem_check(&small->problem));
}

/* A stage of two layers has 4 parameters x 12 and 16 x 6 bytes of states, and steps
 * in 4 x 8 / 16 + 2 x 4 s. */
static void test_matrices(void **state)
{
	struct small small;
	const struct stage_cost *stage;

	(void)state;
	small_init(&small);
	use_matrices(&small);
	use_pipeline(&small);
	price_plan(&small.problem, &small.arena, &small.plan);
	stage = &small.plan.stage[0];
	assert_float_equal(stage->memory.optimizer, 48 + 96, 0);
	assert_float_equal(stage->memory.gradients, 80, 0);
	assert_float_equal(stage->step_s, 10, 1e-9);
	assert_float_equal(stage->apart_step_s, 8, 1e-9);
	assert_float_equal(small.plan.time_s, 40, 1e-9);
	arena_release(&small.arena);
}

/* Two replicas. Of four layers each has 4 of 8 parameters x 12 and half of 32 x 6
 * bytes, and steps in 4 x 8 / 16 + 16 / 2 s. Of one layer one has 1 x 12 bytes, and 5
 * of the 8 in matrices x 6; the step is 1 x 8 / 16, and the longer one of 3 s. */
static void test_matrices_dealt(void **state)
{
	struct small small;
	const struct stage_cost *stage;

	(void)state;
	small_init(&small);
	use_matrices(&small);
	use_data(&small, 1);
	price_plan(&small.problem, &small.arena, &small.plan);
	stage = &small.plan.stage[0];
	assert_float_equal(stage->memory.optimizer, 48 + 96, 0);
	assert_float_equal(stage->step_s, 2 + 8, 1e-9);
	assert_float_equal(stage->apart_states, 16, 0);
	small.run[0].count = 1;
	small.first[1] = 1;
	price_plan(&small.problem, &small.arena, &small.plan);
	stage = &small.plan.stage[0];
	assert_float_equal(stage->memory.optimizer, 12 + 30, 0);
	assert_float_equal(stage->memory.parameters, 20, 0);
	assert_float_equal(stage->step_s, 0.5 + 3, 1e-9);
	assert_float_equal(stage->apart_states, 5, 0);
	assert_float_equal(stage->apart_parameters, 8, 0);
	arena_release(&small.arena);
}

/* What no optimizer can mean. */
static void test_matrices_wrong(void **state)
{
	struct small small;

	(void)state;
	small_init(&small);
	use_matrices(&small);
	small.problem.zero[2] = true;
	assert_non_null(problem_check(&small.problem));
	small.problem.zero[2] = false;
	small.weight[0].apart.largest = 9;
	assert_non_null(problem_check(&small.problem));
	small.weight[0].apart.largest = 5;
	small.weight[0].apart.parameters = 11;
	assert_non_null(problem_check(&small.problem));
	small.weight[0].apart.parameters = 8;
	small.problem.states_apart = false;
	assert_non_null(problem_check(&small.problem));
	arena_release(&small.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_matrices),
		cmocka_unit_test(test_matrices_dealt),
		cmocka_unit_test(test_matrices_wrong),
		cmocka_unit_test(test_all_reduce),
		cmocka_unit_test(test_uplinks),
		cmocka_unit_test(test_zero),
		cmocka_unit_test(test_zero_2),
		cmocka_unit_test(test_zero_3),
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_gpipe),
		cmocka_unit_test(test_tied),
		cmocka_unit_test(test_variables),
	};

	return cmocka_run_group_tests_name("price", tests, NULL, NULL);
}

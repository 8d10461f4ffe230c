/* SPDX-License-Identifier: MIT
 *
 * Plans as strategies try them: how layers are dealt out, where ranks lie, what
 * surely does not fit, and which plans are kept.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/attempt.h"

enum { EMBEDDING, BLOCK, HEAD, CLASSES };

/* An embedding, ten blocks and a head on 4 nodes of 8 devices, a batch of 64. */
struct sample {
	struct problem problem;
	struct problem_run run[3];
	struct problem_shape shape[1];
	struct problem_cost cost[CLASSES * RECOMPUTE_COUNT];
	struct problem_weight weight[CLASSES];
	struct arena arena, scratch;
	struct attempts attempts;
};

static const bool is_block[CLASSES] = { false, true, false };

static void sample_init(struct sample *sample)
{
	*sample = (struct sample){
		.run = { { EMBEDDING, 1 }, { BLOCK, 10 }, { HEAD, 1 } },
		.shape = { { .tensor = 4, .context = 1, .expert = 1,
			     .expert_tensor = 1, .micro_batch = 1 } },
		.weight = { [EMBEDDING] = { .parameters = 100 },
			    [BLOCK] = { .parameters = 10, .output_bytes = 8 },
			    [HEAD] = { .parameters = 100 } },
	};
	for (int r = 0; r < RECOMPUTE_COUNT; r++)
		sample->cost[BLOCK * RECOMPUTE_COUNT + r] = (struct problem_cost){
			.forward_s = 1, .backward_s = 2, .saved_bytes = 5 };
	sample->problem = (struct problem){
		.run = sample->run, .run_count = 3, .class_count = CLASSES,
		.class_is_block = is_block, .tied_class = CLASS_NONE,
		.tied_with_class = CLASS_NONE, .shape = sample->shape,
		.shape_count = 1, .cost = sample->cost, .weight = sample->weight,
		.level = { { .fanout = 8, .bandwidth_Bps = 1e3, .efficiency = 1,
			     .oversubscription = 1 },
			   { .fanout = 4, .bandwidth_Bps = 1e2, .efficiency = 1,
			     .oversubscription = 1 } },
		.level_count = 2, .device_count = 32, .global_batch = 64,
		.zero = { true, true }, .recompute = { true },
		.memory = { .limit_bytes = 1e6, .reserve_bytes = 7, .weight_bytes = 2,
			    .gradient_bytes = 2, .optimizer_bytes = 12 },
	};
	arena_init(&sample->arena);
	arena_init(&sample->scratch);
	assert_null(problem_check(&sample->problem));
	attempts_init(&sample->attempts, &sample->problem, &sample->arena,
		      &sample->scratch);
}

static void sample_release(struct sample *sample)
{
	arena_release(&sample->scratch);
	arena_release(&sample->arena);
}

static struct choice choose(struct sample *sample, uint32_t data, uint32_t pipeline)
{
	struct choice choice;

	assert_true(attempts_choose(&sample->attempts, 0, data, pipeline, 1, 0,
				    RECOMPUTE_NONE, &choice));
	return choice;
}

static void assert_cut(struct sample *sample, uint32_t pipeline, uint32_t lighter,
		       const uint32_t *expected)
{
	struct choice choice = choose(sample, 1, pipeline);
	uint32_t first[13];

	assert_true(attempts_deal(&sample->attempts, &choice, lighter, first));
	for (uint32_t k = 0; k <= pipeline; k++)
		assert_int_equal(first[k], expected[k]);
}

/* Ten blocks over four stages: 2, 3, 3, 2; the ends one less than the inner ones
 * comes to the same. Over eight: 1, 2, 2, 1, 1, 1, 1, 1; over three: 3, 4, 3, and
 * with lighter ends 12 / 3 - 1 = 3, 4, 3. The embedding is with the first stage, the
 * head with the last. */
static void layers_are_dealt_evenly(void **state)
{
	struct sample sample;
	struct choice choice;
	uint32_t first[13];

	(void)state;
	sample_init(&sample);
	assert_cut(&sample, 4, 0, (uint32_t[]){ 0, 3, 6, 9, 12 });
	assert_cut(&sample, 4, 1, (uint32_t[]){ 0, 3, 6, 9, 12 });
	assert_cut(&sample, 8, 0, (uint32_t[]){ 0, 2, 4, 6, 7, 8, 9, 10, 12 });
	assert_cut(&sample, 3, 0, (uint32_t[]){ 0, 4, 8, 12 });
	assert_cut(&sample, 3, 1, (uint32_t[]){ 0, 4, 8, 12 });
	/* 12 = 5 x 2 + 2: ends 1, inner ones 3, 3, 2. */
	assert_cut(&sample, 5, 1, (uint32_t[]){ 0, 2, 5, 8, 10, 12 });
	/* Even cuts only: ten do not divide by four; by five they do. */
	sample.problem.uniform_stages = true;
	choice = choose(&sample, 1, 4);
	assert_false(attempts_deal(&sample.attempts, &choice, 0, first));
	assert_cut(&sample, 5, 0, (uint32_t[]){ 0, 3, 5, 7, 9, 12 });
	sample_release(&sample);
}

static void ranks_lie_in_order(void **state)
{
	static const enum dimension data_first[] = {
		DIMENSION_DATA, DIMENSION_TENSOR, DIMENSION_CONTEXT,
		DIMENSION_PIPELINE };
	static const enum dimension tensor_first[] = {
		DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA,
		DIMENSION_PIPELINE };
	struct placement placement;
	struct sample sample;
	struct choice choice;

	(void)state;
	sample_init(&sample);
	choice = choose(&sample, 4, 2);
	/* Four of tensor and two of data fill the node; two of data and two stages
	 * lie across nodes. */
	assert_true(attempts_place(&sample.attempts, &choice, tensor_first, &placement));
	assert_int_equal(placement.factor[DIMENSION_TENSOR][0], 4);
	assert_int_equal(placement.factor[DIMENSION_DATA][0], 2);
	assert_int_equal(placement.factor[DIMENSION_DATA][1], 2);
	assert_int_equal(placement.factor[DIMENSION_PIPELINE][1], 2);
	assert_true(attempts_place(&sample.attempts, &choice, data_first, &placement));
	assert_int_equal(placement.factor[DIMENSION_DATA][0], 4);
	assert_int_equal(placement.factor[DIMENSION_TENSOR][0], 2);
	assert_int_equal(placement.factor[DIMENSION_TENSOR][1], 2);
	/* Tensor has to stay within the node, where that order leaves it no room: any
	 * other that fits is taken. */
	sample.problem.within[DIMENSION_TENSOR] = 1;
	assert_true(attempts_place(&sample.attempts, &choice, data_first, &placement));
	assert_int_equal(placement.factor[DIMENSION_TENSOR][0], 4);
	sample_release(&sample);
}

/* Two stages, one replica: the first has the embedding and five blocks, 150
 * parameters of 16 bytes, and keeps two micro-batches of 5 x 5 bytes; the reserve is 7. */
static void memory_is_added_up(void **state)
{
	const uint32_t first[] = { 0, 6, 12 };
	struct sample sample;
	struct choice choice;

	(void)state;
	sample_init(&sample);
	choice = choose(&sample, 1, 2);
	assert_float_equal(attempts_least_bytes(&sample.attempts, &choice, first),
			   150 * 16 + 2 * 25 + 7, 1e-9);
	/* ZeRO 1 over four replicas: 2 + 2 + 12 / 4 bytes. */
	choice = choose(&sample, 4, 2);
	choice.zero = 1;
	assert_float_equal(attempts_least_bytes(&sample.attempts, &choice, first),
			   150 * 7 + 2 * 25 + 7, 1e-9);
	sample.problem.memory.limit_bytes = 150 * 7 + 2 * 25 + 6;
	assert_false(attempts_may_fit(&sample.attempts, &choice, first));
	assert_int_equal(sample.attempts.over_memory, 1);
	sample_release(&sample);
}

/* Five blocks a stage: 64 micro-batches of 15 s in the first, and 15 s until the
 * second is done with the last one. */
static void plans_are_kept_if_they_fit(void **state)
{
	static const enum dimension order[] = {
		DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_PIPELINE,
		DIMENSION_DATA };
	uint32_t first[] = { 0, 6, 12 };
	struct plan plan = { .chunk_first = first };
	struct sample sample;

	(void)state;
	sample_init(&sample);
	plan.choice = choose(&sample, 1, 2);
	assert_true(attempts_place(&sample.attempts, &plan.choice, order,
				   &plan.placement));
	sample.problem.memory.limit_bytes = 100;
	assert_true(isinf(attempts_offer(&sample.attempts, &plan)));
	assert_false(sample.attempts.incumbent.found);
	sample.problem.memory.limit_bytes = 1e6;
	assert_true(attempts_offer(&sample.attempts, &plan) >= 64 * 15 + 15);
	assert_true(sample.attempts.incumbent.found);
	assert_int_equal(sample.attempts.tried, 2);
	assert_int_equal(sample.attempts.over_memory, 1);
	/* A worse cut is priced, and the better one kept. */
	first[1] = 8;
	assert_true(attempts_offer(&sample.attempts, &plan) >= 64 * 21);
	assert_int_equal(sample.attempts.incumbent.plan.chunk_first[1], 6);
	sample_release(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_are_dealt_evenly),
		cmocka_unit_test(ranks_lie_in_order),
		cmocka_unit_test(memory_is_added_up),
		cmocka_unit_test(plans_are_kept_if_they_fit),
	};

	return cmocka_run_group_tests_name("attempt", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * The checker on one plan worked out by hand, and on the same plan with one
 * thing wrong at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/feasible.h"

/* Three equal blocks, two nodes of two devices: tensor 2 within a node, two
 * stages across the nodes, cut 2 + 1, two micro-batches. */
struct fixture {
	struct arena arena;
	struct text reason;
	struct problem problem;
	struct problem_run run;
	bool is_block;
	struct problem_shape shape;
	struct problem_cost cost[RECOMPUTE_COUNT];
	struct problem_weight weight;
	struct problem_collective collective;
	struct plan plan;
	uint32_t chunk_first[3];
	struct stage_cost stage[2];
};

static void make_problem(struct fixture *f)
{
	f->run = (struct problem_run){ 0, 3 };
	f->is_block = true;
	f->shape = (struct problem_shape){
		.tensor = 2, .context = 1, .expert = 1, .expert_tensor = 1,
		.micro_batch = 1,
	};
	f->cost[0] = (struct problem_cost){
		.forward_s = 4, .backward_s = 8, .saved_bytes = 30,
		.working_bytes = 7, .collective_count = 1,
	};
	f->weight = (struct problem_weight){ .parameters = 10, .output_bytes = 8 };
	f->collective = (struct problem_collective){
		.kind = COLLECTIVE_ALL_REDUCE, .group = GROUP_TENSOR, .bytes = 100,
	};
	f->problem = (struct problem){
		.run = &f->run, .run_count = 1, .class_count = 1,
		.class_is_block = &f->is_block,
		.tied_class = CLASS_NONE, .tied_with_class = CLASS_NONE,
		.shape = &f->shape, .shape_count = 1,
		.cost = f->cost, .weight = &f->weight,
		.collective = &f->collective, .collective_count = 1,
		.level = { { .fanout = 2, .bandwidth_Bps = 100, .latency_s = 0.5,
			     .oversubscription = 1, .efficiency = 1 },
			   { .fanout = 2, .bandwidth_Bps = 10, .latency_s = 1,
			     .oversubscription = 2, .efficiency = 0.5 } },
		.level_count = 2, .device_count = 4,
		.global_batch = 2,
		.zero = { true }, .recompute = { true },
		.memory = { .limit_bytes = 500, .reserve_bytes = 5,
			    .group_bytes = 3, .weight_bytes = 2,
			    .gradient_bytes = 4, .optimizer_bytes = 12 },
		.sync = { .reduce_bytes = 4, .gather_bytes = 2, .step_bytes = 16,
			  .memory_bandwidth_Bps = 40 },
	};
}

/* All-reduce of 100 bytes over 2: ring 2 x 1/2 x 100/100 + 2 x 0.5 = 2 s, so a
 * layer takes 4 + 2 forward and 8 backward.
 *
 * The boundary: rate 0.5 x min(10, 2 x 10 / 2 / 2) = 2.5, 1 + 8/2.5 = 4.2 s.
 *
 * Device 0: F 0-12, 12-24; device 1: F 16.2-22.2, B -30.2, F -36.2, B -44.2;
 * device 0: B 34.4-50.4, B 50.4-66.4. With free transfers device 1 has F 12-18,
 * B -26, F -32, B -40 and device 0 B 26-42, 42-58: 8.4 s are gained of the
 * 66.4 - 2 x 28 = 10.4 s that device 0 is idle.
 *
 * Step: 20 x 16 / 40 = 8 s and 4 s. Memory: 40 + 80 + 240 + 2 x 60 + 7 + 5 + 2 x 3
 * = 498, and 20 + 40 + 120 + 30 + 7 + 11 = 228. */
static void make_plan(struct fixture *f)
{
	f->chunk_first[0] = 0;
	f->chunk_first[1] = 2;
	f->chunk_first[2] = 3;
	f->stage[0] = (struct stage_cost){
		.layers = 2, .parameters = 20, .forward_s = 12, .backward_s = 16,
		.compute_s = 24, .tensor_s = 4, .send_level = 1, .send_s = 4.2,
		.step_s = 8,
		.memory = { 40, 80, 240, 120, 7, 11, 498 },
	};
	f->stage[1] = (struct stage_cost){
		.layers = 1, .parameters = 10, .forward_s = 6, .backward_s = 8,
		.compute_s = 12, .tensor_s = 2, .step_s = 4,
		.memory = { 20, 40, 120, 30, 7, 11, 228 },
	};
	f->plan = (struct plan){
		.choice = { .data = 1, .pipeline = 2, .virtual_stages = 1,
			    .micro_batches = 2 },
		.placement = { { { 2, 1 }, { 1, 1 }, { 1, 1 }, { 1, 2 } } },
		.devices = 4, .chunk_count = 2,
		.chunk_first = f->chunk_first, .stage = f->stage,
		.time_s = 74.4,
		.breakdown = { .compute_s = 48, .tensor_s = 8, .pipeline_s = 8.4,
			       .bubble_s = 2, .optimizer_s = 8 },
		.memory_peak_bytes = 498, .memory_peak_stage = 0,
	};
}

static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	arena_init(&fixture.arena);
	text_init(&fixture.reason, &fixture.arena);
	make_problem(&fixture);
	make_plan(&fixture);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	return 0;
}

static void accepts(struct fixture *f)
{
	if (!feasible_check(&f->problem, &f->plan, &f->arena, &f->reason))
		fail_msg("%s", f->reason.at);
	assert_int_equal(f->reason.length, 0);
}

static void refuses(struct fixture *f, const char *because)
{
	assert_false(feasible_check(&f->problem, &f->plan, &f->arena, &f->reason));
	if (!strstr(f->reason.at, because))
		fail_msg("'%s' does not say '%s'", f->reason.at, because);
}

static void test_accepts(void **state)
{
	accepts(*state);
}

static void test_wrong_time(void **state)
{
	struct fixture *f = *state;

	f->plan.time_s = 74.40001;
	refuses(f, "the iteration time is stated as 74.40001 and is 74.4");
}

static void test_breakdown_does_not_sum(void **state)
{
	struct fixture *f = *state;

	f->plan.breakdown.optimizer_s = 7;
	refuses(f, "the breakdown's sum is stated as 73.4 and is 74.4");
}

static void test_breakdown_of_no_stage(void **state)
{
	struct fixture *f = *state;

	f->plan.breakdown.bubble_s = 3;
	f->plan.breakdown.pipeline_s = 7.4;
	refuses(f, "deciding stage");
}

static void test_wrong_forward(void **state)
{
	struct fixture *f = *state;

	f->stage[1].forward_s = 5;
	refuses(f, "stage 1: forward time is stated as 5 and is 6");
}

static void test_wrong_memory(void **state)
{
	struct fixture *f = *state;

	f->stage[0].memory.activations = 60;
	refuses(f, "stage 0: activation memory is stated as 60 and is 120");
}

static void test_too_much_memory(void **state)
{
	struct fixture *f = *state;

	f->problem.memory.limit_bytes = 497;
	refuses(f, "stage 0: it needs 498 bytes of 497");
}

static void test_exactly_enough_memory(void **state)
{
	struct fixture *f = *state;

	f->problem.memory.limit_bytes = 498;
	accepts(f);
}

static void test_empty_chunk(void **state)
{
	struct fixture *f = *state;

	f->chunk_first[1] = 3;
	refuses(f, "chunk 1 is empty");
}

static void test_layers_left_over(void **state)
{
	struct fixture *f = *state;

	f->run.count = 4;
	refuses(f, "does not cover the chain");
}

static void test_uneven_cut_refused(void **state)
{
	struct fixture *f = *state;

	f->problem.uniform_stages = true;
	refuses(f, "chunk 1 has 1 layers and chunk 0 has 2");
}

static void test_wrong_degree(void **state)
{
	struct fixture *f = *state;

	f->plan.placement.factor[DIMENSION_PIPELINE][1] = 1;
	refuses(f, "factors multiply to 1 and not to 2");
}

static void test_beyond_fanout(void **state)
{
	struct fixture *f = *state;

	f->plan.placement.factor[DIMENSION_PIPELINE][0] = 2;
	f->plan.placement.factor[DIMENSION_PIPELINE][1] = 1;
	refuses(f, "level 0: factors beyond the fan-out");
}

static void test_batch_does_not_divide(void **state)
{
	struct fixture *f = *state;

	f->shape.micro_batch = 3;
	refuses(f, "a global batch of 2 is no multiple of micro-batch 3 x data 1");
}

static void test_interleaving_needs_multiples(void **state)
{
	struct fixture *f = *state;

	f->problem.global_batch = 3;
	f->plan.choice.micro_batches = 3;
	f->plan.choice.virtual_stages = 2;
	f->plan.choice.schedule = SCHEDULE_INTERLEAVED;
	refuses(f, "interleaving needs micro-batches (3)");
}

static void test_outside_domain(void **state)
{
	struct fixture *f = *state;
	const uint32_t pipelines[] = { 1, 4 };

	f->problem.pipeline = (struct problem_domain){ pipelines, 2 };
	refuses(f, "outside its domain");
}

static void test_policy_not_allowed(void **state)
{
	struct fixture *f = *state;

	f->plan.choice.zero = 1;
	refuses(f, "ZeRO stage 1 is not allowed");
}

static void test_requirement_broken(void **state)
{
	struct fixture *f = *state;
	const struct predicate_step step[] = {
		{ .op = PREDICATE_VARIABLE, .variable = VARIABLE_TIME },
		{ .op = PREDICATE_CONSTANT, .number = 74 },
		{ .op = PREDICATE_LESS_EQUAL },
	};
	const struct predicate requirement = { step, 3, true, 0 };

	f->problem.requirement = &requirement;
	f->problem.requirement_count = 1;
	refuses(f, "requirement 0 does not hold");
}

static void test_requirement_kept(void **state)
{
	struct fixture *f = *state;
	/* bubble 2 / 74.4 <= 2.7 % and stage[1].layers == 1 */
	const struct predicate_step step[] = {
		{ .op = PREDICATE_VARIABLE, .variable = VARIABLE_BUBBLE },
		{ .op = PREDICATE_CONSTANT, .number = 0.027 },
		{ .op = PREDICATE_LESS_EQUAL },
		{ .op = PREDICATE_VARIABLE, .variable = VARIABLE_STAGE_LAYERS,
		  .index = 1 },
		{ .op = PREDICATE_CONSTANT, .number = 1 },
		{ .op = PREDICATE_EQUAL },
		{ .op = PREDICATE_AND },
	};
	const struct predicate requirement = { step, 7, true, 0 };

	f->problem.requirement = &requirement;
	f->problem.requirement_count = 1;
	accepts(f);
}

#define CHECK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHECK(test_accepts),
		CHECK(test_wrong_time),
		CHECK(test_breakdown_does_not_sum),
		CHECK(test_breakdown_of_no_stage),
		CHECK(test_wrong_forward),
		CHECK(test_wrong_memory),
		CHECK(test_too_much_memory),
		CHECK(test_exactly_enough_memory),
		CHECK(test_empty_chunk),
		CHECK(test_layers_left_over),
		CHECK(test_uneven_cut_refused),
		CHECK(test_wrong_degree),
		CHECK(test_beyond_fanout),
		CHECK(test_batch_does_not_divide),
		CHECK(test_interleaving_needs_multiples),
		CHECK(test_outside_domain),
		CHECK(test_policy_not_allowed),
		CHECK(test_requirement_broken),
		CHECK(test_requirement_kept),
	};

	return cmocka_run_group_tests_name("feasible", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * The last gate: a plan of the solver passes, and each of many single lies about
 * it is found. Also the numbering of ranks, against groups worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/plan_verify.h"
#include "compiler/problem_from_ir.h"
#include "compiler/ranks.h"
#include "lang/compilation.h"
#include "lang/module.h"
#include "solver/solver.h"

static const char spec[] =
	"nest 1\n"
	"import std.model.llama\n"
	"device toy {\n"
	"  memory = 16GiB memory_bandwidth = 1TB/s\n"
	"  peak { bf16 = 100TFLOP/s }\n"
	"}\n"
	"topology small {\n"
	"  device = toy\n"
	"  level node { fanout = 4 bandwidth = 100GB/s latency = 5us }\n"
	"  level rack { fanout = 2 bandwidth = 10GB/s latency = 10us }\n"
	"}\n"
	"model tiny(seq = 1024) {\n"
	"  layers {\n"
	"    embedding(vocab = 32_000, hidden = 2048)\n"
	"    8 * llama_block(hidden = 2048, heads = 16, kv_heads = 4, ffn = 5_632)\n"
	"    lm_head(vocab = 32_000, hidden = 2048)\n"
	"  }\n"
	"}\n"
	"job train {\n"
	"  model = tiny() topology = small() global_batch = 16\n"
	"  precision = bf16 optimizer = adam\n"
	"  search { tensor in { 2 } pipeline in { 2 } virtual in { 1 } context in { 1 }\n"
	"           micro_batch in { 1 } }\n"
	"  require { devices == 8 }\n"
	"}\n";

struct made {
	struct compilation compilation;
	struct ir *ir;
	struct problem *problem;
	struct solve_result result;
};

static int make(void **state)
{
	struct made *made = calloc(1, sizeof(*made));
	char path[] = "/tmp/nestc-plan-XXXXXX";
	int descriptor = mkstemp(path);
	struct module *module;
	struct solve_limits limits = { 0 };

	if (write(descriptor, spec, sizeof(spec) - 1) < 0)
		return -1;
	close(descriptor);
	compilation_init(&made->compilation);
	module = module_load(&made->compilation, path);
	unlink(path);
	made->ir = lower_job(&made->compilation, module, NULL);
	diags_flush(&made->compilation.diags, stderr, DIAG_FORMAT_TEXT, false);
	if (!made->ir)
		return -1;
	made->problem = problem_from_ir(&made->compilation, made->ir);
	solve(made->problem, &limits, &made->compilation.arena, &made->result);
	*state = made;
	return made->result.status == SOLVE_OPTIMAL ? 0 : -1;
}

static int drop(void **state)
{
	struct made *made = *state;

	compilation_release(&made->compilation);
	free(made);
	return 0;
}

static bool verify(struct made *made, struct text *reason)
{
	text_init(reason, &made->compilation.arena);
	return plan_verify(made->ir, made->problem, &made->result.plan,
			   &made->compilation.arena, reason);
}

static void a_plan_passes(void **state)
{
	struct made *made = *state;
	struct text reason;

	if (!verify(made, &reason))
		fail_msg("%s", reason.at);
}

/* Applies one lie, expects a reason that holds the words, takes it back. */
#define LIE(made, place, lie, words)                                        \
	do {                                                                \
		struct text reason_;                                        \
		__typeof__(place) truth_ = (place);                         \
		(place) = (lie);                                            \
		assert_false(verify((made), &reason_));                     \
		if (!strstr(reason_.at, (words)))                           \
			fail_msg("'%s' does not say '%s'", reason_.at,      \
				 (words));                                  \
		(place) = truth_;                                           \
	} while (0)

static void lies_about_degrees(void **state)
{
	struct made *made = *state;
	struct plan *plan = &made->result.plan;
	uint32_t (*factor)[LEVEL_MAX] = plan->placement.factor;

	LIE(made, plan->choice.shape, made->problem->shape_count, "shape");
	LIE(made, plan->choice.data, plan->choice.data * 2, "data");
	LIE(made, plan->devices, 4, "devices");
	LIE(made, factor[DIMENSION_TENSOR][0], 4, "tensor");
	LIE(made, plan->choice.micro_batches, 3, "global batch");
	LIE(made, made->ir->job.global_batch, 32, "global batch");
	LIE(made, made->ir->topology.level[0].network.fanout, 3, "fan-out");
	LIE(made, made->ir->job.domain[VARIABLE_VIRTUAL].at[0], 2, "virtual");
}

static void lies_about_layers(void **state)
{
	struct made *made = *state;
	struct plan *plan = &made->result.plan;

	LIE(made, plan->chunk_count, 4, "chunks");
	LIE(made, plan->chunk_first[0], 1, "cover");
	LIE(made, plan->chunk_first[1], 0, "no layer");
	LIE(made, plan->chunk_first[2], 11, "cover");
	LIE(made, plan->stage[1].layers, plan->stage[1].layers + 1, "layers");
	LIE(made, plan->stage[0].parameters, 1, "parameters");
	LIE(made, made->ir->model.layer_count, 9, "layers");
}

static void lies_about_memory_and_time(void **state)
{
	struct made *made = *state;
	struct plan *plan = &made->result.plan;
	struct stage_memory *memory = &plan->stage[0].memory;

	LIE(made, memory->activations, memory->activations * 1.001, "sum");
	LIE(made, memory->total, memory->total * 1.001, "sum");
	LIE(made, made->ir->job.memory_limit_bytes, 1e9, "needs");
	LIE(made, plan->memory_peak_bytes, plan->memory_peak_bytes * 2, "peak");
	LIE(made, plan->breakdown.compute_s, plan->breakdown.compute_s * 1.01,
	    "breakdown");
	LIE(made, plan->time_s, 0, "time");
	LIE(made, plan->certificate.lower_bound, plan->time_s * 2, "bound");
	LIE(made, plan->certificate.priced, plan->certificate.priced + 1,
	    "counts");
	LIE(made, made->ir->job.requirement[0].predicate.step,
	    ((struct predicate_step[]){ { .op = PREDICATE_CONSTANT },
					{ .op = PREDICATE_CONSTANT },
					{ .op = PREDICATE_AND } }),
	    "requirement");
}

static void lies_about_devices(void **state)
{
	struct made *made = *state;
	struct ir_job *job = &made->ir->job;
	uint32_t *device = made->result.plan.device;
	struct ir_place avoid = { .avoid = true, .first = device[3], .count = 1 };
	struct ir_place pin = { .rank = 1, .first = device[0], .count = 1 };
	struct ir_place last = { .last = true, .first = device[0], .count = 1 };
	struct ir_place nobody = { .rank = 2, .first = 0, .count = 1 };
	struct text reason;
	/* The dimension that the two nodes hold apart. */
	enum dimension across =
		made->result.plan.placement.factor[DIMENSION_DATA][1] > 1 ?
			DIMENSION_DATA : DIMENSION_PIPELINE;

	LIE(made, device[0], device[1], "device of its own");
	LIE(made, device[7], 8, "device of its own");
	job->place_count = 1;
	LIE(made, job->place, &avoid, "place rule");
	LIE(made, job->place, &pin, "place rule");
	LIE(made, job->place, &last, "place rule");
	/* There is no third stage. */
	job->place = &nobody;
	assert_true(verify(made, &reason));
	job->place_count = 0;
	LIE(made, job->within[across], 1, "must stay within");
}

/* tensor 2 and pipeline 2 in a node of four, data 2 across two nodes: ranks of
 * tensor 0, 1 are neighbours in both orders; in tp-cp-dp-pp the next digit is data
 * (the other node), in tp-cp-pp-dp it is pipeline (the same node). */
static void ranks_follow_the_order(void **state)
{
	struct made *made = *state;
	struct problem problem = *made->problem;
	struct plan plan = { 0 };
	enum rank_match match;

	while (problem.shape[plan.choice.shape].tensor != 2)
		plan.choice.shape++;
	plan.choice.data = 2;
	plan.choice.pipeline = 2;
	plan.devices = 8;
	for (int i = 0; i < DIMENSION_COUNT; i++)
		for (int j = 0; j < LEVEL_MAX; j++)
			plan.placement.factor[i][j] = 1;
	plan.placement.factor[DIMENSION_TENSOR][0] = 2;
	plan.placement.factor[DIMENSION_PIPELINE][0] = 2;
	plan.placement.factor[DIMENSION_DATA][1] = 2;
	assert_int_equal(rank_order_match(&problem, &plan,
					  RANK_ORDER_DATA_PIPELINE),
			 RANK_MATCH_NONE);
	assert_int_equal(rank_order_choose(&problem, &plan, &match),
			 RANK_ORDER_PIPELINE_DATA);
	assert_int_equal(match, RANK_MATCH_SAME);
	/* Rank 5 = 1 + 2 (0 + 2 x 1): tensor 1, pipeline 0, data 1. */
	assert_int_equal(rank_at(&problem, &plan, RANK_ORDER_PIPELINE_DATA, 5)
				 .coordinate[DIMENSION_DATA], 1);
	/* In the other order rank 5 is tensor 1, data 0, pipeline 1: device 3. */
	assert_int_equal(rank_at(&problem, &plan, RANK_ORDER_DATA_PIPELINE, 5)
				 .device, 3);
	/* Pipeline within and data across swapped: the default order fits. */
	plan.placement.factor[DIMENSION_PIPELINE][0] = 1;
	plan.placement.factor[DIMENSION_PIPELINE][1] = 2;
	plan.placement.factor[DIMENSION_DATA][0] = 2;
	plan.placement.factor[DIMENSION_DATA][1] = 1;
	assert_int_equal(rank_order_choose(&problem, &plan, &match),
			 RANK_ORDER_DATA_PIPELINE);
	assert_int_equal(match, RANK_MATCH_SAME);
}

static void devices_have_paths(void **state)
{
	struct made *made = *state;
	struct text path;

	text_init(&path, &made->compilation.arena);
	device_path(&made->ir->topology, 6, &path);
	/* 6 = 2 + 4 x 1: third device of the second node. */
	assert_string_equal(path.at, "rack0/node1/gpu2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_passes),
		cmocka_unit_test(lies_about_degrees),
		cmocka_unit_test(lies_about_layers),
		cmocka_unit_test(lies_about_memory_and_time),
		cmocka_unit_test(lies_about_devices),
		cmocka_unit_test(ranks_follow_the_order),
		cmocka_unit_test(devices_have_paths),
	};

	return cmocka_run_group_tests(tests, make, drop);
}

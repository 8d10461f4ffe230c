/* SPDX-License-Identifier: MIT
 *
 * What searching placements buys over the usual orders of ranks (tensor innermost,
 * then data with pipeline outermost, or pipeline with data outermost): a model of 96 equal
 * layers, hidden size 12,288, 2,048 tokens, on the two networks of Luo et al. 2024,
 * "NEST: Network- and Memory-Aware Device Placement For Distributed Deep Learning", and
 * on a TPU v4 slice (Jouppi et al. 2023, arXiv 2304.01433). All stages hold equally
 * many layers, so that one cut is left and the best plan under the usual orders can
 * be found by trying all.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/attempt.h"
#include "solver/solver.h"

#define SHAPES 5
#define LAYERS 96

struct fixture {
	struct problem_run run;
	bool is_block;
	struct problem_shape shape[SHAPES];
	struct problem_cost cost[SHAPES * RECOMPUTE_COUNT];
	struct problem_weight weight[SHAPES];
	struct problem_collective collective[2 * SHAPES];
	struct problem problem;
	struct arena arena, scratch;
	struct solve_result result;
	struct attempts usual;
};

/* Per device of a tensor group of t: 24 b s h^2 flops forward at 500 TFLOP/s, and twice
 * that backward with all of it recomputed before; 12 h^2 parameters; two all-reduces of
 * b s h values of 2 bytes each way, written as one of twice the size. */
static void make_shape(struct fixture *f, uint32_t i, uint32_t tensor)
{
	double hidden = 12288, sequence = 2048;
	double forward_s = 24 * sequence * hidden * hidden / 5e14 / tensor;
	double values = sequence * hidden;
	struct problem_cost *cost = &f->cost[i * RECOMPUTE_COUNT + RECOMPUTE_FULL];

	f->shape[i] = (struct problem_shape){ tensor, 1, 1, 1, false, 1 };
	f->weight[i] = (struct problem_weight){
		.parameters = 12 * hidden * hidden / tensor,
		.output_bytes = 2 * values / tensor,
	};
	for (int back = 0; back < 2; back++)
		f->collective[2 * i + back] = (struct problem_collective){
			.kind = COLLECTIVE_ALL_REDUCE,
			.group = GROUP_TENSOR,
			.backward = back,
			.bytes = (back ? 4 : 2) * 2 * values,
		};
	*cost = (struct problem_cost){
		.forward_s = forward_s,
		.backward_s = 3 * forward_s,
		.saved_bytes = 2 * values / tensor,
		.working_bytes = 34 * values / tensor,
		.collective_first = 2 * i,
		.collective_count = 2,
	};
}

static void init(struct fixture *f, uint32_t batch)
{
	*f = (struct fixture){ .run = { 0, LAYERS }, .is_block = true };
	for (uint32_t i = 0; i < SHAPES; i++)
		make_shape(f, i, 1u << i);
	f->problem = (struct problem){
		.run = &f->run, .run_count = 1,
		.class_count = 1, .class_is_block = &f->is_block,
		.tied_class = CLASS_NONE, .tied_with_class = CLASS_NONE,
		.shape = f->shape, .shape_count = SHAPES,
		.cost = f->cost, .weight = f->weight,
		.collective = f->collective, .collective_count = 2 * SHAPES,
		.global_batch = batch,
		.zero = { [1] = true }, .recompute = { [RECOMPUTE_FULL] = true },
		.schedule = { [SCHEDULE_1F1B] = true },
		.uniform_stages = true,
		.memory = { .limit_bytes = 64e9, .weight_bytes = 2,
			    .gradient_bytes = 4, .optimizer_bytes = 12 },
		.sync = { .reduce_bytes = 4, .gather_bytes = 2, .step_bytes = 34,
			  .memory_bandwidth_Bps = 3e12 },
	};
	arena_init(&f->arena);
	arena_init(&f->scratch);
}

static struct problem_level *add_level(struct fixture *f, uint32_t fanout,
				       double bandwidth_Bps, double latency_s)
{
	struct problem_level *level = &f->problem.level[f->problem.level_count++];

	*level = (struct problem_level){
		.fanout = fanout, .bandwidth_Bps = bandwidth_Bps,
		.latency_s = latency_s, .oversubscription = 1, .efficiency = 1,
	};
	f->problem.device_count = fanout * (f->problem.device_count ?
					    f->problem.device_count : 1);
	return level;
}

/* Every configuration under both usual orders. */
static void try_usual(struct fixture *f)
{
	static const enum dimension orders[][DIMENSION_COUNT] = {
		{ DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA,
		  DIMENSION_PIPELINE },
		{ DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_PIPELINE,
		  DIMENSION_DATA },
	};
	uint32_t first[LAYERS + 1];
	struct plan plan = { .chunk_first = first };

	attempts_init(&f->usual, &f->problem, &f->arena, &f->scratch);
	for (uint32_t s = 0; s < SHAPES; s++)
	for (uint32_t d = 1; d <= f->problem.device_count; d++)
	for (uint32_t p = 1; p <= LAYERS; p++)
	for (int order = 0; order < 2; order++) {
		if (!attempts_choose(&f->usual, s, d, p, 1, 1, RECOMPUTE_FULL,
				     &plan.choice) ||
		    LAYERS % p ||
		    !attempts_place(&f->usual, &plan.choice, orders[order],
				    &plan.placement) ||
		    !attempts_deal(&f->usual, &plan.choice, 0, first))
			continue;
		plan.chunk_count = p;
		attempts_offer(&f->usual, &plan);
	}
}

static void show(const struct fixture *f, const char *what,
		 const struct plan *plan, double time_s)
{
	printf("# %s: tensor %u data %u pipeline %u, %.6f s;", what,
	       f->shape[plan->choice.shape].tensor, plan->choice.data,
	       plan->choice.pipeline, time_s);
	for (uint32_t l = 0; l < f->problem.level_count; l++)
		printf(" %u x %u x %u",
		       plan->placement.factor[DIMENSION_TENSOR][l],
		       plan->placement.factor[DIMENSION_DATA][l],
		       plan->placement.factor[DIMENSION_PIPELINE][l]);
	printf("\n");
}

/* How much longer the best plan under the usual orders takes. */
static double excess(struct fixture *f)
{
	const struct solve_limits limits = { .gap = 0 };
	double usual;

	assert_null(problem_check(&f->problem));
	assert_int_equal(solve(&f->problem, &limits, &f->arena, &f->result),
			 SOLVE_OPTIMAL);
	try_usual(f);
	assert_true(f->usual.incumbent.found);
	usual = f->usual.incumbent.merit.objective[0];
	show(f, "best", &f->result.plan, f->result.plan.time_s);
	show(f, "usual orders", &f->usual.incumbent.plan, usual);
	return usual / f->result.plan.time_s - 1;
}

static void done(struct fixture *f)
{
	arena_release(&f->arena);
	arena_release(&f->scratch);
}

/* The levels of the network join 8, 4 and 32. */
static void join_levels(struct fixture *f, double inner, double middle,
			  double outer)
{
	add_level(f, 8, inner * 1e9, 1e-6);
	add_level(f, 4, middle * 1e9, 5e-6);
	add_level(f, 32, outer * 1e9, 10e-6);
}

static uint32_t factor(const struct fixture *f, enum dimension d, uint32_t l)
{
	return f->result.plan.placement.factor[d][l];
}

/* Tensor groups fill the nodes, four stages the racks, whose links are the slowest,
 * so that gradients cross only the outer level: that is the order tensor,
 * pipeline, data. Nothing else is better. */
static void expect_equal(struct fixture *f)
{
	assert_true(fabs(excess(f)) < 1e-9);
	assert_int_equal(factor(f, DIMENSION_TENSOR, 0), 8);
	assert_int_equal(factor(f, DIMENSION_PIPELINE, 1), 4);
	assert_int_equal(factor(f, DIMENSION_DATA, 1), 1);
	done(f);
}

static void test_first_network(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, 1024);
	join_levels(&f, 900, 100, 400);
	expect_equal(&f);
}

static void test_second_network(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, 1024);
	join_levels(&f, 900, 12.5, 50);
	expect_equal(&f);
}

/* A chip has two links of 50 GB/s in each of three dimensions. In the usual order a tensor group
 * of 8 is 4 x 2 chips and uses two dimensions; as a cube, 2 x 2 x 2, it uses three at
 * once, and its exchange is what the layers wait for. */
static void test_torus(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, 512);
	for (int l = 0; l < 3; l++) {
		struct problem_level *level = add_level(&f, l < 2 ? 4 : 64, 100e9,
							1e-6);

		level->kind = LEVEL_RING;
		level->wrap = true;
		level->joined = l > 0;
	}
	assert_true(excess(&f) > 0.05);
	for (uint32_t l = 0; l < 3; l++)
		assert_int_equal(factor(&f, DIMENSION_TENSOR, l), 2);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_network),
		cmocka_unit_test(test_second_network),
		cmocka_unit_test(test_torus),
	};

	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}

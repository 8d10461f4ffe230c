/* SPDX-License-Identifier: MIT
 *
 * The published model: its formulas by hand, and its optimum against plain
 * enumeration of every width, number of replicas, stages and cut.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/published.h"

#define NODES_MAX 6

struct sample {
	struct published_problem problem;
	struct published_width width[2];
	double forward[2][NODES_MAX], backward[2][NODES_MAX];
	double parameters[2][NODES_MAX], activations[2][NODES_MAX];
	struct published_edge edge[2][2 * NODES_MAX];
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static uint32_t below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)(next_random(state) % bound);
}

static double unit(uint64_t *state)
{
	return (double)next_random(state) / 2147483648.0;
}

static void make_width(struct sample *sample, uint32_t index, uint64_t *state)
{
	struct published_width *width = &sample->width[index];
	uint32_t nodes = sample->problem.node_count;

	width->tensor = index + 1;
	for (uint32_t v = 0; v < nodes; v++) {
		sample->forward[index][v] = unit(state);
		sample->backward[index][v] = 2 * unit(state);
		sample->parameters[index][v] = 1 + below(state, 20);
		sample->activations[index][v] = below(state, 10);
	}
	for (uint32_t v = 1; v < nodes; v++)
		sample->edge[index][width->edge_count++] =
			(struct published_edge){ v - 1, v, below(state, 8) };
	for (uint32_t v = 2; v < nodes; v++)
		if (below(state, 3) == 0)
			sample->edge[index][width->edge_count++] =
				(struct published_edge){ 0, v, below(state, 8) };
	width->forward_s = sample->forward[index];
	width->backward_s = sample->backward[index];
	width->parameter_bytes = sample->parameters[index];
	width->activation_bytes = sample->activations[index];
	width->edge = sample->edge[index];
}

static void make_sample(struct sample *sample, uint64_t *state)
{
	struct published_problem *problem = &sample->problem;

	*sample = (struct sample){ .problem.level_count = 1 + below(state, 3) };
	problem->device_count = 1;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		problem->fanout[l] = 1 + below(state, 3);
		problem->device_count *= problem->fanout[l];
		problem->bandwidth_Bps[l] = 1 + below(state, 30);
		problem->latency_s[l] = unit(state) / 8;
	}
	problem->node_count = 1 + below(state, NODES_MAX);
	problem->expert = problem->context = 1;
	problem->micro_batches = 1 + below(state, 12);
	problem->memory_bytes = 20 + below(state, 150);
	problem->recompute = below(state, 2);
	problem->adam = below(state, 3) == 0;
	problem->width = sample->width;
	problem->width_count = 1 + below(state, 2);
	for (uint32_t i = 0; i < problem->width_count; i++)
		make_width(sample, i, state);
}

/* Every cut into the plan's stages, from stage `stage` on. */
static double cheapest_cut(const struct published_problem *problem,
			   enum published_objective objective,
			   struct published_plan *plan, uint32_t stage,
			   struct arena *arena)
{
	double best = INFINITY;

	if (stage == plan->stages)
		return plan->cut[stage] == problem->node_count ?
			published_price(problem, objective, plan, arena) : INFINITY;
	for (uint32_t end = plan->cut[stage] + 1; end <= problem->node_count; end++) {
		plan->cut[stage + 1] = end;
		best = fmin(best, cheapest_cut(problem, objective, plan, stage + 1,
					       arena));
	}
	return best;
}

/* Over every stride that leaves room for all replicas where all are priced. */
static double cheapest_stride(const struct published_problem *problem,
			      enum published_objective objective,
			      struct published_plan *plan, uint32_t used,
			      struct arena *arena)
{
	double best = INFINITY;

	for (plan->stride = used; plan->stride <= problem->device_count / plan->data;
	     plan->stride++) {
		best = fmin(best, cheapest_cut(problem, objective, plan, 0, arena));
		if (objective == PUBLISHED_NEST)
			break;
	}
	return best;
}

static double enumerate_zero(const struct published_problem *problem,
			     enum published_objective objective, uint32_t zero,
			     struct arena *arena)
{
	uint32_t cut[NODES_MAX + 1] = { 0 };
	double best = INFINITY;

	for (uint32_t w = 0; w < problem->width_count; w++)
		for (uint32_t d = 1; d <= problem->micro_batches; d++)
			for (uint32_t s = 1; s <= problem->node_count; s++) {
				uint32_t a = problem->width[w].tensor;
				struct published_plan plan = {
					.width = w, .data = d, .stages = s,
					.zero = zero, .cut = cut,
				};

				best = fmin(best, cheapest_stride(problem, objective,
								  &plan, s * a,
								  arena));
			}
	return best;
}

/* ZeRO is the last resort. */
static double enumerate(const struct published_problem *problem,
			enum published_objective objective, struct arena *arena)
{
	double best = enumerate_zero(problem, objective, 0, arena);

	if (isinf(best))
		for (uint32_t zero = 1; zero <= 3; zero++)
			best = fmin(best, enumerate_zero(problem, objective, zero,
							 arena));
	return best;
}

static void optimum_equals_enumeration(void **state)
{
	unsigned sharded = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15u;
		struct published_plan plan;
		struct sample sample;
		struct arena arena;
		double best;
		bool found;

		make_sample(&sample, &random);
		arena_init(&arena);
		best = enumerate(&sample.problem, PUBLISHED_NEST, &arena);
		found = published_solve(&sample.problem, PUBLISHED_NEST, &arena, &plan);
		if (found != !isinf(best) ||
		    (found && fabs(plan.time - best) > 1e-9 * best))
			fail_msg("seed %u: %.17g, by enumeration %.17g",
				 (unsigned)seed, found ? plan.time : INFINITY, best);
		if (found && fabs(published_price(&sample.problem, PUBLISHED_NEST,
						  &plan, &arena) - best) > 1e-9 * best)
			fail_msg("seed %u: the plan is not worth its time",
				 (unsigned)seed);
		sharded += found && plan.zero > 0;
		arena_release(&arena);
	}
	/* The samples' memory must leave some of them to ZeRO. */
	assert_true(sharded > 20);
}

/* With every replica priced the strides tried are few, so that enumeration over
 * all strides is a bound from below; above is every plan of the first search. */
static void all_replicas_are_between(void **state)
{
	unsigned equal = 0, count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15u;
		struct published_plan first, all;
		struct sample sample;
		struct arena arena;
		double best;

		make_sample(&sample, &random);
		arena_init(&arena);
		best = enumerate(&sample.problem, PUBLISHED_ALL_REPLICAS, &arena);
		if (published_solve(&sample.problem, PUBLISHED_NEST, &arena, &first)) {
			assert_true(published_solve(&sample.problem,
						    PUBLISHED_ALL_REPLICAS, &arena,
						    &all));
			assert_true(all.time <=
				    published_price(&sample.problem,
						    PUBLISHED_ALL_REPLICAS, &first,
						    &arena) * (1 + 1e-9));
			assert_true(all.time >= best * (1 - 1e-9));
			equal += all.time <= best * (1 + 1e-9);
			count++;
		}
		arena_release(&arena);
	}
	assert_true(equal * 100 >= count * 99);
}

/* Two nodes on two devices of one level, two micro-batches, by hand. */
static void prices_by_hand(void **state)
{
	const double forward[] = { 1, 2 }, backward[] = { 3, 4 };
	const double parameters[] = { 10, 20 }, activations[] = { 1, 1 };
	const struct published_edge edge = { 0, 1, 6 };
	const struct published_width width = {
		.tensor = 1, .forward_s = forward, .backward_s = backward,
		.parameter_bytes = parameters, .activation_bytes = activations,
		.edge = &edge, .edge_count = 1,
	};
	struct published_problem problem = {
		.node_count = 2, .width = &width, .width_count = 1,
		.expert = 1, .context = 1, .device_count = 2, .level_count = 1,
		.fanout = { 2 }, .bandwidth_Bps = { 12 }, .latency_s = { 0.25 },
		.micro_batches = 2, .memory_bytes = 1000,
	};
	uint32_t together[] = { 0, 2 }, apart[] = { 0, 1, 2 };
	struct published_plan plan = { .data = 2, .stages = 1, .stride = 1,
				       .cut = together };
	struct arena arena;

	(void)state;
	arena_init(&arena);
	/* One stage, two replicas: (1 + 2 + 3 + 4) x 1 round, and one step of
	 * halving: 0.25 + 30/12. */
	assert_float_equal(published_price(&problem, PUBLISHED_NEST, &plan, &arena),
			   10 + 2.75, 1e-12);
	/* Two stages: the second takes 0.75 + 2 + 4, the first 1 + 0.75 + 3; two
	 * micro-batches through two stages are three rounds. */
	plan = (struct published_plan){ .data = 1, .stages = 2, .stride = 2,
					.cut = apart };
	assert_float_equal(published_price(&problem, PUBLISHED_NEST, &plan, &arena),
			   3 * 6.75, 1e-12);
	/* Recomputation, all stages but the last: the backward of the first waits for its own 3
	 * before it starts, which hides the transfer: 1 + 3 + 3 = 7. */
	problem.recompute = true;
	assert_float_equal(published_price(&problem, PUBLISHED_NEST, &plan, &arena),
			   3 * 7, 1e-12);
	/* The first stage is the second from the end: 2 P + A + one stash of what
	 * enters it, nothing: 21 bytes; the last needs 2 x 20 + 1 = 41. */
	problem.memory_bytes = 40;
	assert_true(isinf(published_price(&problem, PUBLISHED_NEST, &plan, &arena)));
	problem.memory_bytes = 41;
	assert_false(isinf(published_price(&problem, PUBLISHED_NEST, &plan, &arena)));
	arena_release(&arena);
}

/* One node, two devices, two replicas; P = 8, Adam's 6 P = 48, A = 2; an
 * all-reduce of 8 bytes takes 0.25 + 8/16 = 0.75. */
static void zero_by_hand(void **state)
{
	static const double least_bytes[] = { 66, 42, 38, 34 };
	static const double time[] = { 3.75, 3.75, 3.375 + 0.375, 3 + 1.125 };
	const double forward = 1, backward = 2, parameters = 8, activations = 2;
	const struct published_width width = {
		.tensor = 1, .forward_s = &forward, .backward_s = &backward,
		.parameter_bytes = &parameters, .activation_bytes = &activations,
	};
	struct published_problem problem = {
		.node_count = 1, .width = &width, .width_count = 1,
		.expert = 1, .context = 1, .device_count = 2, .level_count = 1,
		.fanout = { 2 }, .bandwidth_Bps = { 16 }, .latency_s = { 0.25 },
		.micro_batches = 2, .adam = true,
	};
	uint32_t cut[] = { 0, 1 };
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (uint32_t zero = 0; zero <= 3; zero++) {
		struct published_plan plan = { .data = 2, .stages = 1, .stride = 1,
					       .zero = zero, .cut = cut };

		problem.memory_bytes = least_bytes[zero] - 1;
		assert_true(isinf(published_price(&problem, PUBLISHED_NEST, &plan,
						  &arena)));
		problem.memory_bytes = least_bytes[zero];
		assert_float_equal(published_price(&problem, PUBLISHED_NEST, &plan,
						   &arena), time[zero], 1e-12);
		/* The search takes the stage that just fits, and none where the next
		 * lower one fits too. */
		assert_true(published_solve(&problem, PUBLISHED_NEST, &arena, &plan));
		assert_int_equal(plan.zero, zero);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prices_by_hand),
		cmocka_unit_test(zero_by_hand),
		cmocka_unit_test(optimum_equals_enumeration),
		cmocka_unit_test(all_replicas_are_between),
	};

	return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * The loops of bound.h against the 1F1B schedules they bound: pipelines of random
 * stages and transfers, in eighths, so that every sum is exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/bound.h"
#include "solver/schedule.h"

#define STAGES 6
#define PIPELINES 20000

struct pipeline {
	uint32_t stages, micro_batches;
	double forward_s[STAGES], backward_s[STAGES], transfer_s[STAGES];
	double prefix_s[STAGES + 1];	/* through the stages before, both ways */
	double end_s;
};

/* xorshift64*, Vigna 2016. */
static uint32_t below(uint64_t *state, uint32_t bound)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 0x2545f4914f6cdd1dULL >> 33) % bound);
}

static double both(const struct pipeline *pipeline, uint32_t k)
{
	return pipeline->forward_s[k] + pipeline->backward_s[k];
}

static void draw(struct pipeline *pipeline, uint64_t *state)
{
	double finish[STAGES];
	struct schedule_input input = {
		.forward_s = pipeline->forward_s,
		.backward_s = pipeline->backward_s,
		.transfer_s = pipeline->transfer_s,
	};
	/* Slow transfers make loops the longest way. */
	uint32_t transfer = below(state, 2) ? 4 : 40;
	struct arena arena;

	pipeline->stages = 2 + below(state, STAGES - 1);
	pipeline->micro_batches = 1 + below(state, 30);
	pipeline->prefix_s[0] = 0;
	for (uint32_t k = 0; k < pipeline->stages; k++) {
		pipeline->forward_s[k] = below(state, 8) / 8.0;
		pipeline->backward_s[k] = below(state, 12) / 8.0;
		pipeline->transfer_s[k] = k + 1 < pipeline->stages ?
			below(state, transfer) / 8.0 : 0;
		pipeline->prefix_s[k + 1] = pipeline->prefix_s[k] +
					    both(pipeline, k) +
					    2 * pipeline->transfer_s[k];
	}
	input.shape = (struct schedule_shape){
		.kind = SCHEDULE_1F1B,
		.pipeline = pipeline->stages,
		.virtual_stages = 1,
		.micro_batches = pipeline->micro_batches,
	};
	arena_init(&arena);
	pipeline->end_s = schedule_simulate(&input, &arena, finish);
	arena_release(&arena);
}

/* Loops over the stages from k on. */
static double last_loop(const struct pipeline *pipeline, uint32_t k)
{
	double slowest = 0, half = 0;

	for (uint32_t j = k; j < pipeline->stages; j++) {
		double stage = both(pipeline, j);

		slowest = stage > slowest ? stage : slowest;
		half = pipeline->forward_s[j] > half ? pipeline->forward_s[j] : half;
		half = pipeline->backward_s[j] > half ? pipeline->backward_s[j] : half;
	}
	return bound_loop(pipeline->prefix_s[pipeline->stages],
			  pipeline->prefix_s[pipeline->stages] -
				  pipeline->prefix_s[k],
			  pipeline->stages - k, pipeline->micro_batches, slowest,
			  half);
}

static double inner_loop(const struct pipeline *pipeline, uint32_t i, uint32_t k)
{
	double stage = both(pipeline, k);

	return bound_inner_loop(pipeline->prefix_s[k], stage,
				pipeline->prefix_s[k] + stage -
					pipeline->prefix_s[i],
				k - i + 1, pipeline->stages - 1 - k,
				pipeline->micro_batches);
}

/* None is above the schedule, and each is its end now and then: full loops of both,
 * the rest after them, and the rest without any. */
static void loops_bound_schedules(void **state)
{
	uint32_t last = 0, rest = 0, inner = 0;
	uint64_t seed = 1;

	(void)state;
	for (uint32_t n = 0; n < PIPELINES; n++) {
		struct pipeline pipeline;

		draw(&pipeline, &seed);
		for (uint32_t k = 0; k < pipeline.stages; k++) {
			uint32_t stages = pipeline.stages - k;
			double low = last_loop(&pipeline, k);
			bool full = pipeline.micro_batches > stages;

			assert_true(low <= pipeline.end_s);
			last += full && stages > 1 && low == pipeline.end_s;
			rest += !full && stages > 1 && low == pipeline.end_s;
			for (uint32_t i = 0; i < k; i++) {
				low = inner_loop(&pipeline, i, k);
				full = pipeline.micro_batches >
				       pipeline.stages - i;
				assert_true(low <= pipeline.end_s);
				inner += full && k + 1 < pipeline.stages &&
					 low == pipeline.end_s;
			}
		}
	}
	print_message("# met: %u last loops, %u without one, %u inner loops\n",
		      last, rest, inner);
	assert_true(last >= 100 && rest >= 100 && inner >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_bound_schedules),
	};

	return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}

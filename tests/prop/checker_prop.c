/* SPDX-License-Identifier: MIT
 *
 * The checker refuses every plan in which one thing is wrong.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/text.h"
#include "solver/feasible.h"
#include "solver/solver.h"
#include "tests/prop/random_problem.h"
#include "tests/prop/trial.h"

#define TAMPERS 47

/* Makes one thing in a good plan wrong; false if it need not be. */
static bool tamper(struct plan *plan, uint32_t which)
{
	struct stage_cost *stage = &plan->stage[plan->choice.pipeline - 1];
	double *number[] = {
		&plan->time_s, &plan->memory_peak_bytes,
		&plan->breakdown.compute_s, &plan->breakdown.tensor_s,
		&plan->breakdown.context_s, &plan->breakdown.expert_s,
		&plan->breakdown.pipeline_s, &plan->breakdown.bubble_s,
		&plan->breakdown.data_s, &plan->breakdown.optimizer_s,
		&stage->parameters, &stage->expert_parameters,
		&stage->forward_s, &stage->backward_s,
		&stage->compute_s, &stage->tensor_s, &stage->context_s,
		&stage->expert_s, &stage->send_s, &stage->reduce_s,
		&stage->reduce_exposed_s, &stage->gather_s,
		&stage->gather_exposed_s, &stage->step_s,
		&stage->memory.parameters, &stage->memory.gradients,
		&stage->memory.optimizer, &stage->memory.activations,
		&stage->memory.working, &stage->memory.reserve,
		&stage->memory.total,
	};
	uint32_t *count[] = {
		&plan->choice.shape, &plan->choice.data, &plan->choice.pipeline,
		&plan->choice.virtual_stages, &plan->choice.micro_batches,
		&plan->choice.zero, &plan->devices, &plan->chunk_count,
		&plan->chunk_first[0], &plan->chunk_first[plan->chunk_count],
		&stage->layers, &stage->send_level,
		&plan->placement.factor[0][0], &plan->placement.factor[1][0],
		&plan->placement.factor[2][0], &plan->placement.factor[3][0],
	};
	const uint32_t numbers = sizeof(number) / sizeof(number[0]);

	_Static_assert(sizeof(number) / sizeof(number[0]) +
		       sizeof(count) / sizeof(count[0]) == TAMPERS, "count them");
	if (which < numbers) {
		*number[which] += 1e-6 * (1 + plan->time_s + *number[which]);
		return true;
	}
	/* The next shape may be the same. */
	*count[which - numbers] += which == numbers ? 64 : 1;
	/* Without replicas or weights a stage of ZeRO is the one before it: not
	 * wrong. */
	if (plan->choice.zero <= 3)
		return count[which - numbers] != &plan->choice.zero;
	return true;
}

static void test_checker_refuses(void **state)
{
	uint64_t first = trial_number("PROP_SEED", 1);
	uint64_t count = trial_number("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed += 5) {
		struct trial trial;

		trial_start(&trial, seed);
		trial.status = trial_solve_plainly(&trial.made.problem, &trial.arena,
						   &trial.solved);
		for (uint32_t i = 0; i < TAMPERS &&
		     trial.status == SOLVE_OPTIMAL; i++) {
			struct plan bad = trial.solved.plan;
			uint32_t p = bad.choice.pipeline;
			struct text reason;

			bad.stage = ARENA_ARRAY(&trial.arena, struct stage_cost, p);
			memcpy(bad.stage, trial.solved.plan.stage,
			       p * sizeof(*bad.stage));
			bad.chunk_first = ARENA_ARRAY(&trial.arena, uint32_t,
						      bad.chunk_count + 2);
			memcpy(bad.chunk_first, trial.solved.plan.chunk_first,
			       (bad.chunk_count + 1) * sizeof(uint32_t));
			if (!tamper(&bad, i))
				continue;
			text_init(&reason, &trial.arena);
			if (feasible_check(&trial.made.problem, &bad,
					   &trial.arena, &reason))
				fail_msg("seed %llu: change %u is accepted",
					 (unsigned long long)seed, i);
			assert_true(reason.length > 0);
		}
		arena_release(&trial.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checker_refuses),
	};

	return cmocka_run_group_tests_name("checker", tests, NULL, NULL);
}

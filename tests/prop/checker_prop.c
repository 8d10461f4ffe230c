/* SPDX-License-Identifier: MIT
 *
 * The checker refuses every plan in which one thing is wrong.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/text.h"
#include "solver/feasible.h"
#include "solver/solver.h"
#include "tests/prop/random_problem.h"
#include "tests/prop/trial.h"

#define NUMBERS 35
#define COUNTS 17
#define OTHERS 6
#define TAMPERS (NUMBERS + COUNTS + OTHERS)

static void tamper_number(struct plan *plan, uint32_t which)
{
	struct stage_cost *stage = &plan->stage[plan->choice.pipeline - 1];
	double *number[] = {
		&plan->time_s, &plan->memory_peak_bytes,
		&plan->breakdown.compute_s, &plan->breakdown.tensor_s,
		&plan->breakdown.context_s, &plan->breakdown.expert_s,
		&plan->breakdown.pipeline_s, &plan->breakdown.bubble_s,
		&plan->breakdown.data_s, &plan->breakdown.optimizer_s,
		&stage->parameters, &stage->expert_parameters,
		&stage->apart_parameters, &stage->apart_states,
		&stage->apart_step_s,
		&stage->forward_s, &stage->backward_s,
		&stage->compute_s, &stage->tensor_s, &stage->context_s,
		&stage->expert_s, &stage->sharding_s, &stage->send_s,
		&stage->reduce_s, &stage->reduce_exposed_s, &stage->gather_s,
		&stage->gather_exposed_s, &stage->step_s,
		&stage->memory.parameters, &stage->memory.gradients,
		&stage->memory.optimizer, &stage->memory.activations,
		&stage->memory.working, &stage->memory.reserve,
		&stage->memory.total,
	};

	_Static_assert(sizeof(number) / sizeof(number[0]) == NUMBERS,
		       "count them");
	*number[which] += 1e-6 * (1 + plan->time_s + *number[which]);
}

static void tamper_count(struct plan *plan, uint32_t which)
{
	struct stage_cost *stage = &plan->stage[plan->choice.pipeline - 1];
	uint32_t *count[] = {
		&plan->choice.shape, &plan->choice.data, &plan->choice.pipeline,
		&plan->choice.virtual_stages, &plan->choice.micro_batches,
		&plan->devices, &plan->chunk_count,
		&plan->chunk_first[0], &plan->chunk_first[plan->chunk_count],
		&stage->layers, &stage->send_level,
		&plan->placement.factor[0][0], &plan->placement.factor[1][0],
		&plan->placement.factor[2][0], &plan->placement.factor[3][0],
		&plan->placement.aligned, &plan->segment_count,
	};

	_Static_assert(sizeof(count) / sizeof(count[0]) == COUNTS, "count them");
	/* The next shape may be the same; there are four alignments. */
	*count[which] += count[which] == &plan->choice.shape ? 64 :
			 count[which] == &plan->placement.aligned ? 4 : 1;
}

/* What is wrong in most plans; false where it is not. */
static bool tamper_other(const struct problem *problem, struct plan *plan,
			 uint32_t which)
{
	struct choice *choice = &plan->choice;
	uint32_t last = plan->devices - 1;

	switch (which) {
	case 0:
		choice->schedule = (enum schedule)(choice->schedule + 1);
		return true;
	case 1:
		choice->shard_level++;
		return choice->zero == 0 ||
		       !problem->shard_level[choice->shard_level];
	case 2:
		choice->recompute_layers++;
		return choice->recompute != RECOMPUTE_FULL ||
		       problem->recompute_layers.count == 0;
	case 3:
		choice->zero += 4;
		return true;
	case 4:
		plan->device[last] = problem->device_count;
		return true;
	default:
		plan->device[last] = plan->device[0];
		return last > 0;
	}
}

/* Makes one thing in a good plan wrong; false if it need not be. */
static bool tamper(const struct problem *problem, struct plan *plan,
		   uint32_t which)
{
	if (which < NUMBERS)
		tamper_number(plan, which);
	else if (which < NUMBERS + COUNTS)
		tamper_count(plan, which - NUMBERS);
	else
		return tamper_other(problem, plan, which - NUMBERS - COUNTS);
	return true;
}

static uint32_t *copy_of(struct arena *arena, const uint32_t *from,
			 uint32_t count)
{
	uint32_t *to = ARENA_ARRAY(arena, uint32_t, count + 1);

	memcpy(to, from, count * sizeof(*to));
	return to;
}

static void test_checker_refuses(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

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
			bad.chunk_first = copy_of(&trial.arena, bad.chunk_first,
						  bad.chunk_count + 1);
			bad.device = copy_of(&trial.arena, bad.device,
					     bad.devices);
			if (!tamper(&trial.made.problem, &bad, i))
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

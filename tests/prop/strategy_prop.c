/* SPDX-License-Identifier: MIT
 *
 * Strategies on random problems: what one finds passes the independent checker,
 * is never better than the certificate of the exact search allows, and is
 * nothing where nothing fits. PROP_COUNT, PROP_SEED as in solver_prop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/text.h"
#include "solver/feasible.h"
#include "solver/strategy.h"
#include "tests/prop/trial.h"

/* Looks of the loops around each other when time is over. */
#define LATE_MOST 32

struct tally {
	unsigned solvable, found[STRATEGY_COUNT], best[STRATEGY_COUNT];
};

static void check_found(struct trial *trial, const struct plan *plan,
			enum strategy strategy, struct tally *tally)
{
	const struct certificate *own = &plan->certificate;
	const struct certificate *exact = &trial->solved.plan.certificate;
	struct text reason;

	text_init(&reason, &trial->arena);
	if (!feasible_check(&trial->made.problem, plan, &trial->arena, &reason))
		trial_fail(trial, reason.at);
	if (own->value < exact->lower_bound && !trial_near(own->value,
							   exact->lower_bound))
		trial_fail(trial, "a strategy below the lower bound");
	if (own->lower_bound > exact->value &&
	    !trial_near(own->lower_bound, exact->value))
		trial_fail(trial, "a strategy's lower bound above a plan");
	tally->found[strategy]++;
	tally->best[strategy] += trial_near(own->value, exact->value);
}

static void check_strategies(struct trial *trial, struct tally *tally)
{
	const struct problem *problem = &trial->made.problem;
	struct solve_limits limits = { .gap = 0 };
	bool solvable;

	trial->status = solve(problem, &limits, &trial->arena, &trial->solved);
	solvable = trial->status != SOLVE_INFEASIBLE;
	tally->solvable += solvable;
	for (int i = 0; i < STRATEGY_COUNT; i++) {
		struct solve_result result;
		enum solve_status status;

		status = strategy_solve(problem, (enum strategy)i, &limits,
					&trial->arena, &result);
		if (status == SOLVE_INFEASIBLE || status == SOLVE_UNKNOWN) {
			if (i == STRATEGY_NEST && solvable)
				trial_fail(trial, "nest finds nothing");
			continue;
		}
		if (!solvable)
			trial_fail(trial, "a plan where there is none");
		check_found(trial, &result.plan, (enum strategy)i, tally);
	}
}

static void strategies_are_honest(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", 150);
	struct tally tally = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial;

		trial_start(&trial, seed);
		check_strategies(&trial, &tally);
		arena_release(&trial.arena);
	}
	for (int i = 0; i < STRATEGY_COUNT; i++)
		print_message("# %s: a plan for %u of %u problems, the best for %u\n",
			      strategy_name((enum strategy)i), tally.found[i],
			      tally.solvable, tally.best[i]);
	/* They do look: a strategy that gave up at once would pass all of the above. */
	if (count >= 100)
		for (int i = 0; i < STRATEGY_COUNT; i++)
			assert_true(tally.found[i] * 4 >= tally.solvable);
}

/* The same seed, the same walk. */
static void walks_are_repeatable(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct solve_limits limits = { .gap = 0 };
		struct solve_result one, two;
		struct trial trial;

		trial_start(&trial, seed);
		assert_int_equal(strategy_solve(&trial.made.problem, STRATEGY_MCMC,
						&limits, &trial.arena, &one),
				 strategy_solve(&trial.made.problem, STRATEGY_MCMC,
						&limits, &trial.arena, &two));
		assert_true(one.plan.certificate.configurations ==
			    two.plan.certificate.configurations);
		if (one.status == SOLVE_FEASIBLE) {
			assert_true(one.plan.time_s == two.plan.time_s);
			assert_memory_equal(one.plan.chunk_first, two.plan.chunk_first,
					    (one.plan.chunk_count + 1) *
						    sizeof(uint32_t));
		}
		arena_release(&trial.arena);
	}
}

/* Told to stop after some looks at the clock, a strategy tries next to nothing
 * more, says so, and what it has is a plan. */
static void check_stopped(struct trial *trial, enum strategy strategy,
			  uint64_t count)
{
	struct looks looks = { .left = count };
	struct solve_limits limits = { .deadline = looks_deadline(&looks) };
	const struct problem *problem = &trial->made.problem;
	const struct certificate *certificate = &trial->solved.plan.certificate;
	struct text reason;

	trial->status = strategy_solve(problem, strategy, &limits, &trial->arena,
				       &trial->solved);
	if (certificate->out_of_time != (looks.late > 0))
		trial_fail(trial, "out of time and not said, or said and not so");
	/* Between two looks: cuts x orders, ZeRO stages, axes. */
	if (certificate->configurations > 4 * count)
		trial_fail(trial, "many plans without a look at the clock");
	if (looks.late > LATE_MOST)
		trial_fail(trial, "on and on when time is over");
	if (trial->status != SOLVE_FEASIBLE)
		return;
	text_init(&reason, &trial->arena);
	if (!feasible_check(problem, &trial->solved.plan, &trial->arena, &reason))
		trial_fail(trial, reason.at);
}

static void strategies_stop(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		for (int i = STRATEGY_NEST + 1; i < STRATEGY_COUNT; i++)
			for (uint64_t looks = 0; looks <= 64; looks = 2 * looks + 1) {
				struct trial trial;

				trial_start(&trial, seed);
				check_stopped(&trial, (enum strategy)i, looks);
				arena_release(&trial.arena);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies_are_honest),
		cmocka_unit_test(walks_are_repeatable),
		cmocka_unit_test(strategies_stop),
	};

	return cmocka_run_group_tests_name("strategy", tests, NULL, NULL);
}

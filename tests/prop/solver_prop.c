/* SPDX-License-Identifier: MIT
 *
 * The solver against the oracle on random problems, and the laws any solver
 * must keep. PROP_COUNT sets how many problems, PROP_SEED the first seed; a
 * failure prints the seed, so PROP_SEED=N PROP_COUNT=1 replays it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/text.h"
#include "solver/devices.h"
#include "solver/feasible.h"
#include "solver/price.h"
#include "solver/solver.h"
#include "tests/prop/brute.h"
#include "tests/prop/census.h"
#include "tests/prop/random_problem.h"
#include "tests/prop/trial.h"

/* Best plans, of COUNT_DEFAULT problems, that each feature must be in. */
#define CHOSEN_LEAST 5

static void check_certificate(struct trial *trial)
{
	const struct certificate *c = &trial->solved.plan.certificate;

	if (c->configurations != trial->brute.configurations)
		trial_fail(trial, "another number of configurations");
	if (c->configurations != c->priced + c->bounded + c->infeasible_memory +
	    c->infeasible_requirement + c->infeasible_placement)
		trial_fail(trial, "the configurations do not add up");
	if (c->gap != 0)
		trial_fail(trial, "a gap");
	if (c->lower_bound > c->value)
		trial_fail(trial, "a lower bound above the value");
	if (!trial_near(c->value, trial->brute.best.objective[0]))
		trial_fail(trial, "another value");
}

/* Whether ties between first objectives are true ties, not roundings. */
static bool ties_are_exact(const struct random_problem *made)
{
	const struct problem *problem = &made->problem;

	if (made->dyadic)
		return true;
	return problem->objective_count > 0 &&
	       !problem->objective[0].needs_outcome;
}

static void check_plan(struct trial *trial)
{
	const struct problem *problem = &trial->made.problem;
	struct brute_plan view = trial_view(&trial->solved.plan);
	const struct brute_plan *best = &trial->brute.best;
	struct text reason;

	text_init(&reason, &trial->arena);
	if (!feasible_check(problem, &trial->solved.plan, &trial->arena,
			    &reason))
		trial_fail(trial, reason.at);
	if (!brute_price(problem, &view))
		trial_fail(trial, "the plan breaks a requirement or the memory");
	if (!trial_near(view.objective[0], best->objective[0]))
		trial_fail(trial, view.objective[0] > best->objective[0] ?
			   "a worse plan" : "a better plan than any");
	if (ties_are_exact(&trial->made) && problem->objective_count > 1 &&
	    !trial_near(view.objective[1], best->objective[1]))
		trial_fail(trial, "a worse second objective");
	if (trial->made.dyadic && brute_compare(problem, &view, best) != 0)
		trial_fail(trial, "a tie broken another way");
}

static void check_failure(struct trial *trial)
{
	const struct solve_failure *failure = &trial->solved.failure;
	double limit_bytes = trial->made.problem.memory.limit_bytes;
	struct brute_plan view;

	if (!failure->has_nearest)
		return;
	if (!trial_near(failure->excess_bytes,
			failure->nearest.memory_peak_bytes - limit_bytes) ||
	    failure->excess_bytes <= 0)
		trial_fail(trial, "an excess that is none");
	view = trial_view(&failure->nearest);
	brute_price(&trial->made.problem, &view);
	if (!trial_near(view.peak_bytes, failure->nearest.memory_peak_bytes))
		trial_fail(trial, "the nearest plan has another memory");
	if (trial->brute.has_lightest &&
	    failure->excess_bytes > (trial->brute.lightest_peak_bytes -
				     limit_bytes) * (1 + 1e-9))
		trial_fail(trial, "a plan that misses by less exists");
}

static void solve_and_compare(struct trial *trial)
{
	const struct problem *problem = &trial->made.problem;
	const char *wrong = problem_check(problem);

	if (wrong)
		trial_fail(trial, wrong);
	brute_solve(problem, trial->seed, &trial->brute);
	trial->status = trial_solve_plainly(problem, &trial->arena, &trial->solved);
	if (trial->status != trial->solved.status)
		trial_fail(trial, "two different statuses");
	if (trial->status !=
	    (trial->brute.found ? SOLVE_OPTIMAL : SOLVE_INFEASIBLE))
		trial_fail(trial, "another status");
	if (trial->status == SOLVE_INFEASIBLE) {
		check_failure(trial);
		return;
	}
	check_certificate(trial);
	check_plan(trial);
}

/* Any plan, not only the best, costs the same by price_plan, by the oracle and
 * by the checker. */
static void check_sample(struct trial *trial)
{
	struct problem loose = trial->made.problem;
	const struct brute_plan *sample = &trial->brute.sample;
	struct plan plan = {
		.choice = sample->choice,
		.placement = sample->placement,
		.devices = sample->devices,
		.chunk_count = sample->choice.pipeline *
			       sample->choice.virtual_stages,
	};
	struct predicate_input input;
	struct text reason;

	if (trial->brute.plans == 0)
		return;
	loose.memory.limit_bytes = 1e300;
	loose.requirement_count = 0;
	plan.chunk_first = ARENA_ARRAY(&trial->arena, uint32_t,
				       plan.chunk_count + 1);
	memcpy(plan.chunk_first, sample->chunk_first,
	       (plan.chunk_count + 1) * sizeof(uint32_t));
	if (!devices_fill(&loose, &trial->arena, &plan))
		trial_fail(trial, "no devices for the ranks");
	price_plan(&loose, &trial->arena, &plan);
	trial->solved.plan = plan;
	trial->brute.best = *sample;
	trial->brute.found = true;
	trial->status = SOLVE_FEASIBLE;
	text_init(&reason, &trial->arena);
	if (!feasible_check(&loose, &plan, &trial->arena, &reason))
		trial_fail(trial, reason.at);
	if (!trial_near(plan.time_s, sample->time_s))
		trial_fail(trial, "price_plan gives another time");
	if (!trial_near(plan.memory_peak_bytes, sample->peak_bytes))
		trial_fail(trial, "price_plan gives another memory");
	price_variables(&loose, &plan, &trial->arena, &input);
	if (fabs(input.value[VARIABLE_BUBBLE] - sample->bubble) > 1e-9)
		trial_fail(trial, "price_variables gives another bubble");
}

static void test_against_oracle(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);
	uint64_t found = 0, plans = 0, most = 0, partitions = 0, priced = 0;
	uint64_t configurations = 0, least;
	struct census census = { 0 };
	const char *words;

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial;

		trial_start(&trial, seed);
		solve_and_compare(&trial);
		found += trial.brute.found;
		plans += trial.brute.plans;
		most = trial.brute.plans > most ? trial.brute.plans : most;
		configurations += trial.brute.configurations;
		if (trial.brute.found) {
			partitions += trial.solved.plan.certificate.partitions;
			priced += trial.solved.plan.certificate.priced;
		}
		census_add(&census, &trial.made.problem, &trial.brute);
		check_sample(&trial);
		arena_release(&trial.arena);
	}
	print_message("# %llu problems, %llu with a plan, %llu configurations "
		      "(%llu priced), %llu plans (at most %llu), %llu partitions "
		      "simulated\n", (unsigned long long)count,
		      (unsigned long long)found,
		      (unsigned long long)configurations,
		      (unsigned long long)priced, (unsigned long long)plans,
		      (unsigned long long)most, (unsigned long long)partitions);
	census_show(&census);
	least = census_least(&census, &words);
	if (count >= COUNT_DEFAULT && least < CHOSEN_LEAST)
		fail_msg("only %llu best plans with '%s'",
			 (unsigned long long)least, words);
}

/* Problems beyond the usual ones that once showed a fault: a place with a fraction of
 * an expert in the checker, equal plans that rounding told apart. */
static void test_found_before(void **state)
{
	static const uint64_t seeds[] = { 9154, 9530 };

	(void)state;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		struct trial trial;

		trial_start(&trial, seeds[i]);
		solve_and_compare(&trial);
		check_sample(&trial);
		arena_release(&trial.arena);
	}
}

/* Memory for exactly one of the plans, or only for the lightest: no bound on
 * memory may be a byte too high. */
static void test_tight_memory(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed += 3) {
		struct random random = { seed };
		struct trial trial;
		struct problem *problem = &trial.made.problem;
		bool lightest = random_chance(&random, 0.5);
		double bytes;

		trial_start(&trial, seed);
		brute_solve(problem, seed, &trial.brute);
		bytes = lightest && trial.brute.has_lightest ?
			trial.brute.lightest_peak_bytes :
			trial.brute.sample.peak_bytes;
		if (trial.brute.plans > 0) {
			problem->memory.limit_bytes = bytes * (1 + 1e-10);
			solve_and_compare(&trial);
		}
		arena_release(&trial.arena);
	}
}

/* ---- laws ---- */

/* The value under a derived problem, or infinity. */
static double value_of(const struct problem *problem, struct arena *arena)
{
	struct solve_result result;

	if (trial_solve_plainly(problem, arena, &result) == SOLVE_INFEASIBLE)
		return INFINITY;
	return result.plan.certificate.value;
}

static void check_laws(struct trial *trial)
{
	struct problem timed = trial->made.problem, other;
	struct arena *arena = &trial->arena;
	double value, after;

	trial->status = trial_solve_plainly(&trial->made.problem, arena,
					    &trial->solved);
	value = trial->status == SOLVE_INFEASIBLE ? INFINITY :
		trial->solved.plan.certificate.value;
	random_problem_widen(&trial->made.problem, &other);
	after = value_of(&other, arena);
	if (after > value && !trial_near(after, value))
		trial_fail(trial, "idle devices make it worse");
	random_problem_permute(&trial->made.problem, &other, trial->seed, arena);
	after = value_of(&other, arena);
	if (after != value && !trial_near(after, value))
		trial_fail(trial, "another order of shapes and classes matters");
	if (trial->made.mentions_time)
		return;
	timed.objective_count = 0;
	value = value_of(&timed, arena);
	random_problem_slow(&timed, &other, arena);
	after = value_of(&other, arena);
	if (after != 2 * value && !trial_near(after, 2 * value))
		trial_fail(trial, "twice the times, but not twice the answer");
}

static void test_laws(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial;

		trial_start(&trial, seed);
		check_laws(&trial);
		arena_release(&trial.arena);
	}
}

/* The same problem twice gives the same plan, byte for byte. */
static void test_deterministic(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed += 10) {
		struct solve_result again;
		struct trial trial;

		trial_start(&trial, seed);
		trial.status = trial_solve_plainly(&trial.made.problem, &trial.arena,
						   &trial.solved);
		assert_int_equal(trial.status, trial_solve_plainly(
			&trial.made.problem, &trial.arena, &again));
		if (trial.status == SOLVE_OPTIMAL) {
			const struct plan *a = &trial.solved.plan;
			const struct plan *b = &again.plan;

			assert_memory_equal(&a->choice, &b->choice,
					    sizeof(a->choice));
			assert_memory_equal(&a->placement, &b->placement,
					    sizeof(a->placement));
			assert_memory_equal(a->chunk_first, b->chunk_first,
					    a->chunk_count * sizeof(uint32_t));
			assert_true(a->time_s == b->time_s);
			assert_memory_equal(&a->certificate, &b->certificate,
					    sizeof(a->certificate));
		}
		arena_release(&trial.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_oracle),
		cmocka_unit_test(test_found_before),
		cmocka_unit_test(test_tight_memory),
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_deterministic),
	};

	return cmocka_run_group_tests_name("solver", tests, NULL, NULL);
}

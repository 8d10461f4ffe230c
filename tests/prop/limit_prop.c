/* SPDX-License-Identifier: MIT
 *
 * The certificate is honest when the search is stopped early: by a gap, by a
 * limit on time or by one on effort. Whatever it says must be true of the
 * oracle's optimum.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/base/text.h"
#include "solver/feasible.h"
#include "solver/solver.h"
#include "tests/prop/brute.h"
#include "tests/prop/random_problem.h"
#include "tests/prop/trial.h"

/* Phases that each look once more when time is over. */
#define LATE_MOST 12

/* How often the limits did bite: a test that never stops early tests nothing. */
struct tally {
	uint64_t stopped, unknown, optimal;
	double gap_most;
};

/* b is not below a by more than a rounding. */
static bool at_most(double a, double b)
{
	return a <= b || trial_near(a, b);
}

static void check_bound(struct trial *trial, const struct solve_limits *limits)
{
	const struct certificate *c = &trial->solved.plan.certificate;
	double best = trial->brute.best.objective[0];

	if (!at_most(c->lower_bound, best))
		trial_fail(trial, "a lower bound above the optimum");
	if (!at_most(best, c->value))
		trial_fail(trial, "a value below the optimum");
	if (c->gap < 0 || !isfinite(c->gap))
		trial_fail(trial, "a gap that is none");
	if (c->value != 0 &&
	    fabs(c->gap - (c->value - c->lower_bound) / fabs(c->value)) > 1e-9)
		trial_fail(trial, "a gap that is not value less bound");
	if ((trial->status == SOLVE_OPTIMAL) != (c->gap <= 1e-12))
		trial_fail(trial, "proved with a gap, or a gap of 0 unproved");
	if (trial->status == SOLVE_OPTIMAL && !trial_near(c->value, best))
		trial_fail(trial, "another optimum");
	if (!limits->deadline.set && limits->partitions_max == 0 &&
	    c->gap > limits->gap + 1e-12)
		trial_fail(trial, "a gap larger than asked for");
}

static void check_stopped_plan(struct trial *trial)
{
	const struct problem *problem = &trial->made.problem;
	struct brute_plan view = trial_view(&trial->solved.plan);
	struct text reason;

	text_init(&reason, &trial->arena);
	if (!feasible_check(problem, &trial->solved.plan, &trial->arena,
			    &reason))
		trial_fail(trial, reason.at);
	if (!brute_price(problem, &view))
		trial_fail(trial, "the plan breaks a requirement or the memory");
	if (!trial_near(view.objective[0],
			trial->solved.plan.certificate.value))
		trial_fail(trial, "another value than the plan's");
}

/* Whether the answer says that time ran out exactly where it did. */
static void check_out_of_time(struct trial *trial,
			      const struct solve_limits *limits)
{
	bool said = trial->solved.plan.certificate.out_of_time;

	if (!limits->deadline.set && said)
		trial_fail(trial, "out of time without a limit");
	if (limits->deadline.set && !said && trial->status == SOLVE_UNKNOWN &&
	    trial->solved.plan.certificate.configurations)
		trial_fail(trial, "unknown, and not for lack of time");
	if (limits->deadline.set && limits->partitions_max == 0 && !said &&
	    trial->status == SOLVE_FEASIBLE)
		trial_fail(trial, "a gap, and not for lack of time");
}

static void check_limits(struct trial *trial, const struct solve_limits *limits,
			 struct tally *tally)
{
	trial->status = solve(&trial->made.problem, limits, &trial->arena,
			      &trial->solved);
	check_out_of_time(trial, limits);
	tally->unknown += trial->status == SOLVE_UNKNOWN;
	tally->optimal += trial->status == SOLVE_OPTIMAL;
	if (trial->status == SOLVE_INFEASIBLE && trial->brute.found)
		trial_fail(trial, "nothing found where there is a plan");
	if (trial->status == SOLVE_UNKNOWN && !limits->deadline.set &&
	    limits->partitions_max == 0)
		trial_fail(trial, "unknown without a limit");
	if (trial->status != SOLVE_OPTIMAL && trial->status != SOLVE_FEASIBLE)
		return;
	if (!trial->brute.found)
		trial_fail(trial, "a plan where there is none");
	tally->stopped += trial->status == SOLVE_FEASIBLE;
	tally->gap_most = fmax(tally->gap_most,
			       trial->solved.plan.certificate.gap);
	check_bound(trial, limits);
	check_stopped_plan(trial);
}

static void test_stopped(const char *name, uint64_t every,
			 struct solve_limits (*limits_of)(struct random *))
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed < first + count; seed += every) {
		struct random random = { seed };
		struct solve_limits limits;
		struct trial trial;

		trial_start(&trial, seed);
		brute_solve(&trial.made.problem, seed, &trial.brute);
		limits = limits_of(&random);
		check_limits(&trial, &limits, &tally);
		arena_release(&trial.arena);
	}
	print_message("# %s: %llu proved, %llu stopped with a gap (at most %.3g), "
		      "%llu without a plan\n", name,
		      (unsigned long long)tally.optimal,
		      (unsigned long long)tally.stopped, tally.gap_most,
		      (unsigned long long)tally.unknown);
	if (count >= COUNT_DEFAULT)
		assert_true(tally.stopped > 0);
}

static struct solve_limits gap_limits(struct random *random)
{
	return (struct solve_limits){ .gap = random_unit(random) *
					     random_unit(random) };
}

static void test_gap(void **state)
{
	(void)state;
	test_stopped("gap", 3, gap_limits);
}

/* From nothing at all to about what a problem takes. */
static struct solve_limits time_limits(struct random *random)
{
	return (struct solve_limits){
		.deadline = deadline_in(exp2(-30 + 20 * random_unit(random))),
	};
}

static void test_time(void **state)
{
	(void)state;
	test_stopped("time", 3, time_limits);
}

/* The clock replaced by a number of looks at it: the same on every machine. */
static void test_looks(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);
	uint64_t late_most = 0;
	struct tally tally = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed += 3) {
		struct random random = { seed };
		struct looks looks = {
			.left = (uint64_t)exp2(10 * random_unit(&random)) - 1,
		};
		struct solve_limits limits = {
			.deadline = looks_deadline(&looks),
		};
		struct trial trial;

		trial_start(&trial, seed);
		brute_solve(&trial.made.problem, seed, &trial.brute);
		check_limits(&trial, &limits, &tally);
		if (trial.solved.plan.certificate.out_of_time && !looks.late)
			trial_fail(&trial, "out of time before time was over");
		late_most = looks.late > late_most ? looks.late : late_most;
		arena_release(&trial.arena);
	}
	print_message("# looks: %llu proved, %llu stopped with a gap (at most %.3g), "
		      "%llu without a plan; at most %llu looks after the last\n",
		      (unsigned long long)tally.optimal,
		      (unsigned long long)tally.stopped, tally.gap_most,
		      (unsigned long long)tally.unknown,
		      (unsigned long long)late_most);
	/* Whoever is told to stop does not begin anew. */
	assert_true(late_most <= LATE_MOST);
	if (count >= COUNT_DEFAULT)
		assert_true(tally.stopped > 0);
}

static struct solve_limits effort_limits(struct random *random)
{
	return (struct solve_limits){
		.partitions_max = 1 + random_below(random, 3),
		.gap = random_chance(random, 0.3) ? random_unit(random) / 4 : 0,
	};
}

static void test_effort(void **state)
{
	(void)state;
	test_stopped("effort", 3, effort_limits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_effort),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Threads change nothing but the time: the same plan, and a certificate with the
 * same numbers, for any number of them, with limits on effort and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/solver.h"
#include "tests/prop/random.h"
#include "tests/prop/trial.h"

static bool same_certificate(const struct certificate *a,
			     const struct certificate *b)
{
	return a->value == b->value && a->lower_bound == b->lower_bound &&
	       a->gap == b->gap && a->configurations == b->configurations &&
	       a->priced == b->priced && a->bounded == b->bounded &&
	       a->infeasible_memory == b->infeasible_memory &&
	       a->infeasible_requirement == b->infeasible_requirement &&
	       a->infeasible_placement == b->infeasible_placement &&
	       a->partitions == b->partitions;
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
	return !memcmp(&a->choice, &b->choice, sizeof(a->choice)) &&
	       !memcmp(&a->placement, &b->placement, sizeof(a->placement)) &&
	       a->time_s == b->time_s &&
	       a->memory_peak_bytes == b->memory_peak_bytes &&
	       a->chunk_count == b->chunk_count &&
	       !memcmp(a->chunk_first, b->chunk_first,
		       (a->chunk_count + 1) * sizeof(*a->chunk_first));
}

static void check_threads(struct trial *trial, uint32_t threads,
			  uint64_t partitions_max)
{
	struct solve_limits alone = { .partitions_max = partitions_max };
	struct solve_limits many = alone;
	struct solve_result one, other;
	enum solve_status status =
		solve(&trial->made.problem, &alone, &trial->arena, &one);

	many.threads = threads;
	if (solve(&trial->made.problem, &many, &trial->arena, &other) != status)
		trial_fail(trial, "threads give another answer");
	if (!same_certificate(&one.plan.certificate, &other.plan.certificate))
		trial_fail(trial, "threads give another certificate");
	if ((status == SOLVE_OPTIMAL || status == SOLVE_FEASIBLE) &&
	    !same_plan(&one.plan, &other.plan))
		trial_fail(trial, "threads give another plan");
}

static void test_threads(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", 600);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial;

		trial_start(&trial, seed);
		check_threads(&trial, 2 + seed % 4, seed % 3 ? 0 : 1);
		arena_release(&trial.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}

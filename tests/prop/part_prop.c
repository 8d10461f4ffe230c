/* SPDX-License-Identifier: MIT
 *
 * The parts of the solver against the oracle's: schedules, their order and
 * memory, collectives, devices of ranks.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/network.h"
#include "solver/schedule.h"
#include "tests/prop/brute.h"
#include "tests/prop/random_problem.h"
#include "tests/prop/trial.h"

static void random_times(struct random *random, double *out, uint32_t count,
			 bool whole)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = random_chance(random, 0.1) ? 0 :
			 whole ? 1 + random_below(random, 3) :
			 random_unit(random);
}

static void test_schedule(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random random = { seed };
		double forward[BRUTE_STAGE_MAX], backward[BRUTE_STAGE_MAX];
		double transfer[BRUTE_STAGE_MAX], mine[BRUTE_STAGE_MAX];
		double theirs[BRUTE_STAGE_MAX], largest;
		uint32_t p = 1 + random_below(&random, 8);
		uint32_t v = p == 1 ? 1 : 1 + random_below(&random, 16 / p);
		uint32_t m = v > 1 ? p * (1 + random_below(&random, 5)) :
				     1 + random_below(&random, 20);
		bool whole = random_chance(&random, 0.3);
		bool gpipe = v == 1 && random_chance(&random, 0.2);
		struct schedule_input input = {
			.shape = { gpipe ? SCHEDULE_GPIPE : SCHEDULE_1F1B, p, v, m },
			.forward_s = forward,
			.backward_s = backward,
			.transfer_s = transfer,
		};

		/* Long enough to settle into a rhythm. */
		if (random_chance(&random, 0.1))
			input.shape.micro_batches = m *= 6;
		random_times(&random, forward, p * v, whole);
		random_times(&random, backward, p * v, whole);
		random_times(&random, transfer, p * v, whole);
		largest = brute_schedule((struct brute_pipeline){ p, v, m, gpipe },
					 forward, backward, transfer, mine);
		if (largest < 0)
			fail_msg("seed %llu: deadlock of p %u v %u m %u",
				 (unsigned long long)seed, p, v, m);
		if (!trial_near(largest, schedule_simulate(&input, &arena, theirs)))
			fail_msg("seed %llu: another end", (unsigned long long)seed);
		for (uint32_t k = 0; k < p; k++)
			if (!trial_near(mine[k], theirs[k]))
				fail_msg("seed %llu: device %u ends at %.17g, not "
					 "%.17g", (unsigned long long)seed, k,
					 theirs[k], mine[k]);
	}
	arena_release(&arena);
}

/* Equal stages, free transfers: the closed forms of Narayanan et al. 2021,
 * section 2.2, m (f + b) + (p - 1) (f + b) / v. This holds the oracle, too. */
static void test_schedule_closed_form(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (uint32_t p = 1; p <= 8; p++)
	for (uint32_t v = 1; v == 1 || (p > 1 && p * v <= 16); v++)
	for (uint32_t m = v > 1 ? p : 1; m <= 40; m += v > 1 ? p : 1) {
		double forward[BRUTE_STAGE_MAX], backward[BRUTE_STAGE_MAX];
		double transfer[BRUTE_STAGE_MAX] = { 0 };
		double finish[BRUTE_STAGE_MAX];
		struct schedule_input input = {
			.shape = { SCHEDULE_1F1B, p, v, m },
			.forward_s = forward,
			.backward_s = backward,
			.transfer_s = transfer,
		};

		for (uint32_t i = 0; i < p * v; i++) {
			forward[i] = 1;
			backward[i] = 2;
		}
		assert_true(schedule_simulate(&input, &arena, finish) ==
			    3 * (m * v + p - 1));
		assert_true(brute_schedule((struct brute_pipeline){ p, v, m, false },
					   forward, backward, transfer,
					   finish) == 3 * (m * v + p - 1));
	}
	arena_release(&arena);
}

/* Time through the stages `from` to the last of a flow shop of m equal jobs. */
static double flow_shop(const double *time, const double *transfer,
			uint32_t from, uint32_t p, uint32_t m)
{
	double longest = 0, sum = 0;

	for (uint32_t j = from; j < p; j++) {
		sum += time[j] + (j + 1 < p ? transfer[j] : 0);
		longest = fmax(longest, time[j]);
	}
	return sum + (m - 1) * longest;
}

/* The closed form of GPipe in schedule.h holds for the oracle. */
static void test_gpipe_closed_form(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random random = { seed };
		double forward[BRUTE_STAGE_MAX], backward[BRUTE_STAGE_MAX];
		double transfer[BRUTE_STAGE_MAX], finish[BRUTE_STAGE_MAX];
		uint32_t p = 1 + random_below(&random, 8);
		uint32_t m = 1 + random_below(&random, 20);
		bool whole = random_chance(&random, 0.3);

		random_times(&random, forward, p, whole);
		random_times(&random, backward, p, whole);
		random_times(&random, transfer, p, whole);
		brute_schedule((struct brute_pipeline){ p, 1, m, true }, forward,
			       backward, transfer, finish);
		for (uint32_t k = 0; k < p; k++)
			if (!trial_near(finish[k], flow_shop(forward, transfer,
							     0, p, m) +
					flow_shop(backward, transfer, k, p, m)))
				fail_msg("seed %llu: device %u ends at %.17g",
					 (unsigned long long)seed, k, finish[k]);
	}
}

static void test_order_and_peak(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);
	static struct brute_operation mine[2 * 20 * 4];
	static struct schedule_operation theirs[2 * 20 * 4];

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random random = { seed };
		double saved[BRUTE_STAGE_MAX], together = 0, peak;
		uint32_t p = 1 + random_below(&random, 4);
		uint32_t v = p == 1 ? 1 : 1 + random_below(&random, 4);
		uint32_t m = v > 1 ? p * (1 + random_below(&random, 5)) :
				     1 + random_below(&random, 20);
		bool gpipe = v == 1 && random_chance(&random, 0.2);
		struct brute_pipeline pipeline = { p, v, m, gpipe };
		struct schedule_shape shape = {
			gpipe ? SCHEDULE_GPIPE : SCHEDULE_1F1B, p, v, m,
		};
		uint32_t k = random_below(&random, p);
		uint32_t length = brute_order(pipeline, k, mine);

		random_times(&random, saved, v, random_chance(&random, 0.5));
		assert_int_equal(length, schedule_order(&shape, k, theirs));
		for (uint32_t q = 0; q < length; q++)
			if (mine[q].backward != theirs[q].backward ||
			    mine[q].chunk != theirs[q].chunk ||
			    mine[q].micro_batch != theirs[q].micro_batch)
				fail_msg("seed %llu: operation %u differs",
					 (unsigned long long)seed, q);
		peak = brute_activations(pipeline, k, saved);
		for (uint32_t j = 0; j < v; j++)
			together += saved[j];
		if (schedule_least_kept(&shape, k) * together >
		    peak * (1 + 1e-9))
			fail_msg("seed %llu: it keeps less than is claimed",
				 (unsigned long long)seed);
		if (!trial_near(peak, schedule_peak_bytes(&shape, k, saved)))
			fail_msg("seed %llu: another peak (p %u v %u m %u k %u)",
				 (unsigned long long)seed, p, v, m, k);
	}
}

/* Random members and used devices that some placement could have. */
static void random_group(struct random *random, const struct problem *problem,
			 struct group_shape *shape)
{
	uint32_t used = 1;

	memset(shape, 0, sizeof(*shape));
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t fanout = problem->level[l].fanout, others;

		shape->used[l] = used;
		shape->members[l] = 1 + random_below(random, fanout);
		others = 1 + random_below(random, fanout / shape->members[l]);
		shape->apart[l] = 1 + random_below(random, others);
		others = others / shape->apart[l] * shape->apart[l];
		used *= shape->members[l] * others;
	}
}

static void test_collective(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random random = { ~seed };
		struct group_shape shape;
		struct trial trial;

		trial_start(&trial, seed);
		random_group(&random, &trial.made.problem, &shape);
		for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
			double bytes = random_chance(&random, 0.1) ? 0 :
				       exp2(16 * random_unit(&random) - 4);
			enum algorithm algorithm;
			double theirs = network_collective(&trial.made.problem,
				&shape, (enum collective)kind, bytes, &algorithm);
			double mine = brute_collective(&trial.made.problem,
				&shape, (enum collective)kind, bytes);
			struct network_lines lines = network_lines(
				&trial.made.problem, &shape);

			assert_true(trial_near(mine, network_time(&lines,
				(enum collective)kind, bytes, NULL)));
			if (!trial_near(mine, theirs))
				fail_msg("seed %llu: collective %d of %g bytes "
					 "takes %.17g, not %.17g",
					 (unsigned long long)seed, kind, bytes,
					 theirs, mine);
			assert_true((mine == 0) || algorithm != ALGORITHM_NONE);
		}
		arena_release(&trial.arena);
	}
}

/* Every rank has its own device, and innermost digits are neighbours. */
static void test_devices(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		bool taken[64] = { false };
		struct brute_plan *plan;
		struct trial trial;
		uint32_t at[DIMENSION_COUNT], degree[DIMENSION_COUNT];

		trial_start(&trial, seed);
		if (seed % 8 == 0)
			brute_solve(&trial.made.problem, seed, &trial.brute);
		plan = &trial.brute.sample;
		for (int d = 0; d < DIMENSION_COUNT; d++) {
			degree[d] = 1;
			for (uint32_t l = 0; l < trial.made.problem.level_count &&
			     trial.brute.plans; l++)
				degree[d] *= plan->placement.factor[d][l];
		}
		for (uint32_t rank = 0; trial.brute.plans &&
		     rank < plan->devices; rank++) {
			uint32_t left = rank, device;

			for (int d = 0; d < DIMENSION_COUNT; d++) {
				at[d] = left % degree[d];
				left /= degree[d];
			}
			device = network_device(&trial.made.problem,
						&plan->placement, at);
			assert_true(device < trial.made.problem.device_count);
			assert_false(taken[device]);
			taken[device] = true;
		}
		arena_release(&trial.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collective),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_schedule_closed_form),
		cmocka_unit_test(test_gpipe_closed_form),
		cmocka_unit_test(test_order_and_peak),
		cmocka_unit_test(test_devices),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}

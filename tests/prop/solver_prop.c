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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/arena.h"
#include "lang/base/text.h"
#include "solver/feasible.h"
#include "solver/network.h"
#include "solver/price.h"
#include "solver/range.h"
#include "solver/schedule.h"
#include "solver/solver.h"
#include "tests/prop/brute.h"
#include "tests/prop/random_problem.h"

#define COUNT_DEFAULT 2500

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* ---- telling ---- */

static void print_choice(const struct problem *problem,
			 const struct choice *choice,
			 const struct placement *placement,
			 const uint32_t *chunk_first)
{
	const struct problem_shape *shape = &problem->shape[choice->shape];

	print_error("    shape %u (tensor %u context %u expert %u x %u micro-batch "
		    "%u) data %u "
		    "pipeline %u virtual %u micro-batches %u zero %u recompute "
		    "%d\n", choice->shape, shape->tensor, shape->context,
		    shape->expert, shape->expert_tensor, shape->micro_batch,
		    choice->data, choice->pipeline,
		    choice->virtual_stages, choice->micro_batches, choice->zero,
		    (int)choice->recompute);
	for (uint32_t l = 0; l < problem->level_count; l++)
		print_error("    level %u: tensor %u context %u data %u pipeline "
			    "%u\n", l, placement->factor[0][l],
			    placement->factor[1][l], placement->factor[2][l],
			    placement->factor[3][l]);
	print_error("    chunks at");
	for (uint32_t i = 0; i <= choice->pipeline * choice->virtual_stages; i++)
		print_error(" %u", chunk_first[i]);
	print_error("\n");
}

static void print_brute(const struct problem *problem,
			const struct brute_plan *plan)
{
	print_choice(problem, &plan->choice, &plan->placement,
		     plan->chunk_first);
	print_error("    objective %.17g time %.17g memory %.17g bubble %.17g\n",
		    plan->objective[0], plan->time_s, plan->peak_bytes,
		    plan->bubble);
	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		print_error("    stage %u: finish %.17g reduce exposed %.17g "
			    "update %.17g bytes %.17g\n", k, plan->finish_s[k],
			    plan->reduce_exposed_s[k], plan->update_s[k],
			    plan->stage_bytes[k]);
}

static void print_solved(const struct problem *problem, const struct plan *plan)
{
	const struct certificate *c = &plan->certificate;

	print_choice(problem, &plan->choice, &plan->placement,
		     plan->chunk_first);
	print_error("    value %.17g bound %.17g gap %g time %.17g memory %.17g\n",
		    c->value, c->lower_bound, c->gap, plan->time_s,
		    plan->memory_peak_bytes);
	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		print_error("    stage %u: reduce exposed %.17g update %.17g "
			    "bytes %.17g\n", k, plan->stage[k].reduce_exposed_s,
			    plan->stage[k].step_s +
			    plan->stage[k].gather_exposed_s,
			    plan->stage[k].memory.total);
}

/* ---- one problem ---- */

struct trial {
	uint64_t seed;
	struct arena arena;
	struct random_problem made;
	struct brute_result brute;
	struct solve_result solved;
	enum solve_status status;
};

static void trial_start(struct trial *trial, uint64_t seed)
{
	memset(trial, 0, sizeof(*trial));
	trial->seed = seed;
	arena_init(&trial->arena);
	random_problem_make(&trial->made, seed, &trial->arena);
}

static void trial_fail(const struct trial *trial, const char *what)
{
	static const char *const status[] = {
		"optimal", "feasible", "infeasible", "unknown",
	};
	const struct problem *problem = &trial->made.problem;

	print_error("seed %llu%s: %s\n", (unsigned long long)trial->seed,
		    trial->made.dyadic ? " (dyadic)" : "", what);
	random_problem_print(problem, stderr);
	print_error("  oracle: %s, %llu configurations, %llu plans\n",
		    trial->brute.found ? "found" : "infeasible",
		    (unsigned long long)trial->brute.configurations,
		    (unsigned long long)trial->brute.plans);
	if (trial->brute.found)
		print_brute(problem, &trial->brute.best);
	print_error("  solver: %s\n", status[trial->status]);
	if (trial->status == SOLVE_OPTIMAL || trial->status == SOLVE_FEASIBLE)
		print_solved(problem, &trial->solved.plan);
	fail_msg("seed %llu: %s", (unsigned long long)trial->seed, what);
}

static enum solve_status solve_plainly(const struct problem *problem,
				       struct arena *arena,
				       struct solve_result *result)
{
	struct solve_limits limits = { 0 };

	memset(result, 0, sizeof(*result));
	return solve(problem, &limits, arena, result);
}

/* The plan as the oracle sees it. */
static struct brute_plan brute_view(const struct plan *plan)
{
	struct brute_plan view = {
		.choice = plan->choice,
		.placement = plan->placement,
		.devices = plan->devices,
	};

	assert_in_range(plan->chunk_count, 1, BRUTE_STAGE_MAX);
	memcpy(view.chunk_first, plan->chunk_first,
	       (plan->chunk_count + 1) * sizeof(uint32_t));
	return view;
}

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
	if (!near(c->value, trial->brute.best.objective[0]))
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
	struct brute_plan view = brute_view(&trial->solved.plan);
	const struct brute_plan *best = &trial->brute.best;
	struct text reason;

	text_init(&reason, &trial->arena);
	if (!feasible_check(problem, &trial->solved.plan, &trial->arena,
			    &reason))
		trial_fail(trial, reason.at);
	if (!brute_price(problem, &view))
		trial_fail(trial, "the plan breaks a requirement or the memory");
	if (!near(view.objective[0], best->objective[0]))
		trial_fail(trial, view.objective[0] > best->objective[0] ?
			   "a worse plan" : "a better plan than any");
	if (ties_are_exact(&trial->made) && problem->objective_count > 1 &&
	    !near(view.objective[1], best->objective[1]))
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
	if (!near(failure->excess_bytes,
		  failure->nearest.memory_peak_bytes - limit_bytes) ||
	    failure->excess_bytes <= 0)
		trial_fail(trial, "an excess that is none");
	view = brute_view(&failure->nearest);
	brute_price(&trial->made.problem, &view);
	if (!near(view.peak_bytes, failure->nearest.memory_peak_bytes))
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
	trial->status = solve_plainly(problem, &trial->arena, &trial->solved);
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
	price_plan(&loose, &trial->arena, &plan);
	trial->solved.plan = plan;
	trial->brute.best = *sample;
	trial->brute.found = true;
	trial->status = SOLVE_FEASIBLE;
	text_init(&reason, &trial->arena);
	if (!feasible_check(&loose, &plan, &trial->arena, &reason))
		trial_fail(trial, reason.at);
	if (!near(plan.time_s, sample->time_s))
		trial_fail(trial, "price_plan gives another time");
	if (!near(plan.memory_peak_bytes, sample->peak_bytes))
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
	uint64_t configurations = 0;

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
}

/* ---- laws ---- */

/* The value under a derived problem, or infinity. */
static double value_of(const struct problem *problem, struct arena *arena)
{
	struct solve_result result;

	if (solve_plainly(problem, arena, &result) == SOLVE_INFEASIBLE)
		return INFINITY;
	return result.plan.certificate.value;
}

static void check_laws(struct trial *trial)
{
	struct problem timed = trial->made.problem, other;
	struct arena *arena = &trial->arena;
	double value, after;

	trial->status = solve_plainly(&trial->made.problem, arena,
				      &trial->solved);
	value = trial->status == SOLVE_INFEASIBLE ? INFINITY :
		trial->solved.plan.certificate.value;
	random_problem_widen(&trial->made.problem, &other);
	after = value_of(&other, arena);
	if (after > value && !near(after, value))
		trial_fail(trial, "idle devices make it worse");
	random_problem_permute(&trial->made.problem, &other, trial->seed, arena);
	after = value_of(&other, arena);
	if (after != value && !near(after, value))
		trial_fail(trial, "another order of shapes and classes matters");
	if (trial->made.mentions_time)
		return;
	timed.objective_count = 0;
	value = value_of(&timed, arena);
	random_problem_slow(&timed, &other, arena);
	after = value_of(&other, arena);
	if (after != 2 * value && !near(after, 2 * value))
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
		trial.status = solve_plainly(&trial.made.problem, &trial.arena,
					     &trial.solved);
		assert_int_equal(trial.status, solve_plainly(
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

/* ---- the parts ---- */

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
		struct schedule_input input = {
			p, v, m, forward, backward, transfer,
		};

		/* Long enough to settle into a rhythm. */
		if (random_chance(&random, 0.1))
			input.micro_batches = m *= 6;
		random_times(&random, forward, p * v, whole);
		random_times(&random, backward, p * v, whole);
		random_times(&random, transfer, p * v, whole);
		largest = brute_schedule(p, v, m, forward, backward, transfer,
					 mine);
		if (largest < 0)
			fail_msg("seed %llu: deadlock of p %u v %u m %u",
				 (unsigned long long)seed, p, v, m);
		if (!near(largest, schedule_simulate(&input, &arena, theirs)))
			fail_msg("seed %llu: another end", (unsigned long long)seed);
		for (uint32_t k = 0; k < p; k++)
			if (!near(mine[k], theirs[k]))
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
			p, v, m, forward, backward, transfer,
		};

		for (uint32_t i = 0; i < p * v; i++) {
			forward[i] = 1;
			backward[i] = 2;
		}
		assert_true(schedule_simulate(&input, &arena, finish) ==
			    3 * (m * v + p - 1));
		assert_true(brute_schedule(p, v, m, forward, backward, transfer,
					   finish) == 3 * (m * v + p - 1));
	}
	arena_release(&arena);
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
		uint32_t k = random_below(&random, p);
		uint32_t length = brute_order(p, v, m, k, mine);

		random_times(&random, saved, v, random_chance(&random, 0.5));
		assert_int_equal(length, schedule_order(p, v, m, k, theirs));
		for (uint32_t q = 0; q < length; q++)
			if (mine[q].backward != theirs[q].backward ||
			    mine[q].chunk != theirs[q].chunk ||
			    mine[q].micro_batch != theirs[q].micro_batch)
				fail_msg("seed %llu: operation %u differs",
					 (unsigned long long)seed, q);
		peak = brute_activations(p, v, m, k, saved);
		for (uint32_t j = 0; j < v; j++)
			together += saved[j];
		if (schedule_least_kept(p, v, m, k) * together >
		    peak * (1 + 1e-9))
			fail_msg("seed %llu: it keeps less than is claimed",
				 (unsigned long long)seed);
		if (!near(peak, schedule_peak_bytes(p, v, m, k, saved)))
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

			assert_true(near(mine, network_time(&lines,
				(enum collective)kind, bytes, NULL)));
			if (!near(mine, theirs))
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

/* ---- ranges of predicates ---- */

#define PROGRAM_MAX 24

/* A random program: its steps, and how many. */
static uint32_t random_program(struct random *random,
			       struct predicate_step *step)
{
	static const double numbers[] = { 0, 1, 2, 0.5, -1, 3 };
	uint32_t depth = 0, count = 0;

	while (count < PROGRAM_MAX - 8 || depth > 1) {
		struct predicate_step *next = &step[count++];

		memset(next, 0, sizeof(*next));
		if (depth >= 2 && (count > PROGRAM_MAX - 8 ||
				   random_chance(random, 0.5))) {
			next->op = (enum predicate_op)(PREDICATE_ADD +
				random_below(random, 13));
			depth--;
		} else if (depth >= 1 && random_chance(random, 0.25)) {
			next->op = random_chance(random, 0.5) ?
				   PREDICATE_NOT : PREDICATE_NEGATE;
		} else if (random_chance(random, 0.3)) {
			next->op = PREDICATE_CONSTANT;
			next->number = numbers[random_below(random, 6)];
			depth++;
		} else {
			next->op = PREDICATE_VARIABLE;
			next->variable = (enum plan_variable)
				random_below(random, VARIABLE_COUNT);
			next->index = random_below(random, 3);
			depth++;
		}
		if (depth == 1 && random_chance(random, 0.1))
			break;
	}
	return count;
}

static struct range random_range(struct random *random)
{
	double low = random_below(random, 4);

	if (random_chance(random, 0.4))
		return range_point(low);
	if (random_chance(random, 0.2))
		return range_between(low, INFINITY);
	return range_between(low, low + random_unit(random) * 3);
}

static double point_in(struct random *random, struct range range)
{
	double high = isinf(range.high) ? range.low + 50 : range.high;

	if (random_chance(random, 0.3))
		return range.low;
	if (random_chance(random, 0.3))
		return high;
	return fmin(high, range.low + random_unit(random) * (high - range.low));
}

/* Whatever the variables are, the result lies in the range promised. */
static void test_range(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = 8 * number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random random = { seed };
		struct predicate_step step[PROGRAM_MAX + 8];
		struct predicate program = { .step = step,
					     .needs_outcome = true };
		struct range layers[3], promised;
		struct range_input input = { .stage_layers = layers };

		program.step_count = random_program(&random, step);
		assert_true(predicate_is_valid(&program));
		for (int i = 0; i < VARIABLE_COUNT; i++)
			input.value[i] = random_range(&random);
		for (int i = 0; i < 3; i++)
			layers[i] = random_range(&random);
		input.stages_known = random_chance(&random, 0.7);
		input.stage_count = 1 + random_below(&random, 3);
		promised = range_evaluate(&program, &input);
		for (int again = 0; again < 8; again++) {
			uint32_t held[3];
			struct predicate_input point = {
				.stage_layers = held,
				.stage_count = input.stage_count,
			};
			double result;

			for (int i = 0; i < VARIABLE_COUNT; i++)
				point.value[i] = point_in(&random,
							  input.value[i]);
			for (int i = 0; i < 3; i++) {
				held[i] = (uint32_t)layers[i].low;
			}
			result = predicate_evaluate(&program, &point);
			if (isnan(result) ? !promised.may_nan :
			    result < promised.low || result > promised.high)
				fail_msg("seed %llu: %.17g outside %.17g .. "
					 "%.17g", (unsigned long long)seed,
					 result, promised.low, promised.high);
		}
	}
}

/* ---- the checker refuses what is wrong ---- */

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
	/* Without replicas or weights ZeRO 1 is ZeRO 0: not wrong. */
	if (plan->choice.zero == 1)
		return count[which - numbers] != &plan->choice.zero;
	return true;
}

static void test_checker_refuses(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed += 5) {
		struct trial trial;

		trial_start(&trial, seed);
		trial.status = solve_plainly(&trial.made.problem, &trial.arena,
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
		cmocka_unit_test(test_collective),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_schedule_closed_form),
		cmocka_unit_test(test_order_and_peak),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_against_oracle),
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_checker_refuses),
	};

	return cmocka_run_group_tests_name("solver", tests, NULL, NULL);
}

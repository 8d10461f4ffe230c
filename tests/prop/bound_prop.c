/* SPDX-License-Identifier: MIT
 *
 * Every bound against every plan: of each configuration of a random problem the oracle
 * prices all plans, and no bound may be above the least of what it bounds. A bound
 * that is a little too high is found here even where no optimum depends on it. How
 * often each bound is met exactly is counted: one that is never met would not show.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "solver/bound.h"
#include "solver/facts.h"
#include "solver/fits.h"
#include "solver/layer.h"
#include "solver/partition.h"
#include "solver/placed_loads.h"
#include "tests/prop/brute.h"
#include "tests/prop/trial.h"

#define COUNT_BOUNDS 1000
#define PLACEMENTS_MAX 256
#define COLUMN_SIMULATIONS 10000

enum bound {
	BOUND_DATA,			/* facts_bound_data */
	BOUND_MEAN,			/* facts_mean */
	BOUND_FACTS,			/* facts_bound */
	BOUND_WHOLE,			/* facts_bound_whole */
	BOUND_LOADS,			/* and with loads under placements */
	BOUND_GLANCE,			/* facts_span under one */
	BOUND_MEMORY,			/* bound_memory */
	BOUND_FITS,			/* the memory by which fits.h leaves it out */
	BOUND_UNITS,			/* bound_units: an upper one */
	BOUND_PLACED,			/* partition_bound without an incumbent */
	BOUND_BESIDE,			/* and with one that is hardly slower */
	BOUND_COLUMNS,			/* partition_columns beside it: what it finds */
	BOUND_COUNT
};

static const char *const names[] = {
	"of a data degree", "of a pipeline degree", "of a configuration", "and of its devices",
	"and with loads as placed", "of a load as placed",
	"on memory", "on memory, of many", "on layers a device has room for", "under a placement",
	"and beside an incumbent", "device by device",
};
_Static_assert(sizeof(names) / sizeof(*names) == BOUND_COUNT, "a name each");

/* The least times of the legal cuts of one placement. */
struct under {
	struct placement placement;
	double time_s;
};

struct check {
	uint64_t seed;
	struct problem problem;		/* without requirements */
	struct arena arena, scratch;
	struct chain chain;
	struct incumbent incumbent;
	struct placement_cache cache;
	struct facts **facts;		/* by shape */
	struct placed_loads_cache loads;
	struct layer_time *time, *kept_time;
	/* The configuration whose plans are being seen. */
	bool any;
	struct choice choice;
	double time_s, peak_bytes;	/* least; of those that fit, of all */
	double units[BRUTE_STAGE_MAX];	/* most of each device, of those that fit */
	struct under under[PLACEMENTS_MAX];
	uint32_t under_count;
	uint64_t configurations;
	uint64_t met[BOUND_COUNT], seen[BOUND_COUNT];
};

/* ---- bounds ---- */

static void expect(struct check *check, enum bound bound, double low, double least)
{
	check->seen[bound]++;
	check->met[bound] += !isinf(least) && low >= least * (1 - 1e-9);
	if (low <= least * (1 + 1e-9) + 1e-12)
		return;
	random_problem_print(&check->problem, stderr);
	fail_msg("PROP_SEED=%llu: bound %s %.17g, but a plan has %.17g (shape %u data %u pipeline %u virtual %u zero %u level %u recompute %d layers %u schedule %d)",
		 (unsigned long long)check->seed, names[bound], low, least,
		 check->choice.shape, check->choice.data, check->choice.pipeline,
		 check->choice.virtual_stages, check->choice.zero,
		 check->choice.shard_level, (int)check->choice.recompute,
		 check->choice.recompute_layers, (int)check->choice.schedule);
}

static struct facts *facts_of(struct check *check, uint32_t shape)
{
	if (!check->facts[shape]) {
		check->facts[shape] = ARENA_NEW(&check->arena, struct facts);
		facts_fill(check->facts[shape], &check->problem, &check->cache,
			   shape, &check->arena);
	}
	return check->facts[shape];
}

/* Whether the configuration may fit into so much memory. */
static bool may_fit(const struct check *check, const struct facts *facts,
		    const struct share *share, double limit_bytes)
{
	const struct choice *choice = &check->choice;
	struct problem problem = check->problem;
	fits_set sets[BRUTE_STAGE_MAX + 1], set;
	struct fits fits;

	problem.memory.limit_bytes = limit_bytes;
	fits_init(&fits, facts, &problem, choice->shape, share,
		  choice->micro_batches);
	fits_pipelines(&fits, choice->pipeline, sets);
	set = sets[choice->pipeline];
	if (choice->virtual_stages > 1)
		set = fits_interleaved(&fits, set, choice->pipeline,
				       choice->virtual_stages);
	return set & 1u << facts_policy(choice);
}

/* The least memory that it may fit into: from a little of what its best plan takes. */
static double least_fit(const struct check *check, const struct facts *facts,
			const struct share *share)
{
	double low = check->peak_bytes / 2, high = 2 * check->peak_bytes;

	if (may_fit(check, facts, share, low))
		return low;
	for (int i = 0; i < 50 && low < high; i++) {
		double middle = low + (high - low) / 2;

		if (may_fit(check, facts, share, middle))
			high = middle;
		else
			low = middle;
	}
	return low;
}

static void check_units(struct check *check, const double *units)
{
	for (uint32_t k = 0; k < check->choice.pipeline; k++)
		expect(check, BOUND_UNITS, check->units[k], units[k]);
}

static double placed_low(struct check *check, const struct placed *placed)
{
	struct arena_mark mark = arena_mark(&check->scratch);
	struct partition partition;
	double low;

	chain_place(&check->chain, &check->choice, placed, check->time,
		    check->kept_time);
	partition_init(&partition, &check->problem, &check->choice, placed,
		       &check->chain, &check->incumbent, &check->scratch);
	partition_bound(&partition);
	low = partition.low_s;
	arena_rewind(&check->scratch, mark);
	return low;
}

static double glance_low(struct check *check, const struct placed *placed,
			 const struct placed_load *load)
{
	const struct choice *choice = &check->choice;
	struct facts *facts = facts_of(check, choice->shape);
	struct share share = share_of(&check->problem, choice,
				      placed->sharding[choice->shard_level]);

	return facts_span(facts, &load->loads, choice,
			  placed_transfers(load, choice)) +
	       facts_steps(facts, &share) / choice->pipeline;
}

/* An incumbent that is hardly slower than the fastest legal cut. */
static void set_incumbent(struct check *check, double time_s)
{
	check->incumbent.found = true;
	check->incumbent.merit = (struct merit){
		.objective = { time_s * (1 + 1e-6) },
		.objective_count = 1,
	};
	check->incumbent.plan.chunk_count = 0;
}

/* Where cuts are settled device by device, the fastest is found. */
static void check_columns(struct check *check, const struct placed *placed,
			  double time_s)
{
	struct arena_mark mark = arena_mark(&check->scratch);
	struct partition partition;

	if (check->choice.virtual_stages == 1)
		return;
	set_incumbent(check, time_s);
	chain_place(&check->chain, &check->choice, placed, check->time,
		    check->kept_time);
	partition_init(&partition, &check->problem, &check->choice, placed,
		       &check->chain, &check->incumbent, &check->scratch);
	partition_bound(&partition);
	partition_room(&partition);
	if (partition_columns(&partition, COLUMN_SIMULATIONS))
		expect(check, BOUND_COLUMNS,
		       check->incumbent.merit.objective[0], time_s);
	arena_rewind(&check->scratch, mark);
}

static void check_placed(struct check *check, const struct placed *placed,
			 const struct placed_load *load)
{
	for (uint32_t i = 0; i < check->under_count; i++) {
		const struct under *under = &check->under[i];

		if (memcmp(&under->placement, &placed->placement,
			   sizeof(under->placement)))
			continue;
		expect(check, BOUND_GLANCE, glance_low(check, placed, load),
		       under->time_s);
		check->incumbent.found = false;
		expect(check, BOUND_PLACED, placed_low(check, placed),
		       under->time_s);
		if (isinf(under->time_s))
			return;
		set_incumbent(check, under->time_s);
		expect(check, BOUND_BESIDE, placed_low(check, placed),
		       under->time_s);
		check_columns(check, placed, under->time_s);
		check->incumbent.found = false;
	}
}

static void check_configuration(struct check *check)
{
	const struct problem *problem = &check->problem;
	const struct choice *choice = &check->choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	struct facts *facts = facts_of(check, choice->shape);
	struct share share = share_of(problem, choice, NULL);
	const struct placement_set *set;
	const struct placed_loads *loads;
	double units[BRUTE_STAGE_MAX];

	check->configurations++;
	expect(check, BOUND_DATA,
	       facts_bound_data(facts, (uint8_t)(1u << facts_policy(choice)),
				choice->pipeline, choice->micro_batches),
	       check->time_s);
	expect(check, BOUND_MEAN,
	       facts_mean(facts, (uint8_t)(1u << facts_policy(choice)), choice),
	       check->time_s);
	expect(check, BOUND_FITS, least_fit(check, facts, &share),
	       check->peak_bytes);
	expect(check, BOUND_FACTS, facts_bound(facts, problem, choice),
	       check->time_s);
	chain_load(&check->chain, choice);
	expect(check, BOUND_MEMORY, bound_memory(&check->chain, choice, &share),
	       check->peak_bytes);
	if (choice->pipeline > 1) {
		bound_units(&check->chain, choice, &share, units);
		if (!isinf(check->time_s))
			check_units(check, units);
	}
	expect(check, BOUND_WHOLE,
	       facts_bound_whole(facts, problem,
				 &facts->loads[facts_policy(choice)], choice,
				 units, INFINITY),
	       check->time_s);
	set = placement_find(&check->cache, shape, choice->data, choice->pipeline);
	loads = placed_loads_find(&check->loads, facts, set, choice);
	expect(check, BOUND_LOADS,
	       facts_bound_whole(facts, problem, &loads->least, choice, units,
				 INFINITY), check->time_s);
	for (uint32_t i = 0; i < set->count; i++)
		if (loads->at[i].allowed)
			check_placed(check, &set->at[i], &loads->at[i]);
}

/* ---- plans ---- */

static bool is_same(const struct choice *a, const struct choice *b)
{
	return a->shape == b->shape && a->data == b->data &&
	       a->pipeline == b->pipeline &&
	       a->virtual_stages == b->virtual_stages && a->zero == b->zero &&
	       a->shard_level == b->shard_level && a->recompute == b->recompute &&
	       a->recompute_layers == b->recompute_layers &&
	       a->schedule == b->schedule;
}

static void note_placement(struct check *check, const struct brute_plan *plan,
			   double time_s)
{
	uint32_t i = 0;

	while (i < check->under_count &&
	       memcmp(&check->under[i].placement, &plan->placement,
		      sizeof(plan->placement)))
		i++;
	if (i == PLACEMENTS_MAX)
		return;
	if (i == check->under_count) {
		check->under[i] = (struct under){ plan->placement, INFINITY };
		check->under_count++;
	}
	check->under[i].time_s = fmin(check->under[i].time_s, time_s);
}

/* Layers of the frequent kind, but for the ends of the chain. */
static void note_units(struct check *check, const struct brute_plan *plan)
{
	const struct problem *problem = &check->problem;
	struct deal deal = deal_find(problem);
	double units[BRUTE_STAGE_MAX] = { 0 };
	uint32_t length = problem_chain_length(problem), layer = 0, chunk = 0;

	for (uint32_t r = 0; r < problem->run_count; r++)
		for (uint32_t n = 0; n < problem->run[r].count; n++, layer++) {
			if (layer >= plan->chunk_first[chunk + 1])
				chunk++;
			if (layer && layer + 1 < length &&
			    problem->run[r].class_index == deal.kind)
				units[chunk % plan->choice.pipeline]++;
		}
	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		check->units[k] = fmax(check->units[k], units[k]);
}

static void finish(struct check *check)
{
	if (check->any)
		check_configuration(check);
	check->any = false;
	check->time_s = check->peak_bytes = INFINITY;
	check->under_count = 0;
	memset(check->units, 0, sizeof(check->units));
}

static void see(void *closure, const struct brute_plan *plan)
{
	struct check *check = closure;
	bool fits = plan->peak_bytes <= check->problem.memory.limit_bytes;

	if (check->any && !is_same(&check->choice, &plan->choice))
		finish(check);
	check->any = true;
	check->choice = plan->choice;
	check->peak_bytes = fmin(check->peak_bytes, plan->peak_bytes);
	note_placement(check, plan, fits ? plan->time_s : INFINITY);
	if (!fits)
		return;
	check->time_s = fmin(check->time_s, plan->time_s);
	note_units(check, plan);
}

/* Nothing but compute, of all layers in one direction now and then: what remains of
 * bounds on half a stage or on loops is then the whole time. */
static void strip(struct check *check, struct random *random)
{
	struct problem *problem = &check->problem;
	uint32_t weights = problem->shape_count * problem->class_count;
	uint32_t costs = weights * RECOMPUTE_COUNT;
	struct problem_cost *cost = ARENA_ARRAY(&check->arena,
						struct problem_cost, costs);
	struct problem_weight *weight = ARENA_ARRAY(&check->arena,
						    struct problem_weight, weights);
	uint32_t direction = random_below(random, 3);

	for (uint32_t i = 0; i < costs; i++) {
		cost[i] = problem->cost[i];
		cost[i].collective_count = 0;
		if (direction == 1)
			cost[i].forward_s = 0;
		if (direction == 2)
			cost[i].backward_s = 0;
	}
	for (uint32_t i = 0; i < weights; i++) {
		weight[i] = problem->weight[i];
		weight[i].output_bytes = 0;
	}
	for (uint32_t l = 0; l < problem->level_count; l++)
		problem->level[l].latency_s = problem->level[l].overhead_s = 0;
	problem->cost = cost;
	problem->weight = weight;
	problem->sync.step_bytes = problem->sync.reduce_bytes =
		problem->sync.gather_bytes = 0;
}

static void check_problem(struct check *check, uint64_t seed)
{
	struct random random = { seed };
	struct random_problem made;
	uint32_t classes;

	check->seed = seed;
	arena_init(&check->arena);
	arena_init(&check->scratch);
	random_problem_make(&made, seed, &check->arena);
	check->problem = made.problem;
	check->problem.requirement_count = check->problem.objective_count = 0;
	if (random_chance(&random, 0.3))
		strip(check, &random);
	classes = check->problem.class_count;
	chain_init(&check->chain, &check->problem, &check->arena);
	incumbent_init(&check->incumbent, &check->problem, &check->arena);
	placement_cache_init(&check->cache, &check->problem, &check->arena);
	placed_loads_init(&check->loads, &check->problem, &check->arena);
	check->facts = ARENA_ARRAY(&check->arena, struct facts *,
				   check->problem.shape_count);
	check->time = ARENA_ARRAY(&check->arena, struct layer_time, classes);
	check->kept_time = ARENA_ARRAY(&check->arena, struct layer_time, classes);
	finish(check);
	brute_each(&check->problem, see, check);
	finish(check);
	arena_release(&check->scratch);
	arena_release(&check->arena);
}

static void bounds_hold(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_BOUNDS);
	struct check check = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++)
		check_problem(&check, seed);
	print_message("# %llu configurations\n",
		      (unsigned long long)check.configurations);
	for (int i = 0; i < BOUND_COUNT; i++)
		print_message("# bound %s: met %llu times of %llu\n", names[i],
			      (unsigned long long)check.met[i],
			      (unsigned long long)check.seen[i]);
	for (int i = 0; i < BOUND_COUNT && count >= COUNT_BOUNDS; i++)
		assert_true(check.met[i] >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_hold),
	};

	return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}

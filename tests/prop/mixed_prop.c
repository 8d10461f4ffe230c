/* SPDX-License-Identifier: MIT
 *
 * Clusters of several device types: what the solver finds against an enumeration
 * of every plan of mixed.h. Plans on one kind, and on all devices as the slowest,
 * come from the oracle; split plans are listed here and priced by price_plan, which
 * the independent checker confirms for some of each problem and for the winner.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "solver/feasible.h"
#include "solver/mixed.h"
#include "solver/mixed_line.h"
#include "solver/mixed_search.h"
#include "solver/mixed_space.h"
#include "solver/placement.h"
#include "solver/price.h"
#include "tests/prop/trial.h"

/* Looks of each family of plans, of its phases, when time is over. */
#define LATE_MOST 64
#define COUNT_MIXED 500
#define PLANS_MAX 10000	/* split plans of one problem; others are left out */

/* ---- problems ---- */

struct mixed {
	struct random_problem made;
	struct problem whole;		/* has the kinds */
	struct problem kind[3];
	const struct problem *kind_at[3];
	struct random random;
};

static double factor(struct random *random, bool dyadic)
{
	static const double powers[] = { 0.25, 0.5, 1, 2, 4 };

	return dyadic ? powers[random_below(random, 5)] :
			0.2 + 2 * random_unit(random);
}

/* Costs of a device of another speed, of its own for each class. */
static const struct problem_cost *other_costs(struct mixed *mixed,
					      struct arena *arena)
{
	const struct problem *problem = &mixed->made.problem;
	size_t count = (size_t)problem->shape_count * problem->class_count *
		       RECOMPUTE_COUNT;
	struct problem_cost *cost = ARENA_ARRAY(arena, struct problem_cost, count);
	double speed = factor(&mixed->random, mixed->made.dyadic);
	double *class = ARENA_ARRAY(arena, double, problem->class_count);

	for (uint32_t c = 0; c < problem->class_count; c++)
		class[c] = random_chance(&mixed->random, 0.5) ? speed :
			speed * factor(&mixed->random, mixed->made.dyadic);
	memcpy(cost, problem->cost, count * sizeof(*cost));
	for (size_t i = 0; i < count; i++) {
		double scale = class[i / RECOMPUTE_COUNT % problem->class_count];

		cost[i].forward_s *= scale;
		cost[i].backward_s *= scale;
	}
	return cost;
}

/* The outermost level of every kind is a switch. */
static void meet_at_switch(struct problem *problem)
{
	struct problem_level *top = &problem->level[problem->level_count - 1];

	top->kind = LEVEL_SWITCH;
	top->wrap = top->joined = false;
}

/* So few devices count as the slowest that other plans are often better. */
static void keep_one_child(struct problem *problem)
{
	struct problem_level *top = &problem->level[problem->level_count - 1];

	problem->device_count /= top->fanout;
	top->fanout = 1;
}

static void make_kind(struct mixed *mixed, struct problem *kind,
		      struct arena *arena)
{
	struct random *random = &mixed->random;
	struct problem_level *top;

	*kind = mixed->made.problem;
	kind->avoided_count = kind->pin_count = 0;
	kind->cost = other_costs(mixed, arena);
	kind->memory.limit_bytes *= factor(random, mixed->made.dyadic);
	kind->memory.reserve_bytes *= factor(random, mixed->made.dyadic);
	kind->sync.memory_bandwidth_Bps *= factor(random, mixed->made.dyadic);
	kind->device_dollars_per_s *= factor(random, mixed->made.dyadic);
	kind->device_watts *= factor(random, mixed->made.dyadic);
	for (uint32_t l = 0; l < kind->level_count; l++) {
		kind->level[l].bandwidth_Bps *= factor(random, mixed->made.dyadic);
		kind->level[l].latency_s *= factor(random, mixed->made.dyadic);
	}
	meet_at_switch(kind);
	top = &kind->level[kind->level_count - 1];
	kind->device_count /= top->fanout;
	top->fanout = 1 + random_below(random, 3);
	kind->device_count *= top->fanout;
}

static void make_mixed(struct mixed *mixed, uint64_t seed, struct arena *arena)
{
	uint32_t kinds;

	random_problem_make(&mixed->made, seed, arena);
	mixed->random = (struct random){ seed ^ 0x6d69786564u };
	random_next(&mixed->random);
	kinds = random_chance(&mixed->random, 0.25) ? 3 : 2;
	mixed->whole = mixed->made.problem;
	mixed->whole.avoided_count = mixed->whole.pin_count = 0;
	meet_at_switch(&mixed->whole);
	if (random_chance(&mixed->random, 0.7))
		keep_one_child(&mixed->whole);
	for (uint32_t k = 0; k < kinds; k++) {
		make_kind(mixed, &mixed->kind[k], arena);
		mixed->kind_at[k] = &mixed->kind[k];
	}
	mixed->whole.kind = mixed->kind_at;
	mixed->whole.kind_count = kinds;
}

/* ---- every split plan ---- */

struct placements {
	VEC(struct placement) at;
	const struct problem *problem;
	const struct problem_shape *shape;
	struct arena *arena;
};

struct listing {
	const struct problem *problem;
	struct arena *arena;
	struct arena scratch;
	struct random random;
	struct plan plan;
	struct placements set[KIND_MAX];
	uint32_t *first;
	uint32_t length, blocks;
	uint64_t plans, sampled;
	bool too_many;
	bool found;
	double value;			/* the first objective's, of the best */
	bool wrong;			/* the checker disagreed */
	struct text reason;
};

static bool domain_holds(const struct problem_domain *domain, uint32_t value)
{
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return !domain->count;
}

static bool is_legal(const struct problem *problem, const struct plan *plan,
		     const struct predicate_input *input)
{
	for (uint32_t k = 0; k < plan->choice.pipeline; k++) {
		const struct problem *kind = mixed_problem(problem, plan, k, NULL);

		if (plan->stage[k].memory.total >
		    kind->memory.limit_bytes * (1 + 1e-12))
			return false;
		for (uint32_t i = 0; i < kind->requirement_count; i++) {
			double value = predicate_evaluate(&kind->requirement[i],
							  input);

			if (value == 0 || isnan(value))
				return false;
		}
	}
	return true;
}

static void look_at_plan(struct listing *listing)
{
	const struct problem *problem = listing->problem;
	struct arena_mark mark = arena_mark(&listing->scratch);
	struct plan plan = listing->plan;
	struct predicate_input input = { .stage_layers = NULL };
	double value;

	if (++listing->plans > PLANS_MAX) {
		listing->too_many = true;
		return;
	}
	plan.chunk_first = listing->first;
	price_plan(problem, &listing->scratch, &plan);
	price_variables(problem, &plan, &listing->scratch, &input);
	if (is_legal(problem, &plan, &input)) {
		value = problem->objective_count ?
			predicate_evaluate(&problem->objective[0], &input) :
			plan.time_s;
		if (isnan(value))
			value = INFINITY;
		if (!listing->found || value < listing->value)
			listing->value = value;
		listing->found = true;
		plan.certificate = (struct certificate){ .value = value,
			.lower_bound = value, .configurations = 1, .priced = 1 };
		if (random_below(&listing->random, 64) == 0 && !listing->wrong &&
		    value < INFINITY) {
			listing->sampled++;
			listing->wrong = !feasible_check(problem, &plan,
							 &listing->scratch,
							 &listing->reason);
		}
	}
	arena_rewind(&listing->scratch, mark);
}

static bool stages_are_uniform(const struct listing *listing)
{
	const struct problem *problem = listing->problem;
	uint32_t p = listing->plan.choice.pipeline, at = 0, rank = 0;
	uint32_t blocks[BRUTE_STAGE_MAX] = { 0 };

	for (uint32_t i = 0; i < problem->run_count; i++)
		for (uint32_t j = 0; j < problem->run[i].count; j++, at++) {
			while (at >= listing->first[rank + 1])
				rank++;
			blocks[rank] += problem->class_is_block[
				problem->run[i].class_index];
		}
	for (uint32_t k = 0; k < p; k++)
		if (blocks[k] != blocks[0])
			return false;
	return true;
}

/* Every cut of the chain into as many parts as there are ranks. */
static void list_cuts(struct listing *listing, uint32_t rank)
{
	uint32_t p = listing->plan.choice.pipeline;

	if (rank == p) {
		if (!listing->problem->uniform_stages ||
		    stages_are_uniform(listing))
			look_at_plan(listing);
		return;
	}
	for (uint32_t at = listing->first[rank - 1] + 1;
	     at + (p - rank) <= listing->length && !listing->too_many; at++) {
		listing->first[rank] = at;
		list_cuts(listing, rank + 1);
	}
}

static void list_placements(struct listing *listing, uint32_t segment)
{
	struct plan *plan = &listing->plan;

	if (segment == plan->segment_count) {
		plan->placement = plan->segment[0].placement;
		listing->first[0] = 0;
		listing->first[plan->choice.pipeline] = listing->length;
		list_cuts(listing, 1);
		return;
	}
	for (size_t i = 0; i < listing->set[segment].at.count; i++) {
		plan->segment[segment].placement = listing->set[segment].at.at[i];
		list_placements(listing, segment + 1);
	}
}

static bool keep_placement(void *closure, const struct placement *placement)
{
	struct placements *set = closure;

	if (network_experts_fit(set->problem, placement, set->shape))
		VEC_PUSH(&set->at, set->arena, *placement);
	return true;
}

static void find_placements(struct listing *listing)
{
	const struct plan *plan = &listing->plan;
	const struct problem_shape *shape =
		&listing->problem->shape[plan->choice.shape];

	for (uint32_t s = 0; s < plan->segment_count; s++) {
		struct placements *set = &listing->set[s];
		uint32_t degree[DIMENSION_COUNT] = {
			shape->tensor, shape->context, plan->choice.data,
			plan->segment[s].ranks,
		};

		*set = (struct placements){
			.problem = listing->problem->kind[plan->segment[s].kind],
			.shape = shape,
			.arena = listing->arena,
		};
		placement_walk(set->problem, degree, keep_placement, set);
	}
}

/* Split plans share among all replicas. */
static bool has_zero(const struct problem *problem, uint32_t zero)
{
	bool given = false;

	for (uint32_t l = 0; l < problem->level_count; l++)
		given |= problem->shard_level[l];
	return problem->zero[zero] &&
	       (zero == 0 || !given || problem->shard_level[0]);
}

static void list_policies(struct listing *listing)
{
	const struct problem *problem = listing->problem;
	struct choice *choice = &listing->plan.choice;

	find_placements(listing);
	for (uint32_t zero = 0; zero < 4; zero++)
		for (int r = 0; has_zero(problem, zero) && r < RECOMPUTE_COUNT;
		     r++) {
			const struct problem_domain *layers =
				&problem->recompute_layers;
			bool partial = r == RECOMPUTE_FULL && layers->count;

			for (uint32_t i = 0; problem->recompute[r] &&
					     i < (partial ? layers->count : 1);
			     i++) {
				choice->zero = zero;
				choice->recompute = (enum recompute)r;
				choice->recompute_layers =
					partial ? layers->at[i] : 0;
				list_placements(listing, 0);
			}
		}
}

/* Ranks of every segment from this one on. */
static void list_ranks(struct listing *listing, uint32_t segment)
{
	const struct problem *problem = listing->problem;
	struct plan *plan = &listing->plan;
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	uint32_t block = shape->tensor * shape->context * plan->choice.data;
	uint32_t p = 0;

	if (segment < plan->segment_count) {
		const struct problem *kind =
			problem->kind[plan->segment[segment].kind];

		for (uint32_t n = 1; n * block <= kind->device_count; n++) {
			plan->segment[segment].ranks = n;
			list_ranks(listing, segment + 1);
		}
		return;
	}
	for (uint32_t s = 0; s < plan->segment_count; s++)
		p += plan->segment[s].ranks;
	plan->choice.pipeline = plan->chunk_count = p;
	if (p <= listing->length && domain_holds(&problem->pipeline, p) &&
	    domain_holds(&problem->devices, p * block))
		list_policies(listing);
}

static void list_degrees(struct listing *listing)
{
	const struct problem *problem = listing->problem;
	struct choice *choice = &listing->plan.choice;

	for (uint32_t s = 0; s < problem->shape_count; s++) {
		const struct problem_shape *shape = &problem->shape[s];
		uint32_t ranks = shape->tensor * shape->context;

		for (uint32_t d = 1; d <= 16; d++) {
			if (problem->global_batch % (shape->micro_batch * d) ||
			    ranks * d % (shape->expert * shape->expert_tensor) ||
			    !domain_holds(&problem->data, d))
				continue;
			choice->shape = s;
			choice->data = d;
			choice->micro_batches =
				problem->global_batch / shape->micro_batch / d;
			list_ranks(listing, 0);
		}
	}
}

static void list_orders(struct listing *listing)
{
	struct plan *plan = &listing->plan;

	if (plan->segment_count > 1)
		list_degrees(listing);
	for (uint32_t k = 0; k < listing->problem->kind_count; k++) {
		bool used = false;

		for (uint32_t i = 0; i < plan->segment_count; i++)
			used |= plan->segment[i].kind == k;
		if (used)
			continue;
		plan->segment[plan->segment_count++].kind = k;
		list_orders(listing);
		plan->segment_count--;
	}
}

static void list_split_plans(struct listing *listing,
			     const struct problem *problem, uint64_t seed,
			     struct arena *arena)
{
	bool given = false;

	*listing = (struct listing){
		.problem = problem,
		.arena = arena,
		.random = { seed },
		.length = problem_chain_length(problem),
	};
	arena_init(&listing->scratch);
	text_init(&listing->reason, arena);
	listing->first = ARENA_ARRAY(arena, uint32_t, listing->length + 2);
	listing->plan.choice.virtual_stages = 1;
	listing->plan.choice.schedule = SCHEDULE_1F1B;
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		given |= problem->schedule[i];
	if ((!given || problem->schedule[SCHEDULE_1F1B]) &&
	    domain_holds(&problem->virtual_stages, 1))
		list_orders(listing);
	arena_release(&listing->scratch);
}

/* ---- the comparison ---- */

static void add_family(const struct problem *problem, uint64_t seed, bool *found,
		       double *value)
{
	struct brute_result brute;
	double other;

	brute_solve(problem, seed, &brute);
	if (!brute.found)
		return;
	other = problem->objective_count ? brute.best.objective[0] :
					   brute.best.time_s;
	if (!*found || other < *value)
		*value = other;
	*found = true;
}

static void fail_seed(uint64_t seed, const struct mixed *mixed, const char *what)
{
	random_problem_print(&mixed->whole, stderr);
	for (uint32_t k = 0; k < mixed->whole.kind_count; k++)
		random_problem_print(&mixed->kind[k], stderr);
	fail_msg("PROP_SEED=%llu: %s", (unsigned long long)seed, what);
}

/* The search for split plans by itself, with nothing found before. */
static void compare_split(const struct mixed *mixed, uint64_t seed,
			  const struct listing *listing, struct arena *arena)
{
	const struct solve_limits limits = { .partitions_max = 1000000 };
	const struct problem *problem = &mixed->whole;
	uint64_t *removed_by = ARENA_ARRAY(arena, uint64_t,
					   problem->requirement_count);
	struct search_result result;
	struct incumbent incumbent;

	incumbent_init(&incumbent, problem, arena);
	mixed_search(problem, &limits, &incumbent, removed_by, &result);
	if (incumbent.found != listing->found || !result.complete)
		fail_seed(seed, mixed, "split plans: found or not");
	if (!incumbent.found ||
	    trial_near(incumbent.merit.objective[0], listing->value))
		return;
	print_error("found %.17g, listed %.17g\n",
		    incumbent.merit.objective[0], listing->value);
	fail_seed(seed, mixed, "another split plan is better");
}

/* Stopped after some looks at the clock: a bound that holds, a plan that is one, and
 * nothing begun anew. */
static void check_stopped(const struct mixed *mixed, uint64_t seed, bool found,
			  double value, struct arena *arena)
{
	struct looks looks = { .left = seed % 5 ? seed % 97 : 0 };
	struct solve_limits limits = { .deadline = looks_deadline(&looks) };
	struct solve_result solved;
	enum solve_status status = solve(&mixed->whole, &limits, arena, &solved);
	const struct certificate *certificate = &solved.plan.certificate;
	bool has_plan = status == SOLVE_OPTIMAL || status == SOLVE_FEASIBLE;
	struct text reason;

	if (looks.late > LATE_MOST)
		fail_seed(seed, mixed, "on and on when time is over");
	if (has_plan > found || (status == SOLVE_INFEASIBLE && found))
		fail_seed(seed, mixed, "stopped: a plan or none, wrongly");
	if (status == SOLVE_UNKNOWN && !certificate->out_of_time)
		fail_seed(seed, mixed, "stopped, and not for lack of time");
	if (!has_plan)
		return;
	if (status == SOLVE_FEASIBLE && !certificate->out_of_time)
		fail_seed(seed, mixed, "a gap, and not for lack of time");
	if (certificate->lower_bound > value &&
	    !trial_near(certificate->lower_bound, value))
		fail_seed(seed, mixed, "stopped: a bound above the best plan");
	if (certificate->configurations !=
	    certificate->priced + certificate->bounded +
		    certificate->infeasible_memory +
		    certificate->infeasible_requirement +
		    certificate->infeasible_placement)
		fail_seed(seed, mixed, "stopped: counts that do not add up");
	text_init(&reason, arena);
	if (!feasible_check(&mixed->whole, &solved.plan, arena, &reason))
		fail_seed(seed, mixed, reason.at);
}

/* Whether the problem was small enough to be listed. */
static bool agree(uint64_t seed, uint64_t *split)
{
	const struct solve_limits limits = { .partitions_max = 1000000 };
	struct arena arena;
	struct mixed mixed;
	struct listing listing;
	struct solve_result solved;
	enum solve_status status;
	struct problem alike;
	struct text reason;
	bool found = false, done = false;
	double value;

	arena_init(&arena);
	make_mixed(&mixed, seed, &arena);
	if (problem_check(&mixed.whole))
		fail_seed(seed, &mixed, problem_check(&mixed.whole));
	list_split_plans(&listing, &mixed.whole, seed, &arena);
	if (listing.wrong)
		fail_seed(seed, &mixed, listing.reason.at);
	if (!listing.too_many) {
		compare_split(&mixed, seed, &listing, &arena);
		done = true;
		found = listing.found;
		value = listing.value;
		alike = mixed.whole;
		alike.kind_count = 0;
		add_family(&alike, seed, &found, &value);
		for (uint32_t k = 0; k < mixed.whole.kind_count; k++)
			add_family(&mixed.kind[k], seed, &found, &value);
		status = solve(&mixed.whole, &limits, &arena, &solved);
		if (found != (status == SOLVE_OPTIMAL))
			fail_seed(seed, &mixed, found ?
				"a plan exists and none was proved" :
				"no plan exists and one was found");
		text_init(&reason, &arena);
		if (found && !feasible_check(&mixed.whole, &solved.plan, &arena,
					     &reason))
			fail_seed(seed, &mixed, reason.at);
		if (found && !trial_near(solved.plan.certificate.value, value)) {
			print_error("found %.17g, listed %.17g, split %.17g\n",
				    solved.plan.certificate.value, value,
				    listing.found ? listing.value : NAN);
			fail_seed(seed, &mixed, "another plan is better");
		}
		check_stopped(&mixed, seed, found, value, &arena);
	}
	*split += done && found && solved.plan.segment_count > 1;
	arena_release(&arena);
	return done;
}

static void test_agreement(void **state)
{
	uint64_t count = number_from("PROP_COUNT", COUNT_MIXED);
	uint64_t seed = number_from("PROP_SEED", 1);
	uint64_t compared = 0, tried = 0, split = 0;

	(void)state;
	for (; compared < count && tried < 4 * count; tried++)
		compared += agree(seed + tried, &split);
	print_message("%llu problems of %llu compared; in %llu a split plan is best\n",
		      (unsigned long long)compared, (unsigned long long)tried,
		      (unsigned long long)split);
	assert_true(compared == count);
	assert_true(count < 50 || split >= count / 20);
}

/* ---- how far ranks come, against the tables over (rank, position) ---- */

struct reaching {
	struct mixed_space space;
	struct chain chain[KIND_MAX];
	struct incumbent incumbent;	/* empty: the tables leave nothing out for time */
	struct arena *arena;
	uint64_t seed, lines, tight;
};

/* False if a segment has no placement. */
static bool open_line(struct reaching *reaching, const struct mixed_family *family,
		      const struct mixed_ranks *ranks, const struct choice *choice,
		      struct mixed_line *line)
{
	const struct problem *problem = reaching->space.problem;
	struct mixed_part *part = ARENA_ARRAY(reaching->arena, struct mixed_part,
					      family->kind_count);
	uint32_t first = 0;

	for (uint32_t i = 0; i < family->kind_count; i++) {
		uint32_t kind = family->kind[i], classes = problem->class_count;
		const struct placement_set *set = placement_find(
			&reaching->space.cache[kind],
			&problem->kind[kind]->shape[choice->shape], choice->data,
			ranks->ranks[i]);

		if (!set->factor_count)
			return false;
		part[i] = (struct mixed_part){
			.problem = problem->kind[kind],
			.kind = kind,
			.first = first,
			.ranks = ranks->ranks[i],
			.chain = &reaching->chain[kind],
			.placed = set->at[0],
		};
		chain_place(part[i].chain, choice, &part[i].placed,
			    ARENA_ARRAY(reaching->arena, struct layer_time, classes),
			    ARENA_ARRAY(reaching->arena, struct layer_time, classes));
		first += part[i].ranks;
	}
	mixed_line_init(line, problem, choice, part, family->kind_count,
			&reaching->incumbent, reaching->arena);
	return true;
}

/* The slowest rank of the cut of the tables after those before it, and loops through
 * the whole. */
static double cut_s(const struct mixed_line *line)
{
	double whole_s = 0, end_s = 0;
	uint32_t begin = 0;

	for (uint32_t k = 0; k < line->pipeline; k++) {
		uint32_t end = line->best_end[k * ((size_t)line->length + 1) + begin];
		double time_s = mixed_line_both(line, k, begin, end);

		end_s = fmax(end_s, whole_s + line->micro_batches * time_s);
		whole_s += time_s + 2 * mixed_line_transfer(line, k, end);
		begin = end;
	}
	return fmax(end_s, whole_s * (1 + (line->micro_batches - 1) /
					  line->pipeline));
}

/* Ranks reach the end by the time of a cut. Without transfers they do not before the
 * tables' bound, but where one can have no layer. */
static void check_line(struct reaching *reaching, struct mixed_line *line)
{
	if (mixed_line_bound(line) && !isinf(line->low_s) &&
	    !mixed_line_reaches(line, cut_s(line) * (1 + 1e-9)))
		fail_msg("seed %llu: ranks do not reach the end in %.9g",
			 (unsigned long long)reaching->seed, cut_s(line));
	for (uint32_t i = 0; i < line->part_count; i++) {
		double *ideal_s = ARENA_ARRAY(reaching->arena, double,
					      line->length + 1);

		for (uint32_t n = 0; n <= line->length; n++)
			ideal_s[n] = chain_floor_both(line->part[i].chain, 0, n);
		line->part[i].ideal_s = ideal_s;
	}
	if (!mixed_line_bound(line) || isinf(line->low_s)) {
		reaching->lines++;
		reaching->tight += !mixed_line_reaches(line, INFINITY);
		return;
	}
	if (!mixed_line_reaches(line, cut_s(line) * (1 + 1e-9)))
		fail_msg("seed %llu: ranks do not reach the end in %.9g, without transfers",
			 (unsigned long long)reaching->seed, cut_s(line));
	reaching->lines++;
	reaching->tight += !mixed_line_reaches(line, line->low_s * (1 - 1e-6));
}

static void check_family(struct reaching *reaching, const struct mixed_family *family)
{
	const struct problem *problem = reaching->space.problem;
	struct mixed_ranks ranks = { .pipeline = 0 };
	struct choice choice = {
		.shape = family->shape,
		.data = family->data,
		.virtual_stages = 1,
		.micro_batches = family->micro_batches,
		.schedule = SCHEDULE_1F1B,
	};

	while (mixed_space_next(&reaching->space, family, &ranks)) {
		choice.pipeline = ranks.pipeline;
		for (uint32_t i = 0; i < 4 * RECOMPUTE_COUNT; i++) {
			struct arena_mark mark = arena_mark(reaching->arena);
			struct mixed_line line;

			choice.zero = i % 4;
			choice.recompute = (enum recompute)(i / 4);
			choice.recompute_layers = 0;
			if (choice.recompute == RECOMPUTE_FULL &&
			    problem->recompute_layers.count)
				choice.recompute_layers =
					problem->recompute_layers.at[0];
			if (mixed_space_has_zero(problem, choice.zero) &&
			    problem->recompute[choice.recompute] &&
			    open_line(reaching, family, &ranks, &choice, &line))
				check_line(reaching, &line);
			arena_rewind(reaching->arena, mark);
		}
	}
}

static void test_reach(void **state)
{
	uint64_t count = number_from("PROP_COUNT", COUNT_MIXED) / 4;
	uint64_t seed = number_from("PROP_SEED", 1), lines = 0, tight = 0;

	(void)state;
	for (uint64_t last = seed + count; seed < last; seed++) {
		struct reaching reaching = { .seed = seed };
		struct arena arena, scratch;
		struct mixed mixed;

		arena_init(&arena);
		arena_init(&scratch);
		make_mixed(&mixed, seed, &arena);
		mixed.whole.uniform_stages = false;
		reaching.arena = &scratch;
		mixed_space_init(&reaching.space, &mixed.whole, &arena);
		incumbent_init(&reaching.incumbent, &mixed.whole, &arena);
		for (uint32_t k = 0; k < mixed.whole.kind_count; k++)
			chain_init(&reaching.chain[k], mixed.whole.kind[k],
				   &arena);
		for (size_t i = 0; i < reaching.space.family.count; i++)
			check_family(&reaching, &reaching.space.family.at[i]);
		lines += reaching.lines;
		tight += reaching.tight;
		arena_release(&scratch);
		arena_release(&arena);
	}
	print_message("%llu lines of ranks, %llu with the bound of the tables\n",
		      (unsigned long long)lines, (unsigned long long)tight);
	assert_true(lines >= count && tight >= 0.9 * lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

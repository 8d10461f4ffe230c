/* SPDX-License-Identifier: MIT
 *
 * Lists the families below the best plan, then settles them, least bound first.
 */
#include "solver/graph_prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/vec.h"
#include "solver/bound.h"
#include "solver/deadline.h"
#include "solver/devices.h"
#include "solver/facts.h"
#include "solver/graph_family.h"
#include "solver/space.h"

/* Layers that bounds of families may add up in all: about a second. Chunk operations
 * that their cuts may cost. */
#define WORK_MAX 8000000
#define EFFORT_MAX 64000000

/* Placements of one set of degrees. */
struct site_set {
	VEC(struct graph_site) site;
};

/* A configuration under a placement that may be faster than the best plan. */
struct family {
	struct choice choice;
	const struct graph_site *site;
	double low_s;
	size_t number;			/* in the order of the space */
};

struct prover {
	struct graph_families families;
	struct incumbent rules;		/* with the requirements, to ask what they refuse */
	const struct solve_limits *limits;
	struct trial *trial;
	struct arena arena;		/* facts, placements, families */
	struct arena scratch;		/* one partition at a time */
	struct space space;
	struct placement_cache cache;
	struct graph_cuts cuts;
	struct graph_uplink *uplink[LEVEL_MAX];	/* of each child, in its first place */
	uint32_t *map;			/* of a case */
	struct facts *facts;		/* of the shape at hand */
	double *units;
	VEC(struct family) family;
	uint64_t looked;
	bool stopped;
};

static double best_s(const struct prover *prover)
{
	return prover->trial->best.merit.objective[0];
}

static bool is_excluded(const struct prover *prover, double low_s)
{
	return low_s >= best_s(prover) * (1 - TIE);
}

/* ---- all of them ---- */

struct site_visit {
	struct prover *prover;
	const struct problem_shape *shape;
	struct site_set *set;
};

static bool add_site(void *closure, const struct placement *placement)
{
	struct site_visit *visit = closure;
	struct prover *prover = visit->prover;
	const struct problem *problem = &prover->families.problem;
	struct placed placed = { .placement = *placement };
	struct graph_site site;

	if (placement->packing == PACKING_FACTORS &&
	    (!network_experts_fit(problem, placement, visit->shape) ||
	     !devices_fit(problem, placement, &prover->scratch)))
		return true;
	if (!placement_price(problem, visit->shape, &prover->arena, &placed))
		return true;
	graph_site(problem, &prover->cuts, visit->shape, &placed, &prover->arena,
		   &site);
	VEC_PUSH(&visit->set->site, &prover->arena, site);
	return true;
}

static struct site_set *find_sites(struct prover *prover,
				   const struct choice *choice)
{
	const struct problem_shape *shape =
		&prover->families.problem.shape[choice->shape];
	uint32_t degree[DIMENSION_COUNT] = {
		[DIMENSION_TENSOR] = shape->tensor,
		[DIMENSION_CONTEXT] = shape->context,
		[DIMENSION_DATA] = choice->data,
		[DIMENSION_PIPELINE] = choice->pipeline,
	};
	struct site_set *set = ARENA_NEW(&prover->arena, struct site_set);
	struct site_visit visit = { prover, shape, set };

	placement_walk(&prover->families.problem, degree, add_site, &visit);
	placement_walk_linear(&prover->families.problem, degree, add_site, &visit);
	return set;
}

static bool is_refused(const struct prover *prover, const struct choice *choice,
		       double low_s, double memory_bytes)
{
	const struct problem *problem = prover->rules.problem;
	struct outlook outlook = {
		.choice = choice,
		.known = OUTLOOK_ALL,
		.time_s = low_s,
		.memory_bytes = memory_bytes,
	};
	struct range_input input;

	if (!problem->requirement_count)
		return false;
	outlook_ranges(&prover->rules, &outlook, &input);
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		if (outlook_requirement(&outlook, &problem->requirement[i],
					&input) == CERTAINLY_FALSE)
			return true;
	return false;
}

/* Whether a configuration needs to be placed; bounds of all placements first. */
static bool is_open(struct prover *prover, const struct choice *choice)
{
	const struct problem *problem = &prover->families.problem;
	double low_s = facts_bound(prover->facts, problem, choice), memory_bytes;
	struct share share;

	if (is_excluded(prover, low_s))
		return false;
	chain_load(&prover->families.fast, choice);
	share = share_of(problem, choice, NULL);
	memory_bytes = bound_memory(&prover->families.fast, choice, &share);
	if (memory_bytes > problem->memory.limit_bytes * (1 + TIE) ||
	    is_refused(prover, choice, low_s, memory_bytes))
		return false;
	if (choice->pipeline > 1)
		bound_units(&prover->families.fast, choice, &share, prover->units);
	return !is_excluded(prover, facts_bound_whole(
		prover->facts, problem, &prover->facts->loads[facts_policy(choice)],
		choice, prover->units, best_s(prover)));
}

static void list_configuration(struct prover *prover, const struct choice *choice,
			       struct site_set **set)
{
	if (!is_open(prover, choice))
		return;
	if (!*set)
		*set = find_sites(prover, choice);
	for (size_t i = 0; i < (*set)->site.count; i++) {
		struct family family = {
			.choice = *choice,
			.site = &(*set)->site.at[i],
			.number = prover->family.count,
		};

		if (!family.site->placed.sharding[choice->shard_level])
			continue;
		prover->looked++;
		family.low_s = graph_family_bound(&prover->families, choice,
						  family.site);
		if (!is_excluded(prover, family.low_s))
			VEC_PUSH(&prover->family, &prover->arena, family);
	}
	prover->stopped |= prover->families.work > WORK_MAX ||
			   deadline_passed(&prover->limits->deadline);
}

static void list_degrees(struct prover *prover, const struct choice *degrees)
{
	const struct space *space = &prover->space;
	struct choice choice = *degrees;
	struct site_set *set = NULL;

	for (uint32_t v = 1; v <= space->chain_length / choice.pipeline; v++) {
		if (v == 2 && (choice.pipeline == 1 ||
			       choice.micro_batches % choice.pipeline))
			break;
		if (!space_has_virtual(space, choice.pipeline, v,
				       choice.micro_batches))
			continue;
		choice.virtual_stages = v;
		for (int s = 0; s < SCHEDULE_COUNT; s++) {
			choice.schedule = (enum schedule)s;
			if (!space_has_schedule(space, choice.pipeline, v,
						choice.schedule))
				continue;
			for (uint32_t i = 0; i < space->policies &&
					     !prover->stopped; i++) {
				choice_set_policy(&choice, &space->policy[i]);
				list_configuration(prover, &choice, &set);
			}
		}
	}
}

static void list_shape(struct prover *prover, uint32_t shape)
{
	const struct space *space = &prover->space;
	const struct problem *problem = &prover->families.problem;
	struct choice choice = { .shape = shape };

	prover->facts = ARENA_NEW(&prover->arena, struct facts);
	facts_fill(prover->facts, problem, &prover->cache, shape, &prover->arena);
	for (uint32_t i = 0; i < space->data_count; i++) {
		uint32_t ranks_most;

		choice.data = space->data[i];
		if (!space_has_data(space, shape, choice.data))
			continue;
		ranks_most = space_pipeline_max(space, shape, choice.data);
		choice.micro_batches = space_micro_batches(space, shape,
							   choice.data);
		if (is_excluded(prover, facts_bound_data(prover->facts,
							 prover->facts->allowed,
							 ranks_most,
							 choice.micro_batches)))
			continue;
		for (uint32_t p = 1; p <= ranks_most; p++) {
			choice.pipeline = p;
			if (space_has_pipeline(space, shape, choice.data, p))
				list_degrees(prover, &choice);
		}
	}
}

/* ---- settling ---- */

/* Which children of a level a case's blocks are in, by their place. */
static bool *mark_blocks(struct prover *prover, const struct plan *plan,
			 const struct graph_case *at, uint32_t level)
{
	const struct problem *problem = &prover->families.problem;
	uint32_t below = prover->trial->owners.below[level];
	struct plan filled = *plan;
	uint32_t ranks;
	bool *is_slow = ARENA_ARRAY(&prover->scratch, bool,
				    problem->device_count / below);

	if (!devices_fill(problem, &prover->scratch, &filled))
		return is_slow;
	ranks = problem->shape[plan->choice.shape].tensor *
		problem->shape[plan->choice.shape].context * plan->choice.data;
	for (uint32_t b = 0; b < at->blocks; b++)
		for (uint32_t r = at->first[b] * ranks;
		     r < (at->first[b] + at->count) * ranks; r++)
			is_slow[filled.device[r] / below] = true;
	return is_slow;
}

static double uplink_at(const struct prover *prover, uint32_t level, uint32_t place)
{
	const struct graph_owners *owners = &prover->trial->owners;
	uint32_t below = owners->below[level];

	return prover->uplink[level][owners->place[prover->map[place * below]] /
				     below].rate_Bps;
}

static void exchange(uint32_t *map, uint32_t a, uint32_t b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t device = map[a * count + i];

		map[a * count + i] = map[b * count + i];
		map[b * count + i] = device;
	}
}

/* Puts the slow children where the case has them, each under its own parent: one by one
 * they would gain nothing there. */
static void put_slow(struct prover *prover, const struct plan *plan,
		     const struct graph_case *at, uint32_t level)
{
	const struct problem *problem = &prover->families.problem;
	struct arena_mark mark = arena_mark(&prover->scratch);
	uint32_t below = prover->trial->owners.below[level];
	uint32_t fanout = problem->level[level].fanout;
	uint32_t children = problem->device_count / below;
	const bool *is_slow = mark_blocks(prover, plan, at, level);

	memcpy(prover->map, problem->graph_device,
	       problem->device_count * sizeof(*prover->map));
	for (uint32_t i = 0; i < children; i++) {
		uint32_t first = i / fanout * fanout, slowest = i;

		for (uint32_t j = first; is_slow[i] && j < first + fanout; j++)
			if (!is_slow[j] && uplink_at(prover, level, j) <
						   uplink_at(prover, level, slowest))
				slowest = j;
		exchange(prover->map, i, slowest, slowest == i ? 0 : below);
	}
	arena_rewind(&prover->scratch, mark);
}

/* Routes a plan that a case has below the best one. */
static void route(void *closure, const struct plan *plan, const struct graph_case *at,
		  uint32_t level)
{
	struct prover *prover = closure;

	if (at)
		put_slow(prover, plan, at, level);
	trial_plan(prover->trial, plan, at ? prover->map : NULL);
	prover->families.beaten_s = best_s(prover);
}

static int by_bound(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->low_s != y->low_s)
		return x->low_s < y->low_s ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static double settle_families(struct prover *prover)
{
	double least = INFINITY;
	bool over = false;

	if (prover->family.count)
		qsort(prover->family.at, prover->family.count,
		      sizeof(*prover->family.at), by_bound);
	for (size_t i = 0; i < prover->family.count; i++) {
		struct family *family = &prover->family.at[i];

		over = over || deadline_passed(&prover->limits->deadline);
		if (!over && prover->families.left &&
		    !is_excluded(prover, family->low_s))
			family->low_s = most(family->low_s, graph_family_settle(
				&prover->families, &family->choice,
				family->site, route, prover));
		least = fmin(least, family->low_s);
	}
	return fmin(least, best_s(prover));
}

/* ---- the entry ---- */

static void prover_init(struct prover *prover, const struct problem *problem)
{
	const struct problem *flat = &prover->families.problem;

	arena_init(&prover->arena);
	arena_init(&prover->scratch);
	graph_families_init(&prover->families, problem, &prover->arena,
			    &prover->scratch);
	prover->families.beaten_s = best_s(prover);
	prover->families.left = EFFORT_MAX;
	incumbent_init(&prover->rules, problem, &prover->arena);
	space_init(&prover->space, flat, &prover->arena);
	placement_cache_init(&prover->cache, flat, &prover->arena);
	prover->units = ARENA_ARRAY(&prover->arena, double,
				    prover->space.chain_length);
	prover->map = ARENA_ARRAY(&prover->arena, uint32_t, problem->device_count);
	graph_uplinks(problem->graph, problem->level, &prover->trial->owners,
		      &prover->arena, prover->uplink);
	graph_cuts(problem, problem->graph, &prover->trial->owners,
		   &prover->arena, &prover->cuts);
}

double graph_prove(const struct problem *problem, const struct solve_limits *limits,
		   struct trial *trial, uint64_t *families)
{
	struct prover prover = { .limits = limits, .trial = trial };
	double bound_s = 0;

	prover_init(&prover, problem);
	for (uint32_t i = 0; i < problem->shape_count && !prover.stopped; i++)
		list_shape(&prover, i);
	if (!prover.stopped)
		bound_s = settle_families(&prover);
	*families = prover.looked;
	graph_families_release(&prover.families);
	arena_release(&prover.scratch);
	arena_release(&prover.arena);
	return bound_s;
}

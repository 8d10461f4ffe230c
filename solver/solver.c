/* SPDX-License-Identifier: MIT
 *
 * The entry: search, then the settled plan with its price and certificate, or
 * the reasons why there is none.
 */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

#include "solver/devices.h"
#include "solver/failure.h"
#include "solver/first_plan.h"
#include "solver/graph_search.h"
#include "solver/incumbent.h"
#include "solver/mixed_search.h"
#include "solver/network.h"
#include "solver/placement.h"
#include "solver/price.h"
#include "solver/search.h"

/* Prices every placement of the plan's degrees, in the order of ties, until
 * one is as good as the incumbent: that is the one to show. */
struct settling {
	const struct problem *problem;
	const struct deadline *deadline;
	const struct incumbent *incumbent;
	struct arena *arena;
	struct plan plan;
	bool done;
};

/* Whether a placement that the walks find is one. */
static bool fits(const struct settling *settling,
		 const struct placement *placement)
{
	const struct problem *problem = settling->problem;
	uint32_t shape = settling->incumbent->plan.choice.shape;
	struct arena_mark mark = arena_mark(settling->arena);
	bool fits;

	if (placement->packing == PACKING_FACTORS)
		return network_experts_fit(problem, placement,
					   &problem->shape[shape]) &&
		       devices_fit(problem, placement, settling->arena);
	fits = devices_lay(problem, placement, settling->arena);
	arena_rewind(settling->arena, mark);
	return fits;
}

static bool settle_visit(void *closure, const struct placement *placement)
{
	struct settling *settling = closure;
	const struct incumbent *incumbent = settling->incumbent;
	struct arena_mark mark = arena_mark(settling->arena);
	struct predicate_input input;
	struct merit merit;

	if (deadline_passed(settling->deadline))
		return false;
	if (!fits(settling, placement))
		return true;
	settling->plan = incumbent->plan;
	settling->plan.placement = *placement;
	price_plan(settling->problem, settling->arena, &settling->plan);
	price_variables(settling->problem, &settling->plan, settling->arena,
			&input);
	plan_merit(incumbent, &settling->plan, &input, &merit);
	settling->done = problem_requirements_hold(settling->problem, &input) &&
			 incumbent_equals(incumbent, &merit);
	if (!settling->done)
		arena_rewind(settling->arena, mark);
	return !settling->done;
}

/* When time is over the placement that the search found stays. */
static void settle_plan(const struct problem *problem,
			const struct solve_limits *limits,
			const struct incumbent *incumbent, struct arena *arena,
			struct plan *plan)
{
	const struct choice *choice = &incumbent->plan.choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	uint32_t degree[DIMENSION_COUNT] = {
		[DIMENSION_TENSOR] = shape->tensor,
		[DIMENSION_CONTEXT] = shape->context,
		[DIMENSION_DATA] = choice->data,
		[DIMENSION_PIPELINE] = choice->pipeline,
	};
	struct settling settling = {
		.problem = problem,
		.deadline = &limits->deadline,
		.incumbent = incumbent,
		.arena = arena,
	};

	placement_walk(problem, degree, settle_visit, &settling);
	if (!settling.done && !choice->shard_level)
		placement_walk_linear(problem, degree, settle_visit, &settling);
	if (!settling.done) {
		settling.plan = incumbent->plan;
		price_plan(problem, arena, &settling.plan);
	}
	devices_fill(problem, arena, &settling.plan);
	*plan = settling.plan;
}

/* The plan of least memory when memory is no limit. */
static void find_nearest(const struct problem *problem,
			 const struct solve_limits *limits, struct arena *arena,
			 struct solve_failure *failure)
{
	static const struct predicate_step memory_step = {
		.op = PREDICATE_VARIABLE,
		.variable = VARIABLE_MEMORY,
	};
	static const struct predicate memory = {
		.step = &memory_step,
		.step_count = 1,
		.needs_outcome = true,
	};
	struct problem unlimited = *problem;
	struct search_result result;
	struct incumbent incumbent;
	uint64_t *removed_by = ARENA_ARRAY(arena, uint64_t,
					   problem->requirement_count);

	unlimited.memory.limit_bytes = 1e300;
	unlimited.objective = &memory;
	unlimited.objective_count = 1;
	incumbent_init(&incumbent, &unlimited, arena);
	search_run(&unlimited, limits, &incumbent, removed_by, &result);
	failure->out_of_time |= result.certificate.out_of_time;
	if (!incumbent.found)
		return;
	failure->has_nearest = true;
	settle_plan(&unlimited, limits, &incumbent, arena, &failure->nearest);
	failure->excess_bytes = failure->nearest.memory_peak_bytes -
				problem->memory.limit_bytes;
}

static enum solve_status solve_alike(const struct problem *problem,
				     const struct solve_limits *limits,
				     struct arena *arena,
				     struct solve_result *result)
{
	uint64_t *removed_by = ARENA_ARRAY(arena, uint64_t,
					   problem->requirement_count);
	struct search_result search;
	struct incumbent incumbent;

	if (problem->graph)
		return graph_solve(problem, limits, arena, result);
	*result = (struct solve_result){ .status = SOLVE_UNKNOWN };
	incumbent_init(&incumbent, problem, arena);
	first_plan(problem, &limits->deadline, arena, &incumbent);
	search_run(problem, limits, &incumbent, removed_by, &search);
	if (incumbent.found) {
		settle_plan(problem, limits, &incumbent, arena, &result->plan);
		result->plan.certificate = search.certificate;
		result->status = search.certificate.gap <= TIE ? SOLVE_OPTIMAL :
								 SOLVE_FEASIBLE;
		return result->status;
	}
	result->plan.certificate = search.certificate;
	if (!search.complete)
		return result->status;
	result->status = SOLVE_INFEASIBLE;
	result->failure.removed_by = removed_by;
	find_nearest(problem, limits, arena, &result->failure);
	failure_tally(problem, &limits->deadline, removed_by);
	return result->status;
}

/* ---- mixed clusters ---- */

/* The families of plans, searched one after the other; each only for what is
 * better than the best so far. */
struct families {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct solve_limits own;	/* of the family being searched */
	uint32_t left;			/* families not yet begun */
	struct arena *arena;
	struct incumbent best;
	struct plan plan;		/* of the best, priced */
	struct certificate certificate;	/* of all together */
	double lower_bound;
	bool complete;
};

/* Searches a family: the problem itself, or one kind (both without kinds), or, as
 * the problem with its kinds, the split plans. */
static void search_family(struct families *families, const struct problem *problem,
			  uint32_t kind, struct solve_failure *failure)
{
	const struct solve_limits *limits = &families->own;
	uint64_t *removed_by = ARENA_ARRAY(families->arena, uint64_t,
					   problem->requirement_count);
	struct search_result result;
	struct incumbent own;

	/* Time that a family does not use is the others'. */
	families->own = *families->limits;
	families->own.deadline = deadline_part(&families->limits->deadline,
					       families->left--);
	incumbent_init(&own, problem, families->arena);
	own.found = families->best.found;
	own.merit = families->best.merit;
	if (problem->kind_count)
		mixed_search(problem, limits, &own, removed_by, &result);
	else {
		first_plan(problem, &limits->deadline, families->arena, &own);
		search_run(problem, limits, &own, removed_by, &result);
	}
	certificate_add(&families->certificate, &result.certificate);
	families->complete &= result.complete;
	if (!own.found && !result.complete)
		families->lower_bound = 0;	/* nothing to hold a bound against */
	if (own.found && result.certificate.lower_bound < families->lower_bound)
		families->lower_bound = result.certificate.lower_bound;
	failure->removed_by = removed_by;
	/* An equal plan does not replace that of an earlier family. */
	if (!own.plan.chunk_count || incumbent_equals(&families->best, &own.merit))
		return;
	families->best = own;
	if (problem->kind_count) {
		families->plan = own.plan;
		price_plan(problem, families->arena, &families->plan);
		return;
	}
	settle_plan(problem, limits, &own, families->arena, &families->plan);
	if (kind == CLASS_NONE)
		return;
	families->plan.segment_count = 1;
	families->plan.segment[0] = (struct segment){
		.kind = kind,
		.ranks = own.plan.choice.pipeline,
		.placement = families->plan.placement,
	};
}

static void explain_failure(const struct families *families,
			    const struct problem *problem,
			    struct solve_failure *failure)
{
	uint64_t *tally = ARENA_ARRAY(families->arena, uint64_t,
				      problem->requirement_count);

	memcpy(tally, failure->removed_by,
	       problem->requirement_count * sizeof(*tally));
	find_nearest(problem, families->limits, families->arena, failure);
	failure_tally(problem, &families->limits->deadline, tally);
	failure->removed_by = tally;
}

/* The lower bound of all families is the least of theirs; one that ended without
 * a plan to compare with has none above the later value. */
static enum solve_status finish_families(struct families *families,
					 struct solve_result *result)
{
	struct certificate *certificate = &families->certificate;
	double value = families->best.merit.objective[0];

	certificate->value = value;
	certificate->lower_bound = families->lower_bound < value ?
					   families->lower_bound : value;
	certificate->gap = value > certificate->lower_bound ?
		(value - certificate->lower_bound) / fabs(value) : 0;
	result->plan = families->plan;
	result->plan.certificate = *certificate;
	return certificate->gap <= TIE ? SOLVE_OPTIMAL : SOLVE_FEASIBLE;
}

static enum solve_status solve_mixed(const struct problem *problem,
				     const struct solve_limits *limits,
				     struct arena *arena,
				     struct solve_result *result)
{
	struct solve_failure *kinds = ARENA_ARRAY(arena, struct solve_failure,
						  problem->kind_count);
	struct solve_failure unused = { 0 };
	struct problem alike = *problem;
	struct families families = {
		.problem = problem,
		.limits = limits,
		.left = problem->kind_count + 2,
		.arena = arena,
		.lower_bound = INFINITY,
		.complete = true,
	};

	*result = (struct solve_result){ .status = SOLVE_UNKNOWN };
	alike.kind_count = 0;
	search_family(&families, &alike, CLASS_NONE, &result->failure);
	for (uint32_t k = 0; k < problem->kind_count; k++)
		search_family(&families, problem->kind[k], k, &kinds[k]);
	search_family(&families, problem, CLASS_NONE, &unused);
	if (families.best.found) {
		result->status = finish_families(&families, result);
		return result->status;
	}
	result->plan.certificate = families.certificate;
	if (!families.complete)
		return result->status;
	result->status = SOLVE_INFEASIBLE;
	explain_failure(&families, &alike, &result->failure);
	for (uint32_t k = 0; k < problem->kind_count; k++)
		explain_failure(&families, problem->kind[k], &kinds[k]);
	result->failure.kind = kinds;
	return result->status;
}

enum solve_status solve(const struct problem *problem,
			const struct solve_limits *limits, struct arena *arena,
			struct solve_result *result)
{
	if (problem->kind_count)
		return solve_mixed(problem, limits, arena, result);
	return solve_alike(problem, limits, arena, result);
}

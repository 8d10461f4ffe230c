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
#include "solver/incumbent.h"
#include "solver/network.h"
#include "solver/placement.h"
#include "solver/price.h"
#include "solver/search.h"
#include "solver/space.h"

/* Prices every placement of the plan's degrees, in the order of ties, until
 * one is as good as the incumbent: that is the one to show. */
struct settling {
	const struct problem *problem;
	const struct incumbent *incumbent;
	struct arena *arena;
	struct plan plan;
	bool done;
};

static bool plan_is_legal(const struct problem *problem,
			  const struct predicate_input *input)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double value = predicate_evaluate(&problem->requirement[i], input);

		if (value == 0 || isnan(value))
			return false;
	}
	return true;
}

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

	if (!fits(settling, placement))
		return true;
	settling->plan = incumbent->plan;
	settling->plan.placement = *placement;
	price_plan(settling->problem, settling->arena, &settling->plan);
	price_variables(settling->problem, &settling->plan, settling->arena,
			&input);
	plan_merit(incumbent, &settling->plan, &input, &merit);
	settling->done = plan_is_legal(settling->problem, &input) &&
			 incumbent_equals(incumbent, &merit);
	if (!settling->done)
		arena_rewind(settling->arena, mark);
	return !settling->done;
}

static void settle_plan(const struct problem *problem,
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
		.incumbent = incumbent,
		.arena = arena,
	};

	if (incumbent->plan.placement.packing == PACKING_FACTORS)
		placement_walk(problem, degree, settle_visit, &settling);
	else
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
	if (!incumbent.found)
		return;
	failure->has_nearest = true;
	settle_plan(&unlimited, &incumbent, arena, &failure->nearest);
	failure->excess_bytes = failure->nearest.memory_peak_bytes -
				problem->memory.limit_bytes;
}

enum solve_status solve(const struct problem *problem,
			const struct solve_limits *limits, struct arena *arena,
			struct solve_result *result)
{
	uint64_t *removed_by = ARENA_ARRAY(arena, uint64_t,
					   problem->requirement_count);
	struct search_result search;
	struct incumbent incumbent;

	*result = (struct solve_result){ .status = SOLVE_UNKNOWN };
	incumbent_init(&incumbent, problem, arena);
	search_run(problem, limits, &incumbent, removed_by, &search);
	if (incumbent.found) {
		settle_plan(problem, &incumbent, arena, &result->plan);
		result->plan.certificate = search.certificate;
		result->status = search.certificate.gap <= TIE ? SOLVE_OPTIMAL :
								 SOLVE_FEASIBLE;
		return result->status;
	}
	if (!search.complete)
		return result->status;
	result->status = SOLVE_INFEASIBLE;
	result->failure.removed_by = removed_by;
	find_nearest(problem, limits, arena, &result->failure);
	failure_tally(problem, removed_by);
	return result->status;
}

/* SPDX-License-Identifier: MIT
 *
 * Runs a strategy and prices what it found.
 */
#include "solver/strategy.h"

#include "solver/attempt.h"
#include "solver/devices.h"
#include "solver/facts.h"
#include "solver/graph_trial.h"
#include "solver/price.h"

static const char *const names[] = {
	[STRATEGY_NEST] = "nest",
	[STRATEGY_MANUAL] = "manual",
	[STRATEGY_MCMC] = "mcmc",
	[STRATEGY_PHAZE] = "phaze",
	[STRATEGY_ALPA] = "alpa",
};
_Static_assert(sizeof(names) / sizeof(*names) == STRATEGY_COUNT, "a name each");

static void (*const run[])(struct attempts *) = {
	[STRATEGY_MANUAL] = strategy_manual,
	[STRATEGY_MCMC] = strategy_mcmc,
	[STRATEGY_PHAZE] = strategy_phaze,
	[STRATEGY_ALPA] = strategy_alpa,
};
_Static_assert(sizeof(run) / sizeof(*run) == STRATEGY_COUNT, "a function each");

const char *strategy_name(enum strategy strategy)
{
	return names[strategy];
}

/* All work on all devices at once, without any communication. */
static double least_time(const struct problem *problem)
{
	double least = 0;
	bool any = false;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];
		uint64_t members = (uint64_t)shape->tensor * shape->context;
		double time;

		if (members > problem->device_count ||
		    problem->global_batch % shape->micro_batch)
			continue;
		time = facts_compute(problem, i) *
		       (problem->global_batch / shape->micro_batch) /
		       (double)(problem->device_count / members);
		if (!any || time < least)
			least = time;
		any = true;
	}
	return least;
}

static void certify(const struct attempts *attempts, struct certificate *certificate)
{
	*certificate = (struct certificate){
		.value = attempts->incumbent.merit.objective[0],
		.configurations = attempts->tried,
		.priced = attempts->tried - attempts->over_memory - attempts->refused,
		.infeasible_memory = attempts->over_memory,
		.infeasible_requirement = attempts->refused,
		.partitions = attempts->tried - attempts->over_memory,
		.out_of_time = attempts->out_of_time,
	};
	if (attempts->incumbent.time_only)
		certificate->lower_bound = least_time(attempts->problem);
	if (certificate->lower_bound > certificate->value)
		certificate->lower_bound = certificate->value;
	if (certificate->value > 0)
		certificate->gap = (certificate->value - certificate->lower_bound) /
				   certificate->value;
}

/* On a graph, if there is one, with the devices in the best places. */
static void price_on_graph(struct attempts *attempts,
			   const struct problem *problem, struct arena *arena,
			   struct plan *plan)
{
	struct certificate *certificate = &plan->certificate;
	struct arena scratch;
	struct trial trial;

	if (!problem->graph)
		return;
	arena_init(&scratch);
	trial_init(&trial, problem, attempts->incumbent.merit.objective[0],
		   arena, &scratch);
	trial.deadline = attempts->deadline;
	trial_plan(&trial, plan, NULL);
	if (trial.best.found) {
		plan->chunk_first = trial.best.plan.chunk_first;
		plan->device_map = trial.best_map;
	}
	trial_release(&trial);
	arena_release(&scratch);
	plan->hierarchy_s = plan->time_s;
	price_plan(problem, arena, plan);
	certificate->routed = trial.routed;
	certificate->out_of_time = attempts_are_over(attempts);
	if (!attempts->incumbent.time_only)
		return;
	certificate->value = plan->time_s;
	certificate->gap = (plan->time_s - certificate->lower_bound) /
			   plan->time_s;
}

/* On devices that are alike. */
static enum solve_status solve_alike(const struct problem *problem,
				     enum strategy strategy,
				     const struct solve_limits *limits,
				     struct arena *arena,
				     struct solve_result *result)
{
	struct problem flat = *problem;	/* priced on the graph, if any, at the end */
	struct attempts attempts;
	struct arena scratch;

	flat.graph = NULL;
	*result = (struct solve_result){ .status = SOLVE_UNKNOWN };
	arena_init(&scratch);
	attempts_init(&attempts, &flat, arena, &scratch);
	attempts.deadline = &limits->deadline;
	run[strategy](&attempts);
	arena_release(&scratch);
	certify(&attempts, &result->plan.certificate);
	if (attempts.incumbent.found) {
		struct certificate certificate = result->plan.certificate;

		result->status = SOLVE_FEASIBLE;
		result->plan = attempts.incumbent.plan;
		result->plan.certificate = certificate;
		price_plan(&flat, arena, &result->plan);
		devices_fill(&flat, arena, &result->plan);
		price_on_graph(&attempts, problem, arena, &result->plan);
	}
	return result->status;
}

/* None of the strategies knows device types: each is given every kind alone, and all
 * devices as the slowest, and keeps the best. */
static enum solve_status solve_mixed(const struct problem *problem,
				     enum strategy strategy,
				     const struct solve_limits *limits,
				     struct arena *arena,
				     struct solve_result *result)
{
	struct problem alike = *problem;
	struct solve_result other;
	bool out_of_time;

	alike.kind_count = 0;
	solve_alike(&alike, strategy, limits, arena, result);
	out_of_time = result->plan.certificate.out_of_time;
	for (uint32_t k = 0; k < problem->kind_count; k++) {
		solve_alike(problem->kind[k], strategy, limits, arena, &other);
		out_of_time |= other.plan.certificate.out_of_time;
		if (other.status != SOLVE_FEASIBLE ||
		    (result->status == SOLVE_FEASIBLE &&
		     other.plan.time_s >= result->plan.time_s))
			continue;
		*result = other;
		result->plan.segment_count = 1;
		result->plan.segment[0] = (struct segment){
			.kind = k,
			.ranks = other.plan.choice.pipeline,
			.placement = other.plan.placement,
		};
	}
	result->plan.certificate.out_of_time = out_of_time;
	return result->status;
}

enum solve_status strategy_solve(const struct problem *problem,
				 enum strategy strategy,
				 const struct solve_limits *limits,
				 struct arena *arena, struct solve_result *result)
{
	if (strategy == STRATEGY_NEST)
		return solve(problem, limits, arena, result);
	if (problem->kind_count)
		return solve_mixed(problem, strategy, limits, arena, result);
	return solve_alike(problem, strategy, limits, arena, result);
}

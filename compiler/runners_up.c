/* SPDX-License-Identifier: MIT
 *
 * Searching again without what was found.
 */
#include "compiler/runners_up.h"

#include <math.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/problem_from_ir.h"
#include "compiler/variable.h"
#include "lang/compilation.h"
#include "solver/share.h"

/* ZeRO among one replica is the same at every stage. A search that is asked about
 * recompute_layers gives up a shortcut. */
static bool tells_apart(const struct problem *problem, const struct plan *plan,
			enum plan_variable variable)
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];

	switch (variable) {
	case VARIABLE_ZERO:
	case VARIABLE_SHARD_LEVEL:
		return plan->choice.data * shape->context > 1 ||
		       share_has_experts(problem);
	case VARIABLE_RECOMPUTE_LAYERS:
		return problem->recompute_layers.count > 0;
	default:
		return variable_is_chosen(variable);
	}
}

/* `tensor != 8 or data != 32 or ..`: any configuration but the plan's. */
static struct ir_requirement exclude(struct arena *arena,
				     const struct problem *problem,
				     const struct plan *plan)
{
	struct predicate_step *step = ARENA_ARRAY(arena, struct predicate_step,
						  4 * VARIABLE_DEVICES);
	uint32_t at = 0;

	for (int i = 0; i < VARIABLE_DEVICES; i++) {
		enum plan_variable variable = (enum plan_variable)i;

		if (!tells_apart(problem, plan, variable))
			continue;
		step[at++] = (struct predicate_step){
			.op = PREDICATE_VARIABLE, .variable = variable };
		step[at++] = (struct predicate_step){
			.op = PREDICATE_CONSTANT,
			.number = variable_of_plan(variable, problem, plan),
		};
		step[at++] = (struct predicate_step){
			.op = PREDICATE_NOT_EQUAL };
		if (at > 3)
			step[at++] = (struct predicate_step){
				.op = PREDICATE_OR };
	}
	return (struct ir_requirement){
		.predicate = { .step = step, .step_count = at },
		.span = SPAN_NONE,
	};
}

void runners_up_sort(struct runner *runner, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct runner one = runner[i];
		uint32_t at = i;

		for (; at && one.plan.certificate.value <
				     runner[at - 1].plan.certificate.value; at--)
			runner[at] = runner[at - 1];
		runner[at] = one;
	}
	/* The search that found one left out those found before it, which may stand
	 * behind it now: their configurations are no better than their own bounds. */
	for (uint32_t i = 0; i < count; i++) {
		runner[i].lower_bound = runner[i].plan.certificate.lower_bound;
		for (uint32_t j = i + 1; j < count; j++)
			if (runner[j].round < runner[i].round)
				runner[i].lower_bound =
					fmin(runner[i].lower_bound,
					     runner[j].plan.certificate.lower_bound);
	}
}

/* The next one. */
static enum status find_next(const struct cli *cli,
			     struct compilation *compilation,
			     const struct pipeline *pipeline,
			     const struct ir_requirement *excluded,
			     const struct solve_limits *limits,
			     struct runners_up *runners)
{
	struct runner *runner = &runners->at[runners->count];
	struct pipeline next = { .ir = pipeline->ir,
				 .strategy = STRATEGY_NEST };

	next.problem = problem_require(&compilation->arena, pipeline->problem,
				       excluded, runners->count);
	pipeline_solve(cli, compilation, limits, &next);
	if (next.result.status != SOLVE_OPTIMAL &&
	    next.result.status != SOLVE_FEASIBLE) {
		runners->exhausted = next.result.status == SOLVE_INFEASIBLE;
		return STATUS_NO_PLAN;
	}
	*runner = (struct runner){ .plan = next.result.plan,
				   .round = runners->count };
	runners->count++;
	return pipeline_check(compilation, &next);
}

enum status runners_up_find(const struct cli *cli, struct compilation *compilation,
			    const struct pipeline *pipeline, uint32_t wanted,
			    struct runners_up *runners)
{
	struct arena *arena = &compilation->arena;
	struct ir_requirement *excluded =
		ARENA_ARRAY(arena, struct ir_requirement, wanted);
	const struct ir_job *job = &pipeline->ir->job;
	struct solve_limits limits = pipeline_limits(cli);
	enum status status = STATUS_DONE;

	*runners = (struct runners_up){
		.ir = pipeline->ir,
		.problem = pipeline->problem,
		.at = ARENA_ARRAY(arena, struct runner, wanted),
		.count = 1,
		.wanted = wanted,
		.by_time = objective_is_time(job),
	};
	runners->at[0].plan = pipeline->result.plan;
	while (runners->count < wanted && status == STATUS_DONE) {
		excluded[runners->count - 1] =
			exclude(arena, pipeline->problem,
				&runners->at[runners->count - 1].plan);
		status = find_next(cli, compilation, pipeline, excluded, &limits,
				   runners);
	}
	runners_up_sort(runners->at, runners->count);
	return status == STATUS_NO_PLAN ? STATUS_DONE : status;
}

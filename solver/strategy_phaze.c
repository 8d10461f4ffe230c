/* SPDX-License-Identifier: MIT
 *
 * Phaze: a flat network. The estimate needs no placement, so one table of cuts
 * per shape and policy serves every number of replicas and stages. Plans are
 * looked at in the order of their estimates until one fits: that is what going
 * over all of them and keeping the least estimate that fits comes to.
 */
#include "solver/strategy.h"

#include <math.h>

#include "solver/view.h"

/* Ranks in the order of devices, as a planner without placement gets them. */
static const enum dimension rank_order[DIMENSION_COUNT] = {
	DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA, DIMENSION_PIPELINE
};

struct phaze {
	struct attempts *attempts;
	struct view view;
	struct stages_input input;
	struct stages stages;
	uint32_t *chunk_first;
	double best;			/* least estimate that fits */
};

static double estimate(struct phaze *phaze, const struct choice *choice)
{
	const struct problem *problem = phaze->attempts->problem;
	uint32_t p = choice->pipeline;
	struct group_shape group;

	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		group.members[l] = group.used[l] = group.apart[l] = 1;
	group.members[0] = choice->data * problem->shape[choice->shape].context;
	stages_cut(&phaze->stages, p, phaze->chunk_first);
	return stages_slowest(&phaze->stages, p) * (choice->micro_batches + p - 1.0) +
	       network_collective(&phaze->view.network, &group,
				  COLLECTIVE_ALL_REDUCE,
				  phaze->view.parameters[phaze->chunk_first[1]] *
					  problem->sync.reduce_bytes, NULL);
}

/* The estimate does not tell ZeRO stages apart: of those that fit the one that turns
 * out best is taken. */
static void try_degrees(struct phaze *phaze, const struct choice *policy,
			uint32_t data, uint32_t pipeline)
{
	struct attempts *attempts = phaze->attempts;
	struct plan plan = { .chunk_first = phaze->chunk_first };
	double time = INFINITY;
	bool fits = false;

	for (uint32_t zero = 0; zero < 4; zero++) {
		if (!attempts_choose(attempts, policy->shape, data, pipeline, 1, zero,
				     policy->recompute, &plan.choice))
			continue;
		if (stages_slowest(&phaze->stages, pipeline) *
		    (plan.choice.micro_batches + pipeline - 1.0) >= phaze->best)
			return;
		time = estimate(phaze, &plan.choice);
		if (time >= phaze->best)
			return;
		if (attempts->problem->uniform_stages &&
		    !attempts_deal(attempts, &plan.choice, 0, plan.chunk_first))
			return;
		fits |= attempts_place(attempts, &plan.choice, rank_order,
				       &plan.placement) &&
			isfinite(attempts_offer(attempts, &plan));
	}
	if (fits)
		phaze->best = time;
}

/* The work alone, without filling the pipeline: no estimate is below. */
static bool is_hopeless(const struct phaze *phaze, const struct choice *policy)
{
	const struct problem *problem = phaze->attempts->problem;
	const struct problem_shape *shape = &problem->shape[policy->shape];
	double devices = problem->device_count / (shape->tensor * shape->context);

	return phaze->view.time_s[phaze->attempts->length] *
	       (problem->global_batch / shape->micro_batch) / devices >= phaze->best;
}

static void try_policy(struct phaze *phaze, uint32_t shape, enum recompute recompute)
{
	struct attempts *attempts = phaze->attempts;
	const struct space *space = &attempts->space;
	struct choice policy = { .shape = shape, .recompute = recompute,
				 .pipeline = 1, .virtual_stages = 1 };
	struct arena_mark mark = arena_mark(attempts->scratch);

	policy.data = attempts_data(attempts, shape, 1, UINT32_MAX);
	if (!policy.data)
		policy.data = 1;
	if (!view_place(&phaze->view, &policy, rank_order))
		return;
	view_load(&phaze->view, attempts, &policy, 0);
	if (is_hopeless(phaze, &policy))
		return;
	phaze->input = view_stages(&phaze->view, attempts, &policy, false);
	stages_fill(&phaze->stages, &phaze->input,
		    space_pipeline_max(space, shape, 1), attempts->scratch);
	for (uint32_t i = 0; i < space->data_count; i++) {
		uint32_t data = space->data[i];

		if (!space_has_data(space, shape, data))
			continue;
		for (uint32_t p = 1; p <= phaze->stages.most &&
		     p <= space_pipeline_max(space, shape, data) &&
		     !attempts_are_over(attempts); p++)
			try_degrees(phaze, &policy, data, p);
	}
	arena_rewind(attempts->scratch, mark);
}

void strategy_phaze(struct attempts *attempts)
{
	const struct problem *problem = attempts->problem;
	struct phaze phaze = { .attempts = attempts };

	phaze.chunk_first = ARENA_ARRAY(attempts->scratch, uint32_t,
					attempts->length + 1);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		view_flat(&phaze.view, attempts, l);
		phaze.best = INFINITY;
		for (uint32_t i = 0; i < problem->shape_count; i++)
			for (int r = 0; r < RECOMPUTE_COUNT; r++)
				if (problem->recompute[r] &&
				    !attempts_are_over(attempts))
					try_policy(&phaze, i, (enum recompute)r);
	}
}

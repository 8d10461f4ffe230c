/* SPDX-License-Identifier: MIT
 *
 * The independent checker. It recomputes a plan from the problem: the legality
 * of its degrees, placement and cut, its schedule as a longest path over the
 * graph of operations, every collective from the formulas in network.h, memory,
 * breakdown and requirements. It shares no code with what found the plan.
 */
#include "solver/feasible.h"

#include <math.h>
#include <string.h>

#include "solver/feasible_check.h"

static void fill_outcome(const struct check *c, double *value)
{
	const struct plan *plan = c->plan;
	double dollars_per_s = 0, watts = 0;
	bool uniform = true;

	for (uint32_t k = 1; k < plan->choice.pipeline; k++)
		uniform = uniform && plan->stage[k].layers == plan->stage[0].layers;
	value[VARIABLE_TIME] = plan->time_s;
	value[VARIABLE_MEMORY] = plan->memory_peak_bytes;
	value[VARIABLE_BUBBLE] = plan->time_s > 0 ?
		plan->breakdown.bubble_s / plan->time_s : 0;
	for (uint32_t s = 0; s < c->site_count; s++) {
		const struct site *site = &c->site[s];
		double devices = site->replicas * c->shape->tensor *
				 site->degree[DIMENSION_PIPELINE];

		dollars_per_s += devices * site->problem->device_dollars_per_s;
		watts += devices * site->problem->device_watts;
	}
	value[VARIABLE_COST] = plan->time_s * dollars_per_s;
	value[VARIABLE_ENERGY] = plan->time_s * watts;
	value[VARIABLE_STAGES_UNIFORM] = uniform;
}

static void fill_choice(const struct check *c, double *value)
{
	const struct choice *choice = &c->plan->choice;
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < c->layer_count; i++)
		blocks += c->problem->class_is_block[c->class_of[i]];
	value[VARIABLE_TENSOR] = c->shape->tensor;
	value[VARIABLE_SEQUENCE] = c->shape->sequence;
	value[VARIABLE_CONTEXT] = c->shape->context;
	value[VARIABLE_EXPERT] = c->shape->expert;
	value[VARIABLE_EXPERT_TENSOR] = c->shape->expert_tensor;
	value[VARIABLE_DATA] = choice->data;
	value[VARIABLE_PIPELINE] = choice->pipeline;
	value[VARIABLE_VIRTUAL] = choice->virtual_stages;
	value[VARIABLE_MICRO_BATCH] = c->shape->micro_batch;
	value[VARIABLE_MICRO_BATCHES] = choice->micro_batches;
	value[VARIABLE_ZERO] = choice->zero;
	value[VARIABLE_RECOMPUTE] = choice->recompute;
	if (choice->recompute == RECOMPUTE_FULL)
		value[VARIABLE_RECOMPUTE_LAYERS] = choice->recompute_layers ?
			choice->recompute_layers : blocks;
	value[VARIABLE_SCHEDULE] = choice->schedule;
	value[VARIABLE_SHARD_LEVEL] = choice->shard_level;
	value[VARIABLE_DEVICES] = c->plan->devices;
}

static bool requirements_hold(struct check *c, const struct problem *problem,
			      const struct predicate_input *input)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double truth = predicate_evaluate(&problem->requirement[i],
						  input);

		if (isnan(truth) || truth == 0) {
			text_printf(c->reason, "requirement %u does not hold", i);
			return false;
		}
	}
	return true;
}

/* The stated outcome is used: feasible_compare has found it right, and a search
 * that meets a bound exactly must not fail here by a rounding. */
static bool check_requirements(struct check *c)
{
	struct predicate_input input = { .stage_count = c->plan->choice.pipeline };
	uint32_t *layers = ARENA_ARRAY(c->scratch, uint32_t, input.stage_count);

	for (uint32_t k = 0; k < input.stage_count; k++)
		layers[k] = c->stage[k].layers;
	input.stage_layers = layers;
	fill_choice(c, input.value);
	fill_outcome(c, input.value);
	for (uint32_t s = 0; s < c->site_count; s++)
		if (!requirements_hold(c, c->site[s].problem, &input))
			return false;
	return true;
}

/* A plan on one kind of devices is a plan of that kind's problem. */
static bool choose_problem(struct check *c)
{
	const struct plan *plan = c->plan;

	if (plan->segment_count != 1)
		return true;
	if (plan->segment[0].kind >= c->problem->kind_count ||
	    plan->segment[0].ranks != plan->choice.pipeline ||
	    memcmp(&plan->segment[0].placement, &plan->placement,
		   sizeof(plan->placement)) != 0) {
		text_append(c->reason, "a segment that is not the whole plan");
		return false;
	}
	c->problem = c->problem->kind[plan->segment[0].kind];
	return true;
}

bool feasible_check(const struct problem *problem, const struct plan *plan,
		    struct arena *scratch, struct text *reason)
{
	struct check c = { .problem = problem, .plan = plan,
			   .scratch = scratch, .reason = reason };

	if (!choose_problem(&c) || !feasible_degrees(&c) ||
	    !feasible_placement(&c) || !feasible_cut(&c) || !feasible_route(&c))
		return false;
	feasible_price_layers(&c);
	if (!feasible_run_schedule(&c))
		return false;
	feasible_price_memory(&c);
	return feasible_compare(&c) && check_requirements(&c);
}

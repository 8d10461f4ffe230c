/* SPDX-License-Identifier: MIT
 *
 * The oracle: requirements, objectives, and the order among plans.
 */
#include "tests/prop/brute_parts.h"

#include <math.h>
#include <string.h>

static void fill_variables(const struct brute_pricing *pricing,
			   struct predicate_input *input)
{
	const struct problem *problem = pricing->problem;
	const struct brute_plan *plan = pricing->plan;
	const struct choice *choice = &plan->choice;
	double *value = input->value;
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < pricing->layer_count; i++)
		blocks += problem->class_is_block[pricing->layer_class[i]];
	memset(input, 0, sizeof(*input));
	value[VARIABLE_TENSOR] = pricing->shape->tensor;
	value[VARIABLE_SEQUENCE] = pricing->shape->sequence;
	value[VARIABLE_CONTEXT] = pricing->shape->context;
	value[VARIABLE_EXPERT] = pricing->shape->expert;
	value[VARIABLE_EXPERT_TENSOR] = pricing->shape->expert_tensor;
	value[VARIABLE_DATA] = choice->data;
	value[VARIABLE_PIPELINE] = choice->pipeline;
	value[VARIABLE_VIRTUAL] = choice->virtual_stages;
	value[VARIABLE_MICRO_BATCH] = pricing->shape->micro_batch;
	value[VARIABLE_MICRO_BATCHES] = choice->micro_batches;
	value[VARIABLE_ZERO] = choice->zero;
	value[VARIABLE_RECOMPUTE] = choice->recompute;
	if (choice->recompute == RECOMPUTE_FULL)
		value[VARIABLE_RECOMPUTE_LAYERS] = choice->recompute_layers > 0 ?
			choice->recompute_layers : blocks;
	value[VARIABLE_SCHEDULE] = choice->schedule;
	value[VARIABLE_SHARD_LEVEL] = choice->shard_level;
	value[VARIABLE_DEVICES] = plan->devices;
	value[VARIABLE_TIME] = plan->time_s;
	value[VARIABLE_MEMORY] = plan->peak_bytes;
	value[VARIABLE_BUBBLE] = plan->bubble;
	value[VARIABLE_COST] = plan->devices * plan->time_s *
			       problem->device_dollars_per_s;
	value[VARIABLE_ENERGY] = plan->devices * plan->time_s *
				 problem->device_watts;
	value[VARIABLE_STAGES_UNIFORM] = 1;
	for (uint32_t k = 1; k < choice->pipeline; k++)
		if (plan->stage_layers[k] != plan->stage_layers[0])
			value[VARIABLE_STAGES_UNIFORM] = 0;
	input->stage_layers = plan->stage_layers;
	input->stage_count = choice->pipeline;
}

static bool requirements_hold(const struct problem *problem,
			      const struct predicate_input *input)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double truth = predicate_evaluate(&problem->requirement[i],
						  input);

		if (truth == 0 || isnan(truth))
			return false;
	}
	return true;
}

/* Prices, evaluates the objectives; whether the requirements hold. */
bool brute_judge(struct brute_pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	struct predicate_input input;

	brute_price_cut(pricing);
	fill_variables(pricing, &input);
	plan->objective[0] = plan->time_s;
	for (uint32_t i = 0; i < problem->objective_count; i++)
		plan->objective[i] = predicate_evaluate(&problem->objective[i],
							&input);
	return requirements_hold(problem, &input);
}

bool brute_price(const struct problem *problem, struct brute_plan *plan)
{
	struct brute_pricing pricing = {
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
	};
	struct brute_expert_parts dealt;
	uint32_t degree[DIMENSION_COUNT] = {
		pricing.shape->tensor, pricing.shape->context,
		plan->choice.data, plan->choice.pipeline,
	};

	if (plan->placement.packing == PACKING_FACTORS ?
	    !brute_deal_experts(problem, pricing.shape, &plan->placement, &dealt) ||
	    !brute_has_room(problem, &plan->placement, plan->choice.pipeline) :
	    !brute_lay(problem, &plan->placement, degree, plan->device) ||
	    !brute_keeps_rules(problem, degree, plan->device))
		return false;
	brute_unroll(&pricing);
	brute_price_placement(&pricing);
	return brute_judge(&pricing) &&
	       plan->peak_bytes <= problem->memory.limit_bytes;
}

/* Compact placements first: the larger factor at the inner level. */
static int compare_placement(const struct placement *a,
			     const struct placement *b, uint32_t levels)
{
	if (a->packing != b->packing)
		return a->packing < b->packing ? -1 : 1;
	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < levels; l++)
			if (a->factor[d][l] != b->factor[d][l])
				return a->factor[d][l] > b->factor[d][l] ? -1 : 1;
	if (a->aligned != b->aligned)
		return a->aligned < b->aligned ? -1 : 1;
	return 0;
}

int brute_compare(const struct problem *problem, const struct brute_plan *a,
		  const struct brute_plan *b)
{
	const struct problem_shape *s = &problem->shape[a->choice.shape];
	const struct problem_shape *t = &problem->shape[b->choice.shape];
	const double key[][2] = {
		{ a->peak_bytes, b->peak_bytes },
		{ a->devices, b->devices },
		{ s->tensor, t->tensor },
		{ s->context, t->context },
		{ s->expert, t->expert },
		{ s->expert_tensor, t->expert_tensor },
		{ a->choice.pipeline, b->choice.pipeline },
		{ a->choice.virtual_stages, b->choice.virtual_stages },
		{ s->micro_batch, t->micro_batch },
		{ a->choice.zero, b->choice.zero },
		{ a->choice.shard_level, b->choice.shard_level },
		{ a->choice.recompute, b->choice.recompute },
		{ a->choice.recompute_layers, b->choice.recompute_layers },
		{ a->choice.schedule, b->choice.schedule },
		{ a->choice.shape, b->choice.shape },
	};
	uint32_t objectives = problem->objective_count ?
			      problem->objective_count : 1;

	for (uint32_t i = 0; i < objectives; i++)
		if (a->objective[i] != b->objective[i])
			return a->objective[i] < b->objective[i] ? -1 : 1;
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	return compare_placement(&a->placement, &b->placement,
				 problem->level_count);
}


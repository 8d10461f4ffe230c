/* SPDX-License-Identifier: MIT
 *
 * Comparing plans, and bounds with plans.
 */
#include "solver/incumbent.h"

#include <math.h>
#include <string.h>

#include "solver/placement.h"

void incumbent_init(struct incumbent *incumbent, const struct problem *problem,
		    struct arena *arena)
{
	const struct predicate *first = problem->objective;

	*incumbent = (struct incumbent){ .problem = problem, .arena = arena };
	incumbent->time_only =
		!problem->objective_count ||
		(problem->objective_count == 1 && first->step_count == 1 &&
		 first->step[0].op == PREDICATE_VARIABLE &&
		 first->step[0].variable == VARIABLE_TIME);
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		incumbent->outcomes |= problem->requirement[i].needs_outcome;
	incumbent->block_count = problem_block_count(problem);
}

/* -1, 0, 1: less, equal within TIE, greater. */
static int compare(double a, double b)
{
	double slack = TIE * (fabs(a) > fabs(b) ? fabs(a) : fabs(b));

	if (isinf(slack))
		return a < b ? -1 : a > b;
	return a < b - slack ? -1 : a > b + slack;
}

/* Compares as far as the bound is known; 0: nothing decides. */
static int compare_merit(const struct merit *bound, const struct merit *merit)
{
	int order;

	for (uint32_t i = 0; i < bound->objective_count; i++) {
		order = compare(bound->objective[i], merit->objective[i]);
		if (order)
			return order;
	}
	if (bound->objective_count < merit->objective_count)
		return 0;
	order = compare(bound->memory_bytes, merit->memory_bytes);
	if (order)
		return order;
	for (uint32_t i = 0; i < bound->tie_count; i++)
		if (bound->tie[i] != merit->tie[i])
			return bound->tie[i] < merit->tie[i] ? -1 : 1;
	return 0;
}

/* A whole tie down to the configuration is left to the order of placements,
 * which is settled at the end. */
bool incumbent_excludes(const struct incumbent *incumbent,
			const struct merit *bound)
{
	int order;

	if (!incumbent->found)
		return false;
	order = compare_merit(bound, &incumbent->merit);
	return order > 0 || (order == 0 && bound->tie_count == TIE_COUNT);
}

double incumbent_time_most(const struct incumbent *incumbent)
{
	if (!incumbent->found || !incumbent->time_only)
		return INFINITY;
	return incumbent->merit.objective[0] * (1 + 2 * TIE);
}

bool incumbent_equals(const struct incumbent *incumbent,
		      const struct merit *merit)
{
	return incumbent->found && !compare_merit(merit, &incumbent->merit);
}

static void fill_ties(const struct problem *problem, const struct choice *choice,
		      uint32_t count, uint32_t tie[TIE_COUNT])
{
	const struct problem_shape *shape = &problem->shape[choice->shape];
	uint32_t members = shape->tensor * shape->context;

	tie[TIE_DEVICES] = members * choice->data * choice->pipeline;
	tie[TIE_TENSOR] = shape->tensor;
	tie[TIE_CONTEXT] = shape->context;
	tie[TIE_EXPERT] = shape->expert;
	tie[TIE_EXPERT_TENSOR] = shape->expert_tensor;
	if (count <= TIE_PIPELINE)
		return;
	tie[TIE_PIPELINE] = choice->pipeline;
	tie[TIE_VIRTUAL] = choice->virtual_stages;
	tie[TIE_MICRO_BATCH] = shape->micro_batch;
	tie[TIE_ZERO] = choice->zero;
	tie[TIE_SHARD_LEVEL] = choice->shard_level;
	tie[TIE_RECOMPUTE] = choice->recompute;
	tie[TIE_RECOMPUTE_LAYERS] = choice->recompute_layers;
	tie[TIE_SCHEDULE] = choice->schedule;
	tie[TIE_SHAPE] = choice->shape;
}

static struct range range_from(double low)
{
	return range_between(low, INFINITY);
}

static uint32_t recompute_layers_most(const struct incumbent *incumbent)
{
	const struct problem_domain *layers =
		&incumbent->problem->recompute_layers;

	if (layers->count &&
	    layers->at[layers->count - 1] > incumbent->block_count)
		return layers->at[layers->count - 1];
	return incumbent->block_count;
}

static void static_ranges(const struct incumbent *incumbent,
			  const struct outlook *outlook, struct range *value)
{
	const struct problem *problem = incumbent->problem;
	const struct choice *choice = outlook->choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	double members = (double)shape->tensor * shape->context;
	double devices = members;

	value[VARIABLE_TENSOR] = range_point(shape->tensor);
	value[VARIABLE_SEQUENCE] = range_point(shape->sequence);
	value[VARIABLE_CONTEXT] = range_point(shape->context);
	value[VARIABLE_EXPERT] = range_point(shape->expert);
	value[VARIABLE_EXPERT_TENSOR] = range_point(shape->expert_tensor);
	value[VARIABLE_MICRO_BATCH] = range_point(shape->micro_batch);
	value[VARIABLE_DATA] = range_between(1, problem->device_count);
	value[VARIABLE_MICRO_BATCHES] = range_between(1, problem->global_batch);
	value[VARIABLE_PIPELINE] = range_between(1, CHAIN_MAX);
	value[VARIABLE_VIRTUAL] = range_between(1, CHAIN_MAX);
	value[VARIABLE_ZERO] = range_between(0, 3);
	value[VARIABLE_RECOMPUTE] = range_between(0, RECOMPUTE_COUNT - 1);
	value[VARIABLE_RECOMPUTE_LAYERS] =
		range_between(0, recompute_layers_most(incumbent));
	value[VARIABLE_SCHEDULE] = range_between(0, SCHEDULE_COUNT - 1);
	value[VARIABLE_SHARD_LEVEL] = range_between(0, LEVEL_MAX - 1);
	if (outlook->known >= OUTLOOK_DATA) {
		devices *= choice->data;
		value[VARIABLE_DATA] = range_point(choice->data);
		value[VARIABLE_MICRO_BATCHES] = range_point(choice->micro_batches);
	}
	value[VARIABLE_DEVICES] = range_between(devices, problem->device_count);
	if (outlook->known >= OUTLOOK_DEGREES) {
		value[VARIABLE_PIPELINE] = range_point(choice->pipeline);
		value[VARIABLE_VIRTUAL] = range_point(choice->virtual_stages);
		value[VARIABLE_SCHEDULE] = range_point(choice->schedule);
		value[VARIABLE_DEVICES] = range_point(devices * choice->pipeline);
	}
	if (outlook->known >= OUTLOOK_ALL) {
		bool full = choice->recompute == RECOMPUTE_FULL;

		value[VARIABLE_ZERO] = range_point(choice->zero);
		value[VARIABLE_RECOMPUTE] = range_point(choice->recompute);
		value[VARIABLE_RECOMPUTE_LAYERS] = range_point(
			!full			 ? 0 :
			choice->recompute_layers ? choice->recompute_layers :
						   incumbent->block_count);
		value[VARIABLE_SHARD_LEVEL] = range_point(choice->shard_level);
	}
}

void outlook_ranges(const struct incumbent *incumbent,
		    const struct outlook *outlook, struct range_input *input)
{
	const struct problem *problem = incumbent->problem;
	struct range *value = input->value;
	double device_s = outlook->device_s, devices_least;

	static_ranges(incumbent, outlook, value);
	devices_least = value[VARIABLE_DEVICES].low;
	if (devices_least * outlook->time_s > device_s)
		device_s = devices_least * outlook->time_s;
	value[VARIABLE_TIME] = range_from(outlook->time_s);
	value[VARIABLE_MEMORY] = range_from(outlook->memory_bytes);
	value[VARIABLE_BUBBLE] = range_between(0, 1);
	/* A little lower: the priced plan may round otherwise. */
	value[VARIABLE_COST] = range_from(device_s * (1 - TIE) *
					  problem->device_dollars_per_s);
	value[VARIABLE_ENERGY] = range_from(device_s * (1 - TIE) *
					    problem->device_watts);
	value[VARIABLE_TIME].low *= 1 - TIE;
	value[VARIABLE_MEMORY].low *= 1 - TIE;
	value[VARIABLE_STAGE_LAYERS] = range_between(0, incumbent->block_count);
	value[VARIABLE_STAGES_UNIFORM] = range_between(0, 1);
	input->stage_layers = NULL;
	input->stages_known = outlook->known >= OUTLOOK_DEGREES;
	input->stage_count = input->stages_known ? outlook->choice->pipeline : 0;
}

/* A configuration's own variables are points: what they decide is evaluated
 * as it stands, NaN included. */
static bool holds_at_point(const struct predicate *requirement,
			   const struct range_input *input)
{
	struct predicate_input point = { .stage_layers = NULL };
	double value;

	for (int i = 0; i < VARIABLE_TIME; i++)
		point.value[i] = input->value[i].low;
	value = predicate_evaluate(requirement, &point);
	return value != 0 && !isnan(value);
}

enum certainty outlook_requirement(const struct outlook *outlook,
				   const struct predicate *requirement,
				   const struct range_input *input)
{
	struct range range;

	if (outlook->known == OUTLOOK_ALL && !requirement->needs_outcome)
		return holds_at_point(requirement, input) ? CERTAINLY_TRUE :
							    CERTAINLY_FALSE;
	range = range_evaluate(requirement, input);
	if (range_is_false(range))
		return CERTAINLY_FALSE;
	return range_is_true(range) ? CERTAINLY_TRUE : UNCERTAIN;
}

void outlook_merit(const struct incumbent *incumbent,
		   const struct outlook *outlook, struct merit *merit)
{
	const struct problem *problem = incumbent->problem;
	struct range_input input;

	merit->memory_bytes = outlook->memory_bytes;
	merit->tie_count = outlook->known == OUTLOOK_ALL ? TIE_COUNT :
			   outlook->known == OUTLOOK_DEGREES ? TIE_PIPELINE : 0;
	if (merit->tie_count)
		fill_ties(problem, outlook->choice, merit->tie_count, merit->tie);
	if (incumbent->time_only) {
		merit->objective_count = 1;
		merit->objective[0] = outlook->time_s;
		return;
	}
	outlook_ranges(incumbent, outlook, &input);
	merit->objective_count = problem->objective_count;
	for (uint32_t i = 0; i < problem->objective_count; i++)
		merit->objective[i] =
			range_evaluate(&problem->objective[i], &input).low;
}

void plan_merit(const struct incumbent *incumbent, const struct plan *plan,
		const struct predicate_input *input, struct merit *merit)
{
	const struct problem *problem = incumbent->problem;

	merit->memory_bytes = plan->memory_peak_bytes;
	merit->tie_count = TIE_COUNT;
	fill_ties(problem, &plan->choice, TIE_COUNT, merit->tie);
	if (incumbent->time_only) {
		merit->objective_count = 1;
		merit->objective[0] = isnan(plan->time_s) ? INFINITY :
							    plan->time_s;
		return;
	}
	merit->objective_count = problem->objective_count;
	for (uint32_t i = 0; i < problem->objective_count; i++) {
		double value = predicate_evaluate(&problem->objective[i], input);

		merit->objective[i] = isnan(value) ? INFINITY : value;
	}
}

static void take(struct incumbent *incumbent, const struct plan *plan,
		 const struct merit *merit)
{
	size_t entries = (size_t)plan->chunk_count + 1;
	uint32_t *chunk_first = incumbent->plan.chunk_first;

	if (!incumbent->found || incumbent->plan.chunk_count < plan->chunk_count)
		chunk_first = ARENA_ARRAY(incumbent->arena, uint32_t, entries);
	memcpy(chunk_first, plan->chunk_first, entries * sizeof(*chunk_first));
	incumbent->found = true;
	incumbent->merit = *merit;
	incumbent->plan = (struct plan){
		.choice = plan->choice,
		.placement = plan->placement,
		.segment_count = plan->segment_count,
		.chunk_count = plan->chunk_count,
		.chunk_first = chunk_first,
	};
	memcpy(incumbent->plan.segment, plan->segment,
	       sizeof(incumbent->plan.segment));
}

bool incumbent_offer(struct incumbent *incumbent, const struct plan *plan,
		     const struct merit *merit)
{
	int order = incumbent->found ?
		compare_merit(merit, &incumbent->merit) : -1;

	if (order > 0)
		return false;
	if (order == 0 && !placement_before(&plan->placement,
					    &incumbent->plan.placement))
		return false;
	take(incumbent, plan, merit);
	return true;
}

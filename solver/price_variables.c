/* SPDX-License-Identifier: MIT
 *
 * A priced plan as requirements and objectives see it.
 */
#include "solver/price.h"

#include <math.h>

#include "solver/mixed.h"

void price_variables(const struct problem *problem, const struct plan *plan,
		     struct arena *arena, struct predicate_input *input)
{
	const struct choice *choice = &plan->choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	double *value = input->value;
	double device_s = plan->time_s * plan->devices;
	struct mixed_rate rate = mixed_rate(problem, plan);
	uint32_t p = choice->pipeline;
	uint32_t *layers = ARENA_ARRAY(arena, uint32_t, p);
	bool uniform = true;

	for (uint32_t k = 0; k < p; k++) {
		layers[k] = plan->stage[k].layers;
		uniform &= layers[k] == layers[0];
	}
	value[VARIABLE_TENSOR] = shape->tensor;
	value[VARIABLE_SEQUENCE] = shape->sequence;
	value[VARIABLE_CONTEXT] = shape->context;
	value[VARIABLE_EXPERT] = shape->expert;
	value[VARIABLE_EXPERT_TENSOR] = shape->expert_tensor;
	value[VARIABLE_DATA] = choice->data;
	value[VARIABLE_PIPELINE] = p;
	value[VARIABLE_VIRTUAL] = choice->virtual_stages;
	value[VARIABLE_MICRO_BATCH] = shape->micro_batch;
	value[VARIABLE_MICRO_BATCHES] = choice->micro_batches;
	value[VARIABLE_ZERO] = choice->zero;
	value[VARIABLE_RECOMPUTE] = choice->recompute;
	value[VARIABLE_RECOMPUTE_LAYERS] =
		choice->recompute != RECOMPUTE_FULL ? 0 :
		choice->recompute_layers	    ? choice->recompute_layers :
						      problem_block_count(problem);
	value[VARIABLE_SCHEDULE] = choice->schedule;
	value[VARIABLE_SHARD_LEVEL] = choice->shard_level;
	value[VARIABLE_DEVICES] = plan->devices;
	value[VARIABLE_TIME] = plan->time_s;
	value[VARIABLE_MEMORY] = plan->memory_peak_bytes;
	value[VARIABLE_BUBBLE] = plan->time_s > 0 ?
		plan->breakdown.bubble_s / plan->time_s : 0;
	value[VARIABLE_COST] = device_s * rate.dollars_per_s;
	value[VARIABLE_ENERGY] = device_s * rate.watts;
	value[VARIABLE_STAGE_LAYERS] = NAN;
	value[VARIABLE_STAGES_UNIFORM] = uniform;
	input->stage_layers = layers;
	input->stage_count = p;
}

/* SPDX-License-Identifier: MIT
 *
 * Degrees, policies and times of a plan as JSON.
 */
#include "compiler/plan_json.h"

#include <math.h>

#include "compiler/describe.h"
#include "compiler/job_names.h"
#include "compiler/json_set.h"
#include "compiler/time_terms.h"

json_t *plan_json_number(double value)
{
	if (fabs(value) < 9e15 && value == (double)(json_int_t)value)
		return json_integer((json_int_t)value);
	return json_real(value);
}

json_t *plan_json_choice(const struct problem *problem, const struct plan *plan)
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	const struct choice *choice = &plan->choice;
	const char *schedule = choice->schedule == SCHEDULE_1F1B ?
				       "1f1b" : schedule_name(choice->schedule);

	return json_pack(
		"{s:I,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:s,s:I,s:I,s:s,s:I}",
		"tensor", (json_int_t)shape->tensor, "sequence", shape->sequence,
		"context", (json_int_t)shape->context,
		"expert", (json_int_t)shape->expert,
		"expert_tensor", (json_int_t)shape->expert_tensor,
		"data", (json_int_t)choice->data,
		"pipeline", (json_int_t)choice->pipeline,
		"virtual", (json_int_t)choice->virtual_stages,
		"micro_batch", (json_int_t)shape->micro_batch,
		"micro_batches", (json_int_t)choice->micro_batches,
		"zero", (json_int_t)choice->zero,
		"recompute", recompute_name(choice->recompute),
		"devices", (json_int_t)plan->devices,
		"recompute_layers_per_chunk",
		(json_int_t)variable_of_plan(VARIABLE_RECOMPUTE_LAYERS, problem,
					     plan),
		"schedule", schedule,
		"shard_level", (json_int_t)choice->shard_level);
}

json_t *plan_json_breakdown(const struct breakdown *breakdown)
{
	json_t *object = json_object();

	for (int i = 0; i < TIME_TERM_COUNT; i++)
		json_set(object, time_term_key((enum time_term)i),
			 plan_json_number(time_term_s(breakdown,
						      (enum time_term)i)));
	return object;
}

static json_t *memory_json(const struct stage_memory *memory)
{
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f}",
			 "parameters", memory->parameters,
			 "gradients", memory->gradients,
			 "optimizer", memory->optimizer,
			 "activations", memory->activations,
			 "working", memory->working,
			 "reserve", memory->reserve);
}

json_t *plan_json_priced(const struct problem *problem, const struct plan *plan)
{
	const struct certificate *certificate = &plan->certificate;
	json_t *object = json_object();

	json_set(object, "parallelism", plan_json_choice(problem, plan));
	json_set(object, "time", plan_json_number(plan->time_s));
	json_set(object, "breakdown", plan_json_breakdown(&plan->breakdown));
	json_set(object, "memory", plan_json_number(plan->memory_peak_bytes));
	json_set(object, "memory_breakdown",
		 memory_json(&plan->stage[plan->memory_peak_stage].memory));
	json_set(object, "value", plan_json_number(certificate->value));
	json_set(object, "lower_bound",
		 plan_json_number(certificate->lower_bound));
	json_set(object, "gap", plan_json_number(certificate->gap));
	return object;
}

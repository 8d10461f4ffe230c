/* SPDX-License-Identifier: MIT
 *
 * The independent checker: the memory of every device.
 */
#include "solver/feasible_check.h"

#include <math.h>

/* Replays a device's operations: forwards keep, backwards free. The peak of
 * bytes is taken over counts of micro-batches held, not running sums. */
static double replay_activations(struct check *c, uint32_t k)
{
	const struct choice *choice = &c->plan->choice;
	struct arena_mark mark = arena_mark(c->scratch);
	uint32_t v = choice->virtual_stages;
	uint64_t length = (uint64_t)2 * choice->micro_batches * v;
	double *saved_bytes = ARENA_ARRAY(c->scratch, double, v);
	uint32_t *held = ARENA_ARRAY(c->scratch, uint32_t, v);
	double peak_bytes = 0;

	for (uint32_t i = 0; i < c->layer_count; i++)
		if (c->chunk_of[i] % choice->pipeline == k)
			saved_bytes[c->chunk_of[i] / choice->pipeline] +=
				feasible_cost_of(c, i)->saved_bytes;
	for (uint64_t q = 0; q < length; q++) {
		struct feasible_operation o = feasible_operation(choice, k, q);
		double now_bytes = 0;

		if (o.backward) {
			held[o.chunk]--;
			continue;
		}
		held[o.chunk]++;
		for (uint32_t j = 0; j < v; j++)
			now_bytes += held[j] * saved_bytes[j];
		peak_bytes = fmax(peak_bytes, now_bytes);
	}
	arena_rewind(c->scratch, mark);
	return peak_bytes;
}

void feasible_price_memory(struct check *c)
{
	const struct problem_memory *memory = &c->problem->memory;
	double groups = (c->degree[DIMENSION_TENSOR] > 1) +
			(c->degree[DIMENSION_CONTEXT] > 1) + (c->replicas > 1) +
			(c->degree[DIMENSION_PIPELINE] > 1);

	if (c->shape->expert > 1 || c->shape->expert_tensor > 1)
		groups += (c->shape->expert > 1) + (c->shape->expert_tensor > 1) +
			  (c->expert_replicas > 1);
	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct stage_cost *stage = &c->stage[k];
		struct stage_memory *part = &stage->memory;

		part->parameters = stage->parameters * memory->weight_bytes;
		part->gradients = stage->parameters * memory->gradient_bytes;
		part->optimizer = feasible_sharded_parameters(c, stage) *
				  memory->optimizer_bytes;
		part->activations = replay_activations(c, k);
		part->reserve = memory->reserve_bytes +
				groups * memory->group_bytes;
		part->total = part->parameters + part->gradients +
			      part->optimizer + part->activations +
			      part->working + part->reserve;
		c->peak_bytes = fmax(c->peak_bytes, part->total);
	}
}

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

/* Elements of the two layers of device k that have most of what is scattered
 * over more than one shard. */
static double two_layers(const struct check *c, uint32_t k)
{
	double most = 0, second = 0;

	for (uint32_t i = 0; i < c->layer_count; i++) {
		const struct problem_weight *weight = feasible_weight_of(c, i);
		double elements = 0;

		if (c->chunk_of[i] % c->plan->choice.pipeline != k)
			continue;
		if (c->shards > 1)
			elements += weight->parameters;
		if (c->expert_shards > 1)
			elements += weight->expert_parameters;
		second = fmax(second, fmin(most, elements));
		most = fmax(most, elements);
	}
	return most + second;
}

/* Groups of more than one that every device is in. */
static double count_groups(const struct check *c)
{
	bool experts = c->shape->expert > 1 || c->shape->expert_tensor > 1;
	double groups = (c->degree[DIMENSION_TENSOR] > 1) +
			(c->degree[DIMENSION_CONTEXT] > 1) + (c->replicas > 1) +
			(c->degree[DIMENSION_PIPELINE] > 1);

	if (experts)
		groups += (c->shape->expert > 1) + (c->shape->expert_tensor > 1) +
			  (c->expert_replicas > 1);
	if (c->plan->choice.shard_level == 0)
		return groups;
	groups += (c->shards > 1) + (c->replicas / c->shards > 1);
	if (experts)
		groups += (c->expert_shards > 1) +
			  (c->expert_replicas / c->expert_shards > 1);
	return groups;
}

void feasible_price_memory(struct check *c)
{
	const struct problem_memory *memory = &c->problem->memory;
	uint32_t zero = c->plan->choice.zero;
	double whole_bytes = (zero >= 2 ? memory->gradient_bytes : 0) +
			     (zero >= 3 ? memory->weight_bytes : 0);
	double groups = count_groups(c);

	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct stage_cost *stage = &c->stage[k];
		struct stage_memory *part = &stage->memory;

		part->parameters = feasible_held(c, stage, 3) *
				   memory->weight_bytes;
		part->gradients = feasible_held(c, stage, 2) *
				  memory->gradient_bytes;
		part->optimizer = feasible_held(c, stage, 1) *
				  memory->optimizer_bytes;
		part->working += two_layers(c, k) * whole_bytes;
		part->activations = replay_activations(c, k);
		part->reserve = memory->reserve_bytes +
				groups * memory->group_bytes;
		part->total = part->parameters + part->gradients +
			      part->optimizer + part->activations +
			      part->working + part->reserve;
		c->peak_bytes = fmax(c->peak_bytes, part->total);
	}
}

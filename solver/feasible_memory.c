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
static double two_layers(const struct check *c, const struct site *site,
			 uint32_t k)
{
	double most = 0, second = 0;

	for (uint32_t i = 0; i < c->layer_count; i++) {
		const struct problem_weight *weight = feasible_weight_of(c, i);
		double elements = 0;

		if (c->chunk_of[i] % c->plan->choice.pipeline != k)
			continue;
		if (site->shards > 1)
			elements += weight->parameters;
		if (site->expert_shards > 1)
			elements += weight->expert_parameters;
		second = fmax(second, fmin(most, elements));
		most = fmax(most, elements);
	}
	return most + second;
}

/* Groups of more than one that every device of a site is in. */
static double count_groups(const struct site *site)
{
	const struct problem_shape *shape = site->shape;
	bool experts = shape->expert > 1 || shape->expert_tensor > 1;
	double groups = (shape->tensor > 1) + (shape->context > 1) +
			(site->replicas > 1) + (site->choice->pipeline > 1);

	if (experts)
		groups += (shape->expert > 1) + (shape->expert_tensor > 1) +
			  (site->expert_replicas > 1);
	if (site->choice->shard_level == 0)
		return groups;
	groups += (site->shards > 1) + (site->replicas / site->shards > 1);
	if (experts)
		groups += (site->expert_shards > 1) +
			  (site->expert_replicas / site->expert_shards > 1);
	return groups;
}

void feasible_price_memory(struct check *c)
{
	uint32_t zero = c->plan->choice.zero;

	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		const struct site *site = feasible_site(c, k);
		const struct problem_memory *memory = &site->problem->memory;
		double whole_bytes = (zero >= 2 ? memory->gradient_bytes : 0) +
				     (zero >= 3 ? memory->weight_bytes : 0);
		struct stage_cost *stage = &c->stage[k];
		struct stage_memory *part = &stage->memory;

		part->parameters = feasible_held(site, stage, 3) *
				   memory->weight_bytes;
		part->gradients = feasible_held(site, stage, 2) *
				  memory->gradient_bytes;
		part->activations = replay_activations(c, k);
		part->working += two_layers(c, site, k) * whole_bytes;
		part->reserve = memory->reserve_bytes +
				count_groups(site) * memory->group_bytes;
		part->total = part->parameters + part->gradients +
			      part->optimizer + part->activations +
			      part->working + part->reserve;
		c->peak_bytes = fmax(c->peak_bytes, part->total);
	}
}

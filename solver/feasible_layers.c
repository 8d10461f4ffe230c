/* SPDX-License-Identifier: MIT
 *
 * The independent checker: what layers and stages cost, from the formulas in
 * price.h.
 */
#include "solver/feasible_check.h"

#include <math.h>

const struct problem_cost *feasible_cost_of(const struct check *c, uint32_t layer)
{
	return problem_cost_at(c->problem, c->plan->choice.shape,
			       c->class_of[layer], c->plan->choice.recompute);
}

const struct problem_weight *feasible_weight_of(const struct check *c,
						uint32_t layer)
{
	return problem_weight_at(c->problem, c->plan->choice.shape,
				 c->class_of[layer]);
}

static void price_class(struct check *c, uint32_t class_index)
{
	struct class_cost *price = &c->class_cost[class_index];
	const struct problem_cost *cost =
		problem_cost_at(c->problem, c->plan->choice.shape, class_index,
				c->plan->choice.recompute);

	price->forward_s = cost->forward_s;
	price->backward_s = cost->backward_s;
	price->compute_s = cost->forward_s + cost->backward_s;
	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&c->problem->collective[cost->collective_first + i];
		double exposed_s = feasible_collective_s(c, collective->kind,
						collective->group,
						collective->bytes) -
				   collective->hidden_s;

		if (exposed_s <= 0)
			continue;
		*(collective->backward ? &price->backward_s :
					 &price->forward_s) += exposed_s;
		*(collective->group == GROUP_TENSOR ? &price->tensor_s :
		  collective->group == GROUP_CONTEXT ? &price->context_s :
						       &price->expert_s) += exposed_s;
	}
}

static void add_layers(struct check *c)
{
	for (uint32_t i = 0; i < c->layer_count; i++) {
		struct stage_cost *stage =
			&c->stage[c->chunk_of[i] % c->plan->choice.pipeline];
		const struct class_cost *price = &c->class_cost[c->class_of[i]];

		stage->layers += c->problem->class_is_block[c->class_of[i]];
		stage->parameters += feasible_weight_of(c, i)->parameters +
				     feasible_weight_of(c, i)->expert_parameters;
		stage->expert_parameters += feasible_weight_of(c, i)->expert_parameters;
		stage->forward_s += price->forward_s;
		stage->backward_s += price->backward_s;
		stage->compute_s += price->compute_s;
		stage->tensor_s += price->tensor_s;
		stage->context_s += price->context_s;
		stage->expert_s += price->expert_s;
		stage->memory.working = fmax(stage->memory.working,
					     feasible_cost_of(c, i)->working_bytes);
	}
}

/* Stores tied weights once where both ends share a device; otherwise gives
 * the two stages and the time of adding up their gradients. */
static double settle_tied(struct check *c, uint32_t *one, uint32_t *other)
{
	uint32_t pipeline = c->plan->choice.pipeline;
	const struct problem_weight *weight;
	uint32_t head = c->layer_count, table = c->layer_count, level;
	double bytes;

	*one = *other = pipeline;
	if (c->problem->tied_class == CLASS_NONE)
		return 0;
	for (uint32_t i = 0; i < c->layer_count; i++) {
		if (c->class_of[i] == c->problem->tied_class)
			head = i;
		if (c->class_of[i] == c->problem->tied_with_class)
			table = i;
	}
	if (head == c->layer_count || table == c->layer_count)
		return 0;
	weight = feasible_weight_of(c, head);
	*one = c->chunk_of[head] % pipeline;
	*other = c->chunk_of[table] % pipeline;
	if (*one == *other) {
		c->stage[*one].parameters -= weight->tied_parameters;
		*one = *other = pipeline;
		return 0;
	}
	bytes = weight->tied_parameters * c->problem->sync.reduce_bytes;
	level = feasible_pipeline_level(c, *one, *other);
	return c->problem->level[level].latency_s + feasible_transfer_s(c, level, bytes);
}

double feasible_sharded_parameters(const struct check *c,
				   const struct stage_cost *stage)
{
	double experts = stage->expert_parameters;

	if (c->plan->choice.zero != 1)
		return stage->parameters;
	return (stage->parameters - experts) / c->replicas +
	       experts / c->expert_replicas;
}

/* A collective over all replicas of a stage's weights, then of its experts. */
static double replicas_s(const struct check *c, enum collective kind,
			 const struct stage_cost *stage, double bytes)
{
	double experts = stage->expert_parameters;

	return feasible_collective_s(c, kind, GROUP_DATA_CONTEXT,
			    (stage->parameters - experts) * bytes) +
	       feasible_collective_s(c, kind, GROUP_EXPERT_DATA, experts * bytes);
}

static void price_updates(struct check *c)
{
	const struct problem_sync *sync = &c->problem->sync;
	bool sharded = c->plan->choice.zero == 1;
	uint32_t one, other;
	double tied_s = settle_tied(c, &one, &other);

	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct stage_cost *stage = &c->stage[k];

		stage->reduce_s = replicas_s(c, sharded ?
			COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE, stage,
			sync->reduce_bytes);
		stage->reduce_exposed_s = fmax(0, stage->reduce_s -
			(sync->overlap_reduce ? stage->backward_s : 0));
		if (k == one || k == other)
			stage->reduce_exposed_s += tied_s;
		if (sharded)
			stage->gather_s = replicas_s(c, COLLECTIVE_ALL_GATHER,
						     stage, sync->gather_bytes);
		stage->gather_exposed_s = fmax(0, stage->gather_s -
			(sync->overlap_gather ? stage->forward_s : 0));
		if (sync->step_bytes > 0)
			stage->step_s = feasible_sharded_parameters(c, stage) *
					sync->step_bytes /
					sync->memory_bandwidth_Bps;
	}
}

void feasible_price_layers(struct check *c)
{
	c->class_cost = ARENA_ARRAY(c->scratch, struct class_cost,
				    c->problem->class_count);
	for (uint32_t i = 0; i < c->problem->class_count; i++)
		price_class(c, i);
	c->stage = ARENA_ARRAY(c->scratch, struct stage_cost,
			       c->plan->choice.pipeline);
	add_layers(c);
	price_updates(c);
}

/* SPDX-License-Identifier: MIT
 *
 * The independent checker: what layers and stages cost, from the formulas in
 * price.h.
 */
#include "solver/feasible_check.h"

#include <math.h>

static uint32_t price_index(uint32_t class_index, enum recompute policy)
{
	return class_index * RECOMPUTE_COUNT + (uint32_t)policy;
}

static const struct site *site_of(const struct check *c, uint32_t layer)
{
	return feasible_site(c, c->chunk_of[layer] % c->plan->choice.pipeline);
}

const struct problem_cost *feasible_cost_of(const struct check *c, uint32_t layer)
{
	return problem_cost_at(site_of(c, layer)->problem,
			       c->plan->choice.shape, c->class_of[layer],
			       c->policy_of[layer]);
}

const struct problem_weight *feasible_weight_of(const struct check *c,
						uint32_t layer)
{
	return problem_weight_at(site_of(c, layer)->problem,
				 c->plan->choice.shape, c->class_of[layer]);
}

const struct class_cost *feasible_price_of(const struct check *c,
					   uint32_t layer)
{
	return &site_of(c, layer)->class_cost[
		price_index(c->class_of[layer], c->policy_of[layer])];
}

/* A collective over replicas of so many elements, then of so many of experts. */
static double replicas_s(const struct site *site, enum collective kind,
			 struct group_part (*part)(const struct site *,
						   enum group),
			 double elements, double experts, double bytes)
{
	return feasible_collective_s(site, kind, part(site, GROUP_DATA_CONTEXT),
				     elements * bytes) +
	       feasible_collective_s(site, kind, part(site, GROUP_EXPERT_DATA),
				     experts * bytes);
}

/* What a layer that takes spare_s still waits for: all of the bare times, and
 * what it cannot hide of the others. */
static double waits_s(double bare_s, double behind_s, double spare_s)
{
	return bare_s + fmax(0, behind_s - spare_s);
}

/* The gathers of ZeRO 3 and the scatters of ZeRO 2 and 3. */
static void price_sharding(const struct site *site, uint32_t class_index,
			   struct class_cost *price)
{
	const struct problem_sync *sync = &site->problem->sync;
	const struct problem_weight *weight = problem_weight_at(site->problem,
		site->choice->shape, class_index);
	uint32_t zero = site->choice->zero;
	double gather_s = 0, scatter_s = 0, forward_s, backward_s;

	if (zero >= 3)
		gather_s = replicas_s(site, COLLECTIVE_ALL_GATHER, feasible_shard,
				      weight->parameters,
				      weight->expert_parameters,
				      sync->gather_bytes);
	if (zero >= 2)
		scatter_s = replicas_s(site, COLLECTIVE_REDUCE_SCATTER,
				       feasible_shard, weight->parameters,
				       weight->expert_parameters,
				       sync->reduce_bytes);
	forward_s = sync->overlap_gather ?
		waits_s(0, gather_s, price->forward_s) : gather_s;
	backward_s = waits_s((sync->overlap_gather ? 0 : gather_s) +
			     (sync->overlap_reduce ? 0 : scatter_s),
			     (sync->overlap_gather ? gather_s : 0) +
			     (sync->overlap_reduce ? scatter_s : 0),
			     price->backward_s);
	price->sharding_s = forward_s + backward_s;
	price->forward_s += forward_s;
	price->backward_s += backward_s;
}

static void price_class(struct site *site, uint32_t class_index,
			enum recompute policy)
{
	struct class_cost *price =
		&site->class_cost[price_index(class_index, policy)];
	const struct problem_cost *cost = problem_cost_at(site->problem,
		site->choice->shape, class_index, policy);

	price->forward_s = cost->forward_s;
	price->backward_s = cost->backward_s;
	price->compute_s = cost->forward_s + cost->backward_s;
	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&site->problem->collective[cost->collective_first + i];
		double taken_s = feasible_collective_s(site, collective->kind,
					feasible_whole(collective->group),
					collective->bytes);
		double exposed_s = fmax(taken_s * collective->slowing,
					taken_s - collective->hidden_s);

		if (exposed_s <= 0)
			continue;
		*(collective->backward ? &price->backward_s :
					 &price->forward_s) += exposed_s;
		*(collective->group == GROUP_TENSOR ? &price->tensor_s :
		  collective->group == GROUP_CONTEXT ? &price->context_s :
						       &price->expert_s) += exposed_s;
	}
	price_sharding(site, class_index, price);
}

static void add_layers(struct check *c)
{
	for (uint32_t i = 0; i < c->layer_count; i++) {
		struct stage_cost *stage =
			&c->stage[c->chunk_of[i] % c->plan->choice.pipeline];
		const struct class_cost *price = feasible_price_of(c, i);

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
		stage->sharding_s += price->sharding_s;
		stage->memory.working = fmax(stage->memory.working,
					     feasible_cost_of(c, i)->working_bytes);
	}
}

/* Latency of the level that a boundary crosses, on the side of rank a. */
static double border_latency_s(const struct check *c, uint32_t a, uint32_t b)
{
	uint32_t level = feasible_border_level(c, a, b);

	return feasible_site(c, a)->problem->level[level].latency_s;
}

/* Stores tied weights once where both ends share a device; otherwise gives
 * the two stages and the time of adding up their gradients. */
static double settle_tied(struct check *c, uint32_t *one, uint32_t *other)
{
	uint32_t pipeline = c->plan->choice.pipeline;
	const struct problem_weight *weight;
	uint32_t head = c->layer_count, table = c->layer_count;
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
	if (c->plan->choice.zero >= 2)
		bytes /= fmin(feasible_site(c, *one)->shards,
			      feasible_site(c, *other)->shards);
	if (c->routed)
		return feasible_routed_tied_s(c, bytes);
	return fmax(border_latency_s(c, *one, *other),
		    border_latency_s(c, *other, *one)) +
	       feasible_send_s(c, *one, *other, bytes);
}

double feasible_held(const struct site *site, const struct stage_cost *cost,
		     uint32_t stage)
{
	double experts = cost->expert_parameters;

	if (site->choice->zero < stage)
		return cost->parameters;
	return (cost->parameters - experts) / site->shards +
	       experts / site->expert_shards;
}

static void price_reduction(const struct site *site, struct stage_cost *stage)
{
	double bytes = site->problem->sync.reduce_bytes;
	double experts = stage->expert_parameters;
	double elements = stage->parameters - experts;

	if (site->choice->zero == 0) {
		stage->reduce_s = replicas_s(site, COLLECTIVE_ALL_REDUCE,
					     feasible_all, elements, experts,
					     bytes);
		return;
	}
	if (site->choice->zero == 1)
		stage->reduce_s = replicas_s(site, COLLECTIVE_REDUCE_SCATTER,
					     feasible_shard, elements, experts,
					     bytes);
	stage->reduce_s += replicas_s(site, COLLECTIVE_ALL_REDUCE, feasible_rest,
				      elements / site->shards,
				      experts / site->expert_shards, bytes);
}

static void price_update(struct check *c, uint32_t k, double tied_s)
{
	const struct site *site = feasible_site(c, k);
	struct stage_cost *stage = &c->stage[k];
	const struct problem_sync *sync = &site->problem->sync;
	double experts = stage->expert_parameters;
	uint32_t zero = site->choice->zero;

	price_reduction(site, stage);
	stage->reduce_exposed_s = tied_s + fmax(0, stage->reduce_s -
		(sync->overlap_reduce ? stage->backward_s : 0));
	if (zero == 1 || zero == 2)
		stage->gather_s = replicas_s(site, COLLECTIVE_ALL_GATHER,
			feasible_shard, stage->parameters - experts, experts,
			sync->gather_bytes);
	stage->gather_exposed_s = fmax(0, stage->gather_s -
		(sync->overlap_gather ? stage->forward_s : 0));
	feasible_price_optimizer(c, k);
}

static void price_site(struct check *c, struct site *site)
{
	uint32_t classes = c->problem->class_count;

	site->class_cost = ARENA_ARRAY(c->scratch, struct class_cost,
				       (size_t)classes * RECOMPUTE_COUNT);
	for (uint32_t i = 0; i < classes; i++)
		for (int policy = 0; policy < RECOMPUTE_COUNT; policy++)
			price_class(site, i, (enum recompute)policy);
}

void feasible_price_layers(struct check *c)
{
	uint32_t one, other;
	double tied_s;

	for (uint32_t s = 0; s < c->site_count && !c->routed; s++)
		price_site(c, &c->site[s]);
	for (uint32_t k = 0; k < c->plan->choice.pipeline && c->routed; k++)
		price_site(c, &c->routed_site[k]);
	c->stage = ARENA_ARRAY(c->scratch, struct stage_cost,
			       c->plan->choice.pipeline);
	add_layers(c);
	tied_s = settle_tied(c, &one, &other);
	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++)
		price_update(c, k, k == one || k == other ? tied_s : 0);
}

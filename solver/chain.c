/* SPDX-License-Identifier: MIT
 *
 * Building the prefix sums.
 */
#include "solver/chain.h"
#include "solver/most.h"
#include "solver/placement.h"

#include <math.h>

static struct chain_cost cost_new(struct arena *arena, uint32_t length)
{
	size_t sums = (size_t)length + 1;

	return (struct chain_cost){
		.forward_s = ARENA_ARRAY(arena, double, sums),
		.backward_s = ARENA_ARRAY(arena, double, sums),
		.saved_bytes = ARENA_ARRAY(arena, double, sums),
		.working_bytes = ARENA_ARRAY(arena, double, length),
	};
}

/* Room for partial recomputation, where the problem has any. */
static void init_partial(struct chain *chain, struct arena *arena)
{
	const struct problem *problem = chain->problem;

	if (!problem->recompute[RECOMPUTE_FULL] || !problem->recompute_layers.count)
		return;
	chain->kept = cost_new(arena, chain->length);
	chain->cheapest = cost_new(arena, chain->length);
	chain->split = ARENA_ARRAY(arena, uint32_t, (size_t)chain->length + 1);
	chain->split[chain->length] = chain->length;
}

void chain_init(struct chain *chain, const struct problem *problem,
		struct arena *arena)
{
	uint32_t length = problem_chain_length(problem), at = 0;
	size_t sums = (size_t)length + 1;
	uint32_t a = length, b = length, block = CLASS_NONE;

	*chain = (struct chain){
		.problem = problem,
		.length = length,
		.cost = cost_new(arena, length),
		.held = ARENA_ARRAY(arena, struct holding, sums),
		.blocks = ARENA_ARRAY(arena, uint32_t, sums),
		.output_bytes = ARENA_ARRAY(arena, double, length),
		.run_end = ARENA_ARRAY(arena, uint32_t, length),
		.one_block = true,
	};
	if (problem->states_apart)
		chain->layer_held = ARENA_ARRAY(arena, struct holding, length);
	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;
		uint32_t end = at + problem->run[i].count;

		if (class == problem->tied_class)
			a = at;
		if (class == problem->tied_with_class)
			b = at;
		if (problem->class_is_block[class]) {
			chain->one_block &= block == CLASS_NONE || block == class;
			block = class;
		}
		for (; at < end; at++) {
			chain->run_end[at] = end;
			chain->blocks[at + 1] = chain->blocks[at] +
						problem->class_is_block[class];
		}
	}
	if (problem->tied_class == CLASS_NONE)
		a = b = length;
	chain->deal = deal_find(problem);
	chain->tied_first = a < b ? a : b;
	chain->tied_last = a < b ? b : a;
	init_partial(chain, arena);
}

static void load_layers(struct chain_cost *sums, const struct problem_cost *cost,
			uint32_t begin, uint32_t end)
{
	for (uint32_t at = begin; at < end; at++) {
		sums->saved_bytes[at + 1] = sums->saved_bytes[at] + cost->saved_bytes;
		sums->working_bytes[at] = cost->working_bytes;
	}
}

/* What layers keep where they are not recomputed, and the less of both. */
static void load_partial(struct chain *chain, const struct choice *choice,
			 uint32_t class, uint32_t begin, uint32_t end)
{
	const struct problem *problem = chain->problem;
	const struct problem_cost *cost = problem_cost_at(
		problem, choice->shape, class, choice->recompute);
	const struct problem_cost *kept =
		layer_may_be_kept(problem, choice, class) ?
			problem_cost_at(problem, choice->shape, class,
					RECOMPUTE_NONE) : cost;
	struct problem_cost floor = {
		.saved_bytes = least(cost->saved_bytes, kept->saved_bytes),
		.working_bytes = least(cost->working_bytes, kept->working_bytes),
	};

	load_layers(&chain->kept, kept, begin, end);
	load_layers(&chain->cheapest, &floor, begin, end);
}

/* The end of the first so many blocks from every layer on. */
static void load_splits(struct chain *chain)
{
	uint32_t end = 0;

	for (uint32_t at = 0; at < chain->length; at++) {
		while (end < chain->length &&
		       chain->blocks[end + 1] - chain->blocks[at] <=
			       chain->recompute_layers)
			end++;
		chain->split[at] = end;
	}
}

static void load_least(struct chain *chain)
{
	chain->output_least_bytes = INFINITY;
	chain->working_least_bytes = INFINITY;
	for (uint32_t at = 0; at < chain->length; at = chain->run_end[at]) {
		uint32_t last = chain->run_end[at] < chain->length ?
			chain->run_end[at] : chain->length - 1;

		if (at < last)
			chain->output_least_bytes = least(chain->output_least_bytes,
							  chain->output_bytes[at]);
		chain->working_least_bytes =
			least(chain->working_least_bytes,
			      chain->floor.working_bytes[at]);
	}
	if (chain->length == 1)
		chain->output_least_bytes = 0;
}

void chain_load(struct chain *chain, const struct choice *choice)
{
	const struct problem *problem = chain->problem;
	uint32_t shape = choice->shape, at = 0;

	if (chain->loaded && chain->loaded_shape == shape &&
	    chain->loaded_recompute == choice->recompute &&
	    chain->recompute_layers == choice->recompute_layers)
		return;
	chain->loaded = true;
	chain->loaded_shape = shape;
	chain->loaded_recompute = choice->recompute;
	chain->partial = choice->recompute == RECOMPUTE_FULL &&
			 choice->recompute_layers;
	chain->recompute_layers = choice->recompute_layers;
	chain->floor = chain->partial ? chain->cheapest : chain->cost;
	chain->monotone = !chain->partial || chain->one_block;
	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;
		uint32_t end = at + problem->run[i].count;
		const struct problem_weight *weight =
			problem_weight_at(problem, shape, class);

		load_layers(&chain->cost,
			    problem_cost_at(problem, shape, class,
					    choice->recompute),
			    at, end);
		if (chain->partial)
			load_partial(chain, choice, class, at, end);
		for (; at < end; at++) {
			if (chain->layer_held)
				chain->layer_held[at] = holding_of(weight);
			chain->held[at + 1] = holding_add(chain->held[at],
							  holding_of(weight));
			chain->output_bytes[at] = weight->output_bytes;
		}
	}
	if (chain->partial)
		load_splits(chain);
	load_least(chain);
	chain->tied_parameters = problem->tied_class == CLASS_NONE ? 0 :
		problem_weight_at(problem, shape, problem->tied_class)
			->tied_parameters;
}

static void time_layers(struct chain_cost *sums, double forward_s,
			double backward_s, uint32_t begin, uint32_t end)
{
	for (uint32_t at = begin; at < end; at++) {
		sums->forward_s[at + 1] = sums->forward_s[at] + forward_s;
		sums->backward_s[at + 1] = sums->backward_s[at] + backward_s;
	}
}

/* Times of layers of one class. */
struct class_times {
	struct layer_time cost, kept;
	double forward_least_s, backward_least_s;
};

static struct class_times times_of(const struct chain *chain, uint32_t class,
				   const struct layer_time *time,
				   const struct layer_time *kept)
{
	bool both = chain->partial && chain->problem->class_is_block[class];
	struct class_times times = {
		.cost = time[class],
		.kept = both ? kept[class] : time[class],
	};

	times.forward_least_s = least(times.cost.forward_s, times.kept.forward_s);
	times.backward_least_s = least(times.cost.backward_s,
				       times.kept.backward_s);
	return times;
}

/* What recomputing a layer adds to its least. */
static double extra_of(const struct class_times *times)
{
	return times->cost.forward_s + times->cost.backward_s -
	       times->forward_least_s - times->backward_least_s;
}

static void time_deal(struct chain *chain, const struct layer_time *time,
		      const struct layer_time *kept)
{
	struct deal *deal = &chain->deal;
	struct class_times unit = times_of(chain, deal->kind, time, kept);
	uint32_t last = chain->length - 1;

	deal->unit_s = unit.forward_least_s + unit.backward_least_s;
	deal->extra_s = chain->partial &&
			chain->problem->class_is_block[deal->kind] ?
		most(0, extra_of(&unit)) : 0;
	deal->extra_layers = chain->partial ? chain->recompute_layers : 0;
	deal->first_s = chain_both(chain, 0, 1);
	if (last)
		deal->last_s = chain_floor_both(chain, last, last + 1);
}

void chain_time(struct chain *chain, const struct layer_time *time,
		const struct layer_time *kept)
{
	const struct problem *problem = chain->problem;
	uint32_t at = 0;

	chain->layer_most_s = 0;
	chain->half_most_s = 0;
	chain->extra_s = INFINITY;
	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;
		struct class_times times = times_of(chain, class, time, kept);
		uint32_t end = at + problem->run[i].count;

		time_layers(&chain->cost, times.cost.forward_s,
			    times.cost.backward_s, at, end);
		if (chain->partial) {
			time_layers(&chain->kept, times.kept.forward_s,
				    times.kept.backward_s, at, end);
			time_layers(&chain->cheapest, times.forward_least_s,
				    times.backward_least_s, at, end);
		}
		if (problem->class_is_block[class])
			chain->extra_s = least(chain->extra_s, extra_of(&times));
		at = end;
		chain->layer_most_s = most(chain->layer_most_s,
					   times.forward_least_s +
						   times.backward_least_s);
		chain->half_most_s = most(chain->half_most_s,
					  most(times.forward_least_s,
					       times.backward_least_s));
	}
	chain->extra_s = isinf(chain->extra_s) ? 0 : most(0, chain->extra_s);
	time_deal(chain, time, kept);
}

void chain_place(struct chain *chain, const struct choice *choice,
		 const struct placed *placed, struct layer_time *time,
		 struct layer_time *kept)
{
	struct layer_setting setting = {
		.problem = chain->problem,
		.shape = choice->shape,
		.recompute = choice->recompute,
		.zero = choice->zero,
		.group = placed->group,
		.sharding = placed->sharding[choice->shard_level],
	};

	chain_load(chain, choice);
	layer_times(&setting, time);
	setting.recompute = RECOMPUTE_NONE;
	if (chain->partial)
		layer_times(&setting, kept);
	chain_time(chain, time, kept);
}

bool chain_is_plain(const struct chain *chain)
{
	return chain->length > 2 && !chain->deal.spare &&
	       chain->blocks[chain->length - 1] - chain->blocks[1] ==
		       chain->length - 2;
}

static double largest_working(const struct chain *chain,
			      const struct chain_cost *cost, uint32_t begin,
			      uint32_t end)
{
	double working = 0;

	for (uint32_t at = begin; at < end; at = chain->run_end[at])
		working = most(working, cost->working_bytes[at]);
	return working;
}

double chain_working(const struct chain *chain, uint32_t begin, uint32_t end)
{
	uint32_t split;

	if (!chain->partial)
		return largest_working(chain, &chain->cost, begin, end);
	split = chain_split(chain, begin, end);
	return most(largest_working(chain, &chain->cost, begin, split),
		    largest_working(chain, &chain->kept, split, end));
}

double chain_least_working(const struct chain *chain, uint32_t begin,
			   uint32_t end)
{
	return largest_working(chain, &chain->floor, begin, end);
}

void chain_largest(const struct chain *chain, uint32_t begin, uint32_t end,
		   struct holding *held)
{
	for (uint32_t at = begin; at < end; at = chain->run_end[at]) {
		const struct holding *layer = &chain->layer_held[at];
		struct problem_apart *own = &held->apart;
		struct problem_apart *expert = &held->expert_apart;

		own->largest = most(own->largest, layer->apart.largest);
		own->largest_step_s = most(own->largest_step_s,
					   layer->apart.largest_step_s);
		expert->largest = most(expert->largest,
				       layer->expert_apart.largest);
		expert->largest_step_s =
			most(expert->largest_step_s,
			     layer->expert_apart.largest_step_s);
	}
}

void chain_moving(const struct chain *chain, const struct share *share,
		  uint32_t begin, uint32_t end, struct moving *moving)
{
	if (share->moving_bytes <= 0 && share->expert_moving_bytes <= 0)
		return;
	for (uint32_t at = begin; at < end;) {
		uint32_t stop = chain->run_end[at] < end ? chain->run_end[at] : end;
		double bytes = share_moving(
			share, holding_subtract(chain->held[at + 1],
						chain->held[at]));

		moving_add(moving, bytes);
		if (stop > at + 1)
			moving_add(moving, bytes);
		at = stop;
	}
}

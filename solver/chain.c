/* SPDX-License-Identifier: MIT
 *
 * Building the prefix sums.
 */
#include "solver/chain.h"
#include "solver/most.h"

#include <math.h>

static double least(double a, double b)
{
	return a < b ? a : b;
}

void chain_init(struct chain *chain, const struct problem *problem,
		struct arena *arena)
{
	uint32_t length = problem_chain_length(problem), at = 0;
	size_t sums = (size_t)length + 1;
	uint32_t a = length, b = length;

	*chain = (struct chain){
		.problem = problem,
		.length = length,
		.forward_s = ARENA_ARRAY(arena, double, sums),
		.backward_s = ARENA_ARRAY(arena, double, sums),
		.held = ARENA_ARRAY(arena, struct holding, sums),
		.saved_bytes = ARENA_ARRAY(arena, double, sums),
		.blocks = ARENA_ARRAY(arena, uint32_t, sums),
		.output_bytes = ARENA_ARRAY(arena, double, length),
		.working_bytes = ARENA_ARRAY(arena, double, length),
		.run_end = ARENA_ARRAY(arena, uint32_t, length),
	};
	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;
		uint32_t end = at + problem->run[i].count;

		if (class == problem->tied_class)
			a = at;
		if (class == problem->tied_with_class)
			b = at;
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
}

void chain_load(struct chain *chain, uint32_t shape, enum recompute recompute)
{
	const struct problem *problem = chain->problem;
	uint32_t at = 0;

	chain->output_least_bytes = INFINITY;
	chain->working_least_bytes = INFINITY;
	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;
		uint32_t end = at + problem->run[i].count;
		const struct problem_weight *weight =
			problem_weight_at(problem, shape, class);
		const struct problem_cost *cost =
			problem_cost_at(problem, shape, class, recompute);

		for (; at < end; at++) {
			chain->held[at + 1] = holding_add(chain->held[at],
							  holding_of(weight));
			chain->saved_bytes[at + 1] =
				chain->saved_bytes[at] + cost->saved_bytes;
			chain->output_bytes[at] = weight->output_bytes;
			chain->working_bytes[at] = cost->working_bytes;
			if (at + 1 < chain->length)
				chain->output_least_bytes =
					least(chain->output_least_bytes,
					      weight->output_bytes);
		}
		chain->working_least_bytes = least(chain->working_least_bytes,
						   cost->working_bytes);
	}
	if (chain->length == 1)
		chain->output_least_bytes = 0;
	chain->tied_parameters = problem->tied_class == CLASS_NONE ? 0 :
		problem_weight_at(problem, shape, problem->tied_class)
			->tied_parameters;
}

void chain_time(struct chain *chain, const struct layer_time *time)
{
	const struct problem *problem = chain->problem;
	uint32_t at = 0;

	chain->deal.unit_s = time[chain->deal.kind].forward_s +
			     time[chain->deal.kind].backward_s;
	chain->layer_most_s = 0;
	chain->half_most_s = 0;
	for (uint32_t i = 0; i < problem->run_count; i++) {
		const struct layer_time *layer = &time[problem->run[i].class_index];
		uint32_t end = at + problem->run[i].count;

		for (; at < end; at++) {
			chain->forward_s[at + 1] =
				chain->forward_s[at] + layer->forward_s;
			chain->backward_s[at + 1] =
				chain->backward_s[at] + layer->backward_s;
		}
		chain->layer_most_s = most(chain->layer_most_s,
					   layer->forward_s + layer->backward_s);
		chain->half_most_s = most(chain->half_most_s,
					  most(layer->forward_s,
					       layer->backward_s));
	}
	chain->deal.first_s = chain_both(chain, 0, 1);
	if (chain->length > 1)
		chain->deal.last_s = chain_both(chain, chain->length - 1,
						chain->length);
}

double chain_working(const struct chain *chain, uint32_t begin, uint32_t end)
{
	double working = 0;

	for (uint32_t at = begin; at < end; at = chain->run_end[at])
		working = most(working, chain->working_bytes[at]);
	return working;
}

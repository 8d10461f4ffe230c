/* SPDX-License-Identifier: MIT
 *
 * The expert's rule of thumb. Model parallelism tensor x context x pipeline grows
 * in the order in which people try it until the model fits: tensor parallelism up
 * to the node first, then more stages.
 */
#include "solver/strategy.h"

#include <math.h>

#include "solver/attempt.h"

/* Interleaving people try: up to so many chunks on a device. */
#define CHUNKS_MOST 16

struct recipe {
	struct attempts *attempts;
	enum recompute recompute;
	bool experts_inside;		/* expert groups stay within the node */
	uint32_t *chunk_first;
};

/* One step of the ladder. */
struct rung {
	uint32_t tensor, context, pipeline;
};

/* The two orders of ranks in use: data outside, and pipeline outside
 * (Megatron-LM's order tp-cp-ep-dp-pp). */
static const enum dimension orders[][DIMENSION_COUNT] = {
	{ DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_PIPELINE, DIMENSION_DATA },
	{ DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA, DIMENSION_PIPELINE },
};

/* True if some plan of that choice fits. */
static bool try_choice(const struct recipe *recipe, const struct choice *choice)
{
	struct attempts *attempts = recipe->attempts;
	struct plan plan = { .choice = *choice, .chunk_first = recipe->chunk_first };
	bool fits = false;

	for (uint32_t lighter = 0; lighter <= 1; lighter++) {
		if (!attempts_deal(attempts, choice, lighter, plan.chunk_first) ||
		    !attempts_may_fit(attempts, choice, plan.chunk_first))
			continue;
		for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
			if (attempts_place(attempts, choice, orders[i], &plan.placement))
				fits |= isfinite(attempts_offer(attempts, &plan));
	}
	return fits;
}

static bool try_shape(const struct recipe *recipe, uint32_t shape,
		      const struct rung *rung)
{
	struct attempts *attempts = recipe->attempts;
	const struct problem *problem = attempts->problem;
	uint32_t blocks = attempts->blocks[attempts->length];
	uint32_t members = rung->tensor * rung->context * rung->pipeline;
	uint32_t data = attempts_data(attempts, shape, rung->pipeline,
				      problem->device_count / members);
	bool fits = false;

	for (uint32_t v = 1; v <= CHUNKS_MOST && v * rung->pipeline <= blocks; v++) {
		struct choice choice;

		if (v > 1 && (rung->pipeline == 1 || blocks % (v * rung->pipeline)))
			continue;
		for (uint32_t zero = 0; zero < 4; zero++)
			if (!attempts_are_over(attempts) &&
			    attempts_choose(attempts, shape, data, rung->pipeline, v,
					    zero, recipe->recompute, &choice))
				fits |= try_choice(recipe, &choice);
	}
	return fits;
}

static bool experts_are_inside(const struct problem *problem,
			       const struct problem_shape *shape)
{
	return (uint64_t)shape->expert * shape->expert_tensor <=
	       problem->level[0].fanout;
}

static bool try_rung(const struct recipe *recipe, const struct rung *rung)
{
	const struct problem *problem = recipe->attempts->problem;
	bool fits = false;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];

		if (shape->tensor == rung->tensor && shape->context == rung->context &&
		    (!recipe->experts_inside || experts_are_inside(problem, shape)))
			fits |= try_shape(recipe, i, rung);
	}
	return fits;
}

static bool has_degrees(const struct problem *problem, uint32_t tensor,
			uint32_t context)
{
	for (uint32_t i = 0; i < problem->shape_count; i++)
		if (problem->shape[i].tensor == tensor &&
		    problem->shape[i].context == context)
			return true;
	return false;
}

/* The rungs with so much model parallelism in all. True if no more are to be
 * tried. */
static bool try_product(const struct recipe *recipe, uint32_t product, bool divides)
{
	const struct problem *problem = recipe->attempts->problem;
	uint32_t node = problem->level[0].fanout;

	if (divides != (problem->device_count % product == 0))
		return false;
	/* Of equal products the one with more tensor and less pipeline. */
	for (uint32_t t = node < product ? node : product; t > 0; t--)
		for (uint32_t c = 1; product % t == 0 && c <= product / t; c++) {
			struct rung rung = { t, c, product / t / c };

			if (product / t % c || !has_degrees(problem, t, c) ||
			    rung.pipeline > recipe->attempts->length)
				continue;
			if (attempts_are_over(recipe->attempts) ||
			    try_rung(recipe, &rung))
				return true;
		}
	return false;
}

static void climb(const struct recipe *recipe)
{
	const struct attempts *attempts = recipe->attempts;
	const struct problem *problem = attempts->problem;
	uint64_t most = 0;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		uint64_t members = (uint64_t)problem->shape[i].tensor *
				   problem->shape[i].context * attempts->length;

		most = members > most ? members : most;
	}
	if (most > problem->device_count)
		most = problem->device_count;
	/* People keep to degrees that use every device, where they can. */
	for (int divides = 1; divides >= 0; divides--)
		for (uint32_t product = 1; product <= most; product++)
			if (try_product(recipe, product, divides))
				return;
}

static bool experts_leave_nodes(const struct problem *problem)
{
	for (uint32_t i = 0; i < problem->shape_count; i++)
		if (!experts_are_inside(problem, &problem->shape[i]))
			return true;
	return false;
}

void strategy_manual(struct attempts *attempts)
{
	struct recipe recipe = { .attempts = attempts };
	struct arena_mark mark = arena_mark(attempts->scratch);
	bool leave = experts_leave_nodes(attempts->problem);

	recipe.chunk_first = ARENA_ARRAY(attempts->scratch, uint32_t,
					 attempts->length + 1);
	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		recipe.recompute = (enum recompute)r;
		if (!attempts->problem->recompute[r])
			continue;
		recipe.experts_inside = true;
		climb(&recipe);
		recipe.experts_inside = false;
		if (leave)
			climb(&recipe);
	}
	arena_rewind(attempts->scratch, mark);
}

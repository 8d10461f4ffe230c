/* SPDX-License-Identifier: MIT
 *
 * Trying whole plans.
 */
#include "solver/attempt.h"

#include <math.h>

#include "lang/base/divisor.h"
#include "solver/devices.h"
#include "solver/even.h"
#include "solver/feasible.h"
#include "solver/most.h"
#include "solver/network.h"
#include "solver/placement.h"
#include "solver/price.h"

void attempts_init(struct attempts *attempts, const struct problem *problem,
		   struct arena *arena, struct arena *scratch)
{
	uint32_t at = 0;

	*attempts = (struct attempts){ .problem = problem, .scratch = scratch };
	space_init(&attempts->space, problem, arena);
	incumbent_init(&attempts->incumbent, problem, arena);
	attempts->length = problem_chain_length(problem);
	attempts->class_of = ARENA_ARRAY(arena, uint32_t, attempts->length);
	attempts->blocks = ARENA_ARRAY(arena, uint32_t, attempts->length + 1);
	for (uint32_t i = 0; i < problem->run_count; i++)
		for (uint32_t n = 0; n < problem->run[i].count; n++, at++) {
			uint32_t class = problem->run[i].class_index;

			attempts->class_of[at] = class;
			attempts->blocks[at + 1] = attempts->blocks[at] +
				problem->class_is_block[class];
		}
}

bool attempts_are_over(struct attempts *attempts)
{
	if (!attempts->out_of_time && attempts->deadline)
		attempts->out_of_time = deadline_passed(attempts->deadline);
	return attempts->out_of_time;
}

/* ---- choices ---- */

/* With no schedule set, 1F1B and interleaved are allowed. */
static bool choose_schedule(const struct problem *problem, struct choice *choice)
{
	bool any = false;

	for (int i = 0; i < SCHEDULE_COUNT; i++)
		any |= problem->schedule[i];
	choice->schedule = choice->virtual_stages > 1 ? SCHEDULE_INTERLEAVED :
							SCHEDULE_1F1B;
	if (!any || choice->pipeline == 1 || problem->schedule[choice->schedule])
		return true;
	choice->schedule = SCHEDULE_GPIPE;
	return choice->virtual_stages == 1 && problem->schedule[SCHEDULE_GPIPE];
}

static bool choose_shard_level(const struct problem *problem,
			       struct choice *choice)
{
	if (!choice->zero || problem->shard_level[0])
		return true;
	for (uint32_t l = 1; l < LEVEL_MAX; l++)
		if (problem->shard_level[l]) {
			choice->shard_level = l;
			break;
		}
	return true;
}

bool attempts_choose(const struct attempts *attempts, uint32_t shape,
		     uint32_t data, uint32_t pipeline, uint32_t virtual_stages,
		     uint32_t zero, enum recompute recompute,
		     struct choice *choice)
{
	const struct problem *problem = attempts->problem;
	const struct space *space = &attempts->space;
	const struct problem_domain *layers = &problem->recompute_layers;

	if (!data || !space_has_data(space, shape, data) || !pipeline ||
	    pipeline > space_pipeline_max(space, shape, data) ||
	    !space_has_pipeline(space, shape, data, pipeline) ||
	    !problem->zero[zero] || !problem->recompute[recompute])
		return false;
	*choice = (struct choice){
		.shape = shape,
		.data = data,
		.pipeline = pipeline,
		.virtual_stages = virtual_stages,
		.micro_batches = space_micro_batches(space, shape, data),
		.zero = zero,
		.recompute = recompute,
	};
	if (recompute == RECOMPUTE_FULL && layers->count)
		choice->recompute_layers = layers->at[layers->count - 1];
	return space_has_virtual(space, pipeline, virtual_stages,
				 choice->micro_batches) &&
	       choose_schedule(problem, choice) &&
	       choose_shard_level(problem, choice);
}

uint32_t attempts_data(const struct attempts *attempts, uint32_t shape,
		       uint32_t pipeline, uint32_t most)
{
	for (uint32_t i = attempts->space.data_count; i-- > 0;) {
		uint32_t data = attempts->space.data[i];

		if (data <= most &&
		    space_has_data(&attempts->space, shape, data) &&
		    pipeline <= space_pipeline_max(&attempts->space, shape, data) &&
		    space_has_pipeline(&attempts->space, shape, data, pipeline))
			return data;
	}
	return 0;
}

/* ---- placements ---- */

static void degrees_of(const struct problem *problem, const struct choice *choice,
		       uint32_t degree[DIMENSION_COUNT])
{
	degree[DIMENSION_TENSOR] = problem->shape[choice->shape].tensor;
	degree[DIMENSION_CONTEXT] = problem->shape[choice->shape].context;
	degree[DIMENSION_DATA] = choice->data;
	degree[DIMENSION_PIPELINE] = choice->pipeline;
}

/* Whether factors that fit the fan-outs fit the rest. A network that is only believed
 * in (view.c, without scratch memory) has no particular devices. */
static bool factors_fit(const struct attempts *attempts, uint32_t shape,
			const struct placement *placement)
{
	const struct problem *problem = attempts->problem;

	return network_experts_fit(problem, placement, &problem->shape[shape]) &&
	       (!attempts->scratch ||
		devices_fit(problem, placement, attempts->scratch));
}

static bool place_in_order(const struct attempts *attempts,
			   const struct choice *choice,
			   const enum dimension order[DIMENSION_COUNT],
			   struct placement *placement)
{
	const struct problem *problem = attempts->problem;
	uint32_t rest[DIMENSION_COUNT];

	degrees_of(problem, choice, rest);
	*placement = (struct placement){ .factor = { { 0 } } };
	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		uint32_t room = l < problem->level_count ?
			problem->level[l].fanout : 1;

		for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
			enum dimension d = order[i];
			bool within = !problem->within[d] || l < problem->within[d];
			uint32_t factor = within ? (uint32_t)common_divisor(rest[d], room) : 1;

			/* What is left has no other place. */
			if (l + 1 == problem->level_count && within &&
			    rest[d] <= room)
				factor = rest[d];
			placement->factor[d][l] = factor;
			rest[d] /= factor;
			room /= factor;
		}
	}
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		if (rest[d] != 1)
			return false;
	return factors_fit(attempts, choice->shape, placement);
}

struct first_fit {
	const struct attempts *attempts;
	uint32_t shape;
	struct placement *placement;
	bool found;
};

static bool take_first(void *closure, const struct placement *placement)
{
	struct first_fit *fit = closure;

	fit->found = factors_fit(fit->attempts, fit->shape, placement);
	if (fit->found)
		*fit->placement = *placement;
	return !fit->found;
}

bool attempts_place(const struct attempts *attempts, const struct choice *choice,
		    const enum dimension order[DIMENSION_COUNT],
		    struct placement *placement)
{
	const struct problem *problem = attempts->problem;
	struct first_fit fit = {
		.attempts = attempts,
		.shape = choice->shape,
		.placement = placement,
	};
	uint32_t degree[DIMENSION_COUNT];

	if (place_in_order(attempts, choice, order, placement))
		return true;
	degrees_of(problem, choice, degree);
	placement_walk(problem, degree, take_first, &fit);
	return fit.found;
}

/* ---- cuts ---- */

/* Blocks of a chunk when `blocks` are dealt out. */
static uint32_t chunk_blocks(uint32_t blocks, uint32_t chunks, uint32_t lighter,
			     uint32_t chunk)
{
	uint32_t inner = blocks + 2 * lighter, each, over;

	if (chunks < 3 || !lighter) {
		each = blocks / chunks;
		over = blocks % chunks;
		return each + (chunk && chunk <= over);
	}
	each = inner / chunks;
	over = inner % chunks;
	if (chunk && chunk + 1 < chunks)
		return each + (chunk <= over);
	/* More left over than there are inner chunks: the last takes it. */
	return each - lighter + (chunk && over >= chunk);
}

bool attempts_deal(const struct attempts *attempts, const struct choice *choice,
		   uint32_t lighter, uint32_t *chunk_first)
{
	uint32_t chunks = choice->pipeline * choice->virtual_stages;
	uint32_t blocks = attempts->blocks[attempts->length], at = 0, sum = 0;

	if (blocks < chunks || (lighter && (chunks < 3 ||
	    (blocks + 2 * lighter) / chunks <= lighter)))
		return false;
	if (attempts->problem->uniform_stages && (blocks % chunks || lighter))
		return false;
	chunk_first[0] = 0;
	for (uint32_t c = 0; c + 1 < chunks; c++) {
		sum += chunk_blocks(blocks, chunks, lighter, c);
		while (attempts->blocks[at] < sum)
			at++;
		chunk_first[c + 1] = at;
	}
	chunk_first[chunks] = attempts->length;
	return choice->virtual_stages == 1 ||
	       even_cut(attempts->blocks, chunk_first, chunks);
}

/* ---- prices ---- */

struct share attempts_share(const struct problem *problem,
			    const struct choice *choice)
{
	struct choice all = *choice;

	all.shard_level = 0;
	return share_of(problem, &all, NULL);
}

double attempts_least_bytes(const struct attempts *attempts,
			    const struct choice *choice,
			    const uint32_t *chunk_first)
{
	const struct problem *problem = attempts->problem;
	struct share share = attempts_share(problem, choice);
	double fullest = 0;

	for (uint32_t k = 0; k < choice->pipeline; k++) {
		uint32_t flight = choice->pipeline - k < choice->micro_batches ?
			choice->pipeline - k : choice->micro_batches;
		double bytes = problem->memory.reserve_bytes;

		for (uint32_t c = k; c < choice->pipeline * choice->virtual_stages;
		     c += choice->pipeline)
			for (uint32_t i = chunk_first[c]; i < chunk_first[c + 1]; i++) {
				uint32_t class = attempts->class_of[i];
				const struct problem_weight *weight =
					problem_weight_at(problem, choice->shape, class);

				bytes += share_least_bytes(&share,
							   holding_of(weight));
				/* Where its pair is, it is there once. */
				if (class == problem->tied_class)
					bytes -= weight->tied_parameters *
						 share.parameter_bytes;
				if (!choice->recompute_layers)
					bytes += flight * problem_cost_at(problem,
						choice->shape, class,
						choice->recompute)->saved_bytes;
			}
		fullest = most(fullest, bytes);
	}
	return fullest;
}

bool attempts_may_fit(struct attempts *attempts, const struct choice *choice,
		      const uint32_t *chunk_first)
{
	if (attempts_least_bytes(attempts, choice, chunk_first) <=
	    attempts->problem->memory.limit_bytes * (1 + TIE))
		return true;
	attempts->tried++;
	attempts->over_memory++;
	return false;
}

/* What would be kept has to pass the checker, which knows every rule. */
static double keep_if_better(struct attempts *attempts, struct plan *plan,
			     const struct merit *merit)
{
	struct text reason;

	if (incumbent_excludes(&attempts->incumbent, merit))
		return merit->objective[0];
	text_init(&reason, attempts->scratch);
	devices_fill(attempts->problem, attempts->scratch, plan);
	if (!feasible_check(attempts->problem, plan, attempts->scratch, &reason)) {
		attempts->refused++;
		return INFINITY;
	}
	incumbent_offer(&attempts->incumbent, plan, merit);
	return merit->objective[0];
}

double attempts_offer(struct attempts *attempts, const struct plan *plan)
{
	const struct problem *problem = attempts->problem;
	struct arena_mark mark = arena_mark(attempts->scratch);
	struct plan priced = *plan;
	struct predicate_input input;
	double value = INFINITY;
	struct merit merit;

	if (!attempts_may_fit(attempts, &plan->choice, plan->chunk_first))
		return INFINITY;
	attempts->tried++;
	priced.chunk_count = plan->choice.pipeline * plan->choice.virtual_stages;
	price_plan(problem, attempts->scratch, &priced);
	price_variables(problem, &priced, attempts->scratch, &input);
	if (priced.memory_peak_bytes > problem->memory.limit_bytes) {
		attempts->over_memory++;
	} else if (!problem_requirements_hold(problem, &input)) {
		attempts->refused++;
	} else {
		plan_merit(&attempts->incumbent, &priced, &input, &merit);
		value = keep_if_better(attempts, &priced, &merit);
	}
	arena_rewind(attempts->scratch, mark);
	return value;
}

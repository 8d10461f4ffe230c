/* SPDX-License-Identifier: MIT
 *
 * FlexFlow's search: a walk over whole plans. A state is a choice of degrees and
 * policies, the order in which dimensions lie over the network, and a cut. A
 * proposal changes one of them at random; what it leaves undefined is laid out
 * and dealt out anew.
 */
#include "solver/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/attempt.h"

/* Draws of a random state before a chain is given up. */
#define DRAWS_MOST 2000

struct state {
	struct plan plan;		/* choice, placement, chunks; chunks are its own */
	enum dimension order[DIMENSION_COUNT];
	double value;
};

struct walk {
	struct attempts *attempts;
	unsigned short random[3];
	struct state current, proposed;
};

static uint32_t below(struct walk *walk, uint32_t bound)
{
	return (uint32_t)(nrand48(walk->random) % (long)bound);
}

static void state_init(struct state *state, const struct attempts *attempts)
{
	static const enum dimension order[DIMENSION_COUNT] = {
		DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA,
		DIMENSION_PIPELINE
	};

	*state = (struct state){ .value = INFINITY };
	memcpy(state->order, order, sizeof(order));
	state->plan.chunk_first = ARENA_ARRAY(attempts->scratch, uint32_t,
					      attempts->length + 1);
}

static void state_copy(struct state *to, const struct state *from)
{
	uint32_t *chunk_first = to->plan.chunk_first;
	uint32_t chunks = from->plan.choice.pipeline *
			  from->plan.choice.virtual_stages;

	memcpy(chunk_first, from->plan.chunk_first,
	       (chunks + 1) * sizeof(*chunk_first));
	*to = *from;
	to->plan.chunk_first = chunk_first;
}

/* ---- changes ---- */

/* Attributes of shapes, as numbers to look one up by. */
enum attribute {
	ATTRIBUTE_TENSOR,
	ATTRIBUTE_CONTEXT,
	ATTRIBUTE_EXPERT,
	ATTRIBUTE_EXPERT_TENSOR,
	ATTRIBUTE_SEQUENCE,
	ATTRIBUTE_MICRO_BATCH,
	ATTRIBUTE_COUNT
};

static uint32_t attribute_of(const struct problem_shape *shape,
			     enum attribute attribute)
{
	const uint32_t value[ATTRIBUTE_COUNT] = {
		shape->tensor, shape->context, shape->expert,
		shape->expert_tensor, shape->sequence, shape->micro_batch,
	};

	return value[attribute];
}

/* A random shape that differs from the given one in no attribute but those in the
 * mask; the shape itself if there is none. */
static uint32_t other_shape(struct walk *walk, uint32_t shape, unsigned mask)
{
	const struct problem *problem = walk->attempts->problem;
	uint32_t chosen = shape, count = 0;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		bool same = i != shape;

		for (int a = 0; same && a < ATTRIBUTE_COUNT; a++)
			same = mask >> a & 1 ||
			       attribute_of(&problem->shape[i], (enum attribute)a) ==
			       attribute_of(&problem->shape[shape], (enum attribute)a);
		if (same && below(walk, ++count) == 0)
			chosen = i;
	}
	return chosen;
}

static uint32_t times_or_over(struct walk *walk, uint32_t value)
{
	static const uint32_t factors[] = { 2, 2, 2, 3, 4 };
	uint32_t factor = factors[below(walk, 5)];

	if (below(walk, 2) && value % factor == 0)
		return value / factor;
	return value <= DEVICES_MAX / factor ? value * factor : value;
}

/* The shape with another tensor or context degree, all else alike. */
static bool set_degree(struct walk *walk, struct choice *choice,
		       enum dimension dimension, uint32_t degree)
{
	const struct problem *problem = walk->attempts->problem;
	struct problem_shape wanted = problem->shape[choice->shape];

	if (dimension == DIMENSION_DATA)
		choice->data = degree;
	else if (dimension == DIMENSION_PIPELINE)
		choice->pipeline = degree;
	if (dimension == DIMENSION_DATA || dimension == DIMENSION_PIPELINE)
		return true;
	if (dimension == DIMENSION_TENSOR)
		wanted.tensor = degree;
	else
		wanted.context = degree;
	/* Without tensor ranks there is no sequence parallelism between them. */
	if (wanted.tensor == 1)
		wanted.sequence = false;
	for (uint32_t i = 0; i < problem->shape_count; i++) {
		bool same = true;

		for (int a = 0; same && a < ATTRIBUTE_COUNT; a++)
			same = attribute_of(&problem->shape[i], (enum attribute)a) ==
			       attribute_of(&wanted, (enum attribute)a);
		if (same) {
			choice->shape = i;
			return true;
		}
	}
	return false;
}

static uint32_t degree_of(const struct walk *walk, const struct choice *choice,
			  enum dimension dimension)
{
	const struct problem_shape *shape =
		&walk->attempts->problem->shape[choice->shape];

	switch (dimension) {
	case DIMENSION_TENSOR:
		return shape->tensor;
	case DIMENSION_CONTEXT:
		return shape->context;
	case DIMENSION_DATA:
		return choice->data;
	default:
		return choice->pipeline;
	}
}

/* Moves a factor from one dimension to another, so that as many devices are used. */
static bool exchange(struct walk *walk, struct choice *choice)
{
	enum dimension from = (enum dimension)below(walk, DIMENSION_COUNT);
	enum dimension to = (enum dimension)below(walk, DIMENSION_COUNT);
	uint32_t factor = below(walk, 4) ? 2 : 3, degree;

	degree = degree_of(walk, choice, from);
	if (from == to || degree % factor)
		return false;
	return set_degree(walk, choice, from, degree / factor) &&
	       set_degree(walk, choice, to,
			  degree_of(walk, choice, to) * factor);
}

/* A layer goes over a boundary. */
static bool move_layer(struct walk *walk, struct plan *plan)
{
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;
	uint32_t c;

	if (chunks < 2)
		return false;
	c = 1 + below(walk, chunks - 1);
	if (below(walk, 2))
		plan->chunk_first[c]++;
	else
		plan->chunk_first[c]--;
	return plan->chunk_first[c] > plan->chunk_first[c - 1] &&
	       plan->chunk_first[c] < plan->chunk_first[c + 1];
}

static void swap_order(struct walk *walk, enum dimension order[DIMENSION_COUNT])
{
	uint32_t a = below(walk, DIMENSION_COUNT), b = below(walk, DIMENSION_COUNT);
	enum dimension kept = order[a];

	order[a] = order[b];
	order[b] = kept;
}

static uint32_t other_virtual(struct walk *walk, uint32_t pipeline)
{
	uint32_t most = walk->attempts->length / pipeline;

	return 1 + below(walk, most < 16 ? most : 16);
}

/* Fills what follows from degrees and policies; false if they are not legal. */
static bool settle(struct walk *walk, struct state *state, bool keep_cut)
{
	struct attempts *attempts = walk->attempts;
	struct choice wanted = state->plan.choice;

	return attempts_choose(attempts, wanted.shape, wanted.data, wanted.pipeline,
			       wanted.virtual_stages, wanted.zero, wanted.recompute,
			       &state->plan.choice) &&
	       attempts_place(attempts, &state->plan.choice, state->order,
			      &state->plan.placement) &&
	       (keep_cut || attempts_deal(attempts, &state->plan.choice,
					  below(walk, 2),
					  state->plan.chunk_first) ||
		attempts_deal(attempts, &state->plan.choice, 0,
			      state->plan.chunk_first));
}

/* Kinds of proposals; what fills more of the space comes more often. */
enum proposal {
	PROPOSE_EXCHANGE,
	PROPOSE_SHAPE,
	PROPOSE_DATA,
	PROPOSE_PIPELINE,
	PROPOSE_VIRTUAL,
	PROPOSE_ZERO,
	PROPOSE_RECOMPUTE,
	PROPOSE_ORDER,
	PROPOSE_LAYER,
	PROPOSE_COUNT
};

static bool propose(struct walk *walk)
{
	struct state *state = &walk->proposed;
	struct choice *choice = &state->plan.choice;
	enum proposal proposal = (enum proposal)below(walk, PROPOSE_COUNT);

	switch (proposal) {
	case PROPOSE_EXCHANGE:
		if (!exchange(walk, choice))
			return false;
		break;
	case PROPOSE_SHAPE:
		choice->shape = other_shape(walk, choice->shape,
					    1u << below(walk, ATTRIBUTE_COUNT));
		break;
	case PROPOSE_DATA:
		choice->data = times_or_over(walk, choice->data);
		break;
	case PROPOSE_PIPELINE:
		choice->pipeline = times_or_over(walk, choice->pipeline);
		break;
	case PROPOSE_VIRTUAL:
		choice->virtual_stages = other_virtual(walk, choice->pipeline);
		break;
	case PROPOSE_ZERO:
		choice->zero = below(walk, 4);
		break;
	case PROPOSE_RECOMPUTE:
		choice->recompute = (enum recompute)below(walk, RECOMPUTE_COUNT);
		break;
	case PROPOSE_ORDER:
		swap_order(walk, state->order);
		break;
	case PROPOSE_LAYER:
		if (walk->attempts->problem->uniform_stages ||
		    choice->virtual_stages > 1 || !move_layer(walk, &state->plan))
			return false;
		break;
	case PROPOSE_COUNT:
		break;
	}
	return settle(walk, state, proposal >= PROPOSE_ZERO);
}

/* ---- chains ---- */

static bool accepts(struct walk *walk, double old, double new)
{
	if (!(new < INFINITY))
		return false;
	return new <= old ||
	       erand48(walk->random) < exp((old - new) / (MCMC_TEMPERATURE * old));
}

static void run_chain(struct walk *walk)
{
	for (uint32_t i = 0; i < MCMC_PROPOSALS &&
	     !attempts_are_over(walk->attempts); i++) {
		state_copy(&walk->proposed, &walk->current);
		if (!propose(walk))
			continue;
		walk->proposed.value = attempts_offer(walk->attempts,
						      &walk->proposed.plan);
		if (accepts(walk, walk->current.value, walk->proposed.value))
			state_copy(&walk->current, &walk->proposed);
	}
}

/* The best plan known so far: the expert's. */
static bool begin_with_best(struct walk *walk)
{
	const struct incumbent *incumbent = &walk->attempts->incumbent;
	struct state *state = &walk->current;
	struct state from = *state;

	if (!incumbent->found)
		return false;
	from.plan = incumbent->plan;
	from.value = incumbent->merit.objective[0];
	state_copy(state, &from);
	return true;
}

/* Replicas only, with the first shape and policy that fit. */
static bool begin_with_data(struct walk *walk)
{
	struct attempts *attempts = walk->attempts;
	const struct problem *problem = attempts->problem;
	struct state *state = &walk->current;

	for (uint32_t i = 0; i < problem->shape_count; i++)
		for (int r = 0; r < RECOMPUTE_COUNT; r++)
			for (uint32_t zero = 0; zero < 4; zero++) {
				struct choice *choice = &state->plan.choice;

				if (problem->shape[i].tensor > 1 ||
				    problem->shape[i].context > 1)
					continue;
				if (attempts_are_over(attempts))
					return false;
				*choice = (struct choice){
					.shape = i, .pipeline = 1, .virtual_stages = 1,
					.zero = zero, .recompute = (enum recompute)r,
				};
				choice->data = attempts_data(attempts, i, 1,
							     problem->device_count);
				if (!settle(walk, state, false))
					continue;
				state->value = attempts_offer(attempts, &state->plan);
				if (state->value < INFINITY)
					return true;
			}
	return false;
}

static bool begin_anywhere(struct walk *walk)
{
	struct attempts *attempts = walk->attempts;
	const struct problem *problem = attempts->problem;
	struct state *state = &walk->current;

	for (int i = 0; i < DRAWS_MOST && !attempts_are_over(attempts); i++) {
		struct choice *choice = &state->plan.choice;

		*choice = (struct choice){
			.shape = below(walk, problem->shape_count),
			.pipeline = 1u << below(walk, 8),
			.virtual_stages = 1,
			.zero = below(walk, 4),
			.recompute = (enum recompute)below(walk, RECOMPUTE_COUNT),
		};
		choice->data = attempts_data(attempts, choice->shape,
					     choice->pipeline,
					     problem->device_count);
		if (!settle(walk, state, false))
			continue;
		state->value = attempts_offer(attempts, &state->plan);
		if (state->value < INFINITY)
			return true;
	}
	return false;
}

void strategy_mcmc(struct attempts *attempts)
{
	struct walk walk = { .attempts = attempts,
			     .random = { 0x330e, MCMC_SEED, 0 } };
	struct arena_mark mark = arena_mark(attempts->scratch);

	state_init(&walk.current, attempts);
	state_init(&walk.proposed, attempts);
	strategy_manual(attempts);
	for (int chain = 0; chain < MCMC_CHAINS; chain++) {
		bool begun = chain == 0 ? begin_with_best(&walk) :
			     chain == 1 ? begin_with_data(&walk) :
					  begin_anywhere(&walk);

		if (begun)
			run_chain(&walk);
	}
	arena_rewind(attempts->scratch, mark);
}

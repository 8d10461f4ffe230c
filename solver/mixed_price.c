/* SPDX-License-Identifier: MIT
 *
 * The price of plans that have segments. What a rank costs by itself is priced
 * in the problem of its kind; here are the boundaries, the exchange of a tied
 * weight and the schedule of them all.
 */
#include "solver/mixed.h"

#include "solver/price.h"

/* The plan as one of the segment's kind: right for the segment's own ranks, but
 * for their boundaries. */
static struct plan plan_of_segment(const struct plan *plan,
				   const struct segment *segment)
{
	struct plan own = *plan;

	own.segment_count = 0;
	own.placement = segment->placement;
	return own;
}

/* The chain position of the only layer of a class. */
static uint32_t position_of(const struct problem *problem, uint32_t class)
{
	uint32_t position = 0;

	for (uint32_t i = 0; i < problem->run_count; i++) {
		if (problem->run[i].class_index == class)
			break;
		position += problem->run[i].count;
	}
	return position;
}

static uint32_t rank_of(const struct plan *plan, uint32_t position)
{
	uint32_t rank = 0;

	while (position >= plan->chunk_first[rank + 1])
		rank++;
	return rank;
}

/* The class of the layer at a position. */
static uint32_t class_at(const struct problem *problem, uint32_t position)
{
	uint32_t i = 0;

	while (position >= problem->run[i].count)
		position -= problem->run[i++].count;
	return problem->run[i].class_index;
}

/* The line between two ranks, and the latency of the level it crosses. */
static struct network_line line_between(const struct problem *problem,
					const struct plan *plan, uint32_t a,
					uint32_t b, uint32_t *level,
					double *latency_s)
{
	const struct segment *from = mixed_segment(plan, a);
	const struct segment *to = mixed_segment(plan, b);
	uint32_t a_local, b_local;
	const struct problem *own = mixed_problem(problem, plan, a, &a_local);
	const struct problem *other = mixed_problem(problem, plan, b, &b_local);
	double mine, theirs;

	if (from == to) {
		*level = network_pipeline_level(own, &from->placement, a_local,
						b_local);
		*latency_s = own->level[*level].latency_s;
		return network_transfer_line(own, &from->placement, *level);
	}
	*level = own->level_count - 1;
	mine = own->level[own->level_count - 1].latency_s;
	theirs = other->level[other->level_count - 1].latency_s;
	*latency_s = mine > theirs ? mine : theirs;
	return mixed_joint(own, &from->placement, other, &to->placement);
}

/* Stages of one segment, from the plan priced in its kind. Ranks of a tied
 * weight that lie apart are priced as if they shared nothing. */
static void price_segment(const struct problem *kind, struct arena *arena,
			  struct plan *plan, const struct segment *segment,
			  uint32_t first, bool apart)
{
	struct plan own = plan_of_segment(plan, segment);
	struct problem untied = *kind;

	if (apart)
		untied.tied_class = untied.tied_with_class = CLASS_NONE;
	price_plan(&untied, arena, &own);
	for (uint32_t k = first; k < first + segment->ranks; k++) {
		struct stage_cost *stage = &plan->stage[k];

		*stage = own.stage[k];
		stage->send_s = 0;
		stage->send_level = 0;
		/* The boundaries are not the segment's own. */
		stage->reduce_exposed_s = price_exposed(
			stage->reduce_s, kind->sync.overlap_reduce,
			stage->backward_s);
		stage->gather_exposed_s = price_exposed(
			stage->gather_s, kind->sync.overlap_gather,
			stage->forward_s);
	}
}

static void price_exchange(const struct problem *problem, struct plan *plan,
			   uint32_t a, uint32_t b)
{
	const struct problem *kind = mixed_problem(problem, plan, a, NULL);
	double bytes = problem_weight_at(kind, plan->choice.shape,
					 kind->tied_class)->tied_parameters *
		       kind->sync.reduce_bytes;
	uint32_t level;
	double latency, exchange;
	struct network_line line = line_between(problem, plan, a, b, &level,
						&latency);

	if (plan->choice.zero >= 2)
		bytes /= (double)plan->choice.data *
			 kind->shape[plan->choice.shape].context;
	exchange = latency + line.latency_s + bytes * line.s_per_byte;
	plan->stage[a].reduce_exposed_s += exchange;
	plan->stage[b].reduce_exposed_s += exchange;
}

static void price_boundaries(const struct problem *problem, struct plan *plan,
			     double *transfer_s)
{
	for (uint32_t k = 0; k + 1 < plan->choice.pipeline; k++) {
		const struct problem *kind = mixed_problem(problem, plan, k, NULL);
		uint32_t class = class_at(kind, plan->chunk_first[k + 1] - 1);
		struct stage_cost *stage = &plan->stage[k];
		double latency;
		struct network_line line =
			line_between(problem, plan, k, k + 1,
				     &stage->send_level, &latency);

		stage->send_s = line.latency_s +
				problem_weight_at(kind, plan->choice.shape, class)
						->output_bytes *
					line.s_per_byte;
		transfer_s[k] = stage->send_s;
	}
}

static void price_split(const struct problem *problem, struct arena *arena,
			struct plan *plan)
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	uint32_t p = plan->choice.pipeline, first = 0, a = 0, b = 0;
	struct price_times times;
	struct arena_mark mark;

	plan->placement = plan->segment[0].placement;
	plan->devices = shape->tensor * shape->context * plan->choice.data * p;
	plan->stage = ARENA_ARRAY(arena, struct stage_cost, p);
	mark = arena_mark(arena);
	times.forward_s = ARENA_ARRAY(arena, double, p);
	times.backward_s = ARENA_ARRAY(arena, double, p);
	times.transfer_s = ARENA_ARRAY(arena, double, p);
	if (problem->tied_class != CLASS_NONE) {
		a = rank_of(plan, position_of(problem, problem->tied_class));
		b = rank_of(plan, position_of(problem, problem->tied_with_class));
	}
	for (uint32_t i = 0; i < plan->segment_count; i++) {
		const struct segment *segment = &plan->segment[i];

		price_segment(problem->kind[segment->kind], arena, plan, segment,
			      first, a != b);
		first += segment->ranks;
	}
	if (a != b)
		price_exchange(problem, plan, a, b);
	price_boundaries(problem, plan, times.transfer_s);
	for (uint32_t k = 0; k < p; k++) {
		times.forward_s[k] = plan->stage[k].forward_s;
		times.backward_s[k] = plan->stage[k].backward_s;
	}
	price_schedule(plan, &times, arena);
	arena_rewind(arena, mark);
}

void mixed_price(const struct problem *problem, struct arena *arena,
		 struct plan *plan)
{
	uint32_t segments = plan->segment_count;

	if (segments > 1) {
		price_split(problem, arena, plan);
		return;
	}
	plan->segment_count = 0;
	plan->placement = plan->segment[0].placement;
	price_plan(problem->kind[plan->segment[0].kind], arena, plan);
	plan->segment_count = segments;
}

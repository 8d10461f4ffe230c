/* SPDX-License-Identifier: MIT
 *
 * Exact optimum of the published model. Cuts are found by a dynamic program
 * over positions. A boundary of the first replica crosses a level that depends
 * on its place from the end alone, so one table of cuts serves every number of
 * replicas and stages; it is the answer where only that replica is priced, and
 * a lower bound, by which candidates are ordered and dropped, everywhere else.
 */
#include "solver/published.h"

#include <math.h>
#include <stdlib.h>

#include "solver/published_model.h"

/* How stages are priced: ZeRO over the replicas and where those meet. */
struct terms {
	uint32_t zero, data, top;
	bool memory;			/* stages must fit */
};

struct search {
	const struct published_problem *problem;
	enum published_objective objective;
	struct arena *arena;
	struct published_plan *best;
	struct published_tables tables;
	uint32_t width;
	uint32_t stage_devices;
	uint32_t stages_most;
};

static double stage_time(const struct published_tables *tables,
			 const struct published_boundaries *pairs,
			 const struct terms *terms, uint32_t s, size_t at)
{
	bool recompute = tables->problem->recompute && s > 1;
	double slowest = 0;

	for (uint32_t i = 0; i < pairs->count; i++) {
		double backward = tables->backward[pairs->out[i]][at];

		if (recompute)
			backward = fmax(backward, tables->recomputed[at]);
		slowest = fmax(slowest, tables->forward[pairs->in[i]][at] + backward);
	}
	if (terms->zero < 2)
		return slowest;
	return slowest + published_zero_step(terms->zero,
			published_all_reduce(tables->problem, terms->data, terms->top,
					     tables->parameter_bytes[at]));
}

static bool stage_fits(const struct published_tables *tables,
		       const struct terms *terms, uint32_t s, size_t at)
{
	return !terms->memory ||
	       published_state_bytes(tables->problem, terms->zero, terms->data,
				     tables->parameter_bytes[at]) +
	       tables->activation_bytes[at] + (s - 1) * tables->stash_bytes[at] <=
	       tables->problem->memory_bytes;
}

/* ---- cuts ---- */

/* Slowest stage of the best cut for the last s stages from each node on, for all
 * s at once: best[s][first], with the end of the first of them in end[s][first]. */
struct cuts {
	double *best;
	uint16_t *end;
	uint32_t nodes;
};

static size_t cut_at(const struct cuts *cuts, uint32_t s, uint32_t first)
{
	return (size_t)s * (cuts->nodes + 1) + first;
}

static struct cuts cuts_make(uint32_t nodes, uint32_t stages, struct arena *arena)
{
	struct cuts cuts = { .nodes = nodes };
	size_t size = ((size_t)stages + 1) * (nodes + 1);

	cuts.best = ARENA_ARRAY(arena, double, size);
	cuts.end = ARENA_ARRAY(arena, uint16_t, size);
	for (uint32_t first = 0; first <= nodes; first++)
		cuts.best[first] = first == nodes ? 0 : INFINITY;
	return cuts;
}

/* Extends the cuts by stage s. Stages slower than the limit are of no use; a
 * stage is no faster than its work. False when no cut is left. */
static bool cuts_extend(struct cuts *cuts, const struct published_tables *tables,
			const struct published_boundaries *pairs,
			const struct terms *terms, uint32_t s, double limit)
{
	uint32_t nodes = cuts->nodes;
	bool any = false;

	for (uint32_t first = 1; first < nodes; first++) {
		double best = limit;
		uint32_t chosen = 0;

		for (uint32_t end = s == 1 ? nodes : first + 1; end <= nodes; end++) {
			double after = cuts->best[cut_at(cuts, s - 1, end)];
			size_t at = published_cell(nodes, first, end);
			double time;

			if (tables->work[end] - tables->work[first] >= best)
				break;
			if (after >= best || !stage_fits(tables, terms, s, at))
				continue;
			time = fmax(after, stage_time(tables, pairs, terms, s, at));
			if (time < best) {
				best = time;
				chosen = end;
			}
		}
		cuts->best[cut_at(cuts, s, first)] = chosen ? best : INFINITY;
		cuts->end[cut_at(cuts, s, first)] = (uint16_t)chosen;
		any |= chosen > 0;
	}
	return any;
}

static bool plan_before(const struct published_plan *a, const struct published_plan *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->data != b->data)
		return a->data < b->data;
	if (a->stages != b->stages)
		return a->stages < b->stages;
	if (a->width != b->width)
		return a->width < b->width;
	return a->zero != b->zero ? a->zero < b->zero : a->stride < b->stride;
}

static void keep(struct search *search, const struct cuts *cuts,
		 const struct published_plan *candidate, uint32_t end)
{
	struct published_plan *best = search->best;
	uint32_t *cut = best->cut;
	uint32_t s = candidate->stages;

	*best = *candidate;
	best->cut = cut;
	cut[1] = end;
	for (uint32_t left = s - 1, first = end; left > 0; left--) {
		first = cuts->end[cut_at(cuts, left, first)];
		cut[s - left + 1] = first;
	}
}

/* Tries every size of the first stage of a plan whose later stages' cuts are
 * known, and keeps the plan if it is better. */
static void try_plan(struct search *search, const struct cuts *cuts,
		     const struct terms *terms,
		     const struct published_plan *candidate)
{
	const struct published_problem *problem = search->problem;
	const struct published_tables *tables = &search->tables;
	uint32_t s = candidate->stages, nodes = cuts->nodes;
	struct published_boundaries pairs =
		published_boundaries_of(problem, candidate, s,
			published_replicas(search->objective, candidate));
	double rounds = published_rounds(problem, candidate->data) + s - 1;
	struct published_plan plan = *candidate;

	for (uint32_t end = 1; end <= nodes; end++) {
		double after = cuts->best[cut_at(cuts, s - 1, end)];
		size_t at = published_cell(nodes, 0, end);

		if (after * rounds > search->best->time ||
		    !stage_fits(tables, terms, s, at))
			continue;
		plan.time = fmax(after, stage_time(tables, &pairs, terms, s, at)) *
			    rounds;
		if (!(plan.time <= search->best->time))
			continue;
		plan.time += published_zero_end(terms->zero,
			published_all_reduce(problem, plan.data, terms->top,
					     tables->parameter_bytes[at]));
		if (plan_before(&plan, search->best))
			keep(search, cuts, &plan, end);
	}
}

static uint32_t stages_most(const struct search *search, uint32_t data)
{
	uint32_t most = search->problem->device_count / data / search->stage_devices;

	return most < search->stages_most ? most : search->stages_most;
}

static uint32_t data_most(const struct search *search)
{
	uint32_t most = search->problem->device_count / search->stage_devices;

	return most < search->problem->micro_batches ? most :
						      search->problem->micro_batches;
}

/* Cuts of the first replica, for every number of stages. */
static struct cuts first_replica_cuts(struct search *search,
				      const struct terms *terms)
{
	struct cuts cuts = cuts_make(search->tables.nodes, search->stages_most,
				     search->arena);
	struct published_plan plan = { .width = search->width, .data = 1,
				       .devices_per_stage = search->stage_devices };

	for (uint32_t s = 1; s <= search->stages_most; s++) {
		struct published_boundaries pairs;

		plan.stages = s + 1;	/* some stage stands before it */
		pairs = published_boundaries_of(search->problem, &plan, s, 1);
		cuts_extend(&cuts, &search->tables, &pairs, terms, s, INFINITY);
	}
	return cuts;
}

static void search_first_replica(struct search *search)
{
	struct terms terms = { .memory = true };
	struct cuts cuts = first_replica_cuts(search, &terms);
	struct published_plan plan = { .width = search->width,
				       .devices_per_stage = search->stage_devices };

	for (uint32_t d = 1; d <= data_most(search); d++)
		for (uint32_t s = 1; s <= stages_most(search, d); s++) {
			plan.data = terms.data = d;
			plan.stages = s;
			plan.stride = s * search->stage_devices;
			terms.top = published_meeting(search->problem,
						      PUBLISHED_NEST, &plan);
			try_plan(search, &cuts, &terms, &plan);
		}
}

/* ---- one candidate at a time ---- */

/* Replicas and stages, with a time that no such plan is below. */
struct candidate {
	double bound;
	uint32_t data, stages;
};

static int by_bound(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	if (x->data != y->data)
		return x->data < y->data ? -1 : 1;
	return (x->stages > y->stages) - (x->stages < y->stages);
}

/* Slowest stage of the best cut of the first replica into s stages. */
static double slowest_bound(const struct search *search, const struct cuts *cuts,
			    const struct terms *terms, uint32_t s)
{
	const struct published_tables *tables = &search->tables;
	struct published_plan plan = { .width = search->width, .data = 1, .stages = s,
				       .devices_per_stage = search->stage_devices };
	struct published_boundaries pairs =
		published_boundaries_of(search->problem, &plan, s, 1);
	double best = INFINITY;

	for (uint32_t end = 1; end <= tables->nodes; end++) {
		double after = cuts->best[cut_at(cuts, s - 1, end)];
		size_t at = published_cell(tables->nodes, 0, end);

		if (after < best && stage_fits(tables, terms, s, at))
			best = fmin(best, fmax(after, stage_time(tables, &pairs,
								 terms, s, at)));
	}
	return best;
}

/* All candidates of the width, best bound first. With ZeRO what fits is not
 * known before the replicas are, and there have to be several. */
static struct candidate *candidates_make(struct search *search, bool zero,
					 size_t *count)
{
	struct terms terms = { .memory = !zero };
	struct cuts cuts = first_replica_cuts(search, &terms);
	double *slowest = ARENA_ARRAY(search->arena, double, search->stages_most + 1);
	struct candidate *all;
	size_t room = 0;

	for (uint32_t s = 1; s <= search->stages_most; s++)
		slowest[s] = slowest_bound(search, &cuts, &terms, s);
	for (uint32_t d = 1 + zero; d <= data_most(search); d++)
		room += stages_most(search, d);
	all = ARENA_ARRAY(search->arena, struct candidate, room);
	*count = 0;
	for (uint32_t d = 1 + zero; d <= data_most(search); d++)
		for (uint32_t s = 1; s <= stages_most(search, d); s++)
			if (slowest[s] < INFINITY)
				all[(*count)++] = (struct candidate){
					slowest[s] * (published_rounds(search->problem, d) +
						      s - 1), d, s };
	qsort(all, *count, sizeof(*all), by_bound);
	return all;
}

static void price_candidate(struct search *search, uint32_t zero,
			    const struct published_plan *plan)
{
	const struct published_problem *problem = search->problem;
	struct arena_mark mark = arena_mark(search->arena);
	struct cuts cuts = cuts_make(search->tables.nodes, plan->stages, search->arena);
	struct terms terms = {
		.zero = zero, .data = plan->data, .memory = true,
		.top = published_meeting(problem, search->objective, plan),
	};
	double rounds = published_rounds(problem, plan->data) + plan->stages - 1;
	double limit = search->best->time / rounds * (1 + 1e-12);
	bool any = true;

	for (uint32_t s = 1; any && s < plan->stages; s++) {
		struct published_boundaries pairs =
			published_boundaries_of(problem, plan, s,
				published_replicas(search->objective, plan));

		any = cuts_extend(&cuts, &search->tables, &pairs, &terms, s, limit);
	}
	if (any)
		try_plan(search, &cuts, &terms, plan);
	arena_rewind(search->arena, mark);
}

/* Strides worth trying: back to back, spread evenly, and rounded up so that
 * replicas begin at the border of a node, a rack, .. */
static uint32_t stride_of(const struct published_problem *problem, uint32_t kind,
			  uint32_t data, uint32_t used)
{
	uint64_t unit = 1, stride;

	if (kind == 0)
		return used;
	if (kind == 1)
		return problem->device_count / data;
	for (uint32_t l = 0; l + 2 <= kind; l++)
		unit *= problem->fanout[l];
	stride = (used + unit - 1) / unit * unit;
	return stride * data <= problem->device_count ? (uint32_t)stride : 0;
}

static void price_strides(struct search *search, uint32_t zero,
			  const struct candidate *candidate)
{
	const struct published_problem *problem = search->problem;
	uint32_t used = candidate->stages * search->stage_devices;
	uint32_t kinds = search->objective == PUBLISHED_NEST ? 1 :
							      problem->level_count + 2;
	uint32_t tried[LEVEL_MAX + 2], count = 0;

	for (uint32_t kind = 0; kind < kinds; kind++) {
		uint32_t stride = stride_of(problem, kind, candidate->data, used);
		bool known = stride == 0;

		for (uint32_t i = 0; i < count; i++)
			known = known || tried[i] == stride;
		if (known)
			continue;
		tried[count++] = stride;
		price_candidate(search, zero, &(struct published_plan){
			.width = search->width, .data = candidate->data, .zero = zero,
			.stages = candidate->stages, .stride = stride,
			.devices_per_stage = search->stage_devices,
		});
	}
}

/* Whether every node fits on a device of its own. */
static bool nodes_fit(const struct search *search, uint32_t zero, uint32_t data)
{
	struct terms terms = { .zero = zero, .data = data, .memory = true };

	for (uint32_t v = 0; v < search->tables.nodes; v++)
		if (!stage_fits(&search->tables, &terms, 1,
				published_cell(search->tables.nodes, v, v + 1)))
			return false;
	return true;
}

static void search_candidates(struct search *search, bool zero)
{
	size_t count;
	struct candidate *all = candidates_make(search, zero, &count);

	for (size_t i = 0; i < count && all[i].bound <= search->best->time; i++)
		for (uint32_t z = zero; z <= (zero ? 3u : 0u); z++)
			if (nodes_fit(search, z, all[i].data))
				price_strides(search, z, &all[i]);
}

/* ---- entries ---- */

static void search_open(struct search *search, uint32_t width)
{
	const struct published_problem *problem = search->problem;
	uint32_t most;

	search->width = width;
	search->stage_devices = published_stage_devices(problem, width);
	most = problem->device_count / search->stage_devices;
	search->stages_most = most < problem->node_count ? most : problem->node_count;
	published_tabulate(&search->tables, problem, width, search->arena);
}

static void search_widths(struct search *search, bool zero)
{
	for (uint32_t width = 0; width < search->problem->width_count; width++) {
		struct arena_mark mark = arena_mark(search->arena);

		if (published_stage_devices(search->problem, width) >
		    search->problem->device_count)
			continue;
		search_open(search, width);
		if (search->objective == PUBLISHED_NEST && !zero)
			search_first_replica(search);
		else
			search_candidates(search, zero);
		arena_rewind(search->arena, mark);
	}
}

bool published_solve(const struct published_problem *problem,
		     enum published_objective objective, struct arena *arena,
		     struct published_plan *plan)
{
	struct search search = { .problem = problem, .objective = objective,
				 .arena = arena, .best = plan };

	*plan = (struct published_plan){ .time = INFINITY };
	plan->cut = ARENA_ARRAY(arena, uint32_t, problem->node_count + 1);
	search_widths(&search, false);
	if (isinf(plan->time))
		search_widths(&search, true);
	return plan->time < INFINITY;
}

bool published_best_cut(const struct published_problem *problem,
			uint32_t width, uint32_t data, uint32_t stages,
			enum published_objective objective, struct arena *arena,
			struct published_plan *plan)
{
	struct search search = { .problem = problem, .objective = objective,
				 .arena = arena, .best = plan };
	struct arena_mark mark;

	*plan = (struct published_plan){ .time = INFINITY };
	plan->cut = ARENA_ARRAY(arena, uint32_t, problem->node_count + 1);
	if (stages > problem->node_count ||
	    (uint64_t)stages * published_stage_devices(problem, width) * data >
	    problem->device_count)
		return false;
	mark = arena_mark(arena);
	search_open(&search, width);
	price_candidate(&search, 0, &(struct published_plan){
		.width = width, .data = data, .stages = stages,
		.devices_per_stage = search.stage_devices,
		.stride = stages * search.stage_devices,
	});
	arena_rewind(arena, mark);
	return plan->time < INFINITY;
}

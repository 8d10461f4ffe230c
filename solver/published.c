/* SPDX-License-Identifier: MIT
 *
 * Exact optimum of the published model. A stage's time depends on its nodes
 * and on the levels its two boundaries cross, so these are tabulated once per
 * width; cuts are then found by a dynamic program over positions.
 */
#include "solver/published.h"

#include <math.h>
#include <string.h>

/* The edges of a width, by the node they enter and by the node they leave. */
struct adjacency {
	uint32_t *in_first, *out_first;		/* nodes + 1 entries */
	struct published_edge *in, *out;
};

/* One width's tables, indexed by cell(first node, end node). */
struct tables {
	const struct published_problem *problem;
	const struct published_width *width;
	struct adjacency adjacency;
	uint32_t nodes;
	double *forward[LEVEL_MAX];	/* inputs over that level */
	double *backward[LEVEL_MAX];	/* gradients over that level */
	double *recomputed[LEVEL_MAX];	/* the same behind recomputation */
	double *fixed_bytes;		/* of a stage wherever it stands */
	double *stash_bytes;		/* per further micro-batch in flight */
};

static size_t cell(const struct tables *tables, uint32_t first, uint32_t end)
{
	return (size_t)first * (tables->nodes + 1) + end;
}

static double transfer(const struct published_problem *problem, double bytes,
		       uint32_t level)
{
	double narrowest = problem->bandwidth_Bps[0];

	for (uint32_t l = 1; l <= level; l++)
		narrowest = fmin(narrowest, problem->bandwidth_Bps[l]);
	return (level ? 2 : 1) *
	       (bytes / narrowest + problem->latency_s[level]);
}

static uint32_t meeting_level(const struct published_problem *problem,
			      uint64_t x, uint64_t y)
{
	uint32_t level = 0;

	for (; level + 1 < problem->level_count; level++) {
		x /= problem->fanout[level];
		y /= problem->fanout[level];
		if (x == y)
			break;
	}
	return level;
}

static void sort_edges(const struct published_width *width, uint32_t nodes,
		       bool by_end, uint32_t *first, struct published_edge *sorted)
{
	uint32_t position = 0;

	for (uint32_t v = 0; v < nodes; v++) {
		first[v] = position;
		for (uint32_t e = 0; e < width->edge_count; e++)
			if ((by_end ? width->edge[e].to : width->edge[e].from) == v)
				sorted[position++] = width->edge[e];
	}
	first[nodes] = position;
}

static struct adjacency adjacency_make(const struct published_width *width,
				       uint32_t nodes, struct arena *arena)
{
	struct adjacency adjacency = {
		.in_first = ARENA_ARRAY(arena, uint32_t, nodes + 1),
		.out_first = ARENA_ARRAY(arena, uint32_t, nodes + 1),
		.in = ARENA_ARRAY(arena, struct published_edge, width->edge_count),
		.out = ARENA_ARRAY(arena, struct published_edge, width->edge_count),
	};

	sort_edges(width, nodes, true, adjacency.in_first, adjacency.in);
	sort_edges(width, nodes, false, adjacency.out_first, adjacency.out);
	return adjacency;
}

static double run_forward(const struct published_problem *problem,
			  const struct published_width *width,
			  const struct adjacency *edges, uint32_t first,
			  uint32_t end, uint32_t level, double *done)
{
	double last = 0;

	for (uint32_t v = first; v < end; v++) {
		done[v] = 0;
		for (uint32_t e = edges->in_first[v]; e < edges->in_first[v + 1]; e++) {
			const struct published_edge *edge = &edges->in[e];

			done[v] = fmax(done[v], edge->from >= first ?
				       done[edge->from] :
				       transfer(problem, edge->bytes, level));
		}
		done[v] += width->forward_s[v];
		last = fmax(last, done[v]);
	}
	return last;
}

static double run_backward(const struct published_problem *problem,
			   const struct published_width *width,
			   const struct adjacency *edges, uint32_t first,
			   uint32_t end, uint32_t level, bool recompute,
			   double *done)
{
	double start = 0, last = 0;

	for (uint32_t v = first; recompute && v < end; v++)
		start += width->backward_s[v];
	for (uint32_t v = end; v-- > first;) {
		done[v] = start;
		for (uint32_t e = edges->out_first[v]; e < edges->out_first[v + 1]; e++) {
			const struct published_edge *edge = &edges->out[e];

			done[v] = fmax(done[v], edge->to < end ? done[edge->to] :
				       transfer(problem, edge->bytes, level));
		}
		done[v] += width->backward_s[v];
		last = fmax(last, done[v]);
	}
	return last;
}

static void stage_bytes(const struct published_problem *problem,
			const struct published_width *width,
			const struct adjacency *edges, uint32_t first,
			uint32_t end, double *fixed, double *stash)
{
	double parameters = 0, activations = 0, entering = 0;

	for (uint32_t v = first; v < end; v++) {
		parameters += width->parameter_bytes[v];
		activations += width->activation_bytes[v];
		for (uint32_t e = edges->in_first[v]; e < edges->in_first[v + 1]; e++)
			if (edges->in[e].from < first)
				entering += edges->in[e].bytes;
	}
	*fixed = (problem->adam ? 8 : 2) * parameters + activations;
	*stash = problem->recompute ? entering : activations;
}

static void tabulate(struct tables *tables, const struct published_problem *problem,
		     uint32_t width_index, struct arena *arena)
{
	const struct published_width *width = &problem->width[width_index];
	uint32_t nodes = problem->node_count;
	size_t cells = ((size_t)nodes + 1) * (nodes + 1);
	double *done = ARENA_ARRAY(arena, double, nodes);

	*tables = (struct tables){ .problem = problem, .width = width, .nodes = nodes };
	tables->adjacency = adjacency_make(width, nodes, arena);
	tables->fixed_bytes = ARENA_ARRAY(arena, double, cells);
	tables->stash_bytes = ARENA_ARRAY(arena, double, cells);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		tables->forward[l] = ARENA_ARRAY(arena, double, cells);
		tables->backward[l] = ARENA_ARRAY(arena, double, cells);
		tables->recomputed[l] = ARENA_ARRAY(arena, double, cells);
	}
	for (uint32_t first = 0; first < nodes; first++)
		for (uint32_t end = first + 1; end <= nodes; end++) {
			size_t at = cell(tables, first, end);

			stage_bytes(problem, width, &tables->adjacency, first, end,
				    &tables->fixed_bytes[at], &tables->stash_bytes[at]);
			for (uint32_t l = 0; l < problem->level_count; l++) {
				tables->forward[l][at] =
					run_forward(problem, width, &tables->adjacency,
						    first, end, l, done);
				tables->backward[l][at] =
					run_backward(problem, width, &tables->adjacency,
						     first, end, l, false, done);
				tables->recomputed[l][at] = !problem->recompute ? 0 :
					run_backward(problem, width, &tables->adjacency,
						     first, end, l, true, done);
			}
		}
}

/* The levels a stage's boundaries cross, one pair for every replica that is not
 * dominated by another. Few are ever left: at most one per level and side. */
#define PAIRS_MAX (LEVEL_MAX * LEVEL_MAX)

struct boundaries {
	uint8_t in[PAIRS_MAX], out[PAIRS_MAX];
	uint32_t count;
};

static void boundaries_add(struct boundaries *pairs, uint32_t in, uint32_t out)
{
	for (uint32_t i = 0; i < pairs->count; i++)
		if (pairs->in[i] == in && pairs->out[i] == out)
			return;
	pairs->in[pairs->count] = (uint8_t)in;
	pairs->out[pairs->count++] = (uint8_t)out;
}

/* Boundaries of stage s (from the end, 1 ..) of the replicas that are priced. */
static struct boundaries stage_boundaries(const struct published_problem *problem,
					  const struct published_plan *plan,
					  uint32_t s, uint32_t replicas)
{
	struct boundaries pairs = { .count = 0 };
	uint64_t a = plan->devices_per_stage;

	for (uint32_t r = 0; r < replicas; r++) {
		uint64_t here = (uint64_t)r * plan->stride + (s - 1) * a;

		boundaries_add(&pairs,
			       s == plan->stages ? 0 :
			       meeting_level(problem, here + a, here),
			       s == 1 ? 0 : meeting_level(problem, here, here - a));
	}
	return pairs;
}

static double stage_time(const struct tables *tables, const struct boundaries *pairs,
			 uint32_t s, size_t at)
{
	double *const *backward = tables->problem->recompute && s > 1 ?
		tables->recomputed : tables->backward;
	double slowest = 0;

	for (uint32_t i = 0; i < pairs->count; i++)
		slowest = fmax(slowest, tables->forward[pairs->in[i]][at] +
			       backward[pairs->out[i]][at]);
	return slowest;
}

static bool stage_fits(const struct tables *tables, uint32_t s, size_t at)
{
	return tables->fixed_bytes[at] + (s - 1) * tables->stash_bytes[at] <=
	       tables->problem->memory_bytes;
}

static double all_reduce(const struct published_problem *problem,
			 enum published_objective objective,
			 const struct published_plan *plan, double bytes)
{
	/* The published rule looks at the replicas' first devices, which hold
	 * their last stage. */
	uint64_t base = objective == PUBLISHED_NEST ? 0 :
		(uint64_t)(plan->stages - 1) * plan->devices_per_stage;
	uint32_t top = 0;
	double time = 0, low = 0, share;

	if (plan->data == 1)
		return 0;
	for (uint32_t r = 1; r < plan->data; r++) {
		uint32_t level = meeting_level(problem, base,
					       base + (uint64_t)r * plan->stride);
		top = level > top ? level : top;
	}
	share = bytes;
	for (uint32_t members = plan->data; members > 1; members /= 2) {
		time += problem->latency_s[0] + share / problem->bandwidth_Bps[0];
		share /= 2;
	}
	for (uint32_t l = 1; l <= top; l++) {
		time += 2 * (problem->latency_s[l] +
			     bytes / problem->bandwidth_Bps[l]) + low;
		low += time;
	}
	return time;
}

static uint32_t replicas_priced(enum published_objective objective,
				const struct published_plan *plan)
{
	return objective == PUBLISHED_NEST ? 1 : plan->data;
}

static double micro_batches(const struct published_problem *problem, uint32_t data)
{
	return (double)((problem->micro_batches + data - 1) / data);
}

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

/* Extends the cuts by stage s, for first nodes low .. high. */
static void cuts_extend(struct cuts *cuts, const struct tables *tables,
			const struct boundaries *pairs, uint32_t s,
			uint32_t low, uint32_t high)
{
	uint32_t nodes = cuts->nodes;

	for (uint32_t first = low; first <= high; first++) {
		double best = INFINITY;
		uint32_t chosen = 0;

		for (uint32_t end = s == 1 ? nodes : first + 1; end <= nodes; end++) {
			double after = cuts->best[cut_at(cuts, s - 1, end)];
			size_t at = cell(tables, first, end);
			double time;

			if (after >= best || !stage_fits(tables, s, at))
				continue;
			time = fmax(after, stage_time(tables, pairs, s, at));
			if (time < best) {
				best = time;
				chosen = end;
			}
		}
		cuts->best[cut_at(cuts, s, first)] = best;
		cuts->end[cut_at(cuts, s, first)] = (uint16_t)chosen;
	}
}

/* Tries every size of the first stage of a plan whose later stages' cuts are
 * known, and keeps the plan if it is better. */
static void try_plan(const struct tables *tables, const struct cuts *cuts,
		     const struct published_plan *candidate,
		     enum published_objective objective,
		     struct published_plan *best)
{
	const struct published_problem *problem = tables->problem;
	uint32_t replicas = replicas_priced(objective, candidate);
	uint32_t s = candidate->stages, nodes = cuts->nodes;
	struct boundaries pairs =
		stage_boundaries(problem, candidate, s, replicas);
	double rounds = micro_batches(problem, candidate->data) + s - 1;
	double weights = 0;

	for (uint32_t end = 1; end <= nodes; end++) {
		double after = cuts->best[cut_at(cuts, s - 1, end)];
		size_t at = cell(tables, 0, end);
		double time;

		weights += tables->width->parameter_bytes[end - 1];
		if (after == INFINITY || !stage_fits(tables, s, at))
			continue;
		time = fmax(after, stage_time(tables, &pairs, s, at)) * rounds;
		if (time >= best->time)
			continue;
		time += all_reduce(problem, objective, candidate, weights);
		if (time >= best->time)
			continue;
		best->time = time;
		best->width = candidate->width;
		best->data = candidate->data;
		best->stages = s;
		best->devices_per_stage = candidate->devices_per_stage;
		best->stride = candidate->stride;
		best->cut[1] = end;
		for (uint32_t left = s - 1, first = end; left > 0; left--) {
			first = cuts->end[cut_at(cuts, left, first)];
			best->cut[s - left + 1] = first;
		}
	}
}

static uint32_t devices_per_stage(const struct published_problem *problem,
				  uint32_t width)
{
	return problem->width[width].tensor * problem->expert * problem->context;
}

/* Replica 0 priced: a boundary's level depends on its place from the end only,
 * so one table of cuts serves every number of replicas and stages. */
static void search_first_replica(const struct tables *tables, uint32_t width,
				 struct arena *arena, struct published_plan *best)
{
	const struct published_problem *problem = tables->problem;
	uint32_t a = devices_per_stage(problem, width), nodes = tables->nodes;
	uint32_t most = problem->device_count / a < nodes ?
		problem->device_count / a : nodes;
	struct cuts cuts = cuts_make(nodes, most, arena);
	struct published_plan plan = { .width = width, .devices_per_stage = a };

	for (uint32_t s = 1; s <= most; s++) {
		struct boundaries pairs;

		plan.stages = s + 1;	/* some stage stands before it */
		pairs = stage_boundaries(problem, &plan, s, 1);
		cuts_extend(&cuts, tables, &pairs, s, 1, nodes - 1);
	}
	for (uint32_t d = 1; d <= problem->micro_batches &&
	     d <= problem->device_count / a; d++)
		for (uint32_t s = 1; s <= most &&
		     (uint64_t)s * a <= problem->device_count / d; s++) {
			plan.data = d;
			plan.stages = s;
			plan.stride = s * a;
			try_plan(tables, &cuts, &plan, PUBLISHED_NEST, best);
		}
}

/* A stage does at least its share of the work of one micro-batch. */
static double work_bound(const struct tables *tables, uint32_t data, uint32_t stages)
{
	double work = 0;

	for (uint32_t v = 0; v < tables->nodes; v++)
		work += tables->width->forward_s[v] + tables->width->backward_s[v];
	return work / stages *
	       (micro_batches(tables->problem, data) + stages - 1);
}

static void price_stride(const struct tables *tables,
			 const struct published_plan *plan, struct arena *arena,
			 struct published_plan *best)
{
	struct arena_mark mark = arena_mark(arena);
	struct cuts cuts = cuts_make(tables->nodes, plan->stages, arena);

	for (uint32_t s = 1; s < plan->stages; s++) {
		struct boundaries pairs = stage_boundaries(tables->problem, plan, s,
							   plan->data);
		cuts_extend(&cuts, tables, &pairs, s, 1, tables->nodes - 1);
	}
	try_plan(tables, &cuts, plan, PUBLISHED_ALL_REPLICAS, best);
	arena_rewind(arena, mark);
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

static void search_all_replicas(const struct tables *tables, uint32_t width,
				struct arena *arena, struct published_plan *best)
{
	const struct published_problem *problem = tables->problem;
	uint32_t a = devices_per_stage(problem, width);

	for (uint32_t d = 1; d <= problem->micro_batches &&
	     d <= problem->device_count / a; d++)
		for (uint32_t s = 1; s <= tables->nodes &&
		     (uint64_t)s * a <= problem->device_count / d; s++) {
			uint32_t tried[LEVEL_MAX + 2], count = 0;

			if (work_bound(tables, d, s) >= best->time)
				continue;
			for (uint32_t kind = 0; kind < problem->level_count + 2; kind++) {
				uint32_t stride = stride_of(problem, kind, d, s * a);
				bool known = stride == 0;

				for (uint32_t i = 0; i < count; i++)
					known = known || tried[i] == stride;
				if (known)
					continue;
				tried[count++] = stride;
				price_stride(tables, &(struct published_plan){
					.width = width, .data = d, .stages = s,
					.devices_per_stage = a, .stride = stride,
				}, arena, best);
			}
		}
}

bool published_solve(const struct published_problem *problem,
		     enum published_objective objective, struct arena *arena,
		     struct published_plan *plan)
{
	*plan = (struct published_plan){ .time = INFINITY };
	plan->cut = ARENA_ARRAY(arena, uint32_t, problem->node_count + 1);
	for (uint32_t width = 0; width < problem->width_count; width++) {
		struct arena_mark mark = arena_mark(arena);
		struct tables tables;

		if (devices_per_stage(problem, width) > problem->device_count)
			continue;
		tabulate(&tables, problem, width, arena);
		if (objective == PUBLISHED_NEST)
			search_first_replica(&tables, width, arena, plan);
		else
			search_all_replicas(&tables, width, arena, plan);
		arena_rewind(arena, mark);
	}
	return plan->time < INFINITY;
}

bool published_best_cut(const struct published_problem *problem,
			uint32_t width, uint32_t data, uint32_t stages,
			enum published_objective objective, struct arena *arena,
			struct published_plan *plan)
{
	uint32_t a = devices_per_stage(problem, width);
	struct published_plan wanted = {
		.width = width, .data = data, .stages = stages,
		.devices_per_stage = a, .stride = stages * a,
	};
	struct arena_mark mark;
	struct tables tables;
	struct cuts cuts;

	*plan = (struct published_plan){ .time = INFINITY };
	plan->cut = ARENA_ARRAY(arena, uint32_t, problem->node_count + 1);
	if (stages > problem->node_count ||
	    (uint64_t)stages * a * data > problem->device_count)
		return false;
	mark = arena_mark(arena);
	tabulate(&tables, problem, width, arena);
	cuts = cuts_make(tables.nodes, stages, arena);
	for (uint32_t s = 1; s < stages; s++) {
		struct boundaries pairs =
			stage_boundaries(problem, &wanted, s,
					 replicas_priced(objective, &wanted));
		cuts_extend(&cuts, &tables, &pairs, s, 1, tables.nodes - 1);
	}
	try_plan(&tables, &cuts, &wanted, objective, plan);
	arena_rewind(arena, mark);
	return plan->time < INFINITY;
}

double published_price(const struct published_problem *problem,
		       enum published_objective objective,
		       const struct published_plan *plan, struct arena *scratch)
{
	const struct published_width *width = &problem->width[plan->width];
	uint32_t replicas = replicas_priced(objective, plan);
	uint64_t a = devices_per_stage(problem, plan->width);
	struct published_plan placed = *plan;
	struct arena_mark mark = arena_mark(scratch);
	double *done = ARENA_ARRAY(scratch, double, problem->node_count);
	struct adjacency edges =
		adjacency_make(width, problem->node_count, scratch);
	double slowest = 0, weights = 0;

	placed.devices_per_stage = (uint32_t)a;
	if ((plan->data - 1) * (uint64_t)plan->stride + plan->stages * a >
	    problem->device_count)
		slowest = INFINITY;
	for (uint32_t index = 0; index < plan->stages; index++) {
		uint32_t s = plan->stages - index;
		uint32_t first = plan->cut[index], end = plan->cut[index + 1];
		struct boundaries pairs =
			stage_boundaries(problem, &placed, s, replicas);
		double fixed, stash;

		stage_bytes(problem, width, &edges, first, end, &fixed, &stash);
		if (fixed + (s - 1) * stash > problem->memory_bytes)
			slowest = INFINITY;
		for (uint32_t i = 0; i < pairs.count; i++)
			slowest = fmax(slowest,
				run_forward(problem, width, &edges, first, end,
					    pairs.in[i], done) +
				run_backward(problem, width, &edges, first, end,
					     pairs.out[i],
					     problem->recompute && s > 1, done));
	}
	for (uint32_t v = 0; v < plan->cut[1]; v++)
		weights += width->parameter_bytes[v];
	arena_rewind(scratch, mark);
	return slowest * (micro_batches(problem, plan->data) + plan->stages - 1) +
	       all_reduce(problem, objective, &placed, weights);
}

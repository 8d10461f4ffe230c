/* SPDX-License-Identifier: MIT
 *
 * The published model's formulas. The tables follow a stage as it grows by one
 * node at either end; published_price walks the nodes of every stage anew and
 * so shares nothing with them.
 */
#include "solver/published_model.h"

#include <math.h>

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

static uint32_t edge_node(const struct published_edge *edge, bool by_end)
{
	return by_end ? edge->to : edge->from;
}

/* Counting sort by the node at one end. */
static void sort_edges(const struct published_width *width, uint32_t nodes,
		       bool by_end, uint32_t *first, struct published_edge *sorted)
{
	for (uint32_t e = 0; e < width->edge_count; e++)
		first[edge_node(&width->edge[e], by_end) + 1]++;
	for (uint32_t v = 0; v < nodes; v++)
		first[v + 1] += first[v];
	for (uint32_t e = width->edge_count; e-- > 0;)
		sorted[--first[edge_node(&width->edge[e], by_end) + 1]] =
			width->edge[e];
	/* Every entry but the first was moved to its bucket's begin. */
	for (uint32_t v = 0; v < nodes; v++)
		first[v] = first[v + 1];
	first[nodes] = width->edge_count;
}

struct published_edges published_edges_make(const struct published_width *width,
					    uint32_t nodes, struct arena *arena)
{
	struct published_edges edges = {
		.in_first = ARENA_ARRAY(arena, uint32_t, nodes + 1),
		.out_first = ARENA_ARRAY(arena, uint32_t, nodes + 1),
		.in = ARENA_ARRAY(arena, struct published_edge, width->edge_count),
		.out = ARENA_ARRAY(arena, struct published_edge, width->edge_count),
	};

	sort_edges(width, nodes, true, edges.in_first, edges.in);
	sort_edges(width, nodes, false, edges.out_first, edges.out);
	return edges;
}

/* ---- tables ---- */

/* When a node of a stage that begins at first is done in the forward pass: it
 * does not depend on where the stage ends. */
static double forward_done(const struct published_tables *tables,
			   const struct published_edges *edges, uint32_t first,
			   uint32_t v, uint32_t level, const double *done)
{
	double start = 0;

	for (uint32_t e = edges->in_first[v]; e < edges->in_first[v + 1]; e++) {
		const struct published_edge *edge = &edges->in[e];

		start = fmax(start, edge->from >= first ? done[edge->from] :
			     transfer(tables->problem, edge->bytes, level));
	}
	return start + tables->width->forward_s[v];
}

static double backward_done(const struct published_tables *tables,
			    const struct published_edges *edges, uint32_t end,
			    uint32_t v, uint32_t level, const double *done)
{
	double start = 0;

	for (uint32_t e = edges->out_first[v]; e < edges->out_first[v + 1]; e++) {
		const struct published_edge *edge = &edges->out[e];

		start = fmax(start, edge->to < end ? done[edge->to] :
			     transfer(tables->problem, edge->bytes, level));
	}
	return start + tables->width->backward_s[v];
}

static void tabulate_level(struct published_tables *tables,
			   const struct published_edges *edges, uint32_t level,
			   double *done)
{
	uint32_t nodes = tables->nodes;

	for (uint32_t first = 0; first < nodes; first++) {
		double last = 0;

		for (uint32_t v = first; v < nodes; v++) {
			done[v] = forward_done(tables, edges, first, v, level, done);
			last = fmax(last, done[v]);
			tables->forward[level][published_cell(nodes, first, v + 1)] =
				last;
		}
	}
	for (uint32_t end = 1; end <= nodes; end++) {
		double last = 0;

		for (uint32_t v = end; v-- > 0;) {
			done[v] = backward_done(tables, edges, end, v, level, done);
			last = fmax(last, done[v]);
			tables->backward[level][published_cell(nodes, v, end)] = last;
		}
	}
}

/* Sums over a stage. Recomputation starts the backward after the sum of the
 * stage's backward times; as every node follows the one before it, the longest path
 * from there takes that sum once more, and a transfer that ends later still is what
 * the backward without recomputation waits for. */
static void tabulate_sums(struct published_tables *tables,
			  const struct published_edges *edges)
{
	const struct published_width *width = tables->width;
	uint32_t nodes = tables->nodes;

	for (uint32_t first = 0; first < nodes; first++) {
		double parameters = 0, activations = 0, entering = 0, backward = 0;

		for (uint32_t v = first; v < nodes; v++) {
			size_t at = published_cell(nodes, first, v + 1);

			parameters += width->parameter_bytes[v];
			activations += width->activation_bytes[v];
			backward += width->backward_s[v];
			for (uint32_t e = edges->in_first[v];
			     e < edges->in_first[v + 1]; e++)
				if (edges->in[e].from < first)
					entering += edges->in[e].bytes;
			tables->parameter_bytes[at] = parameters;
			tables->activation_bytes[at] = activations;
			tables->stash_bytes[at] = tables->problem->recompute ?
				entering : activations;
			tables->recomputed[at] = 2 * backward;
		}
	}
	for (uint32_t v = 0; v < nodes; v++)
		tables->work[v + 1] = tables->work[v] + width->forward_s[v] +
				      width->backward_s[v];
}

void published_tabulate(struct published_tables *tables,
			const struct published_problem *problem,
			uint32_t width, struct arena *arena)
{
	uint32_t nodes = problem->node_count;
	size_t cells = ((size_t)nodes + 1) * (nodes + 1);
	double *done = ARENA_ARRAY(arena, double, nodes);
	struct published_edges edges;

	*tables = (struct published_tables){
		.problem = problem,
		.width = &problem->width[width],
		.nodes = nodes,
		.recomputed = ARENA_ARRAY(arena, double, cells),
		.parameter_bytes = ARENA_ARRAY(arena, double, cells),
		.activation_bytes = ARENA_ARRAY(arena, double, cells),
		.stash_bytes = ARENA_ARRAY(arena, double, cells),
		.work = ARENA_ARRAY(arena, double, nodes + 1),
	};
	edges = published_edges_make(tables->width, nodes, arena);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		tables->forward[l] = ARENA_ARRAY(arena, double, cells);
		tables->backward[l] = ARENA_ARRAY(arena, double, cells);
		tabulate_level(tables, &edges, l, done);
	}
	tabulate_sums(tables, &edges);
}

/* ---- places ---- */

uint32_t published_stage_devices(const struct published_problem *problem,
				 uint32_t width)
{
	uint64_t devices = (uint64_t)problem->width[width].tensor * problem->expert;

	/* More than there can be is enough to know. */
	if (devices <= PUBLISHED_DEVICES_MAX)
		devices *= problem->context;
	return devices <= PUBLISHED_DEVICES_MAX ? (uint32_t)devices : UINT32_MAX;
}

double published_rounds(const struct published_problem *problem, uint32_t data)
{
	return (double)(((uint64_t)problem->micro_batches + data - 1) / data);
}

static void boundaries_add(struct published_boundaries *pairs, uint32_t in,
			   uint32_t out)
{
	for (uint32_t i = 0; i < pairs->count; i++)
		if (pairs->in[i] == in && pairs->out[i] == out)
			return;
	pairs->in[pairs->count] = (uint8_t)in;
	pairs->out[pairs->count++] = (uint8_t)out;
}

struct published_boundaries
published_boundaries_of(const struct published_problem *problem,
			const struct published_plan *plan, uint32_t s,
			uint32_t replicas)
{
	struct published_boundaries pairs = { .count = 0 };
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

uint32_t published_replicas(enum published_objective objective,
			    const struct published_plan *plan)
{
	return objective == PUBLISHED_NEST ? 1 : plan->data;
}

uint32_t published_meeting(const struct published_problem *problem,
			   enum published_objective objective,
			   const struct published_plan *plan)
{
	/* The published rule looks at the replicas' first devices, which hold
	 * their last stage. */
	uint64_t base = objective == PUBLISHED_NEST ? 0 :
		(uint64_t)(plan->stages - 1) * plan->devices_per_stage;

	/* Devices in order: the last replica is as far off as any. */
	return plan->data == 1 ? 0 :
	       meeting_level(problem, base,
			     base + (uint64_t)(plan->data - 1) * plan->stride);
}

/* ---- collectives, ZeRO ---- */

double published_all_reduce(const struct published_problem *problem,
			    uint32_t data, uint32_t top, double bytes)
{
	double time = 0, low = 0, share = bytes;

	if (data == 1)
		return 0;
	for (uint32_t members = data; members > 1; members /= 2) {
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

double published_state_bytes(const struct published_problem *problem,
			     uint32_t zero, uint32_t data, double parameter_bytes)
{
	double weights = 1, gradients = 1, optimizer = problem->adam ? 6 : 0;

	if (zero >= 1)
		optimizer /= data;
	if (zero >= 2)
		gradients /= data;
	if (zero >= 3)
		weights /= data;
	return (weights + gradients + optimizer) * parameter_bytes;
}

double published_zero_step(uint32_t zero, double all_reduce)
{
	return zero < 2 ? 0 : zero == 2 ? all_reduce / 2 : 1.5 * all_reduce;
}

double published_zero_end(uint32_t zero, double all_reduce)
{
	return zero < 2 ? all_reduce : zero == 2 ? all_reduce / 2 : 0;
}

/* ---- the price of a plan ---- */

static double run_forward(const struct published_problem *problem,
			  const struct published_width *width,
			  const struct published_edges *edges, uint32_t first,
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
			   const struct published_edges *edges, uint32_t first,
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

/* Bytes of a stage when s - 1 further micro-batches are in flight. */
static double run_bytes(const struct published_problem *problem,
			const struct published_plan *plan,
			const struct published_edges *edges, uint32_t first,
			uint32_t end, uint32_t s, double parameters)
{
	const struct published_width *width = &problem->width[plan->width];
	double activations = 0, entering = 0;

	for (uint32_t v = first; v < end; v++) {
		activations += width->activation_bytes[v];
		for (uint32_t e = edges->in_first[v]; e < edges->in_first[v + 1]; e++)
			if (edges->in[e].from < first)
				entering += edges->in[e].bytes;
	}
	return published_state_bytes(problem, plan->zero, plan->data, parameters) +
	       activations + (s - 1) * (problem->recompute ? entering : activations);
}

/* The slowest replica of a stage; infinity where it does not fit. */
static double run_stage(const struct published_problem *problem,
			enum published_objective objective,
			const struct published_plan *plan,
			const struct published_edges *edges, uint32_t index,
			double *done)
{
	const struct published_width *width = &problem->width[plan->width];
	uint32_t s = plan->stages - index;
	uint32_t first = plan->cut[index], end = plan->cut[index + 1];
	struct published_boundaries pairs =
		published_boundaries_of(problem, plan, s,
					published_replicas(objective, plan));
	double slowest = 0, parameters = 0;

	for (uint32_t v = first; v < end; v++)
		parameters += width->parameter_bytes[v];
	if (run_bytes(problem, plan, edges, first, end, s, parameters) >
	    problem->memory_bytes)
		return INFINITY;
	for (uint32_t i = 0; i < pairs.count; i++)
		slowest = fmax(slowest,
			       run_forward(problem, width, edges, first, end,
					   pairs.in[i], done) +
			       run_backward(problem, width, edges, first, end,
					    pairs.out[i],
					    problem->recompute && s > 1, done));
	return slowest +
	       published_zero_step(plan->zero,
			published_all_reduce(problem, plan->data,
				published_meeting(problem, objective, plan),
				parameters));
}

double published_price(const struct published_problem *problem,
		       enum published_objective objective,
		       const struct published_plan *plan, struct arena *scratch)
{
	const struct published_width *width = &problem->width[plan->width];
	struct published_plan placed = *plan;
	struct arena_mark mark = arena_mark(scratch);
	double *done = ARENA_ARRAY(scratch, double, problem->node_count);
	struct published_edges edges =
		published_edges_make(width, problem->node_count, scratch);
	double slowest = 0, weights = 0;

	placed.devices_per_stage = published_stage_devices(problem, plan->width);
	if ((plan->data - 1) * (uint64_t)plan->stride +
	    plan->stages * (uint64_t)placed.devices_per_stage > problem->device_count)
		slowest = INFINITY;
	for (uint32_t index = 0; index < plan->stages; index++)
		slowest = fmax(slowest, run_stage(problem, objective, &placed,
						  &edges, index, done));
	for (uint32_t v = 0; v < plan->cut[1]; v++)
		weights += width->parameter_bytes[v];
	arena_rewind(scratch, mark);
	return slowest * (published_rounds(problem, plan->data) + plan->stages - 1) +
	       published_zero_end(plan->zero,
			published_all_reduce(problem, plan->data,
				published_meeting(problem, objective, &placed),
				weights));
}

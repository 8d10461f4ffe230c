/* SPDX-License-Identifier: MIT
 *
 * The independent checker: the end of a schedule as the longest path through
 * the graph of its operations.
 */
#include "solver/feasible_check.h"

#include <math.h>

/* Graphs of more operations than this are refused instead of filling memory. */
#define OPERATIONS_MAX (UINT64_C(1) << 25)

struct feasible_operation feasible_operation(const struct choice *choice,
					     uint32_t k, uint64_t q)
{
	uint64_t p = choice->pipeline, v = choice->virtual_stages;
	uint64_t half = choice->micro_batches * v;
	uint64_t warm = choice->schedule == SCHEDULE_GPIPE ? half :
			v == 1 ? p - 1 - k : 2 * (p - 1 - k) + (v - 1) * p;
	struct feasible_operation operation;
	uint64_t turn;

	if (warm > half)
		warm = half;
	if (q < warm) {
		operation.backward = false;
		turn = q;
	} else if (q >= 2 * half - warm) {
		operation.backward = true;
		turn = q - half;
	} else {
		operation.backward = (q - warm) % 2;
		turn = (q - warm) / 2 + (operation.backward ? 0 : warm);
	}
	if (v == 1) {
		operation.chunk = 0;
		operation.micro_batch = (uint32_t)turn;
		return operation;
	}
	operation.chunk = (uint32_t)(turn % (p * v) / p);
	if (operation.backward)
		operation.chunk = (uint32_t)(v - 1 - operation.chunk);
	operation.micro_batch = (uint32_t)(turn / (p * v) * p + turn % p);
	return operation;
}

/* The graph of all operations. Node k x length + q is operation q of device k. */
struct graph {
	const struct choice *choice;
	uint64_t length;		/* operations of one device */
	uint32_t *node_of;		/* by direction, chunk, micro-batch */
	unsigned char *waits;		/* predecessors not yet done */
	double *start_s;
	uint32_t *ready;		/* a device has at most one that is */
	uint32_t ready_count;
};

static uint32_t *graph_node(const struct graph *graph, bool backward,
			    uint64_t chunk, uint64_t micro_batch)
{
	uint64_t chunks = (uint64_t)graph->choice->pipeline *
			  graph->choice->virtual_stages;

	return &graph->node_of[((backward ? chunks : 0) + chunk) *
			       graph->choice->micro_batches + micro_batch];
}

static void graph_build(struct graph *graph, struct check *c)
{
	const struct choice *choice = graph->choice;
	uint64_t count = graph->length * choice->pipeline;
	uint32_t last = choice->pipeline * choice->virtual_stages - 1;

	graph->node_of = ARENA_ARRAY(c->scratch, uint32_t, count);
	graph->ready = ARENA_ARRAY(c->scratch, uint32_t, choice->pipeline);
	graph->waits = ARENA_ARRAY(c->scratch, unsigned char, count);
	graph->start_s = ARENA_ARRAY(c->scratch, double, count);
	for (uint64_t node = 0; node < count; node++) {
		uint32_t k = (uint32_t)(node / graph->length);
		struct feasible_operation o =
			feasible_operation(choice, k, node % graph->length);
		uint32_t chunk = o.chunk * choice->pipeline + k;

		*graph_node(graph, o.backward, chunk, o.micro_batch) =
			(uint32_t)node;
		graph->waits[node] = (unsigned char)(
			(node % graph->length != 0) +
			(o.backward ? 1 + (chunk < last) : chunk > 0));
		if (graph->waits[node] == 0)
			graph->ready[graph->ready_count++] = (uint32_t)node;
	}
}

static void graph_release(struct graph *graph, uint32_t node, double from_s)
{
	graph->start_s[node] = fmax(graph->start_s[node], from_s);
	if (--graph->waits[node] == 0)
		graph->ready[graph->ready_count++] = node;
}

/* Marks a node done and tells its successors: the device's next operation,
 * the neighbouring chunk, and a forward's own backward. */
static double graph_finish(struct graph *graph, uint32_t node,
			   const double *duration_s, const double *boundary_s)
{
	const struct choice *choice = graph->choice;
	uint32_t k = (uint32_t)(node / graph->length);
	uint32_t chunks = choice->pipeline * choice->virtual_stages;
	struct feasible_operation o = feasible_operation(choice, k, node % graph->length);
	uint32_t chunk = o.chunk * choice->pipeline + k;
	double end_s = graph->start_s[node] +
		       duration_s[(o.backward ? chunks : 0) + chunk];

	if ((node + 1) % graph->length != 0)
		graph_release(graph, node + 1, end_s);
	if (!o.backward)
		graph_release(graph, *graph_node(graph, true, chunk,
						 o.micro_batch), end_s);
	if (o.backward && chunk > 0)
		graph_release(graph, *graph_node(graph, true, chunk - 1,
						 o.micro_batch),
			      end_s + boundary_s[chunk - 1]);
	if (!o.backward && chunk + 1 < chunks)
		graph_release(graph, *graph_node(graph, false, chunk + 1,
						 o.micro_batch),
			      end_s + boundary_s[chunk]);
	return end_s;
}

/* Longest path to the end of every device; false if the orders deadlock. */
static bool longest_path(struct check *c, const double *duration_s,
			 const double *boundary_s, double *finish_s,
			 double *end_s)
{
	struct arena_mark mark = arena_mark(c->scratch);
	struct graph graph = { .choice = &c->plan->choice };
	uint64_t done = 0, count;

	graph.length = (uint64_t)2 * graph.choice->micro_batches *
		       graph.choice->virtual_stages;
	count = graph.length * graph.choice->pipeline;
	graph_build(&graph, c);
	*end_s = 0;
	for (uint32_t k = 0; finish_s && k < graph.choice->pipeline; k++)
		finish_s[k] = 0;
	for (; graph.ready_count > 0; done++) {
		uint32_t node = graph.ready[--graph.ready_count];
		double at_s = graph_finish(&graph, node, duration_s, boundary_s);

		*end_s = fmax(*end_s, at_s);
		if (finish_s)
			finish_s[node / graph.length] =
				fmax(finish_s[node / graph.length], at_s);
	}
	arena_rewind(c->scratch, mark);
	return done == count;
}

/* Times of the boundaries between chunks, and the stages' sends. */
static double *price_boundaries(struct check *c)
{
	uint32_t pipeline = c->plan->choice.pipeline;
	uint32_t chunks = c->plan->chunk_count;
	double *boundary_s = ARENA_ARRAY(c->scratch, double, chunks);

	for (uint32_t i = 0; i + 1 < chunks; i++) {
		uint32_t last = c->plan->chunk_first[i + 1] - 1;
		uint32_t k = i % pipeline, next = (i + 1) % pipeline;

		boundary_s[i] = feasible_send_s(c, k, next,
			feasible_weight_of(c, last)->output_bytes);
		if (i < pipeline) {
			c->stage[i].send_level = feasible_border_level(c, k, next);
			c->stage[i].send_s = boundary_s[i];
		}
	}
	return boundary_s;
}

/* Whether the replicas of a weight are spread over innermost children. */
static bool replicas_spread(const struct check *c)
{
	const struct site *site = &c->site[0];
	double inside = (double)site->placement->factor[DIMENSION_DATA][0] *
			site->placement->factor[DIMENSION_CONTEXT][0];

	if (c->plan->segment_count > 1)
		return false;
	if (site->placement->packing == PACKING_FACTORS)
		return site->replicas > inside;
	return site->replicas > 1 && c->plan->devices >
					     site->problem->level[0].fanout;
}

/* Takes from what hides the exchanges of a stage the time for which its uplinks are
 * busy with the transfers of its chunks. */
static void share_uplinks(struct check *c, const double *boundary_s)
{
	const struct problem_sync *sync = &c->site[0].problem->sync;
	uint32_t pipeline = c->plan->choice.pipeline;
	double *back_s = ARENA_ARRAY(c->scratch, double, pipeline);
	double *on_s = ARENA_ARRAY(c->scratch, double, pipeline);

	if (!replicas_spread(c))
		return;
	for (uint32_t i = 0; i + 1 < c->plan->chunk_count; i++) {
		uint32_t k = i % pipeline, next = (i + 1) % pipeline;

		if (!feasible_border_level(c, k, next))
			continue;
		on_s[k] += boundary_s[i];
		back_s[next] += boundary_s[i];
	}
	for (uint32_t k = 0; k < pipeline; k++) {
		struct stage_cost *stage = &c->stage[k];

		if (sync->overlap_reduce)
			stage->reduce_exposed_s +=
				fmax(0, stage->reduce_s -
					fmax(0, stage->backward_s - back_s[k])) -
				fmax(0, stage->reduce_s - stage->backward_s);
		if (sync->overlap_gather)
			stage->gather_exposed_s = fmax(0, stage->gather_s -
				fmax(0, stage->forward_s - on_s[k]));
	}
}

bool feasible_run_schedule(struct check *c)
{
	const struct choice *choice = &c->plan->choice;
	uint32_t chunks = c->plan->chunk_count;
	double *duration_s = ARENA_ARRAY(c->scratch, double, 2 * (size_t)chunks);
	double *free_s = ARENA_ARRAY(c->scratch, double, chunks);
	double *boundary_s = price_boundaries(c);

	share_uplinks(c, boundary_s);

	if ((double)chunks * choice->micro_batches * 2 > (double)OPERATIONS_MAX) {
		text_printf(c->reason, "%u chunks of %u micro-batches are too "
			    "many operations to check", chunks,
			    choice->micro_batches);
		return false;
	}
	for (uint32_t i = 0; i < c->layer_count; i++) {
		const struct class_cost *price = feasible_price_of(c, i);

		duration_s[c->chunk_of[i]] += price->forward_s;
		duration_s[chunks + c->chunk_of[i]] += price->backward_s;
	}
	c->finish_s = ARENA_ARRAY(c->scratch, double, choice->pipeline);
	if (!longest_path(c, duration_s, boundary_s, c->finish_s, &c->end_s) ||
	    !longest_path(c, duration_s, free_s, NULL, &c->end_free_s)) {
		text_append(c->reason, "the schedule never ends");
		return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * One device of an interleaved schedule by its operations, and all ways to deal blocks
 * to its chunks.
 */
#include "solver/graph_alone.h"

#include <math.h>

#include "solver/even.h"
#include "solver/most.h"

/* More ways to deal blocks to the device's chunks are not looked at. */
#define ALONE_CUTS_MAX 128

static double alone_finish(struct graph_alone *alone)
{
	uint32_t m = alone->micro_batches, last = alone->virtual_stages - 1;
	double clock = 0;

	for (uint32_t i = 0; i < alone->count; i++) {
		const struct schedule_operation *op = &alone->operation[i];
		double *own = op->backward ? alone->backward_end :
					     alone->forward_end;
		size_t at = (size_t)op->chunk * m + op->micro_batch;
		double ready = alone->prefix_s;

		if (op->backward)
			ready = op->chunk == last ?
				alone->forward_end[at] + alone->turn_s :
				alone->backward_end[at + m] + alone->backward_s;
		else if (op->chunk)
			ready = alone->forward_end[at - m] + alone->forward_s;
		clock = most(clock, ready) +
			(op->backward ? alone->chunk_backward_s[op->chunk] :
					alone->chunk_forward_s[op->chunk]);
		own[at] = clock;
	}
	return clock;
}

/* The end of all, the slow device's reduction and step included. */
static double together_end(const struct graph_alone *alone)
{
	struct graph_together *together = alone->together;
	uint32_t p = together->input.shape.pipeline;
	double end_s;

	for (uint32_t c = 0; c < alone->virtual_stages; c++) {
		uint32_t at = c * p + together->loaded;

		together->forward_s[at] = alone->chunk_forward_s[c];
		together->backward_s[at] = alone->chunk_backward_s[c];
	}
	end_s = schedule_simulate(&together->input, together->scratch,
				  together->finish_s);
	return most(end_s, together->finish_s[together->slow] +
				   together->reduce_s) + together->step_s;
}

static double alone_try(struct graph_alone *alone)
{
	uint32_t last = alone->virtual_stages - 1;

	for (uint32_t c = 0; c <= last; c++) {
		alone->chunk_forward_s[c] = alone->blocks[c] *
					    alone->unit_forward_s;
		alone->chunk_backward_s[c] = alone->blocks[c] *
					     alone->unit_backward_s;
	}
	alone->chunk_forward_s[0] += alone->first_s[0];
	alone->chunk_backward_s[0] += alone->first_s[1];
	alone->chunk_forward_s[last] += alone->last_s[0];
	alone->chunk_backward_s[last] += alone->last_s[1];
	return alone->together ? together_end(alone) : alone_finish(alone);
}

/* Blocks of the chunks from one on, `left` in all; inner ones low or one more, outer
 * ones at most that. */
static double alone_deal(struct graph_alone *alone, const struct graph_rank *row,
			 uint32_t pipeline, uint32_t low, uint32_t chunk,
			 uint32_t left)
{
	uint32_t last = alone->virtual_stages - 1;
	bool outer = (chunk == 0 && row->rank == 0) ||
		     (chunk == last && row->rank + 1 == pipeline);
	double least = INFINITY;

	for (uint32_t n = outer ? 0 : low; n <= low + 1 && n <= left; n++) {
		alone->blocks[chunk] = n;
		if (chunk < last) {
			least = fmin(least, alone_deal(alone, row, pipeline, low,
						       chunk + 1, left - n));
			continue;
		}
		if (n < left)
			continue;
		/* Too many to tell. */
		if (!alone->cuts)
			return 0;
		alone->cuts--;
		least = fmin(least, alone_try(alone));
	}
	return least;
}

static void set_delays(const struct graph_span *span, const struct graph_unit *unit,
		       const struct graph_rank *row, struct graph_alone *alone)
{
	const struct partition *partition = span->partition;
	const struct chain *chain = span->fast;
	uint32_t p = partition->pipeline, chunks = partition->chunks;
	uint32_t blocks = chain->blocks[chain->length], after = p - 1 - row->rank;
	double around = even_least(blocks, chunks, p - 1);
	double passed_s = 0, all_s = 0, last_s = 0;

	for (uint32_t b = 0; b < p; b++) {
		passed_s += b < row->rank ? partition->transfer_least_s[b] : 0;
		last_s += b >= row->rank && b + 1 < p ?
			partition->transfer_least_s[b] : 0;
		all_s += partition->transfer_least_s[b];
	}
	alone->forward_s = around * unit->forward_least_s + all_s;
	alone->backward_s = around * unit->backward_least_s + all_s;
	if (row->rank)
		alone->prefix_s = passed_s + unit->forward_least_s *
				  even_least(blocks, chunks, row->rank - 1);
	if (after)
		alone->turn_s = 2 * last_s + chain_floor_both(
				chain, chain->length - 1, chain->length) +
			(unit->forward_least_s + unit->backward_least_s) *
				even_least(blocks, chunks, after - 1);
}

/* Of a layer that is no block. */
void graph_layer_end(const struct chain *chain, uint32_t layer, double end_s[2])
{
	if (chain->blocks[layer + 1] > chain->blocks[layer])
		return;
	end_s[0] = chain_least_forward(chain, layer, layer + 1);
	end_s[1] = chain_least_backward(chain, layer, layer + 1);
}

struct graph_alone graph_alone_new(const struct graph_span *span,
			      const struct graph_unit *unit, const struct graph_rank *row,
			      bool slow)
{
	const struct partition *partition = span->partition;
	struct arena *arena = partition->scratch;
	uint32_t v = partition->virtual_stages, m = span->micro_batches;
	struct schedule_operation *operation = ARENA_ARRAY(
		arena, struct schedule_operation, 2 * (size_t)m * v);
	struct graph_alone alone = {
		.operation = operation,
		.count = schedule_order(&partition->schedule, row->rank, operation),
		.virtual_stages = v,
		.micro_batches = m,
		.forward_end = ARENA_ARRAY(arena, double, (size_t)m * v),
		.backward_end = ARENA_ARRAY(arena, double, (size_t)m * v),
		.blocks = ARENA_ARRAY(arena, uint32_t, v),
		.chunk_forward_s = ARENA_ARRAY(arena, double, v),
		.chunk_backward_s = ARENA_ARRAY(arena, double, v),
		.unit_forward_s = slow ? unit->slow_forward_s :
					 unit->forward_least_s,
		.unit_backward_s = slow ? unit->slow_backward_s :
					  unit->backward_least_s,
	};
	const struct chain *chain = slow ? span->slow : span->fast;

	set_delays(span, unit, row, &alone);
	if (row->rank == 0)
		graph_layer_end(chain, 0, alone.first_s);
	if (row->rank + 1 == partition->pipeline)
		graph_layer_end(chain, chain->length - 1, alone.last_s);
	return alone;
}

/* The least end of the rank's last backward when it has so many blocks. */
double graph_alone_least(const struct graph_span *span, struct graph_alone *alone,
			  const struct graph_rank *row, uint32_t blocks)
{
	uint32_t p = span->partition->pipeline, chunks = span->partition->chunks;
	uint32_t all = span->fast->blocks[span->fast->length];
	uint32_t from = (all + chunks - 1) / chunks;
	double least = INFINITY;

	alone->cuts = ALONE_CUTS_MAX;
	for (uint32_t low = from ? from - 1 : 0; low <= all / (chunks - 2); low++)
		least = fmin(least, alone_deal(alone, row, p, low, 0, blocks));
	return least;
}


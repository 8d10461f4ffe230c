/* SPDX-License-Identifier: MIT
 *
 * Interleaved schedules: the slow rank has so many blocks, the others the rest.
 */
#include <math.h>

#include "solver/even.h"
#include "solver/graph_alone.h"
#include "solver/most.h"

double graph_span_rounds(const struct partition *partition)
{
	uint32_t rounds = (partition->micro_batches - 1) /
			  (2 * partition->pipeline);

	if (partition->virtual_stages < 2)
		return 0;
	return partition->whole_s * (1 + rounds) + graph_mean_step(partition);
}

static struct graph_unit find_unit(const struct graph_span *span)
{
	struct graph_unit unit = {
		.slow_s = INFINITY, .fast_s = INFINITY, .more_s = INFINITY,
		.forward_least_s = INFINITY, .backward_least_s = INFINITY,
		.slow_forward_s = INFINITY, .slow_backward_s = INFINITY,
		.held = { .parameters = INFINITY, .experts = INFINITY },
		.step_s = INFINITY,
	};

	for (uint32_t i = 0; i < span->fast->length; i++) {
		double slow_s = chain_floor_both(span->slow, i, i + 1);
		double fast_s = chain_floor_both(span->fast, i, i + 1);
		double forward_s = chain_forward(span->slow, i, i + 1);
		double backward_s = chain_backward(span->slow, i, i + 1);
		struct holding held = chain_held_apart(span->fast, i, i + 1);

		if (span->fast->blocks[i + 1] == span->fast->blocks[i]) {
			unit.others_forward_s += forward_s;
			unit.others_backward_s += backward_s;
			continue;
		}
		/* A tied weight may be there once for two layers. */
		if (i == span->fast->tied_first)
			held.parameters -= span->fast->tied_parameters;
		unit.slow_s = fmin(unit.slow_s, slow_s);
		unit.fast_s = fmin(unit.fast_s, fast_s);
		unit.more_s = fmin(unit.more_s, slow_s - fast_s);
		unit.forward_least_s = fmin(unit.forward_least_s,
			chain_least_forward(span->fast, i, i + 1));
		unit.backward_least_s = fmin(unit.backward_least_s,
			chain_least_backward(span->fast, i, i + 1));
		unit.slow_forward_s = fmin(unit.slow_forward_s,
			chain_least_forward(span->slow, i, i + 1));
		unit.slow_backward_s = fmin(unit.slow_backward_s,
			chain_least_backward(span->slow, i, i + 1));
		if (span->slow->partial) {
			const struct chain_cost *kept = &span->slow->kept;

			forward_s = most(forward_s, kept->forward_s[i + 1] -
						    kept->forward_s[i]);
			backward_s = most(backward_s, kept->backward_s[i + 1] -
						      kept->backward_s[i]);
		}
		unit.forward_s = most(unit.forward_s, forward_s);
		unit.backward_s = most(unit.backward_s, backward_s);
		unit.held.parameters = fmin(unit.held.parameters,
					    held.parameters);
		unit.held.experts = fmin(unit.held.experts, held.experts);
		unit.step_s = fmin(unit.step_s, share_least_step(
				&span->partition->share, held));
	}
	return unit;
}

/* An inner chunk has one block more at most than another, and an outer one no more
 * than one more than the least inner one. */
static struct graph_rank row_of(const struct graph_span *span,
				const struct graph_unit *unit, uint32_t rank)
{
	const struct partition *partition = span->partition;
	uint32_t p = partition->pipeline, v = partition->virtual_stages;
	uint32_t blocks = span->fast->blocks[span->fast->length];
	uint32_t outer = (rank == 0) + (rank + 1 == p);
	uint32_t most_each = blocks / (p * v - 2) + 1;
	struct graph_rank row = {
		.rank = rank,
		.least = even_least(blocks, p * v, v - outer),
		.chunk_least = rank + 1 < p ? even_least(blocks, p * v, 1) : 0,
		.chunk_most = most_each,
	};

	row.most = v * most_each < blocks ? v * most_each : blocks;
	for (uint32_t b = 0; b < rank; b++)
		row.back_s += partition->transfer_least_s[b] +
			      most_each * unit->backward_s;
	if (rank)
		row.back_s += unit->others_backward_s;
	return row;
}

/* There, stay, and back: the end of a path through the first backward of a device's
 * last row of chunks, and its last one; busy_s is one micro-batch through all of its
 * chunks, and of the ones of its first chunk that many may be done ahead. */
static double stay_end(const struct graph_span *span, const struct graph_unit *unit,
		       const struct graph_rank *row, double whole_s, double busy_s,
		       double ahead)
{
	double first_s = row->chunk_most * unit->forward_s +
			 unit->others_forward_s;

	return whole_s +
	       (span->micro_batches - (double)span->partition->pipeline) * busy_s -
	       most(0, ahead) * first_s;
}

static uint32_t most_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ---- all of it ---- */

/* What is asked of the ranks of one case. */
struct rows {
	const struct graph_span *span;
	struct graph_unit unit;
	double beaten_s;		/* of the best plan */
	/* By rank and blocks: an end of the schedule if a rank, as fast as can be, has at
	 * least so many; NAN: not asked for yet. */
	double *loaded_s;
	uint32_t blocks;
};

/* From a rank's last backward to the end. */
static double back_least(const struct rows *rows, uint32_t rank)
{
	const struct partition *partition = rows->span->partition;
	double back_s = 0;

	for (uint32_t b = 0; b < rank; b++)
		back_s += partition->transfer_least_s[b];
	return back_s + (rank ? rows->unit.backward_least_s *
				even_least(rows->blocks, partition->chunks,
					   rank - 1) : 0);
}

/* What graph_alone_least says of a rank with so many blocks or more: that of the fewest
 * that can be dealt. From more, one can be taken off a chunk, and no end grows. */
static double least_from(const struct rows *rows, struct graph_alone *alone,
			 const struct graph_rank *row, uint32_t blocks)
{
	double end_s = INFINITY;

	for (uint32_t n = most_of(blocks, row->least);
	     n <= row->most && isinf(end_s); n++)
		end_s = graph_alone_least(rows->span, alone, row, n);
	return end_s;
}

static double loaded_end(const struct rows *rows, uint32_t rank, uint32_t blocks)
{
	const struct graph_span *span = rows->span;
	double *known = &rows->loaded_s[(size_t)rank * (rows->blocks + 1) + blocks];
	struct arena_mark mark = arena_mark(span->partition->scratch);
	struct graph_alone alone;
	struct graph_rank row;

	if (!isnan(*known))
		return *known;
	row = row_of(span, &rows->unit, rank);
	alone = graph_alone_new(span, &rows->unit, &row, false);
	*known = least_from(rows, &alone, &row, blocks) + back_least(rows, rank);
	arena_rewind(span->partition->scratch, mark);
	return *known;
}

/* ---- one rank ---- */

/* Blocks that some other rank has at least, if this one has so many. */
static uint32_t mean_of_others(const struct rows *rows, uint32_t blocks)
{
	uint32_t others = rows->span->partition->pipeline - 1;

	return (rows->blocks - blocks + others - 1) / others;
}

/* What follows a schedule at a slow rank with so many blocks. */
struct tail {
	double reduce_s, step_s;
};

static struct tail tail_of(const struct rows *rows, uint32_t blocks)
{
	const struct graph_span *span = rows->span;
	const struct graph_unit *unit = &rows->unit;
	struct holding held = holding_times(unit->held, blocks);

	if (span->slow->partial)
		return (struct tail){ 0, graph_mean_step(span->partition) };
	return (struct tail){
		graph_reduce_left(span, held, blocks * unit->backward_s +
						      unit->others_backward_s),
		blocks * unit->step_s +
			graph_gather_left(span, held, blocks * unit->forward_s +
						      unit->others_forward_s),
	};
}

/* With so many blocks on the rank. Its last backward does not end before finish_s, and
 * nothing before end_s; some other rank has the mean of the rest. */
static double bound_blocks(const struct rows *rows, const struct graph_rank *row,
			   uint32_t blocks, double finish_s, double end_s)
{
	const struct graph_span *span = rows->span;
	const struct partition *partition = span->partition;
	const struct graph_unit *unit = &rows->unit;
	uint32_t p = partition->pipeline, m = span->micro_batches;
	uint32_t other = mean_of_others(rows, blocks);
	struct tail tail = tail_of(rows, blocks);
	double whole_s = partition->whole_s + blocks * unit->more_s;
	double busy_s = blocks * unit->slow_s, other_s = other * unit->fast_s;
	double path_s = most(whole_s * (1 + (m - 1) / (2 * p)),
			     stay_end(span, unit, row, whole_s, busy_s,
				      p - 1.0 - 2.0 * row->rank) +
				     (p - 1) * row->chunk_least *
					     unit->backward_least_s);

	/* That path too comes back through all rows but the last. */
	path_s = most(path_s, stay_end(span, unit, row, whole_s, other_s, p - 1.0));
	finish_s = most(finish_s, most(m * busy_s, path_s - row->back_s));
	end_s = most(most(most(end_s, partition->span_s), path_s),
		     most(finish_s, m * other_s));
	return most(end_s, finish_s + tail.reduce_s) + tail.step_s;
}

static void set_chunks(const struct rows *rows, struct graph_together *together)
{
	const struct partition *partition = rows->span->partition;
	const struct chain *chain = rows->span->fast;
	uint32_t last = partition->chunks - 1;
	double inner = even_least(rows->blocks, partition->chunks, 1);
	double first_s[2] = { 0 }, last_s[2] = { 0 };

	graph_layer_end(chain, 0, first_s);
	graph_layer_end(chain, chain->length - 1, last_s);
	for (uint32_t c = 0; c <= last; c++) {
		bool outer = c == 0 || c == last;

		together->forward_s[c] = (outer ? 0 : inner) *
						 rows->unit.forward_least_s +
					 (c ? 0 : first_s[0]) +
					 (c == last ? last_s[0] : 0);
		together->backward_s[c] = (outer ? 0 : inner) *
						  rows->unit.backward_least_s +
					  (c ? 0 : first_s[1]) +
					  (c == last ? last_s[1] : 0);
	}
}

static double together_least(const struct rows *rows, uint32_t rank,
			     uint32_t loaded, uint32_t blocks, struct tail tail)
{
	const struct partition *partition = rows->span->partition;
	struct arena *scratch = partition->scratch;
	struct graph_rank row = row_of(rows->span, &rows->unit, loaded);
	struct graph_alone alone = graph_alone_new(rows->span, &rows->unit, &row, false);
	struct graph_together together = {
		.forward_s = ARENA_ARRAY(scratch, double, partition->chunks),
		.backward_s = ARENA_ARRAY(scratch, double, partition->chunks),
		.finish_s = ARENA_ARRAY(scratch, double, partition->pipeline),
		.loaded = loaded,
		.slow = rank,
		.reduce_s = tail.reduce_s,
		.step_s = tail.step_s,
		.scratch = scratch,
	};

	together.input = (struct schedule_input){
		partition->schedule, together.forward_s, together.backward_s,
		partition->transfer_least_s,
	};
	set_chunks(rows, &together);
	alone.together = &together;
	return least_from(rows, &alone, &row, blocks);
}

/* The other rank with the mean may be any: the least over all of them. Devices are put
 * together only where one alone does not exclude the best plan. */
static double bound_others(const struct rows *rows, const struct graph_rank *row,
			   uint32_t blocks, double finish_s)
{
	uint32_t p = rows->span->partition->pipeline;
	uint32_t other = mean_of_others(rows, blocks);
	struct arena *scratch = rows->span->partition->scratch;
	struct tail tail = tail_of(rows, blocks);
	double least = INFINITY;

	for (uint32_t k = 0; k < p; k++) {
		struct arena_mark mark = arena_mark(scratch);
		double low_s;

		if (k == row->rank)
			continue;
		low_s = bound_blocks(rows, row, blocks, finish_s,
				     loaded_end(rows, k, other));
		if (low_s < rows->beaten_s)
			low_s = most(low_s, together_least(rows, row->rank, k,
							   other, tail));
		least = fmin(least, low_s);
		arena_rewind(scratch, mark);
	}
	return least;
}

static double bound_rank(const struct rows *rows, uint32_t rank)
{
	const struct graph_span *span = rows->span;
	struct arena_mark mark = arena_mark(span->partition->scratch);
	struct graph_rank row = row_of(span, &rows->unit, rank);
	struct graph_alone alone = graph_alone_new(span, &rows->unit, &row, true);
	double least = INFINITY;

	for (uint32_t blocks = row.least; blocks <= row.most; blocks++) {
		double low_s = bound_blocks(rows, &row, blocks, 0, 0);

		if (low_s < rows->beaten_s)
			low_s = bound_others(rows, &row, blocks, graph_alone_least(
				span, &alone, &row, blocks));
		least = fmin(least, low_s);
	}
	arena_rewind(span->partition->scratch, mark);
	return least;
}

double graph_span_rows(const struct graph_span *span)
{
	const struct partition *partition = span->partition;
	uint32_t first = span->first, end = first + span->count;
	struct arena_mark mark = arena_mark(partition->scratch);
	struct rows rows = {
		.span = span,
		.beaten_s = partition->incumbent->merit.objective[0],
		.blocks = span->fast->blocks[span->fast->length],
	};
	size_t entries = (size_t)partition->pipeline * (rows.blocks + 1);
	double low_s = 0;

	if (!rows.blocks)
		return 0;
	rows.unit = find_unit(span);
	rows.loaded_s = ARENA_ARRAY(partition->scratch, double, entries);
	for (size_t i = 0; i < entries; i++)
		rows.loaded_s[i] = NAN;
	for (uint32_t rank = first; rank < end; rank++)
		if (low_s < rows.beaten_s)
			low_s = most(low_s, bound_rank(&rows, rank));
	arena_rewind(partition->scratch, mark);
	return low_s;
}

/* SPDX-License-Identifier: MIT
 *
 * The chain in three parts: before the slow ranks, on them, and after.
 */
#include "solver/graph_span.h"

#include <math.h>

#include "solver/graph_span_parts.h"
#include "solver/most.h"

/* Layers begin .. end - 1 on the slow ranks. */
struct middle {
	uint32_t begin, end;
	double before_s, inside_s, after_s;	/* both ways */
	double whole_s;			/* one micro-batch through all, transfers too */
};

/* ---- one virtual stage ---- */

static struct middle middle_of(const struct graph_span *span, uint32_t begin,
			       uint32_t end)
{
	struct middle middle = {
		.begin = begin,
		.end = end,
		.before_s = chain_floor_both(span->fast, 0, begin),
		.inside_s = chain_floor_both(span->slow, begin, end),
		.after_s = chain_floor_both(span->fast, end, span->fast->length),
	};

	middle.whole_s = middle.before_s + middle.inside_s + middle.after_s +
			 2 * span->all_s;
	return middle;
}

/* Loops through all stages. */
static double rounds_end(const struct graph_span *span, const struct middle *middle)
{
	uint32_t rounds = (span->micro_batches - 1) / span->partition->pipeline;

	return middle->whole_s * (1 + rounds);
}

/* What is left of the micro-batches after them, on one slow stage. */
static double rounds_rest(const struct graph_span *span, double stage_s)
{
	uint32_t p = span->partition->pipeline, m = span->micro_batches;

	return m > p ? (m - 1) % p * stage_s : 0;
}

/* Loops from the first slow stage on. */
static double inner_rounds_end(const struct graph_span *span,
			       const struct middle *middle)
{
	uint32_t stages = span->partition->pipeline - span->first;
	double loop_s = middle->inside_s + middle->after_s +
			2 * (span->all_s - span->passed_s);

	return middle->whole_s + (span->micro_batches - 1) / stages * loop_s;
}

/* The last backward on the last slow rank, from the end on the first device. */
static double finish_before(const struct graph_span *span, const struct middle *middle,
			    double end_s)
{
	double back_s = chain_least_backward(span->fast, 0, middle->begin) +
			span->inside_s;

	if (span->count > 1)
		back_s += chain_least_backward(span->slow, middle->begin,
					       middle->end);
	return end_s - back_s;
}

/* Cuts with that part on the slow ranks end no sooner; *finish_s: nor does the last
 * backward of any slow rank. */
static double middle_end(const struct graph_span *span, const struct middle *middle,
			 double *finish_s)
{
	uint32_t first = span->first, count = span->count;
	uint32_t after = span->partition->pipeline - first - count;
	uint32_t m = span->micro_batches;
	double stage_s = middle->inside_s / count, end_s, way_s, rest_s;

	/* What one of several slow stages does besides, another may be done before. */
	if (span->partition->gpipe) {
		rest_s = (m - 1) * stage_s;
		*finish_s = finish_before(span, middle, middle->whole_s +
					  (count == 1 ? rest_s : 0));
		return middle->whole_s + rest_s;
	}
	way_s = rounds_end(span, middle);
	rest_s = rounds_rest(span, stage_s);
	end_s = most(way_s + rest_s, inner_rounds_end(span, middle));
	way_s = most(way_s + (count == 1 ? rest_s : 0),
		     inner_rounds_end(span, middle));
	*finish_s = finish_before(span, middle, way_s);
	end_s = most(end_s, middle->before_s + 2 * span->passed_s + m * stage_s);
	if (first)
		end_s = most(end_s, m * middle->before_s / first);
	if (after)
		end_s = most(end_s, middle->before_s + middle->inside_s +
				    2 * span->left_s +
				    m * middle->after_s / after);
	if (count == 1)
		*finish_s = most(*finish_s,
				 chain_least_forward(span->fast, 0, middle->begin) +
				 span->passed_s + m * stage_s);
	return end_s;
}

static double middle_bound(const struct graph_span *span, uint32_t begin, uint32_t end)
{
	struct middle middle = middle_of(span, begin, end);
	struct holding held = holding_times(
		chain_held(span->fast, begin, end), 1.0 / span->count);
	double finish_s, end_s = middle_end(span, &middle, &finish_s);
	double forward_s = chain_forward(span->slow, begin, end);
	double backward_s = chain_backward(span->slow, begin, end);
	double step_s, gather_s;

	/* Of several ranks one has the mean of one kind, not of both. */
	if (span->count > 1) {
		held.experts = 0;
		held.expert_apart = (struct problem_apart){ 0 };
	}
	/* Partly recomputed, a stage may take more than that to hide behind. */
	step_s = share_least_step(&span->partition->share, held);
	if (span->slow->partial)
		return end_s + step_s;
	gather_s = graph_gather_left(span, held, forward_s);
	end_s = most(end_s, finish_s + graph_reduce_left(span, held, backward_s));
	/* Where weights step apart, the rank with the mean may be another for both. */
	if (span->count > 1 && span->partition->share.apart)
		return end_s + most(step_s, gather_s);
	return end_s + step_s + gather_s;
}

static double bound_plain(const struct graph_span *span)
{
	uint32_t length = span->fast->length, p = span->partition->pipeline;
	uint32_t first = span->first, count = span->count;
	uint32_t after = p - first - count;
	double least = INFINITY;

	for (uint32_t begin = first; begin + count + after <= length; begin++) {
		for (uint32_t end = begin + count; end + after <= length; end++)
			if (after || end == length)
				least = fmin(least, middle_bound(span, begin, end));
		if (!first)
			break;
	}
	return least;
}

/* The ranks first .. first + count - 1. */
static void set_ranks(struct graph_span *span, uint32_t first, uint32_t count)
{
	span->first = first;
	span->count = count;
	span->passed_s = span->inside_s = span->left_s = span->all_s = 0;
	for (uint32_t b = 0; b + 1 < span->partition->pipeline; b++) {
		double x = span->partition->transfer_least_s[b];

		span->passed_s += b < first ? x : 0;
		span->inside_s += b + 1 < first + count ? x : 0;
		span->left_s += b < first + count ? x : 0;
		span->all_s += x;
	}
}

static double bound_block(struct graph_span *span, uint32_t first, uint32_t count)
{
	double low_s;

	set_ranks(span, first, count);
	if (span->partition->virtual_stages > 1)
		return graph_span_rows(span);
	low_s = bound_plain(span);
	/* With one of them slow, what it has is known. */
	for (uint32_t i = 0; i < count && count > 1; i++) {
		set_ranks(span, first + i, 1);
		low_s = most(low_s, bound_plain(span));
	}
	return low_s;
}

double graph_span_case(const struct partition *partition, const struct chain *slow,
		       const struct graph_case *at)
{
	struct graph_span span = {
		.partition = partition,
		.fast = partition->chain,
		.slow = slow,
		.sharding = at->slow.sharding[partition->choice->shard_level],
		.micro_batches = partition->micro_batches,
	};
	double low_s = 0;

	if (at->count == partition->pipeline || !span.sharding)
		return 0;
	for (uint32_t i = 0; i < at->blocks; i++)
		low_s = most(low_s, bound_block(&span, at->first[i], at->count));
	return low_s;
}

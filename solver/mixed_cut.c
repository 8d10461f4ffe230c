/* SPDX-License-Identifier: MIT
 *
 * Depth-first branch and bound over the cuts of a split plan, rank by rank; the
 * tables of mixed_line_bound say what the ranks behind have at least. The bounds
 * are those of single-type pipelines (doc/solver.md): none of their proofs needs
 * ranks that are alike.
 */
#include "solver/mixed_line.h"

#include <math.h>

#include "solver/bound.h"
#include "solver/most.h"

/* How far back loops between cut ranks are looked for. */
#define LOOP_REACH 32

/* What the ranks before a depth have come to. */
struct sums {
	uint32_t begin;
	double prefix_s;		/* forward, backward and two transfers of each */
	double forward_prefix_s;	/* forward and one transfer */
	double span_s;			/* no schedule ends before */
	double first_reduce_s;		/* exposed reduction of rank 0 */
	double end_s;			/* no finish + exposed reduction below */
	double step_s;
	double low_s;			/* no cut that begins so is faster */
};

struct option {
	uint32_t end;
	struct sums next;
};

struct frame {
	struct sums sums;
	struct option *option;		/* not excluded when they were looked at */
	uint32_t count, taken;
};

struct cutter {
	struct mixed_line *line;
	struct frame *frame;		/* by rank */
	uint32_t *first;
};

/* Everything that follows from rank k taking [begin, end). */
static struct sums extend(const struct cutter *cutter, uint32_t k, uint32_t end)
{
	const struct mixed_line *line = cutter->line;
	const struct sums *sums = &cutter->frame[k].sums;
	struct sums next = *sums;
	struct mixed_stage stage = mixed_line_stage(line, k, sums->begin, end);
	double transfer = mixed_line_transfer(line, k, end);
	double time = stage.forward_s + stage.backward_s, whole;
	uint32_t m = line->micro_batches, left = line->pipeline - 1 - k;
	size_t behind = ((size_t)k + 1) * ((size_t)line->length + 1) + end;

	next.begin = end;
	next.prefix_s += time + 2 * transfer;
	next.forward_prefix_s += stage.forward_s + transfer;
	whole = next.prefix_s + line->rest_s[behind];
	next.span_s = most(next.span_s, sums->prefix_s + m * time);
	next.span_s = most(next.span_s, next.prefix_s + line->load_s[behind]);
	next.span_s = most(next.span_s, bound_loop(whole, whole, line->pipeline,
						   m, 0, 0));
	if (left)
		next.span_s = most(next.span_s,
				   bound_loop(whole, line->rest_s[behind], left,
					      m, 0, 0));
	for (uint32_t i = k > LOOP_REACH ? k - LOOP_REACH : 0; i < k; i++)
		next.span_s = most(next.span_s,
				   bound_inner_loop(sums->prefix_s, time,
						    sums->prefix_s + time -
							    cutter->frame[i].sums.prefix_s,
						    k - i + 1, left, m));
	if (!k)
		next.first_reduce_s = stage.reduce_s;
	next.end_s = most(next.end_s, sums->forward_prefix_s + m * time +
					      stage.reduce_s);
	next.step_s = most(next.step_s, stage.step_s);
	next.low_s = most(sums->low_s,
			  most(next.span_s + next.first_reduce_s, next.end_s) +
				  next.step_s);
	return next;
}

static void insert_option(struct frame *frame, const struct option *option)
{
	uint32_t at = frame->count++;

	for (; at && option->next.low_s < frame->option[at - 1].next.low_s; at--)
		frame->option[at] = frame->option[at - 1];
	frame->option[at] = *option;
}

/* Lists the ends of a rank that may still lead to a better plan, the most
 * promising first. */
static void frame_open(struct cutter *cutter, uint32_t k, const struct sums *sums)
{
	struct mixed_line *line = cutter->line;
	struct frame *frame = &cutter->frame[k];
	uint32_t behind = line->pipeline - 1 - k;
	size_t next = ((size_t)k + 1) * ((size_t)line->length + 1);
	uint32_t end = behind ? sums->begin + 1 : line->length;
	double m = line->micro_batches;

	frame->sums = *sums;
	frame->count = frame->taken = 0;
	cutter->first[k] = sums->begin;
	for (; end <= line->length - behind; end++) {
		struct option option = { .end = end };
		double load = sums->prefix_s +
			      m * mixed_line_both(line, k, sums->begin, end);

		if (!mixed_line_fits(line, k, sums->begin, end)) {
			line->over_memory = true;
			return;
		}
		if (mixed_line_excluded(line, load)) {
			line->bounded = true;
			return;
		}
		if (!mixed_line_legal_end(line, k, end))
			continue;
		line->nodes++;
		if (isinf(line->load_s[next + end]))
			continue;
		option.next = extend(cutter, k, end);
		if (mixed_line_excluded(line, option.next.low_s))
			line->bounded = true;
		else
			insert_option(frame, &option);
	}
}

/* One step; false when the whole tree is done. */
static bool cutter_step(struct cutter *cutter, uint32_t *depth)
{
	struct frame *frame = &cutter->frame[*depth];
	struct mixed_line *line = cutter->line;
	const struct option *option;

	if (frame->taken == frame->count)
		return (*depth)-- > 0;
	option = &frame->option[frame->taken++];
	if (mixed_line_excluded(line, option->next.low_s)) {
		/* The others are no better. */
		line->bounded = true;
		frame->taken = frame->count;
		return true;
	}
	if (*depth + 1 == line->pipeline) {
		mixed_line_try(line, cutter->first);
		return true;
	}
	frame_open(cutter, ++*depth, &option->next);
	return true;
}

/* The least bound of what is still open. */
static double least_open(const struct cutter *cutter, uint32_t depth)
{
	double low = INFINITY;

	for (uint32_t k = 0; k <= depth; k++) {
		const struct frame *frame = &cutter->frame[k];
		double next;

		if (frame->taken == frame->count)
			continue;
		next = frame->option[frame->taken].next.low_s;
		if (!mixed_line_excluded(cutter->line, next) && next < low)
			low = next;
	}
	return low;
}

void mixed_line_search(struct mixed_line *line, uint64_t nodes)
{
	struct arena_mark mark = arena_mark(line->scratch);
	uint32_t p = line->pipeline, depth = 0;
	uint64_t stop = line->nodes + nodes;
	struct cutter cutter = {
		.line = line,
		.frame = ARENA_ARRAY(line->scratch, struct frame, p),
		.first = ARENA_ARRAY(line->scratch, uint32_t, (size_t)p + 1),
	};
	struct sums root = { .span_s = line->low_s, .low_s = line->low_s };
	bool more = true;

	for (uint32_t k = 0; k < p; k++)
		cutter.frame[k].option = ARENA_ARRAY(line->scratch, struct option,
						     line->length);
	cutter.first[p] = line->length;
	frame_open(&cutter, 0, &root);
	/* A simulation takes as long as looking at many ranks. */
	while (more && line->nodes + line->simulated * p < stop &&
	       !mixed_line_is_over(line))
		more = cutter_step(&cutter, &depth);
	if (more) {
		double low = least_open(&cutter, depth);

		line->complete = isinf(low);
		line->low_s = most(line->low_s, low);
	} else {
		line->low_s = INFINITY;
	}
	arena_rewind(line->scratch, mark);
}

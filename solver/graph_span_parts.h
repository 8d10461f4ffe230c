/* SPDX-License-Identifier: MIT
 *
 * What the two halves of graph_span.h share: cases with one virtual stage, and
 * interleaved ones.
 */
#ifndef NEST_SOLVER_GRAPH_SPAN_PARTS_H
#define NEST_SOLVER_GRAPH_SPAN_PARTS_H

#include "solver/graph_span.h"
#include "solver/price.h"

/* What is the same for all cuts of one case. */
struct graph_span {
	const struct partition *partition;
	const struct chain *fast, *slow;
	uint32_t first, count;		/* the slow ranks */
	const struct sharding *sharding;	/* of the slow ranks */
	double passed_s;		/* transfers before the first slow rank, one way, */
	double inside_s;		/* up to the last slow one, */
	double left_s;			/* up to the rank after it, */
	double all_s;			/* and of all */
	uint32_t micro_batches;
};

/* The optimizer step of the mean device. */
static inline double graph_mean_step(const struct partition *partition)
{
	const struct chain *chain = partition->chain;

	return share_least_step(&partition->share,
				chain_held(chain, 0, chain->length)) /
	       partition->pipeline;
}

/* What is added to a slow rank's last backward, and to the step, at least: it holds so
 * much, and hides no more. */
static inline double graph_reduce_left(const struct graph_span *span,
				       struct holding held, double backward_s)
{
	const struct problem_sync *sync = &span->partition->problem->sync;
	double reduce_s = shard_reduce_s(span->sharding,
					 span->partition->choice->zero,
					 held.parameters * sync->reduce_bytes,
					 held.experts * sync->reduce_bytes);

	return price_exposed(reduce_s, sync->overlap_reduce, backward_s);
}

/* Of the gather after a step. */
static inline double graph_gather_left(const struct graph_span *span,
				       struct holding held, double forward_s)
{
	const struct problem_sync *sync = &span->partition->problem->sync;
	double gather_s = shard_gather_s(span->sharding,
					 span->partition->choice->zero,
					 held.parameters * sync->gather_bytes,
					 held.experts * sync->gather_bytes);

	return price_exposed(gather_s, sync->overlap_gather, forward_s);
}

/* The least over the nearly even cuts of an interleaved schedule. */
double graph_span_rows(const struct graph_span *span);

#endif

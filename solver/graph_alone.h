/* SPDX-License-Identifier: MIT
 *
 * Interleaved schedules of which little is known but what one device holds: for the
 * bounds of graph_rows.c.
 */
#ifndef NEST_SOLVER_GRAPH_ALONE_H
#define NEST_SOLVER_GRAPH_ALONE_H

#include "solver/graph_span_parts.h"

/* The least and the most that a block of the chain has of something. */
struct graph_unit {
	double slow_s, fast_s, more_s;	/* both ways; and how much more if slow */
	double forward_least_s, backward_least_s;
	double slow_forward_s, slow_backward_s;
	double forward_s, backward_s;	/* at most */
	struct holding held;		/* parameters and experts only */
	double step_s;
	double others_forward_s, others_backward_s;	/* of all layers but blocks */
};

/* One rank of a nearly even cut. */
struct graph_rank {
	uint32_t rank;
	uint32_t least, most;		/* blocks of all its chunks */
	double chunk_least, chunk_most;	/* of its last one, of any */
	double back_s;			/* from its last backward to the end, at most */
};

/* The device's operations in their order, when what others do between two of them is a
 * delay and no more: no schedule has it finish sooner. */
struct graph_alone {
	const struct schedule_operation *operation;
	uint32_t count;
	uint32_t virtual_stages, micro_batches;
	/* From the start to a first input, from a chunk to the device's next one, to and
	 * from the end of the chain, and back from its next chunk. */
	double prefix_s, forward_s, turn_s, backward_s;
	double *forward_end, *backward_end;	/* by chunk and micro-batch */
	uint32_t *blocks;			/* of its chunks */
	double *chunk_forward_s, *chunk_backward_s;
	double unit_forward_s, unit_backward_s;
	double first_s[2], last_s[2];	/* forward, backward of the chain's first and
					 * last layer if they are there and no blocks */
	uint32_t cuts;			/* still to be tried */
	struct graph_together *together;	/* what is asked instead, if not NULL */
};

/* All devices together: those of the others have as few blocks as can be. */
struct graph_together {
	struct schedule_input input;
	double *forward_s, *backward_s;	/* by chunk, of that */
	double *finish_s;		/* by device */
	uint32_t loaded;		/* the device with more */
	uint32_t slow;			/* the slow one: what comes after its last backward, */
	double reduce_s, step_s;	/* and after that */
	struct arena *scratch;
};

/* Of a rank, on slow lines or on the others; from the partition's scratch. */
struct graph_alone graph_alone_new(const struct graph_span *span,
				   const struct graph_unit *unit,
				   const struct graph_rank *rank, bool slow);

/* The least end of the rank's last backward, or what `together` asks for, over all ways
 * to deal so many blocks to its chunks. INFINITY: there is none. 0: too many. */
double graph_alone_least(const struct graph_span *span, struct graph_alone *alone,
			 const struct graph_rank *rank, uint32_t blocks);

/* Forward and backward of a layer, if it is no block. */
void graph_layer_end(const struct chain *chain, uint32_t layer, double end_s[2]);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Contiguous stages by dynamic programming, as planners with a formula for the
 * pipeline do it: for every number of stages, the cut whose slowest stage is
 * fastest; and among cuts below a given time, the one with the least sum.
 */
#ifndef NEST_SOLVER_STAGES_H
#define NEST_SOLVER_STAGES_H

#include <stdint.h>

#include "lang/base/arena.h"

/* Longer chains are cut between groups of layers, so that a table has at most so
 * many positions; and no more stages are looked at. */
#define STAGES_POSITIONS_MAX 512
#define STAGES_MAX 256

struct stages_input {
	uint32_t length;		/* layers */
	const double *time_s;		/* of the first i, both ways; length + 1 entries */
	const double *transfer_s;	/* both ways over the boundary before layer i */
	/* Memory, where it is looked at: what a stage holds and keeps for every
	 * micro-batch in flight, of the first i layers. NULL: any stage fits. */
	const double *held_bytes, *kept_bytes;
	double limit_bytes;
	uint32_t micro_batches;		/* in flight at most */
};

struct stages {
	const struct stages_input *input;
	uint32_t most;			/* stages */
	uint32_t group;			/* layers from one position to the next */
	uint32_t positions;		/* between groups, the end included */
	double *best;			/* by stages left and first position */
	uint16_t *end;
};

/* Fills the tables for 1 .. most stages. */
void stages_fill(struct stages *stages, const struct stages_input *input,
		 uint32_t most, struct arena *arena);

/* Time of the slowest stage of the best cut into `count`; infinity if none fits. */
double stages_slowest(const struct stages *stages, uint32_t count);

/* That cut: first layer of every stage, count + 1 entries. */
void stages_cut(const struct stages *stages, uint32_t count, uint32_t *first);

/* The cut into `count` stages, none slower than limit_s, whose times add up to the
 * least: minimising sum + (m - 1) x slowest goes from one limit to the next. Returns
 * the sum and the slowest stage; infinity if there is none. */
double stages_least_sum(const struct stages *stages, uint32_t count,
			double limit_s, struct arena *scratch, uint32_t *first,
			double *slowest_s);

/* Time of a stage of layers [first, end), its transfers included. */
double stages_time(const struct stages_input *input, uint32_t first, uint32_t end);

#endif

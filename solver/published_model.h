/* SPDX-License-Identifier: MIT
 *
 * The formulas of published.h, over tables of one tensor width: times of every
 * stage under every level its boundaries may cross, and what it holds. Inner
 * interface of published*.c.
 */
#ifndef NEST_SOLVER_PUBLISHED_MODEL_H
#define NEST_SOLVER_PUBLISHED_MODEL_H

#include <stddef.h>

#include "solver/published.h"

/* The edges of a width, by the node they enter and by the node they leave. */
struct published_edges {
	uint32_t *in_first, *out_first;		/* nodes + 1 entries */
	struct published_edge *in, *out;
};

struct published_edges published_edges_make(const struct published_width *width,
					    uint32_t nodes, struct arena *arena);

/* Tables of stages [first, end), indexed by published_cell. */
struct published_tables {
	const struct published_problem *problem;
	const struct published_width *width;
	uint32_t nodes;
	double *forward[LEVEL_MAX];	/* inputs over that level */
	double *backward[LEVEL_MAX];	/* gradients over that level */
	double *recomputed;		/* the backward when no transfer delays it */
	double *parameter_bytes;
	double *activation_bytes;
	double *stash_bytes;		/* per further micro-batch in flight */
	double *work;			/* of nodes before a node: forward + backward */
};

static inline size_t published_cell(uint32_t nodes, uint32_t first, uint32_t end)
{
	return (size_t)first * (nodes + 1) + end;
}

void published_tabulate(struct published_tables *tables,
			const struct published_problem *problem,
			uint32_t width, struct arena *arena);

uint32_t published_stage_devices(const struct published_problem *problem,
				 uint32_t width);

/* Rounds of micro-batches: ceil(M / d). */
double published_rounds(const struct published_problem *problem, uint32_t data);

/* The levels a stage's boundaries cross: one pair for every way in which some
 * replica's do. */
#define PUBLISHED_PAIRS_MAX (LEVEL_MAX * LEVEL_MAX)

struct published_boundaries {
	uint8_t in[PUBLISHED_PAIRS_MAX], out[PUBLISHED_PAIRS_MAX];
	uint32_t count;
};

/* Boundaries of stage s (from the end, 1 ..) of the first `replicas` ones. */
struct published_boundaries
published_boundaries_of(const struct published_problem *problem,
			const struct published_plan *plan, uint32_t s,
			uint32_t replicas);

/* How many replicas the objective prices. */
uint32_t published_replicas(enum published_objective objective,
			    const struct published_plan *plan);

/* The highest level at which the plan's replicas of a stage meet. */
uint32_t published_meeting(const struct published_problem *problem,
			   enum published_objective objective,
			   const struct published_plan *plan);

/* All-reduce of bytes over `data` replicas that meet at level top. */
double published_all_reduce(const struct published_problem *problem,
			    uint32_t data, uint32_t top, double bytes);

/* Bytes of weights, gradients and optimizer of a stage with P bytes of weights,
 * sharded over `data` replicas as ZeRO stage `zero` has it. */
double published_state_bytes(const struct published_problem *problem,
			     uint32_t zero, uint32_t data, double parameter_bytes);

/* What ZeRO adds to every micro-batch of a stage, and what remains of the
 * all-reduce after the batch, given the time of the stage's all-reduce. */
double published_zero_step(uint32_t zero, double all_reduce);
double published_zero_end(uint32_t zero, double all_reduce);

#endif

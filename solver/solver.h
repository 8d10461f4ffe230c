/* SPDX-License-Identifier: MIT
 *
 * The solver's one entry: a problem in, the best plan and its certificate out.
 * The space searched: every shape of the problem; data, pipeline and virtual
 * degrees from their domains with tensor x context x data x pipeline at most
 * the device count (and in the devices domain), micro_batch x data dividing
 * the global batch, expert x expert_tensor dividing tensor x context x data,
 * interleaving only where the pipeline is more than one and
 * micro-batches are a multiple of it; ZeRO stages, shard levels, recomputation,
 * recomputed layers and schedules as allowed, each where it means something (see
 * problem.h: shard levels where ZeRO is not 0, recomputed layers under full
 * recomputation, GPipe where pipeline is more than 1 and virtual_stages 1); every
 * factorisation over the levels that fits the expert degrees (network.h); every
 * cut of the chain into pipeline x virtual_stages non-empty chunks, which are
 * nearly even (even.h) where virtual_stages is more than one.
 */
#ifndef NEST_SOLVER_SOLVER_H
#define NEST_SOLVER_SOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/deadline.h"
#include "solver/plan.h"

/* How far a search is. */
struct solve_progress {
	uint64_t configurations;	/* in all */
	uint64_t settled;		/* priced, bounded out or infeasible */
	bool found;			/* a plan */
	double value;			/* its first objective */
	double lower_bound;		/* no plan of the space is below */
};

struct solve_limits {
	double gap;			/* stop once the gap is at most this; 0: prove */
	struct deadline deadline;	/* stop then; all 0: no limit */
	/* Called now and then while the search runs, if not NULL. */
	void (*progress)(void *closure, const struct solve_progress *progress);
	void *closure;
	uint32_t threads;		/* that search; 0 or 1: the caller's alone. The result
					 * is the same with any number. */
	uint64_t partitions_max;	/* partitions simulated per configuration and
					 * placement before it is left with a gap; 0: default */
};

enum solve_status {
	SOLVE_OPTIMAL,		/* gap 0 */
	SOLVE_FEASIBLE,		/* a plan, with the gap stated */
	SOLVE_INFEASIBLE,	/* proved: no plan satisfies the problem */
	SOLVE_UNKNOWN,		/* stopped by the time limit before any plan */
	SOLVE_UNROUTED,		/* the hierarchy of a graph has plans, but none tried
				 * keeps the requirements as the graph routes it */
};

/* Why nothing fits, and how far the best attempt misses. */
struct solve_failure {
	/* The plan, ignoring memory, that exceeds the limit least. */
	bool has_nearest;
	bool out_of_time;		/* the deadline ended the look for it; there may be
					 * one, or one nearer */
	struct plan nearest;
	double excess_bytes;
	/* For each requirement: configurations that it alone removed; all 0 where
	 * there was no time to count them. */
	const uint64_t *removed_by;	/* requirement_count entries */
	/* Mixed clusters: the above is about all devices as the slowest; likewise for
	 * the devices of each kind alone. */
	const struct solve_failure *kind;	/* problem.kind_count entries */
};

struct solve_result {
	enum solve_status status;
	struct plan plan;		/* OPTIMAL and FEASIBLE */
	struct solve_failure failure;	/* INFEASIBLE */
};

/* Results live in the arena. Deterministic: ties are broken by less memory,
 * fewer devices, then smaller tensor, context, expert, expert_tensor, pipeline,
 * virtual, micro_batch, ZeRO, shard_level, recompute, recompute_layers, schedule
 * (enum schedule), shape, and the placement that is larger row by row, innermost level
 * first (tensor as far in as it goes). On a mixed cluster (mixed.h) the union of
 * all families is searched, and a tie goes to the plan on all devices as the slowest,
 * then to the kind that comes first, then to a split plan. Values within 1e-12 of
 * each other tie. */
enum solve_status solve(const struct problem *problem,
			const struct solve_limits *limits, struct arena *arena,
			struct solve_result *result);

#endif

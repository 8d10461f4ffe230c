/* SPDX-License-Identifier: MIT
 *
 * The cost model and search space of the published NEST solver (Wang, Venkata,
 * Krishnamurthy, Mahajan, "NEST", MLSys 2026, arXiv 2603.06798), solved
 * exactly. It is kept apart from the project's own model: here the aim is to
 * answer the published problems under the published rules.
 *
 * A chain of nodes is cut into S stages of a = tensor x expert x context
 * devices; d replicas work on ceil(M/d) micro-batches each. Stages are packed
 * from the last: the s-th from the end of replica r holds devices r stride +
 * (s-1) a onwards. Devices x and y meet at the lowest level l at which
 * x / (g_0 .. g_l) = y / (g_0 .. g_l).
 *
 *	transfer	c bytes over level 0: c/b_0 + lat_0; over l > 0: 2 (c/b_l + lat_l),
 *			b_l = the smallest bandwidth up to level l
 *	stage		forward: nodes in order, each after the one before it and after the
 *			transfer of every input from outside; backward alike, in reverse;
 *			with recomputation (all stages but the last) the backward may not
 *			start before the sum of its own backward times
 *	memory		2 P + (Adam: 6 P) + A + (s - 1) x stash <= limit; the stash is A,
 *			or the bytes entering the stage with recomputation
 *	time		slowest stage x (ceil(M/d) + S - 1) + all-reduce of the first
 *			stage's weights over the replicas
 *	all-reduce	of D bytes: sum over i < floor(log2 d) of lat_0 + D/(2^i w_0), then for every
 *			level l = 1 .. t up to the one where all replicas meet
 *			T += 2 (lat_l + D/w_l) + low; low += T, from low = 0
 *
 * with w_l the bandwidths as given, where replicas meet as their first devices do
 * (PUBLISHED_NEST) or as the devices of their first stages do. The published search
 * departs from the optimum of this model in several ways; none of them is imitated.
 *
 * ZeRO (Rajbhandari et al. 2020) is, as published, the last resort: tried where no
 * plan fits without it. Stage z of it divides over g devices the optimizer's 6 P
 * (z >= 1), the gradients' P (z >= 2) and the weights' P (z = 3). The published
 * program takes g more devices that repeat the stage's work and, because its
 * lookup of collectives never answers, charges nothing. Here the shards lie on
 * the d replicas (g = d), which is what ZeRO is, and the collectives are halves of
 * the all-reduce above, of the stage's own P: a reduce-scatter for every micro-batch
 * (z >= 2) and two gathers besides (z = 3), added to the stage; after the
 * batch, z <= 1: reduce-scatter and gather, an all-reduce as before; z = 2: the gather; z = 3:
 * nothing.
 */
#ifndef NEST_SOLVER_PUBLISHED_H
#define NEST_SOLVER_PUBLISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/problem.h"

#define PUBLISHED_NODES_MAX 512
#define PUBLISHED_DEVICES_MAX 131072

struct published_edge {
	uint32_t from, to;		/* positions in the chain, from < to */
	double bytes;
};

/* The chain as cut by one tensor width; nodes in topological order. */
struct published_width {
	uint32_t tensor;
	const double *forward_s, *backward_s;
	const double *parameter_bytes, *activation_bytes;
	const struct published_edge *edge;
	uint32_t edge_count;
};

struct published_problem {
	uint32_t node_count;
	const struct published_width *width;
	uint32_t width_count;
	uint32_t expert, context;
	uint32_t device_count;
	uint32_t level_count;
	uint32_t fanout[LEVEL_MAX];	/* innermost first */
	double bandwidth_Bps[LEVEL_MAX];
	double latency_s[LEVEL_MAX];
	uint32_t micro_batches;		/* of the whole batch: M */
	double memory_bytes;
	bool recompute;
	bool adam;
};

enum published_objective {
	PUBLISHED_NEST,		/* replica 0 priced, replicas back to back */
	PUBLISHED_ALL_REPLICAS,	/* every replica priced, their stride searched */
};

struct published_plan {
	double time;			/* of a batch, in the problem's unit */
	uint32_t width;			/* index */
	uint32_t data;
	uint32_t stages;
	uint32_t devices_per_stage;
	uint32_t stride;		/* devices between replicas */
	uint32_t zero;			/* 0: nothing is sharded */
	uint32_t *cut;			/* first node of each stage, stages + 1 entries */
};

/* The optimum. False if no plan fits the memory. Arrays of the plan live in
 * the arena. Ties: fewer replicas, then fewer stages, then the earlier width,
 * less ZeRO, the smaller stride. */
bool published_solve(const struct published_problem *problem,
		     enum published_objective objective, struct arena *arena,
		     struct published_plan *plan);

/* Prices a plan given by width, data, stages, stride, zero and cuts (devices_per_stage
 * is derived) from scratch, sharing no table with the search; infinity if it
 * does not fit the memory or the devices. */
double published_price(const struct published_problem *problem,
		       enum published_objective objective,
		       const struct published_plan *plan, struct arena *scratch);

/* The best cut for given degrees, as a fair baseline: replicas back to back.
 * False if none fits. */
bool published_best_cut(const struct published_problem *problem,
			uint32_t width, uint32_t data, uint32_t stages,
			enum published_objective objective, struct arena *arena,
			struct published_plan *plan);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Plans on clusters of several device types (kinds).
 *
 * problem.kind[k] is the job on the devices of kind k alone: its own costs,
 * network, memory limit and reserve, optimizer bandwidth, price and power. All
 * kinds and the problem itself have the same chain, classes, ties, shapes (by
 * index), batch, domains, policies, bytes per parameter and overlaps, and as
 * many requirements, which differ in their constants only (the problem itself may
 * have more). The outermost level
 * of every kind is the one at which the kinds meet; it is a LEVEL_SWITCH, and what
 * a device of that kind sends into it may differ from kind to kind. The problem
 * itself is the job on an equal part of every child there, each device as slow
 * and small as the slowest and smallest.
 *
 * The space is the union of
 *	alike	the plans of the problem itself (without kinds): replicas, and
 *		whatever else lies on several types, wait for the slowest;
 *	single	the plans of each problem.kind[k]: the other devices stay idle;
 *	split	1F1B without interleaving, shard level 0, whose pipeline ranks lie in
 *		segments.
 *
 * A split plan has two or more segments, each of another kind, in any order of
 * the kinds. Segment s has ranks_s >= 1 consecutive pipeline ranks, which add up
 * to choice.pipeline, and a placement by factors of tensor, context, data and ranks_s
 * in the network of its kind, which fits the kind's fan-outs, `within` and the shape's
 * expert degrees. All other degrees are those of the choice. Then
 *
 *	- what a rank costs by itself (layer times, memory, reduction, gather,
 *	  step; price.h) is what it costs in problem.kind[k] under that placement,
 *	  with the choice of the whole plan: share_of, the micro-batches it keeps
 *	  and its reserve see the whole pipeline;
 *	- a boundary within a segment is that of its placement, between ranks
 *	  counted from the segment's first;
 *	- a boundary between segments crosses the outermost level of both kinds:
 *	  its line has the larger latency_s and the larger s_per_byte of
 *	  network_transfer_line at that level under either placement;
 *	- so does the exchange of a tied weight whose ranks lie in different
 *	  segments, where the level's own latency_s (price.h) is the larger one;
 *	- every rank keeps to the memory limit of its kind;
 *	- requirements must hold with the constants of every kind used; objectives
 *	  are those of the problem;
 *	- VARIABLE_COST and VARIABLE_ENERGY add up devices x price of each segment,
 *	  VARIABLE_DEVICES counts all of them.
 */
#ifndef NEST_SOLVER_MIXED_H
#define NEST_SOLVER_MIXED_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/network.h"
#include "solver/plan.h"

/* The segment of a pipeline rank; NULL where the plan has none. */
const struct segment *mixed_segment(const struct plan *plan, uint32_t rank);

/* The problem whose costs and network a plan's pipeline rank has; *local, which
 * may be NULL, receives the rank counted from its segment's first. */
const struct problem *mixed_problem(const struct problem *problem,
				    const struct plan *plan, uint32_t rank,
				    uint32_t *local);

/* A transfer across the place where two kinds meet, each with its placement. */
struct network_line mixed_joint(const struct problem *a,
				const struct placement *a_placement,
				const struct problem *b,
				const struct placement *b_placement);

/* Price and power of one device, in the mean of those the plan uses. */
struct mixed_rate {
	double dollars_per_s;
	double watts;
};

struct mixed_rate mixed_rate(const struct problem *problem,
			     const struct plan *plan);

/* The device of a rank, numbered over the cluster: those of the first kind, then
 * those of the next, each as in its own problem. Under a plan of the problem
 * itself the children of the kinds follow one another likewise. */
uint32_t mixed_device(const struct problem *problem, const struct plan *plan,
		      const uint32_t coordinate[DIMENSION_COUNT]);

/* price_plan for plans that have segments. */
void mixed_price(const struct problem *problem, struct arena *arena,
		 struct plan *plan);

#endif

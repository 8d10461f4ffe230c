/* SPDX-License-Identifier: MIT
 *
 * Time of collectives and transfers on the hierarchy.
 *
 * A group has n_l members below each level l, n = product of n_l. With
 * C_l = product of the fan-outs below l (devices of one child) and U_l = how
 * many of these a plan uses, k devices of a child that send at once through
 * level l each get
 *
 *	rate_l(k) = efficiency_l x min(bandwidth_l,
 *			C_l x bandwidth_l / oversubscription_l / k)
 *
 * With S bytes (problem_collective.bytes) and N_l = n_0 x .. x n_(l-1):
 *
 *	hierarchical	sum over l of n_l > 1 of
 *	  all-reduce	2 (n_l - 1)/n_l x S/N_l / rate_l(U_l) + 2 (n_l - 1) latency_l,
 *			or S/N_l / rate_l(U_l) + 2 latency_l with in-network reduction
 *	  reduce-scatter, all-gather: half of the first form
 *	ring		2 (n - 1)/n x S / min over l of N_l x rate_l(U_l)
 *			+ 2 (n - 1) x largest latency_l	(halves for the other two)
 *	tree		all-reduce only: 2 S / min over l of N_l x rate_l(U_l)
 *			+ 2 x sum over l of ceil(log2 n_l) x latency_l
 *	all-to-all	max over l of (n - N_l)/n x S / rate_l(U_l)
 *			+ sum over l of (n_l - 1) x latency_l
 *
 * where l runs over the levels with n_l > 1, and the cheapest algorithm is
 * taken. Rings and trees come in as many copies as a group has members in a
 * child, each through its own member's link, as NCCL builds one per NIC: hence
 * N_l shares of level l. A group of one, or no bytes, costs nothing. Ring and hierarchical:
 * Thakur, Rabenseifner, Gropp 2005, "Optimization of Collective Communication
 * Operations in MPICH", sections 4.1 and 4.5; tree: Sanders, Speck, Traeff
 * 2009, "Two-tree algorithms for full bandwidth broadcast, reduction and scan".
 *
 * Expert groups. With the degrees t, c, d of tensor, context and data the ranks of
 * one pipeline stage are numbered r = tensor + t (context + c data). With the
 * degrees x of expert_tensor and e of expert, r mod x is a rank's place in its
 * expert-tensor group, (r / x) mod e that in its expert group and r / (x e) that
 * in its expert-data group (Megatron-LM, core/parallel_state.py, order
 * tp-cp-ep-dp-pp). Under a placement, r has digits: those of tensor, innermost
 * level first, then those of context, then those of data. x takes them from the
 * first on, then e, then expert data: of a digit f the part
 *
 *	g = f where f divides what is left of the degree,
 *	g = what is left of it where that divides f; f/g remains for the next.
 *
 * What a group takes of the digits of level l is its n_l. Where neither divides
 * the other the placement does not fit the expert degrees, and is no plan.
 */
#ifndef NEST_SOLVER_NETWORK_H
#define NEST_SOLVER_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/plan.h"

/* Members of a group below each level, and the devices used below it. */
struct group_shape {
	uint32_t members[LEVEL_MAX];	/* n_l */
	uint32_t used[LEVEL_MAX];	/* U_l */
};

/* The group's shape under a placement. GROUP_DATA_CONTEXT multiplies the rows
 * of data and context. Expert groups take their degrees from the shape, which the
 * placement must fit; the others may be given NULL. */
struct group_shape network_group(const struct problem *problem,
				 const struct placement *placement,
				 const struct problem_shape *shape,
				 enum group group);

/* Whether the placement fits the expert degrees of the shape. */
bool network_experts_fit(const struct problem *problem,
			 const struct placement *placement,
			 const struct problem_shape *shape);

double network_collective(const struct problem *problem,
			  const struct group_shape *shape,
			  enum collective kind, double bytes,
			  enum algorithm *algorithm /* may be NULL */);

/* The same in two steps, for many sizes over one group: every algorithm's time
 * is a line latency_s + bytes x s_per_byte. */
struct network_line {
	double latency_s;
	double s_per_byte;
};

struct network_lines {
	bool alone;				/* a group of one: no time at all */
	struct network_line all_reduce[3];	/* ring, hierarchical, tree */
	struct network_line half[2];		/* reduce-scatter and all-gather: */
						/*   ring, hierarchical */
	struct network_line all_to_all;
};

struct network_lines network_lines(const struct problem *problem,
				   const struct group_shape *shape);
double network_time(const struct network_lines *lines, enum collective kind,
		    double bytes, enum algorithm *algorithm /* may be NULL */);

/* The highest level at which pipeline ranks a and b (same other coordinates)
 * differ; 0 when they are equal. Rank digits: innermost level fastest. */
uint32_t network_pipeline_level(const struct problem *problem,
				const struct placement *placement,
				uint32_t a, uint32_t b);

/* A transfer of bytes across that level: latency + bytes / rate_l(k), where
 * k = U_l / (pipeline ranks within one child of level l): of the stages in a
 * child only one borders on the next child. */
double network_transfer(const struct problem *problem,
			const struct placement *placement, uint32_t level,
			double bytes);

struct network_line network_transfer_line(const struct problem *problem,
					  const struct placement *placement,
					  uint32_t level);

/* The device of a rank given by its coordinates. Devices are numbered
 * depth-first: device = sum over l of position_l x C_l. */
uint32_t network_device(const struct problem *problem,
			const struct placement *placement,
			const uint32_t coordinate[DIMENSION_COUNT]);

#endif

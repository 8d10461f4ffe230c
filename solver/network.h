/* SPDX-License-Identifier: MIT
 *
 * Time of collectives and transfers on the hierarchy.
 *
 * A group has n_l members below each level l, n = product of n_l. With
 * C_l = product of the fan-outs below l (devices of one child), P_l = nics_l
 * or, if that is 0, C_l, and U_l = how many devices of a child a plan uses,
 * k devices of a child that send at once through level l, and can use the
 * share w of the child's links there, each get
 *
 *	rate_l(k, w) = efficiency_l x min(bandwidth_l,
 *			w x P_l x bandwidth_l / oversubscription_l / k)
 *
 * On a ring the groups of one kind may lie interleaved, a_l of them in the same
 * stretch of n_l a_l positions, which is the product of the factors up to the
 * group's last one at that level: each link then carries a_l groups. A group closes
 * the ring if the level wraps and its stretch is the whole fan-out. What a member
 * reaches, R_l, the latency x_l from one to the next and H_l of a reduce-scatter are
 *
 *	switch		R = rate(U, 1)			x = latency	H = (n_l - 1) x
 *	full		R = rate(U, (n_l - 1)/(fanout - 1))  x = latency  H = x
 *	ring, closed	R = rate(a U, 1)		x = a latency	H = (n_l - 1) x
 *	ring, open	R = rate(a U, 1/2)		x = a latency	H = (2 n_l - 3) x
 *
 * since an open ring sends along the line and back. What leaves a child passes the
 * switches inside it: R_l is at most rate(U, 1) of every switch level below l, whether
 * the group has members there or not. With S bytes
 * (problem_collective.bytes) and N_l = n_0 x .. x n_(l-1):
 *
 *	reduce-scatter, all-gather: the cheaper of
 *	  hierarchical	sum over l of (n_l - 1)/n_l x S/N_l / R_l + H_l
 *	  ring		(n - 1)/n x S / min over l of N_l x R_l, where the links of a
 *			ring in a torus (or alone) below the highest l lend m / (m - 1)
 *			of their rate, m = N_j / N_l, j the first level beyond the torus:
 *			on its way through each copy leaves out another hop;
 *			+ all hops around but the shortest one: with t the highest l,
 *			sum over l of n / (N_l n_l) x H_l + x_t - least x_l; inner
 *			dimensions of a torus add (n / (N_l n_l) - n / N_j) x_l, or
 *			n / (N_l n_l) x_l if t is in that torus
 *	all-reduce: twice these, or
 *	  tree		2 S / min over l of v_l x N_l x R_l, where v_l = 1, or
 *			2 N_t / (2 N_t - N_l) if n_t = 2 for the highest l, t,
 *			+ 2 x sum over l of ceil(log2 n_l) x latency_l; switches only
 *	  in-network	as hierarchical, but levels with in_network_reduction add
 *			(n_l + 1)/n_l x S/N_l / R'_l + 2 latency_l, where R'_l has the
 *			reduction_efficiency
 *	all-to-all: the largest over l of
 *	  switch	(n - N_l)/n x S x share(n / N_l) / R_l, the share being 1 or
 *			that of exchange.h
 *	  full		(n_l - 1)/n_l x S' / R_l, where S' = N_(l+1)/n x S is for
 *			members in the same children further out
 *	  ring		(n_l - 1)/n_l x S' / R_l, or the links' floor(n_l^2 / 4)/n_l x S'
 *			/ (efficiency_l x the second term of rate), where
 *			S' = N_j/n x S; and for both
 *			(n - N_l)/n x S over the least rate of the switches inside
 *			+ sum over l of (n_l - 1) x_l (switch, open), x_l (full),
 *			floor(n_l / 2) x_l (closed)
 *	broadcast:	S / min over l of N_l x R_l + sum over l of ceil(log2 n_l) x_l
 *			(switch), x_l (full), (n_l - 1) x_l (ring)
 *
 * where l runs over the levels with n_l > 1. To each the largest overhead_l of
 * these levels is added, once.
 *
 * Levels that are `joined` to the one below form a torus. Where D > 1 of them have
 * members, the hierarchical algorithms may cut the data in D parts, part k going
 * through the dimensions in the order k, k + 1, .., D - 1, 0, .., so that all
 * links work at once. A dimension's bytes are then those of its place in the
 * order, over D; a round lasts as long as its slowest part, and D rounds make
 * the sum. That is taken if its time per byte is less; latencies are the same.
 *
 * Messages may also go by a protocol for short ones, where a level has one: each
 * level with a short_efficiency then counts with that and its short_overhead, and
 * nothing is added up in the network. The cheaper protocol is taken, for the whole
 * collective. (NCCL: LL and LL128 beside Simple; Hu et al. 2025, "Demystifying NCCL".)
 * Transfers always go by the other.
 *
 * Rings and trees come in as many copies as a group has members in a child,
 * each through its own member's link, as NCCL builds one per NIC: hence N_l
 * shares of level l. On rings and full levels data goes both ways, or over all
 * links, at once. A group of one, or no bytes, costs nothing.
 *
 * With rails, an all-to-all's bytes for another rail first cross the child,
 * where they are counted already (n - N_l is all that leaves a member): each level
 * with rails and N_l > 1 adds x of the next level below with members.
 *
 * Sources. Ring and hierarchical: Thakur, Rabenseifner, Gropp 2005,
 * "Optimization of Collective Communication Operations in MPICH", sections 4.1
 * and 4.5; tree: Sanders, Speck, Traeff 2009, "Two-tree algorithms for full
 * bandwidth broadcast, reduction and scan"; in-network: each device sends what the
 * switch adds up and its share of the sum, (n + 1)/n S: Klenk et al. 2020, "An
 * In-Network Architecture for Accelerating Shared-Memory Multiprocessor
 * Collectives"; torus: Sack and Gropp 2012, "Faster topology-aware collective
 * algorithms through non-minimal communication", and Jouppi et al. 2023, "TPU v4";
 * all-to-all on rings: the bytes of all shortest ways over the most loaded link.
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
	uint32_t apart[LEVEL_MAX];	/* a_l */
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

enum { NETWORK_LINES = 4 };

struct protocol_lines {
	/* What all-reduce may choose from; two that are the same when an algorithm
	 * is not offered. */
	struct network_line all_reduce[NETWORK_LINES];	/* ring, hierarchical, tree,
							 * in-network */
	struct network_line half[2];	/* reduce-scatter, all-gather: ring,
					 * hierarchical */
	struct network_line all_to_all;
	struct network_line broadcast;
};

struct network_lines {
	bool alone;			/* a group of one: no time at all */
	uint32_t protocols;		/* to choose from: 1 or 2 */
	struct protocol_lines by[2];	/* for large messages, for short ones; the same
					 * when there is one */
};

struct network_lines network_lines(const struct problem *problem,
				   const struct group_shape *shape);
double network_time(const struct network_lines *lines, enum collective kind,
		    double bytes, enum algorithm *algorithm /* may be NULL */);

/* Whether `by` is at least as fast for every collective and size. */
bool network_lines_cover(const struct network_lines *lines,
			 const struct network_lines *by);

/* The highest level at which pipeline ranks a and b (same other coordinates)
 * differ; 0 when they are equal. Rank digits: innermost level fastest. */
uint32_t network_pipeline_level(const struct problem *problem,
				const struct placement *placement,
				uint32_t a, uint32_t b);

/* A transfer of bytes across that level: overhead + x + bytes / rate_l(k, w), with
 * k = U_l / (pipeline ranks within one child of level l), since of the stages in
 * a child only one borders on the next child. On a switch w = 1, on a full level
 * w = 1/(fanout - 1). On a ring w = 1/2, or 1 if it wraps and both ways are equally
 * long; each of the a neighbours (product of the factors before the
 * pipeline's at that level) sends a children on: k is a times as many, x is
 * a x latency. In a torus the dimensions below with p > 1 pipeline ranks are gone
 * back along: (p - 1) a x latency is added, or (fanout - (p - 1) a) x latency if they
 * wrap and that is shorter, and the rate is at most theirs, with their k. It is at
 * most that of every switch level below, too. Where the level has rails and the
 * boundary changes them (the devices before and after it have different indices
 * within their child, modulo rails), latency + bytes / (efficiency x bandwidth) of the level
 * below is added. */
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

/* SPDX-License-Identifier: MIT
 *
 * Other ways to find a plan, for comparison. All search the same problem and are
 * judged by the same price (price.h); what they believe while they search is
 * their own. Where a method leaves something open it gets the choice that serves
 * it best.
 *
 *	manual	the expert's rule of thumb (Narayanan et al. 2021, "Efficient
 *		Large-Scale Language Model Training on GPU Clusters Using
 *		Megatron-LM", takeaways 1 to 3): tensor parallelism inside the node, then the
 *		smallest pipeline that makes the model fit, data parallelism outside;
 *		micro-batch, interleaving, ZeRO, recomputation (each policy with the
 *		smallest model parallelism it fits) and the two usual orders of ranks by
 *		trial; experts once within the node, and once over as many nodes as
 *		make the rest small.
 *	mcmc	a Markov chain (Jia, Zaharia, Aiken 2019, "Beyond Data and Model
 *		Parallelism for Deep Neural Networks", FlexFlow): a random change of one
 *		choice, taken with probability min(1, exp((old - new) / (T old))), T =
 *		MCMC_TEMPERATURE; MCMC_CHAINS chains of MCMC_PROPOSALS proposals each, from
 *		the expert's plan, from plain data parallelism, and from random ones, with
 *		the numbers of nrand48 seeded with MCMC_SEED. Costs are the true ones.
 *	phaze	a topology-blind dynamic program (Wang et al. 2024, "Integrated
 *		Hardware Architecture and Device Placement Search", Phaze): a flat network
 *		of one bandwidth, slowest stage x (m + p - 1) + the first stage's
 *		all-reduce; memory is checked after, in the order of that estimate. Which
 *		level's bandwidth the network is believed to have is tried for every level.
 *	alpa	inter- and intra-operator planning (Zheng et al. 2022, "Alpa"): a flat
 *		mesh of two levels, stages on submeshes (a power of two within a node, or
 *		whole nodes), tensor along either axis, sum of stages + (m - 1) x slowest,
 *		memory in the program. Alpa may give stages different submeshes; here, as
 *		in the frameworks plans are written for, all have the same one.
 *	nest	the search of solver.h, which is exact.
 *
 * On a cluster of several device types each gets every type alone, and all devices
 * as the slowest (mixed.h), and the best of these plans is its own.
 *
 * Phaze and Alpa do not know interleaving. Every strategy but nest proves nothing.
 */
#ifndef NEST_SOLVER_STRATEGY_H
#define NEST_SOLVER_STRATEGY_H

#include "solver/solver.h"

#define MCMC_SEED 1
#define MCMC_CHAINS 4
#define MCMC_PROPOSALS 2500
#define MCMC_TEMPERATURE 0.02

struct attempts;

enum strategy {
	STRATEGY_NEST,
	STRATEGY_MANUAL,
	STRATEGY_MCMC,
	STRATEGY_PHAZE,
	STRATEGY_ALPA,
	STRATEGY_COUNT
};

/* "nest", "manual", ..: as in --solver. */
const char *strategy_name(enum strategy strategy);

/* A plan by the strategy, as solve() gives one: FEASIBLE with a certificate whose
 * lower bound is only the work shared out evenly, or UNKNOWN when the strategy finds
 * none (which does not mean that there is none). At the deadline it stops with what
 * it has, and the certificate says so; a gap means something to nest only. */
enum solve_status strategy_solve(const struct problem *problem,
				 enum strategy strategy,
				 const struct solve_limits *limits,
				 struct arena *arena, struct solve_result *result);

/* Inner interface: each offers its plans. */
void strategy_manual(struct attempts *attempts);
void strategy_mcmc(struct attempts *attempts);
void strategy_phaze(struct attempts *attempts);
void strategy_alpa(struct attempts *attempts);

#endif

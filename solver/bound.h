/* SPDX-License-Identifier: MIT
 *
 * Lower bounds on the end of pipeline schedules and on memory. All of them
 * are lengths of paths in the schedule's graph of operations, or averages of
 * such; doc/solver.md has the proofs.
 */
#ifndef NEST_SOLVER_BOUND_H
#define NEST_SOLVER_BOUND_H

#include <stdint.h>

#include "solver/chain.h"

/* 1F1B. A micro-batch goes through the whole chain in whole_s, forward and
 * back, transfers included; the last `stages` stages take loop_s of it. They
 * hold `stages` micro-batches at once, so each loop admits that many more:
 *	whole + floor((m - 1) / stages) loop + the rest at the slowest of these stages
 * where stage_s is the time of one of them, and half_s the forward or backward
 * time of one, which counts instead when there is no full loop. */
double bound_loop(double whole_s, double loop_s, uint32_t stages,
		  uint32_t micro_batches, double stage_s, double half_s);

/* 1F1B. A loop over `stages` stages that ends `after` stages before the last
 * one; prefix_s is the time through the stages before its last one, which
 * takes stage_s. */
double bound_inner_loop(double prefix_s, double stage_s, double loop_s,
			uint32_t stages, uint32_t after, uint32_t micro_batches);

/* The least memory of the fullest device over all ways to spread the chain
 * over the devices, contiguous or not. */
double bound_memory(const struct chain *chain, const struct choice *choice,
		    const struct share *share);

/* How many layers of the most frequent kind (chain->deal.kind) each device has
 * room for at most, the ends of the chain being where they are. Pipelines of
 * two or more. */
void bound_units(const struct chain *chain, const struct choice *choice,
		 const struct share *share, double *units_most);

#endif

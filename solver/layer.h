/* SPDX-License-Identifier: MIT
 *
 * The time of one layer of every class under one shape, recomputation policy
 * and placement of its groups: compute plus what of the layer's collectives is
 * exposed.
 */
#ifndef NEST_SOLVER_LAYER_H
#define NEST_SOLVER_LAYER_H

#include "solver/network.h"

struct layer_time {
	double forward_s;		/* collectives included */
	double backward_s;
	double compute_s;		/* of both together: compute, */
	double tensor_s;		/*   exposed tensor-parallel */
	double context_s;		/*   context-parallel */
	double expert_s;		/*   and expert-parallel communication */
};

/* Of one class; lines by group. */
struct layer_time layer_time(const struct problem *problem, uint32_t shape,
			     uint32_t class_index, enum recompute recompute,
			     const struct network_lines lines[GROUP_COUNT]);

/* Fills time[class_count]. */
void layer_times(const struct problem *problem, uint32_t shape,
		 enum recompute recompute,
		 const struct network_lines lines[GROUP_COUNT],
		 struct layer_time *time);

#endif

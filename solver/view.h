/* SPDX-License-Identifier: MIT
 *
 * What other planners see of a problem: a simpler network, and the chain on it
 * as sums of layers.
 */
#ifndef NEST_SOLVER_VIEW_H
#define NEST_SOLVER_VIEW_H

#include "solver/attempt.h"
#include "solver/network.h"
#include "solver/stages.h"

struct view {
	struct problem network;		/* the problem on the network believed in */
	struct placement placement;
	struct network_lines group[GROUP_COUNT];
	/* Of the first i layers; length + 1 entries. */
	double *time_s, *held_bytes, *kept_bytes, *parameters;
	double *transfer_s;		/* over the boundary before a layer, both ways */
	struct layer_time *layer;	/* by class */
};

/* The network as it is. */
void view_true(struct view *view, const struct attempts *attempts);
/* All devices on one switch, at the rate of the given level. */
void view_flat(struct view *view, const struct attempts *attempts, uint32_t level);
/* Nodes (level 0) and one switch above them, at the rate of the level above. */
void view_mesh(struct view *view, const struct attempts *attempts);

/* Places the choice on the network in that order. False if it does not fit. */
bool view_place(struct view *view, const struct choice *choice,
		const enum dimension order[DIMENSION_COUNT]);

/* Sums up the chain; stages are sent across the given level. */
void view_load(struct view *view, const struct attempts *attempts,
	       const struct choice *choice, uint32_t send_level);

/* The arrays as input of stages.h; with memory where it is wanted. */
struct stages_input view_stages(const struct view *view,
				const struct attempts *attempts,
				const struct choice *choice, bool memory);

#endif

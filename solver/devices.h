/* SPDX-License-Identifier: MIT
 *
 * The device of every rank of a plan.
 *
 * Devices are numbered depth-first: device = sum over l of position_l x C_l, with
 * C_l the devices of one child of level l. Child i of level l, counted over the whole
 * network, has the devices i C_l .. (i + 1) C_l - 1.
 *
 * Factor placements. The digits of a rank's coordinates at each level
 * (struct placement) give it a logical position there, below the column product
 * u_l: tensor's digit + f_tensor (context's + f_context (data's + ..)). All ranks with the
 * same positions from level l on are one block of that level. Blocks are put into
 * children of their level, those with the same positions from l + 1 on into
 * different children of the child of l + 1 that holds that block; a block of level 0 is
 * one rank and needs a device that is not avoided and, if a pin binds its pipeline
 * rank, one among the pin's.
 *
 * On switch and full levels any u_l children will do. On a ring position i goes to
 * place (first + i) mod fanout, with first + u_l <= fanout unless the ring wraps;
 * the levels of one torus (`joined`) share their firsts: all blocks of a torus
 * are shifted alike. A placement fits the problem if its factors fit the fan-outs
 * and `within`, it fits the shape's expert degrees, and all blocks can be put so. What
 * it costs does not depend on how.
 *
 * Where there is a choice, blocks that hold a pinned rank come first, and the others
 * take the first children left, in the order of their positions. These are counted as
 * above, but in the order tensor, context, pipeline, data if with that, and not with the
 * other, devices ascend with ranks counted in the same order: frameworks know these two
 * orders of ranks, and a launcher wants the ranks of a node to be consecutive. So they
 * are never on a graph, nor on rings of both dimensions or where devices of a child share a
 * rail, since there it would matter for the cost. Without avoided devices and pins a
 * block's place is its position.
 */
#ifndef NEST_SOLVER_DEVICES_H
#define NEST_SOLVER_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/plan.h"

/* Whether the devices that may be used have room for the blocks of a factor
 * placement, which fits the fan-outs. */
bool devices_fit(const struct problem *problem,
		 const struct placement *placement, struct arena *scratch);

/* The device of every rank (plan.device) under a placement of either kind,
 * product of the degrees in number; NULL if there is none. */
uint32_t *devices_lay(const struct problem *problem,
		      const struct placement *placement, struct arena *arena);

/* Sets plan->device; false if its placement does not fit. */
bool devices_fill(const struct problem *problem, struct arena *arena,
		  struct plan *plan);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A plan to begin with, for searches that have little time.
 */
#ifndef NEST_SOLVER_FIRST_PLAN_H
#define NEST_SOLVER_FIRST_PLAN_H

#include "solver/deadline.h"
#include "solver/incumbent.h"

/* Offers what the expert's rule of thumb (strategy.h) finds until the deadline. The
 * plan lives in the arena. Nothing without a deadline: a search that may take all the
 * time it needs finds better ones by itself. */
void first_plan(const struct problem *problem, const struct deadline *deadline,
		struct arena *arena, struct incumbent *incumbent);

#endif

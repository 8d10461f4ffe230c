/* SPDX-License-Identifier: MIT
 *
 * The independent checker: recomputes a plan's cost and every constraint from
 * the problem alone, sharing no code with the search or price.c but the
 * formulas' documentation. No plan leaves the program without it.
 */
#ifndef NEST_SOLVER_FEASIBLE_H
#define NEST_SOLVER_FEASIBLE_H

#include <stdbool.h>

#include "lang/base/arena.h"
#include "lang/base/text.h"
#include "solver/plan.h"

/* True if the plan is legal and its numbers are right to within 1e-9 relative;
 * otherwise false, with what is wrong appended to reason. */
bool feasible_check(const struct problem *problem, const struct plan *plan,
		    struct arena *scratch, struct text *reason);

#endif

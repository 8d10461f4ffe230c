/* SPDX-License-Identifier: MIT
 *
 * Why no plan satisfies a job: the requirements and search domains that cannot
 * hold together, how far the nearest plan misses the memory limit, and one
 * change that would make a plan possible.
 */
#ifndef NEST_COMPILER_INFEASIBLE_H
#define NEST_COMPILER_INFEASIBLE_H

#include "compiler/ir.h"
#include "solver/solver.h"

struct compilation;

/* Reports E_INFEASIBLE for a problem the solver proved to have no plan. The reasons
 * are looked for until the deadline. */
void infeasible_report(struct compilation *compilation, const struct ir *ir,
		       const struct problem *problem,
		       const struct solve_result *result,
		       const struct deadline *deadline);

#endif

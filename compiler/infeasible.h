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

/* An idea that is fixed in a job (hand_plan_apply). */
struct infeasible_idea {
	const struct ir *ir;		/* the job without it, which has plans */
	struct span span;		/* its text, a source of its own */
	/* Filled in: the program with the idea but without the one thing of the job
	 * that keeps it out; NULL where memory does, or several things do. */
	const struct ir *without;
};

/* Reports E_INFEASIBLE for a problem the solver proved to have no plan. The reasons
 * are looked for until the deadline. */
void infeasible_report(struct compilation *compilation, const struct ir *ir,
		       const struct problem *problem,
		       const struct solve_result *result,
		       const struct deadline *deadline);

/* The same for a job in which an idea is fixed, at the idea's own text. */
void infeasible_report_idea(struct compilation *compilation, const struct ir *ir,
			    const struct problem *problem,
			    const struct solve_result *result,
			    const struct deadline *deadline,
			    struct infeasible_idea *idea);

#endif

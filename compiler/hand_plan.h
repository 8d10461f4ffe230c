/* SPDX-License-Identifier: MIT
 *
 * Plans that people wrote into a job: each is the job with some variables
 * fixed, searched and priced like any other.
 */
#ifndef NEST_COMPILER_HAND_PLAN_H
#define NEST_COMPILER_HAND_PLAN_H

#include <stdbool.h>

#include "compiler/ir.h"
#include "solver/solver.h"

struct compilation;

/* A hand-written plan beside the best one. */
struct rival {
	const char *name;
	bool is_possible;
	double value;			/* of the first objective, where it is possible */
	double time_s;			/* of an iteration, likewise */
	double memory_bytes;		/* of the fullest device */
	const char *about;		/* its degrees, or why it is impossible */
};

/* The program with the variables fixed that the plan of that name gives; NULL,
 * reported, when the job has no such plan. */
struct ir *hand_plan_fix(struct compilation *compilation, const struct ir *ir,
			 const char *name);

/* The program with what a plan gives fixed. */
struct ir *hand_plan_apply(struct arena *arena, const struct ir *ir,
			   const struct ir_plan *plan);

/* Prices every plan of a job; an impossible one is no error. The array has one
 * entry a plan. */
struct rival *hand_plan_compare(struct compilation *compilation,
				const struct ir *ir,
				const struct solve_limits *limits);

#endif

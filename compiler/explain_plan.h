/* SPDX-License-Identifier: MIT
 *
 * Takes a plan apart: every kind of layer operator by operator with the
 * exchanges inferred from its splits, every stage's time and memory term by
 * term, and how they make the iteration.
 */
#ifndef NEST_COMPILER_EXPLAIN_PLAN_H
#define NEST_COMPILER_EXPLAIN_PLAN_H

#include <stdbool.h>

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

struct compilation;

/* The problem must be one that problem_from_ir made. */
void explain_plan(struct compilation *compilation, const struct ir *ir,
		  const struct problem *problem, const struct plan *plan,
		  struct text *out);

/* One kind of layer under the plan: operators with local shapes, operations,
 * bytes and what they keep, and the exchanges with where they come from. False,
 * with nothing said, when the model has no template of that name. */
bool explain_layer(struct compilation *compilation, const struct ir *ir,
		   const struct problem *problem, const struct plan *plan,
		   const char *name, struct text *out);

#endif

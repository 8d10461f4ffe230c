/* SPDX-License-Identifier: MIT
 *
 * The last gate before any output: checks a plan against the placement program
 * itself (layers add up, memory components sum to totals below the limit, ranks
 * map one to one onto devices, groups match the factors, the breakdown sums to the
 * time), after solver/feasible.h has accepted the numbers.
 */
#ifndef NEST_COMPILER_PLAN_VERIFY_H
#define NEST_COMPILER_PLAN_VERIFY_H

#include <stdbool.h>

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

struct arena;

bool plan_verify(const struct ir *ir, const struct problem *problem,
		 const struct plan *plan, struct arena *scratch,
		 struct text *reason);

#endif

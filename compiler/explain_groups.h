/* SPDX-License-Identifier: MIT
 *
 * Who communicates over what: for every group of a plan its members at each level,
 * its largest exchange, and the links that limit it with all that share them.
 */
#ifndef NEST_COMPILER_EXPLAIN_GROUPS_H
#define NEST_COMPILER_EXPLAIN_GROUPS_H

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

void explain_groups(const struct ir *ir, const struct problem *problem,
		    const struct plan *plan, struct arena *arena,
		    struct text *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * How a degree is spread over the levels of a network, in words.
 */
#ifndef NEST_COMPILER_SPREAD_H
#define NEST_COMPILER_SPREAD_H

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

/* "2 within a node, 16 across racks"; nothing for a degree of 1. The placement must
 * be one by factors. */
void spread_describe(const struct ir_topology *topology,
		     const struct placement *placement, enum dimension dimension,
		     struct text *out);

#endif

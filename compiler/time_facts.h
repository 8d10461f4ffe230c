/* SPDX-License-Identifier: MIT
 *
 * What decides a part of an iteration's time in a plan, in a few words: the same part
 * of two plans can then be compared.
 */
#ifndef NEST_COMPILER_TIME_FACTS_H
#define NEST_COMPILER_TIME_FACTS_H

#include "compiler/ir.h"
#include "compiler/time_terms.h"
#include "lang/base/text.h"

/* "32 micro-batches of 356 ms, recompute none"; where that part takes no time, why. */
void time_facts(const struct ir *ir, const struct problem *problem,
		const struct plan *plan, enum time_term term, struct text *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the files that explain an infeasible job share. Only infeasible*.c include
 * this. Texts are in the compilation's arena.
 */
#ifndef NEST_COMPILER_INFEASIBLE_INTERNAL_H
#define NEST_COMPILER_INFEASIBLE_INTERNAL_H

#include "compiler/infeasible.h"
#include "compiler/inquiry.h"

/* "tensor 8 x data 4, micro-batch 1". */
const char *inquiry_degrees(struct inquiry *inquiry, const struct plan *plan,
			    const struct problem *problem);
/* "79.1 GiB". */
const char *inquiry_bytes(struct inquiry *inquiry, double number);
/* What a constraint says as it is written, in quotes, with single blanks; `other` when
 * it is long. */
const char *inquiry_written(struct inquiry *inquiry, struct span span,
			    const char *other);

/* Single changes that work, of those in the conflicting set: one, or of an idea that
 * wants memory a few. False when none does. */
bool infeasible_advise_change(struct inquiry *inquiry, const bool *in_core);
/* Of an idea that wants memory, as much as can be kept, degrees before policies. */
bool infeasible_advise_several(struct inquiry *inquiry);
/* Whether ZeRO 2 or 3, which are only looked at where `search` names them, would
 * do, everything else as it is; says so. */
bool infeasible_advise_zero(struct inquiry *inquiry);

#endif

/* SPDX-License-Identifier: MIT
 *
 * How a program's result moves when the plan stays what it is and only takes
 * longer. Of two placements of one plan the faster serves any requirement that
 * time, cost and energy can only break by growing.
 */
#ifndef NEST_SOLVER_TREND_H
#define NEST_SOLVER_TREND_H

#include "solver/predicate.h"

/* When time, cost and energy grow (the bubble may go either way) the result
 * stays, does not fall, does not rise, or may do anything. */
enum trend { TREND_NONE, TREND_UP, TREND_DOWN, TREND_ANY };

enum trend predicate_trend(const struct predicate *predicate);

#endif

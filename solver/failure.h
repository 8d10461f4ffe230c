/* SPDX-License-Identifier: MIT
 *
 * Which requirement is to blame when nothing is left.
 */
#ifndef NEST_SOLVER_FAILURE_H
#define NEST_SOLVER_FAILURE_H

#include <stdint.h>

#include "solver/deadline.h"
#include "solver/problem.h"

/* Adds to removed_by[i] the configurations for which requirement i fails and
 * every other one that can be judged without a priced plan holds. When the deadline
 * passes first all are set to 0: part of a count says nothing. */
void failure_tally(const struct problem *problem, const struct deadline *deadline,
		   uint64_t *removed_by);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Which requirement is to blame when nothing is left.
 */
#ifndef NEST_SOLVER_FAILURE_H
#define NEST_SOLVER_FAILURE_H

#include <stdint.h>

#include "solver/problem.h"

/* Adds to removed_by[i] the configurations for which requirement i fails and
 * every other one that can be judged without a priced plan holds. */
void failure_tally(const struct problem *problem, uint64_t *removed_by);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The search for the best split plan (mixed.h): families of a shape, a data
 * degree and an order of kinds; of these, numbers of ranks on each kind and a
 * recomputation; and all that is left.
 */
#ifndef NEST_SOLVER_MIXED_SEARCH_H
#define NEST_SOLVER_MIXED_SEARCH_H

#include "solver/search.h"

/* As search_run, for the split plans of a problem with kinds; an incumbent of
 * another family may be there already. */
void mixed_search(const struct problem *problem, const struct solve_limits *limits,
		  struct incumbent *incumbent, uint64_t *removed_by,
		  struct search_result *result);

#endif

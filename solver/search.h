/* SPDX-License-Identifier: MIT
 *
 * Best-first branch and bound over configurations and placements.
 */
#ifndef NEST_SOLVER_SEARCH_H
#define NEST_SOLVER_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/incumbent.h"
#include "solver/solver.h"

struct search_result {
	struct certificate certificate;	/* counts and lower bound; value and gap */
	bool complete;			/* nothing was left for lack of effort or time */
};

/* Searches the problem; the incumbent holds the best plan, if any. removed_by
 * has an entry for each requirement and counts configurations of which it
 * alone, judged on outcomes, refused every plan. */
void search_run(const struct problem *problem, const struct solve_limits *limits,
		struct incumbent *incumbent, uint64_t *removed_by,
		struct search_result *result);

#endif

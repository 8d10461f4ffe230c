/* SPDX-License-Identifier: MIT
 *
 * The proof on the links: every family of plans, that is a configuration under one
 * placement, which the hierarchy has below the best routed plan is looked at again, with
 * what graph_bound.h and graph_span.h know of its links. What is still below is cut,
 * routed, and may become the best plan; the least bound that is left is one for all
 * plans.
 */
#ifndef NEST_SOLVER_GRAPH_PROVE_H
#define NEST_SOLVER_GRAPH_PROVE_H

#include "solver/graph_trial.h"
#include "solver/solver.h"

/* Of a problem whose one objective is time, with a best plan in the trial, which may
 * become better. The result is a lower bound on the time of all plans, at most that of
 * the best one; 0 if the search was too large or ran out of time. *families counts
 * those looked at on the links. */
double graph_prove(const struct problem *problem, const struct solve_limits *limits,
		   struct trial *trial, uint64_t *families);

#endif

/* SPDX-License-Identifier: MIT
 *
 * One family of plans on a graph: a configuration under one placement, with all cuts
 * of the chain and all ways to put children into places.
 */
#ifndef NEST_SOLVER_GRAPH_FAMILY_H
#define NEST_SOLVER_GRAPH_FAMILY_H

#include "solver/graph_bound.h"
#include "solver/partition.h"

struct graph_families {
	struct problem problem;		/* on the hierarchy: no graph, no requirements */
	double beaten_s;		/* a bound that reaches it need not be sharper */
	struct chain fast, slow;
	struct layer_time *time, *kept_time;
	struct arena *scratch;
	struct arena found;		/* best cuts, while they are looked for */
	uint64_t work;			/* layers added up so far */
	uint64_t left;			/* chunk operations that cuts may still cost */
};

/* beaten_s, and left, are the caller's. */
void graph_families_init(struct graph_families *families,
			 const struct problem *problem, struct arena *arena,
			 struct arena *scratch);
void graph_families_release(struct graph_families *families);

/* No plan of the family is faster: INFINITY where none fits into memory. */
double graph_family_bound(struct graph_families *families,
			  const struct choice *choice,
			  const struct graph_site *site);

/* The same after a look at cuts. Those that a case would have below beaten_s are
 * handed to the caller, each with the placement's factors: visit may lower beaten_s. The
 * case is one of that level; NULL if there are none. */
double graph_family_settle(struct graph_families *families,
			   const struct choice *choice,
			   const struct graph_site *site,
			   void (*visit)(void *closure, const struct plan *plan,
					 const struct graph_case *at,
					 uint32_t level),
			   void *closure);

#endif

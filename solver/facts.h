/* SPDX-License-Identifier: MIT
 *
 * What is known of a shape before pipeline and placement are chosen: times of
 * layers with every group placed at its best, added up along the chain. All
 * bounds of the upper levels of the search come from these.
 */
#ifndef NEST_SOLVER_FACTS_H
#define NEST_SOLVER_FACTS_H

#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/deal.h"
#include "solver/placement.h"
#include "solver/problem.h"
#include "solver/share.h"

/* Policies, and at last partial recomputation, with each layer at its cheaper. */
enum { FACTS_PARTIAL = RECOMPUTE_COUNT, FACTS_COUNT };

struct facts {
	double *through_s[FACTS_COUNT];	/* time of the first i layers, both ways */
	double *entry_s[FACTS_COUNT];	/* and two transfers after each of these */
	double *entries_s[FACTS_COUNT];	/* sum of entry_s[0 .. i - 1] */
	struct deal deal[FACTS_COUNT];
	/* bound_deal by pipeline, then virtual stages; NAN: not asked for yet. Not
	 * for partial recomputation, where it depends on the layers. */
	_Atomic double **dealt_s[FACTS_PARTIAL];	/* filled by any thread */
	double layer_most_s[FACTS_COUNT];
	double half_most_s[FACTS_COUNT];
	double whole_least_s;			/* least time of the chain over the policies */
	struct holding held;			/* by one device if it held the chain */
	double transfer_least_s;		/* of any boundary */
};

/* Least compute time of the chain over the policies; no communication. */
double facts_compute(const struct problem *problem, uint32_t shape);

void facts_fill(struct facts *facts, const struct problem *problem,
		struct placement_cache *cache, uint32_t shape,
		struct arena *arena);

/* Lower bounds on the time of an iteration, optimizer step included. */
double facts_bound_data(const struct facts *facts, const struct problem *problem,
			uint32_t pipeline_most, uint32_t micro_batches);
double facts_bound(const struct facts *facts, const struct problem *problem,
		   const struct choice *choice);

/* Its parts: the schedule's end, and the optimizer step that the fullest device has at
 * least, times the pipeline degree, on which it does not depend. */
double facts_span(const struct facts *facts, const struct problem *problem,
		  const struct choice *choice);
double facts_steps(const struct facts *facts, const struct share *share);

/* A tighter one that takes longer; units_most as in struct deal_limits, until_s as
 * of bound_deal_end. INFINITY when memory does not suffice. */
double facts_bound_whole(const struct facts *facts, const struct problem *problem,
			 const struct choice *choice, const double *units_most,
			 double until_s);

#endif

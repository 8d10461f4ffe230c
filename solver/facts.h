/* SPDX-License-Identifier: MIT
 *
 * What is known of a shape before pipeline and placement are chosen: times of
 * layers with every group placed at its best, added up along the chain. All
 * bounds of the upper levels of the search come from these.
 */
#ifndef NEST_SOLVER_FACTS_H
#define NEST_SOLVER_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/deal.h"
#include "solver/placement.h"
#include "solver/problem.h"
#include "solver/share.h"

/* Policies, and at last partial recomputation, with each layer at its cheaper. */
enum { FACTS_PARTIAL = RECOMPUTE_COUNT, FACTS_COUNT };

/* What a micro-batch takes at least, both ways, communication included. */
struct facts_loads {
	double all_s;			/* through the chain */
	double unit_s;			/* a layer of the frequent kind */
	double first_s, last_s;		/* the ends of the chain; a lone layer is the first */
	double extra_s;			/* partial recomputation: what recomputing such a
					 * layer takes more than that */
};

struct facts {
	struct facts_loads loads[FACTS_COUNT];
	double *through_s[FACTS_COUNT];	/* time of the first i layers, both ways */
	double *entry_s[FACTS_COUNT];	/* and two transfers after each of these */
	double *entries_s[FACTS_COUNT];	/* sum of entry_s[0 .. i - 1] */
	struct deal deal;			/* without times */
	/* bound_deal by pipeline, then virtual stages; NAN: not asked for yet. Not
	 * for partial recomputation, where it depends on the layers. */
	_Atomic double **dealt_s[FACTS_PARTIAL];	/* filled by any thread */
	double layer_most_s[FACTS_COUNT];
	double half_most_s[FACTS_COUNT];
	double whole_least_s;			/* least time of the chain over the policies */
	struct holding held;			/* by one device if it held the chain */
	uint8_t allowed;			/* bit i: through_s[i] is filled, and the
						 * problem allows such plans */
	uint32_t blocks;			/* of the chain */
	double unit_saved_bytes[FACTS_COUNT];	/* of a frequent layer, at least, */
	double block_saved_bytes[FACTS_COUNT];	/*   and of any that is a block */
	double working_least_bytes[FACTS_COUNT];	/* over all layers */
	double output_least_bytes;		/* of any layer */
	double transfer_least_s;		/* of any boundary */
};

/* Least compute time of the chain over the policies; no communication. */
double facts_compute(const struct problem *problem, uint32_t shape);

void facts_fill(struct facts *facts, const struct problem *problem,
		struct placement_cache *cache, uint32_t shape,
		struct arena *arena);

/* The index of the choice's policy. */
static inline int facts_policy(const struct choice *choice)
{
	return choice->recompute == RECOMPUTE_FULL && choice->recompute_layers ?
		(int)FACTS_PARTIAL : (int)choice->recompute;
}

/* Adds up what layers take, by class; no extra. */
struct facts_loads facts_add_up(const struct problem *problem, uint32_t kind,
				const double *both_s);

/* Transfers from the first chunk to the last, each at its least. */
double facts_transfers(const struct facts *facts, const struct choice *choice);

/* Lower bounds on the time of an iteration, optimizer step included; the first under any
 * of a set of policies, as `allowed` is. */
double facts_bound_data(const struct facts *facts, uint8_t policies,
			uint32_t pipeline_most, uint32_t micro_batches);
double facts_bound(const struct facts *facts, const struct problem *problem,
		   const struct choice *choice);

/* The mean over the devices of what they wait for and do, under the best of some
 * policies: no schedule of the pipeline degree ends before. */
double facts_mean(const struct facts *facts, uint8_t policies,
		  const struct choice *choice);

/* Its parts: the schedule's end, and the optimizer step that the fullest device has at
 * least, times the pipeline degree, on which it does not depend. Of placements where
 * layers take more, or transfers together, a schedule ends later. */
double facts_span(const struct facts *facts, const struct facts_loads *loads,
		  const struct choice *choice, double transfers_s);
double facts_steps(const struct facts *facts, const struct share *share);

/* A tighter one that takes longer, where layers take as `loads` says: those of the policy
 * or more; units_most as in struct deal_limits, until_s as of bound_deal_end. INFINITY when memory does not suffice. */
double facts_bound_whole(const struct facts *facts, const struct problem *problem,
			 const struct facts_loads *loads,
			 const struct choice *choice, const double *units_most,
			 double until_s);

#endif

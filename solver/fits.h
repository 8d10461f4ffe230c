/* SPDX-License-Identifier: MIT
 *
 * Which recomputation policies memory leaves room for, as the degrees alone tell: a
 * bound on many configurations at once. Proofs in doc/solver.md.
 */
#ifndef NEST_SOLVER_FITS_H
#define NEST_SOLVER_FITS_H

#include <stdint.h>

#include "solver/facts.h"

/* A set of policies: as facts.allowed is one. */
typedef uint8_t fits_set;

/* What a policy leaves of a device's memory, and what a layer of the frequent kind
 * takes of it. */
struct fits_policy {
	double room_bytes;		/* for such layers */
	double saved_bytes;		/* of one, per micro-batch, */
	double saved_less_bytes;	/*   and how much less another block saves, at most */
};

struct fits {
	const struct facts *facts;
	struct fits_policy policy[FACTS_COUNT];
	fits_set allowed;		/* by the problem */
	double unit_bytes;		/* of one such layer: weights and the like */
	uint32_t micro_batches;
};

/* For plans of one shape and data degree, which share out parameters as `share` says or
 * less. */
void fits_init(struct fits *fits, const struct facts *facts,
	       const struct problem *problem, uint32_t shape,
	       const struct share *share, uint32_t micro_batches);

/* Fills sets[1 .. pipeline_most] with the policies under which that many pipeline
 * stages may have room for all layers. */
void fits_pipelines(const struct fits *fits, uint32_t pipeline_most,
		    fits_set *sets);

/* Those of a set that may fit under the interleaved schedule too. */
fits_set fits_interleaved(const struct fits *fits, fits_set set,
			  uint32_t pipeline, uint32_t virtual_stages);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Whole plans tried one by one, as the strategies of strategy.h do: what is
 * legal, where its ranks lie, how its layers are dealt out evenly, and the best
 * plan so far under the true price.
 */
#ifndef NEST_SOLVER_ATTEMPT_H
#define NEST_SOLVER_ATTEMPT_H

#include "solver/deadline.h"
#include "solver/incumbent.h"
#include "solver/share.h"
#include "solver/space.h"

struct attempts {
	const struct problem *problem;
	struct space space;
	struct incumbent incumbent;	/* its plan lives in the arena given */
	struct arena *scratch;		/* of one plan at a time */
	uint32_t length;		/* of the chain */
	uint32_t *class_of;		/* by layer */
	uint32_t *blocks;		/* block layers among the first i, length + 1 entries */
	uint64_t tried;			/* plans offered, */
	uint64_t over_memory;		/*   of these beyond a device's memory */
	uint64_t refused;		/*   or against a requirement */
	const struct deadline *deadline;	/* NULL, as at first: never */
	bool out_of_time;		/* it has passed */
};

void attempts_init(struct attempts *attempts, const struct problem *problem,
		   struct arena *arena, struct arena *scratch);

/* Whether the deadline has passed: a strategy then stops looking. */
bool attempts_are_over(struct attempts *attempts);

/* Fills what the given degrees and policies leave open: micro-batches, schedule,
 * shard level and recomputed layers (the first that are allowed). False if they
 * are not in the problem's space. */
bool attempts_choose(const struct attempts *attempts, uint32_t shape,
		     uint32_t data, uint32_t pipeline, uint32_t virtual_stages,
		     uint32_t zero, enum recompute recompute,
		     struct choice *choice);

/* The most replicas (at most `most`) that the shape can have on so many stages;
 * 0 if none. */
uint32_t attempts_data(const struct attempts *attempts, uint32_t shape,
		       uint32_t pipeline, uint32_t most);

/* Lays dimensions over the levels from the innermost on: at each level the first of
 * the order takes the most that divides both its degree and what is left of the
 * fan-out, then the second, .. . Where that does not work out, the first
 * factorisation there is. False if none fits the fan-outs and the expert degrees. */
bool attempts_place(const struct attempts *attempts, const struct choice *choice,
		    const enum dimension order[DIMENSION_COUNT],
		    struct placement *placement);

/* Cuts the chain into chunks with equally many block layers, those left over going
 * to the chunks after the first; `lighter` takes so many more away from the first
 * and last chunk, which also hold the ends. False if that leaves a chunk without
 * a block layer or is not in the space. chunk_first has chunks + 1 entries. */
bool attempts_deal(const struct attempts *attempts, const struct choice *choice,
		   uint32_t lighter, uint32_t *chunk_first);

/* What one parameter brings with it where all replicas share out what the choice
 * says; for share_least_bytes. */
struct share attempts_share(const struct problem *problem,
			    const struct choice *choice);

/* What the fullest device surely holds: parameters and what belongs to them, and
 * the activations of the micro-batches in flight under 1F1B. */
double attempts_least_bytes(const struct attempts *attempts,
			    const struct choice *choice,
			    const uint32_t *chunk_first);

/* Whether that leaves room; counts as a plan tried where it does not. */
bool attempts_may_fit(struct attempts *attempts, const struct choice *choice,
		      const uint32_t *chunk_first);

/* Prices the plan (choice, placement, chunks) and keeps it if it is legal and the
 * best so far. Returns its first objective; infinity if it is not legal. */
double attempts_offer(struct attempts *attempts, const struct plan *plan);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The split plans of a problem, as families: which there are, how many
 * configurations each has, and what all of them take at least.
 */
#ifndef NEST_SOLVER_MIXED_SPACE_H
#define NEST_SOLVER_MIXED_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"
#include "solver/facts.h"
#include "solver/placement.h"
#include "solver/problem.h"

/* A shape and a data degree on some kinds, in the order of the pipeline. */
struct mixed_family {
	uint32_t kind[KIND_MAX];
	uint32_t kind_count;
	uint32_t ranks_most[KIND_MAX];	/* that the devices of each allow */
	uint32_t shape, data, micro_batches;
};

/* Of a family, how many ranks each kind has. */
struct mixed_ranks {
	uint32_t ranks[KIND_MAX];
	uint32_t pipeline;
};

struct mixed_space {
	const struct problem *problem;
	struct arena *arena;
	uint32_t chain_length;
	bool any;			/* schedules and virtual degrees allow some */
	uint32_t zeros;			/* allowed ZeRO stages */
	uint32_t policies;		/* these x recomputations */
	struct placement_cache cache[KIND_MAX];
	struct facts **facts[KIND_MAX];	/* by shape, once asked for */
	const uint32_t *data;		/* degrees the batch and the domain allow */
	uint32_t data_count;
	VEC(struct mixed_family) family;
};

/* Fills family. */
void mixed_space_init(struct mixed_space *space, const struct problem *problem,
		      struct arena *arena);

/* Whether the ZeRO stage is allowed among the whole group of replicas. */
bool mixed_space_has_zero(const struct problem *problem, uint32_t zero);

/* Configurations of a family: ways to choose ranks, times policies. */
uint64_t mixed_space_count(const struct mixed_space *space,
			   const struct mixed_family *family);

/* Steps through the ways to choose ranks: the first when pipeline is 0. False
 * when there are no more. */
bool mixed_space_next(const struct mixed_space *space,
		      const struct mixed_family *family,
		      struct mixed_ranks *ranks);

/* No plan of the family is faster: every layer on the type that computes it
 * fastest, shared by all devices. Takes next to no time. */
double mixed_space_floor(const struct mixed_space *space,
			 const struct mixed_family *family);

const struct facts *mixed_space_facts(struct mixed_space *space, uint32_t kind,
				      uint32_t shape);

/* Time of the first i layers of a kind, both ways, under the best placement. */
const double *mixed_space_through(struct mixed_space *space, uint32_t kind,
				  uint32_t shape, enum recompute recompute);

/* No plan with at most so many ranks of each kind is faster under that policy:
 * for every place at which the chain may pass from one kind to the next, the
 * time before the slowest rank of each kind + m x its own. Beyond limit_s the exact
 * bound is not looked for. */
double mixed_space_bound(struct mixed_space *space,
			 const struct mixed_family *family,
			 const uint32_t ranks[KIND_MAX], enum recompute recompute,
			 double limit_s);

#endif

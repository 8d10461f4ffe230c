/* SPDX-License-Identifier: MIT
 *
 * What a micro-batch takes under every placement of a set: worked out once for all
 * configurations that differ in virtual stages, schedule and micro-batches only.
 */
#ifndef NEST_SOLVER_PLACED_LOADS_H
#define NEST_SOLVER_PLACED_LOADS_H

#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/facts.h"
#include "solver/placement.h"

/* Under one placement, communication and what ZeRO 2 and 3 move included. */
struct placed_load {
	bool allowed;			/* it may share out at the shard level */
	struct facts_loads loads;
	double row_s;			/* transfers, at least: from the first device to the
					 * last, */
	double wrap_s;			/* and from there to the first */
};

/* What decides them besides the problem. */
struct placed_key {
	uint32_t shape, data, pipeline;
	uint32_t policy;		/* facts_policy */
	uint32_t zero;			/* 0 for 0 and 1, which move nothing within layers */
	uint32_t shard_level;		/* it says which placements are allowed */
};

struct placed_loads {
	struct placed_key key;
	struct placed_load *at;		/* by placement of the set */
	struct facts_loads least;	/* of those allowed */
};

/* Those known so far; of one thread. */
struct placed_loads_cache {
	const struct problem *problem;
	struct arena *arena;
	struct placed_loads **slot;	/* hash table */
	uint32_t used, capacity;
};

void placed_loads_init(struct placed_loads_cache *cache,
		       const struct problem *problem, struct arena *arena);

/* Under the placements of the choice's degrees, which are those of the set. */
const struct placed_loads *
placed_loads_find(struct placed_loads_cache *cache, const struct facts *facts,
		  const struct placement_set *set, const struct choice *choice);

/* All transfers from the first chunk to the last. */
static inline double placed_transfers(const struct placed_load *load,
				      const struct choice *choice)
{
	return choice->virtual_stages * load->row_s +
	       (choice->virtual_stages - 1) * load->wrap_s;
}

#endif

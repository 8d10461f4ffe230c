/* SPDX-License-Identifier: MIT
 *
 * The placements of given degrees that are worth pricing. Every factorisation
 * over the levels is looked at, and every linear placement (linear.h); one is
 * dropped when an earlier or cheaper one is at least as good in every time that
 * depends on the placement, factors for other factors only. Where a slower plan may
 * be wanted (a requirement that time does not only make harder) only those are
 * dropped that give the same times.
 */
#ifndef NEST_SOLVER_PLACEMENT_H
#define NEST_SOLVER_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"
#include "solver/shard.h"

/* A placement with all that pricing needs of it. */
struct placed {
	struct placement placement;
	const uint32_t *device;		/* linear: of every rank (plan.device); else NULL */
	struct network_lines group[GROUP_COUNT];
	struct network_line transfer[LEVEL_MAX];	/* across each level */
	/* What ZeRO shares out among, by shard level; NULL where no stage allows
	 * it. */
	const struct sharding *sharding[LEVEL_MAX];
	uint8_t *boundary_level;	/* rank r to rank (r + 1) mod pipeline */
	bool replicas_leave;		/* see price.h */
	/* Pipeline ranks whose replicas share out and exchange over other lines
	 * (graph_bound.h); NULL: none. */
	const bool *slow;
	const struct sharding *const *slow_sharding;	/* by shard level */
};

/* Fills the rest of a placed whose placement fits the shape. False if it is linear
 * and the devices end before the ranks, it breaks a rule, or factors that fit say the
 * same. */
bool placement_price(const struct problem *problem,
		     const struct problem_shape *shape, struct arena *arena,
		     struct placed *placed);

/* The same where it is known whether the problem has experts. */
bool placement_price_with(const struct problem *problem,
			  const struct problem_shape *shape, bool experts,
			  struct arena *arena, struct placed *placed);

/* The level between two pipeline ranks. */
uint32_t placement_pipeline_level(const struct problem *problem,
				  const struct placed *placed, uint32_t a,
				  uint32_t b);

/* How a group lies in the children of one level, for reports. */
struct placement_part {
	uint32_t least, most;		/* ranks in a child that holds any */
	bool crossed;			/* two children within one of the next level do */
	uint32_t copies;		/* N_l: ways in and out that it has at once */
	uint32_t sharers;		/* most groups of its kind that leave the same
					 * child; 0: none leaves any */
	double share;			/* of a child's links that one of them can use
					 * when alone */
};

struct placement_reach {
	uint32_t members;
	/* Children of each level; at level_count the whole network. */
	struct placement_part level[LEVEL_MAX + 1];
};

void placement_reach(const struct problem *problem,
		     const struct problem_shape *shape,
		     const struct placed *placed, enum group group,
		     struct arena *scratch, struct placement_reach *reach);

/* Degrees that a placement must fit. */
struct placement_degrees {
	uint32_t degree[DIMENSION_COUNT];
	uint32_t expert, expert_tensor;
};

struct placement_set {
	struct placement_degrees degrees;
	struct placed *at;		/* in the order of ties: see placement_before */
	uint32_t count;
	uint32_t factor_count;		/* of these, not linear: the first ones */
};

/* Sets already found, by degrees; and the cheapest lines of a group alone. */
struct placement_cache {
	const struct problem *problem;
	struct arena *arena;
	bool all;			/* slower placements count too */
	bool experts;			/* the problem has any */
	bool joint;			/* plans go on beyond the outermost level (mixed.h):
					 * a transfer there counts too */
	struct placement_set **slot;	/* hash table */
	uint32_t used, capacity;
	struct placement_row_set *row_set;	/* list */
};

void placement_cache_init(struct placement_cache *cache,
			  const struct problem *problem, struct arena *arena);

/* The set for a shape with data and pipeline degrees; empty when none fits. Linear ones
 * come last; they have no sharding but for shard level 0. */
const struct placement_set *
placement_find(struct placement_cache *cache, const struct problem_shape *shape,
	       uint32_t data, uint32_t pipeline);

/* Lines that a group of that many members can have in any placement: for every
 * placement, linear ones too, one of these is at least as good. Empty if none fits. */
struct placement_row_set {
	struct placement_row_set *next;
	uint32_t degree;
	VEC(struct network_lines) row;
};

const struct placement_row_set *
placement_rows(struct placement_cache *cache, uint32_t degree);

/* The order of ties: row by row, innermost level first, larger factors first; then
 * linear ones by their packing, and those that align fewer dimensions first. */
bool placement_before(const struct placement *a, const struct placement *b);

/* Calls visit for every factorisation of the degrees in that order, until it
 * returns false. Avoided devices, pins and expert degrees are not looked at. */
void placement_walk(const struct problem *problem,
		    const uint32_t degree[DIMENSION_COUNT],
		    bool (*visit)(void *closure, const struct placement *),
		    void *closure);

/* The same for linear placements. */
void placement_walk_linear(const struct problem *problem,
			   const uint32_t degree[DIMENSION_COUNT],
			   bool (*visit)(void *closure, const struct placement *),
			   void *closure);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the parts of routed.h share. Only routed*.c include this.
 */
#ifndef NEST_SOLVER_ROUTED_PARTS_H
#define NEST_SOLVER_ROUTED_PARTS_H

#include "solver/most.h"
#include "solver/routed.h"

/* What the first word of a key in the memo says. */
enum { KEY_GROUPS, KEY_BOUNDARIES };

/* One plan on its way over the links. */
struct router {
	const struct problem *problem;
	const struct plan *plan;
	const struct problem_shape *shape;
	const struct placed *base;	/* on the hierarchy */
	const struct sharding *base_sharding;
	struct memo *memo;		/* NULL: nothing is looked up */
	struct arena *arena;
	struct routed *routed;
	uint32_t stage_ranks;		/* of one pipeline rank */
};

static inline uint32_t router_pipeline(const struct router *router)
{
	return router->plan->choice.pipeline;
}

/* Of a rank, in the hierarchy. */
static inline uint32_t router_place(const struct router *router, uint32_t rank)
{
	return router->plan->device[rank];
}

/* Of a place. */
static inline uint32_t router_device(const struct router *router, uint32_t place)
{
	return router->plan->device_map[place];
}

/* The larger of both numbers of both. */
static inline struct network_line routed_slower(struct network_line a,
						struct network_line b)
{
	return (struct network_line){ most(a.latency_s, b.latency_s),
				      most(a.s_per_byte, b.s_per_byte) };
}

/* Fills routed.boundary and boundary_link, from the links alone. */
void routed_boundaries(const struct router *router);

/* Fills what routed has of a tied weight. */
void routed_tied(const struct router *router);

#endif

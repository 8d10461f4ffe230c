/* SPDX-License-Identifier: MIT
 *
 * What a search knows of the family of plans that a node stands for.
 */
#ifndef NEST_SOLVER_FAMILY_H
#define NEST_SOLVER_FAMILY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/facts.h"
#include "solver/incumbent.h"
#include "solver/node.h"
#include "solver/placement.h"
#include "solver/solver.h"
#include "solver/space.h"

/* What all nodes of a search have in common. Threads read it; the facts of a shape are
 * there before any other node of the shape is. */
struct families {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct space space;
	struct facts **facts;		/* by shape, once opened */
	bool layers_wanted;		/* something asks for recompute_layers */
	bool memory_only;		/* nothing asks for more than memory: all of a
					 * placement that counts is what shares out */
	struct arena arena;		/* of the above */
	pthread_mutex_t lock;		/* of the placements found so far: */
	struct placement_cache cache;
	struct arena cache_arena;
};

void families_init(struct families *families, const struct problem *problem,
		   const struct solve_limits *limits);
void families_release(struct families *families);

/* The placements of a configuration. Any thread may ask. */
const struct placement_set *family_placements(struct families *families,
					      const struct choice *choice);

/* Whether no plan of the node can replace the incumbent. */
bool family_excluded(const struct families *families,
		     const struct incumbent *incumbent, const struct node *node);

/* Fills the node's objectives from its bounds. */
void family_bound(const struct families *families,
		  const struct incumbent *incumbent, struct node *node);

/* Configurations of the node; 1 from NODE_CONFIGURATION on. */
uint64_t family_count(struct families *families, const struct node *node);

/* The only requirement that surely fails for the family, REQUIREMENT_NONE or
 * REQUIREMENT_SEVERAL. */
uint32_t family_refused(const struct families *families,
			const struct incumbent *incumbent,
			const struct node *node);

#endif

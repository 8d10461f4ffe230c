/* SPDX-License-Identifier: MIT
 *
 * Opening a node: from a family of plans to smaller ones, or to plans. What comes out
 * depends on the node and the incumbent only, not on when or by whom it is opened.
 */
#ifndef NEST_SOLVER_EXPAND_H
#define NEST_SOLVER_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"
#include "solver/chain.h"
#include "solver/family.h"
#include "solver/fits.h"
#include "solver/placed_loads.h"

/* Chains kept loaded: a node's configurations differ in what they recompute. */
enum { EXPANDER_CHAINS = 16 };

/* What one thread needs to open nodes. */
struct expander {
	struct families *families;
	struct arena arena;		/* of what lasts */
	struct arena scratch;		/* of one partition at a time */
	struct chain chain[EXPANDER_CHAINS];	/* by what is loaded; problem NULL: none */
	struct layer_time *time;	/* by class */
	struct layer_time *kept_time;	/* likewise, of layers not recomputed */
	double *units;			/* by device, for bound_units */
	fits_set *fits[4];		/* by ZeRO stage and pipeline degree */
	struct placed_loads_cache loads;
};

void expander_init(struct expander *expander, struct families *families);
void expander_release(struct expander *expander);

/* What has become of a configuration so far. */
struct outcome {
	bool simulated, feasible, bounded;
	bool over_memory, over_requirement;
	uint32_t failed_requirement;	/* REQUIREMENT_NONE, .._SEVERAL, or the only one */
};

struct expansion {
	struct arena *arena;		/* of all that follows */
	/* Not excluded, and bounded. What is not settled of a cut is its child, with the
	 * better bound. */
	VEC(struct node) child;
	/* Configurations that are settled by it, and partitions simulated. */
	struct certificate count;
	uint64_t *removed_by;		/* by requirement; NULL: by none */
	/* NODE_CONFIGURATION: of the configuration, which the children are
	 * placements of. From NODE_PLACED on: what is added to it. */
	const struct placement_set *set;
	struct outcome outcome;
	uint64_t effort;		/* from NODE_CUT on: chunk operations spent */
	/* The incumbent as it was, or with a better plan: then chunk_count > 0. */
	struct incumbent incumbent;
};

/* Opens a node; what comes out lives in the arena. `set` is that of its configuration
 * from NODE_PLACED on; a cut may take `effort` chunk operations. The incumbent is not
 * changed. NODE_SHAPE is opened by one thread only. */
void expand(struct expander *expander, const struct incumbent *incumbent,
	    const struct node *node, const struct placement_set *set,
	    uint64_t effort, struct arena *arena, struct expansion *expansion);

#endif

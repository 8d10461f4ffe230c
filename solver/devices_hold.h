/* SPDX-License-Identifier: MIT
 *
 * Which children of a level can hold which blocks of ranks: any on switches, boxes on
 * rings and tori. Only the devices*.c files include this; what blocks are, devices.h
 * says.
 */
#ifndef NEST_SOLVER_DEVICES_HOLD_H
#define NEST_SOLVER_DEVICES_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/plan.h"

/* Children of one level, ascending. */
struct children {
	uint32_t *at;
	uint32_t count;
};

/* A pin that binds a rank of this pipeline. */
struct bound {
	uint32_t rank;
	uint32_t first, end;		/* devices */
};

struct laying {
	const struct problem *problem;
	const struct placement *placement;
	struct arena *scratch;
	uint32_t used[LEVEL_MAX];		/* u_l */
	uint32_t below[LEVEL_MAX + 1];		/* C_l */
	uint32_t ranks[LEVEL_MAX + 1];		/* of the pipeline in a block */
	uint32_t stride[DIMENSION_COUNT][LEVEL_MAX];	/* of each digit in its
							 * coordinate */
	uint32_t number[DIMENSION_COUNT];	/* of a coordinate in the rank */
	/* Children that hold no block of their level, whatever its ranks. Not kept
	 * within a torus. */
	struct children bad[LEVEL_MAX + 1];
	struct bound bound[PIN_MAX];
	uint32_t bound_count;
	bool pipeline_inside;			/* see devices.h */
	uint32_t *device;			/* NULL: only whether it fits */
};

static inline uint32_t laying_fanout(const struct laying *laying, uint32_t level)
{
	return laying->problem->level[level].fanout;
}

/* Whether a child is in laying.bad. */
bool laying_is_bad(const struct laying *laying, uint32_t level, uint32_t child);

/* Whether a child of the level can hold the block of that level with a pipeline
 * prefix (pipeline ranks prefix x laying.ranks on). At most LEVEL_MAX deep. */
bool laying_can_hold(const struct laying *laying, uint32_t level, uint32_t child,
		     uint32_t prefix);

/* The innermost level of the torus, or the level itself. */
uint32_t laying_torus_low(const struct laying *laying, uint32_t level);

/* Positions in a torus of levels low .. high, innermost first. */
struct box {
	uint32_t low, high;
	uint32_t at[LEVEL_MAX];
};

/* The next position below the limits, the outermost level's varying fastest. */
bool box_next(struct box *box, const uint32_t *limit);

/* Children of level box.low in a whole torus. */
uint32_t box_children(const struct laying *laying, const struct box *box);

/* The child of level low that logical positions are put into. */
uint32_t box_child(const struct laying *laying, const struct box *first,
		   const struct box *logical, uint32_t parent);

/* The pipeline prefix of the block of level low at logical positions. */
uint32_t box_prefix(const struct laying *laying, const struct box *logical,
		    uint32_t prefix);

/* Finds firsts for the torus below a child of level first->high + 1. */
bool box_find(const struct laying *laying, struct box *first, uint32_t parent,
	      uint32_t prefix);

/* Blocks of one pipeline prefix that want children of their own, and the children
 * they can have. */
struct want {
	uint32_t digit;			/* of the pipeline */
	bool *can;			/* by child */
	uint32_t next;			/* children before it are taken or cannot */
	bool visited;
};

struct match {
	uint32_t fanout;
	struct want *want;
	uint32_t want_count;
	uint32_t *owner;		/* by child: want + 1; 0: free */
};

/* The pinned blocks below a child of level l + 1; nothing is matched yet. */
struct match match_open(const struct laying *laying, uint32_t l, uint32_t parent,
			uint32_t prefix);

/* Gives every one of them a child of level l. */
bool match_pinned(const struct laying *laying, uint32_t l, struct match *match);

#endif

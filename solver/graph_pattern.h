/* SPDX-License-Identifier: MIT
 *
 * Who sends to whom in the algorithms of graph_lines.h, by number of the member: the
 * same for all groups of a kind.
 */
#ifndef NEST_SOLVER_GRAPH_PATTERN_H
#define NEST_SOLVER_GRAPH_PATTERN_H

#include "solver/graph_lines.h"

struct graph_send {
	uint32_t from, to;		/* members */
	double bytes;			/* of each byte of the collective */
};

struct graph_pattern {
	struct graph_send *send;
	uint32_t count;
};

/* Members around whom data goes one after the other. */
struct graph_rings {
	uint32_t *member;		/* count x size */
	uint32_t count, size;
};

/* The copies of the flat ring together. Place i of copy k is the member with the digits
 * of i and k added up, each modulo its n_l. A step on from a place adds one to the first
 * digits up to the one that has not come around: so many are its carries. */
struct graph_flat_ring {
	uint32_t size, copies;
	uint32_t carries;		/* a step has fewer */
	uint32_t *carry;		/* by place */
	uint32_t *next;			/* by carries, then member */
};

/* The highest level with several members, and how many a child of a level has. */
uint32_t graph_top_level(const struct graph_groups *groups);
uint32_t graph_members_inside(const struct graph_groups *groups, uint32_t level);

/* Those that differ at one level only. */
struct graph_rings graph_level_rings(const struct graph_groups *groups, uint32_t level,
				     struct arena *arena);

struct graph_flat_ring graph_flat_ring(const struct graph_groups *groups,
				       struct arena *arena);

/* Both ways around in all copies, which share the bytes. The steps of a member with so
 * many carries are one: it has as many in the copies as places of one copy have. */
struct graph_pattern graph_flat_around(const struct graph_flat_ring *ring,
				       struct arena *arena);

/* Both ways around. bytes: each way, of each member */
struct graph_pattern graph_around(const struct graph_rings *rings, double bytes,
				  struct arena *arena);

/* From each member to all others of its ring. */
struct graph_pattern graph_among(const struct graph_rings *rings, double bytes,
				 struct arena *arena);

/* From each member to all others. */
struct graph_pattern graph_all(uint32_t size, struct arena *arena);

/* Both trees of all copies, at all levels; copies that are the same there are one. */
struct graph_pattern graph_trees(const struct graph_groups *groups,
				 struct arena *arena);

#endif

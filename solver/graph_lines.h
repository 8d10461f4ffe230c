/* SPDX-License-Identifier: MIT
 *
 * Time of collectives over device groups of a routed graph, all groups of a set
 * at once: the algorithms of network.h as flows over links.
 *
 * The members of a group are sorted along a hierarchy: with n_l members below
 * each level, member i has the digit i / N_l mod n_l there, N_l = n_0 x .. x n_(l-1).
 * Of one byte (problem_collective.bytes) go
 *
 *	hierarchical	at each level with n_l > 1, one after the other: on a switch
 *			level from each member to both neighbours around its n_l
 *			(n_l - 1)/n_l / N_l / 2 bytes; on a full level to each of the
 *			others 1/n_l / N_l. Latency: of a switch level the sum of the
 *			hops around but the shortest, of a full one the largest
 *	ring		in N_t copies, t the highest level with n_l > 1: from each member
 *			to both neighbours (n - 1)/n / N_t / 2; copy k begins at
 *			every level with the digit of member k, so that each member
 *			leaves its child in one copy. Latency: as above, of the
 *			slowest copy
 *	tree		in N_t copies: at every level two binary trees over the n_l, the
 *			second turned by one place, with 1 / N_t / 2 from each node to
 *			its parent and back. Latency: ceil(log2 n_l) hops each way. Only
 *			where no level with members is full
 *	all-to-all	from each member 1/n to each other. Latency: n_l - 1 hops at each
 *			switch level, one at a full level
 *
 * and the time is that of the most loaded link (graph.h). A group's latencies are
 * those of its slowest hop at a level. Overheads: the largest on a way between
 * neighbours, once. Broadcast: the bytes of the ring x n/(n - 1), the latency of
 * half the tree.
 */
#ifndef NEST_SOLVER_GRAPH_LINES_H
#define NEST_SOLVER_GRAPH_LINES_H

#include "solver/graph.h"
#include "solver/network.h"

/* Larger all-to-alls (flows of all groups together) are not routed: theirs is
 * the time of the levels, one after the other. */
#define GRAPH_DIRECT_MAX (1u << 21)

struct graph_groups {
	uint32_t count;			/* groups that communicate at once */
	uint32_t size;			/* members of each */
	const uint32_t *device;		/* count x size, in the order of the hierarchy */
	const uint32_t *class;		/* of each group */
	uint32_t class_count;
	uint32_t level_count;
	uint32_t members[LEVEL_MAX];	/* n_l; product: size */
	enum level_kind kind[LEVEL_MAX];	/* LEVEL_FULL, or else as a switch */
	bool direct;			/* whether all-to-alls are wanted */
};

/* lines[c] of each class that has groups; the others are left alone. link[c], if
 * link is not NULL, is the most loaded one of the level that takes longest. */
void graph_lines(const struct graph *graph, const struct graph_groups *groups,
		 struct network_lines *lines, uint32_t *link,
		 struct arena *scratch);

#endif

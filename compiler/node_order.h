/* SPDX-License-Identifier: MIT
 *
 * The nodes of a plan in the order of its ranks, where those of each node follow one
 * another: then a launcher that is given the nodes one by one starts every rank where it
 * belongs.
 */
#ifndef NEST_COMPILER_NODE_ORDER_H
#define NEST_COMPILER_NODE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "compiler/ranks.h"
#include "lang/base/arena.h"

struct node_order {
	bool are_blocks;	/* the ranks of every node follow one another */
	/* And they run on all devices of a node, in order, equally many on each node.
	 * Only then the rest is filled. */
	bool is_whole;
	uint32_t ranks;		/* of one node */
	uint32_t count;		/* nodes */
	uint32_t *node;		/* of rank i x ranks, counted over the cluster from 0 */
	uint32_t *device;	/* the node's first */
};

struct node_order node_order_read(const struct ir_topology *topology,
				  const struct problem *problem,
				  const struct plan *plan, enum rank_order order,
				  struct arena *arena);

#endif

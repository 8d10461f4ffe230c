/* SPDX-License-Identifier: MIT
 *
 * A topology that is a graph while its body is read. Only eval_graph*.c include
 * this.
 */
#ifndef NEST_LANG_EVAL_GRAPH_H
#define NEST_LANG_EVAL_GRAPH_H

#include "lang/eval_record.h"
#include "lang/network_graph.h"

/* A link whose ends may be declared further down. */
struct pending_link {
	const char *from, *to;		/* names */
	const struct ast *item;
	struct graph_link_item link;
};

struct graph_maker {
	VEC(struct graph_vertex) vertex;
	VEC(struct pending_link) pending;
	struct scope *names;		/* binding.index: vertex */
	uint32_t device_count;
};

#endif

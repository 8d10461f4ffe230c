/* SPDX-License-Identifier: MIT
 *
 * Random networks of vertices and links: fat trees, dragonflies, random regular
 * graphs of switches, meshes of devices; some with a slow link.
 */
#ifndef NEST_TESTS_PROP_RANDOM_GRAPH_H
#define NEST_TESTS_PROP_RANDOM_GRAPH_H

#include "lang/base/vec.h"
#include "solver/graph.h"
#include "tests/prop/flow.h"
#include "tests/prop/random_problem.h"

enum graph_sort {
	SORT_FAT_TREE,
	SORT_DRAGONFLY,
	SORT_REGULAR,
	SORT_MESH,
	SORT_COUNT
};

struct random_graph {
	struct arena *arena;
	struct random *random;
	enum graph_sort sort;
	uint32_t devices;		/* vertices 0 .. devices - 1 */
	uint32_t vertices;
	VEC(struct flow_wire) wire;
	VEC(uint32_t) family;		/* of each wire */
	bool slow;			/* one link is slower than its family */
	double short_share;		/* of their rate, kept by links of devices by the
					 * protocol for short messages; 1: there is none */
};

/* At most so many devices, at least 4. */
void random_graph(struct random_graph *graph, struct arena *arena,
		  struct random *random, uint32_t devices_most);

/* The same for the solver, with its routes. */
void random_graph_prepare(const struct random_graph *from, struct arena *arena,
			  struct graph *graph);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A topology given by its nodes, switches and links, as read: names resolved,
 * numbers in range, nothing said of whether it hangs together.
 */
#ifndef NEST_LANG_NETWORK_GRAPH_H
#define NEST_LANG_NETWORK_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/source.h"
#include "lang/value.h"

/* Bounds on what loops may elaborate. */
#define GRAPH_VERTICES_MAX 16384u	/* nodes and switches */
#define GRAPH_DEVICES_MAX 8192u	/* in all nodes */
#define GRAPH_LINKS_MAX 65536u

/* Of a `link`, or of a node between its devices and itself. */
struct graph_wire {
	double bandwidth_Bps;		/* in each direction, of one of `count` */
	double latency_s;
	double efficiency;		/* share of the bandwidth that is reached */
	double overhead_s;		/* of a whole collective or transfer, once */
	/* By the protocol for short messages; what is above where there is none. */
	double short_efficiency;
	double short_overhead_s;
	uint32_t count;			/* links side by side */
};

/* A node or a switch, in the order of the spec. */
struct graph_vertex {
	const char *name;		/* "leaf[3]", interned */
	const char *family;		/* "leaf" */
	struct span span;
	struct record *device;		/* NULL: a switch */
	struct span device_span;	/* where the node names it */
	uint32_t devices;		/* of a node; 0: a switch */
	/* Of a node with a body: its devices are joined by a switch of their own,
	 * to which each has such a link; the node's links are that switch's. A node
	 * without a body is one device. */
	bool has_inside;
	struct graph_wire inside;
};

struct graph_link_item {
	uint32_t from, to;		/* vertices */
	bool one_way;
	struct graph_wire wire;
	struct span span;
};

struct network_graph {
	const struct graph_vertex *vertex;
	uint32_t vertex_count;
	const struct graph_link_item *link;
	uint32_t link_count;
	uint32_t device_count;
};

#endif

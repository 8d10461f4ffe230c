/* SPDX-License-Identifier: MIT
 *
 * A network as it is wired: vertices and one-way links, routed, and the time of
 * sets of flows over it. Numbers only.
 *
 * Routes. From one device to another bytes take the ways with the fewest links
 * and, of these, those with the least latency. Where several links lead on along
 * such ways, a vertex sends over each in proportion to its `count`, as switches
 * with equal-cost multi-path routing do (RFC 2992). Devices forward like any
 * other vertex.
 *
 * Flows that run at once load every link with the bytes they send over it; the
 * most loaded link decides: time = max over links of bytes / rate. No sharing of
 * links can end sooner, and one that keeps that link busy ends then.
 *
 * A device with one neighbour (in both directions) hangs at it; its root is that
 * neighbour, the root of any other device is its own vertex. All vertices but
 * hanging devices are the core; tables are kept by root.
 */
#ifndef NEST_SOLVER_GRAPH_H
#define NEST_SOLVER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"

#define GRAPH_NONE UINT32_MAX

/* Most entries of the tables: roots x core vertices, and roots x links. */
#define GRAPH_TABLE_MAX (1u << 24)
#define GRAPH_TABLE_LINKS_MAX (1u << 28)
/* Most roots of which all ways are kept. */
#define GRAPH_WAY_ROOTS_MAX 256

struct graph_link {
	uint32_t from, to;		/* vertices */
	uint32_t count;			/* links side by side, */
	double rate_Bps;		/* all of them together, as far as reached */
	double latency_s;
	double overhead_s;		/* of a whole collective or transfer, once */
	/* By the protocol for short messages (network.h); what is above where the
	 * link has none. Transfers do not use it. */
	double short_rate_Bps;
	double short_overhead_s;
	bool inner;			/* of a device that hangs: the overheads are for
					 * what stays with its root */
	uint32_t family;		/* links of one number are alike but for faults */
};

/* How a device hangs in the core. */
struct graph_device {
	uint32_t vertex;
	uint32_t root;			/* vertex */
	uint32_t up, down;		/* links to and from the root; GRAPH_NONE where
					 * the device is its own root */
};

/* Of a way: links, sum of latencies, largest overhead, and the least rate of a link on
 * it. Where several ways are as good, that over the first links of each vertex. */
struct graph_way {
	uint32_t hops;
	double latency_s;
	double overhead_s;
	double short_overhead_s;
	double rate_Bps;
};

struct graph {
	/* Given by the caller. */
	uint32_t vertex_count;
	const struct graph_link *link;
	uint32_t link_count;
	struct graph_device *device;	/* vertex given, the rest made */
	uint32_t device_count;
	bool has_short;			/* some link has a protocol for short messages */

	/* Made by graph_prepare. */
	uint32_t *out_first;		/* vertex_count + 1: into out */
	uint32_t *out;			/* links by the vertex they leave */
	uint32_t *in_first;
	uint32_t *in;			/* links by the vertex they enter */
	uint32_t *core_of;		/* number of a vertex in the core, or GRAPH_NONE */
	uint32_t core_count;
	uint32_t *root_of;		/* number of a root by its vertex, or GRAPH_NONE */
	uint32_t *root;			/* vertices */
	uint32_t root_count;
	uint16_t *hops;			/* root x core: links on the way to the root */
	uint64_t *leads;		/* root x place in out, as bits: on a way to the root */
	uint32_t hops_most;
	struct graph_way *way;		/* root x root: from the second to the first; NULL
					 * if there are many */
	/* Two devices of which the first cannot reach the second, else GRAPH_NONE. */
	uint32_t lost_from, lost_to;
};

/* Whether the tables would be larger than allowed; only vertices, links and
 * devices need be there. */
bool graph_is_too_large(const struct graph *graph, struct arena *scratch);

/* Builds the routes. False where some device cannot reach another; see lost_*. */
bool graph_prepare(struct graph *graph, struct arena *arena);

/* From one device to another. */
struct graph_way graph_way(const struct graph *graph, uint32_t from, uint32_t to);

#endif

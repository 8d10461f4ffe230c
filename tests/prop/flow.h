/* SPDX-License-Identifier: MIT
 *
 * A network as a graph of links, and flows over it: bytes that share every link
 * max-min fairly until all have arrived. It knows nothing of the formulas in
 * solver/network.h; what it has in common with them is how the levels of a
 * problem are wired:
 *
 * A device has a port into each level. What a child sends out passes the ports
 * and uplinks of the switches inside it. On a switch it goes up the child's
 * uplink and down another's; on a full level over the link between the two
 * children; on a ring along the links between neighbours, the shorter way, or both
 * ways where they are equally long. In a torus a message moves along one
 * dimension after the other.
 *
 * A net may also be made of links between vertices. A message then goes all
 * shortest ways (fewest links, then least latency), and where several links lead
 * on, each gets as much as it has lines side by side.
 */
#ifndef NEST_TESTS_PROP_FLOW_H
#define NEST_TESTS_PROP_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"
#include "solver/problem.h"

struct flow_net {
	const struct problem *problem;
	struct arena *arena;
	double *capacity_Bps;		/* of every link */
	uint32_t link_count;
	uint32_t first[LEVEL_MAX][4];	/* first link of each sort at each level */
	uint32_t below[LEVEL_MAX + 1];	/* devices of one child; at last, of all */
	bool on_line[LEVEL_MAX];	/* rings: the wrap-around link is not used */
	/* Nets of wires: shortest ways between all vertices. */
	const struct flow_wire *wire;
	uint32_t vertex_count;
	uint32_t *hops;
	double *latency_s;
};

void flow_net_init(struct flow_net *net, const struct problem *problem,
		   struct arena *arena);

/* One way only. */
struct flow_wire {
	uint32_t from, to;		/* vertices */
	uint32_t lines;
	double Bps;			/* of all lines */
	double latency_s;
};

/* Devices are the first vertices. The wires are kept. */
void flow_net_of_wires(struct flow_net *net, const struct flow_wire *wire,
		       uint32_t wire_count, uint32_t vertex_count,
		       struct arena *arena);

struct flow {
	uint32_t from, to;		/* devices */
	double bytes;
};

/* Flows that start together; those between the same devices are one. */
struct flows {
	struct flow_net *net;
	VEC(struct flow) flow;
};

void flows_add(struct flows *flows, uint32_t from, uint32_t to, double bytes);

/* When the last byte arrives, latencies aside. */
double flows_time(const struct flows *flows);

/* The same if all that cross a link share it in proportion to their bytes: as long as
 * the most loaded link. */
double flows_load_time(const struct flows *flows);

/* Latency of a message: that of the highest level it crosses, for each hop; over
 * wires the sum on the way. */
double flow_latency(const struct flow_net *net, uint32_t from, uint32_t to);

#endif

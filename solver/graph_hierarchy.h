/* SPDX-License-Identifier: MIT
 *
 * The hierarchy that a graph's links imply, for the search: no plan is slower on
 * it than on the graph.
 *
 * Structure. Two devices are the closer the more bandwidth the narrowest link
 * between them has (a link counts as fast as the fastest of its family, so that
 * one faulty link does not hide what a cluster looks like), then the fewer links
 * lie between them. With each step of that distance, devices or groups that are
 * all within it of each other join, which makes a level. A level needs equal
 * fan-outs: where they are not, the step is passed over, or a few devices are left
 * out (at most a quarter, and only where the bandwidth falls to half or less beyond).
 *
 * Rates. Whatever the order of the children, and whatever is sent:
 *	- what the devices of a child send to others leaves every set of vertices that
 *	  holds them and no other devices; so an uplink is the least sum of the links
 *	  out of one of these: the vertices nearer to the child than to others, up
 *	  to some distance, or (the uplinks together) the children inside; and of
 *	  all children that where it is most;
 *	- no device sends more than its own links, and the uplinks around it, carry;
 *	- the outermost level, if all its children reach each other over links that
 *	  lead from the one straight to the other, is full: the link is that of the
 *	  pair with most;
 *	- a hop takes the least latency of any two devices that meet at the level;
 *	- by the protocol for short messages a level keeps the share that those of its
 *	  links keep which lose least.
 * A flow set's time on the graph is that of its most loaded link, and the most
 * loaded of the links out of a set is at least as loaded as all of them together.
 * Each term of network.h is such a load with all children as fast as the fastest;
 * so each algorithm, and each plan, takes on the graph at least what it takes here,
 * and a lower bound found here is one for the graph. (It speaks of plans whose groups
 * are placed along these levels, whichever device takes which place.)
 */
#ifndef NEST_SOLVER_GRAPH_HIERARCHY_H
#define NEST_SOLVER_GRAPH_HIERARCHY_H

#include "solver/graph.h"
#include "solver/problem.h"

struct graph_hierarchy {
	struct problem_level level[LEVEL_MAX];
	uint32_t level_count;
	uint32_t device_count;
	uint32_t *device;		/* of the graph, by their number in the hierarchy */
	/* A vertex that joins a level's children and no others, or GRAPH_NONE. */
	uint32_t witness[LEVEL_MAX];
};

/* Of a graph that graph_prepare has accepted, of at least two devices. */
void graph_hierarchy(const struct graph *graph, struct arena *arena,
		     struct graph_hierarchy *hierarchy);

#endif

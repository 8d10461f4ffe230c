/* SPDX-License-Identifier: MIT
 *
 * Which parts of a graph differ from others: devices near a slow link, and children
 * that could change places and nobody would know.
 */
#ifndef NEST_SOLVER_GRAPH_ALIKE_H
#define NEST_SOLVER_GRAPH_ALIKE_H

#include "solver/graph.h"

/* By device: whether it is one of the nearest to an end of a link that is slower than
 * the fastest of its family. */
bool *graph_faulty(const struct graph *graph, struct arena *arena);

/* By child, of a level whose children own the vertices (graph_owner.h): equal numbers for
 * children that have the same links, to the same vertices outside. */
uint64_t *graph_twins(const struct graph *graph, const uint32_t *owner,
		      uint32_t count, struct arena *arena);

#endif

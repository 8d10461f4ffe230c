/* SPDX-License-Identifier: MIT
 *
 * Rates, latencies and kinds of the levels of a graph's hierarchy, whose
 * fan-outs and devices are known.
 */
#ifndef NEST_SOLVER_GRAPH_RATES_H
#define NEST_SOLVER_GRAPH_RATES_H

#include "solver/graph_hierarchy.h"

void graph_rates(const struct graph *graph, struct arena *arena,
		 struct graph_hierarchy *hierarchy);

#endif

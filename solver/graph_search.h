/* SPDX-License-Identifier: MIT
 *
 * Plans on a graph: the search runs on the hierarchy that the graph implies, and
 * what it finds, with a bounded number of alternatives, is priced again as the
 * graph routes it.
 *
 * If the plan found takes on the links what it takes on the hierarchy, that is the
 * end. Alternatives else are, in order: the same pipeline degree without virtual
 * stages, if it has some; the best on the hierarchy with one child of the
 * outermost level left idle; the best for each pipeline degree that is a power of two,
 * on all devices and with that child idle; and that on half of the devices. For each
 * the other placements of its degrees are tried. For the best of each kind stages
 * that send to each other stand side by side if that helps; the children of every
 * level change places, two at a time, used or idle, as long as the plan, or if that
 * stays as it is, the transfers between its stages are faster, those with a link that
 * is slower than its family first; then stage borders move by one layer, and all that
 * again while they do.
 *
 * The bound is at first that of the search on the hierarchy. It holds on the graph (see
 * graph_hierarchy.h), so a plan whose routed value is the bound is proved optimal.
 * Otherwise, where time is what is minimised, every family of plans that the hierarchy
 * has below the best routed one is bounded again by cuts through the links, and what
 * that leaves is cut and routed too (graph_prove.h); the gap is what is left then.
 */
#ifndef NEST_SOLVER_GRAPH_SEARCH_H
#define NEST_SOLVER_GRAPH_SEARCH_H

#include "solver/solver.h"

/* solve for a problem with a graph. */
enum solve_status graph_solve(const struct problem *problem,
			      const struct solve_limits *limits,
			      struct arena *arena, struct solve_result *result);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Lower bounds on plans of which some pipeline ranks are behind slow links, whatever
 * the cut: doc/solver.md has the proofs.
 */
#ifndef NEST_SOLVER_GRAPH_SPAN_H
#define NEST_SOLVER_GRAPH_SPAN_H

#include "solver/graph_bound.h"
#include "solver/partition.h"

/* Interleaved: the first micro-batch, and one more for every 2 p others, goes through
 * all chunks and back before the next of these can begin. Includes the step of the
 * partition's bound. */
double graph_span_rounds(const struct partition *partition);

/* With the ranks of a case on their slow lines. The partition is bounded, its chain timed
 * for case->placed; `slow` is the chain timed for case->slow. */
double graph_span_case(const struct partition *partition, const struct chain *slow,
		       const struct graph_case *at);

#endif

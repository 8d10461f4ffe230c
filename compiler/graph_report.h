/* SPDX-License-Identifier: MIT
 *
 * What a summary says of a plan on a graph besides all else: the two times, the
 * nodes of every stage, and what the certificate proves.
 */
#ifndef NEST_COMPILER_GRAPH_REPORT_H
#define NEST_COMPILER_GRAPH_REPORT_H

#include "compiler/ir.h"
#include "solver/plan.h"

struct compilation;

/* "Network   routed over .. links; 739 ms on the hierarchy they imply". */
void graph_report_time(const struct ir_graph *graph, const struct plan *plan,
		       struct text *out);

/* A line for each stage with its nodes, and one for what is idle. */
void graph_report_stages(struct compilation *compilation,
			 const struct ir_topology *topology,
			 const struct plan *plan, struct text *out);

/* What the gap is measured against. */
void graph_report_proof(const struct plan *plan, struct text *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Inside --emit summary: what its parts share. Only emit_summary.c and summary_*.c
 * include this.
 */
#ifndef NEST_COMPILER_EMIT_SUMMARY_H
#define NEST_COMPILER_EMIT_SUMMARY_H

#include "compiler/emit.h"
#include "compiler/performance.h"
#include "compiler/site.h"

struct summary {
	const struct emit_input *input;
	const struct plan *plan;
	const struct problem_shape *shape;	/* the plan's */
	struct performance performance;
	struct sites sites;			/* of the plan, by kind of devices */
	struct text *out;
};

/* The parts, in the order they are written. */
void summary_memory(struct summary *summary);
void summary_placement(struct summary *summary);
void summary_rivals(struct summary *summary);
void summary_certificate(struct summary *summary);

#endif

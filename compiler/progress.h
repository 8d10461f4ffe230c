/* SPDX-License-Identifier: MIT
 *
 * The line on standard error that shows how far a search is: written over
 * itself a few times a second once half a second has gone by, and wiped at the end.
 */
#ifndef NEST_COMPILER_PROGRESS_H
#define NEST_COMPILER_PROGRESS_H

#include <stdbool.h>

#include "compiler/ir.h"
#include "lang/base/arena.h"
#include "lang/base/text.h"
#include "solver/solver.h"

struct progress {
	const struct ir_job *job;
	struct arena arena;		/* of one line */
	double begun_s, shown_s;	/* of the clock; shown_s 0: never */
	double patience_s;		/* before the first line */
};

/* Sets the limits' progress where the line is wanted (always: also where
 * standard error is no terminal, and from the start). The job and the limits must
 * outlive it. */
void progress_begin(struct progress *progress, const struct ir_job *job,
		    bool wanted, bool always, struct solve_limits *limits);
void progress_end(struct progress *progress);

/* The line without its ending, for a terminal of at least 80 columns. */
void progress_line(const struct ir_job *job, const struct solve_progress *state,
		   struct text *out);

#endif

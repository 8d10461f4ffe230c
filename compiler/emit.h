/* SPDX-License-Identifier: MIT
 *
 * Emitters: one file each, one row in emitters.def. An emitter writes text
 * into a buffer; the caller writes the buffer to a file whole or not at all.
 */
#ifndef NEST_COMPILER_EMIT_H
#define NEST_COMPILER_EMIT_H

#include <stdbool.h>

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"
#include "solver/solver.h"

struct compilation;
struct override;
struct rival;

/* Everything an emitter may look at. */
struct emit_input {
	struct compilation *compilation;
	const struct ir *ir;
	const struct problem *problem;
	const struct plan *plan;
	const char *spec_name;		/* as given on the command line */
	const char *spec_sha256;	/* hexadecimal */
	const struct override *override;	/* -D, in the order given */
	uint32_t override_count;
	const char *hand_plan;		/* the one asked for; NULL: the best */
	const struct rival *rival;	/* hand-written plans beside the best */
	uint32_t rival_count;
	enum solve_status solve_status;	/* OPTIMAL or FEASIBLE */
	double solve_s;			/* wall time of the search; not for outputs
					 * that must be the same every time */
	bool ranks_as_factors;		/* --ranks=factors */
	bool timing;			/* --timing: solve_s may be written */
};

struct emitter {
	const char *name;		/* of --emit */
	const char *title;		/* one line for --help */
	/* False after a reported error (the framework cannot express the plan). */
	bool (*emit)(const struct emit_input *input, struct text *out);
};

#define EMITTER(name, function, title) \
	bool function(const struct emit_input *input, struct text *out);
#include "compiler/emitters.def"
#undef EMITTER

/* NULL when there is none of that name. */
const struct emitter *emitter_find(const char *name);
/* All of them; ends with an entry whose name is NULL. */
const struct emitter *emitters(void);

#endif

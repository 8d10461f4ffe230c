/* SPDX-License-Identifier: MIT
 *
 * Asking the solver again about an infeasible job, with some of what constrains it
 * left out.
 */
#ifndef NEST_COMPILER_INQUIRY_H
#define NEST_COMPILER_INQUIRY_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/infeasible.h"
#include "compiler/ir.h"
#include "lang/base/vec.h"
#include "solver/solver.h"

struct compilation;

enum constraint_kind {
	CONSTRAINT_DOMAIN,		/* `tensor in { .. }` */
	CONSTRAINT_REQUIREMENT,
	CONSTRAINT_MEMORY,		/* a limit below the device's memory */
	CONSTRAINT_PLACE,		/* `tensor within node` */
	CONSTRAINT_DEVICES		/* `avoid node[17]`, `stage[0] in rack[0]` */
};

struct constraint {
	enum constraint_kind kind;
	uint32_t index;			/* plan variable, requirement, dimension, or the
					 * number of a place rule */
	struct span span;
	bool dropped;			/* while asking */
};

struct inquiry {
	struct compilation *compilation;
	const struct ir *ir;
	struct infeasible_idea *idea;	/* NULL: about the job as it is */
	VEC(struct constraint) constraints;
	struct arena arena;		/* of the last answer */
	struct ir *relaxed;		/* of that */
	struct problem *problem;
	struct solve_result result;
	double least_bytes;		/* that the nearest plan needs; 0: memory is not
					 * what is short */
	bool every_zero;		/* ZeRO 2 and 3 count where nothing says which do */
	/* An outcome that a requirement left out bounds from above: plans are searched
	 * for the least of it. VARIABLE_COUNT: by the job's own objective. */
	enum plan_variable aim;
	const struct deadline *deadline;
	bool unanswered;		/* a search ended before it knew */
};

/* Collects the constraints of the job; none is dropped. */
void inquiry_begin(struct inquiry *inquiry);
void inquiry_end(struct inquiry *inquiry);

/* Whether a constraint comes from the idea rather than the job. */
bool inquiry_is_asked(const struct inquiry *inquiry,
		      const struct constraint *constraint);

void inquiry_drop_all(struct inquiry *inquiry, bool dropped);

/* Solves without the dropped constraints: whether there is a plan. It, and the program
 * and problem it is of, stay until the next question. What the compiler would report
 * on the way is of no interest here. */
bool inquiry_ask(struct inquiry *inquiry);

/* Solves without that one alone; for an idea's ZeRO stage, with those that nothing names
 * if no other will do. */
bool inquiry_ask_without(struct inquiry *inquiry, struct constraint *constraint);

/* Marks the constraints without which, the others kept, a plan exists; false if
 * there are none. */
bool inquiry_single_changes(struct inquiry *inquiry, bool *helps);

/* Marks a smallest set of constraints that cannot hold together. */
void inquiry_find_core(struct inquiry *inquiry, bool *in_core);

#endif

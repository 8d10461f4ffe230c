/* SPDX-License-Identifier: MIT
 *
 * Placement program to solver problem: every legal shape is enumerated, every
 * layer class priced once under each, and the target framework's rules become
 * domains and requirements.
 *
 * Recomputation of a block: `selective` runs the attention core again, with its
 * exchange over the context group, and drops what only the core needs; `full`
 * runs the whole forward pass again, collectives included, and keeps the layer's
 * input. Layers that are no blocks (embedding, head) cost the same under each
 * policy, as in the frameworks.
 */
#ifndef NEST_COMPILER_PROBLEM_FROM_IR_H
#define NEST_COMPILER_PROBLEM_FROM_IR_H

#include "compiler/ir.h"

struct compilation;

/* Shapes enumerated at most; more is an error that names the search domains. */
#define SHAPES_MAX 65536
/* Shapes x operators inferred at most. */
#define INFERENCES_MAX (8u << 20)

/* What a collective of the problem was inferred from:
 * problem_collective.source is the index. */
struct problem_origin {
	uint32_t class_index;
	uint32_t operator;		/* of the class, or IR_NONE: the layer's boundary */
	uint32_t value;			/* that is converted */
	enum collective kind;
	enum group group;
	bool backward;
	bool recomputed;		/* of the forward pass, run again backward */
	struct span span;		/* source it comes from */
	struct span split_span;		/* the `split` that causes it, or SPAN_NONE */
};

/* The problem, in the compilation's arena; NULL after reported errors (for
 * instance when no degree of a given domain divides its axis). */
struct problem *problem_from_ir(struct compilation *compilation,
				const struct ir *ir);

/* A problem made by problem_from_ir, and its kinds, with further requirements. What is
 * as before is shared. */
struct problem *problem_require(struct arena *arena,
				const struct problem *problem,
				const struct ir_requirement *requirement,
				uint32_t count);

/* For problems made by problem_from_ir only: the origin of a collective, and the
 * requirement with this source number. Those of the job keep their index;
 * those that a target's rule added follow (their `rule` says why). */
const struct problem_origin *problem_origin(const struct problem *problem,
					    uint32_t source);
const struct ir_requirement *problem_requirement(const struct problem *problem,
						 uint32_t source);

#endif

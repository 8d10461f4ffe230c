/* SPDX-License-Identifier: MIT
 *
 * Inside the making of the solver's problem. Only problem_*.c of this
 * directory include this.
 */
#ifndef NEST_COMPILER_PROBLEM_BUILD_H
#define NEST_COMPILER_PROBLEM_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/layout.h"
#include "compiler/problem_from_ir.h"
#include "compiler/target.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"

/* The problem with what is needed to explain it. The problem comes first: the
 * functions of the header find the rest from it. */
struct problem_built {
	struct problem problem;
	const struct problem_origin *origin;
	const struct ir_requirement *requirement;
};

/* Numbers of the origins of one class. */
struct class_origins {
	VEC(uint32_t) origins;
};

struct problem_build {
	struct compilation *compilation;
	const struct ir *ir;
	struct arena *arena;
	struct diags *diags;
	struct problem_built *built;
	struct target_rules rules;
	VEC(struct problem_shape) shape;
	VEC(struct problem_collective) collective;
	VEC(struct problem_origin) origin;
	struct class_origins *class_origins;	/* by class */
};

/* Enumerates the legal shapes. False after reported errors, or when a search
 * domain leaves none. */
bool problem_build_shapes(struct problem_build *build);

/* Prices every class under every shape. */
void problem_build_costs(struct problem_build *build);

#endif

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

struct profile_scale {
	double forward, backward;	/* 1 where nothing of the class is measured */
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
	/* Measured over modelled times by class, where a profile asks to scale
	 * what it does not measure; else NULL. */
	struct profile_scale *scale;
	/* The measured time that is furthest from the modelled one. */
	struct {
		const struct ir_measurement *measured;
		double modelled_s;
	} doubtful;
};

/* Enumerates the legal shapes. False after reported errors, or when a search
 * domain leaves none. */
bool problem_build_shapes(struct problem_build *build);

/* Reports degrees that cannot be together: more devices than there are, more
 * stages than layers. */
bool problem_check_degrees(struct problem_build *build);

/* Prices every class under every shape. */
void problem_build_costs(struct problem_build *build);

/* What the job's profile needs to know before layers are priced. */
void problem_prepare_profile(struct problem_build *build);
/* Measured times of a class under a shape, where the job has some: first those
 * without recomputation, from which the costs of every policy follow; then, in
 * the cost of one policy, what was measured with that policy. Times that include
 * communication leave no collective. */
void problem_take_measured(struct problem_build *build, uint32_t shape,
			   uint32_t class_index, struct layout_result *result);
void problem_take_measured_policy(const struct problem_build *build,
				  uint32_t shape, uint32_t class_index,
				  enum recompute recompute,
				  struct problem_cost *cost);
/* Warns once when measured and modelled times are worlds apart. */
void problem_report_doubtful(struct problem_build *build);

#endif

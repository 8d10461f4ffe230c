/* SPDX-License-Identifier: MIT
 *
 * Measured layer times of a job: where one counts, and how much of the search
 * and of a plan is measured. doc/profile.md describes the file.
 */
#ifndef NEST_COMPILER_PROFILE_H
#define NEST_COMPILER_PROFILE_H

#include "compiler/ir.h"
#include "solver/plan.h"

/* Longest layer time a profile may hold, in seconds. */
#define PROFILE_SECONDS_MAX 3600.0
/* Most entries of a profile. */
#define PROFILE_ENTRIES_MAX (1u << 20)

/* What a measurement is found by, in ascending order: class, shape, policy. */
int profile_compare(const struct ir_measurement *a,
		    const struct ir_measurement *b);

/* Where in the chain the first layer of a class stands. */
uint32_t profile_position(const struct ir_model *model, uint32_t class_index);

/* The shape under which a class is measured: expert degrees concern classes
 * with experts only. */
struct problem_shape profile_shape(const struct ir_class *class,
				   const struct problem_shape *shape);

/* The measurement of a class under a shape and a policy, or NULL. Layers that
 * are no blocks never recompute: theirs is that without recomputation. */
const struct ir_measurement *profile_find(const struct ir *ir,
					  uint32_t class_index,
					  const struct problem_shape *shape,
					  enum recompute recompute);

/* Whether the times of a class under a shape and a policy rest on a measurement:
 * its own, or that without recomputation, to which the rest is added. */
bool profile_covers(const struct ir *ir, uint32_t class_index,
		    const struct problem_shape *shape,
		    enum recompute recompute);

/* Where a value of a measurement stands in the file of the job's profile. */
struct span profile_place(const struct compilation *compilation,
			  const struct ir *ir,
			  const struct ir_measurement *measured,
			  const char *key);

struct profile_coverage {
	uint64_t pairs, pairs_measured;	/* of layer kind and shape, in the search */
	uint32_t used;			/* entries that some shape of the search uses */
	double plan_share;		/* of the plan's compute time of all layers
					 * together, one micro-batch: measured */
};

/* How much a profile covers. Meaningful only where the job has one. */
struct profile_coverage profile_coverage(const struct ir *ir,
					 const struct problem *problem,
					 const struct plan *plan,
					 struct arena *arena);

#endif

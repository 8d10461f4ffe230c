/* SPDX-License-Identifier: MIT
 *
 * Plans and numbers in the words people use for them, for reports and
 * messages.
 */
#ifndef NEST_COMPILER_DESCRIBE_H
#define NEST_COMPILER_DESCRIBE_H

#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

/* "tensor 8 x data 32 x pipeline 4"; degrees of 1 are left out. */
void describe_degrees(const struct problem *problem, const struct plan *plan,
		      struct text *out);
/* The same with micro-batch, virtual stages, ZeRO, recomputation. */
void describe_choice(const struct problem *problem, const struct plan *plan,
		     struct text *out);

/* "ZeRO 3 in shards of 8, recompute full (4 layers of a chunk)". */
void describe_policy(const struct plan *plan, struct text *out);

/* Replicas that share out what ZeRO says, of parameters outside experts. */
uint32_t plan_shards(const struct plan *plan);

/* "1,024". */
void describe_count(uint64_t count, struct text *out);
/* "71.3 GiB"; one decimal, the unit that gives at least 1. */
void describe_bytes(double bytes, struct text *out);
/* "9.66 s", "41.2 ms", "310 us": three significant digits. */
void describe_seconds(double seconds, struct text *out);
/* A value of an outcome or of `devices` with its unit: "9.66 s", "$11.4", "1.31 MJ",
 * "3.4 %", "16 devices". */
void describe_outcome(enum plan_variable variable, double value, struct text *out);
/* A value of the job's first objective: likewise, or "time + 1s * pipeline = 11.4". */
void describe_objective(const struct ir_job *job, double value, struct text *out);
/* The same for a column: no name with it. */
void describe_objective_number(const struct ir_job *job, double value,
			       struct text *out);
/* What the job minimises first, as it is written; "time" where nothing is. */
const char *objective_name(const struct ir_job *job);
bool objective_is_time(const struct ir_job *job);
/* "70.55 B", "124.44 M". */
void describe_parameters(double count, struct text *out);

/* "fanout=8 bandwidth=.. ..": a level's numbers for dumps; what is as usual is
 * left out. */
void describe_level(const struct problem_level *level, struct text *out);
const char *level_kind_name(enum level_kind kind);

/* The value of a variable known from the configuration alone. */
uint32_t variable_of_plan(enum plan_variable variable,
			  const struct problem *problem,
			  const struct plan *plan);

#endif

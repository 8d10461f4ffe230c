/* SPDX-License-Identifier: MIT
 *
 * What a plan is and takes, as JSON values that the manifest and the reports of
 * comparisons share. The caller owns what is returned.
 */
#ifndef NEST_COMPILER_PLAN_JSON_H
#define NEST_COMPILER_PLAN_JSON_H

#include <jansson.h>

#include "solver/plan.h"

/* Numbers without a fraction are written as integers where they are exact. */
json_t *plan_json_number(double value);

/* Degrees and policies by the names of the language. */
json_t *plan_json_choice(const struct problem *problem, const struct plan *plan);

/* The parts of the iteration's time, in seconds. */
json_t *plan_json_breakdown(const struct breakdown *breakdown);

/* All of that, memory, and the plan's value and bound by the job's objective. */
json_t *plan_json_priced(const struct problem *problem, const struct plan *plan);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What differs between two plans, given as manifests (stdlib/schema/
 * plan.schema.json): what moved, and by how much each term of time and memory
 * changed.
 */
#ifndef NEST_COMPILER_PLAN_DIFF_H
#define NEST_COMPILER_PLAN_DIFF_H

#include <stdbool.h>

#include <jansson.h>

#include "lang/base/text.h"

/* Tells people; whether anything differs of what a plan says. The certificate,
 * the version of nestc, and names and digests of files are no part of that.
 * Nothing is printed where nothing differs. */
bool plan_diff_print(const json_t *before, const json_t *after,
		     struct text *out);

/* The same for programs: a list of {"path", "before", "after"}, null where one
 * has no such value. Ranks count as one value, the number that have moved. */
json_t *plan_diff_list(const json_t *before, const json_t *after);

#endif

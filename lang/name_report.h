/* SPDX-License-Identifier: MIT
 *
 * Reports of names that cannot be resolved, for the checker and the evaluator.
 * All return false.
 */
#ifndef NEST_LANG_NAME_REPORT_H
#define NEST_LANG_NAME_REPORT_H

#include <stdbool.h>

#include "lang/scope.h"

struct compilation;
struct diags;

/* "unknown name", with what was probably meant. */
bool report_unknown_name(struct compilation *compilation,
			 const struct scope *scope, const char *name,
			 struct span span);

/* A name that two imports give. */
bool report_ambiguous_name(struct compilation *compilation,
			   const struct binding *binding, struct span span);

/* A variable of the plan where only values known before the search may stand. */
bool report_plan_name(struct diags *diags, const char *name, struct span span);

#endif

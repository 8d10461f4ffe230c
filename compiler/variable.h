/* SPDX-License-Identifier: MIT
 *
 * Plan variables as the language spells them.
 */
#ifndef NEST_COMPILER_VARIABLE_H
#define NEST_COMPILER_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/text.h"
#include "solver/predicate.h"

/* The plan variable called so; VARIABLE_COUNT if there is none. `stage` and
 * `stages` are not variables by themselves. */
enum plan_variable variable_find(const char *name);
const char *variable_name(enum plan_variable variable);
/* All names, by enum plan_variable, VARIABLE_COUNT of them. */
const char *const *variable_name_list(void);

/* Whether it is part of what a configuration is; the others follow from those. */
static inline bool variable_is_chosen(enum plan_variable variable)
{
	return variable < VARIABLE_DEVICES && variable != VARIABLE_MICRO_BATCHES;
}

/* The number a symbol stands for as a value of a plan variable: recompute,
 * sequence and schedule have some. False if it has no such value. */
bool variable_symbol(enum plan_variable variable, const char *symbol,
		     uint32_t *number);
/* "none, selective or full", or NULL where values are plain numbers. */
const char *variable_symbols(enum plan_variable variable);

/* "selective", "on" or "4": a value as the language spells it. */
void variable_value_print(enum plan_variable variable, uint32_t value,
			  struct text *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Predicates over ranges: what is certain about a program's result when its
 * variables are only known to lie between two values. The search uses it to
 * discard whole families of plans by a requirement, and to bound objectives.
 */
#ifndef NEST_SOLVER_RANGE_H
#define NEST_SOLVER_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/predicate.h"

/* All values from low to high, and NaN too if may_nan. */
struct range {
	double low, high;
	bool may_nan;
};

struct range_input {
	struct range value[VARIABLE_COUNT];
	/* Layers of every stage; beyond stage_count (when the number of stages
	 * is known) NaN, and anything from 0 up when it is not. */
	const struct range *stage_layers;
	uint32_t stage_count;
	bool stages_known;
};

static inline struct range range_point(double number)
{
	return (struct range){ number, number, false };
}

static inline struct range range_between(double low, double high)
{
	return (struct range){ low, high, false };
}

/* A range that contains the program's result for every input in the ranges. */
struct range range_evaluate(const struct predicate *predicate,
			    const struct range_input *input);

/* Whether a requirement with that result holds nowhere, or everywhere. */
static inline bool range_is_false(struct range range)
{
	return range.low == 0 && range.high == 0;
}

static inline bool range_is_true(struct range range)
{
	return !range.may_nan && (range.low > 0 || range.high < 0);
}

#endif

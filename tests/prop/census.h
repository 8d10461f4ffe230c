/* SPDX-License-Identifier: MIT
 *
 * What random problems consist of, and how much of it is in the best plans: a part of
 * the solver that no optimum depends on is not tested by comparing optima.
 */
#ifndef NEST_TESTS_PROP_CENSUS_H
#define NEST_TESTS_PROP_CENSUS_H

#include <stdint.h>

#include "tests/prop/brute.h"
#include "tests/prop/census.def"

#define FEATURE(NAME, words) FEATURE_##NAME,
enum feature { FEATURES FEATURE_COUNT };
#undef FEATURE

struct census {
	uint64_t problems, solved;
	uint64_t drawn[FEATURE_COUNT];	/* problems that have or allow it */
	uint64_t chosen[FEATURE_COUNT];	/* best plans that have it or are ruled by it */
};

/* Counts a problem, and its best plan if there is one. */
void census_add(struct census *census, const struct problem *problem,
		const struct brute_result *result);

/* One line a feature. */
void census_show(const struct census *census);

/* The feature that fewest best plans have, and how many. */
uint64_t census_least(const struct census *census, const char **words);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What several unit tests begin with: an arena or a compilation as the state of
 * each test, and comparisons of numbers. Include it after <cmocka.h>.
 */
#ifndef NEST_TESTS_FIXTURE_H
#define NEST_TESTS_FIXTURE_H

#include "lang/base/arena.h"
#include "lang/compilation.h"

/* For cmocka_unit_test_setup_teardown: *state is a struct arena. */
static inline int arena_setup(void **state)
{
	static struct arena arena;

	arena_init(&arena);
	*state = &arena;
	return 0;
}

static inline int arena_teardown(void **state)
{
	arena_release(*state);
	return 0;
}

/* The same with a struct compilation. */
static inline int compilation_setup(void **state)
{
	static struct compilation compilation;

	compilation_init(&compilation);
	*state = &compilation;
	return 0;
}

static inline int compilation_teardown(void **state)
{
	compilation_release(*state);
	return 0;
}

/* Equal to the last bit: counts of bytes, parameters and operations. */
static inline void assert_exact(double actual, double expected)
{
	if (actual != expected)
		fail_msg("%.17g is not %.17g", actual, expected);
}

/* Equal but for the rounding of sums taken in another order. */
static inline void assert_number(double actual, double expected)
{
	double error = actual - expected;

	if (error < 0)
		error = -error;
	if (error > 1e-12 * (expected < 0 ? -expected : expected))
		fail_msg("%.17g is not %.17g", actual, expected);
}

#endif

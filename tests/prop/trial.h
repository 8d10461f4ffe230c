/* SPDX-License-Identifier: MIT
 *
 * One random problem, its solution and the oracle's: what the property tests
 * share. PROP_COUNT sets how many problems, PROP_SEED the first seed.
 */
#ifndef NEST_TESTS_PROP_TRIAL_H
#define NEST_TESTS_PROP_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/solver.h"
#include "tests/prop/brute.h"
#include "tests/prop/random.h"
#include "tests/prop/random_problem.h"

#define COUNT_DEFAULT 2500

/* Equal to within 1e-9. */
bool trial_near(double a, double b);

struct trial {
	uint64_t seed;
	struct arena arena;
	struct random_problem made;
	struct brute_result brute;
	struct solve_result solved;
	enum solve_status status;
};

/* Makes the problem of the seed; arena_release the arena afterwards. */
void trial_start(struct trial *trial, uint64_t seed);

/* Prints problem, answer and the oracle's, and ends the test. */
void trial_fail(const struct trial *trial, const char *what);

/* A deadline that passes after so many looks, however fast the machine is. */
struct looks {
	uint64_t left;
	uint64_t late;			/* looks after it passed */
};

struct deadline looks_deadline(struct looks *looks);

/* Without limits. */
enum solve_status trial_solve_plainly(const struct problem *problem,
				      struct arena *arena,
				      struct solve_result *result);

/* The plan as the oracle sees it. */
struct brute_plan trial_view(const struct plan *plan);

#endif

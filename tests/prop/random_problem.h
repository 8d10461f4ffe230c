/* SPDX-License-Identifier: MIT
 *
 * Small random problems from a seed. The same seed gives the same problem on
 * every machine.
 */
#ifndef NEST_TESTS_PROP_RANDOM_PROBLEM_H
#define NEST_TESTS_PROP_RANDOM_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lang/base/arena.h"
#include "solver/problem.h"
#include "tests/prop/random.h"

struct random_problem {
	struct problem problem;
	bool dyadic;		/* every sum is exact: ties are true ties */
	bool mentions_time;	/* a requirement on time, cost or energy */
};

/* A well-formed problem; its arrays live in the arena. */
void random_problem_make(struct random_problem *made, uint64_t seed,
			 struct arena *arena);

/* Everything in it, for a person to read. */
void random_problem_print(const struct problem *problem, FILE *file);

/* A copy whose every time is doubled (and every rate halved). */
void random_problem_slow(const struct problem *problem, struct problem *slow,
			 struct arena *arena);

/* A copy with more children at the outermost level. */
void random_problem_widen(const struct problem *problem, struct problem *wide);

/* A copy with its shapes and classes in another order. */
void random_problem_permute(const struct problem *problem,
			    struct problem *permuted, uint64_t seed,
			    struct arena *arena);

#endif

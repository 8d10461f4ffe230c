/* SPDX-License-Identifier: MIT
 *
 * How far a formula is from what it describes, over many cases.
 */
#ifndef NEST_TESTS_PROP_ERRORS_H
#define NEST_TESTS_PROP_ERRORS_H

#include <stdint.h>

/* A relative error beyond this is counted. */
#define ERROR_TOLERANCE 0.1

struct errors {
	const char *name;		/* of the formula */
	uint32_t count, beyond;		/* cases; those further off than
					 * ERROR_TOLERANCE */
	double sum;			/* of the relative errors, without sign */
	double most_over, most_below;	/* largest relative errors, 0 or more */
	uint64_t worst_seed;		/* of the largest of either */
};

/* Adds a case; the true value is above 0. PROP_SHOW in the environment prints those
 * beyond it. */
void errors_add(struct errors *errors, uint64_t seed, double formula,
		double truth);

double errors_mean(const struct errors *errors);
double errors_worst(const struct errors *errors);

/* One line. */
void errors_show(const struct errors *errors);

#endif

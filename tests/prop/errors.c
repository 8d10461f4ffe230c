/* SPDX-License-Identifier: MIT
 *
 * Relative errors.
 */
#include "tests/prop/errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void errors_add(struct errors *errors, uint64_t seed, double formula,
		double truth)
{
	double error = formula / fmax(truth, 1e-30) - 1, size = fabs(error);

	errors->count++;
	errors->sum += size;
	errors->beyond += size > ERROR_TOLERANCE;
	if (size > errors_worst(errors))
		errors->worst_seed = seed;
	errors->most_over = fmax(errors->most_over, error);
	errors->most_below = fmax(errors->most_below, -error);
	if (size > ERROR_TOLERANCE && getenv("PROP_SHOW"))
		printf("# seed %llu %s: formula %g, truth %g\n",
		       (unsigned long long)seed, errors->name, formula, truth);
}

double errors_mean(const struct errors *errors)
{
	return errors->count ? errors->sum / errors->count : 0;
}

double errors_worst(const struct errors *errors)
{
	return fmax(errors->most_over, errors->most_below);
}

void errors_show(const struct errors *errors)
{
	printf("# %s: %u cases, mean error %.2f %%, up to %.2g %% over and %.2g %% below (seed %llu), %u beyond %.0f %%\n",
	       errors->name, errors->count, 100 * errors_mean(errors),
	       100 * errors->most_over, 100 * errors->most_below,
	       (unsigned long long)errors->worst_seed, errors->beyond,
	       100 * ERROR_TOLERANCE);
}

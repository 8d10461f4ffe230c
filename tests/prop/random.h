/* SPDX-License-Identifier: MIT
 *
 * Random numbers from a seed, the same on every machine, and the numbers that a
 * person gives: PROP_SEED, the first seed, and PROP_COUNT, how many.
 */
#ifndef NEST_TESTS_PROP_RANDOM_H
#define NEST_TESTS_PROP_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;			/* a seed, at first */
};

uint64_t random_next(struct random *random);
/* A whole number from 0 to bound - 1. */
uint32_t random_below(struct random *random, uint32_t bound);
/* From 0 to 1, 1 excluded. */
double random_unit(struct random *random);
/* From low to high, both above 0; every factor is as likely. */
double random_between(struct random *random, double low, double high);
bool random_chance(struct random *random, double probability);

/* A number from the environment. */
uint64_t number_from(const char *name, uint64_t otherwise);

#endif

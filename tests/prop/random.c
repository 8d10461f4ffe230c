/* SPDX-License-Identifier: MIT
 *
 * Random numbers.
 */
#include "tests/prop/random.h"

#include <math.h>
#include <stdlib.h>

uint64_t random_next(struct random *random)
{
	/* splitmix64: Steele, Lea, Flood 2014 */
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t random_below(struct random *random, uint32_t bound)
{
	return (uint32_t)(random_next(random) % bound);
}

double random_unit(struct random *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53;
}

double random_between(struct random *random, double low, double high)
{
	return low * pow(high / low, random_unit(random));
}

bool random_chance(struct random *random, double probability)
{
	return random_unit(random) < probability;
}

uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

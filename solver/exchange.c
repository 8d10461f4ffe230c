/* SPDX-License-Identifier: MIT
 *
 * The formula of exchange.h.
 */
#include "solver/exchange.h"

#include <math.h>

#include "solver/most.h"
#include "solver/network_rate.h"

/* Of k copies among so many experts none is one of d. */
static double none_of(double k, double among, double d)
{
	double probability = 1;

	for (double i = 0; i < k; i++)
		probability *= most(0, among - d - i) / (among - i);
	return probability;
}

static double choose(double n, double k)
{
	double ways = 1;

	if (k < 0 || k > n)
		return 0;
	for (double i = 0; i < k; i++)
		ways *= (n - i) / (i + 1);
	return ways;
}

/* None of the copies lies in the q groups of a place. */
static double none_in_groups(const struct problem_exchange *exchange, double q)
{
	double g = exchange->groups, chosen = exchange->chosen_groups;
	double size = exchange->experts / g, sum = 0;

	for (double j = 0; j <= q; j++)
		sum += choose(q, j) * choose(g - q, chosen - j) *
		       none_of(exchange->copies, chosen * size, j * size);
	return sum / choose(g, chosen);
}

double exchange_share(const struct problem_exchange *exchange, double places)
{
	double k = exchange->copies, g = exchange->groups;
	double there = exchange->experts / places, reached;
	bool limited = exchange->chosen_groups < g;

	if (k <= 0)
		return 1;
	if (limited && places >= g && fmod(places, g) == 0)
		reached = exchange->chosen_groups / g *
			  (1 - none_of(k, exchange->chosen_groups *
					  exchange->experts / g, there));
	else if (limited && fmod(g, places) == 0)
		reached = 1 - none_in_groups(exchange, g / places);
	else
		reached = 1 - none_of(k, exchange->experts, there);
	return least(1, places * reached / k);
}

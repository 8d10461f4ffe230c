/* SPDX-License-Identifier: MIT
 *
 * The generator aims at the edges: memory limits that bind, requirements that
 * exclude about half the plans, networks as slow as the compute, zeros, ones
 * and equal numbers more often than chance would give them.
 */
#include "tests/prop/random_problem.h"

#include <math.h>
#include <string.h>

#include "tests/prop/random_parts.h"

bool maker_chance(struct maker *maker, double probability)
{
	return random_chance(&maker->random, probability);
}

uint32_t maker_below(struct maker *maker, uint32_t bound)
{
	return random_below(&maker->random, bound);
}

uint32_t maker_pick(struct maker *maker, const uint32_t *from, uint32_t count)
{
	return from[maker_below(maker, count)];
}

double maker_amount(struct maker *maker, double typical)
{
	static const double few[] = { 0.5, 1, 1, 2 };

	if (maker->plain)
		return typical;
	if (maker->dyadic || maker->flat)
		return typical * few[maker_below(maker, 4)];
	return typical * exp2(4 * random_unit(&maker->random) - 2);
}

double maker_amount_or_zero(struct maker *maker, double typical, double zero)
{
	if (maker->plain)
		zero = (1 + zero) / 2;
	return maker_chance(maker, zero) ? 0 : maker_amount(maker, typical);
}

double maker_whole(struct maker *maker, double typical)
{
	return ceil(maker_amount(maker, typical));
}

void random_problem_make(struct random_problem *made, uint64_t seed,
			 struct arena *arena)
{
	struct maker maker = {
		.random = { seed * UINT64_C(0xd1342543de82ef95) + 1 },
		.made = made,
		.problem = &made->problem,
		.arena = arena,
	};
	bool mentions_time;

	memset(made, 0, sizeof(*made));
	maker.dyadic = made->dyadic = maker_chance(&maker, 0.25);
	maker.flat = maker_chance(&maker, 0.2);
	maker.plain = maker.dyadic && maker_chance(&maker, 0.4);
	maker.still = maker.plain && maker_chance(&maker, 0.3);
	maker.roomy = maker_chance(&maker, 0.3);
	maker.cuts = !maker.roomy && maker_chance(&maker, 0.3);
	maker.experts = maker_chance(&maker, 0.35);
	maker.shards = maker_chance(&maker, 0.15);
	maker.comm = maker_chance(&maker, 0.1) ? 0x1p-4 : maker_chance(&maker, 0.5) ? 64 : 512;
	maker_network(&maker);
	maker_chain(&maker);
	maker_tied(&maker);
	maker_shapes(&maker);
	maker_costs(&maker);
	maker_weights(&maker);
	maker_space(&maker);
	maker_memory(&maker);
	maker_sync(&maker);
	maker_apart(&maker);
	maker_exchange(&maker);
	maker_requirements(&maker);
	mentions_time = made->mentions_time;
	maker_objectives(&maker);
	made->mentions_time = mentions_time;
}

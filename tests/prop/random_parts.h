/* SPDX-License-Identifier: MIT
 *
 * What the parts of the generator of random problems call of each other.
 */
#ifndef NEST_TESTS_PROP_RANDOM_PARTS_H
#define NEST_TESTS_PROP_RANDOM_PARTS_H

#include "tests/prop/random_problem.h"

/* What is being made, and with which taste. */
struct maker {
	struct random random;
	struct random_problem *made;
	struct problem *problem;
	struct arena *arena;
	bool dyadic;
	bool flat;		/* all costs from a few equal values */
	bool plain;		/* all alike: nearly everything ties */
	bool still;		/* and compute takes no time */
	bool roomy;		/* as large a space as the oracle can walk */
	bool cuts;		/* few configurations, all with many cuts */
	bool experts;		/* some layers have experts */
	bool shards;		/* ZeRO within levels, above all */
	double comm;		/* typical bytes of a collective */
};

bool maker_chance(struct maker *maker, double probability);
uint32_t maker_below(struct maker *maker, uint32_t bound);
uint32_t maker_pick(struct maker *maker, const uint32_t *from, uint32_t count);

/* A positive amount around `typical`: exact in dyadic problems. */
double maker_amount(struct maker *maker, double typical);
double maker_amount_or_zero(struct maker *maker, double typical, double zero);

/* A whole amount: bytes and parameters. */
double maker_whole(struct maker *maker, double typical);

/* The parts, in the order they are made in. */
void maker_network(struct maker *maker);
void maker_chain(struct maker *maker);
void maker_tied(struct maker *maker);
void maker_shapes(struct maker *maker);
void maker_costs(struct maker *maker);
void maker_weights(struct maker *maker);
void maker_space(struct maker *maker);
void maker_memory(struct maker *maker);
void maker_sync(struct maker *maker);
void maker_apart(struct maker *maker);
void maker_exchange(struct maker *maker);
void maker_requirements(struct maker *maker);
void maker_objectives(struct maker *maker);

#endif

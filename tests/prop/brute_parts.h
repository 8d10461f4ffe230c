/* SPDX-License-Identifier: MIT
 *
 * What the parts of the oracle call of each other.
 */
#ifndef NEST_TESTS_PROP_BRUTE_PARTS_H
#define NEST_TESTS_PROP_BRUTE_PARTS_H

#include "tests/prop/brute.h"

/* One plan being priced. */
struct brute_pricing {
	const struct problem *problem;
	struct brute_plan *plan;
	const struct problem_shape *shape;
	uint32_t layer_count;
	uint32_t layer_class[BRUTE_CHAIN_MAX];
	uint32_t used[LEVEL_MAX];
	/* per policy and class, communication included */
	double forward_s[RECOMPUTE_COUNT][BRUTE_CHAIN_MAX];
	double backward_s[RECOMPUTE_COUNT][BRUTE_CHAIN_MAX];
	uint32_t sharers, expert_sharers;	/* S, S_x */
};

/* The digits of a rank within its stage, dealt out: part[g][d][l] of the factor
 * of dimension d at level l goes to expert tensor (g = 0), expert (1) and expert
 * data (2), the one before being the inner. */
struct brute_expert_parts {
	uint32_t part[3][DIMENSION_PIPELINE][LEVEL_MAX];
};

static inline uint32_t brute_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* brute_network.c: what each of k senders of a child gets at level l of the
 * share w of its links, efficiency aside; */
double brute_rate(const struct problem *problem, uint32_t l, double k, double w);

/* and no more than the switches below let through to used[i] / ranks[i]
 * senders. */
double brute_through(const struct problem *problem, uint32_t l, double Bps,
		     const uint32_t *used, const uint32_t *ranks);

bool brute_is_ring(const struct problem *problem, uint32_t l);
bool brute_is_full(const struct problem *problem, uint32_t l);

/* brute_group.c: false if the placement does not fit the expert degrees. */
bool brute_deal_experts(const struct problem *problem,
			const struct problem_shape *shape,
			const struct placement *placement,
			struct brute_expert_parts *dealt);

double brute_group_time(const struct brute_pricing *pricing, enum group group,
			enum collective kind, double bytes);

/* The same over that part of a group of replicas which shares out (inside), or
 * over one member of each such part. */
double brute_part_time(const struct brute_pricing *pricing, enum group group,
		       bool inside, enum collective kind, double bytes);

/* How many share out. */
uint32_t brute_sharers(const struct brute_pricing *pricing, enum group group);

/* Level between two pipeline ranks. */
uint32_t brute_border(const struct brute_pricing *pricing, uint32_t a, uint32_t b);

/* Time of bytes from one pipeline rank to another. */
double brute_send(const struct brute_pricing *pricing, uint32_t a, uint32_t b,
		  double bytes);

struct brute_pipeline brute_pipeline(const struct choice *choice);

/* brute_devices.c: whether the devices that may be used have room for a factor
 * placement of so many pipeline ranks; */
bool brute_has_room(const struct problem *problem,
		    const struct placement *placement, uint32_t pipeline);

/* the devices of a linear one, false if they end; whether they keep `within` and
 * the pins. */
bool brute_lay(const struct problem *problem, const struct placement *placement,
	       const uint32_t *degree, uint32_t *device);
bool brute_keeps_rules(const struct problem *problem, const uint32_t *degree,
		       const uint32_t *device);

/* brute_linear.c: collectives, the level between two ranks, transfers. */
double brute_linear_time(const struct brute_pricing *pricing, enum group group,
			 enum collective kind, double bytes);
uint32_t brute_linear_border(const struct brute_pricing *pricing, uint32_t a,
			     uint32_t b);
struct network_line brute_linear_line(const struct brute_pricing *pricing,
				      uint32_t level);

/* brute_price.c: lays out the chain; */
void brute_unroll(struct brute_pricing *pricing);

/* fills what the placement decides; */
void brute_price_placement(struct brute_pricing *pricing);

/* prices the cut that the plan holds. */
void brute_price_cut(struct brute_pricing *pricing);

uint32_t brute_chunk_of(const struct brute_plan *plan, uint32_t layer);

/* brute_judge.c: prices, evaluates the objectives; whether the requirements
 * hold. */
bool brute_judge(struct brute_pricing *pricing);

#endif

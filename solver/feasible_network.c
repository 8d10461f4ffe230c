/* SPDX-License-Identifier: MIT
 *
 * The independent checker's own reading of network.h: collectives over a group,
 * straight from the formulas there.
 */
#include "solver/feasible_check.h"

#include <math.h>

/* A group at one level, as network.h has it. */
struct at_level {
	double n, inside;		/* n_l, N_l */
	double link_Bps, passed_Bps;	/* of the level, of the switches inside */
	double rate_Bps, reduction_Bps;	/* R_l, R'_l */
	double step_s, scatter_s;	/* x_l, H_l */
	double direct_spb;		/* links of a ring in an all-to-all */
	double direct_s, broadcast_s;	/* latencies */
};

static void fill_ring(const struct site *site, enum group group, uint32_t l,
		      struct at_level *at)
{
	const struct problem_level *level = &site->problem->level[l];
	double apart = feasible_apart(site, group, l), n = at->n;
	double hop_s = apart * level->latency_s;
	bool closed = level->wrap && apart * n == level->fanout;

	at->rate_Bps = feasible_rate_Bps(site, l, apart * site->used[l],
					 closed ? 1 : 0.5);
	at->step_s = hop_s;
	at->scatter_s = (closed ? n - 1 : 2 * n - 3) * hop_s;
	at->direct_spb = fmax(floor(n * n / 4) / n /
			      feasible_links_Bps(site, l, apart * site->used[l],
						 closed ? 1 : 0.5),
			      (n - 1) / n / level->bandwidth_Bps) /
			 level->efficiency;
	at->direct_s = (closed ? floor(n / 2) : n - 1) * hop_s;
	at->broadcast_s = (n - 1) * hop_s;
}

static struct at_level group_at(const struct site *site, struct group_part part,
				uint32_t l, double inside)
{
	const struct problem_level *level = &site->problem->level[l];
	double n = feasible_members(site, part, l), efficiency = level->efficiency;
	struct at_level at = {
		.n = n,
		.inside = inside,
		.rate_Bps = feasible_rate_Bps(site, l, site->used[l], 1),
		.step_s = level->latency_s,
		.scatter_s = (n - 1) * level->latency_s,
		.direct_s = (n - 1) * level->latency_s,
		.broadcast_s = ceil(log2(n)) * level->latency_s,
	};

	if (level->kind == LEVEL_RING)
		fill_ring(site, part.group, l, &at);
	if (level->kind == LEVEL_FULL) {
		at.rate_Bps = feasible_rate_Bps(site, l, site->used[l],
						(n - 1) / (level->fanout - 1.0));
		at.scatter_s = at.direct_s = at.broadcast_s = level->latency_s;
	}
	if (level->reduction_efficiency > 0)
		efficiency = level->reduction_efficiency;
	at.passed_Bps = feasible_passed_Bps(site, l, false);
	at.reduction_Bps = fmin(efficiency * at.rate_Bps, at.passed_Bps);
	at.link_Bps = level->efficiency * at.rate_Bps;
	at.rate_Bps = fmin(at.link_Bps, at.passed_Bps);
	return at;
}

/* The ingredients of all the formulas, gathered in one walk over the levels
 * at which a group has members apart. Times per byte. */
struct group_walk {
	double members;			/* n */
	double scatter_spb;		/* hierarchical reduce-scatter */
	double scatter_s;		/* its latency */
	double reduced_spb, reduced_s;	/* all-reduce, in the network where possible */
	double slowest_Bps;		/* min N_l x R_l */
	double ring_Bps, tree_Bps;	/* of the flat ring, of pairs of trees */
	double around_s, shortest_s;	/* hops of the flat ring */
	double tree_latency_s;		/* of a broadcast */
	double direct_spb, direct_s;
	double overhead_s;
	bool switches, reduces;
	const struct problem_exchange *exchange;
};

/* The flat ring and the tree, over all levels with members. */
static void walk_flat(const struct problem_level *const *level,
		      const struct at_level *at, uint32_t count,
		      struct group_walk *walk)
{
	const struct at_level *top = &at[count - 1];

	for (uint32_t i = 0; i < count; i++) {
		double visits = walk->members / (at[i].inside * at[i].n);
		double link_Bps = at[i].link_Bps;
		double tree_share = top->n == 2 ?
			1 - at[i].inside / (2 * top->inside) : 1;
		double block = at[i].n;
		uint32_t last = i;

		for (; last + 1 < count; last++) {
			bool torus = true;

			for (const struct problem_level *above = level[last] + 1;
			     above <= level[last + 1]; above++)
				torus = torus && above->joined;
			if (!torus)
				break;
			block *= at[last + 1].n;
		}
		if (last + 1 < count && level[i]->kind == LEVEL_RING)
			link_Bps *= block / (block - 1);
		walk->ring_Bps = fmin(walk->ring_Bps, at[i].inside *
				      fmin(link_Bps, at[i].passed_Bps));
		walk->tree_Bps = fmin(walk->tree_Bps, at[i].inside *
				      at[i].rate_Bps / tree_share);
		walk->shortest_s = fmin(walk->shortest_s, at[i].step_s);
		walk->around_s += visits * at[i].scatter_s;
		/* To the next children, or to the first one again. */
		if (last + 1 == count)
			walk->around_s += visits * at[i].step_s;
		else if (last > i)
			walk->around_s += (visits - walk->members /
					   (at[i].inside * block)) * at[i].step_s;
	}
	walk->around_s -= walk->shortest_s;
}

/* Ways to pick k of n; n may be a fraction, of which exchange.h makes the same. */
static double ways(double n, double k)
{
	return k >= n + 1 ? 0 : exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
}

/* Of the rows of a token the share that is sent where each place gets it once: by
 * counting the choices of experts that leave a place out. */
static double sent_share(const struct problem_exchange *exchange, double places)
{
	double k = exchange->copies, all = exchange->experts;
	double g = exchange->groups, chosen = exchange->chosen_groups;
	double held = g / places, left_out = 0;

	if (k == 0)
		return 1;
	if (chosen >= g || (fmod(g, places) != 0 && fmod(places, g) != 0)) {
		left_out = ways(all - all / places, k) / ways(all, k);
	} else if (held >= 1) {
		for (double j = fmax(0, chosen - (g - held)); j <= fmin(held, chosen); j++)
			left_out += ways(held, j) * ways(g - held, chosen - j) /
				    ways(g, chosen) *
				    ways((chosen - j) * all / g, k) /
				    ways(chosen * all / g, k);
	} else {
		left_out = 1 - chosen / g +
			   chosen / g * ways(chosen * all / g - all / places, k) /
				   ways(chosen * all / g, k);
	}
	return fmin(1, places * (1 - left_out) / k);
}

/* An all-to-all within the levels at[0 .. count - 1] of one torus, or through
 * one other level. */
static double direct_spb(const struct problem_level *level,
			 const struct at_level *at, uint32_t count,
			 const struct group_walk *walk)
{
	double members = walk->members;
	double spb = 0, near = 1, out = 0;

	for (uint32_t i = 0; i < count; i++) {
		double n = at[i].n;

		near = at[i].inside * n / members;
		spb = fmax(spb, fmax((n - 1) / n / at[i].rate_Bps,
				     at[i].direct_spb));
		out = fmax(out, (members - at[i].inside) / members /
				at[i].passed_Bps);
	}
	if (count && level->kind == LEVEL_SWITCH)
		return (members - at->inside) / members / at->rate_Bps *
		       sent_share(walk->exchange, members / at->inside);
	return fmax(out, spb * near);
}

/* One torus: the levels at[0 .. count - 1], all with members. */
static double torus_spb(const struct at_level *at, uint32_t count)
{
	double in_turn = 0, at_once = 0;

	for (uint32_t i = 0; i < count; i++)
		in_turn += (at[i].n - 1) / at[i].n / at[i].inside / at[i].rate_Bps;
	for (uint32_t round = 0; round < count; round++) {
		double slowest = 0;

		for (uint32_t i = 0; i < count; i++) {
			/* The part that is at dimension i in this round has gone
			 * through the round dimensions before it. */
			double bytes = 1 / at[0].inside / count;

			for (uint32_t j = 1; j <= round; j++)
				bytes /= at[(i + count - j) % count].n;
			slowest = fmax(slowest, (at[i].n - 1) / at[i].n * bytes /
						at[i].rate_Bps);
		}
		at_once += slowest;
	}
	return fmin(in_turn, at_once);
}

static void walk_level(const struct problem_level *level,
		       const struct at_level *at, struct group_walk *walk)
{
	walk->scatter_s += at->scatter_s;
	walk->reduced_spb += level->in_network_reduction ?
		(at->n + 1) / at->n / at->inside / at->reduction_Bps :
		2 * (at->n - 1) / at->n / at->inside / at->rate_Bps;
	walk->reduced_s += level->in_network_reduction ? 2 * level->latency_s :
							  2 * at->scatter_s;
	walk->slowest_Bps = fmin(walk->slowest_Bps, at->inside * at->rate_Bps);
	walk->tree_latency_s += at->broadcast_s;
	walk->direct_s += at->direct_s;
	walk->overhead_s = fmax(walk->overhead_s, level->overhead_s);
	walk->switches = walk->switches && level->kind == LEVEL_SWITCH;
	walk->reduces = walk->reduces || level->in_network_reduction;
}

/* A torus that is complete. */
static void walk_torus(const struct problem_level *level,
		       const struct at_level *torus, uint32_t dimensions,
		       struct group_walk *walk)
{
	walk->scatter_spb += torus_spb(torus, dimensions);
	walk->direct_spb = fmax(walk->direct_spb, direct_spb(level, torus,
				dimensions, walk));
}

static struct group_walk walk_group(const struct site *site, struct group_part part)
{
	const struct problem_level *level = site->problem->level, *last = level;
	struct group_walk walk = {
		.members = feasible_size(site, part), .slowest_Bps = INFINITY, .ring_Bps = INFINITY,
		.tree_Bps = INFINITY, .shortest_s = INFINITY, .switches = true,
		.exchange = &site->problem->exchange,
	};
	const struct problem_level *crossed[LEVEL_MAX];
	struct at_level apart[LEVEL_MAX] = { { .n = 0 } };
	uint32_t first = 0, count = 0;
	double inside = 1, inner_step_s = 0;

	for (uint32_t l = 0; l < site->problem->level_count; l++, level++) {
		struct at_level at = group_at(site, part, l, inside);

		if (!level->joined) {
			walk_torus(last, apart + first, count - first, &walk);
			first = count;
		}
		if (at.n < 2)
			continue;
		last = level;
		walk_level(level, &at, &walk);
		if (level->rails > 0 && inside > 1)
			walk.direct_s += inner_step_s;
		inner_step_s = at.step_s;
		crossed[count] = level;
		apart[count++] = at;
		inside *= at.n;
	}
	walk_torus(last, apart + first, count - first, &walk);
	if (count)
		walk_flat(crossed, apart, count, &walk);
	return walk;
}

/* By the protocol that the levels of the problem stand for. */
static double protocol_s(const struct site *site, enum collective kind,
			 struct group_part part, double bytes)
{
	struct group_walk walk = walk_group(site, part);
	double n = walk.members, ring_s, half_s, best_s;

	if (n < 2 || bytes == 0)
		return 0;
	ring_s = (n - 1) / n * bytes / walk.ring_Bps + walk.around_s;
	half_s = fmin(ring_s, walk.scatter_spb * bytes + walk.scatter_s);
	switch (kind) {
	case COLLECTIVE_ALL_REDUCE:
		best_s = 2 * half_s;
		if (walk.switches)
			best_s = fmin(best_s, 2 * (bytes / walk.tree_Bps +
						   walk.tree_latency_s));
		if (walk.reduces)
			best_s = fmin(best_s, walk.reduced_spb * bytes +
					      walk.reduced_s);
		break;
	case COLLECTIVE_ALL_TO_ALL:
		best_s = walk.direct_spb * bytes + walk.direct_s;
		break;
	case COLLECTIVE_BROADCAST:
		best_s = bytes / walk.slowest_Bps + walk.tree_latency_s;
		break;
	default:
		best_s = half_s;
	}
	return best_s + walk.overhead_s;
}

bool feasible_shorten(const struct problem *problem, const bool *crossed,
		      struct problem *shorter)
{
	bool offered = false;

	*shorter = *problem;
	for (uint32_t l = 0; l < shorter->level_count; l++) {
		struct problem_level *at = &shorter->level[l];

		at->in_network_reduction = false;
		if (at->short_efficiency <= 0)
			continue;
		offered |= crossed[l];
		at->efficiency = at->short_efficiency;
		at->overhead_s = at->short_overhead_s;
	}
	return offered;
}

double feasible_collective_s(const struct site *site, enum collective kind,
			     struct group_part part, double bytes)
{
	struct problem shorter;
	struct site by_short = *site;
	bool crossed[LEVEL_MAX];
	double best_s;

	if (site->routed)
		return feasible_routed_s(site, kind, part, bytes);
	if (site->device && !part.counts)
		return feasible_linear_s(site, kind, part, bytes);
	best_s = protocol_s(site, kind, part, bytes);
	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		crossed[l] = feasible_members(site, part, l) > 1;
	by_short.problem = &shorter;
	if (!feasible_shorten(site->problem, crossed, &shorter))
		return best_s;
	return fmin(best_s, protocol_s(&by_short, kind, part, bytes));
}

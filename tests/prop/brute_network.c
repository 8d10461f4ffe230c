/* SPDX-License-Identifier: MIT
 *
 * The oracle: collectives on the hierarchy, from the formulas of network.h.
 */
#include "tests/prop/brute_parts.h"

#include <math.h>

/* k senders over the share w of a child's links. */
static double uplink(const struct problem *problem, uint32_t l, double k,
		     double w)
{
	const struct problem_level *level = &problem->level[l];
	double links = 1;

	for (uint32_t i = 0; i < l; i++)
		links *= problem->level[i].fanout;
	if (level->nics)
		links = level->nics;
	return w * links * level->bandwidth_Bps / level->oversubscription / k;
}

double brute_rate(const struct problem *problem, uint32_t l, double k, double w)
{
	return fmin(uplink(problem, l, k, w), problem->level[l].bandwidth_Bps);
}

/* A rate at level l, or less where the switches below let through less to
 * used[i] / ranks[i] senders. */
double brute_through(const struct problem *problem, uint32_t l, double Bps,
		     const uint32_t *used, const uint32_t *ranks)
{
	for (uint32_t i = 0; i < l; i++)
		if (problem->level[i].kind == LEVEL_SWITCH)
			Bps = fmin(Bps, problem->level[i].efficiency *
				   brute_rate(problem, i,
					      (double)used[i] / ranks[i], 1));
	return Bps;
}

static const uint32_t all_ranks[LEVEL_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1 };

bool brute_is_ring(const struct problem *problem, uint32_t l)
{
	return problem->level[l].kind == LEVEL_RING;
}

bool brute_is_full(const struct problem *problem, uint32_t l)
{
	return problem->level[l].kind == LEVEL_FULL;
}

static bool is_closed(const struct problem *problem,
		      const struct group_shape *group, uint32_t l)
{
	return problem->level[l].wrap &&
	       group->apart[l] * group->members[l] == problem->level[l].fanout;
}

/* R_l without the efficiency. */
static double reached(const struct problem *problem,
		      const struct group_shape *group, uint32_t l)
{
	double used = group->used[l];

	if (brute_is_ring(problem, l))
		return brute_rate(problem, l, used * group->apart[l],
				  is_closed(problem, group, l) ? 1 : 0.5);
	if (brute_is_full(problem, l))
		return brute_rate(problem, l, used, (group->members[l] - 1.0) /
					      (problem->level[l].fanout - 1.0));
	return brute_rate(problem, l, used, 1);
}

static double speed(const struct problem *problem,
		    const struct group_shape *group, uint32_t l)
{
	return brute_through(problem, l, problem->level[l].efficiency *
			     reached(problem, group, l), group->used, all_ranks);
}

/* What the switches inside let through. */
static double passed(const struct problem *problem,
		     const struct group_shape *group, uint32_t l)
{
	return brute_through(problem, l, INFINITY, group->used, all_ranks);
}

/* x_l. */
static double step(const struct problem *problem,
		   const struct group_shape *group, uint32_t l)
{
	double latency = problem->level[l].latency_s;

	return brute_is_ring(problem, l) ? latency * group->apart[l] : latency;
}

/* H_l. */
static double scatter(const struct problem *problem,
		      const struct group_shape *group, uint32_t l)
{
	double n = group->members[l];

	if (brute_is_full(problem, l))
		return step(problem, group, l);
	if (brute_is_ring(problem, l) && !is_closed(problem, group, l))
		return (2 * n - 3) * step(problem, group, l);
	return (n - 1) * step(problem, group, l);
}

static double group_size(const struct problem *problem,
			 const struct group_shape *group)
{
	double n = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		n *= group->members[l];
	return n;
}

static double slowest(const struct problem *problem,
		      const struct group_shape *group)
{
	double n = 1, least = INFINITY;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		if (group->members[l] > 1)
			least = fmin(least, n * speed(problem, group, l));
		n *= group->members[l];
	}
	return least;
}

static uint32_t highest(const struct problem *problem,
			const struct group_shape *group)
{
	uint32_t top = 0;

	for (uint32_t l = 0; l < problem->level_count; l++)
		if (group->members[l] > 1)
			top = l;
	return top;
}

/* Members of the group in the dimensions of one torus from this one on. */
static uint32_t block_size(const struct problem *problem,
			   const struct group_shape *group, uint32_t l)
{
	uint32_t block = group->members[l];

	for (l++; l < problem->level_count && problem->level[l].joined; l++)
		block *= group->members[l];
	return block;
}

/* A reduce-scatter. */
static double ring(const struct problem *problem,
		   const struct group_shape *group, double bytes)
{
	double n = group_size(problem, group), inside = 1, outside = n;
	double latency = 0, shortest = INFINITY, least = INFINITY;
	uint32_t top = highest(problem, group);

	for (uint32_t l = 0; l < problem->level_count; l++) {
		double m = group->members[l], Bps, block;

		if (group->members[l] == 1)
			continue;
		outside /= m;
		Bps = problem->level[l].efficiency * reached(problem, group, l);
		latency += outside * scatter(problem, group, l);
		block = block_size(problem, group, l);
		if (inside * block < n && brute_is_ring(problem, l))
			Bps *= block / (block - 1);
		if (inside * block == n && l < top)
			latency += outside * step(problem, group, l);
		if (inside * block < n && block > m)
			latency += (outside - n / (inside * block)) *
				   step(problem, group, l);
		least = fmin(least, inside * fmin(Bps, passed(problem, group, l)));
		shortest = fmin(shortest, step(problem, group, l));
		inside *= m;
	}
	latency += step(problem, group, top) - shortest;
	return (n - 1) / n * bytes / least + latency;
}

/* One way through all levels. */
static double spread_latency(const struct problem *problem,
			     const struct group_shape *group)
{
	double total = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		double latency = problem->level[l].latency_s;
		uint32_t steps = 0;

		if (group->members[l] == 1)
			continue;
		while ((1u << steps) < group->members[l])
			steps++;
		if (brute_is_full(problem, l))
			total += latency;
		else if (brute_is_ring(problem, l))
			total += (group->members[l] - 1.0) * group->apart[l] *
				 latency;
		else
			total += steps * latency;
	}
	return total;
}

static double spread(const struct problem *problem,
		     const struct group_shape *group, double bytes)
{
	return bytes / slowest(problem, group) + spread_latency(problem, group);
}

/* An all-reduce. */
static double tree(const struct problem *problem,
		   const struct group_shape *group, double bytes)
{
	uint32_t top = highest(problem, group);
	double inside = 1, least = INFINITY;
	double child = group_size(problem, group) / group->members[top];

	for (uint32_t l = 0; l < problem->level_count; l++) {
		double Bps = inside * speed(problem, group, l);

		if (group->members[top] == 2)
			Bps *= 2 * child / (2 * child - inside);
		if (group->members[l] > 1)
			least = fmin(least, Bps);
		inside *= group->members[l];
	}
	return 2 * bytes / least + 2 * spread_latency(problem, group);
}

/* Dimension `d` of the torus that begins at level `first`, for a part of the
 * data that has been cut by `cut` before. */
static double dimension_time(const struct problem *problem,
			     const struct group_shape *group, uint32_t d,
			     double cut)
{
	double n = group->members[d];

	return (n - 1) / n / cut / speed(problem, group, d);
}

/* Seconds per byte over the levels list[0 .. count - 1] of one torus, `inside`
 * members being below. */
static double torus(const struct problem *problem,
		    const struct group_shape *group, const uint32_t *list,
		    uint32_t count, double inside)
{
	double one_by_one = 0, together = 0, cut = inside;
	double parts[LEVEL_MAX];

	for (uint32_t i = 0; i < count; i++) {
		one_by_one += dimension_time(problem, group, list[i], cut);
		cut *= group->members[list[i]];
		parts[i] = inside * count;
	}
	for (uint32_t round = 0; round < count; round++) {
		double longest = 0;

		for (uint32_t part = 0; part < count; part++) {
			uint32_t d = list[(part + round) % count];

			longest = fmax(longest, dimension_time(problem, group, d,
							       parts[part]));
			parts[part] *= group->members[d];
		}
		together += longest;
	}
	return fmin(one_by_one, together);
}

/* A reduce-scatter. */
static double hierarchical(const struct problem *problem,
			   const struct group_shape *group, double bytes)
{
	double inside = 1, total = 0, before = 1;
	uint32_t list[LEVEL_MAX] = { 0 }, count = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		if (!problem->level[l].joined) {
			total += bytes * torus(problem, group, list, count,
					       before);
			count = 0;
			before = inside;
		}
		if (group->members[l] == 1)
			continue;
		list[count++] = l;
		total += scatter(problem, group, l);
		inside *= group->members[l];
	}
	return total + bytes * torus(problem, group, list, count, before);
}

/* An all-reduce, in the network where that is offered. */
static double in_network(const struct problem *problem,
			 const struct group_shape *group, double bytes)
{
	double inside = 1, total = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];
		double n = group->members[l];

		if (group->members[l] == 1)
			continue;
		if (level->in_network_reduction)
			total += (n + 1) / n * bytes / inside /
				 brute_through(problem, l,
					       reached(problem, group, l) *
					       (level->reduction_efficiency > 0 ?
						level->reduction_efficiency :
						level->efficiency),
					       group->used, all_ranks) +
				 2 * level->latency_s;
		else
			total += 2 * (n - 1) / n * bytes / inside /
				 speed(problem, group, l) +
				 2 * scatter(problem, group, l);
		inside *= n;
	}
	return total;
}

/* Chance that no expert of a place is drawn, one after the other, when the place has
 * `mine` experts in each of its first groups and the token's experts lie in `chosen` of
 * the groups: groups are drawn one by one as well. */
static double missed(const struct problem_exchange *exchange, double groups,
		     double own_groups, double chosen, double mine, double drawn)
{
	double size = exchange->experts / exchange->groups, none = 1;

	if (chosen > 0 && groups > 0) {
		double own = own_groups / groups;

		none = 0;
		if (own > 0)
			none += own * missed(exchange, groups - 1, own_groups - 1,
					     chosen - 1, mine, drawn + mine);
		if (own < 1)
			none += (1 - own) * missed(exchange, groups - 1, own_groups,
						   chosen - 1, mine, drawn);
		return none;
	}
	size *= exchange->chosen_groups;
	for (double i = 0; i < exchange->copies; i++)
		none *= fmax(0, size - drawn - i) / (size - i);
	return none;
}

/* Bytes sent where a token goes to each place once, over those of its copies. */
static double once(const struct problem_exchange *exchange, double places)
{
	struct problem_exchange free = *exchange;
	double g = exchange->groups, here = exchange->experts / places, left;

	if (exchange->copies == 0)
		return 1;
	free.groups = free.chosen_groups = 1;
	if (fmod(g, places) == 0)
		left = missed(exchange, g, g / places, exchange->chosen_groups,
			      exchange->experts / g, 0);
	else if (fmod(places, g) == 0)
		left = missed(exchange, g, 1, exchange->chosen_groups, here, 0);
	else
		left = missed(&free, 1, 1, 1, here, 0);
	return fmin(1, places * (1 - left) / exchange->copies);
}

static double all_to_all(const struct problem *problem,
			 const struct group_shape *group, double bytes)
{
	double n = group_size(problem, group), inside = 1, worst = 0, latency = 0;
	double below = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t m = group->members[l];
		double sent = (n - inside) / n, wait = m - 1.0;
		double near = inside * m / n;

		if (m == 1)
			continue;
		for (uint32_t i = l + 1; i < problem->level_count &&
		     problem->level[i].joined; i++)
			near *= group->members[i];
		if (brute_is_full(problem, l)) {
			sent = (m - 1.0) / m * near;
			wait = 1;
		}
		if (brute_is_ring(problem, l)) {
			bool closed = is_closed(problem, group, l);
			double links = uplink(problem, l, group->used[l] *
					      group->apart[l], closed ? 1 : 0.5);

			sent = (m - 1.0) / m * near;
			worst = fmax(worst, (double)(m * m / 4) / m * near * bytes /
					    links / problem->level[l].efficiency);
			wait = group->apart[l] *
			       (is_closed(problem, group, l) ? m / 2 : m - 1);
		}
		if (!brute_is_full(problem, l) && !brute_is_ring(problem, l))
			sent *= once(&problem->exchange, n / inside);
		else
			worst = fmax(worst, (n - inside) / n * bytes /
					    passed(problem, group, l));
		worst = fmax(worst, sent * bytes / speed(problem, group, l));
		latency += wait * problem->level[l].latency_s;
		if (problem->level[l].rails && inside > 1)
			latency += below;
		below = step(problem, group, l);
		inside *= m;
	}
	return worst + latency;
}

static double by_protocol(const struct problem *problem,
			  const struct group_shape *group, enum collective kind,
			  double bytes)
{
	double best, overhead = 0;
	bool switches = true, reduces = false;

	if (group_size(problem, group) == 1 || bytes == 0)
		return 0;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];

		if (group->members[l] == 1)
			continue;
		overhead = fmax(overhead, level->overhead_s);
		switches &= level->kind == LEVEL_SWITCH;
		reduces |= level->in_network_reduction;
	}
	if (kind == COLLECTIVE_ALL_TO_ALL)
		return all_to_all(problem, group, bytes) + overhead;
	if (kind == COLLECTIVE_BROADCAST)
		return spread(problem, group, bytes) + overhead;
	best = fmin(ring(problem, group, bytes),
		    hierarchical(problem, group, bytes));
	if (kind != COLLECTIVE_ALL_REDUCE)
		return best + overhead;
	best *= 2;
	if (switches)
		best = fmin(best, tree(problem, group, bytes));
	if (reduces)
		best = fmin(best, in_network(problem, group, bytes));
	return best + overhead;
}

double brute_collective(const struct problem *problem,
			const struct group_shape *group, enum collective kind,
			double bytes)
{
	struct problem brief = *problem;
	double time = by_protocol(problem, group, kind, bytes);
	bool offered = false;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		struct problem_level *level = &brief.level[l];

		level->in_network_reduction = false;
		if (level->short_efficiency == 0)
			continue;
		offered = offered || group->members[l] > 1;
		level->efficiency = level->short_efficiency;
		level->overhead_s = level->short_overhead_s;
	}
	return offered ? fmin(time, by_protocol(&brief, group, kind, bytes)) :
			 time;
}

/* SPDX-License-Identifier: MIT
 *
 * The oracle: collectives and transfers of a linear placement, every formula of
 * linear.h with its quantifiers as loops.
 */
#include "tests/prop/brute_parts.h"

#include <math.h>

/* The instances of a group, as ranks' numbers. */
struct gathering {
	const struct problem *problem;
	const uint32_t *device;
	uint32_t ranks, members, instances;
	uint32_t instance[BRUTE_DEVICE_MAX];
};

static uint32_t child_size(const struct problem *problem, uint32_t l)
{
	return l ? child_size(problem, l - 1) * problem->level[l - 1].fanout : 1;
}

static uint32_t child_count(const struct problem *problem, uint32_t l)
{
	return problem->device_count / child_size(problem, l);
}

/* Whether two ranks are in one instance. */
static bool are_together(const struct brute_pricing *pricing, enum group group,
			 uint32_t a, uint32_t b)
{
	const struct problem_shape *shape = pricing->shape;
	uint32_t t = shape->tensor, c = shape->context;
	uint32_t stage = t * c * pricing->plan->choice.data;
	uint32_t x = shape->expert_tensor, e = shape->expert;
	uint32_t r = a % stage, s = b % stage;

	if (a / stage != b / stage)
		return false;
	switch (group) {
	case GROUP_TENSOR:
		return r / t == s / t;
	case GROUP_CONTEXT:
		return r % t == s % t && r / (t * c) == s / (t * c);
	case GROUP_DATA_CONTEXT:
		return r % t == s % t;
	case GROUP_EXPERT_TENSOR:
		return r / x == s / x;
	case GROUP_EXPERT:
		return r % x == s % x && r / (x * e) == s / (x * e);
	default:
		return r % (x * e) == s % (x * e);
	}
}

static void gather(const struct brute_pricing *pricing, enum group group,
		   struct gathering *g)
{
	g->problem = pricing->problem;
	g->device = pricing->plan->device;
	g->ranks = pricing->plan->devices;
	g->instances = g->members = 0;
	for (uint32_t a = 0; a < g->ranks; a++) {
		uint32_t b = 0;

		while (!are_together(pricing, group, a, b))
			b++;
		g->instance[a] = b == a ? g->instances++ : g->instance[b];
		g->members += g->instance[a] == 0;
	}
}

/* Ranks of an instance in a child of level l. */
static uint32_t held(const struct gathering *g, uint32_t l, uint32_t child,
		     uint32_t instance)
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < g->ranks; rank++)
		count += g->instance[rank] == instance &&
			 g->device[rank] / child_size(g->problem, l) == child;
	return count;
}

/* Of the children of level l in a child of level l + 1: how many hold some. */
static uint32_t spread_over(const struct gathering *g, uint32_t l,
			    uint32_t outer, uint32_t instance)
{
	uint32_t fanout = g->problem->level[l].fanout, count = 0;

	for (uint32_t i = 0; i < fanout; i++)
		count += held(g, l, outer * fanout + i, instance) > 0;
	return count;
}

static bool leaves(const struct gathering *g, uint32_t l, uint32_t child,
		   uint32_t instance)
{
	uint32_t m = held(g, l, child, instance);

	return m > 0 && m < g->members;
}

static bool crosses(const struct gathering *g, uint32_t l, uint32_t instance)
{
	for (uint32_t outer = 0; outer < child_count(g->problem, l + 1); outer++)
		if (spread_over(g, l, outer, instance) > 1)
			return true;
	return false;
}

static bool any_crosses(const struct gathering *g, uint32_t l)
{
	for (uint32_t i = 0; i < g->instances; i++)
		if (crosses(g, l, i))
			return true;
	return false;
}

/* f(c). */
static double copies(const struct gathering *g, uint32_t l, uint32_t child,
		     uint32_t instance)
{
	double least = INFINITY;
	uint32_t fanout;

	if (l == 0)
		return 1;
	fanout = g->problem->level[l - 1].fanout;
	for (uint32_t i = 0; i < fanout; i++)
		if (held(g, l - 1, child * fanout + i, instance))
			least = fmin(least, copies(g, l - 1, child * fanout + i,
						   instance));
	return least * spread_over(g, l - 1, child, instance);
}

static bool is_even(const struct gathering *g, struct group_shape *shape)
{
	uint32_t before = 1;

	for (uint32_t l = 0; l <= g->problem->level_count; l++) {
		uint32_t same = 0;

		for (uint32_t child = 0; child < child_count(g->problem, l); child++)
			for (uint32_t i = 0; i < g->instances; i++) {
				uint32_t m = held(g, l, child, i);

				if (m == 0)
					continue;
				if (same != 0 && m != same)
					return false;
				same = m;
			}
		if (l > 0)
			shape->members[l - 1] = same / before;
		before = same;
	}
	for (uint32_t l = 0; l < g->problem->level_count; l++) {
		shape->apart[l] = 1;
		shape->used[l] = 0;
		for (uint32_t child = 0; child < child_count(g->problem, l);
		     child++) {
			uint32_t all = 0;

			for (uint32_t i = 0; i < g->instances; i++)
				all += held(g, l, child, i);
			if (all > shape->used[l])
				shape->used[l] = all;
		}
	}
	return true;
}

static double port_Bps(const struct problem_level *level)
{
	return level->efficiency * level->bandwidth_Bps;
}

static double link_Bps(const struct problem *problem, uint32_t l)
{
	const struct problem_level *level = &problem->level[l];

	return port_Bps(level) * (level->nics ? level->nics :
				  child_size(problem, l)) /
	       level->oversubscription;
}

/* g_l. */
static double around_load(const struct gathering *g, uint32_t l)
{
	double least = INFINITY, most = 0, full = 1;

	for (uint32_t child = 0; child < child_count(g->problem, l); child++) {
		uint32_t count = 0;

		for (uint32_t i = 0; i < g->instances; i++) {
			if (!leaves(g, l, child, i))
				continue;
			least = fmin(least, copies(g, l, child, i));
			count++;
		}
		most = fmax(most, count);
	}
	if (g->problem->level[l].kind == LEVEL_FULL)
		full = g->problem->level[l].fanout - 1;
	return fmax(1 / (least * port_Bps(&g->problem->level[l])),
		    full * most / link_Bps(g->problem, l));
}

/* h_l. */
static double exchange_load(const struct gathering *g, uint32_t l)
{
	const struct problem_level *level = &g->problem->level[l];
	double worst = 0, n = g->members;

	for (uint32_t child = 0; child < child_count(g->problem, l); child++) {
		double sum = 0;

		for (uint32_t i = 0; i < g->instances; i++) {
			double m = held(g, l, child, i), w = 0;
			uint32_t outer = child / level->fanout;

			if (!leaves(g, l, child, i))
				continue;
			for (uint32_t j = 0; j < level->fanout; j++)
				if (outer * level->fanout + j != child)
					w = fmax(w, held(g, l, outer *
							 level->fanout + j, i));
			worst = fmax(worst, (n - m) / n / port_Bps(level));
			sum += level->kind == LEVEL_FULL ?
			       (level->fanout - 1.0) * m * w / n :
			       m * (n - m) / n;
		}
		worst = fmax(worst, sum / link_Bps(g->problem, l));
	}
	return worst;
}

/* Hops of the ring of one instance. */
static double around_latency(const struct gathering *g, uint32_t instance)
{
	double sum = 0, least = INFINITY, top = 0;

	for (uint32_t l = 0; l < g->problem->level_count; l++) {
		double latency = g->problem->level[l].latency_s;

		for (uint32_t outer = 0; outer < child_count(g->problem, l + 1);
		     outer++) {
			uint32_t q = spread_over(g, l, outer, instance);

			if (q < 2)
				continue;
			sum += (q - 1) * latency;
			least = fmin(least, latency);
			top = latency;
		}
	}
	return sum + top - least;
}

static double exchange_latency(const struct gathering *g)
{
	double sum = 0;

	for (uint32_t l = 0; l < g->problem->level_count; l++) {
		const struct problem_level *level = &g->problem->level[l];
		uint32_t most = 0;

		if (!any_crosses(g, l))
			continue;
		for (uint32_t i = 0; i < g->instances; i++)
			for (uint32_t outer = 0;
			     outer < child_count(g->problem, l + 1); outer++)
				if (spread_over(g, l, outer, i) > most)
					most = spread_over(g, l, outer, i);
		sum += level->latency_s *
		       (level->kind == LEVEL_FULL ? 1 : most - 1.0);
		if (l > 0 && level->rails)
			sum += level[-1].latency_s;
	}
	return sum;
}

static double uneven(const struct gathering *g, enum collective kind,
		     double bytes)
{
	double around = 0, exchange = 0, latency = 0, overhead = 0, half;
	uint32_t top = 0;

	for (uint32_t l = 0; l < g->problem->level_count; l++) {
		if (!any_crosses(g, l))
			continue;
		top = l;
		overhead = fmax(overhead, g->problem->level[l].overhead_s);
	}
	for (uint32_t l = 0; l <= top; l++) {
		if (g->problem->level[l].kind == LEVEL_FULL && !any_crosses(g, l))
			continue;
		around = fmax(around, around_load(g, l));
		exchange = fmax(exchange, exchange_load(g, l));
	}
	for (uint32_t i = 0; i < g->instances; i++)
		latency = fmax(latency, around_latency(g, i));
	half = bytes * (g->members - 1.0) / g->members * around + latency;
	if (kind == COLLECTIVE_ALL_REDUCE)
		return 2 * half + overhead;
	if (kind == COLLECTIVE_BROADCAST)
		return bytes * around + latency + overhead;
	if (kind == COLLECTIVE_ALL_TO_ALL)
		return bytes * exchange + exchange_latency(g) + overhead;
	return half + overhead;
}

double brute_linear_time(const struct brute_pricing *pricing, enum group group,
			 enum collective kind, double bytes)
{
	struct group_shape shape = { { 0 }, { 0 }, { 0 } };
	struct gathering g;
	struct problem brief = *pricing->problem;
	bool offered = false;
	double time;

	gather(pricing, group, &g);
	if (g.members == 1 || bytes == 0)
		return 0;
	if (is_even(&g, &shape))
		return brute_collective(pricing->problem, &shape, kind, bytes);
	time = uneven(&g, kind, bytes);
	for (uint32_t l = 0; l < brief.level_count; l++) {
		if (brief.level[l].short_efficiency == 0)
			continue;
		offered |= any_crosses(&g, l);
		brief.level[l].efficiency = brief.level[l].short_efficiency;
		brief.level[l].overhead_s = brief.level[l].short_overhead_s;
	}
	g.problem = &brief;
	return offered ? fmin(time, uneven(&g, kind, bytes)) : time;
}

/* ---- transfers ---- */

static uint32_t level_between(const struct problem *problem, uint32_t a,
			      uint32_t b)
{
	uint32_t l = 0;

	while (a / child_size(problem, l + 1) != b / child_size(problem, l + 1))
		l++;
	return l;
}

uint32_t brute_linear_border(const struct brute_pricing *pricing, uint32_t a,
			     uint32_t b)
{
	uint32_t width = pricing->plan->devices / pricing->plan->choice.pipeline;
	const uint32_t *device = pricing->plan->device;
	uint32_t highest = 0;

	for (uint32_t i = 0; i < width && a != b; i++) {
		uint32_t l = level_between(pricing->problem,
					   device[a * width + i],
					   device[b * width + i]);

		if (l > highest)
			highest = l;
	}
	return highest;
}

/* Of transfers with the same highest level. */
struct seen {
	bool any, changes;		/* rails */
};

/* Transfers that leave a child of level l over all boundaries, or (last) from the last
 * rank to the first; notes those whose highest level is l. */
static uint32_t leaving(const struct brute_pricing *pricing, uint32_t l,
			uint32_t child, bool last, struct seen *seen)
{
	const struct problem *problem = pricing->problem;
	uint32_t p = pricing->plan->choice.pipeline;
	uint32_t width = pricing->plan->devices / p, count = 0;
	uint32_t size = child_size(problem, l), rails = problem->level[l].rails;

	for (uint32_t k = last ? p - 1 : 0; k < (last ? p : p - 1); k++)
		for (uint32_t i = 0; i < width; i++) {
			uint32_t a = pricing->plan->device[k * width + i];
			uint32_t b = pricing->plan->device[(k + 1) % p * width +
							   i];

			if (a / size != child || b / size == child)
				continue;
			count++;
			if (level_between(problem, a, b) != l)
				continue;
			seen->any = true;
			if (rails && a % size % rails != b % size % rails)
				seen->changes = true;
		}
	return count;
}

static double senders(const struct brute_pricing *pricing, uint32_t l,
		      struct seen *seen)
{
	uint32_t most = 1;

	for (uint32_t child = 0; child < child_count(pricing->problem, l); child++)
		for (int last = 0; last < 2; last++) {
			uint32_t count = leaving(pricing, l, child, last, seen);

			most = count > most ? count : most;
		}
	return most;
}

static struct network_line line_alone(const struct brute_pricing *pricing,
				      uint32_t l, bool *crossed)
{
	const struct problem *problem = pricing->problem;
	const struct problem_level *level = &problem->level[l];
	struct network_line line = { level->overhead_s + level->latency_s, 0 };
	struct seen seen = { false, false }, ignored;
	double Bps = level->efficiency *
		     brute_rate(problem, l, senders(pricing, l, &seen),
				level->kind == LEVEL_FULL ?
				1 / (level->fanout - 1.0) : 1);

	for (uint32_t j = 0; j < l; j++)
		if (problem->level[j].kind == LEVEL_SWITCH)
			Bps = fmin(Bps, problem->level[j].efficiency *
				   brute_rate(problem, j,
					      senders(pricing, j, &ignored), 1));
	line.s_per_byte = 1 / Bps;
	*crossed = seen.any;
	if (l > 0 && seen.changes) {
		line.latency_s += level[-1].latency_s;
		line.s_per_byte += 1 / port_Bps(&level[-1]);
	}
	return line;
}

struct network_line brute_linear_line(const struct brute_pricing *pricing,
				      uint32_t l)
{
	bool crossed;
	struct network_line line = line_alone(pricing, l, &crossed);

	for (uint32_t j = 0; j < l; j++) {
		struct network_line lower = line_alone(pricing, j, &crossed);

		if (!crossed)
			continue;
		line.latency_s = fmax(line.latency_s, lower.latency_s);
		line.s_per_byte = fmax(line.s_per_byte, lower.s_per_byte);
	}
	return line;
}

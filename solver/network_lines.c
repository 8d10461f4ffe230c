/* SPDX-License-Identifier: MIT
 *
 * Collectives as lines of latency and seconds per byte, one for every
 * algorithm and protocol: the formulas of network.h, one function each.
 */
#include "solver/network.h"

#include <math.h>
#include <string.h>

#include "solver/most.h"
#include "solver/network_rate.h"

/* A group's part in one level. */
struct reach {
	const struct problem_level *level;
	double members;			/* n_l */
	double inside;			/* N_l */
	double link_Bps;		/* R_l but for the switches inside, */
	double passed_Bps;		/* which let this through */
	double rate_Bps;		/* R_l */
	double reduction_Bps;		/* R'_l */
	double direct_s_per_byte;	/* of an all-to-all, on rings */
	double step_s;			/* x_l */
	double scatter_s;		/* H_l */
	double exchange_s;		/* latency of an all-to-all, */
	double spread_s;		/* and of a broadcast */
};

static uint32_t ceil_log2(uint32_t n)
{
	uint32_t bits = 0;

	while (n > 1u << bits)
		bits++;
	return bits;
}

static void reach_switch(struct reach *reach, double below,
			 const struct group_shape *shape, uint32_t l)
{
	const struct problem_level *level = reach->level;
	double n = reach->members, latency = level->latency_s;

	reach->rate_Bps = link_rate(level, below, shape->used[l], 1);
	reach->step_s = latency;
	reach->scatter_s = reach->exchange_s = (n - 1) * latency;
	reach->spread_s = ceil_log2(shape->members[l]) * latency;
}

static void reach_full(struct reach *reach, double below,
		       const struct group_shape *shape, uint32_t l)
{
	const struct problem_level *level = reach->level;

	reach->rate_Bps = link_rate(level, below, shape->used[l],
				    (reach->members - 1) / (level->fanout - 1));
	reach->step_s = reach->scatter_s = reach->exchange_s = reach->spread_s =
		level->latency_s;
}

static void reach_ring(struct reach *reach, double below,
		       const struct group_shape *shape, uint32_t l)
{
	const struct problem_level *level = reach->level;
	double n = reach->members, apart = shape->apart[l];
	double hop = apart * level->latency_s;
	bool closed = level->wrap && shape->apart[l] * shape->members[l] ==
					     level->fanout;

	double turns = (double)((uint64_t)shape->members[l] *
				shape->members[l] / 4) / n;
	double share = link_share(level, below, apart * shape->used[l],
				  closed ? 1 : 0.5);

	reach->rate_Bps = least(level->bandwidth_Bps, share);
	reach->direct_s_per_byte = most(turns / share, (n - 1) / n /
					level->bandwidth_Bps) / level->efficiency;
	reach->step_s = hop;
	reach->scatter_s = closed ? (n - 1) * hop : (2 * n - 3) * hop;
	reach->exchange_s = closed ? shape->members[l] / 2 * hop : (n - 1) * hop;
	reach->spread_s = (n - 1) * hop;
}

/* passed_Bps: what the switches inside let through. */
static struct reach reach_of(const struct problem_level *level,
			     const struct group_shape *shape, uint32_t l,
			     double below, double inside, double passed_Bps)
{
	struct reach reach = {
		.level = level,
		.members = shape->members[l],
		.inside = inside,
	};

	switch (level->kind) {
	case LEVEL_FULL:
		reach_full(&reach, below, shape, l);
		break;
	case LEVEL_RING:
		reach_ring(&reach, below, shape, l);
		break;
	default:
		reach_switch(&reach, below, shape, l);
	}
	reach.passed_Bps = passed_Bps;
	reach.reduction_Bps = least(passed_Bps, reach.rate_Bps *
		(level->reduction_efficiency > 0 ? level->reduction_efficiency :
						   level->efficiency));
	reach.link_Bps = reach.rate_Bps * level->efficiency;
	reach.rate_Bps = least(passed_Bps, reach.link_Bps);
	return reach;
}

/* The levels at which a group has members apart. */
struct span {
	struct reach reach[LEVEL_MAX];
	uint32_t count;
	double members;			/* n */
	double slowest_Bps;		/* min over l of N_l x R_l */
	double overhead_s;
	bool switches;			/* nothing but */
	bool reduces;			/* some level in the network */
};

static void span_of(const struct problem_level *levels, uint32_t level_count,
		    const struct group_shape *shape, struct span *span)
{
	double below = 1, passed_Bps = INFINITY;

	span->count = 0;
	span->members = 1;
	span->slowest_Bps = span->overhead_s = 0;
	span->switches = true;
	span->reduces = false;
	for (uint32_t l = 0; l < level_count; l++) {
		const struct problem_level *level = &levels[l];

		if (shape->members[l] > 1) {
			struct reach reach = reach_of(level, shape, l, below,
						      span->members, passed_Bps);
			double rate = reach.inside * reach.rate_Bps;

			if (!span->count || rate < span->slowest_Bps)
				span->slowest_Bps = rate;
			span->overhead_s = most(span->overhead_s,
						level->overhead_s);
			span->switches &= level->kind == LEVEL_SWITCH;
			span->reduces |= level->in_network_reduction;
			span->members *= reach.members;
			span->reach[span->count++] = reach;
		}
		passed_Bps = pass_switch(level, below, shape->used[l], passed_Bps);
		below *= level->fanout;
	}
}

/* ---- lines ---- */

/* Seconds per byte of a reduce-scatter through the dimensions of a torus one
 * after another. */
static double torus_in_turn(const struct reach *reach, uint32_t count)
{
	double s_per_byte = 0;

	for (uint32_t i = 0; i < count; i++)
		s_per_byte += (reach[i].members - 1) / reach[i].members /
			      reach[i].inside / reach[i].rate_Bps;
	return s_per_byte;
}

/* The same with the data in count parts, part k beginning at dimension k. */
static double torus_at_once(const struct reach *reach, uint32_t count)
{
	double part[LEVEL_MAX];		/* bytes of one byte left to part k */
	double s_per_byte = 0;

	for (uint32_t k = 0; k < count; k++)
		part[k] = 1 / reach[0].inside / count;
	for (uint32_t round = 0; round < count; round++) {
		double slowest = 0;

		for (uint32_t k = 0; k < count; k++) {
			const struct reach *at = &reach[(k + round) % count];

			slowest = most(slowest, (at->members - 1) / at->members *
						part[k] / at->rate_Bps);
			part[k] /= at->members;
		}
		s_per_byte += slowest;
	}
	return s_per_byte;
}

/* How many of the levels with members from here on are one torus. */
static uint32_t torus_count(const struct span *span, uint32_t from)
{
	uint32_t count = 1;

	while (from + count < span->count) {
		const struct problem_level *low = span->reach[from + count - 1].level;
		const struct problem_level *high = span->reach[from + count].level;

		for (const struct problem_level *at = low + 1; at <= high; at++)
			if (!at->joined)
				return count;
		count++;
	}
	return count;
}

/* Half of the hierarchical all-reduce: its reduce-scatter. */
static struct network_line line_scatter(const struct span *span)
{
	struct network_line line = { .latency_s = 0 };
	uint32_t count;

	for (uint32_t i = 0; i < span->count; i += count) {
		const struct reach *reach = &span->reach[i];
		double in_turn, at_once;

		count = torus_count(span, i);
		in_turn = torus_in_turn(reach, count);
		at_once = torus_at_once(reach, count);
		line.s_per_byte += at_once < in_turn ? at_once : in_turn;
		for (uint32_t j = 0; j < count; j++)
			line.latency_s += reach[j].scatter_s;
	}
	return line;
}

/* On its way through a torus below the highest level each copy of the flat ring
 * leaves out another hop; that to the next children of a dimension goes back
 * along those inside it. */
static struct network_line line_ring(const struct span *span)
{
	struct network_line line = { .latency_s = 0 };
	double n = span->members, slowest_Bps = INFINITY, shortest_s = INFINITY;

	for (uint32_t i = 0; i < span->count; i++) {
		const struct reach *reach = &span->reach[i];
		uint32_t torus = torus_count(span, i);
		const struct reach *last = reach + torus - 1;
		bool highest = i + torus == span->count;
		double block = last->inside * last->members;
		double visits = n / (reach->inside * reach->members);
		double rate = reach->link_Bps;

		if (!highest && reach->level->kind == LEVEL_RING)
			rate *= block / (block - reach->inside);
		slowest_Bps = least(slowest_Bps, reach->inside *
				    least(rate, reach->passed_Bps));
		shortest_s = least(shortest_s, reach->step_s);
		line.latency_s += visits * reach->scatter_s;
		if (torus > 1)
			line.latency_s += (highest ? visits : visits - n / block) *
					  reach->step_s;
	}
	line.latency_s += span->reach[span->count - 1].step_s - shortest_s;
	line.s_per_byte = (n - 1) / n / slowest_Bps;
	return line;
}

/* Of two trees over two children each carries half of the data, one way. */
static struct network_line line_tree(const struct span *span)
{
	const struct reach *top = &span->reach[span->count - 1];
	struct network_line line = { .latency_s = 0 };
	double slowest_Bps = INFINITY;

	for (uint32_t i = 0; i < span->count; i++) {
		const struct reach *reach = &span->reach[i];
		double rate = reach->inside * reach->rate_Bps;

		if (top->members <= 2)
			rate *= 2 * top->inside / (2 * top->inside - reach->inside);
		slowest_Bps = least(slowest_Bps, rate);
		line.latency_s += 2 * reach->spread_s;
	}
	line.s_per_byte = 2 / slowest_Bps;
	return line;
}

static struct network_line line_in_network(const struct span *span)
{
	struct network_line line = { .latency_s = 0 };

	for (uint32_t i = 0; i < span->count; i++) {
		const struct reach *reach = &span->reach[i];
		double n = reach->members;

		if (reach->level->in_network_reduction) {
			line.s_per_byte += (n + 1) / n / reach->inside /
					   reach->reduction_Bps;
			line.latency_s += 2 * reach->level->latency_s;
		} else {
			line.s_per_byte += 2 * (n - 1) / n / reach->inside /
					   reach->rate_Bps;
			line.latency_s += 2 * reach->scatter_s;
		}
	}
	return line;
}

/* What an all-to-all of one byte takes at one level: near is the share of it
 * that stays within the torus. */
static double direct_s_per_byte(const struct reach *reach, double members,
				double near,
				const struct problem_exchange *exchange)
{
	double n = reach->members;

	if (reach->level->kind == LEVEL_SWITCH)
		return (members - reach->inside) / members *
		       exchange_share(exchange, members / reach->inside) /
		       reach->rate_Bps;
	return most(near * most((n - 1) / n / reach->rate_Bps,
				reach->direct_s_per_byte),
		    (members - reach->inside) / members / reach->passed_Bps);
}

static struct network_line line_all_to_all(const struct span *span,
					   const struct problem_exchange *exchange)
{
	struct network_line line = { .latency_s = 0 };
	uint32_t end = 0;

	for (uint32_t i = 0; i < span->count; i++) {
		const struct reach *reach = &span->reach[i];
		const struct reach *last;

		if (i >= end)
			end = i + torus_count(span, i);
		last = &span->reach[end - 1];
		line.s_per_byte = most(line.s_per_byte, direct_s_per_byte(
			reach, span->members,
			last->inside * last->members / span->members, exchange));
		line.latency_s += reach->exchange_s;
		if (reach->level->rails && i)
			line.latency_s += span->reach[i - 1].step_s;
	}
	return line;
}

static struct network_line line_broadcast(const struct span *span)
{
	struct network_line line = { .s_per_byte = 1 / span->slowest_Bps };

	for (uint32_t i = 0; i < span->count; i++)
		line.latency_s += span->reach[i].spread_s;
	return line;
}

static struct network_line line_twice(const struct network_line *line)
{
	return (struct network_line){ 2 * line->latency_s, 2 * line->s_per_byte };
}

static void lines_add_overhead(struct protocol_lines *lines, double overhead_s)
{
	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		lines->all_reduce[i].latency_s += overhead_s;
	for (uint32_t i = 0; i < 2; i++)
		lines->half[i].latency_s += overhead_s;
	lines->all_to_all.latency_s += overhead_s;
	lines->broadcast.latency_s += overhead_s;
}

static struct protocol_lines lines_of(const struct span *span,
				      const struct problem_exchange *exchange)
{
	struct protocol_lines lines = {
		.half = { line_ring(span), line_scatter(span) },
		.all_to_all = line_all_to_all(span, exchange),
		.broadcast = line_broadcast(span),
	};

	lines.all_reduce[0] = line_twice(&lines.half[0]);
	lines.all_reduce[1] = line_twice(&lines.half[1]);
	lines.all_reduce[2] = span->switches ? line_tree(span) :
					       lines.all_reduce[0];
	lines.all_reduce[3] = span->reduces ? line_in_network(span) :
					      lines.all_reduce[1];
	lines_add_overhead(&lines, span->overhead_s);
	return lines;
}

bool network_short_levels(const struct problem *problem,
			  const struct group_shape *shape,
			  struct problem_level level[LEVEL_MAX])
{
	bool any = false;

	memcpy(level, problem->level, sizeof(problem->level));
	for (uint32_t l = 0; l < problem->level_count; l++) {
		level[l].in_network_reduction = false;
		if (!(level[l].short_efficiency > 0))
			continue;
		any |= shape->members[l] > 1;
		level[l].efficiency = level[l].short_efficiency;
		level[l].overhead_s = level[l].short_overhead_s;
	}
	return any;
}

struct network_lines network_lines(const struct problem *problem,
				   const struct group_shape *shape)
{
	struct network_lines lines = { .alone = true };
	struct problem_level level[LEVEL_MAX];
	struct span span;

	span_of(problem->level, problem->level_count, shape, &span);
	if (!span.count)
		return lines;
	lines.alone = false;
	lines.by[0] = lines.by[1] = lines_of(&span, &problem->exchange);
	lines.protocols = 1;
	if (network_short_levels(problem, shape, level)) {
		span_of(level, problem->level_count, shape, &span);
		lines.by[1] = lines_of(&span, &problem->exchange);
		lines.protocols = 2;
	}
	return lines;
}

static double line_at(const struct network_line *line, double bytes)
{
	return line->latency_s + bytes * line->s_per_byte;
}

/* The first of the cheapest of count lines. */
static uint32_t cheapest(const struct network_line *line, uint32_t count,
			 double bytes, double *time)
{
	uint32_t best = 0;

	*time = line_at(&line[0], bytes);
	for (uint32_t i = 1; i < count; i++) {
		double other = line_at(&line[i], bytes);

		if (other < *time) {
			*time = other;
			best = i;
		}
	}
	return best;
}

/* The time by one protocol. */
static double protocol_time(const struct protocol_lines *lines,
			    enum collective kind, double bytes,
			    enum algorithm *algorithm)
{
	static const enum algorithm named[NETWORK_LINES] = {
		ALGORITHM_RING, ALGORITHM_HIERARCHICAL, ALGORITHM_TREE,
		ALGORITHM_IN_NETWORK
	};
	double time;

	switch (kind) {
	case COLLECTIVE_ALL_TO_ALL:
		*algorithm = ALGORITHM_DIRECT;
		return line_at(&lines->all_to_all, bytes);
	case COLLECTIVE_BROADCAST:
		*algorithm = ALGORITHM_TREE;
		return line_at(&lines->broadcast, bytes);
	case COLLECTIVE_ALL_REDUCE:
		*algorithm = named[cheapest(lines->all_reduce, NETWORK_LINES,
					    bytes, &time)];
		return time;
	default:
		*algorithm = named[cheapest(lines->half, 2, bytes, &time)];
		return time;
	}
}

double network_time(const struct network_lines *lines, enum collective kind,
		    double bytes, enum algorithm *algorithm)
{
	enum algorithm best = ALGORITHM_NONE, other;
	double time = 0, other_time;

	if (!lines->alone && bytes > 0) {
		time = protocol_time(&lines->by[0], kind, bytes, &best);
		if (lines->protocols > 1) {
			other_time = protocol_time(&lines->by[1], kind, bytes,
						   &other);
			if (other_time < time) {
				time = other_time;
				best = other;
			}
		}
	}
	if (algorithm)
		*algorithm = best;
	return time;
}

double network_collective(const struct problem *problem,
			  const struct group_shape *shape,
			  enum collective kind, double bytes,
			  enum algorithm *algorithm)
{
	struct network_lines lines = network_lines(problem, shape);

	return network_time(&lines, kind, bytes, algorithm);
}

static bool line_covers(const struct network_line *line,
			const struct network_line *by)
{
	return by->latency_s <= line->latency_s &&
	       by->s_per_byte <= line->s_per_byte;
}

static bool protocol_covers(const struct protocol_lines *lines,
			    const struct protocol_lines *by)
{
	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		if (!line_covers(&lines->all_reduce[i], &by->all_reduce[i]))
			return false;
	for (uint32_t i = 0; i < 2; i++)
		if (!line_covers(&lines->half[i], &by->half[i]))
			return false;
	return line_covers(&lines->all_to_all, &by->all_to_all) &&
	       line_covers(&lines->broadcast, &by->broadcast);
}

bool network_lines_cover(const struct network_lines *lines,
			 const struct network_lines *by)
{
	if (by->alone || lines->alone)
		return by->alone;
	return protocol_covers(&lines->by[0], &by->by[0]) &&
	       (lines->protocols == 1 ||
		protocol_covers(&lines->by[1], &by->by[1]));
}

/* SPDX-License-Identifier: MIT
 *
 * The formulas of network.h, one function each.
 */
#include "solver/network.h"

static uint32_t column_product(const struct placement *placement, uint32_t level)
{
	uint32_t product = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		product *= placement->factor[d][level];
	return product;
}

/* The expert groups, innermost first. */
enum { EXPERT_GROUPS = 3 };

static const enum group expert_groups[EXPERT_GROUPS] = {
	GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_DATA
};

/* Deals the digits of a stage's ranks out to the expert groups; members[i] are
 * those of expert_groups[i] by level. False if a digit cannot be divided. */
static bool deal_digits(const struct problem *problem,
			const struct placement *placement,
			const struct problem_shape *shape,
			uint32_t members[EXPERT_GROUPS][LEVEL_MAX])
{
	static const enum dimension order[] = {
		DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA
	};
	uint32_t left[EXPERT_GROUPS] = { shape->expert_tensor, shape->expert,
					 UINT32_MAX };
	uint32_t group = 0;

	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t l = 0; l < problem->level_count; l++) {
			uint32_t digit = placement->factor[order[i]][l];

			while (digit > 1) {
				uint32_t part;

				while (left[group] == 1)
					group++;
				part = digit < left[group] ? digit : left[group];
				if (digit % part ||
				    (group < 2 && left[group] % part))
					return false;
				members[group][l] *= part;
				if (group < 2)
					left[group] /= part;
				digit /= part;
			}
		}
	}
	return left[0] == 1 && left[1] == 1;
}

bool network_experts_fit(const struct problem *problem,
			 const struct placement *placement,
			 const struct problem_shape *shape)
{
	uint32_t members[EXPERT_GROUPS][LEVEL_MAX] = { { 0 } };

	return deal_digits(problem, placement, shape, members);
}

static void expert_members(const struct problem *problem,
			   const struct placement *placement,
			   const struct problem_shape *shape, enum group group,
			   uint32_t *into)
{
	uint32_t members[EXPERT_GROUPS][LEVEL_MAX];

	for (uint32_t i = 0; i < EXPERT_GROUPS; i++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			members[i][l] = 1;
	deal_digits(problem, placement, shape, members);
	for (uint32_t i = 0; i < EXPERT_GROUPS; i++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			if (expert_groups[i] == group)
				into[l] = members[i][l];
}

struct group_shape network_group(const struct problem *problem,
				 const struct placement *placement,
				 const struct problem_shape *degrees,
				 enum group group)
{
	struct group_shape shape = { .members = { 0 } };
	uint32_t used = 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		shape.members[l] = 1;
		shape.used[l] = used;
		if (l >= problem->level_count)
			continue;
		if (group == GROUP_TENSOR)
			shape.members[l] = placement->factor[DIMENSION_TENSOR][l];
		if (group == GROUP_CONTEXT || group == GROUP_DATA_CONTEXT)
			shape.members[l] *= placement->factor[DIMENSION_CONTEXT][l];
		if (group == GROUP_DATA_CONTEXT)
			shape.members[l] *= placement->factor[DIMENSION_DATA][l];
		used *= column_product(placement, l);
	}
	if (group >= GROUP_EXPERT && degrees)
		expert_members(problem, placement, degrees, group,
			       shape.members);
	return shape;
}

/* rate_l(k), with below = C_l. */
static double level_rate(const struct problem_level *level, double below,
			 double senders)
{
	double share = below * level->bandwidth_Bps / level->oversubscription /
		       senders;
	double rate = level->bandwidth_Bps < share ? level->bandwidth_Bps : share;

	return level->efficiency * rate;
}

/* Facts about a group that all formulas need. */
struct group_walk {
	double members;			/* n */
	double slowest_Bps;		/* min over l of N_l x rate_l(U_l) */
	double largest_latency_s;
	double step_latency_s;		/* sum of ceil(log2 n_l) x latency_l */
};

static uint32_t ceil_log2(uint32_t n)
{
	uint32_t bits = 0;

	while (n > 1u << bits)
		bits++;
	return bits;
}

static struct group_walk walk_group(const struct problem *problem,
				    const struct group_shape *shape)
{
	struct group_walk walk = { .members = 1 };
	double below = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];
		uint32_t n = shape->members[l];

		if (n > 1) {
			double rate = walk.members *
				      level_rate(level, below, shape->used[l]);

			if (walk.members <= 1 || rate < walk.slowest_Bps)
				walk.slowest_Bps = rate;
			if (level->latency_s > walk.largest_latency_s)
				walk.largest_latency_s = level->latency_s;
			walk.step_latency_s += ceil_log2(n) * level->latency_s;
			walk.members *= n;
		}
		below *= level->fanout;
	}
	return walk;
}

static void add_hierarchical(const struct problem_level *level, double n,
			     double shard, double rate,
			     struct network_lines *lines)
{
	struct network_line *whole = &lines->all_reduce[1];
	struct network_line *half = &lines->half[1];

	half->s_per_byte += (n - 1) / n * shard / rate;
	half->latency_s += (n - 1) * level->latency_s;
	if (level->in_network_reduction) {
		whole->s_per_byte += shard / rate;
		whole->latency_s += 2 * level->latency_s;
	} else {
		whole->s_per_byte += 2 * (n - 1) / n * shard / rate;
		whole->latency_s += 2 * (n - 1) * level->latency_s;
	}
}

/* Everything but ring and tree, which need the whole walk. */
static void add_levels(const struct problem *problem,
		       const struct group_shape *shape, double members,
		       struct network_lines *lines)
{
	double below = 1, inside = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];
		double n = shape->members[l];

		if (n > 1) {
			double rate = level_rate(level, below, shape->used[l]);
			double direct = (members - inside) / members / rate;

			add_hierarchical(level, n, 1 / inside, rate, lines);
			if (direct > lines->all_to_all.s_per_byte)
				lines->all_to_all.s_per_byte = direct;
			lines->all_to_all.latency_s += (n - 1) * level->latency_s;
			inside *= n;
		}
		below *= level->fanout;
	}
}

struct network_lines network_lines(const struct problem *problem,
				   const struct group_shape *shape)
{
	struct network_lines lines = { .alone = true };
	struct group_walk walk = walk_group(problem, shape);
	double n = walk.members;

	if (walk.members <= 1)
		return lines;
	lines.alone = false;
	lines.half[0].s_per_byte = (n - 1) / n / walk.slowest_Bps;
	lines.half[0].latency_s = (n - 1) * walk.largest_latency_s;
	lines.all_reduce[0].s_per_byte = 2 * lines.half[0].s_per_byte;
	lines.all_reduce[0].latency_s = 2 * lines.half[0].latency_s;
	lines.all_reduce[2].s_per_byte = 2 / walk.slowest_Bps;
	lines.all_reduce[2].latency_s = 2 * walk.step_latency_s;
	add_levels(problem, shape, walk.members, &lines);
	return lines;
}

static double line_at(const struct network_line *line, double bytes)
{
	return line->latency_s + bytes * line->s_per_byte;
}

double network_time(const struct network_lines *lines, enum collective kind,
		    double bytes, enum algorithm *algorithm)
{
	static const enum algorithm named[3] = {
		ALGORITHM_RING, ALGORITHM_HIERARCHICAL, ALGORITHM_TREE
	};
	bool whole = kind == COLLECTIVE_ALL_REDUCE;
	const struct network_line *line = whole ? lines->all_reduce : lines->half;
	enum algorithm best = named[0];
	double time;

	if (algorithm)
		*algorithm = ALGORITHM_NONE;
	if (lines->alone || bytes <= 0)
		return 0;
	if (kind == COLLECTIVE_ALL_TO_ALL) {
		if (algorithm)
			*algorithm = ALGORITHM_DIRECT;
		return line_at(&lines->all_to_all, bytes);
	}
	time = line_at(&line[0], bytes);
	for (uint32_t i = 1; i < (whole ? 3 : 2); i++) {
		double other = line_at(&line[i], bytes);

		if (other < time) {
			time = other;
			best = named[i];
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

uint32_t network_pipeline_level(const struct problem *problem,
				const struct placement *placement,
				uint32_t a, uint32_t b)
{
	uint32_t highest = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t base = placement->factor[DIMENSION_PIPELINE][l];

		if (a % base != b % base)
			highest = l;
		a /= base;
		b /= base;
	}
	return highest;
}

struct network_line network_transfer_line(const struct problem *problem,
					  const struct placement *placement,
					  uint32_t level)
{
	double below = 1, senders = 1;

	for (uint32_t l = 0; l < level; l++) {
		uint32_t ranks = placement->factor[DIMENSION_PIPELINE][l];

		below *= problem->level[l].fanout;
		senders *= column_product(placement, l) / ranks;
	}
	return (struct network_line){
		.latency_s = problem->level[level].latency_s,
		.s_per_byte = 1 / level_rate(&problem->level[level], below,
					     senders),
	};
}

double network_transfer(const struct problem *problem,
			const struct placement *placement, uint32_t level,
			double bytes)
{
	struct network_line line = network_transfer_line(problem, placement,
							 level);

	return line.latency_s + bytes * line.s_per_byte;
}

uint32_t network_device(const struct problem *problem,
			const struct placement *placement,
			const uint32_t coordinate[DIMENSION_COUNT])
{
	uint32_t rest[DIMENSION_COUNT];
	uint32_t device = 0, below = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		rest[d] = coordinate[d];
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t position = 0, stride = 1;

		for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
			uint32_t base = placement->factor[d][l];

			position += rest[d] % base * stride;
			rest[d] /= base;
			stride *= base;
		}
		device += position * below;
		below *= problem->level[l].fanout;
	}
	return device;
}

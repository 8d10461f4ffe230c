/* SPDX-License-Identifier: MIT
 *
 * What groups and transfers cost under a linear placement.
 */
#include "solver/linear.h"

#include <math.h>

#include "solver/most.h"
#include "solver/network_rate.h"
#include "solver/placement.h"

/* What one instance has in the child of a level that is being walked. */
struct open_child {
	uint32_t child;			/* counted over the whole network */
	uint32_t members;		/* m */
	uint32_t parts;			/* q: children of the level below with members */
	uint32_t least;			/* f of these, at least */
};

/* Ranks of an instance in one child of a full level. */
struct run {
	uint32_t child, members;
};

/* What all instances of a group make of the levels; index level_count is the whole
 * network. */
struct survey {
	const struct problem *problem;
	uint32_t below[LEVEL_MAX + 1];		/* C_l */
	uint32_t members;			/* n */
	uint32_t least[LEVEL_MAX + 1], most[LEVEL_MAX + 1];	/* m */
	uint32_t copies[LEVEL_MAX + 1];		/* N_l; 0: nobody leaves */
	uint32_t parts[LEVEL_MAX + 1];		/* most q of a child */
	uint32_t *leaving[LEVEL_MAX];		/* by child: instances */
	double *sent[LEVEL_MAX];		/* by child: sum of m (n - m) or m w */
	uint32_t staying[LEVEL_MAX];		/* least m of a child that is left */
	struct run *run[LEVEL_MAX];		/* full levels: in the open parent */
	uint32_t run_count[LEVEL_MAX];
	double around_s;
};

static void survey_open(struct survey *survey, const struct problem *problem,
			uint32_t members, struct arena *scratch)
{
	*survey = (struct survey){ .problem = problem, .members = members,
				   .below = { 1 } };
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t children = problem->device_count / survey->below[l];

		survey->below[l + 1] = survey->below[l] * problem->level[l].fanout;
		survey->leaving[l] = ARENA_ARRAY(scratch, uint32_t, children);
		survey->sent[l] = ARENA_ARRAY(scratch, double, children);
		survey->run[l] = ARENA_ARRAY(scratch, struct run, members);
	}
}

/* Adds m w for the children of a full level in one parent. */
static void add_runs(struct survey *survey, uint32_t l)
{
	struct run *run = survey->run[l];
	uint32_t first = 0, second = 0;

	for (uint32_t i = 0; i < survey->run_count[l]; i++) {
		uint32_t m = run[i].members;

		second = m > first ? first : m > second ? m : second;
		first = m > first ? m : first;
	}
	for (uint32_t i = 0; i < survey->run_count[l]; i++) {
		uint32_t m = run[i].members;
		uint32_t other = m == first ? second : first;

		survey->sent[l][run[i].child] += (double)m * other;
	}
	survey->run_count[l] = 0;
}

/* An instance has left the child of a level behind: notes it, and what it is to the
 * child around. Returns the hops across the level below. */
static uint32_t close_child(struct survey *survey, uint32_t l,
			    const struct open_child *open,
			    struct open_child *around)
{
	uint32_t m = open->members, n = survey->members;
	uint32_t f = l ? open->parts * open->least : 1;

	if (!survey->least[l] || m < survey->least[l])
		survey->least[l] = m;
	if (m > survey->most[l])
		survey->most[l] = m;
	if (open->parts > survey->parts[l])
		survey->parts[l] = open->parts;
	if (l && survey->problem->level[l - 1].kind == LEVEL_FULL)
		add_runs(survey, l - 1);
	if (m < n) {
		if (!survey->copies[l] || f < survey->copies[l])
			survey->copies[l] = f;
		if (!survey->staying[l] || m < survey->staying[l])
			survey->staying[l] = m;
		survey->leaving[l][open->child]++;
		if (survey->problem->level[l].kind != LEVEL_FULL)
			survey->sent[l][open->child] += (double)m * (n - m);
		else
			survey->run[l][survey->run_count[l]++] =
				(struct run){ open->child, m };
	}
	if (around) {
		around->members += m;
		if (!around->parts++ || f < around->least)
			around->least = f;
	}
	return open->parts > 1 ? open->parts - 1 : 0;
}

/* Walks over one instance, whose devices ascend. */
static void survey_instance(struct survey *survey, const uint32_t *device,
			    uint32_t stride)
{
	uint32_t top = survey->problem->level_count, highest = 0;
	struct open_child open[LEVEL_MAX + 1] = { { .child = 0 } };
	double around_s = 0, least_s = INFINITY;

	for (uint32_t j = 0; j <= survey->members; j++) {
		uint32_t at = j < survey->members ? device[(size_t)j * stride] : 0;

		for (uint32_t l = 0; l <= top; l++) {
			uint32_t hops;

			if (j && j < survey->members &&
			    at / survey->below[l] == open[l].child)
				break;
			if (j) {
				hops = close_child(survey, l, &open[l],
						   l < top ? &open[l + 1] : NULL);
				if (hops) {
					double x = survey->problem->level[l - 1].latency_s;

					around_s += hops * x;
					least_s = x < least_s ? x : least_s;
					highest = l - 1 > highest ? l - 1 : highest;
				}
			}
			open[l] = (struct open_child){
				.child = at / survey->below[l],
				.members = !l,
			};
		}
	}
	around_s += survey->problem->level[highest].latency_s - least_s;
	survey->around_s = most(survey->around_s, around_s);
}

/* Ranks r of a stage that make up an instance: base + j x stride. */
struct pattern {
	uint32_t members, stride;
};

static struct pattern pattern_of(const struct placement *placement,
				 const struct problem_shape *shape,
				 enum group group)
{
	uint32_t t = placement->factor[DIMENSION_TENSOR][0];
	uint32_t c = placement->factor[DIMENSION_CONTEXT][0];
	uint32_t d = placement->factor[DIMENSION_DATA][0];
	uint32_t x = shape->expert_tensor ? shape->expert_tensor : 1;
	uint32_t e = shape->expert ? shape->expert : 1;

	switch (group) {
	case GROUP_TENSOR:
		return (struct pattern){ t, 1 };
	case GROUP_CONTEXT:
		return (struct pattern){ c, t };
	case GROUP_DATA_CONTEXT:
		return (struct pattern){ c * d, t };
	case GROUP_EXPERT_TENSOR:
		return (struct pattern){ x, 1 };
	case GROUP_EXPERT:
		return (struct pattern){ e, x };
	default:
		return (struct pattern){ t * c * d / (x * e), x * e };
	}
}

static uint32_t rank_count(const struct placement *placement)
{
	uint32_t count = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		count *= placement->factor[d][0];
	return count;
}

static bool is_even(const struct survey *survey)
{
	for (uint32_t l = 0; l <= survey->problem->level_count; l++)
		if (survey->least[l] != survey->most[l])
			return false;
	return true;
}

/* The most devices used in a child of each level. */
static void count_used(const struct survey *survey, const uint32_t *device,
		       uint32_t count, struct arena *scratch, uint32_t *used)
{
	for (uint32_t l = 0; l < survey->problem->level_count; l++) {
		uint32_t *in = ARENA_ARRAY(scratch, uint32_t,
			survey->problem->device_count / survey->below[l]);

		used[l] = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t *child = &in[device[i] / survey->below[l]];

			if (++*child > used[l])
				used[l] = *child;
		}
	}
}

static struct network_lines even_lines(const struct survey *survey,
				       const struct placement *placement,
				       const uint32_t *device,
				       struct arena *scratch)
{
	const struct problem *problem = survey->problem;
	struct group_shape shape = { .members = { 0 } };

	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		shape.members[l] = shape.apart[l] = shape.used[l] = 1;
	for (uint32_t l = 0; l < problem->level_count; l++)
		shape.members[l] = survey->most[l + 1] / survey->most[l];
	count_used(survey, device, rank_count(placement), scratch, shape.used);
	return network_lines(problem, &shape);
}

/* Bytes per second of a device's port into a level, and of a child's links. */
static double port_Bps(const struct problem_level *level)
{
	return level->efficiency * level->bandwidth_Bps;
}

static double links_Bps(const struct problem_level *level, uint32_t below)
{
	return level->efficiency * link_share(level, below, 1, 1);
}

/* The largest g_l and h_l. */
static void worst_levels(const struct survey *survey,
			 const struct problem_level *levels, double *around_spb,
			 double *exchange_spb)
{
	double n = survey->members;

	*around_spb = *exchange_spb = 0;
	for (uint32_t l = 0; l < survey->problem->level_count; l++) {
		const struct problem_level *level = &levels[l];
		uint32_t children = survey->problem->device_count /
				    survey->below[l];
		double port = 1 / port_Bps(level), instances = 0, sent = 0;
		double link = (level->kind == LEVEL_FULL ? level->fanout - 1 : 1) /
			      links_Bps(level, survey->below[l]);

		if (!survey->copies[l] ||
		    (level->kind == LEVEL_FULL && survey->parts[l + 1] < 2))
			continue;
		for (uint32_t i = 0; i < children; i++) {
			instances = most(instances, survey->leaving[l][i]);
			sent = most(sent, survey->sent[l][i]);
		}
		*around_spb = most(*around_spb, most(port / survey->copies[l],
						     instances * link));
		*exchange_spb = most(*exchange_spb,
				     most((n - survey->staying[l]) / n * port,
					  sent / n * link));
	}
}

/* Latency of an all-to-all, and the largest overhead of the levels crossed. */
static double exchange_latency(const struct survey *survey,
			       const struct problem_level *levels,
			       double *overhead_s)
{
	double latency_s = 0;

	*overhead_s = 0;
	for (uint32_t l = 0; l < survey->problem->level_count; l++) {
		const struct problem_level *level = &levels[l];
		uint32_t parts = survey->parts[l + 1];

		if (parts < 2)
			continue;
		*overhead_s = most(*overhead_s, level->overhead_s);
		latency_s += level->kind == LEVEL_FULL ?
				     level->latency_s :
				     (parts - 1) * level->latency_s;
		if (l && level->rails)
			latency_s += level[-1].latency_s;
	}
	return latency_s;
}

/* Lines of a group of so many that has nothing but a ring. */
static struct protocol_lines ring_lines(double members,
					struct network_line around,
					struct network_line exchange,
					double overhead_s)
{
	struct network_line half = {
		around.latency_s + overhead_s,
		(members - 1) / members * around.s_per_byte,
	};
	struct protocol_lines lines = {
		.half = { half, half },
		.all_to_all = { exchange.latency_s + overhead_s,
				exchange.s_per_byte },
		.broadcast = { half.latency_s, around.s_per_byte },
	};

	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		lines.all_reduce[i] = (struct network_line){
			2 * around.latency_s + overhead_s, 2 * half.s_per_byte
		};
	return lines;
}

static struct protocol_lines protocol_of(const struct survey *survey,
					 const struct problem_level *levels)
{
	struct network_line around = { .latency_s = survey->around_s };
	struct network_line exchange;
	double overhead_s;

	exchange.latency_s = exchange_latency(survey, levels, &overhead_s);
	worst_levels(survey, levels, &around.s_per_byte, &exchange.s_per_byte);
	return ring_lines(survey->members, around, exchange, overhead_s);
}

static struct network_lines uneven_lines(const struct survey *survey)
{
	struct network_lines lines = { .protocols = 1 };
	struct problem_level level[LEVEL_MAX];
	struct group_shape crossed = { .members = { 0 } };

	for (uint32_t l = 0; l < survey->problem->level_count; l++)
		crossed.members[l] = survey->parts[l + 1];
	lines.by[0] = lines.by[1] =
		protocol_of(survey, survey->problem->level);
	if (network_short_levels(survey->problem, &crossed, level)) {
		lines.by[1] = protocol_of(survey, level);
		lines.protocols = 2;
	}
	return lines;
}

/* Walks over all instances of a group. */
static void survey_group(struct survey *survey, const struct problem *problem,
			 const struct placement *placement,
			 const struct pattern *pattern, const uint32_t *device,
			 struct arena *scratch)
{
	uint32_t pipeline = placement->factor[DIMENSION_PIPELINE][0];
	uint32_t width = rank_count(placement) / pipeline;

	survey_open(survey, problem, pattern->members, scratch);
	for (uint32_t r = 0; r < pipeline * width; r++)
		/* The first rank of an instance. */
		if (r % width / pattern->stride % pattern->members == 0)
			survey_instance(survey, device + r, pattern->stride);
}

void linear_reach(const struct problem *problem, const struct placement *placement,
		  const struct problem_shape *shape, const uint32_t *device,
		  enum group group, struct arena *scratch,
		  struct placement_reach *reach)
{
	struct pattern pattern = pattern_of(placement, shape, group);
	struct arena_mark mark = arena_mark(scratch);
	struct survey survey;

	reach->members = pattern.members;
	survey_group(&survey, problem, placement, &pattern, device, scratch);
	for (uint32_t l = 0; l <= problem->level_count; l++) {
		struct placement_part *part = &reach->level[l];
		uint32_t sides = 1;

		part->least = survey.least[l];
		part->most = survey.most[l];
		part->copies = survey.copies[l];
		if (l == problem->level_count)
			break;
		part->crossed = survey.parts[l + 1] > 1;
		for (uint32_t i = 0; i < problem->device_count / survey.below[l]; i++)
			if (survey.leaving[l][i] > part->sharers)
				part->sharers = survey.leaving[l][i];
		/* Even groups go all ways at once over full levels. */
		if (part->crossed && is_even(&survey))
			sides = survey.parts[l + 1] - 1;
		part->share = problem->level[l].kind == LEVEL_FULL ?
			(double)sides / (problem->level[l].fanout - 1) : 1;
	}
	arena_rewind(scratch, mark);
}

struct network_lines linear_lines(const struct problem *problem,
				  const struct placement *placement,
				  const struct problem_shape *shape,
				  const uint32_t *device, enum group group,
				  struct arena *scratch)
{
	struct pattern pattern = pattern_of(placement, shape, group);
	struct arena_mark mark = arena_mark(scratch);
	struct network_lines lines = { .alone = true };
	struct survey survey;

	if (pattern.members < 2)
		return lines;
	survey_group(&survey, problem, placement, &pattern, device, scratch);
	lines = is_even(&survey) ?
		even_lines(&survey, placement, device, scratch) :
		uneven_lines(&survey);
	arena_rewind(scratch, mark);
	return lines;
}

static struct protocol_lines least_by(const struct problem *problem,
				      const struct problem_level *levels,
				      uint32_t members)
{
	struct network_line around = { INFINITY, INFINITY };
	struct network_line exchange = { INFINITY, INFINITY };
	double n = members, overhead_s = INFINITY;
	uint64_t below = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &levels[l];
		/* Members of the child that has least. */
		double few = floor(n / most(2, ceil(n / (double)below)));
		double port = 1 / port_Bps(level);

		around.latency_s = least(around.latency_s,
					 (n - 1) * level->latency_s);
		/* The highest level that is crossed is above 0, and joins as many
		 * devices as there are members. */
		if (l && below * level->fanout >= members) {
			around.s_per_byte = least(around.s_per_byte,
				most(port / few,
				     1 / links_Bps(level, (uint32_t)below)));
			exchange.latency_s = least(exchange.latency_s,
						   level->latency_s);
			exchange.s_per_byte = least(exchange.s_per_byte,
						    (n - few) / n * port);
			overhead_s = least(overhead_s, level->overhead_s);
		}
		below *= level->fanout;
	}
	return ring_lines(n, around, exchange, overhead_s);
}

bool linear_least(const struct problem *problem, uint32_t members,
		  struct network_lines *lines)
{
	struct problem_level level[LEVEL_MAX];
	struct group_shape crossed;

	if (members < 2 || problem->level_count < 2 ||
	    members > problem->device_count || !linear_is_possible(problem))
		return false;
	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		crossed.members[l] = 2;
	*lines = (struct network_lines){ .protocols = 1 };
	lines->by[0] = lines->by[1] =
		least_by(problem, problem->level, members);
	if (network_short_levels(problem, &crossed, level)) {
		lines->by[1] = least_by(problem, level, members);
		lines->protocols = 2;
	}
	return true;
}

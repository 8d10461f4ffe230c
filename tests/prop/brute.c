/* SPDX-License-Identifier: MIT
 *
 * Exhaustive enumeration, as plainly as it can be written: nested loops over
 * degrees, factor matrices and cuts; every plan priced from scratch. Nothing
 * is bounded or skipped but what the space itself excludes.
 */
#include "tests/prop/brute.h"

#include <math.h>
#include <string.h>

#define OPERATION_MAX (2 * BRUTE_BATCH_MAX * BRUTE_STAGE_MAX)

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- network ---- */

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

static double rate(const struct problem *problem, uint32_t l, double k, double w)
{
	return fmin(uplink(problem, l, k, w), problem->level[l].bandwidth_Bps);
}

/* A rate at level l, or less where the switches below let through less to
 * used[i] / ranks[i] senders. */
static double through(const struct problem *problem, uint32_t l, double Bps,
		      const uint32_t *used, const uint32_t *ranks)
{
	for (uint32_t i = 0; i < l; i++)
		if (problem->level[i].kind == LEVEL_SWITCH)
			Bps = fmin(Bps, problem->level[i].efficiency *
				   rate(problem, i,
					(double)used[i] / ranks[i], 1));
	return Bps;
}

static const uint32_t all_ranks[LEVEL_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1 };

static bool is_ring(const struct problem *problem, uint32_t l)
{
	return problem->level[l].kind == LEVEL_RING;
}

static bool is_full(const struct problem *problem, uint32_t l)
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

	if (is_ring(problem, l))
		return rate(problem, l, used * group->apart[l],
			    is_closed(problem, group, l) ? 1 : 0.5);
	if (is_full(problem, l))
		return rate(problem, l, used, (group->members[l] - 1.0) /
					      (problem->level[l].fanout - 1.0));
	return rate(problem, l, used, 1);
}

static double speed(const struct problem *problem,
		    const struct group_shape *group, uint32_t l)
{
	return through(problem, l, problem->level[l].efficiency *
		       reached(problem, group, l), group->used, all_ranks);
}

/* What the switches inside let through. */
static double passed(const struct problem *problem,
		     const struct group_shape *group, uint32_t l)
{
	return through(problem, l, INFINITY, group->used, all_ranks);
}

/* x_l. */
static double step(const struct problem *problem,
		   const struct group_shape *group, uint32_t l)
{
	double latency = problem->level[l].latency_s;

	return is_ring(problem, l) ? latency * group->apart[l] : latency;
}

/* H_l. */
static double scatter(const struct problem *problem,
		      const struct group_shape *group, uint32_t l)
{
	double n = group->members[l];

	if (is_full(problem, l))
		return step(problem, group, l);
	if (is_ring(problem, l) && !is_closed(problem, group, l))
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
		if (inside * block < n && is_ring(problem, l))
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
		if (is_full(problem, l))
			total += latency;
		else if (is_ring(problem, l))
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
				 through(problem, l,
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
		if (is_full(problem, l)) {
			sent = (m - 1.0) / m * near;
			wait = 1;
		}
		if (is_ring(problem, l)) {
			bool closed = is_closed(problem, group, l);
			double links = uplink(problem, l, group->used[l] *
					      group->apart[l], closed ? 1 : 0.5);

			sent = (m - 1.0) / m * near;
			worst = fmax(worst, (double)(m * m / 4) / m * near * bytes /
					    links / problem->level[l].efficiency);
			wait = group->apart[l] *
			       (is_closed(problem, group, l) ? m / 2 : m - 1);
		}
		worst = fmax(worst, sent * bytes / speed(problem, group, l));
		worst = fmax(worst, (n - inside) / n * bytes /
				    passed(problem, group, l));
		latency += wait * problem->level[l].latency_s;
		if (problem->level[l].rails && inside > 1)
			latency += below;
		below = step(problem, group, l);
		inside *= m;
	}
	return worst + latency;
}

double brute_collective(const struct problem *problem,
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

/* ---- schedule ---- */

static struct brute_operation nth(uint32_t p, uint32_t v, uint32_t q,
				  bool backward)
{
	struct brute_operation operation = { .backward = backward };

	if (v == 1) {
		operation.micro_batch = q;
		return operation;
	}
	operation.micro_batch = q / (p * v) * p + q % p;
	operation.chunk = q % (p * v) / p;
	if (backward)
		operation.chunk = v - 1 - operation.chunk;
	return operation;
}

uint32_t brute_order(uint32_t p, uint32_t v, uint32_t m, uint32_t k,
		     struct brute_operation *operation)
{
	uint32_t warm, forward = 0, backward = 0, count = 0;

	if (v == 1)
		warm = smaller(p - 1 - k, m);
	else
		warm = smaller(2 * (p - 1 - k) + (v - 1) * p, m * v);
	while (forward < warm)
		operation[count++] = nth(p, v, forward++, false);
	while (forward < m * v) {
		operation[count++] = nth(p, v, forward++, false);
		operation[count++] = nth(p, v, backward++, true);
	}
	while (backward < m * v)
		operation[count++] = nth(p, v, backward++, true);
	return count;
}

/* Sweeps over the devices, each running whatever it can, until all is done. */
double brute_schedule(uint32_t p, uint32_t v, uint32_t m,
		      const double *forward_s, const double *backward_s,
		      const double *transfer_s, double *finish_s)
{
	static struct brute_operation order[BRUTE_STAGE_MAX][OPERATION_MAX];
	static double end[2][BRUTE_STAGE_MAX][BRUTE_BATCH_MAX];
	uint32_t next[BRUTE_STAGE_MAX] = { 0 }, last = p * v - 1;
	bool moved = true;
	double latest = 0;

	for (uint32_t k = 0; k < p; k++) {
		brute_order(p, v, m, k, order[k]);
		finish_s[k] = 0;
	}
	for (uint32_t c = 0; c <= last; c++)
		for (uint32_t i = 0; i < m; i++)
			end[0][c][i] = end[1][c][i] = -1;
	while (moved) {
		moved = false;
		for (uint32_t k = 0; k < p; k++) {
			while (next[k] < 2 * m * v) {
				struct brute_operation o = order[k][next[k]];
				uint32_t c = o.chunk * p + k, i = o.micro_batch;
				double start = finish_s[k];

				if (o.backward) {
					if (end[0][c][i] < 0 ||
					    (c < last && end[1][c + 1][i] < 0))
						break;
					start = fmax(start, end[0][c][i]);
					if (c < last)
						start = fmax(start,
							end[1][c + 1][i] +
							transfer_s[c]);
					finish_s[k] = start + backward_s[c];
				} else {
					if (c > 0 && end[0][c - 1][i] < 0)
						break;
					if (c > 0)
						start = fmax(start,
							end[0][c - 1][i] +
							transfer_s[c - 1]);
					finish_s[k] = start + forward_s[c];
				}
				end[o.backward][c][i] = finish_s[k];
				next[k]++;
				moved = true;
			}
		}
	}
	for (uint32_t k = 0; k < p; k++) {
		if (next[k] < 2 * m * v)
			return -1;
		latest = fmax(latest, finish_s[k]);
	}
	return latest;
}

double brute_activations(uint32_t p, uint32_t v, uint32_t m, uint32_t k,
			 const double *saved_bytes)
{
	static struct brute_operation order[OPERATION_MAX];
	uint32_t count = brute_order(p, v, m, k, order);
	double now = 0, peak = 0;

	for (uint32_t q = 0; q < count; q++) {
		if (order[q].backward)
			now -= saved_bytes[order[q].chunk];
		else
			now += saved_bytes[order[q].chunk];
		peak = fmax(peak, now);
	}
	return peak;
}

/* ---- one plan ---- */

struct pricing {
	const struct problem *problem;
	struct brute_plan *plan;
	const struct problem_shape *shape;
	uint32_t layer_count;
	uint32_t layer_class[BRUTE_CHAIN_MAX];
	uint32_t used[LEVEL_MAX];
	/* per class, communication included */
	double forward_s[BRUTE_CHAIN_MAX], backward_s[BRUTE_CHAIN_MAX];
};

static void unroll(struct pricing *pricing)
{
	pricing->layer_count = 0;
	for (uint32_t r = 0; r < pricing->problem->run_count; r++)
		for (uint32_t i = 0; i < pricing->problem->run[r].count; i++)
			pricing->layer_class[pricing->layer_count++] =
				pricing->problem->run[r].class_index;
}

/* The digits of a rank within its stage, dealt out: part[g][d][l] of the factor
 * of dimension d at level l goes to expert tensor (g = 0), expert (1) and expert
 * data (2), the one before being the inner. */
struct expert_parts {
	uint32_t part[3][DIMENSION_PIPELINE][LEVEL_MAX];
};

/* False if the placement does not fit the expert degrees. */
static bool deal_experts(const struct problem *problem,
			 const struct problem_shape *shape,
			 const struct placement *placement,
			 struct expert_parts *dealt)
{
	uint32_t left[2] = { shape->expert_tensor, shape->expert };

	for (uint32_t d = 0; d < DIMENSION_PIPELINE; d++) {
		for (uint32_t l = 0; l < problem->level_count; l++) {
			uint32_t rest = placement->factor[d][l];

			for (uint32_t g = 0; g < 2; g++) {
				uint32_t take = smaller(rest, left[g]);

				if (rest % take != 0 || left[g] % take != 0)
					return false;
				dealt->part[g][d][l] = take;
				left[g] /= take;
				rest /= take;
			}
			dealt->part[2][d][l] = rest;
		}
	}
	return true;
}

static void expert_group(const struct pricing *pricing, uint32_t g,
			 struct group_shape *shape)
{
	struct expert_parts dealt;

	deal_experts(pricing->problem, pricing->shape,
		     &pricing->plan->placement, &dealt);
	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		uint32_t members = 1, stretch = 1, before = 1;

		for (uint32_t d = 0; d < DIMENSION_PIPELINE; d++) {
			for (uint32_t i = 0; i < 3; i++) {
				before *= dealt.part[i][d][l];
				if (i != g || dealt.part[i][d][l] == 1)
					continue;
				members *= dealt.part[i][d][l];
				stretch = before;
			}
		}
		shape->used[l] = pricing->used[l];
		shape->members[l] = members;
		shape->apart[l] = stretch / members;
	}
}

static void group_of(const struct pricing *pricing, enum group group,
		     struct group_shape *shape)
{
	const struct placement *f = &pricing->plan->placement;

	if (group == GROUP_EXPERT_TENSOR)
		expert_group(pricing, 0, shape);
	if (group == GROUP_EXPERT)
		expert_group(pricing, 1, shape);
	if (group == GROUP_EXPERT_DATA)
		expert_group(pricing, 2, shape);
	if (group >= GROUP_EXPERT)
		return;

	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		uint32_t t = f->factor[DIMENSION_TENSOR][l];
		uint32_t c = f->factor[DIMENSION_CONTEXT][l];
		uint32_t d = f->factor[DIMENSION_DATA][l];

		shape->used[l] = pricing->used[l];
		shape->members[l] = group == GROUP_TENSOR ? t :
				    group == GROUP_CONTEXT ? c : c * d;
		shape->apart[l] = group == GROUP_TENSOR ? 1 : t;
	}
}

static double group_time(const struct pricing *pricing, enum group group,
			 enum collective kind, double bytes)
{
	struct group_shape shape;

	group_of(pricing, group, &shape);
	return brute_collective(pricing->problem, &shape, kind, bytes);
}

static void price_placement(struct pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	uint32_t used = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		pricing->used[l] = used;
		for (int d = 0; d < DIMENSION_COUNT; d++)
			used *= pricing->plan->placement.factor[d][l];
	}
	for (uint32_t class = 0; class < problem->class_count; class++) {
		const struct problem_cost *cost = problem_cost_at(problem,
			pricing->plan->choice.shape, class,
			pricing->plan->choice.recompute);

		pricing->forward_s[class] = cost->forward_s;
		pricing->backward_s[class] = cost->backward_s;
		for (uint32_t i = 0; i < cost->collective_count; i++) {
			const struct problem_collective *one =
				&problem->collective[cost->collective_first + i];
			double time = group_time(pricing, one->group, one->kind,
						 one->bytes);
			double exposed = fmax(0, time - one->hidden_s);

			if (one->backward)
				pricing->backward_s[class] += exposed;
			else
				pricing->forward_s[class] += exposed;
		}
	}
}

/* Level between two pipeline ranks. */
static uint32_t border(const struct pricing *pricing, uint32_t a, uint32_t b)
{
	const uint32_t *factor =
		pricing->plan->placement.factor[DIMENSION_PIPELINE];
	uint32_t level = 0, inside = 1;

	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		if (a / inside % factor[l] != b / inside % factor[l])
			level = l;
		inside *= factor[l];
	}
	return level;
}

/* Devices of one pipeline rank at a level: the step to the next rank. */
static uint32_t stage_width(const struct pricing *pricing, uint32_t l)
{
	const struct placement *f = &pricing->plan->placement;

	return f->factor[DIMENSION_TENSOR][l] * f->factor[DIMENSION_CONTEXT][l] *
	       f->factor[DIMENSION_DATA][l];
}

/* Whether the last stage of a child and the first one of the next lie on
 * different rails. */
static bool changes_rail(const struct pricing *pricing, uint32_t level)
{
	const struct problem *problem = pricing->problem;
	uint32_t last = 0, devices = 1;

	if (!problem->level[level].rails)
		return false;
	for (uint32_t l = 0; l < level; l++) {
		uint32_t p = pricing->plan->placement
				     .factor[DIMENSION_PIPELINE][l];

		last += (p - 1) * stage_width(pricing, l) * devices;
		devices *= problem->level[l].fanout;
	}
	return last % problem->level[level].rails != 0;
}

/* Rate and latency from each device of a pipeline rank to one `ahead` at level l, a
 * child of which has `ranks` of them. */
static double neighbour(const struct pricing *pricing, uint32_t l,
			uint32_t ranks, uint32_t ahead, double *latency)
{
	const struct problem *problem = pricing->problem;
	const struct problem_level *level = &problem->level[l];
	double apart = 1, share = 1, hops = 1;

	if (is_ring(problem, l)) {
		apart = stage_width(pricing, l);
		hops = ahead * apart;
		if (level->wrap && level->fanout - hops < hops)
			hops = level->fanout - hops;
		share = level->wrap && 2 * hops == level->fanout ? 1 : 0.5;
	}
	if (is_full(problem, l) && level->fanout > 1)
		share = 1.0 / (level->fanout - 1);
	*latency = hops * level->latency_s;
	return level->efficiency *
	       rate(problem, l, apart * pricing->used[l] / ranks, share);
}

static double send(const struct pricing *pricing, uint32_t a, uint32_t b,
		   double bytes)
{
	const struct problem *problem = pricing->problem;
	const uint32_t *p = pricing->plan->placement.factor[DIMENSION_PIPELINE];
	uint32_t l = border(pricing, a, b), ranks[LEVEL_MAX] = { 1 };
	const struct problem_level *level = &problem->level[l];
	double time = level->overhead_s, latency, Bps;

	for (uint32_t i = 0; i < l; i++)
		ranks[i + 1] = ranks[i] * p[i];
	Bps = neighbour(pricing, l, ranks[l], 1, &latency);
	Bps = through(problem, l, Bps, pricing->used, ranks);
	time += latency;
	for (uint32_t i = l; i > 0 && problem->level[i].joined; i--) {
		double back = neighbour(pricing, i - 1, ranks[i - 1],
					p[i - 1] - 1, &latency);

		if (p[i - 1] == 1)
			continue;
		Bps = fmin(Bps, back);
		time += latency;
	}
	time += bytes / Bps;
	if (l > 0 && changes_rail(pricing, l)) {
		level--;
		time += level->latency_s +
			bytes / level->bandwidth_Bps / level->efficiency;
	}
	return time;
}

static uint32_t chunk_of(const struct brute_plan *plan, uint32_t layer)
{
	uint32_t chunk = 0;

	while (plan->chunk_first[chunk + 1] <= layer)
		chunk++;
	return chunk;
}

/* The tied pair: the extra reduction time, and on which stages; or a saving
 * of parameters on one. */
static void price_tied(const struct pricing *pricing, double *parameters,
		       double *extra_s)
{
	const struct problem *problem = pricing->problem;
	const struct problem_weight *weight;
	uint32_t p = pricing->plan->choice.pipeline, a = p, b = p, level;
	double bytes;

	if (problem->tied_class == CLASS_NONE)
		return;
	for (uint32_t i = 0; i < pricing->layer_count; i++) {
		if (pricing->layer_class[i] == problem->tied_class)
			a = chunk_of(pricing->plan, i) % p;
		if (pricing->layer_class[i] == problem->tied_with_class)
			b = chunk_of(pricing->plan, i) % p;
	}
	if (a == p || b == p)
		return;
	weight = problem_weight_at(problem, pricing->plan->choice.shape,
				   problem->tied_class);
	if (a == b) {
		parameters[a] -= weight->tied_parameters;
		return;
	}
	bytes = weight->tied_parameters * problem->sync.reduce_bytes;
	level = border(pricing, a, b);
	extra_s[a] = extra_s[b] = problem->level[level].latency_s +
				  send(pricing, a, b, bytes);
}

/* Cost and weight of the layers of every chunk. */
struct chunks {
	double forward_s[BRUTE_STAGE_MAX], backward_s[BRUTE_STAGE_MAX];
	double saved_bytes[BRUTE_STAGE_MAX], transfer_s[BRUTE_STAGE_MAX];
	double stage_forward_s[BRUTE_STAGE_MAX];
	double stage_backward_s[BRUTE_STAGE_MAX];
	double working_bytes[BRUTE_STAGE_MAX];
	double parameters[BRUTE_STAGE_MAX];	/* without those of experts */
	double expert_parameters[BRUTE_STAGE_MAX];
};

static void fill_chunks(const struct pricing *pricing, struct chunks *chunks)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline;
	uint32_t count = p * plan->choice.virtual_stages;

	memset(chunks, 0, sizeof(*chunks));
	memset(plan->stage_layers, 0, sizeof(plan->stage_layers));
	for (uint32_t c = 0; c < count; c++) {
		uint32_t k = c % p;

		for (uint32_t i = plan->chunk_first[c];
		     i < plan->chunk_first[c + 1]; i++) {
			uint32_t class = pricing->layer_class[i];
			const struct problem_cost *cost = problem_cost_at(
				problem, plan->choice.shape, class,
				plan->choice.recompute);
			const struct problem_weight *weight = problem_weight_at(
				problem, plan->choice.shape, class);

			chunks->forward_s[c] += pricing->forward_s[class];
			chunks->backward_s[c] += pricing->backward_s[class];
			chunks->saved_bytes[c] += cost->saved_bytes;
			chunks->working_bytes[k] = fmax(
				chunks->working_bytes[k], cost->working_bytes);
			chunks->parameters[k] += weight->parameters;
			chunks->expert_parameters[k] += weight->expert_parameters;
			plan->stage_layers[k] += problem->class_is_block[class];
			chunks->transfer_s[c] = c + 1 == count ? 0 :
				send(pricing, k, (c + 1) % p,
				     weight->output_bytes);
		}
		chunks->stage_forward_s[k] += chunks->forward_s[c];
		chunks->stage_backward_s[k] += chunks->backward_s[c];
	}
}

static void price_stage(const struct pricing *pricing,
			const struct chunks *chunks, uint32_t k, double extra_s)
{
	const struct problem *problem = pricing->problem;
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline, v = plan->choice.virtual_stages;
	double parameters = chunks->parameters[k];
	double experts = chunks->expert_parameters[k];
	double replicas = plan->choice.data * pricing->shape->context;
	uint32_t cut = pricing->shape->expert * pricing->shape->expert_tensor;
	double copies = replicas * pricing->shape->tensor / cut;
	double stepped = plan->choice.zero == 1 ?
		parameters / replicas + experts / copies : parameters + experts;
	double saved[BRUTE_STAGE_MAX], time, gather = 0;
	uint32_t groups = (pricing->shape->tensor > 1) +
			  (pricing->shape->context > 1) + (replicas > 1) +
			  (p > 1);
	enum collective reduction = plan->choice.zero == 1 ?
		COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;

	if (cut > 1)
		groups += (pricing->shape->expert > 1) +
			  (pricing->shape->expert_tensor > 1) + (copies > 1);
	time = group_time(pricing, GROUP_DATA_CONTEXT, reduction,
			  parameters * sync->reduce_bytes) +
	       group_time(pricing, GROUP_EXPERT_DATA, reduction,
			  experts * sync->reduce_bytes);
	if (sync->overlap_reduce)
		time = fmax(0, time - chunks->stage_backward_s[k]);
	plan->reduce_exposed_s[k] = time + extra_s;

	if (plan->choice.zero == 1)
		gather = group_time(pricing, GROUP_DATA_CONTEXT,
				    COLLECTIVE_ALL_GATHER,
				    parameters * sync->gather_bytes) +
			 group_time(pricing, GROUP_EXPERT_DATA,
				    COLLECTIVE_ALL_GATHER,
				    experts * sync->gather_bytes);
	if (sync->overlap_gather)
		gather = fmax(0, gather - chunks->stage_forward_s[k]);
	plan->update_s[k] = gather + stepped * sync->step_bytes /
				     sync->memory_bandwidth_Bps;

	for (uint32_t j = 0; j < v; j++)
		saved[j] = chunks->saved_bytes[j * p + k];
	plan->stage_bytes[k] = (parameters + experts) * memory->weight_bytes +
		(parameters + experts) * memory->gradient_bytes +
		stepped * memory->optimizer_bytes +
		brute_activations(p, v, plan->choice.micro_batches, k, saved) +
		chunks->working_bytes[k] + memory->reserve_bytes +
		groups * memory->group_bytes;
}

/* Share of the iteration that the device which decides its end waits for
 * others' compute: its idle time, less what free transfers would save. */
static double bubble_share(const struct pricing *pricing,
			   const struct chunks *chunks)
{
	const struct brute_plan *plan = pricing->plan;
	const struct choice *choice = &plan->choice;
	double free_s[BRUTE_STAGE_MAX] = { 0 }, ignored[BRUTE_STAGE_MAX];
	double latest = 0, end = 0, idle, saved;
	uint32_t k = 0;

	for (uint32_t i = 0; i < choice->pipeline; i++) {
		latest = fmax(latest, plan->finish_s[i] +
				      plan->reduce_exposed_s[i]);
		end = fmax(end, plan->finish_s[i]);
	}
	while (plan->finish_s[k] + plan->reduce_exposed_s[k] <
	       latest * (1 - 1e-12))
		k++;
	idle = plan->finish_s[k] - choice->micro_batches *
	       (chunks->stage_forward_s[k] + chunks->stage_backward_s[k]);
	saved = end - brute_schedule(choice->pipeline, choice->virtual_stages,
				     choice->micro_batches, chunks->forward_s,
				     chunks->backward_s, free_s, ignored);
	if (plan->time_s == 0)
		return 0;
	return fmax(0, idle - fmax(0, saved)) / plan->time_s;
}

/* Prices the cut that plan holds; the placement is priced already. */
static void price_cut(struct pricing *pricing)
{
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline;
	double extra_s[BRUTE_STAGE_MAX] = { 0 }, first = 0, second = 0;
	struct chunks chunks;

	fill_chunks(pricing, &chunks);
	price_tied(pricing, chunks.parameters, extra_s);
	brute_schedule(p, plan->choice.virtual_stages,
		       plan->choice.micro_batches, chunks.forward_s,
		       chunks.backward_s, chunks.transfer_s, plan->finish_s);
	plan->peak_bytes = 0;
	for (uint32_t k = 0; k < p; k++) {
		price_stage(pricing, &chunks, k, extra_s[k]);
		first = fmax(first, plan->finish_s[k] +
				    plan->reduce_exposed_s[k]);
		second = fmax(second, plan->update_s[k]);
		plan->peak_bytes = fmax(plan->peak_bytes, plan->stage_bytes[k]);
	}
	plan->time_s = first + second;
	plan->bubble = bubble_share(pricing, &chunks);
}

/* ---- requirements, objectives, order ---- */

static void fill_variables(const struct pricing *pricing,
			   struct predicate_input *input)
{
	const struct problem *problem = pricing->problem;
	const struct brute_plan *plan = pricing->plan;
	const struct choice *choice = &plan->choice;
	double *value = input->value;
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < pricing->layer_count; i++)
		blocks += problem->class_is_block[pricing->layer_class[i]];
	memset(input, 0, sizeof(*input));
	value[VARIABLE_TENSOR] = pricing->shape->tensor;
	value[VARIABLE_SEQUENCE] = pricing->shape->sequence;
	value[VARIABLE_CONTEXT] = pricing->shape->context;
	value[VARIABLE_EXPERT] = pricing->shape->expert;
	value[VARIABLE_EXPERT_TENSOR] = pricing->shape->expert_tensor;
	value[VARIABLE_DATA] = choice->data;
	value[VARIABLE_PIPELINE] = choice->pipeline;
	value[VARIABLE_VIRTUAL] = choice->virtual_stages;
	value[VARIABLE_MICRO_BATCH] = pricing->shape->micro_batch;
	value[VARIABLE_MICRO_BATCHES] = choice->micro_batches;
	value[VARIABLE_ZERO] = choice->zero;
	value[VARIABLE_RECOMPUTE] = choice->recompute;
	value[VARIABLE_RECOMPUTE_LAYERS] =
		choice->recompute == RECOMPUTE_FULL ? blocks : 0;
	value[VARIABLE_DEVICES] = plan->devices;
	value[VARIABLE_TIME] = plan->time_s;
	value[VARIABLE_MEMORY] = plan->peak_bytes;
	value[VARIABLE_BUBBLE] = plan->bubble;
	value[VARIABLE_COST] = plan->devices * plan->time_s *
			       problem->device_dollars_per_s;
	value[VARIABLE_ENERGY] = plan->devices * plan->time_s *
				 problem->device_watts;
	value[VARIABLE_STAGES_UNIFORM] = 1;
	for (uint32_t k = 1; k < choice->pipeline; k++)
		if (plan->stage_layers[k] != plan->stage_layers[0])
			value[VARIABLE_STAGES_UNIFORM] = 0;
	input->stage_layers = plan->stage_layers;
	input->stage_count = choice->pipeline;
}

static bool requirements_hold(const struct problem *problem,
			      const struct predicate_input *input)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double truth = predicate_evaluate(&problem->requirement[i],
						  input);

		if (truth == 0 || isnan(truth))
			return false;
	}
	return true;
}

/* Prices, evaluates the objectives; whether the requirements hold. */
static bool judge_plan(struct pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	struct predicate_input input;

	price_cut(pricing);
	fill_variables(pricing, &input);
	plan->objective[0] = plan->time_s;
	for (uint32_t i = 0; i < problem->objective_count; i++)
		plan->objective[i] = predicate_evaluate(&problem->objective[i],
							&input);
	return requirements_hold(problem, &input);
}

bool brute_price(const struct problem *problem, struct brute_plan *plan)
{
	struct pricing pricing = {
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
	};
	struct expert_parts dealt;

	if (!deal_experts(problem, pricing.shape, &plan->placement, &dealt))
		return false;
	unroll(&pricing);
	price_placement(&pricing);
	return judge_plan(&pricing) &&
	       plan->peak_bytes <= problem->memory.limit_bytes;
}

/* even.h, read literally. */
static bool blocks_are_nearly_even(const uint32_t *blocks, uint32_t chunks)
{
	uint32_t least = UINT32_MAX, largest = 0;

	for (uint32_t c = 1; c + 1 < chunks; c++) {
		if (blocks[c] < least)
			least = blocks[c];
		if (blocks[c] > largest)
			largest = blocks[c];
	}
	return largest - least <= 1 && blocks[0] <= least + 1 &&
	       blocks[chunks - 1] <= least + 1;
}

static bool cut_is_allowed(const struct pricing *pricing)
{
	const struct brute_plan *plan = pricing->plan;
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;
	uint32_t blocks[BRUTE_STAGE_MAX] = { 0 };

	for (uint32_t i = 0; i < pricing->layer_count; i++)
		blocks[chunk_of(plan, i)] +=
			pricing->problem->class_is_block[pricing->layer_class[i]];
	if (plan->choice.virtual_stages > 1 &&
	    !blocks_are_nearly_even(blocks, chunks))
		return false;
	for (uint32_t c = 1; c < chunks; c++)
		if (pricing->problem->uniform_stages && blocks[c] != blocks[0])
			return false;
	return true;
}

/* Compact placements first: the larger factor at the inner level. */
static int compare_placement(const struct placement *a,
			     const struct placement *b, uint32_t levels)
{
	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < levels; l++)
			if (a->factor[d][l] != b->factor[d][l])
				return a->factor[d][l] > b->factor[d][l] ? -1 : 1;
	return 0;
}

int brute_compare(const struct problem *problem, const struct brute_plan *a,
		  const struct brute_plan *b)
{
	const struct problem_shape *s = &problem->shape[a->choice.shape];
	const struct problem_shape *t = &problem->shape[b->choice.shape];
	const double key[][2] = {
		{ a->peak_bytes, b->peak_bytes },
		{ a->devices, b->devices },
		{ s->tensor, t->tensor },
		{ s->context, t->context },
		{ s->expert, t->expert },
		{ s->expert_tensor, t->expert_tensor },
		{ a->choice.pipeline, b->choice.pipeline },
		{ a->choice.virtual_stages, b->choice.virtual_stages },
		{ s->micro_batch, t->micro_batch },
		{ a->choice.zero, b->choice.zero },
		{ a->choice.recompute, b->choice.recompute },
	};
	uint32_t objectives = problem->objective_count ?
			      problem->objective_count : 1;

	for (uint32_t i = 0; i < objectives; i++)
		if (a->objective[i] != b->objective[i])
			return a->objective[i] < b->objective[i] ? -1 : 1;
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	return compare_placement(&a->placement, &b->placement,
				 problem->level_count);
}

/* ---- enumeration ---- */

static void try_plan(struct pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	bool meets;

	if (!cut_is_allowed(pricing))
		return;
	meets = judge_plan(pricing);
	if (random_below(&result->random, (uint32_t)++result->plans) == 0)
		result->sample = *plan;
	if (!meets)
		return;
	if (!result->has_lightest ||
	    plan->peak_bytes < result->lightest_peak_bytes)
		result->lightest_peak_bytes = plan->peak_bytes;
	result->has_lightest = true;
	if (plan->peak_bytes > problem->memory.limit_bytes)
		return;
	if (!result->found || brute_compare(problem, plan, &result->best) < 0)
		result->best = *plan;
	result->found = true;
}

/* All cuts: chunk `chunk` begins at `from`. */
static void try_cuts(struct pricing *pricing, uint32_t chunk, uint32_t from,
		     struct brute_result *result)
{
	struct brute_plan *plan = pricing->plan;
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;

	plan->chunk_first[chunk] = from;
	if (chunk == chunks) {
		if (from == pricing->layer_count)
			try_plan(pricing, result);
		return;
	}
	for (uint32_t next = from + 1; next <= pricing->layer_count; next++)
		try_cuts(pricing, chunk + 1, next, result);
}

/* All factor matrices, one cell after another; left[d] is what remains of a
 * degree. */
static void try_placements(struct pricing *pricing, uint32_t cell,
			   const uint32_t *left, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	uint32_t d = cell % DIMENSION_COUNT, l = cell / DIMENSION_COUNT;
	struct placement *placement = &pricing->plan->placement;
	uint32_t column = 1, rest[DIMENSION_COUNT];
	struct expert_parts dealt;

	if (l == problem->level_count) {
		for (d = 0; d < DIMENSION_COUNT; d++)
			if (left[d] != 1)
				return;
		if (!deal_experts(problem, pricing->shape, placement, &dealt))
			return;
		price_placement(pricing);
		try_cuts(pricing, 0, 0, result);
		return;
	}
	for (uint32_t i = 0; i < d; i++)
		column *= placement->factor[i][l];
	for (uint32_t f = 1; f <= left[d]; f++) {
		if (left[d] % f != 0 || column * f > problem->level[l].fanout)
			continue;
		if (f > 1 && problem->within[d] && l + 1 > problem->within[d])
			continue;
		memcpy(rest, left, sizeof(rest));
		rest[d] /= f;
		placement->factor[d][l] = f;
		try_placements(pricing, cell + 1, rest, result);
	}
}

static bool in_domain(const struct problem_domain *domain, uint32_t value)
{
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return domain->count == 0;
}

static void try_policies(struct pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	uint32_t degree[DIMENSION_COUNT] = {
		pricing->shape->tensor, pricing->shape->context,
		plan->choice.data, plan->choice.pipeline,
	};

	for (uint32_t zero = 0; zero < 2; zero++) {
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			if (!problem->zero[zero] || !problem->recompute[r])
				continue;
			plan->choice.zero = zero;
			plan->choice.recompute = (enum recompute)r;
			result->configurations++;
			try_placements(pricing, 0, degree, result);
		}
	}
}

static void try_shape(struct pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	const struct problem_shape *shape = pricing->shape;
	struct choice *choice = &pricing->plan->choice;

	for (uint32_t d = 1; d <= problem->device_count; d++)
	for (uint32_t p = 1; p <= problem->device_count; p++)
	for (uint32_t v = 1; p * v <= pricing->layer_count; v++) {
		uint32_t devices = shape->tensor * shape->context * d * p;

		if (devices > problem->device_count ||
		    !in_domain(&problem->devices, devices) ||
		    !in_domain(&problem->data, d) ||
		    !in_domain(&problem->pipeline, p) ||
		    !in_domain(&problem->virtual_stages, v))
			continue;
		if (problem->global_batch % (shape->micro_batch * d) != 0)
			continue;
		if (shape->tensor * shape->context * d %
		    (shape->expert * shape->expert_tensor) != 0)
			continue;
		choice->data = d;
		choice->pipeline = p;
		choice->virtual_stages = v;
		choice->micro_batches =
			problem->global_batch / (shape->micro_batch * d);
		if (v > 1 && (p == 1 || choice->micro_batches % p != 0))
			continue;
		pricing->plan->devices = devices;
		try_policies(pricing, result);
	}
}

void brute_solve(const struct problem *problem, uint64_t seed,
		 struct brute_result *result)
{
	struct brute_plan plan;
	struct pricing pricing = { .problem = problem, .plan = &plan };

	memset(result, 0, sizeof(*result));
	result->random.state = seed;
	memset(&plan, 0, sizeof(plan));
	unroll(&pricing);
	for (uint32_t s = 0; s < problem->shape_count; s++) {
		plan.choice.shape = s;
		pricing.shape = &problem->shape[s];
		try_shape(&pricing, result);
	}
}

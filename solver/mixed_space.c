/* SPDX-License-Identifier: MIT
 *
 * Families of split plans.
 */
#include "solver/mixed_space.h"

#include <math.h>
#include <string.h>

#include "solver/most.h"

/* Longer chains over more than two kinds get a simpler bound. */
#define LONG_CHAIN 512

static bool domain_has(const struct problem_domain *domain, uint32_t value)
{
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return !domain->count;
}

/* ---- families ---- */

static uint64_t members_of(const struct problem *problem, uint32_t shape)
{
	return (uint64_t)problem->shape[shape].tensor *
	       problem->shape[shape].context;
}

static void add_families(struct mixed_space *space, struct mixed_family family,
			 uint32_t shape)
{
	const struct problem *problem = space->problem;
	const struct problem_shape *at = &problem->shape[shape];
	uint64_t members = members_of(problem, shape);
	uint64_t experts = (uint64_t)at->expert * at->expert_tensor;
	uint32_t rest, devices = UINT32_MAX;

	if (problem->global_batch % at->micro_batch)
		return;
	rest = problem->global_batch / at->micro_batch;
	for (uint32_t i = 0; i < family.kind_count; i++) {
		uint32_t own = problem->kind[family.kind[i]]->device_count;

		devices = own < devices ? own : devices;
	}
	for (uint32_t i = 0; i < space->data_count; i++) {
		uint32_t data = space->data[i];

		if (members * data > devices || data > rest)
			break;
		if (rest % data || members * data % experts)
			continue;
		family.shape = shape;
		family.data = data;
		family.micro_batches = rest / data;
		for (uint32_t k = 0; k < family.kind_count; k++)
			family.ranks_most[k] = (uint32_t)(
				problem->kind[family.kind[k]]->device_count /
				(members * data));
		VEC_PUSH(&space->family, space->arena, family);
	}
}

/* Every order of two kinds or more. */
static void add_orders(struct mixed_space *space, struct mixed_family *family)
{
	if (family->kind_count > 1)
		for (uint32_t s = 0; s < space->problem->shape_count; s++)
			add_families(space, *family, s);
	for (uint32_t k = 0; k < space->problem->kind_count; k++) {
		bool used = false;

		for (uint32_t i = 0; i < family->kind_count; i++)
			used |= family->kind[i] == k;
		if (used)
			continue;
		family->kind[family->kind_count++] = k;
		add_orders(space, family);
		family->kind_count--;
	}
}

bool mixed_space_has_zero(const struct problem *problem, uint32_t zero)
{
	bool given = false;

	for (int l = 0; l < LEVEL_MAX; l++)
		given |= problem->shard_level[l];
	return problem->zero[zero] &&
	       (!zero || !given || problem->shard_level[0]);
}

static void count_policies(struct mixed_space *space)
{
	const struct problem *problem = space->problem;
	uint32_t recompute = 0;

	for (uint32_t i = 0; i < 4; i++)
		space->zeros += mixed_space_has_zero(problem, i);
	for (int i = 0; i < RECOMPUTE_COUNT; i++)
		if (problem->recompute[i])
			recompute += i == RECOMPUTE_FULL &&
						     problem->recompute_layers.count ?
					     problem->recompute_layers.count : 1;
	space->policies = space->zeros * recompute;
}

/* Whether plain 1F1B may run. */
static bool has_plain(const struct problem *problem)
{
	bool given = false;

	for (int i = 0; i < SCHEDULE_COUNT; i++)
		given |= problem->schedule[i];
	return (!given || problem->schedule[SCHEDULE_1F1B]) &&
	       domain_has(&problem->virtual_stages, 1);
}

static void find_data(struct mixed_space *space)
{
	const struct problem *problem = space->problem;
	uint32_t batch = problem->global_batch, *data = NULL;

	for (int pass = 0; pass < 2; pass++) {
		if (pass)
			data = ARENA_ARRAY(space->arena, uint32_t,
					   space->data_count);
		space->data_count = 0;
		for (uint32_t d = 1; d <= batch && d <= DEVICES_MAX; d++)
			if (batch % d == 0 && domain_has(&problem->data, d)) {
				if (pass)
					data[space->data_count] = d;
				space->data_count++;
			}
	}
	space->data = data;
}

void mixed_space_init(struct mixed_space *space, const struct problem *problem,
		      struct arena *arena)
{
	struct mixed_family family = { .kind_count = 0 };

	*space = (struct mixed_space){
		.problem = problem,
		.arena = arena,
		.chain_length = problem_chain_length(problem),
		.any = has_plain(problem),
	};
	for (uint32_t k = 0; k < problem->kind_count; k++) {
		placement_cache_init(&space->cache[k], problem->kind[k], arena);
		space->cache[k].joint = true;
		space->facts[k] = ARENA_ARRAY(arena, struct facts *,
					      problem->shape_count);
	}
	count_policies(space);
	find_data(space);
	if (space->any)
		add_orders(space, &family);
}

/* ---- ranks ---- */

static bool is_legal_pipeline(const struct mixed_space *space,
			      const struct mixed_family *family, uint32_t pipeline)
{
	const struct problem *problem = space->problem;
	uint64_t devices = members_of(problem, family->shape) * family->data *
			   pipeline;

	return pipeline <= space->chain_length &&
	       domain_has(&problem->pipeline, pipeline) &&
	       domain_has(&problem->devices, (uint32_t)devices);
}

/* Ways to write each number as ranks of the kinds in turn. */
uint64_t mixed_space_count(const struct mixed_space *space,
			   const struct mixed_family *family)
{
	struct arena_mark mark = arena_mark(space->arena);
	uint32_t length = space->chain_length;
	uint64_t *ways = ARENA_ARRAY(space->arena, uint64_t, length + 1);
	uint64_t *next = ARENA_ARRAY(space->arena, uint64_t, length + 1), count = 0;

	ways[0] = 1;
	for (uint32_t i = 0; i < family->kind_count; i++) {
		uint64_t window = 0, *other = ways;
		uint32_t most_ranks = family->ranks_most[i];

		next[0] = 0;
		for (uint32_t sum = 1; sum <= length; sum++) {
			window += ways[sum - 1];
			if (sum > most_ranks)
				window -= ways[sum - 1 - most_ranks];
			next[sum] = window;
		}
		ways = next;
		next = other;
	}
	for (uint32_t p = 2; p <= length; p++)
		if (ways[p] && is_legal_pipeline(space, family, p))
			count += ways[p];
	arena_rewind(space->arena, mark);
	return count * space->policies;
}

/* Like an odometer, the last kind fastest. */
static bool advance(const struct mixed_space *space,
		    const struct mixed_family *family, struct mixed_ranks *ranks)
{
	uint32_t n = family->kind_count;

	if (!ranks->pipeline) {
		for (uint32_t i = 0; i < n; i++)
			ranks->ranks[i] = 1;
		ranks->pipeline = n;
		return true;
	}
	for (uint32_t i = n; i-- > 0;) {
		if (ranks->ranks[i] < family->ranks_most[i] &&
		    ranks->pipeline < space->chain_length) {
			ranks->ranks[i]++;
			ranks->pipeline++;
			return true;
		}
		ranks->pipeline -= ranks->ranks[i] - 1;
		ranks->ranks[i] = 1;
	}
	return false;
}

bool mixed_space_next(const struct mixed_space *space,
		      const struct mixed_family *family,
		      struct mixed_ranks *ranks)
{
	while (advance(space, family, ranks))
		if (is_legal_pipeline(space, family, ranks->pipeline))
			return true;
	return false;
}

/* ---- bounds ---- */

/* Of one layer, on any type of the family and under any policy. */
static double least_compute(const struct problem *problem,
			    const struct mixed_family *family,
			    uint32_t class_index)
{
	double least_s = INFINITY;

	for (uint32_t i = 0; i < family->kind_count; i++)
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			const struct problem_cost *cost = problem_cost_at(
				problem->kind[family->kind[i]], family->shape,
				class_index, (enum recompute)r);
			double time = cost->forward_s + cost->backward_s;

			/* Layers that are not recomputed are as under NONE. */
			if (problem->recompute[r] || (r == RECOMPUTE_NONE &&
						      problem->recompute_layers.count))
				least_s = time < least_s ? time : least_s;
		}
	return least_s;
}

double mixed_space_floor(const struct mixed_space *space,
			 const struct mixed_family *family)
{
	const struct problem *problem = space->problem;
	double time = 0, ranks = 0;

	for (uint32_t i = 0; i < problem->run_count; i++)
		time += problem->run[i].count *
			least_compute(problem, family,
				      problem->run[i].class_index);
	for (uint32_t i = 0; i < family->kind_count; i++)
		ranks += family->ranks_most[i];
	return time * family->micro_batches / ranks;
}

const struct facts *mixed_space_facts(struct mixed_space *space, uint32_t kind,
				      uint32_t shape)
{
	struct facts **facts = &space->facts[kind][shape];

	if (!*facts) {
		*facts = ARENA_NEW(space->arena, struct facts);
		facts_fill(*facts, space->problem->kind[kind],
			   &space->cache[kind], shape, space->arena);
	}
	return *facts;
}

const double *mixed_space_through(struct mixed_space *space, uint32_t kind,
				  uint32_t shape, enum recompute recompute)
{
	uint32_t policy = recompute;

	if (recompute == RECOMPUTE_FULL &&
	    space->problem->recompute_layers.count)
		policy = FACTS_PARTIAL;
	return mixed_space_facts(space, kind, shape)->through_s[policy];
}

/* What the kinds' chains say of a family: time of the first i layers. */
struct speeds {
	const double *through_s[KIND_MAX];
	const uint32_t *ranks;
	uint32_t count, length;
	double micro_batches;
	double loops;			/* through the whole pipeline, the first counted */
};

static double stretch(const struct speeds *speeds, uint32_t s, uint32_t begin,
		      uint32_t end)
{
	return speeds->through_s[s][end] - speeds->through_s[s][begin];
}

/* Two kinds: the first one's layers end at one place. */
static double bound_pair(const struct speeds *speeds)
{
	double m = speeds->micro_batches, best = INFINITY;

	for (uint32_t x = 1; x < speeds->length; x++) {
		double first = stretch(speeds, 0, 0, x);
		double second = stretch(speeds, 1, x, speeds->length);
		double time = most(m * first / speeds->ranks[0],
				   first + m * second / speeds->ranks[1]);

		time = most(time, speeds->loops * (first + second));
		best = least(best, time);
	}
	return best;
}

/* The least over the places at which kind s may end that begins there. */
static double bound_from(const struct speeds *speeds, uint32_t s, uint32_t begin,
			 const double *behind)
{
	double per_rank = speeds->micro_batches / speeds->ranks[s];
	double best = INFINITY;

	for (uint32_t end = begin + 1; end <= speeds->length; end++) {
		double time = stretch(speeds, s, begin, end);

		if (time * per_rank >= best)
			break;
		best = least(best, most(time * per_rank, time + behind[end]));
	}
	return best;
}

/* More kinds: from the last one on, which takes all that is left, for every place
 * at which it may begin. */
static double bound_several(const struct speeds *speeds, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	uint32_t length = speeds->length, last = speeds->count - 1;
	double *behind = ARENA_ARRAY(arena, double, length + 1);
	double *own = ARENA_ARRAY(arena, double, length + 1), found;

	for (uint32_t i = 0; i < length; i++)
		behind[i] = stretch(speeds, last, i, length) *
			    speeds->micro_batches / speeds->ranks[last];
	behind[length] = INFINITY;
	for (uint32_t s = last; s-- > 1;) {
		double *other = behind;

		for (uint32_t begin = 0; begin < length; begin++)
			own[begin] = bound_from(speeds, s, begin, behind);
		own[length] = INFINITY;
		behind = own;
		own = other;
	}
	found = bound_from(speeds, 0, 0, behind);
	arena_rewind(arena, mark);
	return found;
}

/* All ranks together. With W_k the time of the whole chain on kind k, a rank of k
 * that is busy for T does at most T / W_k of it, and a layer counts at least
 * the least of its shares of these W_k: T is at least the sum of those shares over
 * the sum of ranks_k / W_k. */
static double bound_shares(const struct speeds *speeds)
{
	double whole[KIND_MAX], rate = 0, shares = 0;

	for (uint32_t s = 0; s < speeds->count; s++) {
		whole[s] = stretch(speeds, s, 0, speeds->length);
		rate += speeds->ranks[s] / whole[s];
	}
	for (uint32_t i = 0; i < speeds->length; i++) {
		double smallest = INFINITY;

		for (uint32_t s = 0; s < speeds->count; s++) {
			double share = stretch(speeds, s, i, i + 1) / whole[s];

			smallest = least(smallest, share);
		}
		shares += smallest;
	}
	return rate > 0 && isfinite(rate) && isfinite(shares) ?
		       speeds->micro_batches * shares / rate : 0;
}

double mixed_space_bound(struct mixed_space *space,
			 const struct mixed_family *family,
			 const uint32_t ranks[KIND_MAX], enum recompute recompute,
			 double limit_s)
{
	double shares;
	struct speeds speeds = {
		.ranks = ranks,
		.count = family->kind_count,
		.length = space->chain_length,
		.micro_batches = family->micro_batches,
	};
	uint32_t pipeline = 0;

	for (uint32_t s = 0; s < family->kind_count; s++) {
		speeds.through_s[s] = mixed_space_through(
			space, family->kind[s], family->shape, recompute);
		pipeline += ranks[s];
	}
	if (pipeline > space->chain_length)
		pipeline = space->chain_length;
	speeds.loops = 1 + (family->micro_batches - 1) / pipeline;
	if (family->kind_count == 2)
		return bound_pair(&speeds);
	shares = bound_shares(&speeds);
	if (shares > limit_s || space->chain_length > LONG_CHAIN)
		return shares;
	return bound_several(&speeds, space->arena);
}

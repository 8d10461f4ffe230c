/* SPDX-License-Identifier: MIT
 *
 * Lists the groups and pairs of a plan's ranks and has them routed.
 */
#include "solver/routed.h"

#include <stdlib.h>
#include <string.h>

#include "solver/graph_flows.h"
#include "solver/graph_lines.h"
#include "solver/most.h"
#include "solver/share.h"

/* What the first word of a key in the memo says. */
enum { KEY_GROUPS, KEY_BOUNDARIES };

struct router {
	const struct problem *problem;
	const struct plan *plan;
	const struct problem_shape *shape;
	const struct placed *base;
	const struct sharding *base_sharding;
	struct memo *memo;
	struct arena *arena;
	struct routed *routed;
	uint32_t stage_ranks;		/* of one pipeline rank */
};

static uint32_t pipeline_of(const struct router *router)
{
	return router->plan->choice.pipeline;
}

/* The device of a rank in the hierarchy, and in the graph. */
static uint32_t place_of(const struct router *router, uint32_t rank)
{
	return router->plan->device[rank];
}

static uint32_t device_of(const struct router *router, uint32_t place)
{
	return router->plan->device_map[place];
}

/* ---- groups ---- */

/* What a group is of the ranks of a stage: they come in `outer` runs of size x
 * stride, and in each run those `stride` apart are one group. */
struct stripe {
	uint32_t size, stride;
};

static struct stripe stripe_of(const struct router *router, enum group group)
{
	const struct problem_shape *shape = router->shape;
	uint32_t t = shape->tensor, c = shape->context;
	uint32_t x = shape->expert_tensor ? shape->expert_tensor : 1;
	uint32_t e = shape->expert ? shape->expert : 1;

	switch (group) {
	case GROUP_TENSOR:
		return (struct stripe){ t, 1 };
	case GROUP_CONTEXT:
		return (struct stripe){ c, t };
	case GROUP_DATA_CONTEXT:
		return (struct stripe){ router->stage_ranks / t, t };
	case GROUP_EXPERT_TENSOR:
		return (struct stripe){ x, 1 };
	case GROUP_EXPERT:
		return (struct stripe){ e, x };
	default:
		return (struct stripe){ router->stage_ranks / (x * e), x * e };
	}
}

static int rising(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Places of the members of every group, each group's rising. */
static uint32_t *list_places(const struct router *router, struct stripe stripe)
{
	uint32_t ranks = router->stage_ranks * pipeline_of(router);
	uint32_t *place = ARENA_ARRAY(router->arena, uint32_t, ranks);
	uint32_t count = 0;

	for (uint32_t run = 0; run < ranks; run += stripe.size * stripe.stride) {
		for (uint32_t i = 0; i < stripe.stride; i++) {
			for (uint32_t j = 0; j < stripe.size; j++)
				place[count++] = place_of(
					router, run + i + j * stripe.stride);
			qsort(place + count - stripe.size, stripe.size,
			      sizeof(*place), rising);
		}
	}
	return place;
}

/* Some of the members of the groups: every `step`-th of the `size` from each
 * of the first `step` on, in blocks of `block`. */
struct part {
	uint32_t block;			/* members in a row that are cut up */
	uint32_t step;
	uint32_t members[LEVEL_MAX];	/* of a part, by level */
};

static bool is_all_to_all(const struct problem *problem, enum group group)
{
	for (uint32_t i = 0; i < problem->collective_count; i++)
		if (problem->collective[i].group == group &&
		    problem->collective[i].kind == COLLECTIVE_ALL_TO_ALL)
			return true;
	return false;
}

/* Of one pipeline rank. */
struct class_lines {
	struct network_lines lines;
	uint32_t link;
};

static struct class_lines *find_lines(const struct router *router,
				      const struct graph_groups *groups)
{
	uint32_t classes = groups->class_count;
	struct class_lines *found = ARENA_ARRAY(router->arena, struct class_lines,
						classes);
	struct network_lines *lines = ARENA_ARRAY(router->arena,
						  struct network_lines, classes);
	uint32_t *link = ARENA_ARRAY(router->arena, uint32_t, classes);

	graph_lines(router->problem->graph, groups, lines, link, router->arena);
	for (uint32_t c = 0; c < classes; c++)
		found[c] = (struct class_lines){ lines[c], link[c] };
	return found;
}

/* The same, once. The classes of the groups follow from the block. */
static const struct class_lines *look_up_lines(const struct router *router,
					       const struct graph_groups *groups,
					       uint32_t block)
{
	uint32_t ranks = groups->count * groups->size, words = 0;
	uint32_t *key = ARENA_ARRAY(router->arena, uint32_t,
				    ranks + LEVEL_MAX + 5);
	const struct class_lines *found;

	if (!router->memo)
		return find_lines(router, groups);
	key[words++] = KEY_GROUPS;
	key[words++] = groups->size;
	key[words++] = block;
	key[words++] = groups->class_count;
	key[words++] = groups->direct;
	for (uint32_t l = 0; l < groups->level_count; l++)
		key[words++] = groups->members[l];
	memcpy(key + words, groups->device, ranks * sizeof(*key));
	words += ranks;
	found = memo_find(router->memo, key, words);
	if (found)
		return found;
	found = find_lines(router, groups);
	memo_keep(router->memo, key, words, found,
		  groups->class_count * sizeof(*found));
	return found;
}

static const struct class_lines *route_part(const struct router *router,
					    const uint32_t *place,
					    const struct part *part,
					    enum group group)
{
	const struct problem *problem = router->problem;
	uint32_t ranks = router->stage_ranks * pipeline_of(router);
	uint32_t size = part->block / part->step, count = 0;
	uint32_t *device = ARENA_ARRAY(router->arena, uint32_t, ranks);
	uint32_t *class = ARENA_ARRAY(router->arena, uint32_t, ranks / size);
	struct graph_groups groups = {
		.count = ranks / size,
		.size = size,
		.device = device,
		.class = class,
		.class_count = pipeline_of(router),
		.level_count = problem->level_count,
		.direct = is_all_to_all(problem, group),
	};

	memcpy(groups.members, part->members, sizeof(groups.members));
	for (uint32_t l = 0; l < problem->level_count; l++)
		groups.kind[l] = problem->level[l].kind;
	for (uint32_t block = 0; block < ranks; block += part->block) {
		for (uint32_t i = 0; i < part->step; i++) {
			class[count / size] = block / router->stage_ranks;
			for (uint32_t j = i; j < part->block; j += part->step)
				device[count++] = device_of(router,
							    place[block + j]);
		}
	}
	return look_up_lines(router, &groups, part->block);
}

static struct network_line slower(struct network_line a, struct network_line b)
{
	return (struct network_line){ most(a.latency_s, b.latency_s),
				      most(a.s_per_byte, b.s_per_byte) };
}

static void hold_back_by(struct protocol_lines *at,
			 const struct protocol_lines *by)
{
	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		at->all_reduce[i] = slower(at->all_reduce[i], by->all_reduce[i]);
	for (uint32_t i = 0; i < 2; i++)
		at->half[i] = slower(at->half[i], by->half[i]);
	at->all_to_all = slower(at->all_to_all, by->all_to_all);
	at->broadcast = slower(at->broadcast, by->broadcast);
}

/* No faster than the hierarchy. */
static struct network_lines held_back(struct network_lines lines,
				      const struct network_lines *base)
{
	if (lines.alone || base->alone)
		return lines;
	hold_back_by(&lines.by[0], &base->by[0]);
	hold_back_by(&lines.by[1], &base->by[1]);
	return lines;
}

/* n_l; a group that the levels do not share out evenly counts as one level. */
static bool is_even(const struct group_shape *shape, uint32_t size,
		    const struct problem *problem)
{
	uint64_t product = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		product *= shape->members[l];
	return product == size;
}

static struct part whole_part(const struct router *router, enum group group,
			      uint32_t size)
{
	struct part part = { .block = size, .step = 1 };
	struct group_shape shape = { .members = { 0 } };

	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		part.members[l] = 1;
	part.members[0] = size;
	if (router->plan->placement.packing != PACKING_FACTORS)
		return part;
	shape = network_group(router->problem, &router->plan->placement,
			      router->shape, group);
	if (is_even(&shape, size, router->problem))
		memcpy(part.members, shape.members, sizeof(part.members));
	return part;
}

/* The shard groups of a level, or the rest groups. */
static struct part cut_part(const struct part *whole, uint32_t level, bool inside)
{
	struct part part = *whole;
	uint32_t below = 1;

	for (uint32_t l = 0; l < level; l++)
		below *= whole->members[l];
	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		if ((l < level) != inside)
			part.members[l] = 1;
	if (inside)
		part.block = below;
	else
		part.step = below;
	return part;
}

static void route_shards(const struct router *router, const uint32_t *place,
			 const struct part *whole, enum group group)
{
	uint32_t p = pipeline_of(router), level = router->plan->choice.shard_level;
	const struct class_lines *inside = NULL, *outside = NULL;

	if (level) {
		struct part part = cut_part(whole, level, true);

		inside = route_part(router, place, &part, group);
		part = cut_part(whole, level, false);
		outside = route_part(router, place, &part, group);
	}
	for (uint32_t r = 0; r < p; r++) {
		struct routed_rank *rank = &router->routed->rank[r];
		struct shard_group *to = group == GROUP_DATA_CONTEXT ?
						 &rank->sharding.parameters :
						 &rank->sharding.experts;

		if (!level) {
			to->inside = rank->group[group];
			continue;
		}
		to->inside = held_back(inside[r].lines, &to->inside);
		to->outside = held_back(outside[r].lines, &to->outside);
	}
}

static void route_group(const struct router *router, enum group group)
{
	struct stripe stripe = stripe_of(router, group);
	const struct class_lines *lines;
	const uint32_t *place;
	struct part whole;

	if (stripe.size < 2)
		return;
	place = list_places(router, stripe);
	whole = whole_part(router, group, stripe.size);
	lines = route_part(router, place, &whole, group);
	for (uint32_t r = 0; r < pipeline_of(router); r++) {
		struct routed_rank *rank = &router->routed->rank[r];

		rank->group[group] = held_back(lines[r].lines,
					       &router->base->group[group]);
		rank->link[group] = lines[r].link;
	}
	if (group == GROUP_DATA_CONTEXT || group == GROUP_EXPERT_DATA)
		route_shards(router, place, &whole, group);
}

/* ---- boundaries ---- */

/* From every rank of a stage to the same of another; latency and overhead of
 * the slowest pair. */
static uint32_t list_pairs(const struct router *router, uint32_t from,
			   uint32_t to, uint32_t class, struct graph_flow *flow,
			   struct network_line *line)
{
	uint32_t n = router->stage_ranks;

	for (uint32_t i = 0; i < n; i++) {
		struct graph_way way;

		flow[i] = (struct graph_flow){
			.from = device_of(router, place_of(router, from * n + i)),
			.to = device_of(router, place_of(router, to * n + i)),
			.bytes = 1,
			.class = class,
		};
		way = graph_way(router->problem->graph, flow[i].from,
				flow[i].to);
		line->latency_s = most(line->latency_s,
				       way.latency_s + way.overhead_s);
	}
	return n;
}

struct boundary {
	struct network_line line;
	uint32_t link;
};

/* One way: raises what there is. */
static void raise_boundaries(const struct router *router, bool forward,
			     struct boundary *boundary)
{
	uint32_t p = pipeline_of(router), count = 0, n = router->stage_ranks;
	uint32_t last = router->plan->choice.virtual_stages > 1 ? p : p - 1;
	struct graph_flow *flow = ARENA_ARRAY(router->arena, struct graph_flow,
					      (size_t)n * p + 1);
	struct graph_time *time = ARENA_ARRAY(router->arena, struct graph_time,
					      p);

	for (uint32_t r = 0; r < last; r++) {
		uint32_t next = (r + 1) % p;

		count += list_pairs(router, forward ? r : next,
				    forward ? next : r, r, flow + count,
				    &boundary[r].line);
	}
	graph_flows(router->problem->graph, flow, count, time, NULL, p,
		    router->arena);
	for (uint32_t r = 0; r < last; r++) {
		if (time[r].time_s <= boundary[r].line.s_per_byte)
			continue;
		boundary[r].line.s_per_byte = time[r].time_s;
		boundary[r].link = time[r].link;
	}
}

static const struct boundary *find_boundaries(const struct router *router)
{
	uint32_t p = pipeline_of(router);
	struct boundary *boundary = ARENA_ARRAY(router->arena, struct boundary, p);

	for (uint32_t r = 0; r < p; r++)
		boundary[r].link = GRAPH_NONE;
	raise_boundaries(router, true, boundary);
	raise_boundaries(router, false, boundary);
	return boundary;
}

static const struct boundary *look_up_boundaries(const struct router *router)
{
	uint32_t ranks = router->stage_ranks * pipeline_of(router), words = 0;
	uint32_t *key = ARENA_ARRAY(router->arena, uint32_t, ranks + 3);
	const struct boundary *found;

	if (!router->memo)
		return find_boundaries(router);
	key[words++] = KEY_BOUNDARIES;
	key[words++] = router->stage_ranks;
	key[words++] = router->plan->choice.virtual_stages > 1;
	for (uint32_t i = 0; i < ranks; i++)
		key[words++] = device_of(router, place_of(router, i));
	found = memo_find(router->memo, key, words);
	if (found)
		return found;
	found = find_boundaries(router);
	memo_keep(router->memo, key, words, found,
		  pipeline_of(router) * sizeof(*found));
	return found;
}

static void route_boundaries(const struct router *router)
{
	const struct boundary *found = look_up_boundaries(router);

	for (uint32_t r = 0; r < pipeline_of(router); r++) {
		router->routed->boundary[r] = found[r].line;
		router->routed->rank[r].boundary_link = found[r].link;
	}
}

/* The rank that holds the layer of a class that occurs once. */
static uint32_t rank_of_class(const struct router *router, uint32_t class)
{
	const struct problem *problem = router->problem;
	uint32_t position = 0, chunk = 0;

	for (uint32_t i = 0; i < problem->run_count &&
			     problem->run[i].class_index != class; i++)
		position += problem->run[i].count;
	while (router->plan->chunk_first[chunk + 1] <= position)
		chunk++;
	return chunk % pipeline_of(router);
}

static void route_tied(const struct router *router)
{
	const struct problem *problem = router->problem;
	struct graph_flow *flow;
	uint32_t a, b, count, level;
	struct graph_time time;

	if (problem->tied_class == CLASS_NONE)
		return;
	a = rank_of_class(router, problem->tied_class);
	b = rank_of_class(router, problem->tied_with_class);
	if (a == b)
		return;
	flow = ARENA_ARRAY(router->arena, struct graph_flow,
			   2 * (size_t)router->stage_ranks);
	count = list_pairs(router, a, b, 0, flow, &router->routed->tied);
	count += list_pairs(router, b, a, 0, flow + count,
			    &router->routed->tied);
	graph_flows(problem->graph, flow, count, &time, NULL, 1, router->arena);
	level = placement_pipeline_level(problem, router->base, a, b);
	router->routed->tied.s_per_byte = time.time_s;
	router->routed->tied_latency_s = most(router->routed->tied.latency_s,
					      problem->level[level].latency_s);
	router->routed->tied = slower(router->routed->tied,
				      router->base->transfer[level]);
}

/* ---- all of it ---- */

static void copy_base(const struct router *router)
{
	for (uint32_t r = 0; r < pipeline_of(router); r++) {
		struct routed_rank *rank = &router->routed->rank[r];

		memcpy(rank->group, router->base->group, sizeof(rank->group));
		rank->sharding = *router->base_sharding;
		for (uint32_t i = 0; i < GROUP_COUNT; i++)
			rank->link[i] = GRAPH_NONE;
		rank->boundary_link = GRAPH_NONE;
	}
}

void routed_network(const struct problem *problem, const struct plan *plan,
		    const struct placed *placed,
		    const struct sharding *sharding, struct memo *memo,
		    struct arena *arena, struct routed *routed)
{
	uint32_t p = plan->choice.pipeline;
	struct router router = {
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
		.base = placed,
		.base_sharding = sharding,
		.memo = memo,
		.arena = arena,
		.routed = routed,
	};

	router.stage_ranks = router.shape->tensor * router.shape->context *
			     plan->choice.data;
	*routed = (struct routed){
		.rank = ARENA_ARRAY(arena, struct routed_rank, p),
		.boundary = ARENA_ARRAY(arena, struct network_line, p),
	};
	copy_base(&router);
	route_group(&router, GROUP_TENSOR);
	route_group(&router, GROUP_CONTEXT);
	route_group(&router, GROUP_DATA_CONTEXT);
	if (share_has_experts(problem)) {
		route_group(&router, GROUP_EXPERT_TENSOR);
		route_group(&router, GROUP_EXPERT);
		route_group(&router, GROUP_EXPERT_DATA);
	}
	if (p > 1)
		route_boundaries(&router);
	for (uint32_t r = 0; r < p; r++)
		routed->boundary[r] = slower(
			routed->boundary[r],
			placed->transfer[placed->boundary_level[r]]);
	route_tied(&router);
}

void routed_plan(const struct problem *problem, const struct plan *plan,
		 struct arena *arena, struct routed *routed)
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	struct placed placed = { .placement = plan->placement };
	struct sharding sharding;

	placement_price(problem, shape, arena, &placed);
	sharding = sharding_of(problem, &plan->placement, shape, placed.group,
			       plan->choice.shard_level);
	routed_network(problem, plan, &placed, &sharding, NULL, arena, routed);
}

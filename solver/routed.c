/* SPDX-License-Identifier: MIT
 *
 * Lists the groups and pairs of a plan's ranks and has them routed.
 */
#include "solver/routed_parts.h"

#include <stdlib.h>
#include <string.h>

#include "solver/graph_lines.h"
#include "solver/most.h"
#include "solver/share.h"

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
	uint32_t ranks = router->stage_ranks * router_pipeline(router);
	uint32_t *place = ARENA_ARRAY(router->arena, uint32_t, ranks);
	uint32_t count = 0;

	for (uint32_t run = 0; run < ranks; run += stripe.size * stripe.stride) {
		for (uint32_t i = 0; i < stripe.stride; i++) {
			for (uint32_t j = 0; j < stripe.size; j++)
				place[count++] = router_place(
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
	uint32_t ranks = router->stage_ranks * router_pipeline(router);
	uint32_t size = part->block / part->step, count = 0;
	uint32_t *device = ARENA_ARRAY(router->arena, uint32_t, ranks);
	uint32_t *class = ARENA_ARRAY(router->arena, uint32_t, ranks / size);
	struct graph_groups groups = {
		.count = ranks / size,
		.size = size,
		.device = device,
		.class = class,
		.class_count = router_pipeline(router),
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
				device[count++] = router_device(router,
							    place[block + j]);
		}
	}
	return look_up_lines(router, &groups, part->block);
}

static void hold_back_by(struct protocol_lines *at,
			 const struct protocol_lines *by)
{
	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		at->all_reduce[i] = routed_slower(at->all_reduce[i], by->all_reduce[i]);
	for (uint32_t i = 0; i < 2; i++)
		at->half[i] = routed_slower(at->half[i], by->half[i]);
	at->all_to_all = routed_slower(at->all_to_all, by->all_to_all);
	at->broadcast = routed_slower(at->broadcast, by->broadcast);
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
	uint32_t p = router_pipeline(router), level = router->plan->choice.shard_level;
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
	for (uint32_t r = 0; r < router_pipeline(router); r++) {
		struct routed_rank *rank = &router->routed->rank[r];

		rank->group[group] = held_back(lines[r].lines,
					       &router->base->group[group]);
		rank->link[group] = lines[r].link;
	}
	if (group == GROUP_DATA_CONTEXT || group == GROUP_EXPERT_DATA)
		route_shards(router, place, &whole, group);
}

/* ---- all of it ---- */

static void copy_base(const struct router *router)
{
	for (uint32_t r = 0; r < router_pipeline(router); r++) {
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
		routed_boundaries(&router);
	for (uint32_t r = 0; r < p; r++)
		routed->boundary[r] = routed_slower(
			routed->boundary[r],
			placed->transfer[placed->boundary_level[r]]);
	routed_tied(&router);
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

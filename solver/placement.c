/* SPDX-License-Identifier: MIT
 *
 * The sets of placements that no other one makes superfluous.
 */
#include "solver/placement.h"

#include <string.h>

#include "solver/devices.h"
#include "solver/linear.h"
#include "solver/share.h"
#include "solver/trend.h"

static bool line_is_covered(const struct network_line *line,
			    const struct network_line *by)
{
	return by->latency_s <= line->latency_s &&
	       by->s_per_byte <= line->s_per_byte;
}

/* Transfers: of every boundary where the pipelines are laid out differently,
 * of every level when they are alike. A tied weight's exchange may cross any
 * pair of ranks: then only like layouts are compared. */
static bool transfers_are_covered(const struct problem *problem,
				  const struct placed *placed,
				  const struct placed *by, uint32_t pipeline)
{
	const uint32_t *row = placed->placement.factor[DIMENSION_PIPELINE];
	bool alike = !placed->device &&
		     !memcmp(row, by->placement.factor[DIMENSION_PIPELINE],
			     LEVEL_MAX * sizeof(*row));

	if (!alike && problem->tied_class != CLASS_NONE)
		return false;
	if (alike) {
		for (uint32_t l = 0; l < problem->level_count; l++)
			if (row[l] > 1 && !line_is_covered(&placed->transfer[l],
							   &by->transfer[l]))
				return false;
		return true;
	}
	for (uint32_t r = 0; r < pipeline; r++)
		if (!line_is_covered(&placed->transfer[placed->boundary_level[r]],
				     &by->transfer[by->boundary_level[r]]) ||
		    (by->replicas_leave && by->boundary_level[r] &&
		     !placed->boundary_level[r]))
			return false;
	return true;
}

static bool shard_group_is_covered(const struct shard_group *group,
				   const struct shard_group *by)
{
	return group->members == by->members &&
	       network_lines_cover(&group->inside, &by->inside) &&
	       network_lines_cover(&group->outside, &by->outside);
}

/* More shards take less memory for what is kept and more for what moves: only
 * equally many are compared. */
static bool shards_are_covered(const struct placed *placed,
			       const struct placed *by)
{
	for (uint32_t l = 1; l < LEVEL_MAX; l++)
		if (placed->sharding[l] &&
		    (!by->sharding[l] || !shard_group_is_covered(&placed->sharding[l]->parameters,
					     &by->sharding[l]->parameters) ||
		     !shard_group_is_covered(&placed->sharding[l]->experts,
					     &by->sharding[l]->experts)))
			return false;
	return true;
}

struct reduction {
	const struct problem *problem;
	struct arena *arena;
	const struct problem_shape *shape;
	uint32_t pipeline;
	bool all, experts, joint;
	VEC(struct placed) kept;
};

static bool is_no_faster(const struct reduction *reduction,
			 const struct placed *placed, const struct placed *by)
{
	for (int i = 0; i < GROUP_COUNT; i++)
		if (!network_lines_cover(&placed->group[i], &by->group[i]))
			return false;
	if (reduction->joint) {
		uint32_t top = reduction->problem->level_count - 1;

		if (!line_is_covered(&placed->transfer[top], &by->transfer[top]))
			return false;
	}
	return placed->replicas_leave >= by->replicas_leave &&
	       shards_are_covered(placed, by) &&
	       transfers_are_covered(reduction->problem, placed, by,
				     reduction->pipeline);
}

static bool is_covered(const struct reduction *reduction,
		       const struct placed *placed, const struct placed *by)
{
	return is_no_faster(reduction, placed, by) &&
	       (!reduction->all || is_no_faster(reduction, by, placed));
}

/* Keeps a placement unless one that is kept is as good, and drops those that it is
 * as good as. */
static bool keep(struct reduction *reduction, const struct placed *placed)
{
	size_t count = 0;

	for (size_t i = 0; i < reduction->kept.count; i++)
		if (is_covered(reduction, placed, &reduction->kept.at[i]))
			return false;
	for (size_t i = 0; i < reduction->kept.count; i++)
		if ((placed->device && !reduction->kept.at[i].device) ||
		    !is_covered(reduction, &reduction->kept.at[i], placed))
			reduction->kept.at[count++] = reduction->kept.at[i];
	reduction->kept.count = count;
	VEC_PUSH(&reduction->kept, reduction->arena, *placed);
	return true;
}

static bool reduce_visit(void *closure, const struct placement *placement)
{
	struct reduction *reduction = closure;
	const struct problem *problem = reduction->problem;
	struct arena_mark mark = arena_mark(reduction->arena);
	struct placed placed = { .placement = *placement };

	if (placement->packing == PACKING_FACTORS &&
	    ((reduction->experts &&
	      !network_experts_fit(problem, placement, reduction->shape)) ||
	     !devices_fit(problem, placement, reduction->arena)))
		return true;
	if (!placement_price_with(problem, reduction->shape, reduction->experts,
				  reduction->arena, &placed) ||
	    !keep(reduction, &placed))
		arena_rewind(reduction->arena, mark);
	return true;
}

void placement_cache_init(struct placement_cache *cache,
			  const struct problem *problem, struct arena *arena)
{
	*cache = (struct placement_cache){
		.problem = problem,
		.arena = arena,
		.experts = share_has_experts(problem),
	};
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		enum trend trend = predicate_trend(&problem->requirement[i]);

		cache->all |= trend == TREND_UP || trend == TREND_ANY;
	}
	for (uint32_t i = 0; i < problem->objective_count; i++)
		for (uint32_t j = 0; j < problem->objective[i].step_count; j++)
			cache->all |= problem->objective[i].step[j].op ==
					      PREDICATE_VARIABLE &&
				      problem->objective[i].step[j].variable ==
					      VARIABLE_BUBBLE;
}

static struct placement_set **set_slot(const struct placement_cache *cache,
				       const struct placement_degrees *degrees)
{
	uint32_t mask = cache->capacity - 1, at;
	uint64_t hash = 0;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		hash = (hash ^ degrees->degree[d]) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ degrees->expert) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ degrees->expert_tensor) * 0x9e3779b97f4a7c15u;
	at = (uint32_t)(hash >> 32) & mask;
	while (cache->slot[at] &&
	       memcmp(&cache->slot[at]->degrees, degrees, sizeof(*degrees)))
		at = (at + 1) & mask;
	return &cache->slot[at];
}

static void cache_grow(struct placement_cache *cache)
{
	struct placement_set **old = cache->slot;
	uint32_t old_capacity = cache->capacity;

	if (cache->used < old_capacity / 2)
		return;
	cache->capacity = old_capacity ? 2 * old_capacity : 64;
	cache->slot = ARENA_ARRAY(cache->arena, struct placement_set *,
				  cache->capacity);
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i])
			*set_slot(cache, &old[i]->degrees) = old[i];
}

const struct placement_set *
placement_find(struct placement_cache *cache, const struct problem_shape *shape,
	       uint32_t data, uint32_t pipeline)
{
	struct placement_degrees degrees = {
		.degree = {
			[DIMENSION_TENSOR] = shape->tensor,
			[DIMENSION_CONTEXT] = shape->context,
			[DIMENSION_DATA] = data,
			[DIMENSION_PIPELINE] = pipeline,
		},
		.expert = shape->expert,
		.expert_tensor = shape->expert_tensor,
	};
	struct reduction reduction = {
		.problem = cache->problem,
		.arena = cache->arena,
		.shape = shape,
		.pipeline = pipeline,
		.all = cache->all,
		.experts = cache->experts,
		.joint = cache->joint,
	};
	struct placement_set **slot, *set;

	cache_grow(cache);
	slot = set_slot(cache, &degrees);
	if (*slot)
		return *slot;
	set = ARENA_NEW(cache->arena, struct placement_set);
	set->degrees = degrees;
	placement_walk(cache->problem, degrees.degree, reduce_visit, &reduction);
	set->factor_count = (uint32_t)reduction.kept.count;
	placement_walk_linear(cache->problem, degrees.degree, reduce_visit,
			      &reduction);
	set->at = reduction.kept.at;
	set->count = (uint32_t)reduction.kept.count;
	*slot = set;
	cache->used++;
	return set;
}

/* A group's lines depend on its own row and on the devices used below its
 * levels; these are at least its own members. */
struct row_reduction {
	struct placement_cache *cache;
	struct placement_row_set *set;
};

static void add_row(struct row_reduction *reduction,
		    const struct network_lines *lines)
{
	struct placement_row_set *set = reduction->set;
	size_t count = 0;

	for (size_t i = 0; i < set->row.count; i++)
		if (network_lines_cover(lines, &set->row.at[i]))
			return;
	for (size_t i = 0; i < set->row.count; i++)
		if (!network_lines_cover(&set->row.at[i], lines))
			set->row.at[count++] = set->row.at[i];
	set->row.count = count;
	VEC_PUSH(&set->row, reduction->cache->arena, *lines);
}

static bool row_visit(void *closure, const struct placement *placement)
{
	struct row_reduction *reduction = closure;
	const struct problem *problem = reduction->cache->problem;
	struct group_shape shape = network_group(problem, placement, NULL,
						 GROUP_TENSOR);
	struct network_lines lines = network_lines(problem, &shape);

	add_row(reduction, &lines);
	return true;
}

const struct placement_row_set *
placement_rows(struct placement_cache *cache, uint32_t degree)
{
	uint32_t alone[DIMENSION_COUNT] = { degree, 1, 1, 1 };
	struct row_reduction reduction = { .cache = cache };
	struct placement_row_set *set;
	struct problem anywhere = *cache->problem;
	struct network_lines linear;

	for (set = cache->row_set; set; set = set->next)
		if (set->degree == degree)
			return set;
	set = ARENA_NEW(cache->arena, struct placement_row_set);
	set->degree = degree;
	set->next = cache->row_set;
	cache->row_set = set;
	reduction.set = set;
	/* The row stands for any dimension or group, each with its own rule. */
	memset(anywhere.within, 0, sizeof(anywhere.within));
	placement_walk(&anywhere, alone, row_visit, &reduction);
	if (linear_least(cache->problem, degree, &linear))
		add_row(&reduction, &linear);
	return set;
}

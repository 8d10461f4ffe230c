/* SPDX-License-Identifier: MIT
 *
 * Enumeration of factor matrices and their reduction.
 */
#include "solver/placement.h"

#include <string.h>

#include "solver/devices.h"
#include "solver/linear.h"
#include "solver/range.h"
#include "solver/share.h"

/* The state of a walk: the matrix so far, what room its columns leave. The
 * recursion is DIMENSION_COUNT x LEVEL_MAX deep at most. */
struct walk {
	const struct problem *problem;
	struct placement placement;
	uint32_t room[LEVEL_MAX];
	uint32_t rest[DIMENSION_COUNT];	/* still to be factored */
	bool (*visit)(void *closure, const struct placement *);
	void *closure;
};

static bool walk_from(struct walk *walk, uint32_t dimension, uint32_t level);

static bool walk_factor(struct walk *walk, uint32_t dimension, uint32_t level,
			uint32_t factor)
{
	uint32_t room = walk->room[level];
	bool more;

	walk->placement.factor[dimension][level] = factor;
	walk->room[level] = room / factor;
	walk->rest[dimension] /= factor;
	more = walk_from(walk, dimension, level + 1);
	walk->rest[dimension] *= factor;
	walk->room[level] = room;
	return more;
}

static bool walk_from(struct walk *walk, uint32_t dimension, uint32_t level)
{
	uint32_t rest = walk->rest[dimension], most;
	bool last = level + 1 == walk->problem->level_count;

	if (level == walk->problem->level_count) {
		if (dimension + 1 == DIMENSION_COUNT)
			return walk->visit(walk->closure, &walk->placement);
		return walk_from(walk, dimension + 1, 0);
	}
	most = walk->room[level] < rest ? walk->room[level] : rest;
	if (walk->problem->within[dimension] &&
	    level >= walk->problem->within[dimension])
		most = 1;
	if (last)
		return most < rest || walk_factor(walk, dimension, level, rest);
	for (uint32_t factor = most; factor; factor--)
		if (rest % factor == 0 &&
		    !walk_factor(walk, dimension, level, factor))
			return false;
	return true;
}

void placement_walk(const struct problem *problem,
		    const uint32_t degree[DIMENSION_COUNT],
		    bool (*visit)(void *closure, const struct placement *),
		    void *closure)
{
	struct walk walk = {
		.problem = problem,
		.placement = { .packing = PACKING_FACTORS },
		.visit = visit,
		.closure = closure,
	};

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		walk.room[l] = l < problem->level_count ?
			problem->level[l].fanout : 1;
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			walk.placement.factor[d][l] = 1;
	}
	memcpy(walk.rest, degree, sizeof(walk.rest));
	walk_from(&walk, 0, 0);
}

void placement_walk_linear(const struct problem *problem,
			   const uint32_t degree[DIMENSION_COUNT],
			   bool (*visit)(void *closure, const struct placement *),
			   void *closure)
{
	/* With one replica the order is the same, but not what `aligned` keeps whole. */
	bool swapped = degree[DIMENSION_PIPELINE] > 1;
	int last = swapped ? PACKING_PIPELINE_DATA : PACKING_DATA_PIPELINE;

	if (!linear_is_possible(problem))
		return;
	for (int packing = PACKING_DATA_PIPELINE; packing <= last; packing++)
		for (uint32_t aligned = 0; aligned < DIMENSION_COUNT; aligned++) {
			struct placement placement = linear_placement(
				degree, (enum packing)packing, aligned);

			if (aligned && !linear_aligns(problem, &placement))
				continue;
			if (!visit(closure, &placement))
				return;
		}
}

bool placement_before(const struct placement *a, const struct placement *b)
{
	if (a->packing != b->packing)
		return a->packing < b->packing;
	if (a->aligned != b->aligned)
		return a->aligned < b->aligned;
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			if (a->factor[d][l] != b->factor[d][l])
				return a->factor[d][l] > b->factor[d][l];
	return false;
}

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

static struct network_lines group_lines(const struct problem *problem,
					const struct placement *placement,
					const struct problem_shape *degrees,
					enum group group)
{
	struct group_shape shape = network_group(problem, placement, degrees,
						 group);

	return network_lines(problem, &shape);
}

static void price_factors(const struct problem *problem,
			  const struct problem_shape *shape, bool experts,
			  struct placed *placed)
{
	uint32_t pipeline = 1;

	for (int i = 0; i < GROUP_COUNT; i++)
		if (i < GROUP_EXPERT || experts)
			placed->group[i] = group_lines(problem,
						       &placed->placement, shape,
						       (enum group)i);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		placed->transfer[l] = network_transfer_line(
			problem, &placed->placement, l);
		pipeline *= placed->placement.factor[DIMENSION_PIPELINE][l];
	}
	for (uint32_t r = 0; r < pipeline; r++)
		placed->boundary_level[r] = (uint8_t)network_pipeline_level(
			problem, &placed->placement, r, (r + 1) % pipeline);
}

static void price_linear(const struct problem *problem,
			 const struct problem_shape *shape, bool experts,
			 struct arena *arena, struct placed *placed)
{
	for (int i = 0; i < GROUP_COUNT; i++)
		if (i < GROUP_EXPERT || experts)
			placed->group[i] = linear_lines(
				problem, &placed->placement, shape,
				placed->device, (enum group)i, arena);
	linear_transfers(problem, &placed->placement, placed->device, arena,
			 placed->transfer, placed->boundary_level);
}

static bool level_is_wanted(const struct problem *problem, uint32_t level)
{
	if (!level)
		return true;
	for (uint32_t zero = 0; zero < 4; zero++)
		if (problem->zero[zero] &&
		    shard_level_allowed(problem, zero, level))
			return true;
	return false;
}

static void price_sharding(const struct problem *problem,
			   const struct problem_shape *shape, struct arena *arena,
			   struct placed *placed)
{
	uint32_t levels = placed->placement.packing == PACKING_FACTORS ?
		problem->level_count : 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		struct sharding *sharding = NULL;

		if (l < levels && level_is_wanted(problem, l)) {
			sharding = ARENA_NEW(arena, struct sharding);
			*sharding = sharding_of(problem, &placed->placement, shape,
						placed->group, l);
		}
		placed->sharding[l] = sharding;
	}
}

/* Lays the ranks of a linear placement; NULL where they find no room, or where factors,
 * the plainer way to say where ranks are, say the same. */
static const uint32_t *lay_linear(const struct problem *problem,
				  const struct problem_shape *shape,
				  const struct placement *placement,
				  struct arena *arena)
{
	struct placement factors;
	const uint32_t *device;

	if (linear_divides(problem, placement, &factors) &&
	    network_experts_fit(problem, &factors, shape))
		return NULL;
	device = devices_lay(problem, placement, arena);
	if (!device ||
	    (linear_is_factored(problem, placement, device, &factors) &&
	     network_experts_fit(problem, &factors, shape)))
		return NULL;
	return device;
}

/* Whether the replicas of a weight lie in several innermost children. */
static bool replicas_leave(const struct problem *problem,
			   const struct placement *placement)
{
	uint32_t inner = placement->factor[DIMENSION_CONTEXT][0] *
			 placement->factor[DIMENSION_DATA][0];
	uint32_t replicas = 1, devices = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		replicas *= placement->factor[DIMENSION_CONTEXT][l] *
			    placement->factor[DIMENSION_DATA][l];
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			devices *= placement->factor[d][l];
	}
	if (placement->packing == PACKING_FACTORS)
		return replicas > inner;
	return replicas > 1 && devices > problem->level[0].fanout;
}

/* placement_price; whether there are experts is known. */
static bool price(const struct problem *problem,
		  const struct problem_shape *shape, bool experts,
		  struct arena *arena, struct placed *placed)
{
	const uint32_t *row = placed->placement.factor[DIMENSION_PIPELINE];
	uint32_t pipeline = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		pipeline *= row[l];
	placed->boundary_level = ARENA_ARRAY(arena, uint8_t, pipeline);
	placed->device = NULL;
	placed->replicas_leave = replicas_leave(problem, &placed->placement);
	for (int i = 0; i < GROUP_COUNT; i++)
		placed->group[i] = (struct network_lines){ .alone = true };
	if (placed->placement.packing == PACKING_FACTORS) {
		price_factors(problem, shape, experts, placed);
		price_sharding(problem, shape, arena, placed);
		return true;
	}
	placed->device = lay_linear(problem, shape, &placed->placement, arena);
	if (!placed->device)
		return false;
	price_linear(problem, shape, experts, arena, placed);
	price_sharding(problem, shape, arena, placed);
	return true;
}

bool placement_price(const struct problem *problem,
		     const struct problem_shape *shape, struct arena *arena,
		     struct placed *placed)
{
	return price(problem, shape, share_has_experts(problem), arena, placed);
}

static void reach_factors(const struct problem *problem,
			  const struct group_shape *shape,
			  struct placement_reach *reach)
{
	uint32_t inside = 1;

	for (uint32_t l = 0; l < problem->level_count; l++)
		reach->members *= shape->members[l];
	for (uint32_t l = 0; l <= problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];
		struct placement_part *part = &reach->level[l];

		part->least = part->most = part->copies = inside;
		if (l == problem->level_count)
			break;
		part->crossed = shape->members[l] > 1;
		part->sharers = inside < reach->members ?
			shape->used[l] / inside : 0;
		part->share = 1;
		if (level->kind == LEVEL_FULL && part->crossed)
			part->share = (shape->members[l] - 1.0) /
				      (level->fanout - 1);
		if (level->kind == LEVEL_RING)
			part->share = (level->wrap &&
				       shape->apart[l] * shape->members[l] ==
					       level->fanout ? 1 : 0.5) /
				      shape->apart[l];
		inside *= shape->members[l];
	}
}

void placement_reach(const struct problem *problem,
		     const struct problem_shape *shape,
		     const struct placed *placed, enum group group,
		     struct arena *scratch, struct placement_reach *reach)
{
	struct group_shape group_shape;

	*reach = (struct placement_reach){ .members = 1 };
	if (placed->device) {
		linear_reach(problem, &placed->placement, shape, placed->device,
			     group, scratch, reach);
		return;
	}
	group_shape = network_group(problem, &placed->placement, shape, group);
	reach_factors(problem, &group_shape, reach);
}

uint32_t placement_pipeline_level(const struct problem *problem,
				  const struct placed *placed, uint32_t a,
				  uint32_t b)
{
	if (placed->device)
		return linear_pipeline_level(problem, &placed->placement,
					     placed->device, a, b);
	return network_pipeline_level(problem, &placed->placement, a, b);
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
	if (!price(problem, reduction->shape, reduction->experts,
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
	struct network_lines lines = group_lines(reduction->cache->problem,
						 placement, NULL, GROUP_TENSOR);

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

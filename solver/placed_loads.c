/* SPDX-License-Identifier: MIT
 *
 * Adding up layers under placements.
 */
#include "solver/placed_loads.h"

#include <math.h>
#include <string.h>

#include "solver/layer.h"
#include "solver/most.h"

void placed_loads_init(struct placed_loads_cache *cache,
		       const struct problem *problem, struct arena *arena)
{
	*cache = (struct placed_loads_cache){ .problem = problem, .arena = arena };
}

static struct placed_loads **slot_of(const struct placed_loads_cache *cache,
				     const struct placed_key *key)
{
	const uint32_t words[] = { key->shape, key->data,  key->pipeline,
				   key->policy, key->zero, key->shard_level };
	uint32_t mask = cache->capacity - 1, at;
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
	at = (uint32_t)(hash >> 32) & mask;
	while (cache->slot[at] && memcmp(&cache->slot[at]->key, key, sizeof(*key)))
		at = (at + 1) & mask;
	return &cache->slot[at];
}

static void grow(struct placed_loads_cache *cache)
{
	struct placed_loads **old = cache->slot;
	uint32_t old_capacity = cache->capacity;

	if (cache->used < old_capacity / 2)
		return;
	cache->capacity = old_capacity ? 2 * old_capacity : 64;
	cache->slot = ARENA_ARRAY(cache->arena, struct placed_loads *,
				  cache->capacity);
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i])
			*slot_of(cache, &old[i]->key) = old[i];
}

/* Both ways; of a block that need not be recomputed each direction at its least. */
static double both_of(const struct layer_setting *setting, uint32_t class_index,
		      bool partial, double *extra_s)
{
	struct layer_time time = layer_time(setting, class_index), kept;
	struct layer_setting keeping = *setting;
	double both;

	*extra_s = 0;
	if (!partial || !setting->problem->class_is_block[class_index])
		return time.forward_s + time.backward_s;
	keeping.recompute = RECOMPUTE_NONE;
	kept = layer_time(&keeping, class_index);
	both = least(time.forward_s, kept.forward_s) +
	       least(time.backward_s, kept.backward_s);
	*extra_s = time.forward_s + time.backward_s - both;
	return both;
}

static struct facts_loads loads_of(const struct layer_setting *setting,
				   uint32_t kind, bool partial, double *both)
{
	struct facts_loads loads;
	double extra_s, unit_extra_s = 0;

	for (uint32_t c = 0; c < setting->problem->class_count; c++) {
		both[c] = both_of(setting, c, partial, &extra_s);
		if (c == kind)
			unit_extra_s = extra_s;
	}
	loads = facts_add_up(setting->problem, kind, both);
	loads.extra_s = unit_extra_s;
	return loads;
}

static double transfer(const struct placed *placed, uint32_t rank, double bytes)
{
	const struct network_line *line =
		&placed->transfer[placed->boundary_level[rank]];

	return line->latency_s + bytes * line->s_per_byte;
}

static void add_transfers(struct placed_load *load, const struct placed *placed,
			  uint32_t pipeline, double bytes)
{
	for (uint32_t r = 0; r + 1 < pipeline; r++)
		load->row_s += transfer(placed, r, bytes);
	if (pipeline > 1)
		load->wrap_s = transfer(placed, pipeline - 1, bytes);
}

static void take_least(struct facts_loads *low, const struct facts_loads *loads)
{
	low->all_s = least(low->all_s, loads->all_s);
	low->unit_s = least(low->unit_s, loads->unit_s);
	low->first_s = least(low->first_s, loads->first_s);
	low->last_s = least(low->last_s, loads->last_s);
	low->extra_s = least(low->extra_s, loads->extra_s);
}

static struct placed_loads *
loads_new(const struct placed_loads_cache *cache, const struct facts *facts,
	  const struct placement_set *set, const struct choice *choice)
{
	struct placed_loads *loads = ARENA_NEW(cache->arena, struct placed_loads);
	double *both = ARENA_ARRAY(cache->arena, double,
				   cache->problem->class_count);
	struct layer_setting setting = {
		.problem = cache->problem,
		.shape = choice->shape,
		.recompute = choice->recompute,
		.zero = choice->zero,
	};

	loads->at = ARENA_ARRAY(cache->arena, struct placed_load, set->count);
	loads->least = (struct facts_loads){ INFINITY, INFINITY, INFINITY,
					     INFINITY, INFINITY };
	for (uint32_t i = 0; i < set->count; i++) {
		const struct placed *placed = &set->at[i];
		struct placed_load *load = &loads->at[i];

		setting.group = placed->group;
		setting.sharding = placed->sharding[choice->shard_level];
		load->allowed = setting.sharding;
		if (!load->allowed)
			continue;
		load->loads = loads_of(&setting, facts->deal.kind,
				       facts_policy(choice) == FACTS_PARTIAL, both);
		add_transfers(load, placed, choice->pipeline,
			      facts->output_least_bytes);
		take_least(&loads->least, &load->loads);
	}
	return loads;
}

const struct placed_loads *
placed_loads_find(struct placed_loads_cache *cache, const struct facts *facts,
		  const struct placement_set *set, const struct choice *choice)
{
	bool moves = choice->zero > 1;
	struct placed_key key = {
		.shape = choice->shape,
		.data = choice->data,
		.pipeline = choice->pipeline,
		.policy = (uint32_t)facts_policy(choice),
		.zero = moves ? choice->zero : 0,
		.shard_level = choice->shard_level,
	};
	struct placed_loads **slot;

	grow(cache);
	slot = slot_of(cache, &key);
	if (!*slot) {
		*slot = loads_new(cache, facts, set, choice);
		(*slot)->key = key;
		cache->used++;
	}
	return *slot;
}

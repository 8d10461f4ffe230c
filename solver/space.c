/* SPDX-License-Identifier: MIT
 *
 * Legal degrees and their counts.
 */
#include "solver/space.h"

#include <string.h>

#include "solver/shard.h"

/* Counts depend on three numbers of a shape only. */
struct space_count {
	uint64_t members;		/* tensor x context; 0: free slot */
	uint64_t experts;		/* expert x expert_tensor */
	uint32_t micro_batch;
	uint64_t count;
};

static bool domain_has(const struct problem_domain *domain, uint32_t value)
{
	uint32_t low = 0, high = domain->count;

	if (!domain->count)
		return true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (domain->at[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < domain->count && domain->at[low] == value;
}

static uint64_t shape_members(const struct space *space, uint32_t shape)
{
	return (uint64_t)space->problem->shape[shape].tensor *
	       space->problem->shape[shape].context;
}

static uint64_t shape_experts(const struct space *space, uint32_t shape)
{
	return (uint64_t)space->problem->shape[shape].expert *
	       space->problem->shape[shape].expert_tensor;
}

static void find_data(struct space *space)
{
	const struct problem *problem = space->problem;
	uint32_t most = problem->global_batch < problem_usable(problem) ?
		problem->global_batch : problem_usable(problem);

	for (uint32_t pass = 0; pass < 2; pass++) {
		space->data_count = 0;
		for (uint32_t d = 1; d <= most; d++) {
			if (problem->global_batch % d ||
			    !domain_has(&problem->data, d))
				continue;
			if (pass)
				space->data[space->data_count] = d;
			space->data_count++;
		}
		if (!pass)
			space->data = ARENA_ARRAY(space->arena, uint32_t,
						  space->data_count);
	}
}

static void find_interleavings(struct space *space)
{
	const struct problem_domain *domain = &space->problem->virtual_stages;
	uint32_t length = space->chain_length;

	space->plain = domain_has(domain, 1);
	space->interleavings = ARENA_ARRAY(space->arena, uint32_t,
					   (size_t)length + 1);
	for (uint32_t p = 2; p <= length; p++)
		for (uint32_t v = 2; v <= length / p; v++)
			space->interleavings[p] += domain_has(domain, v);
}

static void add_shards(struct space *space, struct policy policy, bool store)
{
	const struct problem *problem = space->problem;

	for (policy.zero = 0; policy.zero < 4; policy.zero++)
		for (uint32_t l = 0; l < problem->level_count; l++) {
			if (!problem->zero[policy.zero] ||
			    !shard_level_allowed(problem, policy.zero, l))
				continue;
			policy.shard_level = l;
			if (store)
				space->policy[space->policies] = policy;
			space->policies++;
		}
}

static void add_policies(struct space *space, bool store)
{
	const struct problem *problem = space->problem;
	const struct problem_domain *layers = &problem->recompute_layers;

	space->policies = 0;
	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		struct policy policy = { .recompute = (enum recompute)r };
		bool partial = r == RECOMPUTE_FULL && layers->count;

		if (!problem->recompute[r])
			continue;
		for (uint32_t i = 0; i < (partial ? layers->count : 1); i++) {
			policy.recompute_layers = partial ? layers->at[i] : 0;
			policy.fewer_layers = partial && i ? layers->at[i - 1] : 0;
			add_shards(space, policy, store);
		}
	}
}

/* Shard level 0 shares out among most, whether it is allowed or not. */
static void find_policies(struct space *space)
{
	add_policies(space, false);
	space->policy = ARENA_ARRAY(space->arena, struct policy,
				    space->policies);
	add_policies(space, true);
	for (uint32_t z = 0; z < 4; z++)
		if (space->problem->zero[z])
			space->lightest.zero = z;
}

void space_init(struct space *space, const struct problem *problem,
		struct arena *arena)
{
	*space = (struct space){
		.problem = problem,
		.arena = arena,
		.chain_length = problem_chain_length(problem),
	};
	find_data(space);
	find_interleavings(space);
	find_policies(space);
}

bool space_has_data(const struct space *space, uint32_t shape, uint32_t data)
{
	const struct problem *problem = space->problem;
	uint32_t micro_batch = problem->shape[shape].micro_batch;

	return problem->global_batch % micro_batch == 0 &&
	       problem->global_batch / micro_batch % data == 0 &&
	       shape_members(space, shape) * data %
			       shape_experts(space, shape) == 0 &&
	       shape_members(space, shape) * data <= problem_usable(problem);
}

uint32_t space_pipeline_max(const struct space *space, uint32_t shape,
			    uint32_t data)
{
	uint64_t most = problem_usable(space->problem) /
			(shape_members(space, shape) * data);

	return most < space->chain_length ? (uint32_t)most : space->chain_length;
}

bool space_has_pipeline(const struct space *space, uint32_t shape,
			uint32_t data, uint32_t pipeline)
{
	const struct problem *problem = space->problem;
	uint64_t devices = shape_members(space, shape) * data * pipeline;

	return domain_has(&problem->pipeline, pipeline) &&
	       domain_has(&problem->devices, (uint32_t)devices);
}

bool space_has_virtual(const struct space *space, uint32_t pipeline,
		       uint32_t virtual_stages, uint32_t micro_batches)
{
	if (virtual_stages == 1)
		return space->plain;
	return pipeline > 1 && micro_batches % pipeline == 0 &&
	       virtual_stages <= space->chain_length / pipeline &&
	       domain_has(&space->problem->virtual_stages, virtual_stages);
}

static bool schedule_allowed(const struct problem *problem,
			     enum schedule schedule)
{
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		if (problem->schedule[i])
			return problem->schedule[schedule];
	return schedule != SCHEDULE_GPIPE;
}

bool space_has_schedule(const struct space *space, uint32_t pipeline,
			uint32_t virtual_stages, enum schedule schedule)
{
	if (pipeline == 1)
		return schedule == SCHEDULE_1F1B;
	return (schedule == SCHEDULE_INTERLEAVED) == (virtual_stages > 1) &&
	       schedule_allowed(space->problem, schedule);
}

uint64_t space_count_interleaved(const struct space *space, uint32_t pipeline)
{
	if (!schedule_allowed(space->problem, SCHEDULE_INTERLEAVED))
		return 0;
	return (uint64_t)space->interleavings[pipeline] * space->policies;
}

uint64_t space_count_pipeline(const struct space *space, uint32_t pipeline,
			      uint32_t micro_batches)
{
	uint64_t ways = 0, count;

	for (int i = 0; space->plain && i < SCHEDULE_COUNT; i++)
		ways += space_has_schedule(space, pipeline, 1, (enum schedule)i);
	count = ways * space->policies;
	if (pipeline > 1 && micro_batches % pipeline == 0)
		count += space_count_interleaved(space, pipeline);
	return count;
}

uint64_t space_count_data(const struct space *space, uint32_t shape,
			  uint32_t data)
{
	uint32_t most = space_pipeline_max(space, shape, data);
	uint32_t micro_batches = space_micro_batches(space, shape, data);
	uint64_t count = 0;

	for (uint32_t p = 1; p <= most; p++)
		if (space_has_pipeline(space, shape, data, p))
			count += space_count_pipeline(space, p, micro_batches);
	return count;
}

static struct space_count *count_slot(const struct space *space,
				      uint64_t members, uint64_t experts,
				      uint32_t micro_batch)
{
	uint64_t hash = (members * 0x9e3779b97f4a7c15u) ^
			(micro_batch * 0xc2b2ae3d27d4eb4fu) ^
			(experts * 0xff51afd7ed558ccdu);
	uint32_t mask = space->count_capacity - 1;
	uint32_t at = (uint32_t)(hash >> 32) & mask;

	while (space->count[at].members &&
	       (space->count[at].members != members ||
		space->count[at].experts != experts ||
		space->count[at].micro_batch != micro_batch))
		at = (at + 1) & mask;
	return &space->count[at];
}

static void count_grow(struct space *space)
{
	struct space_count *old = space->count;
	uint32_t old_capacity = space->count_capacity;

	if (space->count_used < old_capacity / 2)
		return;
	space->count_capacity = old_capacity ? 2 * old_capacity : 64;
	space->count = ARENA_ARRAY(space->arena, struct space_count,
				   space->count_capacity);
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i].members)
			*count_slot(space, old[i].members, old[i].experts,
				    old[i].micro_batch) = old[i];
}

uint64_t space_count_shape(struct space *space, uint32_t shape)
{
	uint64_t members = shape_members(space, shape);
	uint64_t experts = shape_experts(space, shape);
	uint32_t micro_batch = space->problem->shape[shape].micro_batch;
	struct space_count *slot;

	count_grow(space);
	slot = count_slot(space, members, experts, micro_batch);
	if (slot->members)
		return slot->count;
	*slot = (struct space_count){ .members = members,
				      .experts = experts,
				      .micro_batch = micro_batch };
	space->count_used++;
	for (uint32_t i = 0; i < space->data_count; i++)
		if (space_has_data(space, shape, space->data[i]))
			slot->count += space_count_data(space, shape,
							space->data[i]);
	return slot->count;
}

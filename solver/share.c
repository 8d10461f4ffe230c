/* SPDX-License-Identifier: MIT
 *
 * The figures of share.h; price.h says what they mean.
 */
#include "solver/share.h"

/* Groups with more than one member that a device is in. */
static uint32_t group_count(const struct problem_shape *shape,
			    const struct choice *choice,
			    const struct share *share,
			    const struct sharding *sharding)
{
	uint32_t count = (shape->tensor > 1) + (shape->context > 1) +
			 (share->replicas > 1) + (choice->pipeline > 1);
	bool cut = choice->shard_level && sharding;

	if (cut)
		count += (sharding->parameters.members > 1) +
			 (sharding->parameters.others > 1);
	if (shape->expert == 1 && shape->expert_tensor == 1)
		return count;
	if (cut)
		count += (sharding->experts.members > 1) +
			 (sharding->experts.others > 1);
	return count + (shape->expert > 1) + (shape->expert_tensor > 1) +
	       (share->expert_replicas > 1);
}

/* The most members that a shard group of so many replicas can have. */
static double most_shards(const struct problem *problem,
			  const struct choice *choice, double replicas)
{
	double below = 1;

	if (!choice->shard_level)
		return replicas;
	for (uint32_t l = 0; l < choice->shard_level; l++)
		below *= problem->level[l].fanout;
	return below < replicas ? below : replicas;
}

static double bytes_of_one(const struct problem_memory *memory, uint32_t zero,
			   double shards)
{
	return memory->weight_bytes / (zero > 2 ? shards : 1) +
	       memory->gradient_bytes / (zero > 1 ? shards : 1) +
	       memory->optimizer_bytes / (zero > 0 ? shards : 1);
}

static double moving_of_one(const struct problem_memory *memory, uint32_t zero,
			    double shards)
{
	if (shards <= 1)
		return 0;
	return (zero > 1 ? memory->gradient_bytes : 0) +
	       (zero > 2 ? memory->weight_bytes : 0);
}

/* ZeRO 0 leaves every replica all of them; else they are shared or dealt out. */
static void share_apart(const struct problem_memory *memory, uint32_t zero,
			   struct share *share)
{
	double more_bytes = memory->apart_bytes - memory->optimizer_bytes;

	share->apart = true;
	share->dealt = zero ? share->shards : 1;
	share->expert_dealt = zero ? share->expert_shards : 1;
	share->apart_more_bytes = more_bytes / share->dealt;
	share->expert_apart_more_bytes = more_bytes / share->expert_dealt;
	share->apart_bytes = memory->apart_bytes;
}

static void share_steps(const struct problem_sync *sync, uint32_t zero,
			struct share *share)
{
	double step_s;

	if (sync->step_bytes <= 0)
		return;
	step_s = sync->step_bytes / sync->memory_bandwidth_Bps;
	share->step_s = step_s / (zero > 0 ? share->shards : 1);
	share->expert_step_s = step_s / (zero > 0 ? share->expert_shards : 1);
}

struct share share_of(const struct problem *problem, const struct choice *choice,
		      const struct sharding *sharding)
{
	const struct problem_shape *shape = &problem->shape[choice->shape];
	const struct problem_memory *memory = &problem->memory;
	uint32_t zero = choice->zero;
	struct share share = {
		.replicas = (double)choice->data * shape->context,
	};

	share.expert_replicas = share.replicas * shape->tensor /
				((double)shape->expert * shape->expert_tensor);
	share.shards = sharding ? sharding->parameters.members :
				  most_shards(problem, choice, share.replicas);
	share.expert_shards =
		sharding ? sharding->experts.members :
			   most_shards(problem, choice, share.expert_replicas);
	share.parameter_bytes = bytes_of_one(memory, zero, share.shards);
	share.expert_bytes = bytes_of_one(memory, zero, share.expert_shards);
	if (sharding || !choice->shard_level) {
		share.moving_bytes = moving_of_one(memory, zero, share.shards);
		share.expert_moving_bytes =
			moving_of_one(memory, zero, share.expert_shards);
	}
	share_steps(&problem->sync, zero, &share);
	if (problem->states_apart)
		share_apart(memory, zero, &share);
	share.reserve_bytes = memory->reserve_bytes +
			      group_count(shape, choice, &share, sharding) *
				      memory->group_bytes;
	return share;
}

bool share_has_experts(const struct problem *problem)
{
	uint64_t weights = (uint64_t)problem->shape_count * problem->class_count;

	for (uint32_t i = 0; i < problem->collective_count; i++)
		if (problem->collective[i].group >= GROUP_EXPERT)
			return true;
	for (uint64_t i = 0; i < weights; i++)
		if (problem->weight[i].expert_parameters > 0)
			return true;
	return false;
}

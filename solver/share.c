/* SPDX-License-Identifier: MIT
 *
 * The figures of share.h; price.h says what they mean.
 */
#include "solver/share.h"

/* Groups with more than one member that a device is in. */
static uint32_t group_count(const struct problem_shape *shape,
			    const struct choice *choice,
			    const struct share *share)
{
	uint32_t count = (shape->tensor > 1) + (shape->context > 1) +
			 (share->replicas > 1) + (choice->pipeline > 1);

	if (shape->expert == 1 && shape->expert_tensor == 1)
		return count;
	return count + (shape->expert > 1) + (shape->expert_tensor > 1) +
	       (share->expert_replicas > 1);
}

struct share share_of(const struct problem *problem, const struct choice *choice)
{
	const struct problem_shape *shape = &problem->shape[choice->shape];
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;
	double kept = memory->weight_bytes + memory->gradient_bytes;
	bool sharded = choice->zero > 0;
	struct share share = {
		.replicas = (double)choice->data * shape->context,
	};

	share.expert_replicas = share.replicas * shape->tensor /
				((double)shape->expert * shape->expert_tensor);
	share.parameter_bytes = kept + memory->optimizer_bytes /
					       (sharded ? share.replicas : 1);
	share.expert_bytes = kept + memory->optimizer_bytes /
					    (sharded ? share.expert_replicas : 1);
	if (sync->step_bytes > 0) {
		double step_s = sync->step_bytes / sync->memory_bandwidth_Bps;

		share.step_s = step_s / (sharded ? share.replicas : 1);
		share.expert_step_s =
			step_s / (sharded ? share.expert_replicas : 1);
	}
	share.reserve_bytes = memory->reserve_bytes +
			      group_count(shape, choice, &share) *
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

/* SPDX-License-Identifier: MIT
 *
 * Shards of a plan as runs of replicas.
 */
#include "compiler/megatron_shards.h"

#include <stdbool.h>

#include "solver/shard.h"
#include "solver/share.h"

static uint32_t product(const uint32_t *row, uint32_t from, uint32_t to)
{
	uint32_t all = 1;

	for (uint32_t l = from; l < to; l++)
		all *= row[l];
	return all;
}

/* Whether the shards of experts are as many. */
static bool experts_agree(const struct problem *problem, const struct plan *plan,
			  uint32_t instances)
{
	struct group_shape whole = network_group(
		problem, &plan->placement, &problem->shape[plan->choice.shape],
		GROUP_EXPERT_DATA);
	struct group_shape rest = shard_outside(&whole,
						plan->choice.shard_level);

	return product(rest.members, 0, problem->level_count) == instances;
}

uint32_t megatron_instances(const struct problem *problem,
			    const struct plan *plan)
{
	const uint32_t *data = plan->placement.factor[DIMENSION_DATA];
	const uint32_t *context = plan->placement.factor[DIMENSION_CONTEXT];
	uint32_t cut = plan->choice.shard_level, levels = problem->level_count;
	uint32_t outer_context, instances;

	if (!cut)
		return 1;
	outer_context = product(context, cut, levels);
	instances = outer_context * product(data, cut, levels);
	/* Inner data ranks come after outer context ranks. */
	if (outer_context > 1 && product(data, 0, cut) > 1)
		return 0;
	if (share_has_experts(problem) &&
	    !experts_agree(problem, plan, instances))
		return 0;
	return instances;
}

/* SPDX-License-Identifier: MIT
 *
 * How Megatron-LM is told among which replicas a plan's ZeRO shares out.
 */
#ifndef NEST_COMPILER_MEGATRON_SHARDS_H
#define NEST_COMPILER_MEGATRON_SHARDS_H

#include <stdint.h>

#include "solver/plan.h"

/* --num-distributed-optimizer-instances: the replicas of a weight, context ranks
 * fastest and then data ranks, are cut into so many runs of equal length, and so are
 * those of experts (parallel_state.py, initialize_model_parallel). 0 where the plan
 * has other shards. */
uint32_t megatron_instances(const struct problem *problem,
			    const struct plan *plan);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Words for collectives, groups and algorithms.
 */
#include "compiler/network_names.h"

static const char *const collective_names[COLLECTIVE_COUNT] = {
	[COLLECTIVE_ALL_REDUCE] = "all-reduce",
	[COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
	[COLLECTIVE_ALL_GATHER] = "all-gather",
	[COLLECTIVE_ALL_TO_ALL] = "all-to-all",
	[COLLECTIVE_BROADCAST] = "broadcast",
};

static const char *const group_names[GROUP_COUNT] = {
	[GROUP_TENSOR] = "tensor",
	[GROUP_CONTEXT] = "context",
	[GROUP_DATA_CONTEXT] = "data x context",
	[GROUP_EXPERT] = "expert",
	[GROUP_EXPERT_TENSOR] = "expert tensor",
	[GROUP_EXPERT_DATA] = "expert data",
};

static const char *const algorithm_names[ALGORITHM_COUNT] = {
	[ALGORITHM_NONE] = "none",
	[ALGORITHM_RING] = "ring",
	[ALGORITHM_HIERARCHICAL] = "hierarchical",
	[ALGORITHM_TREE] = "tree",
	[ALGORITHM_DIRECT] = "direct",
	[ALGORITHM_IN_NETWORK] = "in the network",
};

const char *collective_name(enum collective collective)
{
	return collective_names[collective];
}

const char *group_name(enum group group)
{
	return group_names[group];
}

const char *algorithm_name(enum algorithm algorithm)
{
	return algorithm_names[algorithm];
}

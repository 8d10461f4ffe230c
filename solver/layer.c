/* SPDX-License-Identifier: MIT
 *
 * Adds up a layer's compute and exposed collectives.
 */
#include "solver/layer.h"

#include <stddef.h>

#include "solver/most.h"

/* Where a group's communication is counted. */
static double *part_of(struct layer_time *time, enum group group)
{
	switch (group) {
	case GROUP_TENSOR:
		return &time->tensor_s;
	case GROUP_CONTEXT:
		return &time->context_s;
	default:
		return &time->expert_s;
	}
}

/* A collective over both kinds of parameters of a layer, one after the other. */
static double move_weight(const struct sharding *sharding, enum collective kind,
			  const struct problem_weight *weight, double bytes)
{
	return network_time(&sharding->parameters.inside, kind,
			    weight->parameters * bytes, NULL) +
	       network_time(&sharding->experts.inside, kind,
			    weight->expert_parameters * bytes, NULL);
}

/* Gathers before the passes, scatters of the gradients. */
static void add_sharding(const struct layer_setting *setting,
			 uint32_t class_index, struct layer_time *time)
{
	const struct problem_sync *sync = &setting->problem->sync;
	const struct problem_weight *weight =
		problem_weight_at(setting->problem, setting->shape, class_index);
	double forward = time->forward_s, backward = time->backward_s;
	double gather = 0, scatter, behind = 0;

	if (setting->zero < 2)
		return;
	if (setting->zero == 3)
		gather = move_weight(setting->sharding, COLLECTIVE_ALL_GATHER,
				     weight, sync->gather_bytes);
	scatter = move_weight(setting->sharding, COLLECTIVE_REDUCE_SCATTER, weight,
			      sync->reduce_bytes);
	if (sync->overlap_gather) {
		time->forward_s += most(0, gather - forward);
		behind += gather;
	} else {
		time->forward_s += gather;
		time->backward_s += gather;
	}
	if (sync->overlap_reduce)
		behind += scatter;
	else
		time->backward_s += scatter;
	time->backward_s += most(0, behind - backward);
	time->sharding_s = time->forward_s - forward + (time->backward_s - backward);
}

struct layer_time layer_time(const struct layer_setting *setting,
			     uint32_t class_index)
{
	const struct problem *problem = setting->problem;
	const struct problem_cost *cost = problem_cost_at(
		problem, setting->shape, class_index, setting->recompute);
	struct layer_time time = {
		.forward_s = cost->forward_s,
		.backward_s = cost->backward_s,
		.compute_s = cost->forward_s + cost->backward_s,
	};

	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[cost->collective_first + i];
		double time_s = network_time(&setting->group[collective->group],
					     collective->kind, collective->bytes,
					     NULL);
		double exposed = problem_exposed_s(collective, time_s);

		if (exposed <= 0)
			continue;
		if (collective->backward)
			time.backward_s += exposed;
		else
			time.forward_s += exposed;
		*part_of(&time, collective->group) += exposed;
	}
	add_sharding(setting, class_index, &time);
	return time;
}

void layer_times(const struct layer_setting *setting, struct layer_time *time)
{
	for (uint32_t c = 0; c < setting->problem->class_count; c++)
		time[c] = layer_time(setting, c);
}

/* SPDX-License-Identifier: MIT
 *
 * Adds up a layer's compute and exposed collectives.
 */
#include "solver/layer.h"

#include <stddef.h>

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

struct layer_time layer_time(const struct problem *problem, uint32_t shape,
			     uint32_t class_index, enum recompute recompute,
			     const struct network_lines lines[GROUP_COUNT])
{
	const struct problem_cost *cost =
		problem_cost_at(problem, shape, class_index, recompute);
	struct layer_time time = {
		.forward_s = cost->forward_s,
		.backward_s = cost->backward_s,
		.compute_s = cost->forward_s + cost->backward_s,
	};

	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[cost->collective_first + i];
		double exposed = network_time(&lines[collective->group],
					      collective->kind,
					      collective->bytes, NULL) -
				 collective->hidden_s;

		if (exposed <= 0)
			continue;
		if (collective->backward)
			time.backward_s += exposed;
		else
			time.forward_s += exposed;
		*part_of(&time, collective->group) += exposed;
	}
	return time;
}

void layer_times(const struct problem *problem, uint32_t shape,
		 enum recompute recompute,
		 const struct network_lines lines[GROUP_COUNT],
		 struct layer_time *time)
{
	for (uint32_t c = 0; c < problem->class_count; c++)
		time[c] = layer_time(problem, shape, c, recompute, lines);
}

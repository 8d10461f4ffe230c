/* SPDX-License-Identifier: MIT
 *
 * Adds up a layer's compute and exposed collectives.
 */
#include "solver/layer.h"

#include <stddef.h>

static struct layer_time layer_time_of(const struct problem *problem,
				       const struct problem_cost *cost,
				       const struct network_lines *tensor,
				       const struct network_lines *context)
{
	struct layer_time time = {
		.forward_s = cost->forward_s,
		.backward_s = cost->backward_s,
		.compute_s = cost->forward_s + cost->backward_s,
	};

	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[cost->collective_first + i];
		bool in_context = collective->group == GROUP_CONTEXT;
		double exposed =
			network_time(in_context ? context : tensor,
				     collective->kind, collective->bytes, NULL) -
			collective->hidden_s;

		if (exposed <= 0)
			continue;
		if (collective->backward)
			time.backward_s += exposed;
		else
			time.forward_s += exposed;
		if (in_context)
			time.context_s += exposed;
		else
			time.tensor_s += exposed;
	}
	return time;
}

void layer_times(const struct problem *problem, uint32_t shape,
		 enum recompute recompute, const struct network_lines *tensor,
		 const struct network_lines *context, struct layer_time *time)
{
	for (uint32_t c = 0; c < problem->class_count; c++)
		time[c] = layer_time_of(problem,
					problem_cost_at(problem, shape, c, recompute),
					tensor, context);
}

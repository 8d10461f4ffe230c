/* SPDX-License-Identifier: MIT
 *
 * Flattened networks.
 */
#include "solver/view.h"

#include "solver/layer.h"

static void make_arrays(struct view *view, const struct attempts *attempts)
{
	struct arena *arena = attempts->scratch;
	size_t sums = (size_t)attempts->length + 1;

	view->time_s = ARENA_ARRAY(arena, double, sums);
	view->held_bytes = ARENA_ARRAY(arena, double, sums);
	view->kept_bytes = ARENA_ARRAY(arena, double, sums);
	view->parameters = ARENA_ARRAY(arena, double, sums);
	view->transfer_s = ARENA_ARRAY(arena, double, sums);
	view->layer = ARENA_ARRAY(arena, struct layer_time,
				  attempts->problem->class_count);
}

/* A plain switch with the rate of the level. */
static struct problem_level plain(const struct problem_level *level, uint32_t fanout)
{
	return (struct problem_level){
		.fanout = fanout,
		.kind = LEVEL_SWITCH,
		.bandwidth_Bps = level->bandwidth_Bps,
		.latency_s = level->latency_s,
		.overhead_s = level->overhead_s,
		.oversubscription = 1,
		.efficiency = level->efficiency,
	};
}

static void forget_network(struct view *view, const struct attempts *attempts)
{
	*view = (struct view){ .network = *attempts->problem };
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		view->network.within[d] = 0;
	view->network.avoided_count = view->network.pin_count = 0;
	make_arrays(view, attempts);
}

void view_true(struct view *view, const struct attempts *attempts)
{
	*view = (struct view){ .network = *attempts->problem };
	make_arrays(view, attempts);
}

void view_flat(struct view *view, const struct attempts *attempts, uint32_t level)
{
	const struct problem *problem = attempts->problem;

	forget_network(view, attempts);
	view->network.level_count = 1;
	view->network.level[0] = plain(&problem->level[level], problem->device_count);
}

void view_mesh(struct view *view, const struct attempts *attempts)
{
	const struct problem *problem = attempts->problem;
	uint32_t node = problem->level[0].fanout;

	forget_network(view, attempts);
	view->network.level[0] = plain(&problem->level[0], node);
	view->network.level_count = problem->level_count > 1 ? 2 : 1;
	if (problem->level_count > 1)
		view->network.level[1] = plain(&problem->level[1],
					       problem->device_count / node);
}

bool view_place(struct view *view, const struct choice *choice,
		const enum dimension order[DIMENSION_COUNT])
{
	const struct problem_shape *shape = &view->network.shape[choice->shape];
	struct attempts on_network = { .problem = &view->network };

	if (!attempts_place(&on_network, choice, order, &view->placement))
		return false;
	for (int i = 0; i < GROUP_COUNT; i++) {
		struct group_shape group = network_group(&view->network,
							 &view->placement, shape,
							 (enum group)i);

		view->group[i] = network_lines(&view->network, &group);
	}
	return true;
}

void view_load(struct view *view, const struct attempts *attempts,
	       const struct choice *choice, uint32_t send_level)
{
	const struct problem *problem = attempts->problem;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	struct share share = attempts_share(problem, choice);
	struct sharding sharding = sharding_of(&view->network, &view->placement,
					       shape, view->group, 0);
	struct layer_setting setting = {
		.problem = &view->network,
		.shape = choice->shape,
		.recompute = choice->recompute,
		.zero = choice->zero,
		.group = view->group,
		.sharding = &sharding,
	};

	layer_times(&setting, view->layer);
	for (uint32_t i = 0; i < attempts->length; i++) {
		uint32_t class = attempts->class_of[i];
		const struct problem_weight *weight =
			problem_weight_at(problem, choice->shape, class);

		view->time_s[i + 1] = view->time_s[i] + view->layer[class].forward_s +
				      view->layer[class].backward_s;
		view->parameters[i + 1] = view->parameters[i] + weight->parameters +
					  weight->expert_parameters;
		view->held_bytes[i + 1] = view->held_bytes[i] +
					  share_least_bytes(&share,
							    holding_of(weight));
		view->kept_bytes[i + 1] = view->kept_bytes[i] +
			problem_cost_at(problem, choice->shape, class,
					choice->recompute)->saved_bytes;
		view->transfer_s[i + 1] = 2 * network_transfer(&view->network,
			&view->placement, send_level, weight->output_bytes);
	}
}

struct stages_input view_stages(const struct view *view,
				const struct attempts *attempts,
				const struct choice *choice, bool memory)
{
	const struct problem_memory *limits = &attempts->problem->memory;

	return (struct stages_input){
		.length = attempts->length,
		.time_s = view->time_s,
		.transfer_s = view->transfer_s,
		.held_bytes = memory ? view->held_bytes : NULL,
		.kept_bytes = view->kept_bytes,
		.limit_bytes = limits->limit_bytes - limits->reserve_bytes,
		.micro_batches = choice->micro_batches,
	};
}

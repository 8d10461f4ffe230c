/* SPDX-License-Identifier: MIT
 *
 * Rank coordinates, devices of ranks and names of devices.
 */
#include "compiler/ranks.h"

#include "solver/mixed.h"
#include "solver/network.h"
#include "solver/share.h"

static const enum dimension order_table[RANK_ORDER_COUNT][DIMENSION_COUNT] = {
	[RANK_ORDER_DATA_PIPELINE] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				       DIMENSION_DATA, DIMENSION_PIPELINE },
	[RANK_ORDER_PIPELINE_DATA] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				       DIMENSION_PIPELINE, DIMENSION_DATA },
};

const char *rank_order_name(enum rank_order order)
{
	return order == RANK_ORDER_PIPELINE_DATA ? "tp-cp-pp-dp" : "tp-cp-dp-pp";
}

void plan_degrees(const struct problem *problem, const struct plan *plan,
		  uint32_t degree[DIMENSION_COUNT])
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];

	degree[DIMENSION_TENSOR] = shape->tensor;
	degree[DIMENSION_CONTEXT] = shape->context;
	degree[DIMENSION_DATA] = plan->choice.data;
	degree[DIMENSION_PIPELINE] = plan->choice.pipeline;
}

uint32_t rank_device(const struct problem *problem, const struct plan *plan,
		     const uint32_t coordinate[DIMENSION_COUNT])
{
	uint32_t degree[DIMENSION_COUNT], number = 0;

	if (problem->kind_count)
		return mixed_device(problem, plan, coordinate);
	if (!plan->device)
		return network_device(problem, &plan->placement, coordinate);
	plan_degrees(problem, plan, degree);
	for (uint32_t d = DIMENSION_COUNT; d-- > 0;)
		number = number * degree[d] + coordinate[d];
	return plan->device[number];
}

/* The device by the factors, with the digits of a level in the given order. */
static uint32_t factor_device(const struct problem *problem,
			      const struct placement *placement,
			      enum rank_order order, struct rank rank)
{
	uint32_t device = 0, below = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t stride = below;

		for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
			enum dimension dimension = order_table[order][i];
			uint32_t base = placement->factor[dimension][l];

			device += rank.coordinate[dimension] % base * stride;
			rank.coordinate[dimension] /= base;
			stride *= base;
		}
		below *= problem->level[l].fanout;
	}
	return device;
}

bool ranks_follow_factors(const struct problem *problem, const struct plan *plan,
			  enum rank_order order)
{
	if (plan->placement.packing != PACKING_FACTORS)
		return false;
	/* On clusters of several kinds no rule moves ranks. */
	if (problem->kind_count)
		return true;
	for (uint32_t i = 0; i < plan->devices; i++) {
		struct rank rank = rank_at(problem, plan, order, i);

		if (rank.device !=
		    factor_device(problem, &plan->placement, order, rank))
			return false;
	}
	return true;
}

struct rank rank_at(const struct problem *problem, const struct plan *plan,
		    enum rank_order order, uint32_t number)
{
	struct rank rank = { .number = number };
	uint32_t degree[DIMENSION_COUNT], rest = number;

	plan_degrees(problem, plan, degree);
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		enum dimension dimension = order_table[order][i];

		rank.coordinate[dimension] = rest % degree[dimension];
		rest /= degree[dimension];
	}
	rank.device = rank_device(problem, plan, rank.coordinate);
	return rank;
}

enum rank_match rank_order_match(const struct problem *problem,
				 const struct plan *plan, enum rank_order order)
{
	enum rank_match match = RANK_MATCH_SAME;
	uint32_t last = 0;

	for (uint32_t i = 0; i < plan->devices; i++) {
		uint32_t device = physical_device(
			plan, rank_at(problem, plan, order, i).device);

		if (i && device <= last)
			return RANK_MATCH_NONE;
		if (device != i)
			match = RANK_MATCH_ASCENDING;
		last = device;
	}
	return match;
}

/* With pipeline ranks inside the data ranks the expert groups must lie within
 * tensor x context (Megatron-LM, core/parallel_state.py). */
static bool order_has_experts(const struct problem *problem,
			      const struct plan *plan, enum rank_order order)
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	uint64_t experts = (uint64_t)shape->expert * shape->expert_tensor;

	return order == RANK_ORDER_DATA_PIPELINE || plan->choice.pipeline == 1 ||
	       experts == (uint64_t)shape->tensor * shape->context ||
	       !share_has_experts(problem);
}

enum rank_order rank_order_choose(const struct problem *problem,
				  const struct plan *plan,
				  enum rank_match *match)
{
	enum rank_order best = RANK_ORDER_DATA_PIPELINE;

	*match = rank_order_match(problem, plan, best);
	for (int i = best + 1; i < RANK_ORDER_COUNT; i++) {
		enum rank_match other;

		if (!order_has_experts(problem, plan, (enum rank_order)i))
			continue;
		other = rank_order_match(problem, plan, (enum rank_order)i);
		if (other >= *match)
			continue;
		*match = other;
		best = (enum rank_order)i;
	}
	return best;
}

/* Within the parts of the outermost level. */
static void path_below(const struct ir_topology *topology, uint32_t device,
		       uint32_t *outermost, struct text *out)
{
	uint32_t position[LEVEL_MAX];

	for (uint32_t i = 0; i < topology->level_count; i++) {
		uint32_t fanout = topology->level[i].network.fanout;

		position[i] = device % fanout;
		device /= fanout;
	}
	/* A level names the group it joins; its members are the level below. */
	for (uint32_t i = topology->level_count; i-- > 1;)
		text_printf(out, "%s%u/", topology->level[i - 1].name,
			    position[i]);
	text_printf(out, "gpu%u", topology->level_count ? position[0] : device);
	*outermost = device;
}

void device_path(const struct ir_topology *topology, uint32_t device,
		 struct text *out)
{
	struct text below;
	uint32_t outermost = 0;
	const char *kind = NULL;
	/* A graph's devices have names of their own; its levels are implied ones. */
	const char *top = topology->level_count && !topology->graph ?
		topology->level[topology->level_count - 1].name : NULL;

	/* The implied levels are not people's: a graph's devices have names. */
	if (topology->graph) {
		text_append(out, topology->graph->device_name[device]);
		return;
	}
	text_init(&below, out->arena);
	for (uint32_t k = 0; k < topology->kind_count && !kind; k++) {
		const struct ir_topology *own =
			&topology->kind[k].only->topology;

		if (device < own->device_count) {
			kind = topology->kind[k].name;
			path_below(own, device, &outermost, &below);
		}
		device -= own->device_count;
	}
	if (!kind)
		path_below(topology, device, &outermost, &below);
	if (top)
		text_printf(out, "%s%u/", top, outermost);
	text_printf(out, "%s%s%s", kind ? kind : "", kind ? "/" : "", below.at);
}

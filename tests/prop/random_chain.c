/* SPDX-License-Identifier: MIT
 *
 * Random problems: their chains of layers, shapes and costs.
 */
#include "tests/prop/random_parts.h"

#include <math.h>

/* An embedding, blocks of one or two kinds, a head. */
static void make_model_chain(struct maker *maker, struct problem_run *run,
			     bool *is_block, uint32_t layers)
{
	struct problem *problem = maker->problem;
	uint32_t last = problem->class_count - 1, count = 0;

	is_block[0] = is_block[last] = false;
	is_block[1] = true;
	run[count++] = (struct problem_run){ 0, 1 };
	run[count++] = (struct problem_run){ 1, layers - 2 };
	if (last > 2 && layers > 3) {
		run[1].count = 1 + maker_below(maker, layers - 3);
		run[count++] = (struct problem_run){ 2, layers - 2 - run[1].count };
	}
	run[count++] = (struct problem_run){ last, 1 };
	problem->run_count = count;
}

void maker_chain(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t runs = 1 + maker_below(maker, 4), left = 3 + maker_below(maker, 6);
	struct problem_run *run = ARENA_ARRAY(maker->arena, struct problem_run, 4);
	bool *is_block;

	if (maker_chance(maker, 0.3))
		left = 1 + maker_below(maker, 4);
	if (maker->roomy)
		left = 6 + maker_below(maker, 3);
	if (maker->cuts)
		left = 7 + maker_below(maker, 4);
	problem->class_count = 1 + maker_below(maker, 3) + maker_below(maker, 2);
	is_block = ARENA_ARRAY(maker->arena, bool, problem->class_count);
	for (uint32_t i = 0; i < problem->class_count; i++)
		is_block[i] = maker_chance(maker, 0.7);
	problem->run = run;
	problem->class_is_block = is_block;
	if (left > 2 && problem->class_count > 2 && maker_chance(maker, 0.6)) {
		make_model_chain(maker, run, is_block, left);
		return;
	}
	for (uint32_t r = 0; r < runs && left > 0; r++) {
		run[r].class_index = maker_below(maker, problem->class_count);
		run[r].count = r + 1 == runs ? left : 1 + maker_below(maker, left);
		if (r == 0 && maker_chance(maker, 0.5))
			run[r].count = 1;
		left -= run[r].count;
		problem->run_count = r + 1;
	}
}

static uint32_t class_layers(const struct problem *problem, uint32_t class_index)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < problem->run_count; r++)
		if (problem->run[r].class_index == class_index)
			count += problem->run[r].count;
	return count;
}

/* Ties two classes that occur once each, where there are such. */
void maker_tied(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t once[4], count = 0;

	problem->tied_class = problem->tied_with_class = CLASS_NONE;
	for (uint32_t i = 0; i < problem->class_count; i++)
		if (class_layers(problem, i) == 1)
			once[count++] = i;
	if (count < 2 || !maker_chance(maker, 0.6))
		return;
	problem->tied_class = once[count - 1];
	problem->tied_with_class = once[maker_below(maker, count - 1)];
}

static void cut_experts(struct maker *maker, struct problem_shape *shape)
{
	static const uint32_t power[] = { 1, 2, 2, 4, 8 };
	static const uint32_t any[] = { 1, 2, 2, 3, 4, 6 };

	shape->expert = maker->dyadic ? maker_pick(maker, power, 5) :
					maker_pick(maker, any, 6);
	if (maker_chance(maker, 0.4))
		shape->expert_tensor = maker->dyadic ? 2 : 2 + maker_below(maker, 2);
}

void maker_shapes(struct maker *maker)
{
	static const uint32_t power[] = { 1, 1, 1, 2, 2, 4 };
	static const uint32_t any[] = { 1, 1, 2, 2, 3, 4 };
	static const uint32_t micro[] = { 1, 1, 2, 3, 4 };
	static const uint32_t micro_power[] = { 1, 1, 2, 4 };
	struct problem *problem = maker->problem;
	struct problem_shape *shape;

	problem->shape_count = 1 + maker_below(maker, maker_chance(maker, 0.5) ? 6 : 3);
	if (maker->roomy)
		problem->shape_count = 3 + maker_below(maker, 4);
	if (maker->cuts)
		problem->shape_count = 1 + maker_below(maker, 2);
	shape = ARENA_ARRAY(maker->arena, struct problem_shape,
			    problem->shape_count);
	for (uint32_t s = 0; s < problem->shape_count; s++) {
		shape[s].tensor = maker->dyadic ? maker_pick(maker, power, 6) :
						  maker_pick(maker, any, 6);
		shape[s].context = maker_chance(maker, 0.6) ? 1 :
				   maker->dyadic ? maker_pick(maker, power, 6) :
						   maker_pick(maker, any, 6);
		shape[s].expert = shape[s].expert_tensor = 1;
		if (s == 0 && maker_chance(maker, 0.7))
			shape[s].tensor = shape[s].context = 1;
		if (maker->experts && maker_chance(maker, 0.7))
			cut_experts(maker, &shape[s]);
		shape[s].sequence = maker_chance(maker, 0.4);
		shape[s].micro_batch = maker->dyadic ?
			maker_pick(maker, micro_power, 4) : maker_pick(maker, micro, 5);
		if (maker->cuts)
			shape[s].tensor = shape[s].context = 1;
		if (maker->cuts || maker_chance(maker, 0.5))
			shape[s].micro_batch = 1;
	}
	problem->shape = shape;
}

static uint32_t make_collectives(struct maker *maker,
				 struct problem_collective *out)
{
	static const enum group groups[] = {
		GROUP_TENSOR, GROUP_TENSOR, GROUP_TENSOR, GROUP_CONTEXT,
		GROUP_CONTEXT, GROUP_EXPERT, GROUP_EXPERT, GROUP_EXPERT_TENSOR,
	};
	uint32_t count = maker_below(maker, 4), kinds = maker->experts ? 8 : 5;

	for (uint32_t i = 0; i < count; i++) {
		out[i].kind = (enum collective)maker_below(maker, COLLECTIVE_COUNT);
		out[i].group = groups[maker_below(maker, kinds)];
		out[i].backward = maker_chance(maker, 0.5);
		out[i].bytes = maker_amount_or_zero(maker, maker->comm, 0.1);
		out[i].hidden_s = maker_amount_or_zero(maker, 0.125, 0.6);
		if (out[i].hidden_s > 0 && maker_below(maker, 4) == 0)
			out[i].slowing = 0.25 * (1 + maker_below(maker, 4));
	}
	return count;
}

static void make_cost(struct maker *maker, const struct problem_shape *shape,
		      struct problem_cost *policy, bool is_block)
{
	double work = (double)shape->micro_batch /
		      (shape->tensor * shape->context);
	double typical = is_block || maker->plain ? work : work / 4;
	bool zero = maker->still || maker_chance(maker, 0.05);

	policy[0].forward_s = zero ? 0 : maker_amount(maker, typical);
	policy[0].backward_s = maker->flat || maker->plain ?
		2 * policy[0].forward_s :
		maker_amount_or_zero(maker, 2 * typical, 0.05);
	policy[0].saved_bytes = maker_chance(maker, maker->plain ? 0.7 : 0.05) ? 0 :
				maker_whole(maker, 64 * shape->micro_batch);
	policy[0].working_bytes = maker_amount_or_zero(maker, 64, 0.3);
	for (int r = 1; r < RECOMPUTE_COUNT; r++) {
		double again = maker->dyadic ? 0.25 * r :
			       r * random_unit(&maker->random) / 2;

		policy[r].forward_s = policy[0].forward_s;
		policy[r].backward_s = policy[0].backward_s +
				       again * policy[0].forward_s;
		policy[r].saved_bytes = maker_chance(maker, 0.1) ?
			policy[0].saved_bytes :
			floor(policy[0].saved_bytes / (1 + 2 * r));
		policy[r].working_bytes = policy[0].working_bytes +
			maker_amount_or_zero(maker, 32 * r, 0.5);
	}
}

void maker_costs(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t count = problem->shape_count * problem->class_count *
			 RECOMPUTE_COUNT;
	struct problem_cost *cost =
		ARENA_ARRAY(maker->arena, struct problem_cost, count);
	struct problem_collective *collective =
		ARENA_ARRAY(maker->arena, struct problem_collective, 3 * count);

	problem->collective_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct problem_shape *shape = &problem->shape[
			i / (problem->class_count * RECOMPUTE_COUNT)];
		uint32_t class_index = i / RECOMPUTE_COUNT % problem->class_count;

		if (i % RECOMPUTE_COUNT == 0)
			make_cost(maker, shape, &cost[i],
				  problem->class_is_block[class_index]);
		cost[i].collective_first = problem->collective_count;
		cost[i].collective_count = make_collectives(maker,
			&collective[problem->collective_count]);
		problem->collective_count += cost[i].collective_count;
	}
	problem->cost = cost;
	problem->collective = collective;
}

void maker_weights(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t classes = problem->class_count;
	struct problem_weight *weight = ARENA_ARRAY(maker->arena,
		struct problem_weight, problem->shape_count * classes);

	for (uint32_t s = 0; s < problem->shape_count; s++) {
		double shared = 0;

		for (uint32_t i = 0; i < classes; i++) {
			struct problem_weight *w = &weight[s * classes + i];

			w->parameters = maker_chance(maker, 0.05) ? 0 :
				maker_whole(maker, 256.0 / problem->shape[s].tensor);
			if (maker->experts && maker_chance(maker, 0.6))
				w->expert_parameters = maker_whole(maker, 256.0 /
					problem->shape[s].expert /
					problem->shape[s].expert_tensor);
			w->output_bytes = maker_amount_or_zero(maker, maker->comm, 0.1);
		}
		if (problem->tied_class == CLASS_NONE)
			continue;
		shared = fmin(weight[s * classes + problem->tied_class].parameters,
			weight[s * classes + problem->tied_with_class].parameters);
		if (maker_chance(maker, 0.1))
			shared = 0;
		weight[s * classes + problem->tied_class].tied_parameters = shared;
		weight[s * classes + problem->tied_with_class].tied_parameters =
			shared;
	}
	problem->weight = weight;
}

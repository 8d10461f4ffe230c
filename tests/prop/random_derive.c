/* SPDX-License-Identifier: MIT
 *
 * Problems made from others, whose answers relate in a known way.
 */
#include "tests/prop/random_problem.h"

static void slow_steps(struct problem_apart *apart)
{
	apart->step_s *= 2;
	apart->largest_step_s *= 2;
}

void random_problem_slow(const struct problem *problem, struct problem *slow,
			 struct arena *arena)
{
	uint32_t costs = problem->shape_count * problem->class_count *
			 RECOMPUTE_COUNT;
	struct problem_cost *cost =
		ARENA_ARRAY(arena, struct problem_cost, costs);
	struct problem_collective *collective = ARENA_ARRAY(arena,
		struct problem_collective, problem->collective_count);
	uint32_t weights = problem->shape_count * problem->class_count;
	struct problem_weight *weight =
		ARENA_ARRAY(arena, struct problem_weight, weights);

	*slow = *problem;
	for (uint32_t i = 0; i < weights; i++) {
		weight[i] = problem->weight[i];
		slow_steps(&weight[i].apart);
		slow_steps(&weight[i].expert_apart);
	}
	for (uint32_t i = 0; i < costs; i++) {
		cost[i] = problem->cost[i];
		cost[i].forward_s *= 2;
		cost[i].backward_s *= 2;
	}
	for (uint32_t i = 0; i < problem->collective_count; i++) {
		collective[i] = problem->collective[i];
		collective[i].hidden_s *= 2;
	}
	for (uint32_t l = 0; l < problem->level_count; l++) {
		slow->level[l].bandwidth_Bps /= 2;
		slow->level[l].latency_s *= 2;
		slow->level[l].overhead_s *= 2;
		slow->level[l].short_overhead_s *= 2;
	}
	slow->sync.memory_bandwidth_Bps /= 2;
	slow->cost = cost;
	slow->weight = weight;
	slow->collective = collective;
}

void random_problem_widen(const struct problem *problem, struct problem *wide)
{
	uint32_t outermost = problem->level_count - 1;

	*wide = *problem;
	/* More children thin out the links of a full level and open rings. */
	if (wide->level[outermost].kind != LEVEL_SWITCH)
		return;
	wide->level[outermost].fanout++;
	wide->device_count = wide->device_count / problem->level[outermost].fanout *
			     wide->level[outermost].fanout;
}

/* A random order of count things: new place of each. */
static uint32_t *shuffle(struct random *random, uint32_t count,
			 struct arena *arena)
{
	uint32_t *place = ARENA_ARRAY(arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t j = random_below(random, i + 1);

		place[i] = place[j];
		place[j] = i;
	}
	return place;
}

void random_problem_permute(const struct problem *problem,
			    struct problem *permuted, uint64_t seed,
			    struct arena *arena)
{
	struct random random = { seed };
	uint32_t shapes = problem->shape_count, classes = problem->class_count;
	uint32_t *shape_at = shuffle(&random, shapes, arena);
	uint32_t *class_at = shuffle(&random, classes, arena);
	struct problem_shape *shape =
		ARENA_ARRAY(arena, struct problem_shape, shapes);
	struct problem_cost *cost = ARENA_ARRAY(arena, struct problem_cost,
		shapes * classes * RECOMPUTE_COUNT);
	struct problem_weight *weight =
		ARENA_ARRAY(arena, struct problem_weight, shapes * classes);
	struct problem_run *run =
		ARENA_ARRAY(arena, struct problem_run, problem->run_count);
	bool *is_block = ARENA_ARRAY(arena, bool, classes);

	*permuted = *problem;
	for (uint32_t s = 0; s < shapes; s++) {
		shape[shape_at[s]] = problem->shape[s];
		for (uint32_t i = 0; i < classes; i++) {
			uint32_t to = shape_at[s] * classes + class_at[i];

			weight[to] = *problem_weight_at(problem, s, i);
			for (int r = 0; r < RECOMPUTE_COUNT; r++)
				cost[to * RECOMPUTE_COUNT + (uint32_t)r] =
					*problem_cost_at(problem, s, i,
							 (enum recompute)r);
		}
	}
	for (uint32_t i = 0; i < classes; i++)
		is_block[class_at[i]] = problem->class_is_block[i];
	for (uint32_t r = 0; r < problem->run_count; r++) {
		run[r].class_index = class_at[problem->run[r].class_index];
		run[r].count = problem->run[r].count;
	}
	if (problem->tied_class != CLASS_NONE) {
		permuted->tied_class = class_at[problem->tied_class];
		permuted->tied_with_class = class_at[problem->tied_with_class];
	}
	permuted->shape = shape;
	permuted->cost = cost;
	permuted->weight = weight;
	permuted->run = run;
	permuted->class_is_block = is_block;
}

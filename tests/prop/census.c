/* SPDX-License-Identifier: MIT
 *
 * Counting features.
 */
#include "tests/prop/census.h"

#include <stdio.h>

static const char *const words[] = {
#define FEATURE(NAME, words) words,
	FEATURES
#undef FEATURE
};

static bool allows_more(const struct problem_domain *domain)
{
	return !domain->count || domain->at[domain->count - 1] > 1;
}

static void see_shapes(const struct problem *problem, bool *has)
{
	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];

		has[FEATURE_TENSOR] |= shape->tensor > 1;
		has[FEATURE_SEQUENCE] |= shape->sequence;
		has[FEATURE_CONTEXT] |= shape->context > 1;
		has[FEATURE_EXPERT] |= shape->expert > 1;
		has[FEATURE_EXPERT_TENSOR] |= shape->expert_tensor > 1;
		has[FEATURE_MICRO_BATCH] |= shape->micro_batch > 1;
	}
}

static void see_space(const struct problem *problem, bool *has)
{
	bool schedules = false;

	for (int s = 0; s < SCHEDULE_COUNT; s++)
		schedules |= problem->schedule[s];
	has[FEATURE_DATA] = allows_more(&problem->data);
	has[FEATURE_PIPELINE] = has[FEATURE_UNEVEN] =
		has[FEATURE_LINEAR] = allows_more(&problem->pipeline);
	has[FEATURE_VIRTUAL] = has[FEATURE_PIPELINE] &&
			       allows_more(&problem->virtual_stages);
	has[FEATURE_UNEVEN_CHUNKS] = has[FEATURE_VIRTUAL];
	has[FEATURE_UNIFORM] = problem->uniform_stages;
	has[FEATURE_ZERO_1] = problem->zero[1];
	has[FEATURE_ZERO_2] = problem->zero[2];
	has[FEATURE_ZERO_3] = problem->zero[3];
	for (uint32_t l = 1; l < LEVEL_MAX; l++)
		has[FEATURE_SHARD_LEVEL] |= problem->shard_level[l];
	has[FEATURE_SELECTIVE] = problem->recompute[RECOMPUTE_SELECTIVE];
	has[FEATURE_FULL] = problem->recompute[RECOMPUTE_FULL];
	has[FEATURE_LAYERS] = has[FEATURE_FULL] &&
			      problem->recompute_layers.count;
	has[FEATURE_PLAIN] = has[FEATURE_PIPELINE] &&
			     (!schedules || problem->schedule[SCHEDULE_1F1B]);
	has[FEATURE_GPIPE] = has[FEATURE_PIPELINE] &&
			     problem->schedule[SCHEDULE_GPIPE];
	has[FEATURE_IDLE] = true;
	has[FEATURE_TWO_LEVELS] = problem->level_count > 1;
	has[FEATURE_AVOIDED] = problem->avoided_count;
	has[FEATURE_PINNED] = problem->pin_count;
	for (int d = 0; d < DIMENSION_COUNT; d++)
		has[FEATURE_WITHIN] |= problem->within[d] > 0;
	has[FEATURE_MEMORY] = problem->memory.limit_bytes < 1e29;
}

static void see_times(const struct problem *problem, bool *has)
{
	uint32_t weights = problem->shape_count * problem->class_count;

	has[FEATURE_REDUCE_HIDDEN] = problem->sync.overlap_reduce;
	has[FEATURE_REDUCE_EXPOSED] = true;
	has[FEATURE_GATHER_HIDDEN] = problem->sync.overlap_gather;
	has[FEATURE_GATHER_EXPOSED] = !problem->sync.overlap_gather;
	has[FEATURE_ONCE] = problem->exchange.copies > 0;
	has[FEATURE_TIED_TOGETHER] = has[FEATURE_TIED_APART] =
		problem->tied_class != CLASS_NONE;
	for (uint32_t i = 0; i < weights; i++) {
		has[FEATURE_APART] |= problem->weight[i].apart.parameters > 0;
		has[FEATURE_WHOLE] |= problem->weight[i].apart.largest > 0;
	}
	for (uint32_t i = 0; i < problem->collective_count; i++)
		has[FEATURE_HIDDEN] |= problem->collective[i].hidden_s > 0;
}

static void see_level(const struct problem_level *level, bool *has)
{
	has[FEATURE_OVERSUBSCRIBED] |= level->oversubscription > 1;
	has[FEATURE_NICS] |= level->nics > 0;
	has[FEATURE_RAILS] |= level->rails > 1;
	has[FEATURE_RING] |= level->kind == LEVEL_RING;
	has[FEATURE_TORUS] |= level->joined;
	has[FEATURE_FULL_LEVEL] |= level->kind == LEVEL_FULL;
	has[FEATURE_REDUCTION] |= level->in_network_reduction;
	has[FEATURE_SHORT] |= level->short_efficiency > 0;
}

static enum feature feature_of(enum plan_variable variable)
{
	switch (variable) {
	case VARIABLE_TIME:
		return FEATURE_ON_TIME;
	case VARIABLE_COST:
	case VARIABLE_ENERGY:
		return FEATURE_ON_COST;
	case VARIABLE_MEMORY:
		return FEATURE_ON_MEMORY;
	case VARIABLE_BUBBLE:
		return FEATURE_ON_BUBBLE;
	case VARIABLE_STAGE_LAYERS:
	case VARIABLE_STAGES_UNIFORM:
		return FEATURE_ON_STAGES;
	default:
		return FEATURE_ON_CHOICE;
	}
}

static void see_programs(const struct problem *problem, bool *has)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		for (uint32_t j = 0; j < problem->requirement[i].step_count; j++) {
			const struct predicate_step *step =
				&problem->requirement[i].step[j];

			if (step->op == PREDICATE_VARIABLE)
				has[feature_of(step->variable)] = true;
			has[FEATURE_EITHER] |= step->op == PREDICATE_OR ||
					       step->op == PREDICATE_NOT;
		}
	has[FEATURE_OBJECTIVE] = problem->objective_count &&
		(problem->objective[0].step_count > 1 ||
		 problem->objective[0].step[0].variable != VARIABLE_TIME);
	has[FEATURE_TWO_OBJECTIVES] = problem->objective_count > 1;
}

static void see_problem(const struct problem *problem, bool *has)
{
	see_shapes(problem, has);
	see_space(problem, has);
	see_times(problem, has);
	for (uint32_t l = 0; l < problem->level_count; l++)
		if (problem->level[l].fanout > 1)
			see_level(&problem->level[l], has);
	see_programs(problem, has);
}

/* ---- plans ---- */

static void see_cut(const struct brute_plan *plan, bool *has)
{
	const struct choice *choice = &plan->choice;
	uint32_t chunks = choice->pipeline * choice->virtual_stages;
	bool uneven = false;

	for (uint32_t c = 1; c < chunks; c++)
		uneven |= plan->chunk_first[c + 1] - plan->chunk_first[c] !=
			  plan->chunk_first[1];
	has[FEATURE_UNEVEN] = uneven && choice->virtual_stages == 1;
	has[FEATURE_UNEVEN_CHUNKS] = uneven && choice->virtual_stages > 1;
}

/* The chunk that holds the only layer of a class. */
static uint32_t stage_of(const struct problem *problem,
			 const struct brute_plan *plan, uint32_t class_index)
{
	uint32_t layer = 0, chunk = 0;

	for (uint32_t r = 0; problem->run[r].class_index != class_index; r++)
		layer += problem->run[r].count;
	while (plan->chunk_first[chunk + 1] <= layer)
		chunk++;
	return chunk % plan->choice.pipeline;
}

static void see_sync(const struct problem *problem, const struct brute_plan *plan,
		     bool *has)
{
	bool replicas = plan->choice.data * problem->shape[plan->choice.shape].context > 1;
	bool exposed = false;

	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		exposed |= plan->reduce_exposed_s[k] > 0;
	has[FEATURE_ONCE] = problem->exchange.copies > 0 &&
			    problem->shape[plan->choice.shape].expert > 1;
	has[FEATURE_REDUCE_EXPOSED] = exposed;
	has[FEATURE_REDUCE_HIDDEN] = replicas && problem->sync.overlap_reduce;
	has[FEATURE_GATHER_HIDDEN] = replicas && plan->choice.zero &&
				     problem->sync.overlap_gather;
	has[FEATURE_GATHER_EXPOSED] = replicas && plan->choice.zero &&
				      !problem->sync.overlap_gather;
	if (problem->tied_class == CLASS_NONE)
		return;
	has[FEATURE_TIED_TOGETHER] =
		stage_of(problem, plan, problem->tied_class) ==
		stage_of(problem, plan, problem->tied_with_class);
	has[FEATURE_TIED_APART] = !has[FEATURE_TIED_TOGETHER];
}

static void see_placement(const struct problem *problem,
			  const struct brute_plan *plan, bool *has)
{
	const struct placement *placement = &plan->placement;

	has[FEATURE_IDLE] = plan->devices < problem_usable(problem);
	has[FEATURE_LINEAR] = placement->packing != PACKING_FACTORS;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t used = 1;

		for (int d = 0; d < DIMENSION_COUNT; d++)
			used *= placement->factor[d][l];
		if (used > 1 || has[FEATURE_LINEAR])
			see_level(&problem->level[l], has);
	}
	for (int d = 0; d < DIMENSION_COUNT && !has[FEATURE_LINEAR]; d++) {
		uint32_t levels = 0;

		for (uint32_t l = 0; l < problem->level_count; l++)
			levels += placement->factor[d][l] > 1;
		has[FEATURE_TWO_LEVELS] |= levels > 1;
	}
}

static void see_choice(const struct problem *problem, const struct choice *choice,
		       bool *has)
{
	const struct problem_shape *shape = &problem->shape[choice->shape];
	bool many = choice->pipeline > 1;

	has[FEATURE_TENSOR] = shape->tensor > 1;
	has[FEATURE_SEQUENCE] = shape->sequence;
	has[FEATURE_CONTEXT] = shape->context > 1;
	has[FEATURE_EXPERT] = shape->expert > 1;
	has[FEATURE_EXPERT_TENSOR] = shape->expert_tensor > 1;
	has[FEATURE_DATA] = choice->data > 1;
	has[FEATURE_PIPELINE] = many;
	has[FEATURE_VIRTUAL] = choice->virtual_stages > 1;
	has[FEATURE_MICRO_BATCH] = shape->micro_batch > 1;
	has[FEATURE_ZERO_1] = choice->zero == 1;
	has[FEATURE_ZERO_2] = choice->zero == 2;
	has[FEATURE_ZERO_3] = choice->zero == 3;
	has[FEATURE_SHARD_LEVEL] = choice->shard_level > 0;
	has[FEATURE_SELECTIVE] = choice->recompute == RECOMPUTE_SELECTIVE;
	has[FEATURE_FULL] = choice->recompute == RECOMPUTE_FULL;
	has[FEATURE_LAYERS] = choice->recompute_layers > 0;
	has[FEATURE_PLAIN] = many && choice->schedule == SCHEDULE_1F1B;
	has[FEATURE_GPIPE] = choice->schedule == SCHEDULE_GPIPE;
}

static void see_plan(const struct problem *problem, const struct brute_plan *plan,
		     bool *has)
{
	bool ruled[FEATURE_COUNT] = { false };

	see_problem(problem, ruled);
	for (int f = FEATURE_APART; f < FEATURE_COUNT; f++)
		has[f] = ruled[f];
	for (int f = FEATURE_OVERSUBSCRIBED; f <= FEATURE_SHORT; f++)
		has[f] = false;
	has[FEATURE_UNIFORM] = ruled[FEATURE_UNIFORM];
	see_choice(problem, &plan->choice, has);
	see_cut(plan, has);
	see_sync(problem, plan, has);
	see_placement(problem, plan, has);
}

void census_add(struct census *census, const struct problem *problem,
		const struct brute_result *result)
{
	bool drawn[FEATURE_COUNT] = { false }, chosen[FEATURE_COUNT] = { false };

	see_problem(problem, drawn);
	if (result->found)
		see_plan(problem, &result->best, chosen);
	census->problems++;
	census->solved += result->found;
	for (int f = 0; f < FEATURE_COUNT; f++) {
		census->drawn[f] += drawn[f];
		census->chosen[f] += chosen[f];
	}
}

void census_show(const struct census *census)
{
	printf("# %-30s %8s %12s\n", "", "problems", "best plans");
	for (int f = 0; f < FEATURE_COUNT; f++)
		printf("# %-30s %8llu %12llu\n", words[f],
		       (unsigned long long)census->drawn[f],
		       (unsigned long long)census->chosen[f]);
	printf("# %-30s %8llu %12llu\n", "all",
	       (unsigned long long)census->problems,
	       (unsigned long long)census->solved);
}

uint64_t census_least(const struct census *census, const char **which)
{
	int least = 0;

	for (int f = 1; f < FEATURE_COUNT; f++)
		if (census->chosen[f] < census->chosen[least])
			least = f;
	*which = words[least];
	return census->chosen[least];
}

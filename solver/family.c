/* SPDX-License-Identifier: MIT
 *
 * Bounds of nodes as the objectives and requirements see them.
 */
#include "solver/family.h"

#include <math.h>

#include "solver/partition.h"

static bool mentions_layers(const struct predicate *predicate, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < predicate[i].step_count; j++)
			if (predicate[i].step[j].op == PREDICATE_VARIABLE &&
			    predicate[i].step[j].variable ==
				    VARIABLE_RECOMPUTE_LAYERS)
				return true;
	return false;
}

static bool is_memory_only(const struct problem *problem)
{
	const struct predicate *objective = problem->objective;

	return !problem->requirement_count && problem->objective_count == 1 &&
	       objective->step_count == 1 &&
	       objective->step[0].op == PREDICATE_VARIABLE &&
	       objective->step[0].variable == VARIABLE_MEMORY;
}

void families_init(struct families *families, const struct problem *problem,
		   const struct solve_limits *limits)
{
	*families = (struct families){ .problem = problem, .limits = limits };
	arena_init(&families->arena);
	arena_init(&families->cache_arena);
	pthread_mutex_init(&families->lock, NULL);
	space_init(&families->space, problem, &families->arena);
	placement_cache_init(&families->cache, problem, &families->cache_arena);
	families->facts = ARENA_ARRAY(&families->arena, struct facts *,
				      problem->shape_count);
	families->memory_only = is_memory_only(problem);
	families->layers_wanted =
		mentions_layers(problem->requirement, problem->requirement_count) ||
		mentions_layers(problem->objective, problem->objective_count);
}

void families_release(struct families *families)
{
	pthread_mutex_destroy(&families->lock);
	arena_release(&families->cache_arena);
	arena_release(&families->arena);
}

const struct placement_set *family_placements(struct families *families,
					      const struct choice *choice)
{
	const struct placement_set *set;

	pthread_mutex_lock(&families->lock);
	set = placement_find(&families->cache,
			     &families->problem->shape[choice->shape],
			     choice->data, choice->pipeline);
	pthread_mutex_unlock(&families->lock);
	return set;
}

static void outlook_of(const struct families *families,
		       const struct node *node, struct outlook *outlook)
{
	const struct problem *problem = families->problem;
	const struct problem_shape *shape = &problem->shape[node->choice.shape];

	*outlook = (struct outlook){
		.choice = &node->choice,
		.known = node->kind == NODE_SHAPE ? OUTLOOK_SHAPE :
			 node->kind == NODE_DATA ? OUTLOOK_DATA :
			 node->kind == NODE_DEGREES ? OUTLOOK_DEGREES : OUTLOOK_ALL,
		.time_s = node->time_s,
		.memory_bytes = node->memory_bytes,
	};
	if (families->facts[node->choice.shape])
		outlook->device_s =
			families->facts[node->choice.shape]->whole_least_s *
			shape->tensor * shape->context *
			(problem->global_batch / shape->micro_batch);
}

bool family_excluded(const struct families *families,
		     const struct incumbent *incumbent, const struct node *node)
{
	struct outlook outlook;
	struct merit merit;

	if (!incumbent->found)
		return false;
	if (incumbent->time_only) {
		double value = incumbent->merit.objective[0];

		if (node->time_s < value * (1 - 2 * TIE))
			return false;
		if (node->time_s > value * (1 + 2 * TIE))
			return true;
	}
	outlook_of(families, node, &outlook);
	outlook_merit(incumbent, &outlook, &merit);
	return incumbent_excludes(incumbent, &merit);
}

void family_bound(const struct families *families,
		  const struct incumbent *incumbent, struct node *node)
{
	struct outlook outlook;
	struct merit merit;

	node->objective[0] = node->time_s;
	node->objective[1] = 0;
	if (incumbent->time_only)
		return;
	outlook_of(families, node, &outlook);
	outlook_merit(incumbent, &outlook, &merit);
	node->objective[0] = merit.objective[0];
	if (merit.objective_count > 1)
		node->objective[1] = merit.objective[1];
}

uint64_t family_count(struct families *families, const struct node *node)
{
	switch (node->kind) {
	case NODE_SHAPE:
		return space_count_shape(&families->space, node->choice.shape);
	case NODE_DATA:
		return space_count_data(&families->space, node->choice.shape,
					node->choice.data);
	case NODE_DEGREES:
		return families->space.policies;
	default:
		return 1;
	}
}

uint32_t family_refused(const struct families *families,
			const struct incumbent *incumbent,
			const struct node *node)
{
	const struct problem *problem = families->problem;
	uint32_t failed = REQUIREMENT_NONE;
	struct range_input input;
	struct outlook outlook;

	if (!problem->requirement_count)
		return failed;
	outlook_of(families, node, &outlook);
	outlook_ranges(incumbent, &outlook, &input);
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		if (outlook_requirement(&outlook, &problem->requirement[i],
					&input) == CERTAINLY_FALSE)
			failed = failed == REQUIREMENT_NONE ? i :
							      REQUIREMENT_SEVERAL;
	return failed;
}

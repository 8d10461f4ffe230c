/* SPDX-License-Identifier: MIT
 *
 * Opening shapes, data degrees and degrees.
 */
#include "solver/expand.h"

#include <math.h>

#include "solver/bound.h"
#include "solver/expand_internal.h"
#include "solver/partition.h"
#include "solver/most.h"

void expander_init(struct expander *expander, struct families *families)
{
	uint32_t classes = families->problem->class_count;

	*expander = (struct expander){ .families = families };
	arena_init(&expander->arena);
	arena_init(&expander->scratch);
	expander->time = ARENA_ARRAY(&expander->arena, struct layer_time, classes);
	expander->kept_time = ARENA_ARRAY(&expander->arena, struct layer_time,
					  classes);
	expander->units = ARENA_ARRAY(&expander->arena, double,
				      families->space.chain_length);
}

void expander_release(struct expander *expander)
{
	arena_release(&expander->scratch);
	arena_release(&expander->arena);
}

struct chain *expander_chain(struct expander *expander,
			     const struct choice *choice)
{
	uint32_t at = (choice->shape * RECOMPUTE_COUNT + choice->recompute +
		       choice->recompute_layers) % EXPANDER_CHAINS;
	struct chain *chain = &expander->chain[at];

	if (!chain->problem)
		chain_init(chain, expander->families->problem, &expander->arena);
	chain_load(chain, choice);
	return chain;
}

/* A configuration that the requirement alone refused. */
static void removed(struct opening *opening, uint32_t requirement)
{
	struct expansion *expansion = opening->expansion;

	if (!expansion->removed_by)
		expansion->removed_by =
			ARENA_ARRAY(expansion->arena, uint64_t,
				    opening->families->problem->requirement_count);
	expansion->removed_by[requirement]++;
}

/* Adds a child, or counts it when it is excluded. */
static void add(struct opening *opening, struct node *node)
{
	if (excluded(opening, node)) {
		opening->expansion->count.bounded +=
			family_count(opening->families, node);
		return;
	}
	add_child(opening, node);
}

static bool discard_refused(struct opening *opening, const struct node *node)
{
	if (family_refused(opening->families, opening->incumbent, node) ==
	    REQUIREMENT_NONE)
		return false;
	opening->expansion->count.infeasible_requirement +=
		family_count(opening->families, node);
	return true;
}

/* Least memory of a device with its part of the parameters. */
static double memory_floor(const struct families *families,
			   const struct choice *choice, uint32_t pipeline_most)
{
	const struct problem *problem = families->problem;
	struct choice least = *choice;
	struct share share;

	least.zero = families->space.lightest.zero;
	least.pipeline = pipeline_most;
	share = share_of(problem, &least, NULL);
	return problem->memory.reserve_bytes +
	       share_bytes(&share, families->facts[choice->shape]->held) /
		       pipeline_most;
}

static void open_shape(struct opening *opening, const struct node *node)
{
	struct families *families = opening->families;
	const struct problem *problem = families->problem;
	const struct space *space = &families->space;
	struct facts *facts;
	uint32_t shape = node->choice.shape;

	if (discard_refused(opening, node))
		return;
	facts = ARENA_NEW(&families->arena, struct facts);
	pthread_mutex_lock(&families->lock);
	facts_fill(facts, problem, &families->cache, shape, &families->arena);
	pthread_mutex_unlock(&families->lock);
	families->facts[shape] = facts;
	for (uint32_t i = 0; i < space->data_count; i++) {
		uint32_t data = space->data[i], most_pipeline;
		struct node child = { .kind = NODE_DATA, .choice.shape = shape };

		if (!space_has_data(space, shape, data))
			continue;
		most_pipeline = space_pipeline_max(space, shape, data);
		child.choice.data = data;
		child.choice.micro_batches =
			space_micro_batches(space, shape, data);
		child.time_s = most(node->time_s,
				    facts_bound_data(facts, problem,
						     most_pipeline,
						     child.choice.micro_batches));
		child.memory_bytes = memory_floor(opening->families, &child.choice,
						  most_pipeline);
		add(opening, &child);
	}
}

/* No plan of any policy ends its schedule before. */
static double least_over_policies(const struct opening *opening,
				  const struct choice *choice)
{
	const struct problem *problem = opening->families->problem;
	const struct facts *facts = opening->families->facts[choice->shape];
	const struct problem_domain *layers = &problem->recompute_layers;
	struct choice trial = *choice;
	double time = INFINITY;

	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		bool partial = r == RECOMPUTE_FULL && layers->count;
		double other;

		if (!problem->recompute[r])
			continue;
		trial.recompute = (enum recompute)r;
		trial.recompute_layers = partial ? layers->at[0] : 0;
		other = facts_span(facts, problem, &trial);
		time = other < time ? other : time;
	}
	return time;
}

static void add_schedules(struct opening *opening, const struct node *node,
			  double step_s)
{
	for (int s = 0; s < SCHEDULE_COUNT; s++) {
		struct node child = *node;

		if (!space_has_schedule(&opening->families->space, node->choice.pipeline,
					node->choice.virtual_stages,
					(enum schedule)s))
			continue;
		child.choice.schedule = (enum schedule)s;
		child.time_s = most(child.time_s,
				    least_over_policies(opening, &child.choice) +
					    step_s);
		add(opening, &child);
	}
}

static void open_data(struct opening *opening, const struct node *node)
{
	const struct space *space = &opening->families->space;
	uint32_t shape = node->choice.shape, data = node->choice.data;
	uint32_t most_pipeline = space_pipeline_max(space, shape, data);
	struct choice lightest = node->choice;
	struct share share;
	double steps_s;

	if (discard_refused(opening, node))
		return;
	lightest.zero = space->lightest.zero;
	share = share_of(opening->families->problem, &lightest, NULL);
	steps_s = facts_steps(opening->families->facts[shape], &share);
	for (uint32_t p = 1; p <= most_pipeline; p++) {
		struct node child = *node;

		if (!space_has_pipeline(space, shape, data, p))
			continue;
		child.kind = NODE_DEGREES;
		child.choice.pipeline = p;
		child.memory_bytes = memory_floor(opening->families, &child.choice, p);
		for (uint32_t v = 1; v <= space->chain_length / p; v++) {
			if (v == 2 && (p == 1 || node->choice.micro_batches % p))
				break;
			if (!space_has_virtual(space, p, v,
					       node->choice.micro_batches))
				continue;
			child.choice.virtual_stages = v;
			child.time_s = node->time_s;
			add_schedules(opening, &child, steps_s / p);
		}
	}
}

/* Settles a configuration by one of the certificate's counts. */
static bool settle_degrees(struct opening *opening, const struct node *node)
{
	const struct problem *problem = opening->families->problem;
	struct certificate *certificate = &opening->expansion->count;
	uint32_t failed = family_refused(opening->families, opening->incumbent, node);
	uint32_t chunks = node->choice.pipeline * node->choice.virtual_stages;

	if (failed != REQUIREMENT_NONE) {
		if (failed != REQUIREMENT_SEVERAL &&
		    problem->requirement[failed].needs_outcome)
			removed(opening, failed);
		certificate->infeasible_requirement++;
		return true;
	}
	if (problem->uniform_stages && opening->incumbent->block_count % chunks) {
		certificate->infeasible_requirement++;
		return true;
	}
	if (node->memory_bytes > problem->memory.limit_bytes * (1 + TIE)) {
		certificate->infeasible_memory++;
		return true;
	}
	return false;
}

/* Whether the fullest device's memory says no more than bound_units does. */
static bool units_are_enough(const struct opening *opening,
			     const struct chain *chain, uint32_t pipeline)
{
	return pipeline > 1 && chain_is_plain(chain) &&
	       opening->incumbent->time_only &&
	       !opening->families->problem->requirement_count;
}

static void add_configuration(struct opening *opening, const struct node *node,
			      const struct policy *policy)
{
	const struct problem *problem = opening->families->problem;
	const struct facts *facts = opening->families->facts[node->choice.shape];
	uint32_t pipeline = node->choice.pipeline;
	struct node child = *node;
	const struct chain *chain;
	struct share share;

	child.kind = NODE_CONFIGURATION;
	choice_set_policy(&child.choice, policy);
	share = share_of(problem, &child.choice, NULL);
	/* The cheap bound first: most configurations need no other. */
	child.time_s = most(node->time_s,
			    facts_span(facts, problem, &child.choice) +
				    facts_steps(facts, &share) / pipeline);
	if (excluded(opening, &child)) {
		opening->expansion->count.bounded++;
		return;
	}
	chain = expander_chain(opening->expander, &child.choice);
	if (!units_are_enough(opening, chain, pipeline))
		child.memory_bytes = most(node->memory_bytes,
					  bound_memory(chain, &child.choice,
						       &share));
	if (pipeline > 1)
		bound_units(chain, &child.choice, &share, opening->expander->units);
	child.time_s = most(child.time_s,
			    facts_bound_whole(facts, problem, &child.choice,
					      opening->expander->units,
					      incumbent_time_most(opening->incumbent)));
	if (isinf(child.time_s))
		child.memory_bytes = INFINITY;
	if (!settle_degrees(opening, &child))
		add(opening, &child);
}

/* The most blocks that a chunk of any cut has. */
static uint32_t chunk_blocks_most(const struct opening *opening,
				  const struct choice *choice)
{
	uint32_t blocks = opening->incumbent->block_count;
	uint32_t chunks = choice->pipeline * choice->virtual_stages, layers;

	if (opening->families->problem->uniform_stages)
		return blocks / chunks;
	/* Nearly even: of the inner ones none has more than their mean and one. */
	layers = choice->virtual_stages > 1 ? blocks / (chunks - 2) + 1 :
		 opening->families->space.chain_length - (chunks - 1);
	return layers < blocks ? layers : blocks;
}

/* Whether the policy recomputes the same layers as one with a smaller number, which
 * wins the tie. */
static bool is_repeated(const struct opening *opening, const struct choice *choice,
			const struct policy *policy)
{
	return policy->fewer_layers && !opening->families->layers_wanted &&
	       policy->fewer_layers >= chunk_blocks_most(opening, choice);
}

static void open_degrees(struct opening *opening, const struct node *node)
{
	const struct space *space = &opening->families->space;

	if (discard_refused(opening, node))
		return;
	for (uint32_t i = 0; i < space->policies; i++) {
		if (is_repeated(opening, &node->choice, &space->policy[i]))
			opening->expansion->count.bounded++;
		else
			add_configuration(opening, node, &space->policy[i]);
	}
}

void expand(struct expander *expander, const struct incumbent *incumbent,
	    const struct node *node, const struct placement_set *set,
	    uint64_t effort, struct arena *arena, struct expansion *expansion)
{
	struct opening opening = {
		.expander = expander,
		.families = expander->families,
		.incumbent = incumbent,
		.set = set,
		.effort = effort,
		.expansion = expansion,
	};

	*expansion = (struct expansion){
		.arena = arena,
		.outcome.failed_requirement = REQUIREMENT_NONE,
	};
	switch (node->kind) {
	case NODE_SHAPE:
		open_shape(&opening, node);
		break;
	case NODE_DATA:
		open_data(&opening, node);
		break;
	case NODE_DEGREES:
		open_degrees(&opening, node);
		break;
	case NODE_CONFIGURATION:
		open_configuration(&opening, node);
		break;
	case NODE_PLACED:
		open_placed(&opening, node);
		break;
	case NODE_BOUNDED:
		open_bounded(&opening, node);
		break;
	case NODE_CUT:
		open_cut(&opening, node);
		break;
	case NODE_LEFT:
		open_left(&opening, node);
		break;
	}
}

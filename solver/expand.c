/* SPDX-License-Identifier: MIT
 *
 * Opening degrees, and what every opening needs.
 */
#include "solver/expand.h"

#include <math.h>

#include "solver/bound.h"
#include "solver/expand_internal.h"
#include "solver/fits.h"
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
	placed_loads_init(&expander->loads, families->problem, &expander->arena);
	for (int z = 0; z < 4; z++)
		expander->fits[z] =
			ARENA_ARRAY(&expander->arena, fits_set,
				    (size_t)families->space.chain_length + 1);
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

void expand_add(struct opening *opening, struct node *node)
{
	if (excluded(opening, node)) {
		opening->expansion->count.bounded +=
			family_count(opening->families, node);
		return;
	}
	add_child(opening, node);
}

bool expand_discard_refused(struct opening *opening, const struct node *node)
{
	if (family_refused(opening->families, opening->incumbent, node) ==
	    REQUIREMENT_NONE)
		return false;
	opening->expansion->count.infeasible_requirement +=
		family_count(opening->families, node);
	return true;
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

/* What a micro-batch takes at least: what ZeRO 2 and 3 move depends on where replicas
 * lie, so placements are looked at. */
static const struct facts_loads *least_loads(struct opening *opening,
					     const struct choice *choice)
{
	const struct facts *facts = opening->families->facts[choice->shape];

	if (choice->zero < 2)
		return &facts->loads[facts_policy(choice)];
	return &placed_loads_find(&opening->expander->loads, facts,
				  family_placements(opening->families, choice),
				  choice)->least;
}

/* The schedule's end and the mean device's step; transfers at their least. */
static double bound_by_loads(const struct opening *opening,
			     const struct facts_loads *loads,
			     const struct choice *choice, const struct share *share)
{
	const struct facts *facts = opening->families->facts[choice->shape];

	return facts_span(facts, loads, choice, facts_transfers(facts, choice)) +
	       facts_steps(facts, share) / choice->pipeline;
}

static bool is_bounded(struct opening *opening, const struct facts_loads *loads,
		       const struct share *share, struct node *node)
{
	node->time_s = most(node->time_s,
			    bound_by_loads(opening, loads, &node->choice, share));
	return excluded(opening, node);
}

/* Whether the devices have room for all layers, as bound_units has it. */
static bool have_room(const struct opening *opening, const struct choice *choice)
{
	const struct facts *facts = opening->families->facts[choice->shape];
	double room = 0;

	if (choice->pipeline == 1)
		return true;
	for (uint32_t k = 0; k < choice->pipeline; k++)
		room += opening->expander->units[k];
	return room >= facts->deal.units;
}

/* Bounds a configuration by whole layers on devices; memory_bytes INFINITY: no room. */
static void bound_closely(struct opening *opening, const struct facts_loads *loads,
			  struct node *node)
{
	const struct problem *problem = opening->families->problem;
	double until_s = incumbent_time_most(opening->incumbent);

	node->time_s = most(node->time_s,
			    facts_bound_whole(
				    opening->families->facts[node->choice.shape],
				    problem, loads, &node->choice,
				    opening->expander->units, until_s));
	if (isinf(node->time_s))
		node->memory_bytes = INFINITY;
}

/* The bounds that take little come first: most configurations need no other. */
static void add_configuration(struct opening *opening, const struct node *node,
			      const struct policy *policy)
{
	const struct facts *facts = opening->families->facts[node->choice.shape];
	uint64_t *bounded = &opening->expansion->count.bounded;
	struct node child = *node;
	const struct facts_loads *loads;
	const struct chain *chain;
	struct share share;

	child.kind = NODE_CONFIGURATION;
	choice_set_policy(&child.choice, policy);
	share = share_of(opening->families->problem, &child.choice, NULL);
	loads = &facts->loads[facts_policy(&child.choice)];
	if (is_bounded(opening, loads, &share, &child)) {
		++*bounded;
		return;
	}
	chain = expander_chain(opening->expander, &child.choice);
	if (!units_are_enough(opening, chain, child.choice.pipeline))
		child.memory_bytes = most(node->memory_bytes,
					  bound_memory(chain, &child.choice,
						       &share));
	if (child.choice.pipeline > 1)
		bound_units(chain, &child.choice, &share, opening->expander->units);
	if (!have_room(opening, &child.choice)) {
		child.memory_bytes = INFINITY;
	} else {
		loads = least_loads(opening, &child.choice);
		if (child.choice.zero > 1 &&
		    is_bounded(opening, loads, &share, &child)) {
			++*bounded;
			return;
		}
		bound_closely(opening, loads, &child);
	}
	if (!settle_degrees(opening, &child))
		expand_add(opening, &child);
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

static fits_set policy_bit(const struct policy *policy)
{
	struct choice choice = { 0 };

	choice_set_policy(&choice, policy);
	return (fits_set)(1u << facts_policy(&choice));
}

static void open_degrees(struct opening *opening, const struct node *node)
{
	const struct space *space = &opening->families->space;

	if (expand_discard_refused(opening, node))
		return;
	for (uint32_t i = 0; i < space->policies; i++) {
		const struct policy *policy = &space->policy[i];

		if (is_repeated(opening, &node->choice, policy))
			opening->expansion->count.bounded++;
		else if (!(node->fits[policy->zero] & policy_bit(policy)))
			opening->expansion->count.infeasible_memory++;
		else
			add_configuration(opening, node, policy);
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

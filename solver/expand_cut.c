/* SPDX-License-Identifier: MIT
 *
 * Opening configurations, placements and cuts.
 */
#include <math.h>

#include "solver/expand_internal.h"
#include "solver/partition.h"
#include "solver/most.h"

/* Loads everything for a configuration under a placement; no bound yet. */
static void open_partition(struct opening *opening, const struct choice *choice,
			   const struct placed *placed,
			   struct partition *partition)
{
	struct expander *expander = opening->expander;
	struct expansion *expansion = opening->expansion;
	const struct problem *problem = opening->families->problem;
	struct chain *chain = expander_chain(expander, choice);

	chain_place(chain, choice, placed, expander->time, expander->kept_time);
	/* A better plan is the expansion's, until it is told of. */
	expansion->incumbent = *opening->incumbent;
	expansion->incumbent.arena = expansion->arena;
	expansion->incumbent.plan.chunk_count = 0;
	expansion->incumbent.plan.chunk_first = NULL;
	partition_init(partition, problem, choice, placed, chain,
		       &expansion->incumbent, &expander->scratch);
}

/* The first placement tells whether memory suffices for any: it depends on the
 * placement through shard levels only. */
static bool open_first(struct opening *opening, struct node *child,
		       const struct placed *placed)
{
	struct arena *scratch = &opening->expander->scratch;
	struct arena_mark mark = arena_mark(scratch);
	struct partition partition;
	bool fits;

	open_partition(opening, &child->choice, placed, &partition);
	partition_bound(&partition);
	fits = partition_can_fit(&partition);
	child->kind = NODE_BOUNDED;
	child->time_s = most(child->time_s, partition.low_s);
	arena_rewind(scratch, mark);
	return fits;
}

/* A first bound from what a micro-batch takes. */
static void glance(struct opening *opening, struct node *child,
		   const struct placed *placed, const struct placed_load *load)
{
	const struct problem *problem = opening->families->problem;
	const struct facts *facts = opening->families->facts[child->choice.shape];
	struct share share = share_of(problem, &child->choice,
				      placed->sharding[child->choice.shard_level]);

	child->kind = NODE_PLACED;
	child->time_s = most(child->time_s,
			     facts_span(facts, &load->loads, &child->choice,
					placed_transfers(load, &child->choice)) +
				     facts_steps(facts, &share) /
					     child->choice.pipeline);
}

static void count_closed(struct expansion *expansion)
{
	if (expansion->outcome.bounded)
		expansion->count.bounded++;
	else if (expansion->outcome.over_memory)
		expansion->count.infeasible_memory++;
	else
		expansion->count.infeasible_placement++;
}

/* Whether an earlier placement has as many shards, so that memory is the same. */
static bool shares_like_earlier(const struct placement_set *set, uint32_t index,
				uint32_t level)
{
	const struct sharding *own = set->at[index].sharding[level];

	for (uint32_t i = 0; i < index; i++) {
		const struct sharding *other = set->at[i].sharding[level];

		if (other && other->parameters.members == own->parameters.members &&
		    other->experts.members == own->experts.members)
			return true;
	}
	return false;
}

void open_configuration(struct opening *opening, const struct node *node)
{
	struct expansion *expansion = opening->expansion;
	const struct placement_set *set =
		family_placements(opening->families, &node->choice);
	const struct placed_loads *loads = placed_loads_find(
		&opening->expander->loads,
		opening->families->facts[node->choice.shape], set, &node->choice);
	bool first = !node->choice.shard_level;

	expansion->set = set;
	for (uint32_t i = 0; i < set->count; i++) {
		struct node child = *node;

		child.placed = i;
		if (!loads->at[i].allowed ||
		    (opening->families->memory_only &&
		     shares_like_earlier(set, i, node->choice.shard_level)))
			continue;
		if (!first) {
			glance(opening, &child, &set->at[i], &loads->at[i]);
		} else if (!open_first(opening, &child, &set->at[i])) {
			expansion->outcome.over_memory = true;
			break;
		}
		first = false;
		if (excluded(opening, &child))
			expansion->outcome.bounded = true;
		else
			add_child(opening, &child);
	}
	if (!expansion->child.count)
		count_closed(expansion);
}

/* Adds the node again, as nearer to a plan, unless nothing is left of it. */
static void go_on(struct opening *opening, const struct node *node,
		  enum node_kind kind, double low_s)
{
	struct node child = *node;

	child.kind = kind;
	child.time_s = most(node->time_s, low_s);
	if (isinf(low_s))
		return;
	if (excluded(opening, &child))
		opening->expansion->outcome.bounded = true;
	else
		add_child(opening, &child);
}

void open_placed(struct opening *opening, const struct node *node)
{
	struct arena *scratch = &opening->expander->scratch;
	struct arena_mark mark = arena_mark(scratch);
	struct partition partition;

	open_partition(opening, &node->choice, &opening->set->at[node->placed],
		       &partition);
	partition_bound(&partition);
	if (node->choice.shard_level && !partition_can_fit(&partition))
		opening->expansion->outcome.over_memory = true;
	else
		go_on(opening, node, NODE_BOUNDED, partition.low_s);
	arena_rewind(scratch, mark);
}

static void note_outcome(struct expansion *expansion,
			 const struct partition *partition)
{
	struct outcome *outcome = &expansion->outcome;

	expansion->count.partitions += partition->simulated;
	outcome->simulated |= partition->simulated > 0;
	outcome->feasible |= partition->feasible;
	outcome->bounded |= partition->bounded;
	outcome->over_memory |= partition->over_memory;
	outcome->over_requirement |= partition->over_requirement;
	outcome->failed_requirement = partition->failed_requirement;
}

/* What is left after a better plan is judged by that. */
static void close_partition(struct opening *opening,
			    const struct partition *partition,
			    struct arena_mark mark)
{
	note_outcome(opening->expansion, partition);
	arena_rewind(&opening->expander->scratch, mark);
	opening->incumbent = &opening->expansion->incumbent;
}

void open_bounded(struct opening *opening, const struct node *node)
{
	struct arena_mark mark = arena_mark(&opening->expander->scratch);
	struct partition partition;

	open_partition(opening, &node->choice, &opening->set->at[node->placed],
		       &partition);
	partition_bound(&partition);
	partition_room(&partition);
	partition_seed(&partition);
	close_partition(opening, &partition, mark);
	go_on(opening, node, NODE_CUT, partition.low_s);
}

/* Simulations of one configuration and placement, however little each takes. */
#define SIMULATIONS_MOST 20000

static uint64_t simulation_effort(const struct choice *choice)
{
	uint64_t chunks = (uint64_t)choice->pipeline * choice->virtual_stages;
	uint64_t rounds = choice->micro_batches;

	return chunks * (rounds < 6 * choice->pipeline ? rounds :
							 6 * choice->pipeline);
}

/* Simulations that come to so much effort. */
static uint64_t allowance(const struct opening *opening,
			  const struct choice *choice)
{
	uint64_t most = opening->families->limits->partitions_max;
	uint64_t simulations = opening->effort / simulation_effort(choice);

	if (most)
		return most;
	return simulations < SIMULATIONS_MOST ? simulations : SIMULATIONS_MOST;
}

/* Looks at cuts until none is left or the effort is spent. */
static void search_cuts(struct opening *opening, const struct node *node,
			uint64_t climbs, uint64_t simulations)
{
	struct arena_mark mark = arena_mark(&opening->expander->scratch);
	struct partition partition;

	open_partition(opening, &node->choice, &opening->set->at[node->placed],
		       &partition);
	partition_bound(&partition);
	partition.low_s = most(partition.low_s, node->time_s);
	partition_room(&partition);
	partition_climb(&partition, climbs);
	partition_search(&partition, simulations);
	opening->expansion->effort =
		(partition.simulated + partition.looked + 1) *
		simulation_effort(&node->choice);
	close_partition(opening, &partition, mark);
	if (!partition.complete)
		go_on(opening, node, NODE_LEFT, partition.low_s);
}

void open_cut(struct opening *opening, const struct node *node)
{
	uint64_t simulations = allowance(opening, &node->choice);

	search_cuts(opening, node, simulations / 4, simulations);
}

/* By now a better plan is hardly found by small steps. */
void open_left(struct opening *opening, const struct node *node)
{
	search_cuts(opening, node, 0, allowance(opening, &node->choice));
}

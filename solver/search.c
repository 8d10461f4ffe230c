/* SPDX-License-Identifier: MIT
 *
 * The search. A node of the queue is a family of plans with a bound: a shape;
 * shape and data degree; pipeline and virtual degrees as well; a whole
 * configuration; a configuration under one placement. The node of least bound
 * is opened next, and what a bound excludes is counted as a family.
 */
#include "solver/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/vec.h"
#include "solver/bound.h"
#include "solver/facts.h"
#include "solver/partition.h"
#include "solver/space.h"
#include "solver/most.h"

/* Simulations of one configuration and placement when the caller names no
 * number, and chunk operations that one may take: first of all, and then, in the order
 * of their bounds, those that this did not settle. The first that the second round does
 * not settle decides what is proved, so there is nothing to win by the others. */
#define SIMULATIONS_DEFAULT 20000
#define EFFORT_FIRST 250000
#define EFFORT_SECOND 10000000

enum node_kind {
	NODE_SHAPE,
	NODE_DATA,
	NODE_DEGREES,
	NODE_CONFIGURATION,
	NODE_PLACED,			/* not yet cut */
	NODE_CUT,			/* seeded; to be searched */
};

struct node {
	double objective[2];		/* bounds of the first two objectives */
	double time_s, memory_bytes;	/* bounds */
	struct choice choice;		/* as far as the kind says */
	enum node_kind kind;
	uint32_t record;		/* from NODE_PLACED on */
	uint32_t placed;		/* index into the record's set */
};

/* What becomes of one configuration. */
struct record {
	struct choice choice;
	const struct placement_set *set;
	uint32_t pending;		/* placements not yet settled */
	bool simulated, feasible, bounded, incomplete;
	bool over_memory, over_requirement;
	uint32_t failed_requirement;
};

struct search {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct incumbent *incumbent;
	uint64_t *removed_by;
	struct search_result *result;
	struct arena arena;		/* queue, facts, placements, records */
	struct arena scratch;		/* one partition at a time */
	struct space space;
	struct placement_cache cache;
	struct facts **facts;		/* by shape, once opened */
	VEC(struct node) queue;		/* a binary heap */
	VEC(struct record) record;
	struct chain chain;
	struct layer_time *time;	/* by class */
	struct layer_time *kept_time;	/* likewise, of layers not recomputed */
	bool layers_wanted;		/* something asks for recompute_layers */
	double *units;			/* by device, for bound_units */
	VEC(struct node) later;		/* cuts that the first round did not settle */
	double unsettled;		/* least objective bound of these, or given up on */
	bool second_round;
	uint64_t effort;		/* chunk operations left in the second round */
	bool stopped;			/* out of time, or near enough */
	uint32_t asked;			/* for the clock */
};

/* The queue. */

static int compare_number(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_choice(const struct choice *a, const struct choice *b)
{
	int order = compare_number(a->shape, b->shape);

	if (!order)
		order = compare_number(a->data, b->data);
	if (!order)
		order = compare_number(a->pipeline, b->pipeline);
	if (!order)
		order = compare_number(a->virtual_stages, b->virtual_stages);
	if (!order)
		order = compare_number(a->zero, b->zero);
	if (!order)
		order = compare_number(a->shard_level, b->shard_level);
	if (!order)
		order = compare_number(a->recompute, b->recompute);
	if (!order)
		order = compare_number(a->recompute_layers, b->recompute_layers);
	return order ? order : compare_number(a->schedule, b->schedule);
}

/* Least bound first; among equals the one nearest to a plan. */
static bool node_before(const struct node *a, const struct node *b)
{
	int order;

	for (int i = 0; i < 2; i++)
		if (a->objective[i] != b->objective[i])
			return a->objective[i] < b->objective[i];
	if (a->kind != b->kind)
		return a->kind > b->kind;
	order = compare_choice(&a->choice, &b->choice);
	return order ? order < 0 : a->placed < b->placed;
}

static void queue_push(struct search *search, const struct node *node)
{
	struct node *heap;
	size_t at;

	VEC_PUSH(&search->queue, &search->arena, *node);
	heap = search->queue.at;
	for (at = search->queue.count - 1; at; at = (at - 1) / 2) {
		if (!node_before(node, &heap[(at - 1) / 2]))
			break;
		heap[at] = heap[(at - 1) / 2];
	}
	heap[at] = *node;
}

static struct node queue_pop(struct search *search)
{
	struct node *heap = search->queue.at;
	struct node first = heap[0], last = heap[--search->queue.count];
	size_t count = search->queue.count, at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    node_before(&heap[child + 1], &heap[child]))
			child++;
		if (!node_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* Bounds of nodes. */

static void node_outlook(const struct search *search, const struct node *node,
			 struct outlook *outlook)
{
	const struct problem *problem = search->problem;
	const struct problem_shape *shape = &problem->shape[node->choice.shape];

	*outlook = (struct outlook){
		.choice = &node->choice,
		.known = node->kind == NODE_SHAPE ? OUTLOOK_SHAPE :
			 node->kind == NODE_DATA ? OUTLOOK_DATA :
			 node->kind == NODE_DEGREES ? OUTLOOK_DEGREES : OUTLOOK_ALL,
		.time_s = node->time_s,
		.memory_bytes = node->memory_bytes,
	};
	if (search->facts[node->choice.shape])
		outlook->device_s =
			search->facts[node->choice.shape]->whole_least_s *
			shape->tensor * shape->context *
			(problem->global_batch / shape->micro_batch);
}

static bool node_excluded(const struct search *search, const struct node *node)
{
	const struct incumbent *incumbent = search->incumbent;
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
	node_outlook(search, node, &outlook);
	outlook_merit(incumbent, &outlook, &merit);
	return incumbent_excludes(incumbent, &merit);
}

static void node_bound(const struct search *search, struct node *node)
{
	struct outlook outlook;
	struct merit merit;

	node->objective[0] = node->time_s;
	node->objective[1] = 0;
	if (search->incumbent->time_only)
		return;
	node_outlook(search, node, &outlook);
	outlook_merit(search->incumbent, &outlook, &merit);
	node->objective[0] = merit.objective[0];
	if (merit.objective_count > 1)
		node->objective[1] = merit.objective[1];
}

/* Configurations below a node that is not a configuration yet. */
static uint64_t node_count(struct search *search, const struct node *node)
{
	switch (node->kind) {
	case NODE_SHAPE:
		return space_count_shape(&search->space, node->choice.shape);
	case NODE_DATA:
		return space_count_data(&search->space, node->choice.shape,
					node->choice.data);
	case NODE_DEGREES:
		return search->space.policies;
	default:
		return 1;
	}
}

/* Queues a node, or counts it when it is excluded. */
static void node_add(struct search *search, struct node *node)
{
	if (node_excluded(search, node)) {
		search->result->certificate.bounded += node_count(search, node);
		return;
	}
	node_bound(search, node);
	queue_push(search, node);
}

/* The only requirement that surely fails for the family, REQUIREMENT_NONE or
 * REQUIREMENT_SEVERAL. */
static uint32_t node_refused(const struct search *search, const struct node *node)
{
	const struct problem *problem = search->problem;
	uint32_t failed = REQUIREMENT_NONE;
	struct range_input input;
	struct outlook outlook;

	if (!problem->requirement_count)
		return failed;
	node_outlook(search, node, &outlook);
	outlook_ranges(search->incumbent, &outlook, &input);
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		if (outlook_requirement(&outlook, &problem->requirement[i],
					&input) == CERTAINLY_FALSE)
			failed = failed == REQUIREMENT_NONE ? i :
							      REQUIREMENT_SEVERAL;
	return failed;
}

static bool node_discard_refused(struct search *search, const struct node *node)
{
	if (node_refused(search, node) == REQUIREMENT_NONE)
		return false;
	search->result->certificate.infeasible_requirement +=
		node_count(search, node);
	return true;
}

/* Least memory of a device with its part of the parameters. */
static double memory_floor(const struct search *search,
			   const struct choice *choice, uint32_t pipeline_most)
{
	const struct problem *problem = search->problem;
	struct choice least = *choice;
	struct share share;

	least.zero = search->space.lightest.zero;
	least.pipeline = pipeline_most;
	share = share_of(problem, &least, NULL);
	return problem->memory.reserve_bytes +
	       share_bytes(&share, search->facts[choice->shape]->held) /
		       pipeline_most;
}

/* Opening nodes, from the top down. */

static void open_shape(struct search *search, const struct node *node)
{
	const struct problem *problem = search->problem;
	uint32_t shape = node->choice.shape;

	if (node_discard_refused(search, node))
		return;
	search->facts[shape] = ARENA_NEW(&search->arena, struct facts);
	facts_fill(search->facts[shape], problem, &search->cache, shape,
		   &search->arena);
	for (uint32_t i = 0; i < search->space.data_count; i++) {
		uint32_t data = search->space.data[i], most_pipeline;
		struct node child = { .kind = NODE_DATA, .choice.shape = shape };

		if (!space_has_data(&search->space, shape, data))
			continue;
		most_pipeline = space_pipeline_max(&search->space, shape, data);
		child.choice.data = data;
		child.choice.micro_batches =
			space_micro_batches(&search->space, shape, data);
		child.time_s = most(node->time_s,
				    facts_bound_data(search->facts[shape], problem,
						     most_pipeline,
						     child.choice.micro_batches));
		child.memory_bytes = memory_floor(search, &child.choice,
						  most_pipeline);
		node_add(search, &child);
	}
}

static double least_over_policies(const struct search *search,
				  const struct choice *choice)
{
	const struct problem *problem = search->problem;
	const struct problem_domain *layers = &problem->recompute_layers;
	struct choice trial = *choice;
	double time = INFINITY;

	trial.zero = search->space.lightest.zero;
	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		bool partial = r == RECOMPUTE_FULL && layers->count;
		double other;

		if (!problem->recompute[r])
			continue;
		trial.recompute = (enum recompute)r;
		trial.recompute_layers = partial ? layers->at[0] : 0;
		other = facts_bound(search->facts[choice->shape], problem, &trial);
		time = other < time ? other : time;
	}
	return time;
}

static void add_schedules(struct search *search, const struct node *node)
{
	for (int s = 0; s < SCHEDULE_COUNT; s++) {
		struct node child = *node;

		if (!space_has_schedule(&search->space, node->choice.pipeline,
					node->choice.virtual_stages,
					(enum schedule)s))
			continue;
		child.choice.schedule = (enum schedule)s;
		child.time_s = most(child.time_s,
				    least_over_policies(search, &child.choice));
		node_add(search, &child);
	}
}

static void open_data(struct search *search, const struct node *node)
{
	const struct space *space = &search->space;
	uint32_t shape = node->choice.shape, data = node->choice.data;
	uint32_t most_pipeline = space_pipeline_max(space, shape, data);

	if (node_discard_refused(search, node))
		return;
	for (uint32_t p = 1; p <= most_pipeline; p++) {
		struct node child = *node;

		if (!space_has_pipeline(space, shape, data, p))
			continue;
		child.kind = NODE_DEGREES;
		child.choice.pipeline = p;
		child.memory_bytes = memory_floor(search, &child.choice, p);
		for (uint32_t v = 1; v <= space->chain_length / p; v++) {
			if (v == 2 && (p == 1 || node->choice.micro_batches % p))
				break;
			if (!space_has_virtual(space, p, v,
					       node->choice.micro_batches))
				continue;
			child.choice.virtual_stages = v;
			child.time_s = node->time_s;
			add_schedules(search, &child);
		}
	}
}

/* Settles a configuration by one of the certificate's counts. */
static bool settle_degrees(struct search *search, const struct node *node)
{
	const struct problem *problem = search->problem;
	struct certificate *certificate = &search->result->certificate;
	uint32_t failed = node_refused(search, node);
	uint32_t chunks = node->choice.pipeline * node->choice.virtual_stages;

	if (failed != REQUIREMENT_NONE) {
		if (failed != REQUIREMENT_SEVERAL &&
		    problem->requirement[failed].needs_outcome)
			search->removed_by[failed]++;
		certificate->infeasible_requirement++;
		return true;
	}
	if (problem->uniform_stages && search->incumbent->block_count % chunks) {
		certificate->infeasible_requirement++;
		return true;
	}
	if (node->memory_bytes > problem->memory.limit_bytes * (1 + TIE)) {
		certificate->infeasible_memory++;
		return true;
	}
	return false;
}

static void add_configuration(struct search *search, const struct node *node,
			      const struct policy *policy)
{
	const struct problem *problem = search->problem;
	struct node child = *node;
	struct share share;

	child.kind = NODE_CONFIGURATION;
	choice_set_policy(&child.choice, policy);
	/* The cheap bound first: most configurations need no other. */
	child.time_s = most(node->time_s,
			    facts_bound(search->facts[node->choice.shape], problem,
					&child.choice));
	if (node_excluded(search, &child)) {
		search->result->certificate.bounded++;
		return;
	}
	chain_load(&search->chain, &child.choice);
	share = share_of(problem, &child.choice, NULL);
	child.memory_bytes = most(node->memory_bytes,
				  bound_memory(&search->chain, &child.choice,
					       &share));
	if (node->choice.pipeline > 1)
		bound_units(&search->chain, &child.choice, &share, search->units);
	child.time_s = most(child.time_s,
			    facts_bound_whole(search->facts[node->choice.shape],
					      problem, &child.choice,
					      search->units,
					      incumbent_time_most(search->incumbent)));
	if (isinf(child.time_s))
		child.memory_bytes = INFINITY;
	if (!settle_degrees(search, &child))
		node_add(search, &child);
}

/* The most blocks that a chunk of any cut has. */
static uint32_t chunk_blocks_most(const struct search *search,
				  const struct choice *choice)
{
	uint32_t blocks = search->incumbent->block_count;
	uint32_t chunks = choice->pipeline * choice->virtual_stages, layers;

	if (search->problem->uniform_stages)
		return blocks / chunks;
	/* Nearly even: of the inner ones none has more than their mean and one. */
	layers = choice->virtual_stages > 1 ? blocks / (chunks - 2) + 1 :
		 search->space.chain_length - (chunks - 1);
	return layers < blocks ? layers : blocks;
}

/* Whether the policy recomputes the same layers as one with a smaller number, which
 * wins the tie. */
static bool is_repeated(const struct search *search, const struct choice *choice,
			const struct policy *policy)
{
	return policy->fewer_layers && !search->layers_wanted &&
	       policy->fewer_layers >= chunk_blocks_most(search, choice);
}

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

static void open_degrees(struct search *search, const struct node *node)
{
	const struct space *space = &search->space;

	if (node_discard_refused(search, node))
		return;
	for (uint32_t i = 0; i < space->policies; i++) {
		if (is_repeated(search, &node->choice, &space->policy[i]))
			search->result->certificate.bounded++;
		else
			add_configuration(search, node, &space->policy[i]);
	}
}

/* Loads the chain for a configuration under a placement. */
static void partition_open(struct search *search, const struct choice *choice,
			   const struct placed *placed,
			   struct partition *partition)
{
	struct layer_setting setting = {
		.problem = search->problem,
		.shape = choice->shape,
		.recompute = choice->recompute,
		.zero = choice->zero,
		.group = placed->group,
		.sharding = placed->sharding[choice->shard_level],
	};

	chain_load(&search->chain, choice);
	layer_times(&setting, search->time);
	setting.recompute = RECOMPUTE_NONE;
	if (search->chain.partial)
		layer_times(&setting, search->kept_time);
	chain_time(&search->chain, search->time, search->kept_time);
	partition_init(partition, search->problem, choice, placed, &search->chain,
		       search->incumbent, &search->scratch);
	partition_bound(partition);
}

static void open_configuration(struct search *search, const struct node *node)
{
	struct certificate *certificate = &search->result->certificate;
	const struct problem_shape *shape =
		&search->problem->shape[node->choice.shape];
	const struct placement_set *set =
		placement_find(&search->cache, shape, node->choice.data,
			       node->choice.pipeline);
	struct arena_mark mark = arena_mark(&search->scratch);
	struct record record = {
		.choice = node->choice,
		.set = set,
		.failed_requirement = REQUIREMENT_NONE,
	};
	struct node child = *node;

	if (!set->count) {
		certificate->infeasible_placement++;
		return;
	}
	child.kind = NODE_PLACED;
	child.record = (uint32_t)search->record.count;
	for (uint32_t i = 0; i < set->count; i++) {
		struct partition partition;

		if (!set->at[i].sharding[node->choice.shard_level])
			continue;
		partition_open(search, &node->choice, &set->at[i], &partition);
		/* Memory depends on the placement only through shard levels. */
		if ((!i || node->choice.shard_level) &&
		    !partition_can_fit(&partition)) {
			arena_rewind(&search->scratch, mark);
			record.over_memory = true;
			if (!node->choice.shard_level)
				break;
			continue;
		}
		child.placed = i;
		child.time_s = most(node->time_s, partition.low_s);
		arena_rewind(&search->scratch, mark);
		if (node_excluded(search, &child)) {
			record.bounded = true;
			continue;
		}
		node_bound(search, &child);
		queue_push(search, &child);
		record.pending++;
	}
	if (record.pending)
		VEC_PUSH(&search->record, &search->arena, record);
	else if (record.bounded)
		certificate->bounded++;
	else if (record.over_memory)
		certificate->infeasible_memory++;
	else
		certificate->infeasible_placement++;
}

/* Settles a configuration of which no placement is left. */
static void settle_record(struct search *search, const struct record *record)
{
	struct certificate *certificate = &search->result->certificate;
	uint32_t failed = record->failed_requirement;

	if (record->feasible) {
		certificate->priced++;
	} else if (!record->bounded && !record->incomplete) {
		if (record->over_memory && !record->over_requirement) {
			certificate->infeasible_memory++;
			return;
		}
		certificate->infeasible_requirement++;
		if (!record->over_memory && failed != REQUIREMENT_NONE &&
		    failed != REQUIREMENT_SEVERAL)
			search->removed_by[failed]++;
	} else if (record->simulated) {
		certificate->priced++;
	} else {
		certificate->bounded++;
	}
}

static void settle_placed(struct search *search, struct record *record)
{
	if (!--record->pending)
		settle_record(search, record);
}

static void record_note(struct record *record, const struct partition *partition)
{
	record->simulated |= partition->simulated > 0;
	record->feasible |= partition->feasible;
	record->bounded |= partition->bounded;
	record->over_memory |= partition->over_memory;
	record->over_requirement |= partition->over_requirement;
	if (partition->failed_requirement == REQUIREMENT_NONE)
		return;
	if (record->failed_requirement == REQUIREMENT_NONE)
		record->failed_requirement = partition->failed_requirement;
	else if (record->failed_requirement != partition->failed_requirement)
		record->failed_requirement = REQUIREMENT_SEVERAL;
}

/* Seeds a placement, and queues it again with the better bound. */
static void open_placed(struct search *search, const struct node *node)
{
	struct record *record = &search->record.at[node->record];
	struct arena_mark mark = arena_mark(&search->scratch);
	struct node child = *node;
	struct partition partition;

	partition_open(search, &node->choice, &record->set->at[node->placed],
		       &partition);
	partition_seed(&partition);
	search->result->certificate.partitions += partition.simulated;
	record_note(record, &partition);
	arena_rewind(&search->scratch, mark);
	child.kind = NODE_CUT;
	child.time_s = most(node->time_s, partition.low_s);
	if (isinf(partition.low_s) || node_excluded(search, &child)) {
		record->bounded |= !isinf(partition.low_s);
		settle_placed(search, record);
		return;
	}
	node_bound(search, &child);
	queue_push(search, &child);
}

static uint64_t simulation_effort(const struct choice *choice)
{
	uint64_t chunks = (uint64_t)choice->pipeline * choice->virtual_stages;
	uint64_t rounds = choice->micro_batches;

	return chunks * (rounds < 6 * choice->pipeline ? rounds :
							 6 * choice->pipeline);
}

/* How many simulations the placement may have. */
static uint64_t allowance(const struct search *search,
			  const struct choice *choice)
{
	uint64_t effort = search->second_round ? search->effort : EFFORT_FIRST;
	uint64_t simulations = effort / simulation_effort(choice);

	if (search->limits->partitions_max)
		return search->limits->partitions_max;
	return simulations < SIMULATIONS_DEFAULT ? simulations :
						   SIMULATIONS_DEFAULT;
}

/* Searches the cuts of a placement. True if nothing is left to do there; node then
 * has the better bound. */
static bool search_cut(struct search *search, struct node *node)
{
	struct record *record = &search->record.at[node->record];
	struct arena_mark mark = arena_mark(&search->scratch);
	uint64_t simulations = allowance(search, &node->choice), used;
	struct partition partition;

	if (!simulations)
		return false;
	partition_open(search, &node->choice, &record->set->at[node->placed],
		       &partition);
	partition.low_s = most(partition.low_s, node->time_s);
	partition_climb(&partition, simulations / 4);
	partition_search(&partition, simulations);
	search->result->certificate.partitions += partition.simulated;
	used = (partition.simulated + partition.looked + 1) *
	       simulation_effort(&node->choice);
	if (search->second_round)
		search->effort -= used < search->effort ? used : search->effort;
	record_note(record, &partition);
	arena_rewind(&search->scratch, mark);
	node->time_s = most(node->time_s, partition.low_s);
	if (!partition.complete && !node_excluded(search, node))
		return false;
	record->bounded |= !partition.complete;
	settle_placed(search, record);
	return true;
}

static void open_cut(struct search *search, const struct node *node)
{
	struct node again = *node;

	if (search_cut(search, &again))
		return;
	node_bound(search, &again);
	if (again.objective[0] < search->unsettled)
		search->unsettled = again.objective[0];
	VEC_PUSH(&search->later, &search->arena, again);
}

/* What could not be settled. */
static void give_up(struct search *search, const struct node *node)
{
	struct record *record = &search->record.at[node->record];

	record->incomplete = true;
	search->result->complete = false;
	if (node->objective[0] < search->unsettled)
		search->unsettled = node->objective[0];
	settle_placed(search, record);
}

static void open_node(struct search *search, const struct node *node)
{
	switch (node->kind) {
	case NODE_SHAPE:
		open_shape(search, node);
		break;
	case NODE_DATA:
		open_data(search, node);
		break;
	case NODE_DEGREES:
		open_degrees(search, node);
		break;
	case NODE_CONFIGURATION:
		open_configuration(search, node);
		break;
	case NODE_PLACED:
		open_placed(search, node);
		break;
	case NODE_CUT:
		open_cut(search, node);
		break;
	}
}

/* Counts a node that will not be opened. */
static void drop_node(struct search *search, const struct node *node)
{
	if (node->kind < NODE_PLACED) {
		search->result->certificate.bounded += node_count(search, node);
		return;
	}
	search->record.at[node->record].bounded = true;
	settle_placed(search, &search->record.at[node->record]);
}

/* The ends of the search. */

/* Whether the gap asked for is reached with this as the least open bound. */
static bool gap_is_reached(const struct search *search, const struct node *node)
{
	double value, low = node->objective[0];

	if (!search->incumbent->found || search->limits->gap <= 0)
		return false;
	value = search->incumbent->merit.objective[0];
	if (search->unsettled < low)
		low = search->unsettled;
	return value - low <= search->limits->gap * fabs(value);
}

/* The node is the one of least bound that is still open. */
static void tell_progress(struct search *search, const struct node *node)
{
	const struct solve_limits *limits = search->limits;
	const struct certificate *so_far = &search->result->certificate;
	double low = node->objective[0];
	struct solve_progress progress = {
		.configurations = so_far->configurations,
		.settled = so_far->priced + so_far->bounded +
			   so_far->infeasible_memory +
			   so_far->infeasible_requirement +
			   so_far->infeasible_placement,
		.found = search->incumbent->found,
		.lower_bound = search->unsettled < low ? search->unsettled : low,
	};

	if (!limits->progress)
		return;
	if (progress.found)
		progress.value = search->incumbent->merit.objective[0];
	limits->progress(limits->closure, &progress);
}

static void add_shapes(struct search *search)
{
	const struct problem *problem = search->problem;
	struct certificate *certificate = &search->result->certificate;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];
		struct node node = { .kind = NODE_SHAPE, .choice.shape = i };
		uint64_t count = space_count_shape(&search->space, i);
		uint64_t members = (uint64_t)shape->tensor * shape->context;

		certificate->configurations += count;
		if (!count)
			continue;
		node.time_s = facts_compute(problem, i) *
			      (problem->global_batch / shape->micro_batch) /
			      (double)(problem->device_count / members);
		node_bound(search, &node);
		queue_push(search, &node);
	}
}

static void search_init(struct search *search)
{
	const struct problem *problem = search->problem;

	arena_init(&search->arena);
	arena_init(&search->scratch);
	space_init(&search->space, problem, &search->arena);
	placement_cache_init(&search->cache, problem, &search->arena);
	chain_init(&search->chain, problem, &search->arena);
	search->facts = ARENA_ARRAY(&search->arena, struct facts *,
				    problem->shape_count);
	search->time = ARENA_ARRAY(&search->arena, struct layer_time,
				   problem->class_count);
	search->layers_wanted =
		mentions_layers(problem->requirement, problem->requirement_count) ||
		mentions_layers(problem->objective, problem->objective_count);
	search->kept_time = ARENA_ARRAY(&search->arena, struct layer_time,
					problem->class_count);
	search->units = ARENA_ARRAY(&search->arena, double,
				    search->space.chain_length);
}

static void finish_certificate(struct search *search)
{
	struct certificate *certificate = &search->result->certificate;
	double value;

	if (!search->incumbent->found)
		return;
	value = search->incumbent->merit.objective[0];
	certificate->value = value;
	certificate->lower_bound =
		search->unsettled < value ? search->unsettled : value;
	certificate->gap = value > certificate->lower_bound ?
		(value - certificate->lower_bound) / fabs(value) : 0;
}

/* Whether the search must end before the node, which is then counted. */
static bool must_stop(struct search *search, const struct node *node)
{
	struct search_result *result = search->result;

	if (!search->stopped && deadline_glance(&search->limits->deadline, &search->asked)) {
		search->stopped = result->certificate.out_of_time = true;
		result->complete = false;
	}
	search->stopped |= gap_is_reached(search, node);
	tell_progress(search, node);
	if (search->stopped && node->objective[0] < search->unsettled)
		search->unsettled = node->objective[0];
	return search->stopped;
}

static void first_round(struct search *search)
{
	while (search->queue.count) {
		struct node node = queue_pop(search);

		if (must_stop(search, &node) || node_excluded(search, &node))
			drop_node(search, &node);
		else
			open_node(search, &node);
	}
}

static int by_bound(const void *a, const void *b)
{
	return node_before(a, b) ? -1 : node_before(b, a);
}

/* In the order of bounds, until one is not settled. */
static void second_round(struct search *search)
{
	bool settled = !search->limits->partitions_max;

	if (search->later.count)
		qsort(search->later.at, search->later.count,
		      sizeof(*search->later.at), by_bound);
	search->second_round = true;
	search->unsettled = search->stopped ? search->unsettled : INFINITY;
	for (size_t i = 0; i < search->later.count; i++) {
		struct node node = search->later.at[i];

		if (must_stop(search, &node) || node_excluded(search, &node)) {
			drop_node(search, &node);
			continue;
		}
		settled = settled && search_cut(search, &node);
		if (!settled)
			give_up(search, &node);
	}
}

void search_run(const struct problem *problem, const struct solve_limits *limits,
		struct incumbent *incumbent, uint64_t *removed_by,
		struct search_result *result)
{
	struct search search = {
		.problem = problem,
		.limits = limits,
		.incumbent = incumbent,
		.removed_by = removed_by,
		.result = result,
		.unsettled = INFINITY,
		.effort = EFFORT_SECOND,
	};

	*result = (struct search_result){ .complete = true };
	search_init(&search);
	add_shapes(&search);
	first_round(&search);
	second_round(&search);
	finish_certificate(&search);
	arena_release(&search.scratch);
	arena_release(&search.arena);
}

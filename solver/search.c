/* SPDX-License-Identifier: MIT
 *
 * The search: the node of least bound is opened next, and what a bound excludes is
 * counted as a family. Cuts that a short look does not settle wait for the second
 * round.
 */
#include "solver/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/vec.h"
#include "solver/ahead.h"
#include "solver/deadline.h"
#include "solver/expand.h"
#include "solver/family.h"
#include "solver/node.h"
#include "solver/partition.h"

/* Chunk operations that one placement's cuts may take: first of all, and then, in the
 * order of their bounds, those that this did not settle; and all of these together.
 * The first that the second round does not settle decides what is proved, so there is
 * nothing to win by the others. */
#define EFFORT_FIRST 30000
#define EFFORT_SECOND 3000000
#define EFFORT_SECOND_ALL 10000000

/* Nodes opened before other threads are worth their while. */
#define ALONE_FIRST 16

/* Nodes opened between two dives, and a quarter of all besides. */
#define DIVE_AFTER 16

/* For each thread, nodes taken from the queue before their turn to be opened ahead:
 * more are taken when no more than the first number are left. */
#define FRONT_LEAST 16
#define FRONT_MOST 48

/* What becomes of one configuration. */
struct record {
	struct choice choice;
	const struct placement_set *set;
	uint32_t pending;		/* placements not yet settled */
	bool incomplete;
	struct outcome outcome;
};

struct search {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct incumbent *incumbent;
	uint64_t *removed_by;
	struct search_result *result;
	struct families families;
	struct arena arena;		/* of records, and of what waits */
	struct queue queue;
	struct node *front;		/* taken from the queue, in its order */
	size_t front_first, front_count, front_room;
	VEC(struct record) record;
	VEC(struct node) later;		/* cuts that the first round did not settle */
	struct expander expander;
	struct expansion expansion;
	struct arena opening;		/* of that, */
	struct arena_mark empty;	/* whose first block is kept */
	struct ahead *ahead;		/* NULL: one thread */
	uint64_t opened;		/* nodes */
	uint64_t next_dive;		/* when so many are */
	double unsettled;		/* least objective bound of these, or given up on */
	uint64_t effort;		/* chunk operations left in the second round */
	bool stopped;			/* out of time, or near enough */
	uint32_t asked;			/* for the clock */
};

/* Settling. */

/* Settles a configuration of which no placement is left. */
static void settle_record(struct search *search, const struct record *record)
{
	struct certificate *certificate = &search->result->certificate;
	const struct outcome *outcome = &record->outcome;
	uint32_t failed = outcome->failed_requirement;

	if (outcome->feasible) {
		certificate->priced++;
	} else if (!outcome->bounded && !record->incomplete) {
		if (outcome->over_memory && !outcome->over_requirement) {
			certificate->infeasible_memory++;
			return;
		}
		certificate->infeasible_requirement++;
		if (!outcome->over_memory && failed != REQUIREMENT_NONE &&
		    failed != REQUIREMENT_SEVERAL)
			search->removed_by[failed]++;
	} else if (outcome->simulated) {
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

static void outcome_add(struct outcome *outcome, const struct outcome *more)
{
	uint32_t failed = more->failed_requirement;

	outcome->simulated |= more->simulated;
	outcome->feasible |= more->feasible;
	outcome->bounded |= more->bounded;
	outcome->over_memory |= more->over_memory;
	outcome->over_requirement |= more->over_requirement;
	if (failed == REQUIREMENT_NONE)
		return;
	if (outcome->failed_requirement == REQUIREMENT_NONE)
		outcome->failed_requirement = failed;
	else if (outcome->failed_requirement != failed)
		outcome->failed_requirement = REQUIREMENT_SEVERAL;
}

/* Taking in what came out of a node. */

static void take_counts(struct search *search, const struct expansion *expansion)
{
	certificate_add(&search->result->certificate, &expansion->count);
	for (uint32_t i = 0; expansion->removed_by &&
			     i < search->problem->requirement_count; i++)
		search->removed_by[i] += expansion->removed_by[i];
}

static void take_incumbent(struct search *search,
			   const struct expansion *expansion)
{
	const struct incumbent *better = &expansion->incumbent;

	if (!better->plan.chunk_count)
		return;
	incumbent_offer(search->incumbent, &better->plan, &better->merit);
	if (search->ahead)
		ahead_renew(search->ahead, search->incumbent);
}

/* All but the one given, if any. */
static void push_children(struct search *search,
			  const struct expansion *expansion,
			  const struct node *except)
{
	for (size_t i = 0; i < expansion->child.count; i++)
		if (&expansion->child.at[i] != except)
			queue_push(&search->queue, &expansion->child.at[i]);
}

/* The children of a configuration are its placements. */
static void take_configuration(struct search *search, const struct node *node,
			       const struct expansion *expansion)
{
	struct record record = {
		.choice = node->choice,
		.set = expansion->set,
		.pending = (uint32_t)expansion->child.count,
		.outcome = expansion->outcome,
	};

	if (!record.pending)
		return;
	for (size_t i = 0; i < expansion->child.count; i++)
		expansion->child.at[i].record = (uint32_t)search->record.count;
	VEC_PUSH(&search->record, &search->arena, record);
}

static void take(struct search *search, const struct node *node,
		 const struct expansion *expansion)
{
	take_counts(search, expansion);
	take_incumbent(search, expansion);
	if (node->kind == NODE_CONFIGURATION) {
		take_configuration(search, node, expansion);
	} else if (node->kind > NODE_CONFIGURATION) {
		struct record *record = &search->record.at[node->record];

		outcome_add(&record->outcome, &expansion->outcome);
		if (!expansion->child.count)
			settle_placed(search, record);
	}
}

/* Opening, here or ahead. */

static const struct placement_set *set_of(const struct search *search,
					  const struct node *node)
{
	return node->kind > NODE_CONFIGURATION ?
		search->record.at[node->record].set : NULL;
}

static void front_insert(struct search *search, const struct node *node)
{
	size_t at;

	if (search->front_first + search->front_count == search->front_room) {
		memmove(search->front, search->front + search->front_first,
			search->front_count * sizeof(*search->front));
		search->front_first = 0;
	}
	at = search->front_first + search->front_count++;
	for (; at > search->front_first; at--) {
		if (!node_before(node, &search->front[at - 1]))
			break;
		search->front[at] = search->front[at - 1];
	}
	search->front[at] = *node;
}

/* The node of least bound, wherever it is. */
static struct node take_next(struct search *search)
{
	const struct node *front = &search->front[search->front_first];

	if (!search->front_count ||
	    (search->queue.count && node_before(queue_at(&search->queue, 0), front)))
		return queue_pop(&search->queue);
	search->front_first++;
	search->front_count--;
	return *front;
}

/* Hands the threads a batch of the next nodes. False if there is no room for more. */
static bool send_batch(struct search *search)
{
	bool full = false;

	while (search->queue.count && !full) {
		struct node node = queue_pop(&search->queue);

		if (node.kind != NODE_SHAPE) {
			node.ticket = ahead_put(search->ahead, &node,
						set_of(search, &node));
			full = node.ticket == TICKET_NONE;
		}
		front_insert(search, &node);
	}
	return ahead_send(search->ahead, search->incumbent, EFFORT_FIRST) &&
	       search->queue.count;
}

/* Keeps the threads supplied. */
static void look_ahead(struct search *search)
{
	size_t threads = search->limits->threads;

	if (!search->ahead || search->opened < ALONE_FIRST ||
	    search->front_count > FRONT_LEAST * threads)
		return;
	while (search->front_count < FRONT_MOST * threads && send_batch(search))
		;
}

/* Opens a node and takes in what came out; what is left of a cut is the caller's,
 * until the next node is opened. */
static const struct expansion *open_node(struct search *search, struct node *node,
					 uint64_t effort)
{
	struct expansion *expansion = NULL;
	uint32_t ticket = node->ticket;

	node->ticket = TICKET_NONE;
	search->opened++;
	if (ticket != TICKET_NONE)
		expansion = ahead_take(search->ahead, ticket, &search->expander);
	if (!expansion) {
		expansion = &search->expansion;
		arena_rewind(&search->opening, search->empty);
		expand(&search->expander, search->incumbent, node,
		       set_of(search, node), effort, &search->opening, expansion);
	}
	take(search, node, expansion);
	if (ticket != TICKET_NONE)
		ahead_give_back(search->ahead, ticket);
	return expansion;
}

/* Counts a node that will not be opened. */
static void drop_node(struct search *search, const struct node *node)
{
	if (node->ticket != TICKET_NONE)
		ahead_give_back(search->ahead, node->ticket);
	if (node->kind < NODE_PLACED) {
		search->result->certificate.bounded +=
			family_count(&search->families, node);
		return;
	}
	search->record.at[node->record].outcome.bounded = true;
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
		struct node node = {
			.kind = NODE_SHAPE,
			.choice.shape = i,
			.ticket = TICKET_NONE,
		};
		uint64_t count = space_count_shape(&search->families.space, i);
		uint64_t members = (uint64_t)shape->tensor * shape->context;

		certificate->configurations += count;
		if (!count)
			continue;
		node.time_s = facts_compute(problem, i) *
			      (problem->global_batch / shape->micro_batch) /
			      (double)(problem->device_count / members);
		family_bound(&search->families, search->incumbent, &node);
		queue_push(&search->queue, &node);
	}
}

static void search_init(struct search *search)
{
	uint32_t threads = search->limits->threads;

	arena_init(&search->arena);
	families_init(&search->families, search->problem, search->limits);
	queue_init(&search->queue);
	expander_init(&search->expander, &search->families);
	arena_init(&search->opening);
	arena_alloc(&search->opening, 1);
	search->empty = arena_mark(&search->opening);
	search->ahead = ahead_new(&search->families, threads ? threads - 1 : 0,
				  &search->arena);
	if (!search->ahead)
		return;
	search->front_room = 4 * FRONT_MOST * (size_t)threads;
	search->front = ARENA_ARRAY(&search->arena, struct node,
				    search->front_room);
}

static void search_release(struct search *search)
{
	ahead_release(search->ahead);
	arena_release(&search->opening);
	expander_release(&search->expander);
	queue_release(&search->queue);
	families_release(&search->families);
	arena_release(&search->arena);
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

	if (!search->stopped &&
	    deadline_glance(&search->limits->deadline, &search->asked)) {
		search->stopped = result->certificate.out_of_time = true;
		result->complete = false;
	}
	search->stopped |= gap_is_reached(search, node);
	tell_progress(search, node);
	if (search->stopped && node->objective[0] < search->unsettled)
		search->unsettled = node->objective[0];
	return search->stopped;
}

/* A cut that is not settled waits for the second round. */
static void open_in_first_round(struct search *search, struct node *node)
{
	const struct expansion *expansion = open_node(search, node, EFFORT_FIRST);
	const struct node *left = expansion->child.at;

	if (node->kind < NODE_CUT)
		push_children(search, expansion, NULL);
	if (node->kind != NODE_CUT || !expansion->child.count)
		return;
	if (left->objective[0] < search->unsettled)
		search->unsettled = left->objective[0];
	VEC_PUSH(&search->later, &search->arena, *left);
}

static const struct node *best_child(const struct expansion *expansion)
{
	const struct node *best = NULL;

	for (size_t i = 0; i < expansion->child.count; i++)
		if (!best || node_before(&expansion->child.at[i], best))
			best = &expansion->child.at[i];
	return best;
}

/* Goes from a node to its best child, and so on, until that is a plan: the first plans
 * leave out most of what would be put into the queue before its bounds lead to one. */
static void dive(struct search *search, struct node node)
{
	const struct node *best;

	do {
		const struct expansion *expansion =
			open_node(search, &node, EFFORT_FIRST);

		best = node.kind < NODE_BOUNDED ? best_child(expansion) : NULL;
		push_children(search, expansion, best);
		if (best)
			node = *best;
	} while (best);
}

/* Ever more rarely; the bounds of shapes tell too little. */
static bool dive_is_due(struct search *search, const struct node *node)
{
	if (node->kind == NODE_SHAPE || node->kind >= NODE_BOUNDED ||
	    search->opened < search->next_dive)
		return false;
	search->next_dive = search->opened + search->opened / 4 + DIVE_AFTER;
	return true;
}

static void first_round(struct search *search)
{
	while (search->queue.count || search->front_count) {
		struct node node;

		look_ahead(search);
		node = take_next(search);
		if (must_stop(search, &node) ||
		    family_excluded(&search->families, search->incumbent, &node))
			drop_node(search, &node);
		else if (dive_is_due(search, &node))
			dive(search, node);
		else
			open_in_first_round(search, &node);
	}
}

static int by_bound(const void *a, const void *b)
{
	return node_before(a, b) ? -1 : node_before(b, a);
}

static void give_up(struct search *search, const struct node *node)
{
	struct record *record = &search->record.at[node->record];

	record->incomplete = true;
	search->result->complete = false;
	if (node->objective[0] < search->unsettled)
		search->unsettled = node->objective[0];
	settle_placed(search, record);
}

/* In the order of bounds, until one is not settled. */
static void second_round(struct search *search)
{
	bool settled = !search->limits->partitions_max;

	if (search->later.count)
		qsort(search->later.at, search->later.count,
		      sizeof(*search->later.at), by_bound);
	if (!search->stopped)
		search->unsettled = INFINITY;
	for (size_t i = 0; i < search->later.count; i++) {
		struct node node = search->later.at[i];

		if (must_stop(search, &node) ||
		    family_excluded(&search->families, search->incumbent, &node)) {
			drop_node(search, &node);
			continue;
		}
		if (settled) {
			uint64_t effort = search->effort < EFFORT_SECOND ?
				search->effort : EFFORT_SECOND;
			const struct expansion *expansion =
				open_node(search, &node, effort);

			search->effort -= expansion->effort < search->effort ?
				expansion->effort : search->effort;
			settled = !expansion->child.count;
			if (settled)
				continue;
			node = *expansion->child.at;
		}
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
		.effort = EFFORT_SECOND_ALL,
	};

	*result = (struct search_result){ .complete = true };
	search_init(&search);
	add_shapes(&search);
	first_round(&search);
	second_round(&search);
	finish_certificate(&search);
	search_release(&search);
}

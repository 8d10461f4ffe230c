/* SPDX-License-Identifier: MIT
 *
 * Branch and bound over split plans: families in the order of their bounds, then
 * all of their rank numbers that no bound excludes, in the order of theirs.
 */
#include "solver/mixed_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/layer.h"
#include "solver/mixed.h"
#include "solver/mixed_line.h"
#include "solver/mixed_space.h"
#include "solver/most.h"

/* Ranks looked at when cutting one line, and all lines together, when the caller
 * names no number. */
#define NODES_DEFAULT 400000
#define NODES_ALL 12000000
/* Ranks x layers of a line; beyond it the line is left with its bound. */
#define CELLS_MAX (1u << 18)
/* Families in which good plans are looked for before all are known, and how many
 * entries of each. */
#define DIVES_MAX 64
#define DIVE_ENTRIES 3
/* Lines kept at once; beyond it they are left with their bounds. */
#define ENTRIES_MAX (1u << 21)

struct family_bound {
	uint32_t family;
	double low_s;
	bool counted;			/* its configurations */
};

/* Ranks of a family under a recomputation. */
struct entry {
	uint32_t family;
	struct mixed_ranks ranks;
	enum recompute recompute;
	double low_s;
};

struct mixed_run {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct incumbent *incumbent;
	uint64_t *removed_by;
	struct search_result *result;
	struct arena arena;		/* space, entries */
	struct arena scratch;		/* one line at a time */
	struct mixed_space space;
	struct chain chain[KIND_MAX];
	struct problem blend;		/* what incumbent and outlooks take as problem */
	VEC(struct entry) entry;
	double unsettled;		/* least bound given up on, of the objective */
	uint64_t nodes_left;
	bool stopped;
	bool diving;			/* good cuts only, no search for the best */
	uint32_t dives;
};

/* ---- what an incumbent can be compared with ---- */

/* The problem as one of devices that are alike: price and power of the mean of
 * those used, or of the least where ranks are NULL. */
static void blend(struct mixed_run *run, const struct mixed_family *family,
		  const struct mixed_ranks *ranks)
{
	struct problem *blend = &run->blend;
	double price = ranks ? 0 : INFINITY, power = price, pipeline = 0;

	blend->device_count = 0;
	for (uint32_t i = 0; i < family->kind_count; i++) {
		const struct problem *kind = run->problem->kind[family->kind[i]];

		blend->device_count += kind->device_count;
		if (ranks) {
			price += ranks->ranks[i] * kind->device_dollars_per_s;
			power += ranks->ranks[i] * kind->device_watts;
			pipeline += ranks->ranks[i];
			continue;
		}
		if (kind->device_dollars_per_s < price)
			price = kind->device_dollars_per_s;
		if (kind->device_watts < power)
			power = kind->device_watts;
	}
	blend->device_dollars_per_s = ranks ? price / pipeline : price;
	blend->device_watts = ranks ? power / pipeline : power;
}

/* The first objective of everything the outlook describes, at least. */
static bool look_ahead(const struct mixed_run *run, const struct outlook *outlook,
		       double *objective)
{
	struct merit merit;

	outlook_merit(run->incumbent, outlook, &merit);
	*objective = merit.objective[0];
	return !incumbent_excludes(run->incumbent, &merit);
}

static void give_up(struct mixed_run *run, double objective)
{
	run->result->complete = false;
	if (objective < run->unsettled)
		run->unsettled = objective;
}

/* Gives up on all that the outlook describes, if it might hold a better plan. */
static void leave(struct mixed_run *run, const struct outlook *outlook)
{
	double objective;

	if (look_ahead(run, outlook, &objective))
		give_up(run, objective);
}

static bool must_stop(struct mixed_run *run)
{
	if (!run->stopped && deadline_passed(&run->limits->deadline)) {
		run->stopped = true;
		run->result->certificate.out_of_time = true;
		run->result->complete = false;
	}
	return run->stopped;
}

/* Whether the gap asked for is reached with this as the least open bound. */
static void stop_at_gap(struct mixed_run *run, double low)
{
	double value;

	if (!run->incumbent->found || run->limits->gap <= 0)
		return;
	value = run->incumbent->merit.objective[0];
	if (run->unsettled < low)
		low = run->unsettled;
	run->stopped |= value - low <= run->limits->gap * fabs(value);
}

/* ---- one configuration ---- */

/* What became of a configuration, over its placements. */
struct verdict {
	bool simulated, feasible, bounded, incomplete;
	bool over_memory, over_requirement;
	uint32_t failed_requirement;
};

static void verdict_add(struct verdict *verdict, const struct mixed_line *line)
{
	verdict->simulated |= line->simulated > 0;
	verdict->feasible |= line->feasible;
	verdict->bounded |= line->bounded;
	verdict->over_memory |= line->over_memory;
	verdict->over_requirement |= line->over_requirement;
	if (line->failed_requirement == REQUIREMENT_NONE)
		return;
	if (verdict->failed_requirement == REQUIREMENT_NONE)
		verdict->failed_requirement = line->failed_requirement;
	else if (verdict->failed_requirement != line->failed_requirement)
		verdict->failed_requirement = REQUIREMENT_SEVERAL;
}

static void settle(struct mixed_run *run, const struct verdict *verdict)
{
	struct certificate *certificate = &run->result->certificate;
	uint32_t failed = verdict->failed_requirement;

	if (verdict->feasible) {
		certificate->priced++;
	} else if (!verdict->bounded && !verdict->incomplete) {
		if (!verdict->over_requirement) {
			certificate->infeasible_memory++;
			return;
		}
		certificate->infeasible_requirement++;
		if (!verdict->over_memory && failed < run->problem->requirement_count)
			run->removed_by[failed]++;
	} else if (verdict->simulated) {
		certificate->priced++;
	} else {
		certificate->bounded++;
	}
}

/* Placements of every segment of a configuration. */
struct sets {
	const struct placement_set *set[KIND_MAX];
	uint32_t index[KIND_MAX];	/* those chosen */
	uint32_t count;
};

static bool sets_next(struct sets *sets)
{
	for (uint32_t i = sets->count; i-- > 0;) {
		if (++sets->index[i] < sets->set[i]->factor_count)
			return true;
		sets->index[i] = 0;
	}
	return false;
}

/* Loads the chain of a kind for its segment. */
static void part_open(struct mixed_run *run, const struct choice *choice,
		      struct mixed_part *part)
{
	size_t classes = part->problem->class_count;
	struct layer_time *time = ARENA_ARRAY(&run->scratch, struct layer_time,
					      classes);
	struct layer_time *kept = ARENA_ARRAY(&run->scratch, struct layer_time,
					      classes);
	struct layer_setting setting = {
		.problem = part->problem,
		.shape = choice->shape,
		.recompute = choice->recompute,
		.zero = choice->zero,
		.group = part->placed.group,
		.sharding = part->placed.sharding[0],
	};

	part->chain = &run->chain[part->kind];
	chain_load(part->chain, choice);
	layer_times(&setting, time);
	setting.recompute = RECOMPUTE_NONE;
	if (part->chain->partial)
		layer_times(&setting, kept);
	chain_time(part->chain, time, kept);
}

static void line_open(struct mixed_run *run, const struct entry *entry,
		      const struct choice *choice, const struct sets *sets,
		      struct mixed_line *line)
{
	const struct mixed_family *family = &run->space.family.at[entry->family];
	struct mixed_part *part = ARENA_ARRAY(&run->scratch, struct mixed_part,
					      family->kind_count);
	uint32_t first = 0;

	for (uint32_t i = 0; i < family->kind_count; i++) {
		part[i] = (struct mixed_part){
			.problem = run->problem->kind[family->kind[i]],
			.kind = family->kind[i],
			.first = first,
			.ranks = entry->ranks.ranks[i],
			.placed = sets->set[i]->at[sets->index[i]],
		};
		part_open(run, choice, &part[i]);
		first += part[i].ranks;
	}
	mixed_line_init(line, run->problem, choice, part, family->kind_count,
			run->incumbent, &run->scratch);
}

/* Whether the best placement there can be would do: one look, where there are many
 * placements. */
static bool placements_may_win(struct mixed_run *run, const struct entry *entry,
			       const struct choice *choice, const struct sets *sets,
			       struct verdict *verdict)
{
	struct arena_mark mark = arena_mark(&run->scratch);
	struct mixed_line line;
	bool open;

	line_open(run, entry, choice, sets, &line);
	for (uint32_t i = 0; i < line.part_count; i++)
		line.part[i].ideal_s = mixed_space_through(
			&run->space, line.part[i].kind, choice->shape,
			choice->recompute);
	open = mixed_line_bound(&line) && !mixed_line_excluded(&line, line.low_s);
	line.bounded |= !open && !isinf(line.low_s);
	if (!open)
		verdict_add(verdict, &line);
	arena_rewind(&run->scratch, mark);
	return open;
}

/* Cuts the chain over one line. */
static void search_line(struct mixed_run *run, const struct entry *entry,
			const struct choice *choice, const struct sets *sets,
			struct verdict *verdict)
{
	struct arena_mark mark = arena_mark(&run->scratch);
	uint64_t nodes = NODES_DEFAULT, used;
	struct mixed_line line;

	line_open(run, entry, choice, sets, &line);
	if (run->limits->partitions_max)
		nodes = run->limits->partitions_max * line.pipeline;
	else if (nodes > run->nodes_left)
		nodes = run->nodes_left;
	line.deadline = &run->limits->deadline;
	if (mixed_line_bound(&line) && !mixed_line_excluded(&line, line.low_s)) {
		mixed_line_seed(&line);
		if (!run->diving)
			mixed_line_search(&line, nodes);
	} else {
		line.bounded |= !isinf(line.low_s);
		line.low_s = INFINITY;
	}
	used = line.nodes + line.simulated * line.pipeline;
	run->nodes_left -= used < run->nodes_left ? used : run->nodes_left;
	run->result->certificate.partitions += line.simulated;
	verdict_add(verdict, &line);
	if (!line.complete && !mixed_line_excluded(&line, line.low_s)) {
		struct outlook outlook = { .choice = choice, .known = OUTLOOK_ALL,
					   .time_s = line.low_s };

		verdict->incomplete = true;
		leave(run, &outlook);
	}
	arena_rewind(&run->scratch, mark);
}

/* Requirements that need no priced plan, with the constants of every kind. */
static bool refused(const struct mixed_run *run,
		    const struct mixed_family *family,
		    const struct outlook *outlook)
{
	struct range_input input;

	outlook_ranges(run->incumbent, outlook, &input);
	for (uint32_t i = 0; i < family->kind_count; i++) {
		const struct problem *kind = run->problem->kind[family->kind[i]];

		for (uint32_t j = 0; j < kind->requirement_count; j++)
			if (outlook_requirement(outlook, &kind->requirement[j],
						&input) == CERTAINLY_FALSE)
				return true;
	}
	return false;
}

/* Whether all devices together have room for what they must hold. */
static bool memory_suffices(struct mixed_run *run, const struct entry *entry,
			    const struct choice *choice)
{
	const struct mixed_family *family = &run->space.family.at[entry->family];
	double room = 0, held = INFINITY;

	for (uint32_t i = 0; i < family->kind_count; i++) {
		const struct problem *kind = run->problem->kind[family->kind[i]];
		struct share share = share_of(kind, choice, NULL);
		double bytes = share_bytes(
			&share, mixed_space_facts(&run->space, family->kind[i],
						  choice->shape)->held);

		held = bytes < held ? bytes : held;
		room += entry->ranks.ranks[i] *
			(kind->memory.limit_bytes * (1 + TIE) -
			 share.reserve_bytes);
	}
	return held <= room * (1 + TIE);
}

static void search_configuration(struct mixed_run *run,
				 const struct entry *entry,
				 const struct choice *choice)
{
	const struct mixed_family *family = &run->space.family.at[entry->family];
	struct certificate *certificate = &run->result->certificate;
	struct outlook outlook = { .choice = choice, .known = OUTLOOK_ALL,
				   .time_s = entry->low_s };
	struct verdict verdict = { .failed_requirement = REQUIREMENT_NONE };
	struct sets sets = { .count = family->kind_count };
	bool more = true;

	if (must_stop(run)) {
		leave(run, &outlook);
		certificate->bounded++;
		return;
	}
	if (refused(run, family, &outlook) ||
	    (run->problem->uniform_stages &&
	     run->incumbent->block_count % choice->pipeline)) {
		certificate->infeasible_requirement++;
		return;
	}
	if (!memory_suffices(run, entry, choice)) {
		certificate->infeasible_memory++;
		return;
	}
	for (uint32_t i = 0; i < sets.count; i++) {
		sets.set[i] = placement_find(&run->space.cache[family->kind[i]],
					     &run->problem->shape[choice->shape],
					     choice->data, entry->ranks.ranks[i]);
		if (!sets.set[i]->factor_count) {
			certificate->infeasible_placement++;
			return;
		}
	}
	if (!placements_may_win(run, entry, choice, &sets, &verdict))
		more = false;
	for (; more && !must_stop(run); more = sets_next(&sets))
		search_line(run, entry, choice, &sets, &verdict);
	if (more) {
		leave(run, &outlook);
		verdict.incomplete = true;
	}
	settle(run, &verdict);
}

/* ---- entries ---- */

/* Configurations of an entry: ZeRO stages, and layers recomputed. */
static uint32_t entry_policies(const struct mixed_run *run,
			       const struct entry *entry)
{
	const struct problem *problem = run->problem;
	uint32_t zero = 0, layers = problem->recompute_layers.count;

	for (uint32_t i = 0; i < 4; i++)
		zero += mixed_space_has_zero(problem, i);
	return zero * (entry->recompute == RECOMPUTE_FULL && layers ? layers : 1);
}

static void search_entry(struct mixed_run *run, const struct entry *entry)
{
	const struct problem *problem = run->problem;
	const struct mixed_family *family = &run->space.family.at[entry->family];
	const struct problem_domain *layers = &problem->recompute_layers;
	bool partial = entry->recompute == RECOMPUTE_FULL && layers->count;
	uint64_t cells = ((uint64_t)entry->ranks.pipeline + 1) *
			 (run->space.chain_length + 1);
	struct choice choice = {
		.shape = family->shape,
		.data = family->data,
		.pipeline = entry->ranks.pipeline,
		.virtual_stages = 1,
		.micro_batches = family->micro_batches,
		.recompute = entry->recompute,
		.schedule = SCHEDULE_1F1B,
	};
	struct outlook outlook = { .choice = &choice, .known = OUTLOOK_DEGREES,
				   .time_s = entry->low_s };
	double objective;

	blend(run, family, &entry->ranks);
	if (!look_ahead(run, &outlook, &objective) || must_stop(run) ||
	    !run->nodes_left || cells > CELLS_MAX) {
		leave(run, &outlook);
		run->result->certificate.bounded += entry_policies(run, entry);
		return;
	}
	for (uint32_t zero = 0; zero < 4; zero++)
		for (uint32_t i = 0; mixed_space_has_zero(problem, zero) &&
				     i < (partial ? layers->count : 1); i++) {
			choice.zero = zero;
			choice.recompute_layers = partial ? layers->at[i] : 0;
			search_configuration(run, entry, &choice);
		}
}

/* ---- families ---- */

static double family_low(struct mixed_run *run, const struct mixed_family *family)
{
	double low = INFINITY;

	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		double time;

		if (!run->problem->recompute[r])
			continue;
		time = mixed_space_bound(&run->space, family, family->ranks_most,
					 (enum recompute)r, INFINITY);
		low = time < low ? time : low;
	}
	return low;
}

static bool family_may_win(struct mixed_run *run,
			   const struct mixed_family *family, double low_s,
			   double *objective)
{
	struct choice choice = { .shape = family->shape, .data = family->data,
				 .micro_batches = family->micro_batches };
	struct outlook outlook = { .choice = &choice, .known = OUTLOOK_DATA,
				   .time_s = low_s };

	blend(run, family, NULL);
	return look_ahead(run, &outlook, objective);
}

/* The time beyond which no plan is of interest. */
static double time_most(const struct mixed_run *run)
{
	const struct incumbent *incumbent = run->incumbent;

	return incumbent->found && incumbent->time_only ?
		       incumbent->merit.objective[0] * (1 + 2 * TIE) : INFINITY;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->low_s < y->low_s || x->low_s > y->low_s)
		return x->low_s < y->low_s ? -1 : 1;
	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	for (int i = 0; i < KIND_MAX; i++)
		if (x->ranks.ranks[i] != y->ranks.ranks[i])
			return x->ranks.ranks[i] < y->ranks.ranks[i] ? -1 : 1;
	return (x->recompute > y->recompute) - (x->recompute < y->recompute);
}

/* Looks for good plans of the family just opened, whose entries begin at `first`, so
 * that fewer of the next families stay. All of it comes again, so nothing is counted. */
static void dive(struct mixed_run *run, size_t first)
{
	size_t counts = run->problem->requirement_count * sizeof(uint64_t);
	uint64_t *removed_by;
	struct search_result kept = *run->result;
	double unsettled = run->unsettled;

	if (run->dives == DIVES_MAX || first == run->entry.count)
		return;
	run->dives++;
	removed_by = ARENA_ARRAY(&run->arena, uint64_t,
				 run->problem->requirement_count);
	memcpy(removed_by, run->removed_by, counts);
	qsort(run->entry.at + first, run->entry.count - first,
	      sizeof(*run->entry.at), compare_entries);
	run->diving = true;
	for (size_t i = 0; i < DIVE_ENTRIES && first + i < run->entry.count; i++)
		search_entry(run, &run->entry.at[first + i]);
	run->diving = false;
	memcpy(run->removed_by, removed_by, counts);
	kept.certificate.out_of_time = run->result->certificate.out_of_time;
	kept.complete &= !kept.certificate.out_of_time;
	*run->result = kept;
	run->unsettled = unsettled;
}

/* Adds an entry, or counts it where its bound excludes it. */
static void add_entry(struct mixed_run *run, const struct mixed_family *family,
		      struct entry *entry)
{
	double objective;

	entry->low_s = mixed_space_bound(&run->space, family, entry->ranks.ranks,
					 entry->recompute, time_most(run));
	if (family_may_win(run, family, entry->low_s, &objective)) {
		if (run->entry.count < ENTRIES_MAX) {
			VEC_PUSH(&run->entry, &run->arena, *entry);
			return;
		}
		give_up(run, objective);
	}
	run->result->certificate.bounded += entry_policies(run, entry);
}

static void open_family(struct mixed_run *run, const struct family_bound *bound)
{
	const struct mixed_family *family = &run->space.family.at[bound->family];
	uint64_t left = mixed_space_count(&run->space, family);
	struct entry entry = { .family = bound->family };
	size_t first = run->entry.count;
	double objective;

	while (!must_stop(run) &&
	       mixed_space_next(&run->space, family, &entry.ranks))
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			if (!run->problem->recompute[r])
				continue;
			entry.recompute = (enum recompute)r;
			add_entry(run, family, &entry);
			left -= entry_policies(run, &entry);
		}
	/* Nothing is left but where time is over. */
	run->result->certificate.bounded += left;
	if (left && family_may_win(run, family, bound->low_s, &objective))
		give_up(run, objective);
	dive(run, first);
}

static int compare_families(const void *a, const void *b)
{
	const struct family_bound *x = a, *y = b;

	if (x->low_s < y->low_s || x->low_s > y->low_s)
		return x->low_s < y->low_s ? -1 : 1;
	return (x->family > y->family) - (x->family < y->family);
}

/* Searches what has been collected, best bound first. */
static void search_entries(struct mixed_run *run)
{
	if (!run->entry.count)
		return;
	qsort(run->entry.at, run->entry.count, sizeof(*run->entry.at),
	      compare_entries);
	for (size_t i = 0; i < run->entry.count; i++) {
		if (run->incumbent->time_only)
			stop_at_gap(run, run->entry.at[i].low_s);
		search_entry(run, &run->entry.at[i]);
	}
	run->entry.count = 0;
}

/* A bound for each family, best first. When time is over the others have one that
 * takes no time, and are not counted. */
static struct family_bound *bound_families(struct mixed_run *run)
{
	size_t count = run->space.family.count;
	struct family_bound *bound = ARENA_ARRAY(&run->arena, struct family_bound,
						 count);

	for (size_t i = 0; i < count; i++) {
		const struct mixed_family *family = &run->space.family.at[i];

		bound[i].family = (uint32_t)i;
		if (must_stop(run)) {
			bound[i].low_s = mixed_space_floor(&run->space, family);
			continue;
		}
		bound[i].low_s = family_low(run, family);
		bound[i].counted = true;
		run->result->certificate.configurations +=
			mixed_space_count(&run->space, family);
	}
	qsort(bound, count, sizeof(*bound), compare_families);
	return bound;
}

static void search_families(struct mixed_run *run)
{
	const struct family_bound *bound = bound_families(run);

	for (size_t i = 0; i < run->space.family.count; i++) {
		const struct mixed_family *family =
			&run->space.family.at[bound[i].family];
		double objective;
		bool open = family_may_win(run, family, bound[i].low_s, &objective);

		if (open && !must_stop(run)) {
			open_family(run, &bound[i]);
			continue;
		}
		if (open)
			give_up(run, objective);
		if (bound[i].counted)
			run->result->certificate.bounded +=
				mixed_space_count(&run->space, family);
	}
	search_entries(run);
}

static void finish_certificate(struct mixed_run *run)
{
	struct certificate *certificate = &run->result->certificate;
	double value;

	if (!run->incumbent->found)
		return;
	value = run->incumbent->merit.objective[0];
	certificate->value = value;
	certificate->lower_bound = run->unsettled < value ? run->unsettled : value;
	certificate->gap = value > certificate->lower_bound ?
		(value - certificate->lower_bound) / fabs(value) : 0;
}

void mixed_search(const struct problem *problem, const struct solve_limits *limits,
		  struct incumbent *incumbent, uint64_t *removed_by,
		  struct search_result *result)
{
	struct mixed_run run = {
		.problem = problem,
		.limits = limits,
		.incumbent = incumbent,
		.removed_by = removed_by,
		.result = result,
		.blend = *problem,
		.unsettled = INFINITY,
		.nodes_left = NODES_ALL,
	};

	*result = (struct search_result){ .complete = true };
	arena_init(&run.arena);
	arena_init(&run.scratch);
	mixed_space_init(&run.space, problem, &run.arena);
	for (uint32_t k = 0; k < problem->kind_count; k++)
		chain_init(&run.chain[k], problem->kind[k], &run.arena);
	incumbent->problem = &run.blend;
	search_families(&run);
	incumbent->problem = problem;
	finish_certificate(&run);
	arena_release(&run.scratch);
	arena_release(&run.arena);
}

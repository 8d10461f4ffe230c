/* SPDX-License-Identifier: MIT
 *
 * One choice of ranks on each kind and of a recomputation: every configuration of it,
 * under every placement of its segments.
 */
#include "solver/mixed_run.h"

#include <math.h>

#include "solver/layer.h"
#include "solver/mixed_line.h"

/* Ranks looked at when cutting one line, when the caller names no number. */
#define NODES_DEFAULT 400000
/* Ranks x layers of a line; beyond it the line is left with its bound. */
#define CELLS_MAX (1u << 18)

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

	part->chain = &run->chain[part->kind];
	chain_place(part->chain, choice, &part->placed, time, kept);
}

static void line_open(struct mixed_run *run, const struct mixed_entry *entry,
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

/* Whether only memory and time keep a cut from being better. */
static bool is_plain(const struct mixed_run *run)
{
	return !run->problem->uniform_stages &&
	       (run->incumbent->time_only || !run->incumbent->found);
}

/* Whether the best placement there can be would do: one look, where there are many
 * placements. */
static bool placements_may_win(struct mixed_run *run, const struct mixed_entry *entry,
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
	if (is_plain(run)) {
		open = mixed_line_reaches(&line, mixed_run_time_most(run));
		line.bounded = !open && run->incumbent->found;
		line.over_memory = !open;
	} else {
		open = mixed_line_bound(&line) &&
		       !mixed_line_excluded(&line, line.low_s);
		line.bounded |= !open && !isinf(line.low_s);
	}
	if (!open)
		verdict_add(verdict, &line);
	arena_rewind(&run->scratch, mark);
	return open;
}

/* Cuts the chain over one line. */
static void search_line(struct mixed_run *run, const struct mixed_entry *entry,
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
	if (is_plain(run) && !mixed_line_reaches(&line, mixed_run_time_most(run))) {
		line.bounded = run->incumbent->found;
		line.over_memory = true;
	} else if (mixed_line_bound(&line) && !mixed_line_excluded(&line, line.low_s)) {
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
		mixed_run_leave(run, &outlook);
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
static bool memory_suffices(struct mixed_run *run, const struct mixed_entry *entry,
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
				 const struct mixed_entry *entry,
				 const struct choice *choice)
{
	const struct mixed_family *family = &run->space.family.at[entry->family];
	struct certificate *certificate = &run->result->certificate;
	struct outlook outlook = { .choice = choice, .known = OUTLOOK_ALL,
				   .time_s = entry->low_s };
	struct verdict verdict = { .failed_requirement = REQUIREMENT_NONE };
	struct sets sets = { .count = family->kind_count };
	bool more = true;

	if (mixed_run_must_stop(run)) {
		mixed_run_leave(run, &outlook);
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
	for (; more && !mixed_run_must_stop(run); more = sets_next(&sets))
		search_line(run, entry, choice, &sets, &verdict);
	if (more) {
		mixed_run_leave(run, &outlook);
		verdict.incomplete = true;
	}
	settle(run, &verdict);
}

uint32_t mixed_entry_policies(const struct mixed_run *run,
			      const struct mixed_entry *entry)
{
	uint32_t layers = run->problem->recompute_layers.count;

	return run->space.zeros *
	       (entry->recompute == RECOMPUTE_FULL && layers ? layers : 1);
}

void mixed_entry_search(struct mixed_run *run, const struct mixed_entry *entry)
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

	mixed_run_blend(run, family, &entry->ranks);
	if (!mixed_run_look_ahead(run, &outlook, &objective) ||
	    mixed_run_must_stop(run) || !run->nodes_left || cells > CELLS_MAX) {
		mixed_run_leave(run, &outlook);
		run->result->certificate.bounded += mixed_entry_policies(run, entry);
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

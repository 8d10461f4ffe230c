/* SPDX-License-Identifier: MIT
 *
 * Branch and bound over split plans: families in the order of their bounds, then
 * all of their rank numbers that no bound excludes, in the order of theirs.
 */
#include "solver/mixed_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/mixed_run.h"

/* Ranks looked at when cutting all lines together. */
#define NODES_ALL 12000000
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

	mixed_run_blend(run, family, NULL);
	return mixed_run_look_ahead(run, &outlook, objective);
}

static int compare_entries(const void *a, const void *b)
{
	const struct mixed_entry *x = a, *y = b;

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
		mixed_entry_search(run, &run->entry.at[first + i]);
	run->diving = false;
	memcpy(run->removed_by, removed_by, counts);
	kept.certificate.out_of_time = run->result->certificate.out_of_time;
	kept.complete &= !kept.certificate.out_of_time;
	*run->result = kept;
	run->unsettled = unsettled;
}

/* All numbers of ranks of the last kind, those of the others being as they are. */
struct row {
	uint32_t ranks[KIND_MAX];	/* the last one aside */
	bool open[RECOMPUTE_COUNT];
};

static bool is_in_row(const struct row *row, const struct mixed_family *family,
		      const struct mixed_ranks *ranks)
{
	return !memcmp(row->ranks, ranks->ranks,
		       (family->kind_count - 1) * sizeof(*row->ranks));
}

/* More ranks are never slower: what is known of the most holds for all. */
static struct row open_row(struct mixed_run *run, const struct mixed_family *family,
			   const struct mixed_ranks *at)
{
	struct mixed_ranks ranks = *at;
	struct row row = { .open = { false } };
	double objective;

	memcpy(row.ranks, at->ranks, sizeof(row.ranks));
	ranks.ranks[family->kind_count - 1] =
		family->ranks_most[family->kind_count - 1];
	for (int r = 0; r < RECOMPUTE_COUNT; r++)
		if (run->problem->recompute[r])
			row.open[r] = family_may_win(
				run, family,
				mixed_space_bound(&run->space, family, ranks.ranks,
						  (enum recompute)r,
						  mixed_run_time_most(run)),
				&objective);
	return row;
}

/* Adds an entry, or counts it where its bound, or its row's, excludes it. */
static void add_entry(struct mixed_run *run, const struct mixed_family *family,
		      struct mixed_entry *entry, const struct row *row)
{
	double objective;

	if (row->open[entry->recompute])
		entry->low_s = mixed_space_bound(&run->space, family,
						 entry->ranks.ranks,
						 entry->recompute,
						 mixed_run_time_most(run));
	if (row->open[entry->recompute] &&
	    family_may_win(run, family, entry->low_s, &objective)) {
		if (run->entry.count < ENTRIES_MAX) {
			VEC_PUSH(&run->entry, &run->arena, *entry);
			return;
		}
		mixed_run_give_up(run, objective);
	}
	run->result->certificate.bounded += mixed_entry_policies(run, entry);
}

static void open_family(struct mixed_run *run, const struct family_bound *bound)
{
	const struct mixed_family *family = &run->space.family.at[bound->family];
	uint64_t left = mixed_space_count(&run->space, family);
	struct mixed_entry entry = { .family = bound->family };
	size_t first = run->entry.count;
	struct row row = { .ranks = { 0 } };
	double objective;

	while (!mixed_run_must_stop(run) &&
	       mixed_space_next(&run->space, family, &entry.ranks)) {
		if (!is_in_row(&row, family, &entry.ranks))
			row = open_row(run, family, &entry.ranks);
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			if (!run->problem->recompute[r])
				continue;
			entry.recompute = (enum recompute)r;
			add_entry(run, family, &entry, &row);
			left -= mixed_entry_policies(run, &entry);
		}
	}
	/* Nothing is left but where time is over. */
	run->result->certificate.bounded += left;
	if (left && family_may_win(run, family, bound->low_s, &objective))
		mixed_run_give_up(run, objective);
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
		mixed_entry_search(run, &run->entry.at[i]);
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
		if (mixed_run_must_stop(run)) {
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

		if (open && !mixed_run_must_stop(run)) {
			open_family(run, &bound[i]);
			continue;
		}
		if (open)
			mixed_run_give_up(run, objective);
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

/* SPDX-License-Identifier: MIT
 *
 * Bounds of a family: of its cut on the hierarchy, and over the cases of each level.
 */
#include "solver/graph_family.h"

#include <math.h>

#include "solver/graph_span.h"
#include "solver/most.h"

/* Simulations of one case at most, and the part of the effort left that one may use. */
#define SIMULATIONS_MAX 2000
#define EFFORT_SHARE 8

void graph_families_init(struct graph_families *families,
			 const struct problem *problem, struct arena *arena,
			 struct arena *scratch)
{
	*families = (struct graph_families){
		.problem = *problem,
		.beaten_s = INFINITY,
		.scratch = scratch,
		.time = ARENA_ARRAY(arena, struct layer_time,
				    problem->class_count),
		.kept_time = ARENA_ARRAY(arena, struct layer_time,
					 problem->class_count),
	};
	families->problem.graph = NULL;
	families->problem.requirement_count = 0;
	arena_init(&families->found);
	chain_init(&families->fast, &families->problem, arena);
	chain_init(&families->slow, &families->problem, arena);
}

void graph_families_release(struct graph_families *families)
{
	arena_release(&families->found);
}

static bool is_excluded(const struct graph_families *families, double low_s)
{
	return low_s >= families->beaten_s * (1 - TIE);
}

static void load_chain(struct graph_families *families,
		       const struct choice *choice, const struct placed *placed,
		       struct chain *chain)
{
	chain_place(chain, choice, placed, families->time, families->kept_time);
	families->work += chain->length;
}

static void open_partition(struct graph_families *families,
			   const struct choice *choice,
			   const struct placed *placed,
			   struct incumbent *incumbent,
			   struct partition *partition)
{
	load_chain(families, choice, placed, &families->fast);
	partition_init(partition, &families->problem, choice, placed,
		       &families->fast, incumbent, families->scratch);
	partition_glance(partition);
	partition->low_s = most(partition->low_s, graph_span_rounds(partition));
	if (is_excluded(families, partition->low_s))
		return;
	partition_bound(partition);
	partition->low_s = most(partition->low_s, graph_span_rounds(partition));
}

/* Of a search for cuts, which knows the time to beat. */
static struct incumbent incumbent_to_beat(struct graph_families *families)
{
	struct incumbent incumbent;

	incumbent_init(&incumbent, &families->problem, &families->found);
	incumbent.found = true;
	incumbent.merit = (struct merit){
		.objective = { families->beaten_s },
		.objective_count = 1,
	};
	return incumbent;
}

/* ---- bounds ---- */

static double bound_case(struct graph_families *families,
			 const struct choice *choice, const struct graph_case *at)
{
	struct arena_mark mark = arena_mark(families->scratch);
	struct incumbent incumbent = incumbent_to_beat(families);
	struct partition partition;
	double low_s;

	open_partition(families, choice, &at->placed, &incumbent, &partition);
	low_s = partition.low_s;
	if (!is_excluded(families, low_s) && at->count < choice->pipeline) {
		load_chain(families, choice, &at->slow, &families->slow);
		low_s = most(low_s, graph_span_case(&partition, &families->slow,
						    at));
	}
	arena_rewind(families->scratch, mark);
	return low_s;
}

/* The least over the cases of a level, of which every plan is in one. */
static double bound_level(struct graph_families *families,
			  const struct choice *choice,
			  const struct graph_site *site, uint32_t level)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < site->count[level]; i++)
		least = fmin(least, bound_case(families, choice,
					       &site->at[level][i]));
	return site->count[level] ? least : 0;
}

double graph_family_bound(struct graph_families *families,
			  const struct choice *choice,
			  const struct graph_site *site)
{
	struct arena_mark mark = arena_mark(families->scratch);
	struct incumbent incumbent = incumbent_to_beat(families);
	struct partition partition;
	double low_s;

	open_partition(families, choice, &site->placed, &incumbent, &partition);
	low_s = partition_can_fit(&partition) ? partition.low_s : INFINITY;
	arena_rewind(families->scratch, mark);
	for (uint32_t l = 0; l < families->problem.level_count; l++)
		if (!is_excluded(families, low_s))
			low_s = most(low_s, bound_level(families, choice, site, l));
	return low_s;
}

/* ---- cuts ---- */

/* How many simulations one case may have. */
static uint64_t allowance(const struct graph_families *families,
			  const struct choice *choice)
{
	uint64_t each = (uint64_t)choice->pipeline * choice->virtual_stages *
			choice->micro_batches;
	uint64_t most_of_all = families->left / each / EFFORT_SHARE;

	return most_of_all < SIMULATIONS_MAX ? most_of_all : SIMULATIONS_MAX;
}

static void count_work(struct graph_families *families,
		       const struct partition *partition)
{
	uint64_t used = (partition->simulated + partition->looked + 1) *
			partition->chunks * partition->micro_batches;

	families->left -= used < families->left ? used : families->left;
}

/* The best cut under a case's lines, and its time or at least a bound; *plan is left
 * alone if none is below beaten_s. */
static double cut_case(struct graph_families *families,
		       const struct choice *choice, const struct placed *placed,
		       struct plan *plan)
{
	struct arena_mark mark = arena_mark(families->scratch);
	struct incumbent incumbent = incumbent_to_beat(families);
	uint64_t simulations = allowance(families, choice);
	struct partition partition;
	double low_s;

	open_partition(families, choice, placed, &incumbent, &partition);
	low_s = partition.low_s;
	if (simulations) {
		partition_room(&partition);
		partition_seed(&partition);
		low_s = partition.low_s;
		if (!isinf(low_s) && !is_excluded(families, low_s)) {
			partition_climb(&partition, simulations / 4);
			partition_search(&partition, simulations);
			low_s = partition.low_s;
		}
		count_work(families, &partition);
	}
	if (incumbent.plan.chunk_count) {
		low_s = fmin(low_s, incumbent.merit.objective[0]);
		*plan = incumbent.plan;
	}
	arena_rewind(families->scratch, mark);
	return low_s;
}

struct settling {
	struct graph_families *families;
	const struct choice *choice;
	const struct graph_site *site;
	void (*visit)(void *closure, const struct plan *plan,
		      const struct graph_case *at, uint32_t level);
	void *closure;
};

static double settle_case(const struct settling *settling,
			  const struct placed *placed, const struct graph_case *at,
			  uint32_t level)
{
	struct arena *found = &settling->families->found;
	struct arena_mark mark = arena_mark(found);
	struct plan plan = { .chunk_count = 0 };
	double low_s = cut_case(settling->families, settling->choice, placed,
				&plan);

	plan.placement = settling->site->placed.placement;
	if (plan.chunk_count)
		settling->visit(settling->closure, &plan, at, level);
	arena_rewind(found, mark);
	return low_s;
}

double graph_family_settle(struct graph_families *families,
			   const struct choice *choice,
			   const struct graph_site *site,
			   void (*visit)(void *closure, const struct plan *plan,
					 const struct graph_case *at,
					 uint32_t level),
			   void *closure)
{
	struct settling settling = { families, choice, site, visit, closure };
	double low_s = 0;
	bool cases = false;

	for (uint32_t l = 0; l < families->problem.level_count; l++) {
		double least = INFINITY;

		for (uint32_t i = 0; i < site->count[l]; i++) {
			const struct graph_case *at = &site->at[l][i];
			double case_s = bound_case(families, choice, at);

			if (!is_excluded(families, case_s))
				case_s = most(case_s, settle_case(
					&settling, &at->placed, at, l));
			least = fmin(least, case_s);
			cases = true;
		}
		if (site->count[l])
			low_s = most(low_s, least);
	}
	return cases ? low_s :
		       settle_case(&settling, &site->placed, NULL, 0);
}

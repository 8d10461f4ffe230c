/* SPDX-License-Identifier: MIT
 *
 * The bounds from facts about shapes; proofs in doc/solver.md.
 */
#include "solver/facts.h"

#include <math.h>
#include <stdatomic.h>

#include "solver/bound.h"
#include "solver/most.h"

struct facts_loads facts_add_up(const struct problem *problem, uint32_t kind,
				const double *both_s)
{
	const struct problem_run *run = problem->run;
	uint32_t last = problem->run_count - 1;
	struct facts_loads loads = {
		.unit_s = both_s[kind],
		.first_s = both_s[run[0].class_index],
	};

	for (uint32_t i = 0; i <= last; i++)
		loads.all_s += run[i].count * both_s[run[i].class_index];
	if (last || run[0].count > 1)
		loads.last_s = both_s[run[last].class_index];
	return loads;
}

double facts_bound_data(const struct facts *facts, uint8_t policies,
			uint32_t pipeline_most, uint32_t micro_batches)
{
	double whole = INFINITY;

	for (int r = 0; r < FACTS_COUNT; r++)
		if (policies & 1u << r)
			whole = least(whole, facts->loads[r].all_s);
	return most(whole, micro_batches * whole / pipeline_most);
}

static struct deal deal_for(const struct facts *facts,
			    const struct facts_loads *loads,
			    const struct choice *choice)
{
	struct deal deal = facts->deal;

	deal.unit_s = loads->unit_s;
	deal.first_s = loads->first_s;
	deal.last_s = loads->last_s;
	if (facts_policy(choice) == FACTS_PARTIAL) {
		deal.extra_s = loads->extra_s;
		deal.extra_layers = choice->recompute_layers;
	}
	return deal;
}

/* The fullest device's load, without what ZeRO adds. */
static double dealt(const struct facts *facts, const struct choice *choice)
{
	int r = facts_policy(choice);
	struct deal deal = deal_for(facts, &facts->loads[r], choice);
	_Atomic double *known;
	double load;

	if (r == FACTS_PARTIAL)
		return bound_deal(&deal, choice->pipeline, choice->virtual_stages);
	known = &facts->dealt_s[r][choice->pipeline][choice->virtual_stages];
	load = atomic_load_explicit(known, memory_order_relaxed);
	if (isnan(load)) {
		load = bound_deal(&deal, choice->pipeline, choice->virtual_stages);
		atomic_store_explicit(known, load, memory_order_relaxed);
	}
	return load;
}

/* The optimizer step of the mean device. */
double facts_steps(const struct facts *facts, const struct share *share)
{
	return share_step(share, facts->held);
}

static double mean_step(const struct facts *facts, const struct problem *problem,
			const struct choice *choice)
{
	struct share share = share_of(problem, choice, NULL);

	return facts_steps(facts, &share) / choice->pipeline;
}

double facts_transfers(const struct facts *facts, const struct choice *choice)
{
	return ((double)choice->pipeline * choice->virtual_stages - 1) *
	       facts->transfer_least_s;
}

double facts_mean(const struct facts *facts, uint8_t policies,
		  const struct choice *choice)
{
	uint32_t p = choice->pipeline, m = choice->micro_batches;
	double sum = INFINITY;

	for (int r = 0; r < FACTS_COUNT; r++)
		if (policies & 1u << r)
			sum = least(sum, facts->entries_s[r][p] +
						 m * facts->loads[r].all_s);
	return sum / p;
}

/* `whole`: one micro-batch through all, transfers included. */
static double span_plain(const struct facts *facts, const struct choice *choice,
			 double whole)
{
	uint32_t p = choice->pipeline, m = choice->micro_batches;
	uint32_t warm = p < m ? p - 1 : m - 1;
	int r = facts_policy(choice);
	double stage = dealt(facts, choice), span;

	if (choice->schedule == SCHEDULE_GPIPE)
		return whole + (m - 1) * most(facts->layer_most_s[r], stage);
	span = bound_loop(whole, whole, p, m, most(facts->layer_most_s[r], stage),
			  most(facts->half_most_s[r], stage / 2));
	return most(span, whole + (m - 1 - warm / 2.0) * stage);
}

static double span_interleaved(const struct facts *facts,
			       const struct choice *choice, double all,
			       double whole)
{
	uint32_t p = choice->pipeline, v = choice->virtual_stages;
	uint32_t m = choice->micro_batches;
	int r = facts_policy(choice);
	double span = (facts->entries_s[r][p] + m * all) / p;

	span = most(span, m * dealt(facts, choice));
	return most(span, whole + (m - 1) * most(facts->half_most_s[r],
						 all / p / v / 2));
}

double facts_span(const struct facts *facts, const struct facts_loads *loads,
		  const struct choice *choice, double transfers_s)
{
	double all = loads->all_s, whole = all + 2 * transfers_s;

	return choice->virtual_stages == 1 ?
		span_plain(facts, choice, whole) :
		span_interleaved(facts, choice, all, whole);
}

double facts_bound(const struct facts *facts, const struct problem *problem,
		   const struct choice *choice)
{
	return facts_span(facts, &facts->loads[facts_policy(choice)], choice,
			  facts_transfers(facts, choice)) +
	       mean_step(facts, problem, choice);
}

double facts_bound_whole(const struct facts *facts, const struct problem *problem,
			 const struct facts_loads *loads,
			 const struct choice *choice, const double *units_most,
			 double until_s)
{
	uint32_t p = choice->pipeline;
	struct deal deal = deal_for(facts, loads, choice);
	struct deal_limits limits = {
		.pipeline = p,
		.chunks = choice->virtual_stages,
		.micro_batches = choice->micro_batches,
		.all_first = choice->schedule == SCHEDULE_GPIPE,
		.entry_s = facts->entry_s[facts_policy(choice)],
		.units_most = p > 1 ? units_most : NULL,
	};
	double after = mean_step(facts, problem, choice);
	double transfers = facts_transfers(facts, choice);
	struct facts_loads more = *loads;

	more.all_s += deal_recomputed(&deal, &limits) * deal.extra_s;
	if (choice->virtual_stages == 1)
		limits.whole_s = more.all_s + 2 * transfers;
	return bound_deal_end(&deal, &limits,
			      facts_span(facts, &more, choice, transfers),
			      until_s - after) + after;
}

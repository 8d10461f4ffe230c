/* SPDX-License-Identifier: MIT
 *
 * Collects alternatives on the hierarchy and keeps the best routed one.
 */
#include "solver/graph_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/devices.h"
#include "solver/graph_prove.h"
#include "solver/graph_trial.h"
#include "solver/placement.h"
#include "solver/price.h"

/* Placements of one plan's degrees that are routed, the fastest on the
 * hierarchy first. */
#define PLACEMENTS_MAX 12
/* Alternatives need not be proved: those within this of their best are good. */
#define ALTERNATIVE_GAP 0.01
#define ALTERNATIVE_PARTITIONS 64
#define ALTERNATIVES_MAX 24
#define ALTERNATIVES_LEAST 4

struct graph_search {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct problem flat;		/* the same without the graph */
	struct arena *arena;		/* of the result */
	struct arena *scratch;
	struct trial trial;
	uint32_t *devices;		/* a domain, for alternatives */
	uint32_t left;			/* alternatives still to be looked for */
};

/* ---- placements of one plan ---- */

struct listing {
	struct graph_search *search;
	const struct plan *plan;
	struct placement placement[PLACEMENTS_MAX];
	double time_s[PLACEMENTS_MAX];
	uint32_t count;
};

static void insert(struct listing *listing, const struct placement *placement,
		   double time_s)
{
	uint32_t at = listing->count;

	if (at == PLACEMENTS_MAX && time_s >= listing->time_s[at - 1])
		return;
	if (at == PLACEMENTS_MAX)
		at--;
	else
		listing->count++;
	while (at && time_s < listing->time_s[at - 1]) {
		listing->placement[at] = listing->placement[at - 1];
		listing->time_s[at] = listing->time_s[at - 1];
		at--;
	}
	listing->placement[at] = *placement;
	listing->time_s[at] = time_s;
}

static bool list_visit(void *closure, const struct placement *placement)
{
	struct listing *listing = closure;
	struct graph_search *search = listing->search;
	struct arena_mark mark = arena_mark(search->scratch);
	struct plan plan = *listing->plan;

	if (deadline_passed(&search->limits->deadline))
		return false;
	plan.placement = *placement;
	if (network_experts_fit(&search->flat, placement,
				&search->flat.shape[plan.choice.shape]) &&
	    devices_fill(&search->flat, search->scratch, &plan)) {
		price_plan(&search->flat, search->scratch, &plan);
		if (plan.time_s < listing->plan->time_s ||
		    memcmp(placement, &listing->plan->placement,
			   sizeof(*placement)))
			insert(listing, placement, plan.time_s);
	}
	arena_rewind(search->scratch, mark);
	return true;
}

static void degrees_of(const struct problem *problem, const struct plan *plan,
		       uint32_t degree[DIMENSION_COUNT])
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];

	degree[DIMENSION_TENSOR] = shape->tensor;
	degree[DIMENSION_CONTEXT] = shape->context;
	degree[DIMENSION_DATA] = plan->choice.data;
	degree[DIMENSION_PIPELINE] = plan->choice.pipeline;
}

/* The plan as it is, and with other placements of its degrees. */
static void consider(struct graph_search *search, const struct plan *plan)
{
	struct listing listing = { .search = search, .plan = plan };
	uint32_t degree[DIMENSION_COUNT];
	struct plan other = *plan;

	trial_plan(&search->trial, plan, NULL);
	if (plan->placement.packing != PACKING_FACTORS)
		return;
	degrees_of(search->problem, plan, degree);
	placement_walk(&search->flat, degree, list_visit, &listing);
	for (uint32_t i = 0; i < listing.count; i++) {
		if (trial_excludes(&search->trial, listing.time_s[i]))
			break;
		other.placement = listing.placement[i];
		trial_plan(&search->trial, &other, NULL);
	}
}

/* ---- other degrees ---- */

static bool is_in(const struct problem_domain *domain, uint32_t value)
{
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return !domain->count;
}

/* The best plan of the hierarchy with so many pipeline ranks (0: any) on at most
 * so many devices; `once`: each with one virtual stage, whose data crosses the
 * boundaries once. True if it had several, so that once is worth a try. */
static bool find_alternative(struct graph_search *search, uint32_t pipeline,
			     uint32_t devices_most, bool once)
{
	static const uint32_t one = 1;
	struct arena_mark mark = arena_mark(search->scratch);
	struct solve_limits limits = {
		.gap = most(search->limits->gap, ALTERNATIVE_GAP),
		.deadline = search->limits->deadline,
		.partitions_max = ALTERNATIVE_PARTITIONS,
	};
	struct problem part = search->flat;
	struct solve_result result;
	uint32_t count = 0;
	bool several = false;

	if ((pipeline && !is_in(&part.pipeline, pipeline)) ||
	    (once && !is_in(&part.virtual_stages, 1)))
		return false;
	if (once)
		part.virtual_stages = (struct problem_domain){ &one, 1 };
	if (pipeline)
		part.pipeline = (struct problem_domain){ &pipeline, 1 };
	if (devices_most < part.device_count) {
		for (uint32_t d = 1; d <= devices_most; d++)
			if (is_in(&search->flat.devices, d))
				search->devices[count++] = d;
		if (!count)
			return false;
		part.devices = (struct problem_domain){ search->devices, count };
	}
	solve(&part, &limits, search->scratch, &result);
	if (result.status == SOLVE_OPTIMAL || result.status == SOLVE_FEASIBLE) {
		several = result.plan.choice.virtual_stages > 1;
		if (!trial_excludes(&search->trial, result.plan.time_s))
			consider(search, &result.plan);
	}
	arena_rewind(search->scratch, mark);
	return several;
}

/* With virtual stages, and without where it has some. True if the search is at its
 * end. */
static bool try_pipeline(struct graph_search *search, uint32_t pipeline,
			 uint32_t devices_most)
{
	if (search->left && !trial_is_done(&search->trial)) {
		search->left--;
		if (find_alternative(search, pipeline, devices_most, false) &&
		    !trial_is_done(&search->trial))
			find_alternative(search, pipeline, devices_most, true);
	}
	return !search->left || trial_is_done(&search->trial);
}

static void try_pipelines(struct graph_search *search, uint32_t found,
			  uint32_t devices_most)
{
	uint32_t length = problem_chain_length(&search->flat);

	for (uint32_t p = 1; p <= devices_most && p <= length; p *= 2)
		if (p != found && try_pipeline(search, p, devices_most))
			return;
}

static void find_alternatives(struct graph_search *search,
			      const struct choice *found)
{
	const struct problem *flat = &search->flat;
	uint32_t fanout = flat->level[flat->level_count - 1].fanout;
	uint32_t all = flat->device_count, child = all / fanout;

	search->left = all <= 256 ? ALTERNATIVES_MAX :
		       ALTERNATIVES_MAX * 256 / all + ALTERNATIVES_LEAST;
	if (found->virtual_stages > 1)
		find_alternative(search, found->pipeline, all, true);
	if (try_pipeline(search, 0, all - child))
		return;
	try_pipelines(search, found->pipeline, all);
	try_pipelines(search, 0, all - child);
	if (fanout > 2)
		try_pipeline(search, 0, fanout / 2 * child);
}

/* ---- the entry ---- */

static bool is_close(const struct graph_search *search, double lower_bound)
{
	double value = search->trial.best.merit.objective[0];

	return value - lower_bound <= most(TIE, search->limits->gap) * value;
}

/* Alternatives are no better than this; what is left, the proof looks for. */
static bool is_near(const struct graph_search *search, double lower_bound)
{
	double value = search->trial.best.merit.objective[0];

	return search->trial.best.found && search->trial.best.time_only &&
	       value - lower_bound <= ALTERNATIVE_GAP * value;
}

/* Raises the bound of the hierarchy by what the links themselves say. */
static void prove(struct graph_search *search, struct certificate *certificate)
{
	double bound_s;

	if (!search->trial.best.found || !search->trial.best.time_only ||
	    trial_is_done(&search->trial) ||
	    is_close(search, certificate->lower_bound))
		return;
	bound_s = graph_prove(search->problem, search->limits, &search->trial,
			      &certificate->linked);
	certificate->lower_bound = most(certificate->lower_bound, bound_s);
}

static void certify(struct graph_search *search, struct plan *plan,
		    double hierarchy_s, const struct certificate *certificate)
{
	struct certificate *own = &plan->certificate;

	*own = *certificate;
	own->value = search->trial.best.merit.objective[0];
	own->gap = 0;
	if (own->value > own->lower_bound)
		own->gap = (own->value - own->lower_bound) / own->value;
	if (own->gap <= TIE)
		own->gap = 0;
	own->routed = search->trial.routed;
	own->out_of_time |= deadline_passed(&search->limits->deadline);
	plan->hierarchy_s = hierarchy_s;
}

static bool finish(struct graph_search *search, struct solve_result *result)
{
	struct certificate certificate = result->plan.certificate;
	struct plan *plan = &result->plan;
	struct plan flat;

	if (!search->trial.best.found)
		return false;
	*plan = search->trial.best.plan;
	plan->device_map = search->trial.best_map;
	devices_fill(search->problem, search->arena, plan);
	flat = *plan;
	price_plan(&search->flat, search->arena, &flat);
	price_plan(search->problem, search->arena, plan);
	certify(search, plan, flat.time_s, &certificate);
	result->status = plan->certificate.gap > 0 ? SOLVE_FEASIBLE :
						     SOLVE_OPTIMAL;
	return true;
}

enum solve_status graph_solve(const struct problem *problem,
			      const struct solve_limits *limits,
			      struct arena *arena, struct solve_result *result)
{
	struct solve_limits flat = *limits;
	struct arena scratch;
	struct graph_search search = {
		.problem = problem,
		.limits = limits,
		.flat = *problem,
		.arena = arena,
		.scratch = &scratch,
	};

	search.flat.graph = NULL;
	/* The rest is for routing. */
	flat.deadline = deadline_part(&limits->deadline, 2);
	solve(&search.flat, &flat, arena, result);
	if (result->status != SOLVE_OPTIMAL && result->status != SOLVE_FEASIBLE)
		return result->status;
	arena_init(&scratch);
	search.devices = ARENA_ARRAY(&scratch, uint32_t, problem->device_count);
	trial_init(&search.trial, problem, result->plan.certificate.value, arena,
		   &scratch);
	search.trial.deadline = &limits->deadline;
	consider(&search, &result->plan);
	if (!trial_is_done(&search.trial) &&
	    !is_near(&search, result->plan.certificate.lower_bound))
		find_alternatives(&search, &result->plan.choice);
	prove(&search, &result->plan.certificate);
	if (!finish(&search, result))
		result->status = SOLVE_UNROUTED;
	trial_release(&search.trial);
	arena_release(&scratch);
	return result->status;
}

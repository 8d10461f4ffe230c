/* SPDX-License-Identifier: MIT
 *
 * Facts about shapes and the bounds from them; proofs in doc/solver.md.
 */
#include "solver/facts.h"

#include <math.h>
#include <stdatomic.h>

#include "solver/bound.h"
#include "solver/layer.h"
#include "solver/most.h"

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Whether part of a chunk's layers may be recomputed. */
static bool may_be_partial(const struct problem *problem)
{
	return problem->recompute[RECOMPUTE_FULL] &&
	       problem->recompute_layers.count;
}

static double compute_of(const struct problem *problem, uint32_t shape,
			 uint32_t class_index, enum recompute recompute)
{
	const struct problem_cost *cost =
		problem_cost_at(problem, shape, class_index, recompute);

	return cost->forward_s + cost->backward_s;
}

/* Of a layer under a policy or, with FACTS_PARTIAL, at its cheaper. */
static double layer_compute(const struct problem *problem, uint32_t shape,
			    uint32_t class_index, int policy)
{
	double time;

	if (policy != FACTS_PARTIAL)
		return compute_of(problem, shape, class_index,
				  (enum recompute)policy);
	time = compute_of(problem, shape, class_index, RECOMPUTE_FULL);
	if (!problem->class_is_block[class_index])
		return time;
	return least(time, compute_of(problem, shape, class_index,
				      RECOMPUTE_NONE));
}

double facts_compute(const struct problem *problem, uint32_t shape)
{
	double time = INFINITY;

	for (int r = 0; r < FACTS_COUNT; r++) {
		double sum = 0;

		if (r == FACTS_PARTIAL ? !may_be_partial(problem) :
					 !problem->recompute[r])
			continue;
		for (uint32_t i = 0; i < problem->run_count; i++) {
			const struct problem_run *run = &problem->run[i];

			sum += run->count * layer_compute(problem, shape,
							  run->class_index, r);
		}
		time = least(time, sum);
	}
	return time;
}

/* The part of a layer's time that one group's communication is. */
static double *group_part(struct layer_time *time, enum group group)
{
	if (group == GROUP_TENSOR)
		return &time->tensor_s;
	return group == GROUP_CONTEXT ? &time->context_s : &time->expert_s;
}

/* The least exposed communication of a layer over one group, over the rows that
 * a group of its degree can have. */
static double best_group(const struct problem *problem, uint32_t shape,
			 uint32_t class_index, enum recompute recompute,
			 enum group group, const struct placement_row_set *rows)
{
	struct network_lines lines[GROUP_COUNT];
	struct layer_setting setting = {
		.problem = problem,
		.shape = shape,
		.recompute = recompute,
		.group = lines,
	};
	double best = INFINITY;

	for (int i = 0; i < GROUP_COUNT; i++)
		lines[i] = (struct network_lines){ .alone = true };
	for (size_t i = 0; i < rows->row.count; i++) {
		struct layer_time time;

		lines[group] = rows->row.at[i];
		time = layer_time(&setting, class_index);
		best = least(best, *group_part(&time, group));
	}
	return best;
}

/* Time of every class with each group at its best. */
static void best_times(const struct problem *problem,
		       struct placement_cache *cache, uint32_t index,
		       enum recompute recompute, struct layer_time *best)
{
	const struct problem_shape *shape = &problem->shape[index];
	const struct {
		enum group group;
		uint32_t degree;
	} groups[] = {
		{ GROUP_TENSOR, shape->tensor },
		{ GROUP_CONTEXT, shape->context },
		{ GROUP_EXPERT, shape->expert },
		{ GROUP_EXPERT_TENSOR, shape->expert_tensor },
	};
	struct network_lines lines[GROUP_COUNT];
	struct layer_setting setting = {
		.problem = problem,
		.shape = index,
		.recompute = recompute,
		.group = lines,
	};

	for (int i = 0; i < GROUP_COUNT; i++)
		lines[i] = (struct network_lines){ .alone = true };
	layer_times(&setting, best);
	for (uint32_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		const struct placement_row_set *rows =
			placement_rows(cache, groups[i].degree);

		for (uint32_t c = 0; c < problem->class_count; c++)
			*group_part(&best[c], groups[i].group) +=
				best_group(problem, index, c, recompute,
					   groups[i].group, rows);
	}
}

static double all_of(const struct layer_time *layer)
{
	return layer->compute_s + layer->tensor_s + layer->context_s +
	       layer->expert_s;
}

/* Times of every class under a policy. */
struct best {
	double both_s;			/* communication included */
	double half_s;			/* the larger of forward and backward, compute */
};

static struct best best_of(const struct layer_time *layer)
{
	return (struct best){ all_of(layer),
			      most(layer->forward_s, layer->backward_s) };
}

static void add_up(struct facts *facts, const struct problem *problem,
		   int policy, const struct best *best, struct arena *arena)
{
	uint32_t length = problem_chain_length(problem), at = 0;
	double *through = ARENA_ARRAY(arena, double, (size_t)length + 1);
	double *entry = ARENA_ARRAY(arena, double, (size_t)length + 1);
	double *entries = ARENA_ARRAY(arena, double, (size_t)length + 1);
	struct deal *deal = &facts->deal[policy];
	double layer_most = 0, half_most = 0;

	for (uint32_t i = 0; i < problem->run_count; i++) {
		const struct best *layer = &best[problem->run[i].class_index];
		uint32_t end = at + problem->run[i].count;

		for (; at < end; at++) {
			through[at + 1] = through[at] + layer->both_s;
			entry[at + 1] = entry[at] + layer->both_s +
					2 * facts->transfer_least_s;
			entries[at + 1] = entries[at] + entry[at];
		}
		layer_most = most(layer_most, layer->both_s);
		half_most = most(half_most, layer->half_s);
	}
	facts->through_s[policy] = through;
	facts->entry_s[policy] = entry;
	facts->entries_s[policy] = entries;
	*deal = deal_find(problem);
	deal->unit_s = best[deal->kind].both_s;
	deal->first_s = through[1];
	if (length > 1)
		deal->last_s = through[length] - through[length - 1];
	facts->layer_most_s[policy] = layer_most;
	facts->half_most_s[policy] = half_most;
	facts->whole_least_s = least(facts->whole_least_s, through[length]);
}

/* Of blocks the cheaper of recomputed and kept; what recomputing takes more is
 * the deal's extra. */
static void add_up_partial(struct facts *facts, const struct problem *problem,
			   const struct best *full, const struct best *kept,
			   struct best *cheaper, struct arena *arena)
{
	uint32_t kind;

	for (uint32_t c = 0; c < problem->class_count; c++) {
		cheaper[c] = full[c];
		if (!problem->class_is_block[c])
			continue;
		cheaper[c].both_s = least(full[c].both_s, kept[c].both_s);
		cheaper[c].half_s = least(full[c].half_s, kept[c].half_s);
	}
	add_up(facts, problem, FACTS_PARTIAL, cheaper, arena);
	kind = facts->deal[FACTS_PARTIAL].kind;
	facts->deal[FACTS_PARTIAL].extra_s = full[kind].both_s -
					     cheaper[kind].both_s;
}

static double least_transfer(const struct problem *problem, uint32_t shape)
{
	double bytes = INFINITY, time = INFINITY;

	for (uint32_t c = 0; c < problem->class_count; c++)
		bytes = least(bytes,
			      problem_weight_at(problem, shape, c)->output_bytes);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];

		if (level->fanout > 1)
			time = least(time, level->latency_s +
						   bytes / (level->efficiency *
							    level->bandwidth_Bps));
	}
	return isinf(time) ? 0 : time;
}

static _Atomic double **unknown_deals(const struct problem *problem,
			      struct arena *arena)
{
	uint32_t length = problem_chain_length(problem);
	_Atomic double **known = ARENA_ARRAY(arena, _Atomic double *,
					     (size_t)length + 1);

	for (uint32_t p = 1; p <= length; p++) {
		known[p] = ARENA_ARRAY(arena, _Atomic double,
				       (size_t)length / p + 1);
		for (uint32_t v = 0; v <= length / p; v++)
			atomic_init(&known[p][v], NAN);
	}
	return known;
}

void facts_fill(struct facts *facts, const struct problem *problem,
		struct placement_cache *cache, uint32_t shape,
		struct arena *arena)
{
	size_t classes = problem->class_count;
	struct layer_time *time = ARENA_ARRAY(arena, struct layer_time, classes);
	struct best *best = ARENA_ARRAY(arena, struct best,
					FACTS_COUNT * classes);
	bool partial = may_be_partial(problem);

	*facts = (struct facts){
		.whole_least_s = INFINITY,
		.transfer_least_s = least_transfer(problem, shape),
	};
	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		if (!problem->recompute[r] && !(partial && r == RECOMPUTE_NONE))
			continue;
		best_times(problem, cache, shape, (enum recompute)r, time);
		for (size_t c = 0; c < classes; c++)
			best[(size_t)r * classes + c] = best_of(&time[c]);
		if (!problem->recompute[r])
			continue;
		add_up(facts, problem, r, best + (size_t)r * classes, arena);
		facts->dealt_s[r] = unknown_deals(problem, arena);
	}
	if (partial)
		add_up_partial(facts, problem, best + RECOMPUTE_FULL * classes,
			       best + RECOMPUTE_NONE * classes,
			       best + FACTS_PARTIAL * classes, arena);
	for (uint32_t i = 0; i < problem->run_count; i++) {
		const struct problem_run *run = &problem->run[i];
		struct holding layer = holding_of(problem_weight_at(
			problem, shape, run->class_index));

		facts->held = holding_add(facts->held,
					  holding_times(layer, run->count));
	}
	if (problem->tied_class != CLASS_NONE)
		facts->held.parameters -=
			problem_weight_at(problem, shape, problem->tied_class)
				->tied_parameters;
}

double facts_bound_data(const struct facts *facts, const struct problem *problem,
			uint32_t pipeline_most, uint32_t micro_batches)
{
	(void)problem;
	return most(facts->whole_least_s,
		    micro_batches * facts->whole_least_s / pipeline_most);
}

static int policy_of(const struct choice *choice)
{
	if (choice->recompute == RECOMPUTE_FULL && choice->recompute_layers)
		return FACTS_PARTIAL;
	return choice->recompute;
}

static struct deal deal_for(const struct facts *facts,
			    const struct choice *choice)
{
	struct deal deal = facts->deal[policy_of(choice)];

	deal.extra_layers = choice->recompute_layers;
	return deal;
}

static double dealt(const struct facts *facts, const struct choice *choice)
{
	struct deal deal = deal_for(facts, choice);
	int r = policy_of(choice);
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

static double span_plain(const struct facts *facts, const struct choice *choice,
			 double all)
{
	uint32_t p = choice->pipeline, m = choice->micro_batches;
	uint32_t warm = p < m ? p - 1 : m - 1;
	int r = policy_of(choice);
	double whole = all + 2 * (p - 1) * facts->transfer_least_s;
	double stage = dealt(facts, choice), span;

	if (choice->schedule == SCHEDULE_GPIPE)
		return whole + (m - 1) * most(facts->layer_most_s[r], stage);
	span = bound_loop(whole, whole, p, m, most(facts->layer_most_s[r], stage),
			  most(facts->half_most_s[r], stage / 2));
	return most(span, whole + (m - 1 - warm / 2.0) * stage);
}

static double span_interleaved(const struct facts *facts,
			       const struct choice *choice, double all)
{
	uint32_t p = choice->pipeline, v = choice->virtual_stages;
	uint32_t m = choice->micro_batches;
	int r = policy_of(choice);
	double whole = all + 2 * ((double)p * v - 1) * facts->transfer_least_s;
	double span = (facts->entries_s[r][p] + m * all) / p;

	span = most(span, m * dealt(facts, choice));
	return most(span, whole + (m - 1) * most(facts->half_most_s[r],
						 all / p / v / 2));
}

double facts_span(const struct facts *facts, const struct problem *problem,
		  const struct choice *choice)
{
	double all = facts->through_s[policy_of(choice)]
				     [problem_chain_length(problem)];

	return choice->virtual_stages == 1 ? span_plain(facts, choice, all) :
					     span_interleaved(facts, choice, all);
}

double facts_bound(const struct facts *facts, const struct problem *problem,
		   const struct choice *choice)
{
	return facts_span(facts, problem, choice) +
	       mean_step(facts, problem, choice);
}

double facts_bound_whole(const struct facts *facts, const struct problem *problem,
			 const struct choice *choice, const double *units_most,
			 double until_s)
{
	uint32_t p = choice->pipeline, v = choice->virtual_stages;
	int r = policy_of(choice);
	struct deal deal = deal_for(facts, choice);
	double all = facts->through_s[r][problem_chain_length(problem)];
	struct deal_limits limits = {
		.pipeline = p,
		.chunks = v,
		.micro_batches = choice->micro_batches,
		.all_first = choice->schedule == SCHEDULE_GPIPE,
		.entry_s = facts->entry_s[r],
		.units_most = p > 1 ? units_most : NULL,
	};
	double span, after;

	all += deal_recomputed(&deal, &limits) * deal.extra_s;
	if (v == 1)
		limits.whole_s = all + 2 * (p - 1) * facts->transfer_least_s;
	span = v == 1 ? span_plain(facts, choice, all) :
			span_interleaved(facts, choice, all);
	after = mean_step(facts, problem, choice);
	return bound_deal_end(&deal, &limits, span, until_s - after) + after;
}

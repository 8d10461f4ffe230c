/* SPDX-License-Identifier: MIT
 *
 * Facts about shapes and the bounds from them; proofs in doc/solver.md.
 */
#include "solver/facts.h"

#include <math.h>

#include "solver/bound.h"
#include "solver/layer.h"

static double most(double a, double b)
{
	return a > b ? a : b;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

double facts_compute(const struct problem *problem, uint32_t shape)
{
	double time = INFINITY;

	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		double sum = 0;

		if (!problem->recompute[r])
			continue;
		for (uint32_t i = 0; i < problem->run_count; i++) {
			const struct problem_run *run = &problem->run[i];
			const struct problem_cost *cost =
				problem_cost_at(problem, shape, run->class_index,
						(enum recompute)r);

			sum += run->count * (cost->forward_s + cost->backward_s);
		}
		time = least(time, sum);
	}
	return time;
}

/* Time of every class with the groups at their best: the least exposed tensor
 * and the least exposed context communication over their rows. */
static void best_times(const struct problem *problem,
		       struct placement_cache *cache, uint32_t shape,
		       enum recompute recompute, struct layer_time *best,
		       struct layer_time *trial)
{
	const struct placement_row_set *tensor =
		placement_rows(cache, problem->shape[shape].tensor);
	const struct placement_row_set *context =
		placement_rows(cache, problem->shape[shape].context);
	const struct network_lines alone = { .alone = true };

	layer_times(problem, shape, recompute, &alone, &alone, best);
	for (uint32_t c = 0; c < problem->class_count; c++)
		best[c].tensor_s = best[c].context_s = INFINITY;
	for (size_t i = 0; i < tensor->row.count; i++) {
		layer_times(problem, shape, recompute, &tensor->row.at[i], &alone,
			    trial);
		for (uint32_t c = 0; c < problem->class_count; c++)
			best[c].tensor_s = least(best[c].tensor_s,
						 trial[c].tensor_s);
	}
	for (size_t i = 0; i < context->row.count; i++) {
		layer_times(problem, shape, recompute, &alone, &context->row.at[i],
			    trial);
		for (uint32_t c = 0; c < problem->class_count; c++)
			best[c].context_s = least(best[c].context_s,
						  trial[c].context_s);
	}
}

static void add_up(struct facts *facts, const struct problem *problem,
		   enum recompute recompute, const struct layer_time *best,
		   struct arena *arena)
{
	uint32_t length = problem_chain_length(problem), at = 0;
	double *through = ARENA_ARRAY(arena, double, (size_t)length + 1);
	double *entry = ARENA_ARRAY(arena, double, (size_t)length + 1);
	double *entries = ARENA_ARRAY(arena, double, (size_t)length + 1);
	const struct layer_time *unit;
	double layer_most = 0, half_most = 0;

	for (uint32_t i = 0; i < problem->run_count; i++) {
		const struct layer_time *layer = &best[problem->run[i].class_index];
		double time = layer->compute_s + layer->tensor_s + layer->context_s;
		uint32_t end = at + problem->run[i].count;

		for (; at < end; at++) {
			through[at + 1] = through[at] + time;
			entry[at + 1] = entry[at] + time +
					2 * facts->transfer_least_s;
			entries[at + 1] = entries[at] + entry[at];
		}
		layer_most = most(layer_most, time);
		half_most = most(half_most, most(layer->forward_s,
						 layer->backward_s));
	}
	facts->through_s[recompute] = through;
	facts->entry_s[recompute] = entry;
	facts->entries_s[recompute] = entries;
	facts->deal[recompute] = deal_find(problem);
	unit = &best[facts->deal[recompute].kind];
	facts->deal[recompute].unit_s =
		unit->compute_s + unit->tensor_s + unit->context_s;
	facts->deal[recompute].first_s = through[1];
	if (length > 1)
		facts->deal[recompute].last_s =
			through[length] - through[length - 1];
	facts->layer_most_s[recompute] = layer_most;
	facts->half_most_s[recompute] = half_most;
	facts->whole_least_s = least(facts->whole_least_s, through[length]);
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

void facts_fill(struct facts *facts, const struct problem *problem,
		struct placement_cache *cache, uint32_t shape,
		struct arena *arena)
{
	size_t classes = problem->class_count;
	struct layer_time *best = ARENA_ARRAY(arena, struct layer_time, 2 * classes);

	*facts = (struct facts){
		.whole_least_s = INFINITY,
		.transfer_least_s = least_transfer(problem, shape),
	};
	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		if (!problem->recompute[r])
			continue;
		best_times(problem, cache, shape, (enum recompute)r, best,
			   best + classes);
		add_up(facts, problem, (enum recompute)r, best, arena);
	}
	for (uint32_t i = 0; i < problem->run_count; i++)
		facts->parameters +=
			problem->run[i].count *
			problem_weight_at(problem, shape,
					  problem->run[i].class_index)->parameters;
	if (problem->tied_class != CLASS_NONE)
		facts->parameters -=
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

/* The optimizer step of the mean device. */
static double mean_step(const struct facts *facts, const struct problem *problem,
			const struct choice *choice)
{
	double replicas = (double)choice->data *
			  problem->shape[choice->shape].context;

	if (problem->sync.step_bytes <= 0)
		return 0;
	return facts->parameters / choice->pipeline * problem->sync.step_bytes /
	       (choice->zero ? replicas : 1) / problem->sync.memory_bandwidth_Bps;
}

static double span_plain(const struct facts *facts, const struct choice *choice,
			 double all)
{
	uint32_t p = choice->pipeline, m = choice->micro_batches;
	uint32_t r = choice->recompute, warm = p < m ? p - 1 : m - 1;
	double whole = all + 2 * (p - 1) * facts->transfer_least_s;
	double stage = bound_deal(&facts->deal[r], p, 1);
	double span = bound_loop(whole, whole, p, m,
				 most(facts->layer_most_s[r], stage),
				 most(facts->half_most_s[r], stage / 2));

	return most(span, whole + (m - 1 - warm / 2.0) * stage);
}

static double span_interleaved(const struct facts *facts,
			       const struct choice *choice, double all)
{
	uint32_t p = choice->pipeline, v = choice->virtual_stages;
	uint32_t m = choice->micro_batches, r = choice->recompute;
	double whole = all + 2 * ((double)p * v - 1) * facts->transfer_least_s;
	double span = (facts->entries_s[r][p] + m * all) / p;

	span = most(span, m * bound_deal(&facts->deal[r], p, v));
	return most(span, whole + (m - 1) * most(facts->half_most_s[r],
						 all / p / v / 2));
}

double facts_bound(const struct facts *facts, const struct problem *problem,
		   const struct choice *choice)
{
	double all = facts->through_s[choice->recompute]
				     [problem_chain_length(problem)];
	double span = choice->virtual_stages == 1 ?
		span_plain(facts, choice, all) :
		span_interleaved(facts, choice, all);

	return span + mean_step(facts, problem, choice);
}

double facts_bound_whole(const struct facts *facts, const struct problem *problem,
			 const struct choice *choice, const double *units_most)
{
	uint32_t p = choice->pipeline, v = choice->virtual_stages;
	double all = facts->through_s[choice->recompute]
				     [problem_chain_length(problem)];
	double whole = all + 2 * (p - 1) * facts->transfer_least_s;
	struct deal_limits limits = {
		.pipeline = p,
		.chunks = v,
		.micro_batches = choice->micro_batches,
		.entry_s = facts->entry_s[choice->recompute],
		.whole_s = v == 1 ? whole : 0,
		.units_most = units_most,
	};
	double span = bound_deal_end(&facts->deal[choice->recompute], &limits);

	return most(facts_bound(facts, problem, choice),
		    span + mean_step(facts, problem, choice));
}

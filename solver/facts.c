/* SPDX-License-Identifier: MIT
 *
 * Facts about shapes and the bounds from them; proofs in doc/solver.md.
 */
#include "solver/facts.h"

#include <math.h>

#include "solver/bound.h"
#include "solver/layer.h"
#include "solver/most.h"

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
	double best = INFINITY;

	for (int i = 0; i < GROUP_COUNT; i++)
		lines[i] = (struct network_lines){ .alone = true };
	for (size_t i = 0; i < rows->row.count; i++) {
		struct layer_time time;

		lines[group] = rows->row.at[i];
		time = layer_time(problem, shape, class_index, recompute, lines);
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

	for (int i = 0; i < GROUP_COUNT; i++)
		lines[i] = (struct network_lines){ .alone = true };
	layer_times(problem, index, recompute, lines, best);
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
		double time = all_of(layer);
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
		all_of(unit);
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
	struct layer_time *best = ARENA_ARRAY(arena, struct layer_time, classes);

	*facts = (struct facts){
		.whole_least_s = INFINITY,
		.transfer_least_s = least_transfer(problem, shape),
	};
	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		if (!problem->recompute[r])
			continue;
		best_times(problem, cache, shape, (enum recompute)r, best);
		add_up(facts, problem, (enum recompute)r, best, arena);
	}
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

/* The optimizer step of the mean device. */
static double mean_step(const struct facts *facts, const struct problem *problem,
			const struct choice *choice)
{
	struct share share = share_of(problem, choice);

	return share_step(&share, facts->held) / choice->pipeline;
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

/* SPDX-License-Identifier: MIT
 *
 * Facts about shapes.
 */
#include "solver/facts.h"

#include <math.h>
#include <stdatomic.h>

#include "solver/layer.h"
#include "solver/most.h"

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
	facts->loads[policy] = (struct facts_loads){
		.all_s = through[length],
		.unit_s = best[facts->deal.kind].both_s,
		.first_s = best[problem->run[0].class_index].both_s,
	};
	if (length > 1)
		facts->loads[policy].last_s = through[length] - through[length - 1];
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
	uint32_t kind = facts->deal.kind;

	for (uint32_t c = 0; c < problem->class_count; c++) {
		cheaper[c] = full[c];
		if (!problem->class_is_block[c])
			continue;
		cheaper[c].both_s = least(full[c].both_s, kept[c].both_s);
		cheaper[c].half_s = least(full[c].half_s, kept[c].half_s);
	}
	add_up(facts, problem, FACTS_PARTIAL, cheaper, arena);
	facts->loads[FACTS_PARTIAL].extra_s = full[kind].both_s -
					      cheaper[kind].both_s;
}

static double least_output(const struct problem *problem, uint32_t shape)
{
	double bytes = INFINITY;

	for (uint32_t c = 0; c < problem->class_count; c++)
		bytes = least(bytes,
			      problem_weight_at(problem, shape, c)->output_bytes);
	return bytes;
}

static double least_transfer(const struct problem *problem, double bytes)
{
	double time = INFINITY;

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

/* What a layer keeps and works on at least, under a policy or in any chunk. */
static struct problem_cost floor_of(const struct problem *problem, uint32_t shape,
				    uint32_t class_index, int policy)
{
	struct problem_cost floor = *problem_cost_at(
		problem, shape, class_index,
		policy == FACTS_PARTIAL ? RECOMPUTE_FULL : (enum recompute)policy);
	const struct problem_cost *kept =
		problem_cost_at(problem, shape, class_index, RECOMPUTE_NONE);

	if (policy == FACTS_PARTIAL) {
		floor.saved_bytes = least(floor.saved_bytes, kept->saved_bytes);
		floor.working_bytes = least(floor.working_bytes,
					    kept->working_bytes);
	}
	return floor;
}

/* What memory has to hold. */
static void fill_sizes(struct facts *facts, const struct problem *problem,
		       uint32_t shape)
{
	const struct deal *deal = &facts->deal;
	bool partial = may_be_partial(problem);

	for (uint32_t i = 0; i < problem->run_count; i++)
		if (problem->class_is_block[problem->run[i].class_index])
			facts->blocks += problem->run[i].count;
	for (int r = 0; r < FACTS_COUNT; r++) {
		if (r == FACTS_PARTIAL ? !partial : !problem->recompute[r])
			continue;
		facts->allowed |= (uint8_t)(1u << r);
		facts->unit_saved_bytes[r] =
			floor_of(problem, shape, deal->kind, r).saved_bytes;
		facts->block_saved_bytes[r] = facts->unit_saved_bytes[r];
		facts->working_least_bytes[r] = INFINITY;
		for (uint32_t c = 0; c < problem->class_count; c++) {
			struct problem_cost floor = floor_of(problem, shape, c, r);

			facts->working_least_bytes[r] =
				least(facts->working_least_bytes[r],
				      floor.working_bytes);
			if (problem->class_is_block[c])
				facts->block_saved_bytes[r] =
					least(facts->block_saved_bytes[r],
					      floor.saved_bytes);
		}
	}
	if (partial && problem->recompute_layers.at[0])
		facts->allowed &= (uint8_t)~(1u << RECOMPUTE_FULL);
}

static void fill_held(struct facts *facts, const struct problem *problem,
		      uint32_t shape)
{
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

void facts_fill(struct facts *facts, const struct problem *problem,
		struct placement_cache *cache, uint32_t shape,
		struct arena *arena)
{
	size_t classes = problem->class_count;
	struct layer_time *time = ARENA_ARRAY(arena, struct layer_time, classes);
	struct best *best = ARENA_ARRAY(arena, struct best,
					FACTS_COUNT * classes);
	double output_bytes = least_output(problem, shape);
	bool partial = may_be_partial(problem);

	*facts = (struct facts){
		.deal = deal_find(problem),
		.whole_least_s = INFINITY,
		.output_least_bytes = output_bytes,
		.transfer_least_s = least_transfer(problem, output_bytes),
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
	fill_held(facts, problem, shape);
	fill_sizes(facts, problem, shape);
}

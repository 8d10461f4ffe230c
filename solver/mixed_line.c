/* SPDX-License-Identifier: MIT
 *
 * What ranks of a split plan cost, and bounds on its cuts by dynamic programs
 * over (rank, position in the chain).
 */
#include "solver/mixed_line.h"

#include <math.h>
#include <string.h>

#include "solver/mixed.h"
#include "solver/most.h"
#include "solver/price.h"
#include "solver/schedule.h"

/* The placement as the functions of a partition want it: they know a rank by its
 * number in the whole pipeline. */
static void extend_boundaries(struct mixed_line *line, struct mixed_part *part)
{
	const uint8_t *own = part->placed.boundary_level;
	uint8_t *level = ARENA_ARRAY(line->scratch, uint8_t, line->pipeline);

	memcpy(level + part->first, own, part->ranks * sizeof(*level));
	part->placed.boundary_level = level;
}

static void init_boundaries(struct mixed_line *line)
{
	for (uint32_t i = 0; i < line->part_count; i++) {
		const struct mixed_part *part = &line->part[i];
		uint32_t last = part->first + part->ranks - 1;

		for (uint32_t r = part->first; r <= last; r++) {
			line->part_of[r] = i;
			line->boundary[r] =
				part->placed.transfer[part->placed.boundary_level[r]];
		}
		if (i + 1 < line->part_count)
			line->boundary[last] = mixed_joint(
				part->problem, &part->placed.placement,
				part[1].problem, &part[1].placed.placement);
	}
}

void mixed_line_init(struct mixed_line *line, const struct problem *problem,
		     const struct choice *choice, struct mixed_part *part,
		     uint32_t part_count, struct incumbent *incumbent,
		     struct arena *scratch)
{
	uint32_t p = choice->pipeline, length = part->chain->length;

	*line = (struct mixed_line){
		.problem = problem,
		.choice = *choice,
		.pipeline = p,
		.micro_batches = choice->micro_batches,
		.length = length,
		.part = part,
		.part_count = part_count,
		.incumbent = incumbent,
		.scratch = scratch,
		.part_of = ARENA_ARRAY(scratch, uint32_t, p),
		.boundary = ARENA_ARRAY(scratch, struct network_line, p),
		.failed_requirement = REQUIREMENT_NONE,
		.complete = true,
	};
	if (problem->uniform_stages)
		line->blocks_each = incumbent->block_count / p;
	for (uint32_t i = 0; i < part_count; i++) {
		extend_boundaries(line, &part[i]);
		partition_init(&part[i].partition, part[i].problem,
			       &line->choice, &part[i].placed, part[i].chain,
			       incumbent, scratch);
	}
	init_boundaries(line);
}

static const struct mixed_part *part_at(const struct mixed_line *line,
					uint32_t rank)
{
	return &line->part[line->part_of[rank]];
}

double mixed_line_both(const struct mixed_line *line, uint32_t rank,
		       uint32_t begin, uint32_t end)
{
	const struct mixed_part *part = part_at(line, rank);

	if (part->ideal_s)
		return part->ideal_s[end] - part->ideal_s[begin];
	return chain_both(part->chain, begin, end);
}

struct mixed_stage mixed_line_stage(const struct mixed_line *line, uint32_t rank,
				    uint32_t begin, uint32_t end)
{
	const struct mixed_part *part = part_at(line, rank);
	struct holding held = chain_held(part->chain, begin, end);
	struct mixed_stage stage = {
		.forward_s = chain_forward(part->chain, begin, end),
		.backward_s = chain_backward(part->chain, begin, end),
		.memory_bytes = partition_stage_memory(&part->partition, rank,
						       begin, end),
	};

	stage.reduce_s = partition_reduce(&part->partition, 0, held,
					  stage.backward_s);
	stage.step_s = partition_step(&part->partition, 0, held, stage.forward_s);
	return stage;
}

double mixed_line_transfer(const struct mixed_line *line, uint32_t rank,
			   uint32_t end)
{
	const struct network_line *boundary = &line->boundary[rank];

	if (end == line->length || line->part->ideal_s)
		return 0;
	return boundary->latency_s +
	       part_at(line, rank)->chain->output_bytes[end - 1] *
		       boundary->s_per_byte;
}

bool mixed_line_fits(const struct mixed_line *line, uint32_t rank,
		     uint32_t begin, uint32_t end)
{
	const struct partition *partition = &part_at(line, rank)->partition;

	return partition_fits(partition, partition_stage_memory(partition, rank,
								begin, end));
}

bool mixed_line_legal_end(const struct mixed_line *line, uint32_t rank,
			  uint32_t end)
{
	return !line->problem->uniform_stages ||
	       line->part->chain->blocks[end] == (rank + 1) * line->blocks_each;
}

bool mixed_line_excluded(const struct mixed_line *line, double time_s)
{
	const struct incumbent *incumbent = line->incumbent;

	if (!incumbent->found)
		return false;
	if (incumbent->time_only &&
	    time_s > incumbent->merit.objective[0] * (1 + 2 * TIE))
		return true;
	return partition_excluded(&line->part->partition, time_s, 0);
}

/* ---- the dynamic programs ---- */

/* Whether a stage may be part of a better plan, by memory and time alone. */
static bool stage_is_possible(struct mixed_line *line, uint32_t rank,
			      uint32_t begin, uint32_t end)
{
	double time = mixed_line_both(line, rank, begin, end);

	if (mixed_line_excluded(line, line->micro_batches * time)) {
		line->bounded = true;
		return false;
	}
	if (!mixed_line_fits(line, rank, begin, end)) {
		line->over_memory = true;
		return false;
	}
	return true;
}

/* The last end that a stage may have; more layers take longer and need more. */
static uint32_t longest_end(struct mixed_line *line, uint32_t rank, uint32_t begin)
{
	uint32_t behind = line->pipeline - 1 - rank;
	uint32_t low = begin, high = line->length - behind;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (stage_is_possible(line, rank, begin, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Fills one cell from the rank behind it. */
static void fill_cell(struct mixed_line *line, uint32_t rank, uint32_t begin)
{
	size_t width = (size_t)line->length + 1, at = rank * width + begin;
	const double *load_behind = &line->load_s[at + width - begin];
	const double *rest_behind = &line->rest_s[at + width - begin];
	uint32_t last = longest_end(line, rank, begin);
	uint32_t end = rank + 1 < line->pipeline ? begin + 1 : line->length;
	double m = line->micro_batches, load = INFINITY, rest = INFINITY;

	for (; end <= last; end++) {
		double time, both, own;

		if (isinf(load_behind[end]) ||
		    !mixed_line_legal_end(line, rank, end))
			continue;
		time = mixed_line_both(line, rank, begin, end);
		both = time + 2 * mixed_line_transfer(line, rank, end);
		own = most(m * time, both + load_behind[end]);
		if (both + rest_behind[end] < rest)
			rest = both + rest_behind[end];
		if (own < load) {
			load = own;
			line->best_end[at] = end;
		}
	}
	line->load_s[at] = load;
	line->rest_s[at] = rest;
}

/* As many micro-batches as there are ranks are under way at once, so each loop
 * through all of them admits that many more. */
static double bound_loops(const struct mixed_line *line)
{
	uint32_t loops = (line->micro_batches - 1) / line->pipeline;

	return line->rest_s[0] * (1 + loops);
}

bool mixed_line_bound(struct mixed_line *line)
{
	uint32_t p = line->pipeline, length = line->length;
	size_t width = (size_t)length + 1, cells = ((size_t)p + 1) * width;

	line->load_s = ARENA_ARRAY(line->scratch, double, cells);
	line->rest_s = ARENA_ARRAY(line->scratch, double, cells);
	line->best_end = ARENA_ARRAY(line->scratch, uint32_t, cells);
	for (uint32_t i = 0; i < length; i++)
		line->load_s[p * width + i] = line->rest_s[p * width + i] = INFINITY;
	line->load_s[p * width + length] = line->rest_s[p * width + length] = 0;
	for (uint32_t rank = p; rank-- > 0;)
		for (uint32_t i = 0; i <= length; i++) {
			bool possible = rank ? i >= rank &&
					       i + (p - rank) <= length : !i;

			line->load_s[rank * width + i] = INFINITY;
			line->rest_s[rank * width + i] = INFINITY;
			if (possible)
				fill_cell(line, rank, i);
		}
	line->low_s = most(line->load_s[0], bound_loops(line));
	return !isinf(line->low_s) || line->bounded;
}

/* ---- whole cuts ---- */

static uint32_t rank_of(const uint32_t *first, uint32_t position)
{
	uint32_t rank = 0;

	while (position >= first[rank + 1])
		rank++;
	return rank;
}

/* The exchange of a tied weight whose layers are on two ranks. */
static double exchange_between(const struct mixed_line *line, uint32_t a,
			       uint32_t b)
{
	const struct mixed_part *from = part_at(line, a), *to = part_at(line, b);
	double bytes = from->chain->tied_parameters *
		       from->problem->sync.reduce_bytes;
	struct network_line joint;
	double latency[2];

	if (from == to)
		return partition_exchange(&from->partition, a - from->first,
					  b - from->first);
	joint = mixed_joint(from->problem, &from->placed.placement, to->problem,
			    &to->placed.placement);
	latency[0] = from->problem->level[from->problem->level_count - 1].latency_s;
	latency[1] = to->problem->level[to->problem->level_count - 1].latency_s;
	if (line->choice.zero >= 2)
		bytes /= from->partition.share.shards;
	return most(latency[0], latency[1]) + joint.latency_s +
	       bytes * joint.s_per_byte;
}

/* Time of a cut; memory in *memory_bytes, INFINITY if a rank lacks some. */
static double time_of(struct mixed_line *line, const uint32_t *first,
		      double *memory_bytes)
{
	uint32_t p = line->pipeline, a = 0, b = 0;
	const struct chain *chain = line->part->chain;
	struct arena_mark mark = arena_mark(line->scratch);
	double *forward = ARENA_ARRAY(line->scratch, double, 4 * (size_t)p);
	double *backward = forward + p, *transfer = forward + 2 * (size_t)p;
	double *finish = forward + 3 * (size_t)p, end = 0, step = 0, exchange = 0;
	struct schedule_input input = {
		.shape = schedule_of(&line->choice),
		.forward_s = forward,
		.backward_s = backward,
		.transfer_s = transfer,
	};

	for (uint32_t k = 0; k < p; k++) {
		const struct chain *own = part_at(line, k)->chain;

		forward[k] = chain_forward(own, first[k], first[k + 1]);
		backward[k] = chain_backward(own, first[k], first[k + 1]);
		transfer[k] = mixed_line_transfer(line, k, first[k + 1]);
	}
	schedule_simulate(&input, line->scratch, finish);
	line->simulated++;
	if (chain->tied_last < chain->length) {
		a = rank_of(first, chain->tied_first);
		b = rank_of(first, chain->tied_last);
		exchange = a != b ? exchange_between(line, a, b) : 0;
	}
	*memory_bytes = 0;
	for (uint32_t k = 0; k < p; k++) {
		struct mixed_stage stage = mixed_line_stage(line, k, first[k],
							    first[k + 1]);

		if (!partition_fits(&part_at(line, k)->partition,
				    stage.memory_bytes))
			*memory_bytes = INFINITY;
		*memory_bytes = most(*memory_bytes, stage.memory_bytes);
		end = most(end, finish[k] + stage.reduce_s +
					(k == a || k == b ? exchange : 0));
		step = most(step, stage.step_s);
	}
	arena_rewind(line->scratch, mark);
	return end + step;
}

static void note_refusal(struct mixed_line *line, uint32_t requirement)
{
	line->over_requirement = true;
	if (line->failed_requirement == REQUIREMENT_NONE)
		line->failed_requirement = requirement;
	else if (line->failed_requirement != requirement)
		line->failed_requirement = REQUIREMENT_SEVERAL;
}

/* Requirements with the constants of every kind used. */
static bool requirements_hold(struct mixed_line *line,
			      const struct predicate_input *input)
{
	for (uint32_t i = 0; i < line->part_count; i++) {
		const struct problem *kind = line->part[i].problem;

		for (uint32_t j = 0; j < kind->requirement_count; j++) {
			double value = predicate_evaluate(&kind->requirement[j],
							  input);

			if (value != 0 && !isnan(value))
				continue;
			note_refusal(line, j);
			return false;
		}
	}
	return true;
}

static bool offer(struct mixed_line *line, struct plan *plan)
{
	struct incumbent *incumbent = line->incumbent;
	struct arena_mark mark = arena_mark(line->scratch);
	struct predicate_input input = { .stage_layers = NULL };
	struct merit merit;
	bool legal = true;

	if (incumbent->outcomes || !incumbent->time_only) {
		mixed_price(line->problem, line->scratch, plan);
		price_variables(line->problem, plan, line->scratch, &input);
	}
	if (incumbent->outcomes)
		legal = requirements_hold(line, &input);
	if (legal) {
		line->feasible = true;
		plan_merit(incumbent, plan, &input, &merit);
		if (!incumbent_equals(incumbent, &merit))
			incumbent_offer(incumbent, plan, &merit);
	}
	arena_rewind(line->scratch, mark);
	return legal;
}

double mixed_line_try(struct mixed_line *line, const uint32_t *first)
{
	struct plan plan = {
		.choice = line->choice,
		.placement = line->part->placed.placement,
		.segment_count = line->part_count,
		.chunk_count = line->pipeline,
	};
	double time = time_of(line, first, &plan.memory_peak_bytes);
	struct arena_mark mark = arena_mark(line->scratch);
	bool legal;

	if (isinf(plan.memory_peak_bytes)) {
		line->over_memory = true;
		return INFINITY;
	}
	for (uint32_t i = 0; i < line->part_count; i++)
		plan.segment[i] = (struct segment){
			.kind = line->part[i].kind,
			.ranks = line->part[i].ranks,
			.placement = line->part[i].placed.placement,
		};
	plan.chunk_first = ARENA_ARRAY(line->scratch, uint32_t,
				       (size_t)line->pipeline + 1);
	memcpy(plan.chunk_first, first,
	       ((size_t)line->pipeline + 1) * sizeof(*first));
	plan.time_s = time;
	legal = offer(line, &plan);
	arena_rewind(line->scratch, mark);
	return legal ? time : INFINITY;
}

/* ---- seeds ---- */

bool mixed_line_is_over(const struct mixed_line *line)
{
	return line->deadline && deadline_passed(line->deadline);
}

/* Load and loops of doc/solver.md: no schedule of the cut ends before. */
static double cut_end_least(const struct mixed_line *line, const uint32_t *first)
{
	uint32_t p = line->pipeline, m = line->micro_batches;
	double whole_s = 0, loop_s = 0, before_s = 0, end_s = 0;

	for (uint32_t k = 0; k < p; k++) {
		double time_s = mixed_line_both(line, k, first[k], first[k + 1]);

		end_s = most(end_s, whole_s + m * time_s);
		whole_s += time_s + 2 * mixed_line_transfer(line, k, first[k + 1]);
	}
	for (uint32_t k = 0; k < p; k++) {
		loop_s = whole_s - before_s;
		end_s = most(end_s, whole_s + (m - 1) / (p - k) * loop_s);
		before_s += mixed_line_both(line, k, first[k], first[k + 1]) +
			    2 * mixed_line_transfer(line, k, first[k + 1]);
	}
	return end_s;
}

static bool step_is_possible(const struct mixed_line *line,
			     const uint32_t *first, uint32_t k, int step)
{
	if (step > 0 ? first[k] + 1 >= first[k + 1] : first[k] - 1 <= first[k - 1])
		return false;
	return mixed_line_legal_end(line, k - 1, first[k] + (uint32_t)step);
}

/* Moves single layers between neighbours while that helps. */
static void climb(struct mixed_line *line, uint32_t *first, double time)
{
	bool better = true;
	uint64_t stop = line->simulated + 20 * (uint64_t)line->pipeline;

	while (better && line->simulated < stop) {
		better = false;
		for (uint32_t k = 1; k < line->pipeline; k++)
			for (int step = -1; step <= 1; step += 2) {
				double other;

				if (!step_is_possible(line, first, k, step))
					continue;
				if (mixed_line_is_over(line))
					return;
				first[k] += (uint32_t)step;
				other = cut_end_least(line, first);
				if (other < time * (1 + 1e-9))
					other = mixed_line_try(line, first);
				if (other < time * (1 - TIE)) {
					time = other;
					better = true;
				} else {
					first[k] -= (uint32_t)step;
				}
			}
	}
}

void mixed_line_seed(struct mixed_line *line)
{
	struct arena_mark mark = arena_mark(line->scratch);
	uint32_t p = line->pipeline;
	uint32_t *first = ARENA_ARRAY(line->scratch, uint32_t, (size_t)p + 1);

	if (isinf(line->load_s[0]))
		return;
	for (uint32_t k = 0; k < p; k++)
		first[k + 1] = line->best_end[k * ((size_t)line->length + 1) +
					      first[k]];
	climb(line, first, mixed_line_try(line, first));
	arena_rewind(line->scratch, mark);
}

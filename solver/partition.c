/* SPDX-License-Identifier: MIT
 *
 * What a given cut of the chain costs, computed from prefix sums.
 */
#include "solver/partition.h"

#include <math.h>

#include "solver/even.h"
#include <string.h>

#include "solver/bound.h"
#include "solver/price.h"
#include "solver/schedule.h"

static double most(double a, double b)
{
	return a > b ? a : b;
}

static void init_sizes(struct partition *partition)
{
	const struct problem *problem = partition->problem;
	const struct problem_memory *memory = &problem->memory;
	const struct choice *choice = partition->choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	uint32_t context = shape->context;
	uint32_t groups;

	partition->replicas = (double)choice->data * context;
	groups = (shape->tensor > 1) + (context > 1) + (partition->replicas > 1) +
		 (choice->pipeline > 1);
	partition->parameter_bytes =
		memory->weight_bytes + memory->gradient_bytes +
		memory->optimizer_bytes /
			(choice->zero > 0 ? partition->replicas : 1);
	partition->reserve_bytes =
		memory->reserve_bytes + groups * memory->group_bytes;
	if (problem->sync.step_bytes > 0)
		partition->step_s = problem->sync.step_bytes /
				    (choice->zero > 0 ? partition->replicas : 1) /
				    problem->sync.memory_bandwidth_Bps;
	if (problem->uniform_stages)
		partition->blocks_each = partition->incumbent->block_count /
					 partition->chunks;
}

static void init_transfers(struct partition *partition)
{
	const struct placed *placed = partition->placed;
	uint32_t chunks = partition->chunks;

	partition->transfer_rest_s[chunks - 1] = 0;
	for (uint32_t i = chunks - 1; i-- > 0;) {
		const struct network_line *line =
			&placed->transfer[placed->boundary_level
						  [i % partition->pipeline]];

		partition->transfer_least_s[i] =
			line->latency_s +
			partition->chain->output_least_bytes * line->s_per_byte;
		partition->transfer_rest_s[i] = partition->transfer_rest_s[i + 1] +
						partition->transfer_least_s[i];
	}
}

void partition_init(struct partition *partition, const struct problem *problem,
		    const struct choice *choice, const struct placed *placed,
		    const struct chain *chain, struct incumbent *incumbent,
		    struct arena *scratch)
{
	uint32_t chunks = choice->pipeline * choice->virtual_stages;
	double *room = ARENA_ARRAY(scratch, double, 7 * (size_t)chunks);

	*partition = (struct partition){
		.problem = problem,
		.choice = choice,
		.placed = placed,
		.chain = chain,
		.incumbent = incumbent,
		.scratch = scratch,
		.pipeline = choice->pipeline,
		.virtual_stages = choice->virtual_stages,
		.micro_batches = choice->micro_batches,
		.chunks = chunks,
		.transfer_least_s = room,
		.transfer_rest_s = room + chunks,
		.forward_s = room + 2 * (size_t)chunks,
		.backward_s = room + 3 * (size_t)chunks,
		.transfer_s = room + 4 * (size_t)chunks,
		.saved_bytes = room + 5 * (size_t)chunks,
		.finish_s = room + 6 * (size_t)chunks,
		.best_first = ARENA_ARRAY(scratch, uint32_t, (size_t)chunks + 1),
		.best_s = INFINITY,
		.failed_requirement = REQUIREMENT_NONE,
		.complete = true,
	};
	init_sizes(partition);
	init_transfers(partition);
}

double partition_stage_memory(const struct partition *partition, uint32_t rank,
			      uint32_t begin, uint32_t end)
{
	const struct chain *chain = partition->chain;
	uint32_t kept = partition->pipeline - rank;

	if (kept > partition->micro_batches)
		kept = partition->micro_batches;
	return chain_parameters(chain, begin, end) * partition->parameter_bytes +
	       chain_saved(chain, begin, end) * kept +
	       chain_working(chain, begin, end) + partition->reserve_bytes;
}

double partition_reduce(const struct partition *partition, double parameters,
			double backward_s)
{
	const struct problem_sync *sync = &partition->problem->sync;
	double reduce = network_time(&partition->placed->replicas,
				     partition->choice->zero > 0 ?
					     COLLECTIVE_REDUCE_SCATTER :
					     COLLECTIVE_ALL_REDUCE,
				     parameters * sync->reduce_bytes, NULL);

	return most(0, reduce - (sync->overlap_reduce ? backward_s : 0));
}

double partition_step(const struct partition *partition, double parameters,
		      double forward_s)
{
	const struct problem_sync *sync = &partition->problem->sync;
	double step = parameters * partition->step_s;
	double gather;

	if (!partition->choice->zero)
		return step;
	gather = network_time(&partition->placed->replicas, COLLECTIVE_ALL_GATHER,
			      parameters * sync->gather_bytes, NULL);
	return step + most(0, gather - (sync->overlap_gather ? forward_s : 0));
}

double partition_exchange(const struct partition *partition, uint32_t a,
			  uint32_t b)
{
	const struct problem *problem = partition->problem;
	uint32_t level = network_pipeline_level(
		problem, &partition->placed->placement, a, b);
	const struct network_line *line = &partition->placed->transfer[level];

	return 2 * line->latency_s +
	       partition->chain->tied_parameters * problem->sync.reduce_bytes *
		       line->s_per_byte;
}

bool partition_excluded(const struct partition *partition, double time_s,
			double memory_bytes)
{
	struct outlook outlook = {
		.choice = partition->choice,
		.known = OUTLOOK_ALL,
		.time_s = time_s,
		.memory_bytes = memory_bytes,
	};
	struct merit bound;

	if (!partition->incumbent->found)
		return false;
	if (partition->incumbent->time_only &&
	    time_s < partition->incumbent->merit.objective[0] * (1 - 2 * TIE))
		return false;
	outlook_merit(partition->incumbent, &outlook, &bound);
	return incumbent_excludes(partition->incumbent, &bound);
}

/* The rank that holds the layer at a position. */
static uint32_t rank_of(const struct partition *partition, const uint32_t *first,
			uint32_t position)
{
	uint32_t low = 0, high = partition->chunks;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (first[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	return low % partition->pipeline;
}

/* One rank's numbers under a cut. */
struct rank_sum {
	double parameters, forward_s, backward_s, memory_bytes;
};

static struct rank_sum sum_rank(struct partition *partition,
				const uint32_t *first, uint32_t rank)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, v = partition->virtual_stages;
	double *saved = partition->saved_bytes;
	struct rank_sum sum = { 0 };
	double working = 0;

	for (uint32_t c = 0; c < v; c++) {
		uint32_t begin = first[c * p + rank], end = first[c * p + rank + 1];

		sum.parameters += chain->parameters[end] - chain->parameters[begin];
		sum.forward_s += chain_forward(chain, begin, end);
		sum.backward_s += chain_backward(chain, begin, end);
		working = most(working, chain_working(chain, begin, end));
		saved[c] = chain_saved(chain, begin, end);
	}
	sum.memory_bytes = schedule_peak_bytes(p, v, partition->micro_batches, rank,
					       saved) +
			   working + partition->reserve_bytes;
	return sum;
}

/* Fills forward, backward, transfer by chunk and simulates. */
static void simulate(struct partition *partition, const uint32_t *first)
{
	struct schedule_input input = {
		.pipeline = partition->pipeline,
		.virtual_stages = partition->virtual_stages,
		.micro_batches = partition->micro_batches,
		.forward_s = partition->forward_s,
		.backward_s = partition->backward_s,
		.transfer_s = partition->transfer_s,
	};

	for (uint32_t c = 0; c < partition->chunks; c++) {
		partition->forward_s[c] =
			chain_forward(partition->chain, first[c], first[c + 1]);
		partition->backward_s[c] =
			chain_backward(partition->chain, first[c], first[c + 1]);
		partition->transfer_s[c] =
			partition_transfer(partition, c, first[c + 1]);
	}
	schedule_simulate(&input, partition->scratch, partition->finish_s);
	partition->simulated++;
}

static void evaluate(struct partition *partition, struct cut *cut)
{
	const struct chain *chain = partition->chain;
	bool tied = chain->tied_last < chain->length;
	uint32_t a = 0, b = 0;
	double exchange = 0, end = 0, step = 0;

	simulate(partition, cut->first);
	if (tied) {
		a = rank_of(partition, cut->first, chain->tied_first);
		b = rank_of(partition, cut->first, chain->tied_last);
		exchange = a != b ? partition_exchange(partition, a, b) : 0;
	}
	cut->memory_bytes = 0;
	for (uint32_t k = 0; k < partition->pipeline; k++) {
		struct rank_sum sum = sum_rank(partition, cut->first, k);
		double finish = partition->finish_s[k];

		if (tied && a == b && k == a)
			sum.parameters -= chain->tied_parameters;
		if (tied && a != b && (k == a || k == b))
			finish += exchange;
		cut->memory_bytes = most(cut->memory_bytes,
					 sum.memory_bytes +
						 sum.parameters *
							 partition->parameter_bytes);
		end = most(end, finish + partition_reduce(partition, sum.parameters,
							  sum.backward_s));
		step = most(step, partition_step(partition, sum.parameters,
						 sum.forward_s));
	}
	cut->time_s = end + step;
}

void partition_refuse(struct partition *partition, uint32_t requirement)
{
	partition->over_requirement = true;
	if (partition->failed_requirement == REQUIREMENT_NONE)
		partition->failed_requirement = requirement;
	else if (partition->failed_requirement != requirement)
		partition->failed_requirement = REQUIREMENT_SEVERAL;
}

/* Requirements on outcomes; the failing one is noted. */
static bool check_requirements(struct partition *partition,
			       const struct predicate_input *input)
{
	const struct problem *problem = partition->problem;
	uint32_t failed = REQUIREMENT_NONE;

	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		const struct predicate *requirement = &problem->requirement[i];
		double value = predicate_evaluate(requirement, input);

		if (value != 0 && !isnan(value))
			continue;
		failed = failed == REQUIREMENT_NONE ? i : REQUIREMENT_SEVERAL;
	}
	if (failed != REQUIREMENT_NONE)
		partition_refuse(partition, failed);
	return failed == REQUIREMENT_NONE;
}

static bool cut_is_uniform(const struct partition *partition,
			   const uint32_t *first)
{
	const uint32_t *blocks = partition->chain->blocks;

	for (uint32_t c = 0; c < partition->chunks; c++)
		if (blocks[first[c + 1]] - blocks[first[c]] !=
		    partition->blocks_each)
			return false;
	return true;
}

static bool offer(struct partition *partition, struct plan *plan)
{
	struct incumbent *incumbent = partition->incumbent;
	struct arena_mark mark = arena_mark(partition->scratch);
	struct predicate_input input = { .stage_layers = NULL };
	struct merit merit;
	bool legal = true;

	if (incumbent->outcomes || !incumbent->time_only) {
		price_plan(partition->problem, partition->scratch, plan);
		price_variables(partition->problem, plan, partition->scratch,
				&input);
	}
	if (incumbent->outcomes)
		legal = check_requirements(partition, &input);
	if (legal) {
		partition->feasible = true;
		plan_merit(incumbent, plan, &input, &merit);
		incumbent_offer(incumbent, plan, &merit);
	}
	arena_rewind(partition->scratch, mark);
	return legal;
}

bool partition_try(struct partition *partition, struct cut *cut)
{
	struct plan plan = {
		.choice = *partition->choice,
		.placement = partition->placed->placement,
		.chunk_count = partition->chunks,
		.chunk_first = cut->first,
	};

	if ((partition->problem->uniform_stages &&
	     !cut_is_uniform(partition, cut->first)) ||
	    (partition->virtual_stages > 1 &&
	     !even_cut(partition->chain->blocks, cut->first, partition->chunks))) {
		cut->time_s = INFINITY;
		return false;
	}
	evaluate(partition, cut);
	if (!partition_fits(partition, cut->memory_bytes)) {
		partition->over_memory = true;
		return false;
	}
	plan.time_s = cut->time_s;
	plan.memory_peak_bytes = cut->memory_bytes;
	if (!offer(partition, &plan))
		return false;
	if (cut->time_s < partition->best_s) {
		partition->best_s = cut->time_s;
		memcpy(partition->best_first, cut->first,
		       (partition->chunks + 1) * sizeof(*cut->first));
	}
	return true;
}

static double mean_step(const struct partition *partition)
{
	const struct chain *chain = partition->chain;
	double parameters = chain->parameters[chain->length];

	if (chain->tied_last < chain->length)
		parameters -= chain->tied_parameters;
	return parameters / partition->pipeline * partition->step_s;
}

/* 1F1B: loops over all stages, the rest in one loop over the last ones, which
 * hold at least the last layers. */
static double bound_plain(const struct partition *partition)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, m = partition->micro_batches;
	uint32_t loops = (m - 1) / p, rest = (m - 1) % p, length = chain->length;
	double all = chain_both(chain, 0, length);
	double whole = all + 2 * partition->transfer_rest_s[0];
	double span = bound_loop(whole, whole, p, m,
				 most(chain->layer_most_s, all / p),
				 most(chain->half_most_s, all / p / 2));

	if (rest)
		span = most(span, whole + loops * whole +
					  chain_both(chain, length - rest, length) +
					  2 * partition->transfer_rest_s[p - rest]);
	return span;
}

bool partition_chain_is_plain(const struct chain *chain)
{
	return chain->length > 2 && !chain->deal.spare && chain->deal.unit_s > 0 &&
	       chain->blocks[chain->length - 1] - chain->blocks[1] ==
		       chain->length - 2;
}

/* Interleaved: the first k chunks, forward and back, take at least so long. */
static double least_before(const struct partition *partition, uint32_t k)
{
	const struct chain *chain = partition->chain;
	uint32_t inner;

	if (k < 2 || !partition_chain_is_plain(chain))
		return chain_both(chain, 0, k);
	inner = even_least(chain->blocks[chain->length], partition->chunks, k - 1);
	return chain_both(chain, 0, 1 + (inner > k - 1 ? inner : k - 1));
}

/* Interleaved: what each device must wait for and do, layers in whole numbers. */
static void limits_interleaved(const struct partition *partition,
			       struct deal_limits *limits)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline;
	double *entry = partition->finish_s, *units = partition->saved_bytes;
	double after = 0;

	*limits = (struct deal_limits){
		.pipeline = p,
		.chunks = partition->virtual_stages,
		.micro_batches = partition->micro_batches,
		.entry_s = entry,
		.units_most = units,
	};
	for (uint32_t k = 0; k < p; k++) {
		entry[k] = least_before(partition, k) + after;
		after += 2 * partition->transfer_least_s[k];
	}
	bound_units(chain, partition->choice, partition->parameter_bytes,
		    partition->reserve_bytes, units);
}

static double bound_interleaved(const struct partition *partition,
				const struct deal_limits *limits)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, m = partition->micro_batches;
	double all = chain_both(chain, 0, chain->length), sum = m * all;

	for (uint32_t k = 0; k < p; k++)
		sum += limits->entry_s[k];
	return most(most(sum / p, bound_deal_end(&chain->deal, limits)),
		    all + 2 * partition->transfer_rest_s[0] +
			    (m - 1) * most(chain->half_most_s,
					   all / partition->chunks / 2));
}

/* Exposed gradient reduction of the first device when it holds the first layer
 * and so many of the frequent kind. */
static double first_reduce(const struct partition *partition, double units)
{
	const struct chain *chain = partition->chain;
	uint32_t unit = 1;		/* position of one of that kind */

	return partition_reduce(partition,
		chain->parameters[1] + units * (chain->parameters[unit + 1] -
						chain->parameters[unit]),
		chain_backward(chain, 0, 1) +
		units * chain_backward(chain, unit, unit + 1));
}

/* Every path behind an end is over on the first device, which then reduces its
 * gradients: fewer layers there mean a shorter reduction, but more work for the
 * others. Only for chains of a first layer, equal layers and a last one. */
static double bound_first_reduce(const struct partition *partition,
				 struct deal_limits *limits, double span)
{
	const struct deal *deal = &partition->chain->deal;
	double *units = partition->saved_bytes, most_units = units[0];
	double fit = deal_units_by(deal, limits, 0, span), best, beyond;
	double least = limits->chunks - 1;

	if (fit > deal->units)
		fit = deal->units;
	if (fit > most_units)
		fit = most_units;
	best = span + first_reduce(partition, fit);
	beyond = most(span, deal_end_with(deal, limits, 0, fit + 1)) +
		 first_reduce(partition, fit + 1);
	if (beyond < best)
		best = beyond;
	for (double few = fit - 1; few >= least; few--) {
		double end;

		units[0] = few;
		end = most(span, bound_deal_end(deal, limits));
		if (end + first_reduce(partition, few) < best)
			best = end + first_reduce(partition, few);
		if (end >= best)
			break;
	}
	units[0] = most_units;
	return best;
}

/* The first micro-batch goes forward through every chunk up to the last one of
 * device k, which then does all of its operations but those before and after,
 * and the last micro-batch comes back through the same chunks:
 *	both ways through these chunks + (m - p) load + (p - 1) that last chunk.
 * The last chunk holds any number of blocks beside the chain's last layer; where it
 * has fewer than an inner chunk, the chunk before it counts. Sets low_s to the
 * least over these numbers. */
static void bound_through(struct partition *partition, struct deal_limits *limits)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, length = chain->length;
	uint32_t inner = even_least(chain->blocks[length], partition->chunks, 1);
	double head = chain_both(chain, length - 1, length);
	double all = chain_both(chain, 0, length) +
		     2 * partition->transfer_rest_s[0];
	double unit = chain->deal.unit_s, low = INFINITY;
	double *through = partition->forward_s;	/* room for p chunks and more */

	inner = inner ? inner : 1;
	for (uint32_t blocks = 0; blocks <= inner; blocks++) {
		double span;

		for (uint32_t k = 0; k < p; k++)
			through[k] = 0;
		through[p - 1] = all + (p - 1) * (head + blocks * unit);
		if (blocks < inner)
			through[p - 2] = all - head - blocks * unit +
				(p - 1) * inner * unit -
				2 * partition->transfer_least_s[partition->chunks - 2];
		limits->through_s = through;
		span = most(partition->span_s, bound_deal_end(&chain->deal, limits));
		if (!isinf(span))
			span = bound_first_reduce(partition, limits, span);
		if (span < low)
			low = span;
	}
	limits->through_s = NULL;
	partition->low_s = low;
}

void partition_bound(struct partition *partition)
{
	struct deal_limits limits;

	if (partition->virtual_stages == 1) {
		partition->span_s = bound_plain(partition);
		partition->low_s = partition->span_s;
	} else {
		limits_interleaved(partition, &limits);
		partition->span_s = bound_interleaved(partition, &limits);
		partition->low_s = partition->span_s;
		if (!isinf(partition->span_s) &&
		    partition_chain_is_plain(partition->chain))
			bound_through(partition, &limits);
	}
	partition->low_s += mean_step(partition);
}

/* SPDX-License-Identifier: MIT
 *
 * What a given cut of the chain costs, computed from prefix sums.
 */
#include "solver/partition.h"

#include <math.h>
#include <string.h>

#include "solver/even.h"
#include "solver/price.h"
#include "solver/schedule.h"
#include "solver/most.h"

static void init_sizes(struct partition *partition)
{
	const struct problem *problem = partition->problem;

	partition->share = share_of(
		problem, partition->choice,
		partition->placed->sharding[partition->choice->shard_level]);
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
	partition->whole_s =
		chain_least_both(partition->chain, 0, partition->chain->length) +
		2 * partition->transfer_rest_s[0];
}

void partition_init(struct partition *partition, const struct problem *problem,
		    const struct choice *choice, const struct placed *placed,
		    const struct chain *chain, struct incumbent *incumbent,
		    struct arena *scratch)
{
	size_t p = choice->pipeline, chunks = p * choice->virtual_stages;
	double *room = ARENA_ARRAY(scratch, double, 2 * chunks + 4 * p);

	*partition = (struct partition){
		.problem = problem,
		.choice = choice,
		.placed = placed,
		.chain = chain,
		.incumbent = incumbent,
		.scratch = scratch,
		.schedule = schedule_of(choice),
		.pipeline = choice->pipeline,
		.virtual_stages = choice->virtual_stages,
		.micro_batches = choice->micro_batches,
		.chunks = (uint32_t)chunks,
		.gpipe = choice->schedule == SCHEDULE_GPIPE,
		.transfer_least_s = room,
		.transfer_rest_s = room + chunks,
		.forward_s = room + 2 * chunks,
		.saved_bytes = room + 2 * chunks + p,
		.finish_s = room + 2 * chunks + 2 * p,
		.backward_s = room + 2 * chunks + 3 * p,
		.best_s = INFINITY,
		.blocks_most = chain->blocks[chain->length],
		.failed_requirement = REQUIREMENT_NONE,
		.complete = true,
	};
	init_sizes(partition);
	init_transfers(partition);
}

void partition_room(struct partition *partition)
{
	size_t chunks = partition->chunks;
	double *room = ARENA_ARRAY(partition->scratch, double, 5 * chunks);

	partition->forward_s = room;
	partition->backward_s = room + chunks;
	partition->transfer_s = room + 2 * chunks;
	partition->saved_bytes = room + 3 * chunks;
	partition->finish_s = room + 4 * chunks;
	partition->best_first = ARENA_ARRAY(partition->scratch, uint32_t,
					    chunks + 1);
}

double partition_stage_memory(const struct partition *partition, uint32_t rank,
			      uint32_t begin, uint32_t end)
{
	const struct chain *chain = partition->chain;
	double kept = schedule_least_kept(&partition->schedule, rank);
	struct moving moving = { 0 };

	chain_moving(chain, &partition->share, begin, end, &moving);
	return share_bytes(&partition->share, chain_held(chain, begin, end)) +
	       chain_saved(chain, begin, end) * kept +
	       chain_working(chain, begin, end) + moving.first + moving.second +
	       partition->share.reserve_bytes;
}

double partition_least_memory(const struct partition *partition, uint32_t rank,
			      uint32_t begin, uint32_t end)
{
	const struct chain *chain = partition->chain;
	struct moving moving = { 0 };
	double kept;

	if (chain->monotone)
		return partition_stage_memory(partition, rank, begin, end);
	kept = schedule_least_kept(&partition->schedule, rank);
	chain_moving(chain, &partition->share, begin, end, &moving);
	return share_bytes(&partition->share, chain_held(chain, begin, end)) +
	       chain_least_saved(chain, begin, end) * kept +
	       chain_least_working(chain, begin, end) + moving.first +
	       moving.second + partition->share.reserve_bytes;
}

/* No chunk has more than blocks_most blocks, and each recomputes its first ones. */
double partition_rest(const struct partition *partition, uint32_t begin)
{
	const struct chain *chain = partition->chain;
	uint32_t cap = partition->blocks_most, blocks, heads, last;

	if (!chain->partial || !cap)
		return chain_least_both(chain, begin, chain->length);
	blocks = chain->blocks[chain->length] - chain->blocks[begin];
	heads = chain->recompute_layers < cap ? chain->recompute_layers : cap;
	last = blocks % cap < heads ? blocks % cap : heads;
	return chain_floor_both(chain, begin, chain->length) +
	       (blocks / cap * heads + last) * chain->extra_s;
}

double partition_stage_end(const struct partition *partition, double prefix_s,
			   double stage_s)
{
	if (partition->gpipe)
		return partition->whole_s +
		       (partition->micro_batches - 1) * stage_s;
	return prefix_s + partition->micro_batches * stage_s;
}

static const struct sharding *sharding_of_cut(const struct partition *partition)
{
	return partition->placed->sharding[partition->choice->shard_level];
}

static const struct sharding *sharding_of_rank(const struct partition *partition,
					       uint32_t rank)
{
	const struct placed *placed = partition->placed;

	if (placed->slow && placed->slow[rank])
		return placed->slow_sharding[partition->choice->shard_level];
	return sharding_of_cut(partition);
}

static double reduce_left(const struct partition *partition,
			  const struct sharding *sharding, struct holding held,
			  double backward_s)
{
	const struct problem_sync *sync = &partition->problem->sync;
	double reduce = shard_reduce_s(sharding, partition->choice->zero,
				       held.parameters * sync->reduce_bytes,
				       held.experts * sync->reduce_bytes);

	return reduce - (sync->overlap_reduce ? backward_s : 0);
}

static double gather_left(const struct partition *partition,
			  const struct sharding *sharding, struct holding held,
			  double forward_s)
{
	const struct problem_sync *sync = &partition->problem->sync;
	double gather = shard_gather_s(sharding, partition->choice->zero,
				       held.parameters * sync->gather_bytes,
				       held.experts * sync->gather_bytes);

	return gather - (sync->overlap_gather ? forward_s : 0);
}

double partition_reduce_left(const struct partition *partition,
			     struct holding held, double backward_s)
{
	return reduce_left(partition, sharding_of_cut(partition), held,
			   backward_s);
}

double partition_gather_left(const struct partition *partition,
			     struct holding held, double forward_s)
{
	return gather_left(partition, sharding_of_cut(partition), held,
			   forward_s);
}

double partition_reduce(const struct partition *partition, uint32_t rank,
			struct holding held, double backward_s)
{
	return most(0, reduce_left(partition, sharding_of_rank(partition, rank),
				   held, backward_s));
}

double partition_step(const struct partition *partition, uint32_t rank,
		      struct holding held, double forward_s)
{
	return share_step(&partition->share, held) +
	       most(0, gather_left(partition, sharding_of_rank(partition, rank),
				   held, forward_s));
}

double partition_exchange(const struct partition *partition, uint32_t a,
			  uint32_t b)
{
	const struct problem *problem = partition->problem;
	uint32_t level = placement_pipeline_level(problem, partition->placed,
						  a, b);
	const struct network_line *line = &partition->placed->transfer[level];
	double shards = partition->choice->zero > 1 ? partition->share.shards : 1;

	return problem->level[level].latency_s + line->latency_s +
	       partition->chain->tied_parameters / shards *
		       problem->sync.reduce_bytes * line->s_per_byte;
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
	struct holding held;
	double forward_s, backward_s, memory_bytes;
};

/* Less the transfers that keep an uplink from the exchange: see price.h. */
static void subtract_transfers(const struct partition *partition, uint32_t rank,
			       struct rank_sum *sum)
{
	const uint8_t *level = partition->placed->boundary_level;
	uint32_t p = partition->pipeline;

	if (!partition->placed->replicas_leave)
		return;
	for (uint32_t c = rank; c < partition->chunks; c += p) {
		if (c + 1 < partition->chunks && level[rank])
			sum->forward_s -= partition->transfer_s[c];
		if (c && level[(c - 1) % p])
			sum->backward_s -= partition->transfer_s[c - 1];
	}
	sum->forward_s = most(0, sum->forward_s);
	sum->backward_s = most(0, sum->backward_s);
}

static struct rank_sum sum_rank(struct partition *partition,
				const uint32_t *first, uint32_t rank)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, v = partition->virtual_stages;
	double *saved = partition->saved_bytes;
	struct chain_sum sum = { .working_bytes = 0 };

	for (uint32_t c = 0; c < v; c++) {
		uint32_t begin = first[c * p + rank], end = first[c * p + rank + 1];

		chain_sum_add(chain, &partition->share, begin, end, &sum);
		saved[c] = chain_saved(chain, begin, end);
	}
	return (struct rank_sum){
		.held = sum.held,
		.forward_s = sum.forward_s,
		.backward_s = sum.backward_s,
		.memory_bytes = schedule_peak_bytes(&partition->schedule, rank,
						    saved) +
				sum.working_bytes + sum.moving.first +
				sum.moving.second + partition->share.reserve_bytes,
	};
}

/* Fills forward, backward, transfer by chunk and simulates. */
static void simulate(struct partition *partition, const uint32_t *first)
{
	struct schedule_input input = {
		.shape = partition->schedule,
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

/* A weight that two layers share, under a cut. */
struct tied {
	bool any;			/* there is one */
	uint32_t a, b;			/* ranks of its layers */
};

static struct tied find_tie(const struct partition *partition,
			   const uint32_t *first)
{
	const struct chain *chain = partition->chain;

	if (chain->tied_last >= chain->length)
		return (struct tied){ .any = false };
	return (struct tied){
		.any = true,
		.a = rank_of(partition, first, chain->tied_first),
		.b = rank_of(partition, first, chain->tied_last),
	};
}

/* Sums up every rank, and returns what the fullest holds. */
static double sum_ranks(struct partition *partition, const uint32_t *first,
			const struct tied *tie, struct rank_sum *sum)
{
	double bytes = 0;

	for (uint32_t k = 0; k < partition->pipeline; k++) {
		sum[k] = sum_rank(partition, first, k);
		if (tie->any && tie->a == tie->b && k == tie->a)
			sum[k].held.parameters -= partition->chain->tied_parameters;
		bytes = most(bytes, sum[k].memory_bytes +
					    share_bytes(&partition->share,
							sum[k].held));
	}
	return bytes;
}

static double time_of(struct partition *partition, const uint32_t *first,
		      const struct tied *tie, struct rank_sum *sum)
{
	double exchange = 0, end = 0, step = 0;

	simulate(partition, first);
	if (tie->any && tie->a != tie->b)
		exchange = partition_exchange(partition, tie->a, tie->b);
	for (uint32_t k = 0; k < partition->pipeline; k++) {
		double finish = partition->finish_s[k];

		subtract_transfers(partition, k, &sum[k]);
		if (tie->any && (k == tie->a || k == tie->b))
			finish += exchange;
		end = most(end, finish + partition_reduce(partition, k, sum[k].held,
							  sum[k].backward_s));
		step = most(step, partition_step(partition, k, sum[k].held,
						 sum[k].forward_s));
	}
	return end + step;
}

/* What does not fit is not simulated. */
static bool evaluate(struct partition *partition, struct cut *cut)
{
	struct arena_mark mark = arena_mark(partition->scratch);
	struct rank_sum *sum = ARENA_ARRAY(partition->scratch, struct rank_sum,
					   partition->pipeline);
	struct tied tie = find_tie(partition, cut->first);
	bool fits;

	cut->memory_bytes = sum_ranks(partition, cut->first, &tie, sum);
	fits = partition_fits(partition, cut->memory_bytes);
	cut->time_s = fits ? time_of(partition, cut->first, &tie, sum) : INFINITY;
	arena_rewind(partition->scratch, mark);
	return fits;
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
	if (!evaluate(partition, cut)) {
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

bool partition_chain_is_plain(const struct chain *chain)
{
	return chain_is_plain(chain) && chain->deal.unit_s > 0;
}

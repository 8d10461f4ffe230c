/* SPDX-License-Identifier: MIT
 *
 * Depth-first branch and bound over cuts: chunk by chunk from the first layer,
 * sizes nearest to a balanced load first. doc/solver.md proves the bounds.
 */
#include <math.h>
#include <string.h>

#include "solver/bound.h"
#include "solver/even.h"
#include "solver/partition.h"
#include "solver/schedule.h"
#include "solver/most.h"

/* How far back loops between assigned stages are looked for. */
#define LOOP_REACH 64

/* Nodes looked at per simulation allowed. */
/* Looking at one chunk takes about as long as 1 / (2 pipeline) of a simulation:
 * the memory of a device is that of its whole schedule. */
#define NODES_PER_SIMULATION(pipeline) (2 * (pipeline))

/* Simulations allowed, as many times the chunks, before cuts are looked for that are good
 * in another way than the seeds. */
#define EFFORT_OF_RUNS 8

/* What the chunks before a depth have come to. */
struct sums {
	uint32_t begin;			/* first layer of the chunk of this depth */
	double prefix_s;		/* forward, backward and two transfers of each chunk */
	double forward_prefix_s;	/* forward and one transfer */
	double entry_sum_s;		/* prefix_s of every device's first chunk, added up */
	double span_s;			/* no schedule ends before */
	double first_reduce_s;		/* exposed reduction of rank 0 */
	double end_s;			/* no finish + exposed reduction below */
	double step_s;			/* no step + exposed gather below */
	double chunk_most_s;		/* largest forward + backward of a chunk */
	double half_most_s;		/* largest forward or backward of a chunk */
	double forward_most_s;		/* and of each for itself */
	double backward_most_s;
	double memory_bytes;
	double low_s;			/* no cut that begins so is faster */
	/* Interleaved, see bound_paths: longest ways to the chunk of this depth. */
	double forward_path_s, backward_path_s;
	double exit_path_s;		/* of the last row, */
	double stay_path_s;
	double heaviest_s;		/* most that a device does between them */
	struct even even;		/* interleaved: of the chunks so far */
};

/* A rank's holdings so far. */
struct rank {
	struct holding held;
	double forward_s, backward_s, working_bytes;
	struct moving moving;
	double entry_s;			/* prefix_s of its first chunk */
	double forward_entry_s;		/* forward_prefix_s of its first chunk */
	double first_forward_s;		/* forward of its first chunk */
	double forward_dwell_s;		/* longest ways to its next chunk that do a */
	double backward_dwell_s;	/*   group of micro-batches of this one */
	uint32_t blocks;
};

struct frame {
	struct sums sums;
	struct rank rank_before;	/* of the chunk's rank, to go back to */
	uint32_t up, down;		/* next ends to try in both directions */
	bool up_open, down_open, turn_down;
};

struct search {
	struct partition *partition;
	const struct chain *chain;
	uint32_t pipeline, virtual_stages, micro_batches, chunks;
	struct frame *frame;		/* by depth */
	struct rank *rank;
	double *saved_bytes;		/* by rank and chunk of it */
	struct cut cut;
	uint64_t nodes;
	struct range_input ranges;	/* requirements on outcomes */
	struct range *layers;		/* by rank */
};

enum verdict {
	VERDICT_OPEN,
	VERDICT_EXCLUDED,
	VERDICT_TOO_LONG,		/* and so is every longer chunk */
	VERDICT_TOO_SHORT		/* and so is every shorter chunk */
};

static bool excluded(const struct search *search, double time_s)
{
	return partition_excluded(search->partition, time_s, 0);
}

static void search_init(struct search *search, struct partition *partition)
{
	struct arena *arena = partition->scratch;
	uint32_t p = partition->pipeline, chunks = partition->chunks;

	*search = (struct search){
		.partition = partition,
		.chain = partition->chain,
		.pipeline = p,
		.virtual_stages = partition->virtual_stages,
		.micro_batches = partition->micro_batches,
		.chunks = chunks,
		.frame = ARENA_ARRAY(arena, struct frame, chunks),
		.rank = ARENA_ARRAY(arena, struct rank, p),
		.saved_bytes = ARENA_ARRAY(arena, double, chunks),
	};
	search->cut.first = ARENA_ARRAY(arena, uint32_t, (size_t)chunks + 1);
	search->cut.first[chunks] = search->chain->length;
	if (partition->incumbent->outcomes) {
		struct outlook outlook = { .choice = partition->choice,
					   .known = OUTLOOK_ALL };

		outlook_ranges(partition->incumbent, &outlook, &search->ranges);
		search->layers = ARENA_ARRAY(arena, struct range, p);
		search->ranges.stage_layers = search->layers;
	}
}

/* Where a chunk should end for a balanced load. */
static uint32_t balanced_end(const struct search *search, uint32_t chunk,
			     uint32_t begin, uint32_t end_most)
{
	const struct chain *chain = search->chain;
	const struct rank *rank = &search->rank[chunk % search->pipeline];
	uint32_t row = chunk / search->pipeline;
	double all = chain_both(chain, 0, chain->length);
	double target = search->virtual_stages == 1 ?
		chain_both(chain, begin, chain->length) /
			(search->chunks - chunk) :
		(all / search->pipeline - rank->forward_s - rank->backward_s) /
			(search->virtual_stages - row);
	uint32_t low = begin + 1, high = end_most;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (chain_both(chain, begin, middle) < target)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > begin + 1 &&
	    target - chain_both(chain, begin, low - 1) <
		    chain_both(chain, begin, low) - target)
		low--;
	return low;
}

static void frame_open(struct search *search, uint32_t depth,
		       const struct sums *sums)
{
	struct frame *frame = &search->frame[depth];
	uint32_t length = search->chain->length;
	uint32_t end_most = length - (search->chunks - 1 - depth);
	uint32_t middle = end_most;

	if (depth + 1 < search->chunks)
		middle = balanced_end(search, depth, sums->begin, end_most);
	*frame = (struct frame){
		.sums = *sums,
		.rank_before = search->rank[depth % search->pipeline],
		.up = middle,
		.down = middle - 1,
		.up_open = true,
		.down_open = depth + 1 < search->chunks &&
			     middle > sums->begin + 1,
	};
	search->cut.first[depth] = sums->begin;
}

/* The next end to try, or 0 when there is none. */
static uint32_t frame_next(const struct search *search, uint32_t depth)
{
	struct frame *frame = &search->frame[depth];
	uint32_t end_most = search->chain->length - (search->chunks - 1 - depth);
	bool down = frame->down_open && (frame->turn_down || !frame->up_open);

	if (!down && !frame->up_open)
		return 0;
	frame->turn_down = !down;
	if (down) {
		frame->down_open = frame->down > frame->sums.begin + 1;
		return frame->down--;
	}
	frame->up_open = frame->up < end_most;
	return frame->up++;
}

static void frame_close_side(struct frame *frame, enum verdict verdict)
{
	if (verdict == VERDICT_TOO_LONG)
		frame->up_open = false;
	if (verdict == VERDICT_TOO_SHORT)
		frame->down_open = false;
}

/* The exchange of a tied weight, if the chunk [begin, end) on that rank pays
 * for one for certain: the other layer is at an end of the chain. */
static double sure_exchange(const struct search *search, uint32_t chunk,
			    uint32_t begin, uint32_t end)
{
	const struct chain *chain = search->chain;
	uint32_t last = search->pipeline - 1, rank = chunk % search->pipeline;

	if (chain->tied_last == chain->length || rank == last ||
	    chain->tied_last + 1 != chain->length || chain->tied_first < begin ||
	    chain->tied_first >= end)
		return 0;
	return partition_exchange(search->partition, rank, last);
}

/* Adds a chunk to its rank. */
static struct rank rank_with(const struct search *search, uint32_t chunk,
			     const struct sums *sums, uint32_t end)
{
	const struct chain *chain = search->chain;
	struct rank rank = search->rank[chunk % search->pipeline];
	uint32_t begin = sums->begin;

	if (chunk < search->pipeline) {
		rank = (struct rank){
			.entry_s = sums->prefix_s,
			.forward_entry_s = sums->forward_prefix_s,
			.first_forward_s = chain_forward(chain, begin, end),
		};
	}
	rank.forward_s += chain_forward(chain, begin, end);
	rank.backward_s += chain_backward(chain, begin, end);
	rank.held = holding_add(rank.held, chain_held(chain, begin, end));
	rank.working_bytes = most(rank.working_bytes,
				  chain_working(chain, begin, end));
	chain_moving(chain, &search->partition->share, begin, end, &rank.moving);
	rank.blocks += chain->blocks[end] - chain->blocks[begin];
	return rank;
}

/* Memory of the rank with what it holds. A weight tied between two chunks of
 * it may be stored once. */
static double rank_memory(struct search *search, uint32_t chunk,
			  const struct rank *rank, uint32_t begin, uint32_t end)
{
	const struct partition *partition = search->partition;
	uint32_t p = search->pipeline, v = search->virtual_stages;
	uint32_t k = chunk % p, row = chunk / p;
	double *saved = search->saved_bytes + (size_t)k * v;
	struct holding held = rank->held;
	double bytes, saved_most = 0;

	if (v == 1)
		return partition_stage_memory(partition, k, begin, end);
	saved[row] = chain_saved(search->chain, begin, end);
	for (uint32_t c = row + 1; c < v; c++)
		saved[c] = 0;
	for (uint32_t c = 0; c <= row; c++)
		saved_most = most(saved_most, saved[c]);
	if (row)
		held.parameters = most(0, held.parameters -
						  search->chain->tied_parameters);
	bytes = share_bytes(&partition->share, held) + rank->working_bytes +
		rank->moving.first + rank->moving.second +
		partition->share.reserve_bytes;
	/* The peak takes a while to find. */
	if (partition->incumbent->time_only &&
	    partition_fits(partition, bytes + saved_most *
			   schedule_most_kept(&partition->schedule, k)))
		return bytes;
	return bytes + schedule_peak_bytes(&partition->schedule, k, saved);
}

/* GPipe: likewise; the slowest forward and the slowest backward set the pace. */
static enum verdict bound_gpipe(struct search *search, uint32_t k,
				const struct sums *sums, struct sums *next)
{
	const struct chain *chain = search->chain;
	const struct partition *partition = search->partition;
	uint32_t length = chain->length, begin = sums->begin, end = next->begin;
	uint32_t left = search->pipeline - 1 - k;
	double more = search->micro_batches - 1;
	double time = chain_both(chain, begin, end);
	double transfers = left ? partition->transfer_rest_s[k + 1] : 0;
	double rest = partition_rest(partition, end) + 2 * transfers;
	/* Whatever the length of this stage. */
	double least = sums->prefix_s + chain_least_both(chain, begin, length) +
		       2 * partition->transfer_rest_s[k];
	double forward = next->forward_most_s, backward = next->backward_most_s;

	if (excluded(search, least + more * time))
		return VERDICT_TOO_LONG;
	if (left) {
		if (excluded(search, least + more *
					     chain_floor_both(chain, end, length) /
					     left))
			return VERDICT_TOO_SHORT;
		forward = most(forward,
			       chain_least_forward(chain, end, length) / left);
		backward = most(backward,
				chain_least_backward(chain, end, length) / left);
	}
	next->span_s = most(next->span_s, next->prefix_s + rest +
						  more * (forward + backward));
	return VERDICT_OPEN;
}

/* 1F1B: bounds on the schedule's end that the new stage brings. */
static enum verdict bound_plain(struct search *search, uint32_t k,
				const struct sums *sums, struct sums *next)
{
	const struct chain *chain = search->chain;
	uint32_t p = search->pipeline, m = search->micro_batches;
	uint32_t left = p - 1 - k, begin = sums->begin, end = next->begin;
	double time = chain_both(chain, begin, end);
	double rest = partition_rest(search->partition, end);
	double loop = rest + 2 * (left ? search->partition->transfer_rest_s[k + 1] : 0);
	double whole = next->prefix_s + loop;
	double rest_most = left ? rest / left : 0;

	next->span_s = most(next->span_s, sums->prefix_s + m * time);
	if (excluded(search, next->span_s))
		return VERDICT_TOO_LONG;
	if (left) {
		double least = sums->prefix_s + loop +
			       (chain->partial ?
					chain_floor_both(chain, begin, end) : time) +
			       2 * search->partition->transfer_least_s[k];

		/* A shorter stage leaves more; its transfer may be cheaper. */
		if (excluded(search, bound_loop(least, loop, left, m, rest_most,
						rest_most / 2)))
			return VERDICT_TOO_SHORT;
		next->span_s = most(next->span_s,
				    bound_loop(whole, loop, left, m, rest_most,
					       rest_most / 2));
	}
	next->span_s = most(next->span_s,
			    bound_loop(whole, whole, p, m,
				       most(next->chunk_most_s, rest_most),
				       most(next->half_most_s, rest_most / 2)));
	for (uint32_t i = k > LOOP_REACH ? k - LOOP_REACH : 0; i < k; i++)
		next->span_s = most(next->span_s,
				    bound_inner_loop(sums->prefix_s, time,
						     sums->prefix_s + time -
							     search->frame[i].sums.prefix_s,
						     k - i + 1, left, m));
	return VERDICT_OPEN;
}

/* Blocks of every inner chunk: at least one, and at most one less than the
 * largest. */
static uint32_t inner_least(const struct even *even)
{
	return even->high > 2 ? even->high - 1 : 1;
}

/* The least that a rank's chunks of later rows take, forward and backward. */
static double later_load(const struct search *search, uint32_t chunk,
			 const struct even *even)
{
	const struct chain *chain = search->chain;
	uint32_t rows = search->virtual_stages - 1 - chunk / search->pipeline;
	uint32_t each = inner_least(even);
	double head = 0;

	if (!rows || !partition_chain_is_plain(chain))
		return 0;
	if (chunk % search->pipeline == search->pipeline - 1) {
		rows--;
		head = chain_floor_both(chain, chain->length - 1, chain->length);
	}
	return rows * each * chain->deal.unit_s + head;
}

/* Interleaved: what device k does from its first backward of the last row to the
 * first one of the last group, but for the forwards of its first chunk that it has
 * done by then. */
static double between_ends(const struct search *search, uint32_t k,
			   const struct rank *rank, double load)
{
	uint32_t p = search->pipeline;
	double ahead = p > 1 + 2 * k ? p - 1 - 2 * k : 0;

	return (search->micro_batches - p) * load - ahead * rank->first_forward_s;
}

/* Interleaved: the longest way through the chunks so far, in each row either
 * along its devices with one micro-batch or with a whole group on one device
 * into the next row; forwards at the start, backwards at the end. */
static void extend_paths(const struct search *search, uint32_t chunk,
			 double transfer, const double time[2],
			 const struct sums *sums, struct rank *rank,
			 struct sums *next)
{
	uint32_t p = search->pipeline;
	const struct rank *after = &search->rank[(chunk + 1) % p];

	next->forward_path_s = sums->forward_path_s + time[0] + transfer;
	next->backward_path_s = sums->backward_path_s + time[1] + transfer;
	rank->forward_dwell_s = sums->forward_path_s + p * time[0];
	rank->backward_dwell_s = sums->backward_path_s + p * time[1];
	if (chunk + 1 < p || chunk + 1 == search->chunks)
		return;
	next->forward_path_s = most(next->forward_path_s, after->forward_dwell_s);
	next->backward_path_s = most(next->backward_path_s,
				     after->backward_dwell_s);
}

/* Interleaved: the first micro-batch goes the longest way forward through all
 * chunks and back to device k in the last row, which does all it has to until
 * the last group comes to that row; the group's first micro-batch goes on to a device
 * that then does the whole group, and the last one the longest way back. Before
 * the last row any device and any inner chunk there may be these. */
static double bound_paths(const struct search *search, uint32_t chunk,
			  const struct rank *rank, double later, double transfer,
			  double backward, const struct sums *sums,
			  struct sums *next)
{
	const struct chain *chain = search->chain;
	uint32_t p = search->pipeline, k = chunk % p;
	double between = between_ends(search, k, rank, rank->forward_s +
						       rank->backward_s + later);
	double way = next->forward_path_s +
		     partition_rest(search->partition, next->begin);
	double stay;

	if (chunk + 1 < search->chunks)
		way += 2 * search->partition->transfer_rest_s[chunk + 1];
	if (chunk / p + 1 == search->virtual_stages) {
		stay = sums->backward_path_s + (p - 1) * backward;
		stay = most(stay, sums->exit_path_s);
		next->exit_path_s = backward + transfer + stay;
		next->stay_path_s = backward + transfer +
				    most(sums->stay_path_s, between + stay);
		return way + next->stay_path_s;
	}
	next->heaviest_s = most(next->heaviest_s, between);
	way += next->backward_path_s + next->heaviest_s;
	if (partition_chain_is_plain(chain))
		way += (p - 1) * inner_least(&next->even) *
		       chain_least_backward(chain, 1, 2);
	return way;
}

/* Interleaved: likewise for the new chunk. */
static enum verdict bound_interleaved(struct search *search, uint32_t chunk,
				      struct rank *rank, uint32_t end,
				      const struct sums *sums, struct sums *next)
{
	const struct chain *chain = search->chain;
	double time[2] = { chain_forward(chain, sums->begin, end),
			   chain_backward(chain, sums->begin, end) };
	double transfer = partition_transfer(search->partition, chunk, end);
	uint32_t p = search->pipeline, m = search->micro_batches;
	uint32_t k = chunk % p, row = chunk / p, left = p - 1 - k;
	double load = rank->forward_s + rank->backward_s;
	double rest = partition_rest(search->partition, next->begin);
	double later = later_load(search, chunk, &next->even);
	double all = partition_rest(search->partition, 0), whole;

	next->span_s = most(next->span_s, rank->entry_s + m * (load + later));
	if (excluded(search, next->span_s))
		return VERDICT_TOO_LONG;
	if (row + 1 == search->virtual_stages && left) {
		double sum = m * rest;

		for (uint32_t i = k + 1; i < p; i++)
			sum += search->rank[i].entry_s +
			       m * (search->rank[i].forward_s +
				    search->rank[i].backward_s);
		next->span_s = most(next->span_s, sum / left);
		if (excluded(search, next->span_s))
			return VERDICT_TOO_SHORT;
	}
	if (!row) {
		next->entry_sum_s += sums->prefix_s;
		next->span_s = most(next->span_s,
				    (next->entry_sum_s + left * next->prefix_s +
				     m * all) / p);
	}
	whole = next->prefix_s + rest;
	if (chunk + 1 < search->chunks)
		whole += 2 * search->partition->transfer_rest_s[chunk + 1];
	next->span_s = most(next->span_s, whole + (m - 1) * next->half_most_s);
	extend_paths(search, chunk, transfer, time, sums, rank, next);
	next->span_s = most(next->span_s,
			    bound_paths(search, chunk, rank, later, transfer,
					time[1], sums, next));
	return VERDICT_OPEN;
}

/* The last backward of the stage just added ends no sooner (one virtual stage): loops
 * through all stages, or from it on, less what they take after it. */
static double loops_finish(const struct search *search, uint32_t chunk,
			   const struct rank *rank, const struct sums *sums,
			   const struct sums *next)
{
	const struct partition *partition = search->partition;
	uint32_t p = search->pipeline, m = search->micro_batches;
	double whole = next->prefix_s + partition_rest(partition, next->begin);
	double back = sums->prefix_s - sums->forward_prefix_s, more;

	if (chunk + 1 < search->chunks)
		whole += 2 * partition->transfer_rest_s[chunk + 1];
	if (partition->gpipe)
		more = (m - 1) * (rank->forward_s + rank->backward_s);
	else
		more = most((m - 1) / p * whole,
			    (m - 1) / (p - chunk) * (whole - sums->prefix_s));
	return whole + more - back;
}

/* The parts of an iteration after the schedule, once a rank is complete. */
static void bound_tails(const struct search *search, uint32_t chunk,
			const struct rank *rank, const struct sums *sums,
			struct sums *next)
{
	const struct partition *partition = search->partition;
	const struct chain *chain = search->chain;
	uint32_t p = search->pipeline, k = chunk % p;
	double load = rank->forward_s + rank->backward_s;
	struct holding held = rank->held;
	double reduce;
	bool whole = chain->tied_last < chain->length && search->virtual_stages > 1;

	if (chunk / p + 1 < search->virtual_stages)
		return;
	if (whole)	/* both tied layers may be on this rank, in two chunks */
		held.parameters = most(0, held.parameters -
						  chain->tied_parameters);
	reduce = partition_reduce(partition, k, held, rank->backward_s);
	if (search->virtual_stages == 1)
		reduce += sure_exchange(search, chunk, sums->begin, next->begin);
	if (!k)
		next->first_reduce_s = reduce;
	next->end_s = most(next->end_s, rank->forward_entry_s +
						search->micro_batches * load + reduce);
	if (reduce > 0 && search->virtual_stages == 1)
		next->end_s = most(next->end_s, reduce +
				   loops_finish(search, chunk, rank, sums, next));
	next->step_s = most(next->step_s, partition_step(partition, k, held,
							 rank->forward_s));
}

/* Mean step of the ranks that are not complete. */
static double rest_step(const struct search *search, uint32_t chunk, uint32_t end)
{
	const struct chain *chain = search->chain;
	uint32_t left = search->chunks - 1 - chunk;

	if (search->virtual_stages > 1 || !left)
		return 0;
	return share_step(&search->partition->share,
			  chain_held(chain, end, chain->length)) / left;
}

static void set_layer_ranges(struct search *search, uint32_t chunk,
			     const struct rank *added, uint32_t end)
{
	const struct chain *chain = search->chain;
	uint32_t p = search->pipeline;
	double rest = chain->blocks[chain->length] - chain->blocks[end];
	bool differ = false, last_row = chunk / p + 1 == search->virtual_stages;
	uint32_t done = last_row ? chunk % p + 1 : 0;

	for (uint32_t k = 0; k < p; k++) {
		const struct rank *rank = k == chunk % p ? added : &search->rank[k];
		double held = chunk < p && k > chunk ? 0 : rank->blocks;

		search->layers[k] = range_between(held, k < done ? held : held + rest);
		if (k < done && held != search->layers[0].low)
			differ = true;
	}
	search->ranges.value[VARIABLE_STAGES_UNIFORM] =
		range_between(0, differ ? 0 : 1);
}

/* Whether some requirement cannot hold for any cut that goes on like this. */
static bool refused(struct search *search, uint32_t chunk,
		    const struct rank *rank, const struct sums *next)
{
	struct partition *partition = search->partition;
	const struct problem *problem = partition->problem;
	struct outlook outlook = {
		.choice = partition->choice,
		.known = OUTLOOK_ALL,
		.time_s = next->low_s,
		.memory_bytes = next->memory_bytes,
	};

	if (!partition->incumbent->outcomes)
		return false;
	outlook_ranges(partition->incumbent, &outlook, &search->ranges);
	search->ranges.stage_layers = search->layers;
	set_layer_ranges(search, chunk, rank, next->begin);
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		if (!range_is_false(range_evaluate(&problem->requirement[i],
						   &search->ranges)))
			continue;
		partition_refuse(partition, i);
		return true;
	}
	return false;
}

/* Looks at the chunk of that depth when it ends at `end`. */
static enum verdict look(struct search *search, uint32_t chunk, uint32_t end,
			 struct rank *rank, struct sums *next)
{
	struct partition *partition = search->partition;
	const struct chain *chain = search->chain;
	const struct sums *sums = &search->frame[chunk].sums;
	uint32_t begin = sums->begin;
	double forward = chain_forward(chain, begin, end);
	double backward = chain_backward(chain, begin, end);
	double transfer = partition_transfer(partition, chunk, end);
	double memory;
	enum verdict verdict;

	*rank = rank_with(search, chunk, sums, end);
	*next = *sums;
	next->begin = end;
	if (search->virtual_stages > 1)
		even_allows(&sums->even, chunk, search->chunks,
			    chain->blocks[end] - chain->blocks[begin],
			    chain->blocks[chain->length] - chain->blocks[end],
			    &next->even);
	next->prefix_s += forward + backward + 2 * transfer;
	next->forward_prefix_s += forward + transfer;
	next->chunk_most_s = most(next->chunk_most_s, forward + backward);
	next->half_most_s = most(next->half_most_s, most(forward, backward));
	next->forward_most_s = most(next->forward_most_s, forward);
	next->backward_most_s = most(next->backward_most_s, backward);
	memory = rank_memory(search, chunk, rank, begin, end);
	next->memory_bytes = most(next->memory_bytes, memory);
	if (!partition_fits(partition, memory)) {
		partition->over_memory = true;
		return VERDICT_TOO_LONG;
	}
	verdict = search->virtual_stages > 1 ?
		bound_interleaved(search, chunk, rank, end, sums, next) :
		  partition->gpipe ? bound_gpipe(search, chunk, sums, next) :
				     bound_plain(search, chunk, sums, next);
	if (verdict != VERDICT_OPEN) {
		partition->bounded = true;
		return verdict;
	}
	bound_tails(search, chunk, rank, sums, next);
	next->low_s = most(sums->low_s,
			   most(next->span_s + next->first_reduce_s, next->end_s) +
				   most(next->step_s,
					rest_step(search, chunk, end)));
	if (partition_excluded(partition, next->low_s, next->memory_bytes)) {
		partition->bounded = true;
		return VERDICT_EXCLUDED;
	}
	return refused(search, chunk, rank, next) ? VERDICT_EXCLUDED : VERDICT_OPEN;
}

/* Whether the space has cuts in which the chunk ends there. */
static bool is_legal_end(const struct search *search, uint32_t chunk,
			 uint32_t end)
{
	const struct partition *partition = search->partition;
	const uint32_t *blocks = search->chain->blocks;
	const struct sums *sums = &search->frame[chunk].sums;
	struct even next;

	if (partition->problem->uniform_stages &&
	    blocks[end] != (chunk + 1) * partition->blocks_each)
		return false;
	return search->virtual_stages == 1 ||
	       even_allows(&sums->even, chunk, search->chunks,
			   blocks[end] - blocks[sums->begin],
			   blocks[search->chain->length] - blocks[end], &next);
}

/* The least bound of what is still open, when effort has run out. Goes back to
 * the root on the way. */
static double least_open(struct search *search, uint32_t depth)
{
	double low = INFINITY;

	for (;;) {
		struct frame *frame = &search->frame[depth];
		uint32_t end;

		search->rank[depth % search->pipeline] = frame->rank_before;
		while ((end = frame_next(search, depth))) {
			struct rank rank;
			struct sums next;
			enum verdict verdict;

			if (!is_legal_end(search, depth, end))
				continue;
			verdict = look(search, depth, end, &rank, &next);
			frame_close_side(frame, verdict);
			if (verdict == VERDICT_OPEN && next.low_s < low)
				low = next.low_s;
		}
		if (!depth--)
			return low;
	}
}

/* Takes one step; false when the whole tree is done. */
static bool search_step(struct search *search, uint32_t *depth)
{
	struct frame *frame = &search->frame[*depth];
	uint32_t end = frame_next(search, *depth), chunk = *depth;
	enum verdict verdict;
	struct rank rank;
	struct sums next;

	search->rank[chunk % search->pipeline] = frame->rank_before;
	if (!end)
		return (*depth)-- > 0;
	if (!is_legal_end(search, chunk, end))
		return true;
	search->nodes++;
	verdict = look(search, chunk, end, &rank, &next);
	frame_close_side(frame, verdict);
	if (verdict != VERDICT_OPEN)
		return true;
	if (chunk + 1 == search->chunks) {
		partition_try(search->partition, &search->cut);
		return true;
	}
	search->rank[chunk % search->pipeline] = rank;
	frame_open(search, ++*depth, &next);
	return true;
}

/* With plenty of effort a better cut may be found first. */
static void try_runs(struct partition *partition, uint64_t simulations)
{
	if (partition->virtual_stages == 1 || partition->incumbent->outcomes ||
	    !partition_chain_is_plain(partition->chain) ||
	    partition->problem->uniform_stages ||
	    simulations < EFFORT_OF_RUNS * (uint64_t)partition->chunks)
		return;
	partition_runs(partition, simulations / 4);
	partition_climb(partition, simulations / 2);
}

void partition_search(struct partition *partition, uint64_t simulations)
{
	struct arena_mark mark = arena_mark(partition->scratch);
	uint64_t stop = partition->simulated + simulations, before;
	uint64_t each = NODES_PER_SIMULATION(partition->pipeline);
	struct search search;
	struct sums root = {
		.span_s = partition->span_s,
		.low_s = partition->low_s,
	};
	uint32_t depth = 0;
	bool more = true;

	if (partition_columns(partition, simulations / 4)) {
		partition->low_s = INFINITY;
		return;
	}
	try_runs(partition, simulations);
	before = partition->looked;
	search_init(&search, partition);
	frame_open(&search, 0, &root);
	while (more && partition->simulated + partition->looked < stop) {
		more = search_step(&search, &depth);
		partition->looked = before + search.nodes / each;
	}
	if (more) {
		double low = least_open(&search, depth);

		partition->complete = isinf(low);
		partition->low_s = most(partition->low_s, low);
	} else {
		partition->low_s = INFINITY;
	}
	arena_rewind(partition->scratch, mark);
}

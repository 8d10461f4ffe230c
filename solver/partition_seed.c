/* SPDX-License-Identifier: MIT
 *
 * Good cuts without a tree search, and the bound that finding them proves.
 *
 * One chunk per device: no schedule ends before Z = max over k of (time through the
 * stages before k + m x stage k); under GPipe the time through all stages + (m - 1) x
 * stage k. Cuts with Z at most some value are found greedily: the longest stage
 * first, as far as time and memory let it go, since a stage that starts later may
 * end later (under partial recomputation the time before is that of its layers'
 * floors, which depends on nothing else). A pass that fails names the next value
 * at which it could go otherwise.
 *
 * Interleaved: Z has the load of all chunks of a device; layers are dealt to
 * devices one number each, then to the chunks of a device evenly.
 */
#include <math.h>
#include <string.h>

#include "solver/bound.h"
#include "solver/partition.h"
#include "solver/most.h"

#define PASSES_MAX 60

/* The end of a schedule with that stage, at least; less for one that begins
 * later. */
static double stage_end(const struct partition *partition, double prefix_s,
			uint32_t begin, uint32_t end)
{
	const struct chain *chain = partition->chain;
	double time = chain->monotone ? chain_both(chain, begin, end) :
					chain_least_both(chain, begin, end);

	return partition_stage_end(partition, prefix_s, time);
}

/* The longest stage k from `begin` within the load; *next becomes the load that
 * one layer more would take, if load is what ends it. */
static uint32_t longest_stage(const struct partition *partition, uint32_t k,
			      uint32_t begin, double prefix_s, double load_s,
			      double *next)
{
	const struct chain *chain = partition->chain;
	uint32_t low = begin;
	uint32_t high = chain->length - (partition->pipeline - 1 - k);

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		double load = stage_end(partition, prefix_s, begin, middle);
		double bytes = partition_least_memory(partition, k, begin, middle);

		if (load <= load_s * (1 + TIE) && partition_fits(partition, bytes))
			low = middle;
		else
			high = middle - 1;
	}
	if (low < chain->length - (partition->pipeline - 1 - k)) {
		double load = stage_end(partition, prefix_s, begin, low + 1);

		if (load > load_s * (1 + TIE) && load < *next)
			*next = load;
	}
	return low;
}

/* One pass; true if the chain's end is reached. first gets the stages, some
 * maybe empty. */
static bool greedy_pass(const struct partition *partition, double load_s,
			uint32_t *first, double *next)
{
	const struct chain *chain = partition->chain;
	double prefix = 0;
	uint32_t at = 0;

	*next = INFINITY;
	for (uint32_t k = 0; k < partition->pipeline; k++) {
		uint32_t end = longest_stage(partition, k, at, prefix, load_s, next);

		first[k] = at;
		prefix += chain_floor_both(chain, at, end) +
			  2 * partition->transfer_least_s[k];
		at = end;
	}
	first[partition->pipeline] = at;
	return at == chain->length;
}

/* Makes every stage hold a layer. */
static void fill_empty(const struct partition *partition, uint32_t *first)
{
	uint32_t chunks = partition->chunks, length = partition->chain->length;

	first[chunks] = length;
	for (uint32_t c = chunks; c-- > 1;)
		if (first[c] > first[c + 1] - 1)
			first[c] = first[c + 1] - 1;
	first[0] = 0;
	for (uint32_t c = 1; c < chunks; c++)
		if (first[c] < first[c - 1] + 1)
			first[c] = first[c - 1] + 1;
}

/* Smallest Z by bisection that jumps over values between which nothing
 * changes. Returns a bound; first gets a cut. */
static double least_load(const struct partition *partition, double low,
			 uint32_t *first, bool *fits)
{
	uint32_t *trial = ARENA_ARRAY(partition->scratch, uint32_t,
				      (size_t)partition->pipeline + 1);
	size_t size = ((size_t)partition->pipeline + 1) * sizeof(*trial);
	double high = INFINITY, load = low, next;

	*fits = greedy_pass(partition, INFINITY, trial, &next);
	if (!*fits)
		return INFINITY;
	for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
		if (greedy_pass(partition, load, trial, &next)) {
			memcpy(first, trial, size);
			high = load;
		} else {
			low = most(load, next);
		}
		if (high <= low * (1 + 1e-9))
			break;
		if (isinf(high))
			load = pass ? low * (1 + 0.02 * pass) : low;
		else
			load = low + (high - low) / 2;
		if (isinf(high) && pass > 20)
			load = 2 * low;
	}
	if (isinf(high)) {
		greedy_pass(partition, INFINITY, trial, &next);
		memcpy(first, trial, size);
	}
	fill_empty(partition, first);
	return low;
}

bool partition_can_fit(const struct partition *partition)
{
	struct arena_mark mark = arena_mark(partition->scratch);
	bool fits = true;
	double next;

	if (partition->virtual_stages == 1)
		fits = greedy_pass(partition, INFINITY,
				   ARENA_ARRAY(partition->scratch, uint32_t,
					       (size_t)partition->chunks + 1),
				   &next);
	arena_rewind(partition->scratch, mark);
	return fits;
}

static void seed_plain(struct partition *partition)
{
	struct cut cut = {
		.first = ARENA_ARRAY(partition->scratch, uint32_t,
				     (size_t)partition->chunks + 1),
	};
	bool fits;
	double low = least_load(partition, partition->span_s, cut.first, &fits);

	if (!fits) {
		partition->over_memory = true;
		partition->low_s = INFINITY;
		return;
	}
	partition->low_s += most(0, low - partition->span_s);
	partition->span_s = most(partition->span_s, low);
	partition_try(partition, &cut);
}

/* The longest run of equal layers, and what lies around it. */
struct dealing {
	double unit_s;			/* time of one layer of the run */
	double first_s, last_s;		/* time of the layers before and after it */
	uint32_t head, tail;		/* number of these */
	uint32_t units;			/* layers of the run */
};

static bool find_dealing(const struct chain *chain, struct dealing *dealing)
{
	uint32_t longest = 0, begin = 0;

	for (uint32_t at = 0; at < chain->length; at = chain->run_end[at]) {
		if (chain->run_end[at] - at > longest) {
			longest = chain->run_end[at] - at;
			begin = at;
		}
	}
	dealing->units = longest;
	dealing->head = begin;
	dealing->tail = chain->length - begin - longest;
	dealing->unit_s = chain_both(chain, begin, begin + longest) / longest;
	dealing->first_s = chain_both(chain, 0, begin);
	dealing->last_s = chain_both(chain, begin + longest, chain->length);
	return dealing->unit_s > 0;
}

/* Layers for each device: every chunk gets one, the rest goes one by one to
 * the device that is least loaded and has room for it, the earlier one of
 * equals first. False if there is no room. */
static bool deal(const struct partition *partition, const struct dealing *dealing,
		 uint32_t *units)
{
	uint32_t p = partition->pipeline, v = partition->virtual_stages;
	double *load = partition->finish_s, *room = partition->saved_bytes;
	double entry = 0, m = partition->micro_batches;
	uint32_t dealt = 0;

	bound_units(partition->chain, partition->choice, &partition->share, room);
	for (uint32_t k = 0; k < p; k++) {
		bool first = k == 0, last = k == p - 1;

		units[k] = v - (first && dealing->head > 0) -
			   (last && dealing->tail > 0);
		load[k] = entry + m * (units[k] * dealing->unit_s +
				       (first ? dealing->first_s : 0) +
				       (last ? dealing->last_s : 0));
		entry += dealing->units * dealing->unit_s / partition->chunks +
			 2 * partition->transfer_least_s[k];
		dealt += units[k];
	}
	while (dealt < dealing->units) {
		uint32_t best = p;

		for (uint32_t k = 0; k < p; k++)
			if (units[k] < room[k] &&
			    (best == p || load[k] < load[best] * (1 - TIE)))
				best = k;
		if (best == p)
			return false;
		units[best]++;
		load[best] += m * dealing->unit_s;
		dealt++;
	}
	return true;
}

/* Which chunks of a device take one layer more than the others. */
enum spread { SPREAD_EARLY, SPREAD_LATE, SPREAD_EVEN, SPREAD_COUNT };

/* The share of chunk `row` of `rows` in `units`. */
static uint32_t share(uint32_t units, uint32_t rows, uint32_t row,
		      enum spread spread)
{
	uint32_t each = units / rows, extra = units % rows;

	switch (spread) {
	case SPREAD_EARLY:
		return each + (row < extra);
	case SPREAD_LATE:
		return each + (row >= rows - extra);
	default:
		return (uint32_t)((uint64_t)units * (row + 1) / rows -
				  (uint64_t)units * row / rows);
	}
}

/* Layers that the chunk with the end of the chain takes besides that end, for
 * its device to have chunks of equal length. */
static uint32_t end_units(const struct dealing *dealing, uint32_t units,
			  uint32_t rows, uint32_t layers, double end_s)
{
	double mean, own;

	if (!layers)
		return units / rows;
	mean = (units * dealing->unit_s + end_s) / rows;
	own = floor((mean - end_s) / dealing->unit_s + 0.5);
	if (own < 0)
		return 0;
	return own > units - (rows - 1) ? units - (rows - 1) : (uint32_t)own;
}

/* The first chunk, which is kept longest, makes do with `fewer` layers. */
static void try_dealing(struct partition *partition,
			const struct dealing *dealing, const uint32_t *units,
			enum spread spread, uint32_t fewer, struct cut *cut)
{
	uint32_t p = partition->pipeline, v = partition->virtual_stages;
	uint32_t at = 0;

	for (uint32_t c = 0; c < partition->chunks; c++) {
		uint32_t k = c % p, row = c / p;
		bool last = k == p - 1;
		uint32_t layers = last ? dealing->tail : k ? 0 : dealing->head;
		double end_s = last ? dealing->last_s : dealing->first_s;
		uint32_t own = end_units(dealing, units[k], v, layers, end_s);

		if (!k)
			own -= own < fewer ? own : fewer;
		cut->first[c] = at;
		if (!layers)
			at += share(units[k], v, row, spread);
		else if (row == (last ? v - 1 : 0))
			at += own;
		else
			at += share(units[k] - own, v - 1, last ? row : row - 1,
				    spread);
		if (!c)
			at += dealing->head;
		if (at > partition->chain->length)
			at = partition->chain->length;
	}
	fill_empty(partition, cut->first);
	partition_try(partition, cut);
}

/* Any chain: ends where the running time is nearest to even shares. */
static void try_even(struct partition *partition, struct cut *cut)
{
	const struct chain *chain = partition->chain;
	double each = chain_both(chain, 0, chain->length) / partition->chunks;
	uint32_t at = 0;

	for (uint32_t c = 0; c < partition->chunks; c++) {
		cut->first[c] = at;
		while (at < chain->length &&
		       chain_both(chain, 0, at) + chain_both(chain, at, at + 1) / 2 <
			       each * (c + 1))
			at++;
	}
	fill_empty(partition, cut->first);
	partition_try(partition, cut);
}

/* Equally many blocks in every chunk, give or take one. */
static void try_blocks(struct partition *partition, struct cut *cut)
{
	const uint32_t *blocks = partition->chain->blocks;
	uint64_t all = blocks[partition->chain->length];
	uint32_t at = 0;

	for (uint32_t c = 0; c < partition->chunks; c++) {
		cut->first[c] = at;
		while (at < partition->chain->length &&
		       blocks[at] < all * (c + 1) / partition->chunks)
			at++;
	}
	fill_empty(partition, cut->first);
	partition_try(partition, cut);
}

static void seed_interleaved(struct partition *partition)
{
	uint32_t p = partition->pipeline;
	uint32_t *units = ARENA_ARRAY(partition->scratch, uint32_t, p);
	struct cut cut = {
		.first = ARENA_ARRAY(partition->scratch, uint32_t,
				     (size_t)partition->chunks + 1),
	};
	struct dealing dealing;

	try_even(partition, &cut);
	try_blocks(partition, &cut);
	if (!find_dealing(partition->chain, &dealing) ||
	    dealing.units < partition->chunks ||
	    partition->incumbent->outcomes)
		return;
	if (!deal(partition, &dealing, units))
		return;
	for (uint32_t fewer = 0; fewer < 3; fewer++)
		for (int spread = 0; spread < SPREAD_COUNT; spread++)
			if (!fewer || isinf(partition->best_s))
				try_dealing(partition, &dealing, units,
					    (enum spread)spread, fewer, &cut);
}

/* Chunks of `low` layers that count as blocks, the last one of `fewer` less, and what
 * is then left over, one layer for each chunk of a run from `at` on, around the end of
 * the chain. False where it does not come to that. */
static bool run_cut(const struct partition *partition, uint32_t fewer,
		    uint32_t at, uint32_t *first)
{
	const uint32_t *blocks = partition->chain->blocks;
	uint32_t chunks = partition->chunks, length = partition->chain->length;
	uint32_t low = (blocks[length] + fewer) / chunks;
	uint32_t more = (blocks[length] + fewer) % chunks, end = 0;

	for (uint32_t c = 0; c < chunks; c++) {
		uint32_t size = low + ((c + chunks - at) % chunks < more);

		first[c] = end;
		if (c == 0)
			size += 1 - blocks[1];
		if (c + 1 < chunks)
			end += size;
	}
	first[chunks] = length;
	return end < length && low > 0;
}

void partition_runs(struct partition *partition, uint64_t simulations)
{
	struct arena_mark mark = arena_mark(partition->scratch);
	uint64_t all = 2 * (uint64_t)partition->chunks;
	uint32_t step = simulations < all ? (uint32_t)(all / simulations) + 1 : 1;
	struct cut cut = {
		.first = ARENA_ARRAY(partition->scratch, uint32_t,
				     (size_t)partition->chunks + 1),
	};

	for (uint32_t fewer = 0; fewer < 2; fewer++)
		for (uint32_t at = 0; at < partition->chunks; at += step)
			if (run_cut(partition, fewer, at, cut.first))
				partition_try(partition, &cut);
	arena_rewind(partition->scratch, mark);
}

void partition_seed(struct partition *partition)
{
	struct arena_mark mark = arena_mark(partition->scratch);

	if (partition->virtual_stages == 1)
		seed_plain(partition);
	else
		seed_interleaved(partition);
	arena_rewind(partition->scratch, mark);
}

/* Moves one layer from chunk `from` to chunk `to`: every boundary between them
 * shifts by one. False if a chunk would be left empty. */
static bool move_layer(const struct partition *partition, uint32_t from,
		       uint32_t to, uint32_t *first)
{
	if (from < to) {
		for (uint32_t c = from + 1; c <= to; c++)
			first[c]--;
	} else {
		for (uint32_t c = to + 1; c <= from; c++)
			first[c]++;
	}
	for (uint32_t c = 0; c < partition->chunks; c++)
		if (first[c] >= first[c + 1])
			return false;
	return true;
}

/* Tries all moves over that distance; stops at the first that is better. */
static bool climb_step(struct partition *partition, uint32_t distance,
		       uint64_t stop, struct cut *cut)
{
	size_t size = (partition->chunks + 1) * sizeof(*cut->first);

	for (uint32_t low = 0; low + distance < partition->chunks; low++)
		for (int up = 0; up < 2; up++) {
			double before = partition->best_s;

			if (partition->simulated >= stop)
				return false;
			memcpy(cut->first, partition->best_first, size);
			if (move_layer(partition, up ? low : low + distance,
				       up ? low + distance : low, cut->first) &&
			    partition_try(partition, cut) &&
			    partition->best_s < before * (1 - TIE))
				return true;
		}
	return false;
}

void partition_climb(struct partition *partition, uint64_t simulations)
{
	struct arena_mark mark = arena_mark(partition->scratch);
	uint64_t stop = partition->simulated + simulations;
	struct cut cut = {
		.first = ARENA_ARRAY(partition->scratch, uint32_t,
				     (size_t)partition->chunks + 1),
	};

	if (partition->virtual_stages > 1 && isinf(partition->best_s))
		seed_interleaved(partition);
	for (uint32_t distance = 1;
	     partition->virtual_stages > 1 && !isinf(partition->best_s) &&
	     distance < partition->chunks && partition->simulated < stop;)
		distance = climb_step(partition, distance, stop, &cut) ?
			1 : distance + 1;
	arena_rewind(partition->scratch, mark);
}

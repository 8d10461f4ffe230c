/* SPDX-License-Identifier: MIT
 *
 * The bound on a configuration under a placement before any cut is tried.
 */
#include <math.h>

#include "solver/bound.h"
#include "solver/even.h"
#include "solver/partition.h"
#include "solver/most.h"

/* One stage: there is nothing to cut. */
static void bound_whole(struct partition *partition)
{
	const struct chain *chain = partition->chain;
	uint32_t length = chain->length;
	struct holding held = chain_held(chain, 0, length);

	partition->span_s = partition->micro_batches * chain_both(chain, 0, length);
	partition->low_s =
		partition->span_s +
		partition_reduce(partition, 0, held,
				 chain_backward(chain, 0, length)) +
		partition_step(partition, 0, held,
			       chain_forward(chain, 0, length));
}

/* One micro-batch through all stages, transfers aside. */
static double all_least(const struct partition *partition)
{
	return partition->whole_s - 2 * partition->transfer_rest_s[0];
}

/* GPipe: one micro-batch through all, then the others at the slowest stage in
 * each direction, which are no faster than the mean or the longest layer. */
static double span_gpipe(const struct partition *partition)
{
	const struct chain *chain = partition->chain;
	double each = all_least(partition) / partition->pipeline;

	return partition->whole_s + (partition->micro_batches - 1) *
					    most(chain->layer_most_s, each);
}

/* 1F1B: loops over all stages, the rest in one loop over the last ones, which
 * hold at least the last layers. */
static double span_plain(const struct partition *partition)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, m = partition->micro_batches;
	uint32_t loops = (m - 1) / p, rest = (m - 1) % p, length = chain->length;
	double all = all_least(partition);
	double whole = partition->whole_s, span;

	if (partition->gpipe)
		return span_gpipe(partition);
	span = bound_loop(whole, whole, p, m,
				 most(chain->layer_most_s, all / p),
				 most(chain->half_most_s, all / p / 2));

	if (rest)
		span = most(span, whole + loops * whole +
					  chain_floor_both(chain, length - rest, length) +
					  2 * partition->transfer_rest_s[p - rest]);
	return span;
}

/* Interleaved: a path follows the first micro-batch through all chunks of the
 * rows before c, goes on in row c to device k, stays there until the last
 * micro-batch's backward through its chunk of row c, and leaves with it. Its
 * mean over all k and c has what every device does, and of row c's chunks
 * on device j the (p - 1 - j)/p-th part: least when the last devices have as
 * much as they can. */
static double span_ramp(const struct partition *partition)
{
	const double *transfer = partition->transfer_least_s;
	uint32_t p = partition->pipeline, v = partition->virtual_stages;
	double m = partition->micro_batches;
	double all = all_least(partition);
	double load_most = incumbent_time_most(partition->incumbent) / m, rest = all, ramp = 0;
	double transfers = 0, before = 0;

	for (uint32_t j = p; j-- > 0;) {
		double load = least(rest, load_most);

		ramp += (p - 1 - j) * load;
		rest -= load;
	}
	for (uint32_t c = 0; c < v; c++) {
		transfers += before;
		for (uint32_t j = 0; j < p && c * p + j + 1 < partition->chunks;
		     j++) {
			transfers += (double)(p - 1 - j) / p * transfer[c * p + j];
			before += transfer[c * p + j];
		}
	}
	return m * all / p + ramp / p / v + 2 * transfers / v;
}

/* Interleaved: the mean of what the devices wait for and do; and one
 * micro-batch through all, then the others through the longest half chunk. */
static double span_interleaved(const struct partition *partition,
			       const double *entry)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, m = partition->micro_batches;
	double all = all_least(partition), sum = m * all;

	for (uint32_t k = 0; k < p; k++)
		sum += entry[k];
	return most(most(sum / p, span_ramp(partition)),
		    all + 2 * partition->transfer_rest_s[0] +
			    (m - 1) * most(chain->half_most_s,
					   all / partition->chunks / 2));
}

/* Devices as far as whole layers of the frequent kind decide. */
struct devices {
	const struct partition *partition;
	const struct deal *deal;
	const struct deal_limits *limits;
	struct holding unit_held;
	double unit_forward_s, unit_backward_s;
};

/* What the ends of the chain add to device k: as much compute as may hide what
 * comes after the schedule. */
struct ends {
	struct holding held;
	double forward_s, backward_s;
};

static double layer_of(const double *sum, uint32_t at)
{
	return sum[at + 1] - sum[at];
}

static void add_end(const struct chain *chain, uint32_t at, struct ends *ends)
{
	double forward = layer_of(chain->cost.forward_s, at);
	double backward = layer_of(chain->cost.backward_s, at);

	if (chain->partial) {
		forward = most(forward, layer_of(chain->kept.forward_s, at));
		backward = most(backward, layer_of(chain->kept.backward_s, at));
	}
	ends->held = holding_add(ends->held,
				 chain_held_apart(chain, at, at + 1));
	ends->forward_s += forward;
	ends->backward_s += backward;
}

static struct ends ends_of(const struct devices *devices, uint32_t k)
{
	const struct chain *chain = devices->partition->chain;
	struct ends ends = { 0 };

	if (k == 0)
		add_end(chain, 0, &ends);
	if (k == devices->partition->pipeline - 1)
		add_end(chain, chain->length - 1, &ends);
	return ends;
}

static double reduce_left(const struct devices *devices, double units)
{
	struct ends ends = ends_of(devices, 0);

	return partition_reduce_left(
		devices->partition,
		holding_add(ends.held, holding_times(devices->unit_held, units)),
		ends.backward_s + units * devices->unit_backward_s);
}

/* Step and exposed gather of device k with some number of units in a range: the
 * larger of an increasing and a concave function. */
static double step_least(const struct devices *devices, uint32_t k, double low,
			 double high)
{
	const struct partition *partition = devices->partition;
	struct ends ends = ends_of(devices, k);
	double units[2] = { low, high }, left = INFINITY, step = INFINITY;

	for (int i = 0; i < 2; i++) {
		struct holding held = holding_add(
			ends.held, holding_times(devices->unit_held, units[i]));
		double forward = ends.forward_s + units[i] * devices->unit_forward_s;
		double own = share_step(&partition->share, held);

		step = least(step, own);
		left = least(left, share_least_step(&partition->share, held) +
					   partition_gather_left(partition, held,
								 forward));
	}
	return most(step, left);
}

/* Some device has the mean number of units or more. */
static double steps_least(const struct devices *devices, const double *high)
{
	uint32_t p = devices->partition->pipeline;
	double mean = ceil((double)devices->deal->units / p), step = INFINITY;

	for (uint32_t k = 0; k < p; k++)
		if (high[k] >= mean)
			step = least(step, step_least(devices, k, mean, high[k]));
	return isinf(step) ? 0 : step;
}

/* Device 0 ends last, so its exposed reduction comes after the schedule. It has
 * what the others have no room for, at least. */
static double first_reduce(const struct devices *devices, const double *high)
{
	const struct partition *partition = devices->partition;
	const struct chain *chain = partition->chain;
	double low = devices->deal->units, reduce;

	for (uint32_t k = 1; k < partition->pipeline; k++)
		low -= high[k];
	low = most(low, deal_units_least(devices->deal, devices->limits, 0));
	reduce = most(0, least(reduce_left(devices, low),
			       reduce_left(devices, high[0])));
	if (chain->tied_last < chain->length)
		reduce += partition_exchange(partition, 0, partition->pipeline - 1);
	return reduce;
}

/* What comes after the schedule in every plan that beats the incumbent. */
static double tails(const struct devices *devices)
{
	const struct partition *partition = devices->partition;
	double *high = partition->forward_s;
	double end = incumbent_time_most(partition->incumbent), tail = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < partition->pipeline; k++)
			high[k] = most(0, deal_units_by(devices->deal,
							devices->limits, k,
							end - tail));
		tail = first_reduce(devices, high) + steps_least(devices, high);
	}
	return tail;
}

/* The frequent layer, wherever it lies: the second one if any is between the
 * ends. */
static void find_unit(struct devices *devices)
{
	const struct chain *chain = devices->partition->chain;
	struct ends unit = { 0 };

	if (devices->deal->units)
		add_end(chain, 1, &unit);
	devices->unit_held = unit.held;
	devices->unit_forward_s = unit.forward_s;
	devices->unit_backward_s = unit.backward_s;
}

/* Whether the layers of every device are known from its number of units. */
static bool units_tell_all(const struct chain *chain)
{
	bool tied = chain->tied_last < chain->length;

	return !chain->deal.spare &&
	       (!tied || (chain->tied_first == 0 &&
			  chain->tied_last + 1 == chain->length));
}

static double mean_step(const struct partition *partition)
{
	const struct chain *chain = partition->chain;

	return share_step(&partition->share, chain_held(chain, 0, chain->length)) /
	       partition->pipeline;
}

/* Exposed reduction of the first device with so many units. */
static double reduce_with(const struct devices *devices, double units)
{
	const struct partition *partition = devices->partition;
	double reduce = most(0, reduce_left(devices, units));

	if (partition->chain->tied_last < partition->chain->length)
		reduce += partition_exchange(partition, 0, partition->pipeline - 1);
	return reduce;
}

/* Every path behind an end is over on the first device, which then reduces its
 * gradients: fewer layers there mean a shorter reduction, but more work for the
 * others. */
static double end_and_reduce(const struct devices *devices,
			     struct deal_limits *limits, double span)
{
	const struct deal *deal = devices->deal;
	double *units = devices->partition->saved_bytes, most_units = units[0];
	double fit = deal_units_by(deal, limits, 0, span);
	double few_least = deal_units_least(deal, limits, 0);
	double end = span;
	double best = least(span + reduce_with(devices, fit),
			    most(span, deal_end_with(deal, limits, 0, fit + 1)) +
				    reduce_with(devices, fit + 1));

	for (double few = fit - 1; few >= few_least; few--) {
		units[0] = few;
		end = bound_deal_end(deal, limits, end, best);
		if (end >= best)
			break;
		best = least(best, end + reduce_with(devices, few));
	}
	units[0] = most_units;
	return best;
}

/* Interleaved: the first k chunks, forward and back, take at least so long. */
static double least_before(const struct partition *partition, uint32_t k)
{
	const struct chain *chain = partition->chain;
	uint32_t inner;

	if (partition->virtual_stages == 1 || k < 2 ||
	    !partition_chain_is_plain(chain))
		return chain_least_both(chain, 0, k);
	inner = even_least(chain->blocks[chain->length], partition->chunks, k - 1);
	return chain_least_both(chain, 0, 1 + (inner > k - 1 ? inner : k - 1));
}

/* Interleaved: bound_paths of partition_search.c with every row passed along its
 * devices, for any cut: whole_s + (m - p) load of device k, less the forwards of its
 * first chunk done early; and longer by a group on the fullest chunk of the
 * device, all of which are passed on the way back. */
static double stay_least(const struct devices *devices, uint32_t k)
{
	const struct partition *partition = devices->partition;
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline;
	uint32_t largest = chain->blocks[chain->length] / (partition->chunks - 2) + 1;
	double ahead = p > 1 + 2 * k ? p - 1 - 2 * k : 0;
	double first = largest * devices->unit_forward_s + ends_of(devices, k).forward_s;

	return partition->whole_s - ahead * first;
}

/* Interleaved, any plain chain: no device is done before its stay. */
static void limit_stays(const struct devices *devices, struct deal_limits *limits)
{
	const struct partition *partition = devices->partition;
	const struct chain *chain = partition->chain;
	uint32_t inner = even_least(chain->blocks[chain->length],
				    partition->chunks, 1);
	double *stay = partition->backward_s;	/* room for p chunks and more */

	for (uint32_t k = 0; k < partition->pipeline; k++)
		stay[k] = stay_least(devices, k);
	limits->stay_s = stay;
	limits->dwell_s = (partition->pipeline - 1) *
			  chain_least_backward(chain, 1, 2);
	limits->dwell_least = inner ? inner : 1;
}

/* Interleaved: the first micro-batch goes forward through every chunk up to the
 * last one of device k, which then does all of its operations but those before
 * and after, and the last micro-batch comes back through the same chunks:
 *	both ways through these chunks + (m - p) load + (p - 1) that last chunk.
 * The last chunk holds any number of blocks beside the chain's last layer; where it
 * has fewer than an inner chunk, the chunk before it counts. Returns the least
 * over these numbers of the time with all that comes after the schedule. */
static double bound_through(const struct devices *devices,
			    struct deal_limits *limits, double tail, double step)
{
	const struct partition *partition = devices->partition;
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline, length = chain->length;
	uint32_t inner = even_least(chain->blocks[length], partition->chunks, 1);
	double head = chain_floor_both(chain, length - 1, length);
	double all = partition->whole_s;
	double unit = chain->deal.unit_s, low = INFINITY;
	double enough = incumbent_time_most(partition->incumbent);
	double *through = partition->forward_s;	/* room for p chunks and more */

	inner = inner ? inner : 1;
	for (uint32_t k = 0; k < p; k++)
		through[k] = 0;
	limits->through_s = through;
	limit_stays(devices, limits);
	for (uint32_t blocks = 0; blocks <= inner; blocks++) {
		double until = least(low, enough) - tail, span, reduced;

		through[p - 1] = all + (p - 1) * (head + blocks * unit);
		through[p - 2] = blocks == inner ? 0 :
			all - head - blocks * unit + (p - 1) * inner * unit -
			2 * partition->transfer_least_s[partition->chunks - 2];
		span = bound_deal_end(&chain->deal, limits, partition->span_s, until);
		if (span > until) {
			low = least(low, span + tail);
			continue;
		}
		reduced = end_and_reduce(devices, limits, span);
		low = least(low, most(span + tail, reduced + step));
	}
	limits->through_s = limits->stay_s = NULL;
	return low;
}

/* Partial recomputation: where memory keeps devices from having more layers than
 * units_most, several have heads of chunks. */
static void bound_whole_partial(struct partition *partition,
				const struct deal_limits *limits)
{
	const struct chain *chain = partition->chain;
	uint32_t last = chain->length - 1;
	double most_units = 0, blocks, whole;

	if (!chain->partial)
		return;
	for (uint32_t k = 0; k < partition->pipeline; k++)
		most_units = most(most_units, limits->units_most[k]);
	blocks = most_units + chain->deal.spare + chain->blocks[1] +
		 (chain->blocks[last + 1] - chain->blocks[last]);
	if (blocks < partition->blocks_most)
		partition->blocks_most = (uint32_t)blocks;
	whole = chain_floor_both(chain, 0, chain->length) +
		deal_recomputed(&chain->deal, limits) * chain->deal.extra_s;
	whole = most(whole, partition_rest(partition, 0));
	partition->whole_s = most(partition->whole_s,
				  whole + 2 * partition->transfer_rest_s[0]);
}

/* Fills what device k waits for at least before it begins and after it ends, and
 * returns the end of the schedule, whatever the number of layers on each. */
static double span_at_least(const struct partition *partition, double *entry)
{
	double after = 0;

	for (uint32_t k = 0; k < partition->pipeline; k++) {
		entry[k] = least_before(partition, k) + after;
		after += 2 * partition->transfer_least_s[k];
	}
	return partition->virtual_stages == 1 ?
		span_plain(partition) : span_interleaved(partition, entry);
}

void partition_glance(struct partition *partition)
{
	const struct chain *chain = partition->chain;

	if (partition->pipeline == 1) {
		bound_whole(partition);
		return;
	}
	partition->span_s = most(span_at_least(partition, partition->finish_s),
				 partition->micro_batches *
					 bound_deal(&chain->deal,
						    partition->pipeline,
						    partition->virtual_stages));
	partition->low_s = partition->span_s + mean_step(partition);
}

/* With what devices wait for, and have room for, by number in finish_s and saved_bytes. */
static struct deal_limits limits_of(const struct partition *partition)
{
	return (struct deal_limits){
		.pipeline = partition->pipeline,
		.chunks = partition->virtual_stages,
		.micro_batches = partition->micro_batches,
		.all_first = partition->gpipe,
		.entry_s = partition->finish_s,
		.units_most = partition->saved_bytes,
	};
}

void partition_bound(struct partition *partition)
{
	const struct chain *chain = partition->chain;
	uint32_t p = partition->pipeline;
	bool plain = partition->virtual_stages == 1;
	double enough = incumbent_time_most(partition->incumbent);
	double mean, tail;
	struct deal_limits limits = limits_of(partition);
	struct devices devices = {
		.partition = partition,
		.deal = &chain->deal,
		.limits = &limits,
	};

	if (p == 1) {
		bound_whole(partition);
		return;
	}
	bound_units(chain, partition->choice, &partition->share,
		    partition->saved_bytes);
	bound_whole_partial(partition, &limits);
	if (plain)
		limits.whole_s = partition->whole_s;
	mean = mean_step(partition);
	partition->span_s = bound_deal_end(&chain->deal, &limits,
					   span_at_least(partition,
							 partition->finish_s),
					   enough - mean);
	partition->low_s = partition->span_s + mean;
	if (isinf(partition->low_s) || partition->low_s > enough ||
	    !units_tell_all(chain))
		return;
	find_unit(&devices);
	tail = most(mean, tails(&devices));
	partition->low_s = partition->span_s + tail;
	if (!plain && partition_chain_is_plain(chain))
		partition->low_s = most(partition->low_s,
					bound_through(&devices, &limits, tail,
						      mean));
}

void partition_units_most(struct partition *partition, double *units_most)
{
	const struct chain *chain = partition->chain;
	double end = incumbent_time_most(partition->incumbent), tail;
	struct deal_limits limits = limits_of(partition);
	struct devices devices = {
		.partition = partition,
		.deal = &chain->deal,
		.limits = &limits,
	};

	bound_units(chain, partition->choice, &partition->share,
		    partition->saved_bytes);
	span_at_least(partition, partition->finish_s);
	tail = mean_step(partition);
	find_unit(&devices);
	if (units_tell_all(chain))
		tail = most(tail, tails(&devices));
	if (partition->virtual_stages > 1 && partition_chain_is_plain(chain))
		limit_stays(&devices, &limits);
	for (uint32_t k = 0; k < partition->pipeline; k++)
		units_most[k] = deal_units_by(&chain->deal, &limits, k, end - tail);
}

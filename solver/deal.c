/* SPDX-License-Identifier: MIT
 *
 * Dealing layers to devices. Loads and ends are searched among the values at
 * which some device has room for one layer more.
 */
#include "solver/deal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Layers of a run that are neither the first of the chain nor the last. */
static uint32_t inner_count(const struct problem *problem, uint32_t run)
{
	uint32_t last = problem->run_count - 1, count = problem->run[run].count;

	return count - (run == 0) - (run == last && (last > 0 || count > 1));
}

static bool is_even(const struct problem *problem, const struct deal *deal)
{
	bool seen = false;

	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;

		if (!inner_count(problem, i))
			continue;
		if (!problem->class_is_block[class] ||
		    (seen && class != deal->kind))
			return false;
		seen |= class == deal->kind;
	}
	return seen;
}

struct deal deal_find(const struct problem *problem)
{
	const struct problem_run *run = problem->run;
	struct deal deal = { 0 };

	for (uint32_t c = 0; c < problem->class_count; c++) {
		uint32_t units = 0;

		for (uint32_t i = 0; i < problem->run_count; i++)
			if (run[i].class_index == c)
				units += inner_count(problem, i);
		if (units > deal.units) {
			deal.units = units;
			deal.kind = c;
		}
	}
	deal.first_is_block = problem->class_is_block[run[0].class_index];
	deal.spare = problem_chain_length(problem);
	deal.spare = deal.spare < 2 ? 0 : deal.spare - 2 - deal.units;
	deal.even = is_even(problem, &deal);
	return deal;
}

/* Of any number of frequent layers on a device so many at least are recomputed, or
 * all: the heads of its chunks, but for what other blocks take of them. Chunks of
 * a device differ by one block at most, but for the first and the last chunk
 * of the chain. */
static double recomputed(const struct deal *deal, uint32_t pipeline,
			 uint32_t chunks, uint32_t k)
{
	bool end = k == 0 || k == pipeline - 1;
	uint32_t heads = chunks > 1 && end ? chunks - 1 : chunks;
	double others = deal->spare + (k == 0 && deal->first_is_block);
	double layers = (double)heads * deal->extra_layers - others;

	return layers > 0 ? layers : 0;
}

/* Load of device k with so many layers of the frequent kind. */
static double load_with(const struct deal *deal, uint32_t pipeline,
			uint32_t chunks, uint32_t k, double units)
{
	double load = units * deal->unit_s + (k == 0 ? deal->first_s : 0) +
		      (k == pipeline - 1 ? deal->last_s : 0);
	double heads;

	if (deal->extra_s <= 0)
		return load;
	heads = recomputed(deal, pipeline, chunks, k);
	return load + (units < heads ? units : heads) * deal->extra_s;
}

/* Whole layers of the frequent kind that fit into `load` besides the ends. */
static double units_within(const struct deal *deal, uint32_t pipeline,
			   uint32_t chunks, uint32_t k, double load)
{
	double room = load * (1 + 1e-12), heads;

	if (k == 0)
		room -= deal->first_s;
	if (k == pipeline - 1)
		room -= deal->last_s;
	if (deal->extra_s <= 0)
		return floor(room / deal->unit_s);
	heads = recomputed(deal, pipeline, chunks, k);
	if (room <= heads * (deal->unit_s + deal->extra_s))
		return floor(room / (deal->unit_s + deal->extra_s));
	return floor((room - heads * deal->extra_s) / deal->unit_s);
}

/* Layers of the frequent kind that a device has for certain. */
static double units_least(const struct deal *deal, uint32_t pipeline,
			  uint32_t chunks, uint32_t k)
{
	uint32_t ends = (k == 0) + (k == pipeline - 1) + deal->spare;

	return chunks > ends ? chunks - ends : 0;
}

/* What all devices have together, at least: were all layers on one of them, its
 * chunks would still have heads. */
static double deal_total(const struct deal *deal, uint32_t pipeline,
			 uint32_t chunks)
{
	double heads = recomputed(deal, pipeline, chunks, 0);

	return deal->units * deal->unit_s + deal->first_s + deal->last_s +
	       (heads < deal->units ? heads : deal->units) * deal->extra_s;
}

static bool deal_fits(const struct deal *deal, uint32_t pipeline,
		      uint32_t chunks, double load)
{
	double inner = units_within(deal, pipeline, chunks, 1, load);
	double first = units_within(deal, pipeline, chunks, 0, load);
	double last = units_within(deal, pipeline, chunks, pipeline - 1, load);

	if (pipeline == 2)
		inner = 0;
	else if (inner < units_least(deal, pipeline, chunks, 1))
		return false;
	return first >= units_least(deal, pipeline, chunks, 0) &&
	       last >= units_least(deal, pipeline, chunks, pipeline - 1) &&
	       first + last + (pipeline - 2) * inner >= deal->units;
}

/* The load is that of a whole number of units, maybe with one end's layer. */
double bound_deal(const struct deal *deal, uint32_t pipeline, uint32_t chunks)
{
	double mean = deal_total(deal, pipeline, chunks) / pipeline;
	uint32_t device[3] = { 0, pipeline - 1, 1 };
	int steps = deal->extra_s > 0 ? 64 : 5;
	double best = INFINITY;

	if (deal->unit_s <= 0 || pipeline < 2)
		return mean;
	for (int i = 0; i < (pipeline > 2 ? 3 : 2); i++) {
		uint32_t k = device[i];
		double units = units_within(deal, pipeline, chunks, k, mean);
		double least = units_least(deal, pipeline, chunks, 1);

		if (units < least - 1)	/* an end may make do with one less */
			units = least - 1;
		for (int more = 0; more < steps; more++) {
			double load = load_with(deal, pipeline, chunks, k,
						units + more);

			if (load >= best)
				break;
			if (load >= mean * (1 - 1e-12) &&
			    deal_fits(deal, pipeline, chunks, load))
				best = load;
		}
	}
	return isinf(best) ? mean : best;
}

/* What a search of ends needs of every device, worked out once. */
struct pace {
	const struct deal *deal;
	const struct deal_limits *limits;
	double per_micro_batch;		/* 1 / m */
	double per_later;		/* 1 / (m - p), 0 if that is not positive */
	double per_unit;		/* 1 / unit_s */
};

static struct pace pace_of(const struct deal *deal,
			   const struct deal_limits *limits)
{
	uint32_t m = limits->micro_batches, p = limits->pipeline;

	return (struct pace){
		.deal = deal,
		.limits = limits,
		.per_micro_batch = 1.0 / m,
		.per_later = m > p ? 1.0 / (m - p) : 0,
		.per_unit = 1 / deal->unit_s,
	};
}

static double second_scale(const struct deal_limits *limits, uint32_t k)
{
	uint32_t after = limits->pipeline - 1 - k;
	uint32_t steps = limits->micro_batches - 1;

	if (limits->all_first)
		return steps;
	return steps - (after < steps ? after : steps) / 2.0;
}

static double load_of(const struct deal *deal, const struct deal_limits *limits,
		      uint32_t k, double units)
{
	return load_with(deal, limits->pipeline, limits->chunks, k, units);
}

/* Layers of the fullest of a device's chunks, at least. */
static double fullest_chunk(const struct deal_limits *limits, double units)
{
	double mean = ceil(units / limits->chunks);

	return mean > limits->dwell_least ? mean : limits->dwell_least;
}

/* The end by which device k has so many layers of the frequent kind. */
static double end_with(const struct deal *deal, const struct deal_limits *limits,
		       uint32_t k, double units)
{
	double load = load_of(deal, limits, k, units);
	double end = limits->entry_s[k] + limits->micro_batches * load;

	if (limits->whole_s > 0) {
		double other = limits->whole_s + second_scale(limits, k) * load;

		if (other > end)
			end = other;
	}
	if (limits->through_s) {
		double other = limits->through_s[k] +
			       ((double)limits->micro_batches - limits->pipeline) *
				       load;

		if (other > end)
			end = other;
	}
	if (limits->stay_s) {
		double other = limits->stay_s[k] +
			       ((double)limits->micro_batches - limits->pipeline) *
				       load +
			       limits->dwell_s * fullest_chunk(limits, units);

		if (other > end)
			end = other;
	}
	return end;
}

/* And the load it can have by an end. */
static double load_by(const struct pace *pace, uint32_t k, double end)
{
	const struct deal_limits *limits = pace->limits;
	double load = (end - limits->entry_s[k]) * pace->per_micro_batch;
	double scale;

	if (limits->whole_s > 0 && (scale = second_scale(limits, k)) > 0) {
		double other = (end - limits->whole_s) / scale;

		if (other < load)
			load = other;
	}
	if (limits->through_s) {
		double other = pace->per_later > 0 ?
			(end - limits->through_s[k]) * pace->per_later :
			end < limits->through_s[k] ? -1 : load;

		if (other < load)
			load = other;
	}
	return load;
}

double deal_end_with(const struct deal *deal, const struct deal_limits *limits,
		     uint32_t k, double units)
{
	return end_with(deal, limits, k, units);
}

/* Whole layers of the frequent kind that make device k's load. */
static double units_of(const struct pace *pace, uint32_t k, double load)
{
	const struct deal *deal = pace->deal;
	uint32_t p = pace->limits->pipeline;
	double room;

	if (deal->extra_s > 0)
		return units_within(deal, p, pace->limits->chunks, k, load);
	room = load * (1 + 1e-12);
	if (k == 0)
		room -= deal->first_s;
	if (k == p - 1)
		room -= deal->last_s;
	room *= pace->per_unit;
	/* A conversion is far quicker than floor. */
	return room < 0 ? -1 : room < 1e15 ? (double)(int64_t)room : room;
}

/* Of so many layers those by which it is done with its stay: fewer in its fullest chunk
 * leave time for more of them, up to what such chunks hold. */
static double units_staying(const struct pace *pace, uint32_t k, double end,
			    double units)
{
	const struct deal_limits *limits = pace->limits;
	double fullest = fullest_chunk(limits, units);

	for (;;) {
		double left = end - limits->stay_s[k] - limits->dwell_s * fullest;
		double fit = pace->per_later > 0 ?
			units_of(pace, k, left * pace->per_later) :
			left < 0 ? -1 : units;

		if (fit >= units)
			return units;
		if (fit >= 0 && (fullest <= limits->dwell_least ||
				 fit > (fullest - 1) * limits->chunks))
			return fit;
		if (fullest <= limits->dwell_least)
			return -1;
		fullest--;
		if (units > fullest * limits->chunks)
			units = fullest * limits->chunks;
	}
}

/* Whole layers of the frequent kind that device k has room for by that end;
 * negative if not even for what it has for certain. */
static double units_by(const struct pace *pace, uint32_t k, double end)
{
	double units = units_of(pace, k, load_by(pace, k, end));

	if (pace->limits->stay_s && units >= 0)
		units = units_staying(pace, k, end, units);
	return units;
}

/* Whether all layers find room by that end; if not, *next is the first end by
 * which some device has room for one more. */
static bool deal_by(const struct pace *pace, double end, double *next)
{
	const struct deal *deal = pace->deal;
	const struct deal_limits *limits = pace->limits;
	uint32_t p = limits->pipeline;
	double inner_least = units_least(deal, p, limits->chunks, 1);
	double units = 0;
	bool enough = true;

	*next = INFINITY;
	for (uint32_t k = 0; k < p; k++) {
		double fit = units_by(pace, k, end);
		double least = k && k < p - 1 ? inner_least :
			units_least(deal, p, limits->chunks, k);
		double room = limits->units_most ? limits->units_most[k] : INFINITY;
		double wanted = fit < least ? least : fit + 1;

		if (fit < least)
			enough = false;
		if (wanted <= room) {
			double then = end_with(deal, limits, k, wanted);

			if (then < *next)
				*next = then;
		}
		fit = fit < room ? fit : room;
		units += fit > 0 ? fit : 0;
	}
	return enough && units >= deal->units;
}

/* Whether the devices have room for all layers at all; *mean receives the mean of
 * what they wait for and do, before which no schedule ends. */
static bool deal_has_room(const struct deal *deal,
			  const struct deal_limits *limits, double *mean)
{
	uint32_t p = limits->pipeline;
	double room = 0, sum = limits->micro_batches *
			       deal_total(deal, p, limits->chunks);

	for (uint32_t k = 0; k < p; k++) {
		sum += limits->entry_s[k];
		if (!limits->units_most)
			continue;
		if (limits->units_most[k] < units_least(deal, p, limits->chunks, k))
			return false;
		room += limits->units_most[k];
	}
	*mean = sum / p;
	return !limits->units_most || room >= deal->units;
}

/* Bisection gets near; any end below the returned one is too early. */
double bound_deal_end(const struct deal *deal, const struct deal_limits *limits,
		      double from_s, double until_s)
{
	struct pace pace;
	double low, high, next;

	if (deal->unit_s <= 0 || limits->pipeline < 2)
		return from_s;
	if (!deal_has_room(deal, limits, &low))
		return INFINITY;
	low = low < from_s ? from_s : low;
	if (low > until_s)
		return low;
	pace = pace_of(deal, limits);
	if (deal_by(&pace, low, &next))
		return low;
	low = next;
	if (low >= until_s)
		return low;
	if (!isinf(until_s) && !deal_by(&pace, until_s, &next))
		return next < until_s ? until_s : next;
	high = low;
	for (double step = limits->micro_batches * deal->unit_s;
	     !deal_by(&pace, high, &next); step *= 2) {
		low = next > high ? next : high;
		high = low + step < until_s ? low + step : until_s;
		if (isinf(low))
			return low;
	}
	for (int i = 0; i < 10 && low < high; i++) {
		double middle = low + (high - low) / 2;

		if (deal_by(&pace, middle, &next))
			high = middle;
		else
			low = next > middle ? next : middle;
	}
	return low < high ? low : high;
}

/* Fewest where few devices have all they have room for and the others none: of every
 * device only the first layers count. */
double deal_recomputed(const struct deal *deal, const struct deal_limits *limits)
{
	uint32_t p = limits->pipeline, c = limits->chunks;
	double heads = recomputed(deal, p, c, 0), room = 0, full, rest;

	if (recomputed(deal, p, c, p - 1) < heads)
		heads = recomputed(deal, p, c, p - 1);
	for (uint32_t k = 0; k < p; k++)
		if (!limits->units_most)
			room = deal->units;
		else if (limits->units_most[k] > room)
			room = limits->units_most[k];
	if (room > deal->units)
		room = deal->units;
	if (room < 1)
		return 0;
	full = floor(deal->units / room);
	rest = deal->units - full * room;
	return full * (heads < room ? heads : room) + (heads < rest ? heads : rest);
}

double deal_units_by(const struct deal *deal, const struct deal_limits *limits,
		     uint32_t k, double end)
{
	double units = deal->units;

	if (limits->units_most && limits->units_most[k] < units)
		units = limits->units_most[k];
	if (deal->unit_s > 0 && !isinf(end)) {
		struct pace pace = pace_of(deal, limits);
		double fit = units_by(&pace, k, end);

		units = fit < units ? fit : units;
	}
	return units;
}

double deal_units_least(const struct deal *deal,
			const struct deal_limits *limits, uint32_t k)
{
	return units_least(deal, limits->pipeline, limits->chunks, k);
}

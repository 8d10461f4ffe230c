/* SPDX-License-Identifier: MIT
 *
 * Dealing layers to devices. Loads and ends are searched among the values at
 * which some device has room for one layer more.
 */
#include "solver/deal.h"

#include <math.h>
#include <stdbool.h>

struct deal deal_find(const struct problem *problem)
{
	const struct problem_run *run = problem->run;
	uint32_t last = problem->run_count - 1;
	struct deal deal = { 0 };

	for (uint32_t c = 0; c < problem->class_count; c++) {
		uint32_t units = 0;

		for (uint32_t i = 0; i <= last; i++)
			if (run[i].class_index == c)
				units += run[i].count - (i == 0) - (i == last &&
						(last > 0 || run[i].count > 1));
		if (units > deal.units) {
			deal.units = units;
			deal.kind = c;
		}
	}
	deal.spare = problem_chain_length(problem);
	deal.spare = deal.spare < 2 ? 0 : deal.spare - 2 - deal.units;
	return deal;
}

/* Whole layers of the frequent kind that fit into `load` besides the ends. */
static double units_within(const struct deal *deal, uint32_t pipeline,
			   uint32_t k, double load)
{
	double room = load * (1 + 1e-12);

	if (k == 0)
		room -= deal->first_s;
	if (k == pipeline - 1)
		room -= deal->last_s;
	return floor(room / deal->unit_s);
}

/* Layers of the frequent kind that a device has for certain. */
static double units_least(const struct deal *deal, uint32_t pipeline,
			  uint32_t chunks, uint32_t k)
{
	uint32_t ends = (k == 0) + (k == pipeline - 1) + deal->spare;

	return chunks > ends ? chunks - ends : 0;
}

static double deal_total(const struct deal *deal)
{
	return deal->units * deal->unit_s + deal->first_s + deal->last_s;
}

static bool deal_fits(const struct deal *deal, uint32_t pipeline,
		      uint32_t chunks, double load)
{
	double inner = units_within(deal, pipeline, 1, load);
	double first = units_within(deal, pipeline, 0, load);
	double last = units_within(deal, pipeline, pipeline - 1, load);

	if (pipeline == 2)
		inner = 0;
	else if (inner < units_least(deal, pipeline, chunks, 1))
		return false;
	return first >= units_least(deal, pipeline, chunks, 0) &&
	       last >= units_least(deal, pipeline, chunks, pipeline - 1) &&
	       first + last + (pipeline - 2) * inner >= deal->units;
}

/* The load is a whole number of units, maybe with one end's layer. */
double bound_deal(const struct deal *deal, uint32_t pipeline, uint32_t chunks)
{
	double u = deal->unit_s, mean = deal_total(deal) / pipeline;
	double ends[3] = { 0, deal->first_s, deal->last_s };
	double best = INFINITY;

	if (u <= 0 || pipeline < 2)
		return mean;
	for (int i = 0; i < 3; i++) {
		double units = floor((mean - ends[i]) / u);
		double least = units_least(deal, pipeline, chunks, 1);

		if (units < least - 1)	/* an end may make do with one less */
			units = least - 1;
		for (int more = 0; more < 5; more++) {
			double load = (units + more) * u + ends[i];

			if (load >= best)
				break;
			if (load >= mean * (1 - 1e-12) &&
			    deal_fits(deal, pipeline, chunks, load))
				best = load;
		}
	}
	return isinf(best) ? mean : best;
}

/* Devices' loads by the end of the schedule. */
struct deal_limits {
	const struct deal *deal;
	uint32_t pipeline, chunks, micro_batches;
	const double *entry_s;
	double whole_s;
};

static double second_scale(const struct deal_limits *limits, uint32_t k)
{
	uint32_t after = limits->pipeline - 1 - k;
	uint32_t steps = limits->micro_batches - 1;

	return steps - (after < steps ? after : steps) / 2.0;
}

/* Whether all layers find room by that end; if not, *next is the first end by
 * which some device has room for one more. */
static bool deal_by(const struct deal_limits *limits, double end, double *next)
{
	const struct deal *deal = limits->deal;
	uint32_t p = limits->pipeline;
	double m = limits->micro_batches, units = 0;
	bool enough = true;

	*next = INFINITY;
	for (uint32_t k = 0; k < p; k++) {
		double scale = second_scale(limits, k);
		double load = (end - limits->entry_s[k]) / m;
		double other = INFINITY, fit, needed, then;

		if (limits->whole_s > 0 && scale > 0)
			other = (end - limits->whole_s) / scale;
		fit = units_within(deal, p, k, other < load ? other : load);
		needed = units_least(deal, p, limits->chunks, k);
		if (fit < needed)
			enough = false;
		else
			needed = fit + 1;
		if (fit < 0)
			fit = 0;
		units += fit;
		load = needed * deal->unit_s + (k == 0 ? deal->first_s : 0) +
		       (k == p - 1 ? deal->last_s : 0);
		then = limits->entry_s[k] + m * load;
		if (limits->whole_s > 0 && limits->whole_s + scale * load > then)
			then = limits->whole_s + scale * load;
		if (then < *next)
			*next = then;
	}
	return enough && units >= deal->units;
}

double bound_deal_entries(const struct deal *deal, uint32_t pipeline,
			  uint32_t chunks, uint32_t micro_batches,
			  const double *entry_s, double whole_s)
{
	struct deal_limits limits = { deal, pipeline, chunks, micro_batches,
				      entry_s, whole_s };
	double m = micro_batches, low = 0, high, next;

	if (deal->unit_s <= 0 || pipeline < 2)
		return 0;
	for (uint32_t k = 0; k < pipeline; k++)
		low += entry_s[k];
	low = (low + m * deal_total(deal)) / pipeline;
	if (deal_by(&limits, low, &next))
		return low;
	high = low + m * deal->unit_s;
	for (int i = 0; i < 8; i++) {
		double middle = low + (high - low) / 2;

		if (deal_by(&limits, middle, &next))
			high = middle;
		else
			low = next > middle ? next : middle;
		if (low >= high)
			break;
	}
	return low;
}

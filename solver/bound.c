/* SPDX-License-Identifier: MIT
 *
 * The bounds of bound.h.
 */
#include "solver/bound.h"

#include <math.h>
#include <stdbool.h>

#include "solver/schedule.h"
#include "solver/most.h"

double bound_loop(double whole_s, double loop_s, uint32_t stages,
		  uint32_t micro_batches, double stage_s, double half_s)
{
	uint32_t loops = (micro_batches - 1) / stages;
	uint32_t rest = (micro_batches - 1) % stages;

	return whole_s + loops * loop_s + rest * (loops ? stage_s : half_s);
}

double bound_inner_loop(double prefix_s, double stage_s, double loop_s,
			uint32_t stages, uint32_t after, uint32_t micro_batches)
{
	uint32_t steps;

	if (micro_batches <= after + 1)
		return prefix_s + micro_batches * stage_s;
	steps = micro_batches - 1 - after;
	return prefix_s + (after + 1) * stage_s + steps / stages * loop_s +
	       steps % stages * stage_s;
}

/* A class's weight in the sum of bound_memory under factor 1 / device scale. */
struct layer_bytes {
	double fixed;			/* parameters */
	double kept;			/* per micro-batch in flight */
	double count;
};

/* What the layers of a run keep: under partial recomputation at least, or what
 * they would if none were recomputed. */
enum keeping { KEEPING_LEAST, KEEPING_WHOLE };

static struct layer_bytes run_bytes(const struct chain *chain, uint32_t begin,
				    const struct share *share,
				    enum keeping keeping)
{
	const double *saved = keeping == KEEPING_LEAST ?
		chain->floor.saved_bytes : chain->kept.saved_bytes;
	uint32_t end = chain->run_end[begin];
	double count = end - begin;
	struct holding held = chain_held_apart(chain, begin, end);

	return (struct layer_bytes){
		.fixed = share_least_bytes(share, held) / count,
		.kept = (saved[end] - saved[begin]) / count,
		.count = count,
	};
}

/* The run that weighs most sets the scale of every device. */
static struct layer_bytes heaviest_run(const struct chain *chain,
				       const struct share *share, double kept,
				       enum keeping keeping)
{
	struct layer_bytes heaviest = { 0 };
	double bytes = 0;

	for (uint32_t at = 0; at < chain->length; at = chain->run_end[at]) {
		struct layer_bytes run = run_bytes(chain, at, share, keeping);
		double all = (run.fixed + run.kept * kept) * run.count;

		if (all >= bytes) {
			bytes = all;
			heaviest = run;
		}
	}
	return heaviest;
}

/* What a block that is recomputed keeps less, at most. */
static double spared_most(const struct chain *chain)
{
	double most_bytes = 0;

	for (uint32_t at = 0; at < chain->length; at = chain->run_end[at]) {
		double less = chain->kept.saved_bytes[at + 1] -
			      chain->kept.saved_bytes[at] -
			      (chain->floor.saved_bytes[at + 1] -
			       chain->floor.saved_bytes[at]);

		most_bytes = most(most_bytes, less);
	}
	return most_bytes;
}

/* Device k with y_k micro-batches in flight has at least
 * M_k = reserve + sum over its layers of (fixed + y_k kept). With positive
 * factors u_k: max M >= sum u_k M_k / sum u_k, and a layer adds at least its
 * least u_k (fixed + y_k kept), wherever it lies. u_k (fixed + y_k kept) = 1 for the
 * heaviest class makes that tight. For any class the least is at the first
 * or the last device of largest and smallest y, since the ratio of two linear
 * functions of y is monotone.
 *
 * Partial recomputation: with what layers keep that are not recomputed, device k
 * has at least the same less y_k x (recomputed layers of its chunks, at most) x
 * (what one of these keeps less, at most). */
static double spread_memory(const struct chain *chain, const struct choice *choice,
			    const struct share *share, enum keeping keeping)
{
	struct schedule_shape schedule = schedule_of(choice);
	uint32_t p = choice->pipeline;
	double scale_sum = 0, least_kept = INFINITY, most_kept = 0, sum = 0;
	struct layer_bytes heaviest;
	double tied, unit_least, unit_most, spared = 0;

	for (uint32_t k = 0; k < p; k++) {
		double kept = schedule_least_kept(&schedule, k);

		least_kept = kept < least_kept ? kept : least_kept;
		most_kept = kept > most_kept ? kept : most_kept;
	}
	heaviest = heaviest_run(chain, share, least_kept, keeping);
	unit_least = heaviest.fixed + heaviest.kept * least_kept;
	unit_most = heaviest.fixed + heaviest.kept * most_kept;
	if (unit_least <= 0)
		return 0;
	if (keeping == KEEPING_WHOLE)
		spared = spared_most(chain) * choice->virtual_stages *
			 chain->recompute_layers;
	for (uint32_t k = 0; k < p; k++) {
		double kept = schedule_least_kept(&schedule, k);
		double scale = 1 / (heaviest.fixed + heaviest.kept * kept);

		scale_sum += scale;
		sum -= scale * kept * spared;
	}
	for (uint32_t at = 0; at < chain->length; at = chain->run_end[at]) {
		struct layer_bytes run = run_bytes(chain, at, share, keeping);
		double a = (run.fixed + run.kept * least_kept) / unit_least;
		double b = (run.fixed + run.kept * most_kept) / unit_most;

		sum += run.count * (a < b ? a : b);
	}
	tied = chain->tied_last < chain->length ? chain->tied_parameters : 0;
	sum -= tied * share->parameter_bytes / unit_least;
	return sum > 0 ? sum / scale_sum : 0;
}

double bound_memory(const struct chain *chain, const struct choice *choice,
		    const struct share *share)
{
	double bytes = spread_memory(chain, choice, share, KEEPING_LEAST);

	if (chain->partial)
		bytes = most(bytes, spread_memory(chain, choice, share,
						  KEEPING_WHOLE));
	return share->reserve_bytes + chain->working_least_bytes + bytes;
}

/* What the ends of the chain take on device k, and work on the largest of its layers,
 * one that takes so much at least. */
static double fixed_bytes(const struct chain *chain, const struct choice *choice,
			  uint32_t k, double kept, double working,
			  const struct share *share)
{
	uint32_t last = chain->length - 1;
	double bytes = 0;
	bool apart = chain->tied_first == 0 && chain->tied_last == last;

	if (k == 0) {
		bytes += share_least_bytes(share, chain->held[1]) +
			 kept * chain_least_saved(chain, 0, 1);
		working = most(working, chain_least_working(chain, 0, 1));
	}
	if (k == choice->pipeline - 1) {
		bytes += share_least_bytes(share, chain_held_apart(chain, last,
								   last + 1)) +
			 kept * chain_least_saved(chain, last, last + 1);
		working = most(working,
			       chain_least_working(chain, last, last + 1));
	}
	if (!apart && chain->tied_last <= last)
		bytes -= chain->tied_parameters * share->parameter_bytes;
	return bytes + working;
}

static double units_in(double room, double unit)
{
	return unit > 0 ? floor(room / unit * (1 + 1e-9)) :
	       room >= 0 ? INFINITY : -1;
}

/* Nearly even chunks: every inner one holds `base` blocks or one more, and base is from
 * `low` to `high`. Were one to hold fewer than the mean rounded down, no other could
 * make up for it. */
struct sizes {
	uint32_t low, high;
};

static struct sizes chunk_sizes(const struct chain *chain, uint32_t chunks)
{
	uint32_t blocks = chain->blocks[chain->length];
	uint32_t mean = blocks / chunks, inner = blocks / (chunks - 2);

	return (struct sizes){
		.low = mean ? mean : 1,
		.high = inner ? inner : 1,
	};
}

/* Room left, filled with units that each take so many bytes, as many as allowed. */
static double fill(double *room, double each, double most_units)
{
	double units = units_in(*room, each);

	if (units > most_units)
		units = most_units;
	*room = units < most_units ? 0 : *room - units * each;
	return units < 0 ? 0 : units;
}

/* The chunks of device k keep what they hold for the micro-batches of
 * schedule_first_kept: the inner ones for `base` layers each, more of them where
 * fewest are kept, in the last rows. The first chunk of the chain and the last may
 * hold none. */
static double even_units(const struct choice *choice, uint32_t k, uint32_t least,
			 double room, double unit_bytes, double saved)
{
	uint32_t p = choice->pipeline, v = choice->virtual_stages;
	struct schedule_shape schedule = schedule_of(choice);
	struct schedule_kept kept = schedule_first_kept(&schedule, k);
	bool first = k == 0, last = k == p - 1;
	/* A row may have one more, and an end all it may hold. */
	double more = 1, base = least;
	double rows = v - first - last, all = (double)v * kept.full +
					      (double)kept.row * p + kept.part;
	double units, late, part, early;

	if (first)
		all -= schedule_kept_in(&kept, 0);
	if (last)
		all -= schedule_kept_in(&kept, v - 1);
	room -= base * (rows * unit_bytes + all * saved);
	if (room < 0)
		return -1;
	late = (v - 1 - kept.row) * more + (last && kept.row < v - 1 ? base : 0);
	part = more + ((first && !kept.row) || (last && kept.row == v - 1) ?
			       base : 0);
	early = kept.row * more + (first && kept.row ? base : 0);
	units = fill(&room, unit_bytes + kept.full * saved, late);
	units += fill(&room, unit_bytes + (kept.full + kept.part) * saved, part);
	units += fill(&room, unit_bytes + (kept.full + p) * saved, early);
	return rows * base + units;
}

/* What decides how many units device k has room for. */
struct unit_room {
	const struct choice *choice;
	uint32_t device;
	double bytes;			/* for units, all of them together */
	double unit_bytes;		/* of one, of weights and the like */
	double saved, whole;		/* per micro-batch, least and if not recomputed */
	double kept;			/* micro-batches */
	bool even;
	struct sizes sizes;
};

/* All chunks of a cut have the same base, any that is possible. */
static double even_most(const struct unit_room *unit, double room)
{
	double units = -1;

	for (uint32_t base = unit->sizes.low; base <= unit->sizes.high; base++)
		units = most(units, even_units(unit->choice, unit->device, base,
					       room, unit->unit_bytes,
					       unit->saved));
	return units;
}

/* n units take at least n (fixed + y least), and at least n (fixed + y whole) -
 * y heads (whole - least) where so many heads of chunks are recomputed. */
static double units_fit(const struct unit_room *unit, double moving_bytes)
{
	const struct choice *choice = unit->choice;
	double heads = (double)choice->virtual_stages * choice->recompute_layers;
	double room = unit->bytes - moving_bytes, units, other;

	if (unit->even)
		return even_most(unit, room);
	units = units_in(room, unit->unit_bytes + unit->kept * unit->saved);
	if (unit->whole <= unit->saved)
		return units;
	other = units_in(room + unit->kept * heads * (unit->whole - unit->saved),
			 unit->unit_bytes + unit->kept * unit->whole);
	return other < units ? other : units;
}

/* Of two units both may have to be whole for a while, of one that. */
static double units_moving(const struct unit_room *unit, double moving_bytes)
{
	double units = units_fit(unit, 2 * moving_bytes);

	if (moving_bytes <= 0 || units >= 2)
		return units;
	units = units_fit(unit, moving_bytes);
	if (units >= 1)
		return 1;
	units = units_fit(unit, 0);
	return units < 0 ? units : 0;
}

/* Least transient of a layer between the ends. */
static double inner_working(const struct chain *chain)
{
	double least = INFINITY;

	for (uint32_t at = 1; at + 1 < chain->length; at = chain->run_end[at]) {
		double working = chain_least_working(chain, at, at + 1);

		least = working < least ? working : least;
	}
	return least;
}

/* By how much less than a unit one of the layers before the units takes at least, where
 * a chunk keeps up to so many micro-batches. */
static double spare_less(const struct chain *chain, const struct share *share,
			 const struct unit_room *unit, double kept_most)
{
	double less = 0;

	for (uint32_t at = 1; at <= chain->deal.spare; at = chain->run_end[at]) {
		double fixed = unit->unit_bytes -
			       share_least_bytes(share, chain_held_apart(chain, at,
									 at + 1));
		double saved = unit->saved - chain_least_saved(chain, at, at + 1);

		less = most(less, fixed + most(0, saved) * kept_most);
	}
	return less;
}

/* What the layers before the units leave more than units would where a device may hold
 * them: the first j blocks lie in the chunks 0 .. ceil(j / base). */
static double spare_room(const struct chain *chain, const struct choice *choice,
			 const struct share *share, const struct unit_room *unit)
{
	struct schedule_shape schedule = schedule_of(choice);
	struct schedule_kept kept = schedule_first_kept(&schedule, unit->device);
	uint32_t spare = chain->deal.spare, base = unit->sizes.low;
	uint32_t last = (spare + base - 1) / base;

	if (!spare || (unit->device > last && last < choice->pipeline))
		return 0;
	return spare * spare_less(chain, share, unit,
				  (double)kept.full + kept.pipeline);
}

void bound_units(const struct chain *chain, const struct choice *choice,
		 const struct share *share, double *units_most)
{
	const struct problem *problem = chain->problem;
	const struct deal *deal = &chain->deal;
	struct schedule_shape schedule = schedule_of(choice);
	struct holding held = holding_of(problem_weight_at(problem, choice->shape,
							   deal->kind));
	double cost = problem_cost_at(problem, choice->shape, deal->kind,
				      choice->recompute)->saved_bytes;
	double whole = layer_may_be_kept(problem, choice, deal->kind) ?
		problem_cost_at(problem, choice->shape, deal->kind,
				RECOMPUTE_NONE)->saved_bytes : cost;
	double moving_bytes = share_moving(share, held);
	double limit = problem->memory.limit_bytes * (1 + 1e-12);
	double working = chain->working_least_bytes;
	struct unit_room unit = {
		.choice = choice,
		.unit_bytes = share_least_bytes(share, held),
		.saved = cost < whole ? cost : whole,
		.whole = whole,
		.even = choice->virtual_stages > 1 && !chain->partial &&
			deal->even,
	};

	if (unit.even) {
		unit.sizes = chunk_sizes(chain, choice->pipeline *
							choice->virtual_stages);
		/* Every device has an inner chunk. */
		working = inner_working(chain);
	}
	for (uint32_t k = 0; k < choice->pipeline; k++) {
		double more = deal->spare || unit.even ? 0 :
			schedule_more_kept(&schedule, k);

		unit.device = k;
		unit.kept = schedule_least_kept(&schedule, k);
		unit.bytes = limit - share->reserve_bytes - more * unit.saved -
			     fixed_bytes(chain, choice, k, unit.kept, working, share);
		if (unit.even)
			unit.bytes += spare_room(chain, choice, share, &unit);
		units_most[k] = units_moving(&unit, moving_bytes);
	}
}

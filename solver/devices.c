/* SPDX-License-Identifier: MIT
 *
 * Blocks of ranks into children of levels, around devices that are avoided and with
 * pinned ranks where they belong.
 */
#include "solver/devices.h"

#include <stddef.h>

#include "solver/devices_hold.h"
#include "solver/linear.h"
#include "solver/network.h"

/* ---- putting blocks ---- */

static void put_block(const struct laying *laying, uint32_t level,
		      uint32_t child, uint32_t prefix, uint32_t rank);

/* What a position at a level adds to the rank's number. */
static uint32_t rank_step(const struct laying *laying, uint32_t l,
			  uint32_t position)
{
	uint32_t step = 0;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t base = laying->placement->factor[d][l];

		step += position % base * laying->stride[d][l] *
			laying->number[d];
		position /= base;
	}
	return step;
}

static void put_box(const struct laying *laying, uint32_t level, uint32_t parent,
		    uint32_t prefix, uint32_t rank)
{
	struct box first = { .low = laying_torus_low(laying, level - 1),
			     .high = level - 1 };
	struct box logical = { .low = first.low, .high = first.high };

	box_find(laying, &first, parent, prefix);
	do {
		uint32_t own = rank;

		for (uint32_t l = first.low; l <= first.high; l++)
			own += rank_step(laying, l, logical.at[l]);
		put_block(laying, first.low,
			  box_child(laying, &first, &logical, parent),
			  box_prefix(laying, &logical, prefix), own);
	} while (box_next(&logical, laying->used));
}

/* The next child that a block without pins takes. */
static uint32_t next_free(const struct laying *laying, const struct match *match,
			  uint32_t l, uint32_t parent, uint32_t from)
{
	while (match->owner[from] ||
	       laying_is_bad(laying, l, parent * match->fanout + from))
		from++;
	return from;
}

/* Dimensions as ranks count them that have pipeline inside data. */
static const enum dimension pipeline_inside[DIMENSION_COUNT] = {
	DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_PIPELINE, DIMENSION_DATA,
};
static const enum dimension data_inside[DIMENSION_COUNT] = {
	DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA, DIMENSION_PIPELINE,
};

/* Whether devices ascend with the ranks counted in an order, if positions within a
 * level are counted in it too: from the inside no dimension follows a later one. */
static bool ascends(const struct problem *problem,
		    const struct placement *placement,
		    const enum dimension *order)
{
	uint32_t latest = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
			if (placement->factor[order[i]][l] == 1)
				continue;
			if (i < latest)
				return false;
			latest = i;
		}
	}
	return true;
}

/* Whether positions of a level may be counted in any order: on a ring they may not,
 * nor where several devices of a child are on one rail. */
static bool positions_are_free(const struct problem *problem,
			       const struct placement *placement)
{
	uint32_t below = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];

		if (level->rails && level->rails < below)
			return false;
		if (level->kind == LEVEL_RING &&
		    placement->factor[DIMENSION_DATA][l] > 1 &&
		    placement->factor[DIMENSION_PIPELINE][l] > 1)
			return false;
		below *= level->fanout;
	}
	return !problem->graph;
}

static bool puts_pipeline_inside(const struct problem *problem,
				 const struct placement *placement)
{
	return !ascends(problem, placement, data_inside) &&
	       ascends(problem, placement, pipeline_inside) &&
	       positions_are_free(problem, placement);
}

/* The position of the i-th block of a level to be put into a child. */
static uint32_t turn(const struct laying *laying, uint32_t l, uint32_t i)
{
	const struct placement *placement = laying->placement;
	uint32_t inner = placement->factor[DIMENSION_TENSOR][l] *
			 placement->factor[DIMENSION_CONTEXT][l];
	uint32_t pipeline = placement->factor[DIMENSION_PIPELINE][l];
	uint32_t outer = i / inner;

	if (!laying->pipeline_inside)
		return i;
	return i % inner +
	       inner * (outer / pipeline + placement->factor[DIMENSION_DATA][l] *
						   (outer % pipeline));
}

static void put_switch(const struct laying *laying, uint32_t level,
		       uint32_t parent, uint32_t prefix, uint32_t rank)
{
	uint32_t l = level - 1, free = 0, taken[PIN_MAX] = { 0 };
	uint32_t own = laying->placement->factor[DIMENSION_PIPELINE][l];
	uint32_t each = laying->used[l] / own;
	struct arena_mark mark = arena_mark(laying->scratch);
	struct match match = match_open(laying, l, parent, prefix);

	match_pinned(laying, l, &match);
	for (uint32_t i = 0; i < laying->used[l]; i++) {
		uint32_t at = turn(laying, l, i);
		uint32_t digit = at / each, child, want = 0;

		while (want < match.want_count &&
		       match.want[want].digit != digit)
			want++;
		if (want == match.want_count) {
			free = next_free(laying, &match, l, parent, free);
			child = free++;
		} else {
			while (match.owner[taken[want]] != want + 1)
				taken[want]++;
			child = taken[want]++;
		}
		put_block(laying, l, parent * match.fanout + child,
			  prefix * own + digit,
			  rank + rank_step(laying, l, at));
	}
	arena_rewind(laying->scratch, mark);
}

static void put_block(const struct laying *laying, uint32_t level,
		      uint32_t child, uint32_t prefix, uint32_t rank)
{
	if (!level)
		laying->device[rank] = child;
	else if (laying->problem->level[level - 1].kind == LEVEL_RING)
		put_box(laying, level, child, prefix, rank);
	else
		put_switch(laying, level, child, prefix, rank);
}

/* ---- children that hold nothing ---- */

/* Those of level l + 1 with too few children of level l left. */
static void spoil_switch(struct laying *laying, uint32_t l)
{
	const struct children *bad = &laying->bad[l];
	struct children *above = &laying->bad[l + 1];
	uint32_t fanout = laying_fanout(laying, l), run = 0;

	for (uint32_t i = 0; i < bad->count; i++) {
		uint32_t parent = bad->at[i] / fanout;

		run = i && bad->at[i - 1] / fanout == parent ? run + 1 : 1;
		if (run == fanout - laying->used[l] + 1)
			above->at[above->count++] = parent;
	}
}

/* Those of level high + 1 in which the torus finds no box. */
static void spoil_torus(struct laying *laying, uint32_t low, uint32_t high)
{
	const struct children *bad = &laying->bad[low];
	struct children *above = &laying->bad[high + 1];
	struct box first = { .low = low, .high = high };
	uint32_t size = box_children(laying, &first), bounds = laying->bound_count;

	laying->bound_count = 0;
	for (uint32_t i = 0; i < bad->count; i++) {
		uint32_t parent = bad->at[i] / size;

		if ((!i || bad->at[i - 1] / size != parent) &&
		    !box_find(laying, &first, parent, 0))
			above->at[above->count++] = parent;
	}
	laying->bound_count = bounds;
}

static void spoil(struct laying *laying)
{
	const struct problem *problem = laying->problem;

	for (uint32_t l = 0; l <= problem->level_count; l++)
		laying->bad[l].at = ARENA_ARRAY(laying->scratch, uint32_t,
						problem->avoided_count);
	for (uint32_t i = 0; i < problem->avoided_count; i++)
		laying->bad[0].at[laying->bad[0].count++] = problem->avoided[i];
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t low = l;

		if (problem->level[l].kind != LEVEL_RING) {
			spoil_switch(laying, l);
			continue;
		}
		while (l + 1 < problem->level_count &&
		       problem->level[l + 1].joined)
			l++;
		spoil_torus(laying, low, l);
	}
}

static void resolve_pins(struct laying *laying)
{
	uint32_t pipeline = laying->ranks[laying->problem->level_count];

	for (uint32_t i = 0; i < laying->problem->pin_count; i++) {
		const struct problem_pin *pin = &laying->problem->pin[i];
		uint32_t rank = pin->last ? pipeline - 1 : pin->rank;

		if (rank < pipeline)
			laying->bound[laying->bound_count++] = (struct bound){
				.rank = rank,
				.first = pin->first,
				.end = pin->first + pin->count,
			};
	}
}

static void laying_open(struct laying *laying, const struct problem *problem,
			const struct placement *placement, struct arena *scratch)
{
	uint32_t number = 1;

	*laying = (struct laying){
		.problem = problem,
		.placement = placement,
		.scratch = scratch,
		.below = { 1 },
		.ranks = { 1 },
		.pipeline_inside = puts_pipeline_inside(problem, placement),
	};
	for (uint32_t l = 0; l < problem->level_count; l++) {
		laying->used[l] = 1;
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			laying->used[l] *= placement->factor[d][l];
		laying->below[l + 1] = laying->below[l] *
				       problem->level[l].fanout;
		laying->ranks[l + 1] = laying->ranks[l] *
			placement->factor[DIMENSION_PIPELINE][l];
	}
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t stride = 1;

		for (uint32_t l = 0; l < problem->level_count; l++) {
			laying->stride[d][l] = stride;
			stride *= placement->factor[d][l];
		}
		laying->number[d] = number;
		number *= stride;
	}
	resolve_pins(laying);
	spoil(laying);
}

bool devices_fit(const struct problem *problem,
		 const struct placement *placement, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct laying laying;
	bool fits;

	if (!problem->avoided_count && !problem->pin_count)
		return true;
	laying_open(&laying, problem, placement, scratch);
	fits = laying_can_hold(&laying, problem->level_count, 0, 0);
	arena_rewind(scratch, mark);
	return fits;
}

/* A row product is a degree under either kind of placement. */
static uint32_t rank_count(const struct placement *placement)
{
	uint32_t count = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			count *= placement->factor[d][l];
	return count;
}

/* Puts every block of a factor placement. */
static bool lay_factors(const struct problem *problem,
			const struct placement *placement, struct arena *scratch,
			uint32_t *device)
{
	struct laying laying;

	laying_open(&laying, problem, placement, scratch);
	laying.device = device;
	if (!laying_can_hold(&laying, problem->level_count, 0, 0))
		return false;
	put_block(&laying, problem->level_count, 0, 0, 0);
	return true;
}

uint32_t *devices_lay(const struct problem *problem,
		      const struct placement *placement, struct arena *arena)
{
	uint32_t *device = ARENA_ARRAY(arena, uint32_t, rank_count(placement));
	struct arena_mark mark = arena_mark(arena);
	bool laid = placement->packing == PACKING_FACTORS ?
		lay_factors(problem, placement, arena, device) :
		linear_lay(problem, placement, arena, device) &&
			linear_keeps_rules(problem, placement, device);

	arena_rewind(arena, mark);
	return laid ? device : NULL;
}

bool devices_fill(const struct problem *problem, struct arena *arena,
		  struct plan *plan)
{
	plan->device = devices_lay(problem, &plan->placement, arena);
	return plan->device != NULL;
}

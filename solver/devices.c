/* SPDX-License-Identifier: MIT
 *
 * Blocks of ranks into children of levels, around devices that are avoided and with
 * pinned ranks where they belong.
 */
#include "solver/devices.h"

#include <stddef.h>

#include "solver/linear.h"
#include "solver/network.h"

/* Children of one level, ascending. */
struct children {
	uint32_t *at;
	uint32_t count;
};

/* A pin that binds a rank of this pipeline. */
struct bound {
	uint32_t rank;
	uint32_t first, end;		/* devices */
};

struct laying {
	const struct problem *problem;
	const struct placement *placement;
	struct arena *scratch;
	uint32_t used[LEVEL_MAX];		/* u_l */
	uint32_t below[LEVEL_MAX + 1];		/* C_l */
	uint32_t ranks[LEVEL_MAX + 1];		/* of the pipeline in a block */
	uint32_t stride[DIMENSION_COUNT][LEVEL_MAX];	/* of each digit in its
							 * coordinate */
	uint32_t number[DIMENSION_COUNT];	/* of a coordinate in the rank */
	/* Children that hold no block of their level, whatever its ranks. Not kept
	 * within a torus. */
	struct children bad[LEVEL_MAX + 1];
	struct bound bound[PIN_MAX];
	uint32_t bound_count;
	uint32_t *device;			/* NULL: only whether it fits */
};

static uint32_t fanout_of(const struct laying *laying, uint32_t level)
{
	return laying->problem->level[level].fanout;
}

/* The innermost level of the torus, or the level itself. */
static uint32_t torus_low(const struct laying *laying, uint32_t level)
{
	while (level && laying->problem->level[level].joined)
		level--;
	return level;
}

static bool is_bad(const struct laying *laying, uint32_t level, uint32_t child)
{
	const struct children *bad = &laying->bad[level];
	uint32_t low = 0, high = bad->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (bad->at[middle] < child)
			low = middle + 1;
		else
			high = middle;
	}
	return low < bad->count && bad->at[low] == child;
}

/* Whether a block of a level holds a pinned rank: it has the pipeline ranks from
 * prefix x ranks on. */
static bool has_pin(const struct laying *laying, uint32_t level, uint32_t prefix)
{
	for (uint32_t i = 0; i < laying->bound_count; i++)
		if (laying->bound[i].rank / laying->ranks[level] == prefix)
			return true;
	return false;
}

/* Whether a child has a device of all those that the block's pins name. */
static bool meets_pins(const struct laying *laying, uint32_t level,
		       uint32_t child, uint32_t prefix)
{
	uint32_t first = child * laying->below[level];
	uint32_t end = first + laying->below[level];

	for (uint32_t i = 0; i < laying->bound_count; i++) {
		const struct bound *bound = &laying->bound[i];

		if (bound->rank / laying->ranks[level] == prefix &&
		    (bound->end <= first || end <= bound->first))
			return false;
	}
	return true;
}

static bool can_hold(const struct laying *laying, uint32_t level, uint32_t child,
		     uint32_t prefix);

/* ---- rings and tori: boxes that are shifted ---- */

/* Positions in a torus of levels low .. high, innermost first. */
struct box {
	uint32_t low, high;
	uint32_t at[LEVEL_MAX];
};

/* The next position below the limits, the outermost level's varying fastest. */
static bool box_next(struct box *box, const uint32_t *limit)
{
	for (uint32_t l = box->high + 1; l-- > box->low;) {
		if (++box->at[l] < limit[l])
			return true;
		box->at[l] = 0;
	}
	return false;
}

/* The child of level low that logical positions are put into. */
static uint32_t box_child(const struct laying *laying, const struct box *first,
			  const struct box *logical, uint32_t parent)
{
	uint32_t child = parent;

	for (uint32_t l = first->high + 1; l-- > first->low;)
		child = child * fanout_of(laying, l) +
			(first->at[l] + logical->at[l]) % fanout_of(laying, l);
	return child;
}

/* Whether a child that holds nothing lies in the shifted box. */
static bool box_is_hit(const struct laying *laying, const struct box *first,
		       uint32_t child)
{
	for (uint32_t l = first->low; l <= first->high; l++) {
		uint32_t f = fanout_of(laying, l);

		if ((child % f + f - first->at[l]) % f >= laying->used[l])
			return false;
		child /= f;
	}
	return true;
}

static uint32_t box_devices(const struct laying *laying, const struct box *box)
{
	return laying->below[box->high + 1] / laying->below[box->low];
}

static bool box_is_free(const struct laying *laying, const struct box *first,
			uint32_t parent)
{
	const struct children *bad = &laying->bad[first->low];
	uint32_t size = box_devices(laying, first);

	for (uint32_t i = 0; i < bad->count; i++)
		if (bad->at[i] / size == parent &&
		    box_is_hit(laying, first, bad->at[i]))
			return false;
	return true;
}

/* The pipeline prefix of the block of level low at logical positions. */
static uint32_t box_prefix(const struct laying *laying, const struct box *logical,
			   uint32_t prefix)
{
	const uint32_t (*factor)[LEVEL_MAX] = laying->placement->factor;

	for (uint32_t l = logical->high + 1; l-- > logical->low;) {
		uint32_t own = factor[DIMENSION_PIPELINE][l];

		prefix = prefix * own + logical->at[l] / (laying->used[l] / own);
	}
	return prefix;
}

static bool box_keeps_pins(const struct laying *laying, const struct box *first,
			   uint32_t parent, uint32_t prefix)
{
	struct box logical = { .low = first->low, .high = first->high };

	if (!has_pin(laying, first->high + 1, prefix))
		return true;
	do {
		uint32_t own = box_prefix(laying, &logical, prefix);

		if (has_pin(laying, first->low, own) &&
		    !can_hold(laying, first->low,
			      box_child(laying, first, &logical, parent), own))
			return false;
	} while (box_next(&logical, laying->used));
	return true;
}

/* Finds firsts for the torus below a child of level first->high + 1. */
static bool box_find(const struct laying *laying, struct box *first,
		     uint32_t parent, uint32_t prefix)
{
	uint32_t limit[LEVEL_MAX];

	for (uint32_t l = first->low; l <= first->high; l++) {
		first->at[l] = 0;
		limit[l] = laying->problem->level[l].wrap ?
			fanout_of(laying, l) :
			fanout_of(laying, l) - laying->used[l] + 1;
	}
	do {
		if (box_is_free(laying, first, parent) &&
		    box_keeps_pins(laying, first, parent, prefix))
			return true;
	} while (box_next(first, limit));
	return false;
}

/* ---- switches: any children ---- */

/* Blocks of one pipeline prefix that want children of their own, and the children
 * they can have. */
struct want {
	uint32_t digit;			/* of the pipeline */
	bool *can;			/* by child */
	uint32_t next;			/* children before it are taken or cannot */
	bool visited;
};

struct match {
	uint32_t fanout;
	struct want *want;
	uint32_t want_count;
	uint32_t *owner;		/* by child: want + 1; 0: free */
};

/* Takes one more child for a want, if need be from another that finds a new one. */
static bool match_more(struct match *match, uint32_t index)
{
	struct want *want = &match->want[index];

	want->visited = true;
	for (; want->next < match->fanout; want->next++)
		if (want->can[want->next] && !match->owner[want->next]) {
			match->owner[want->next] = index + 1;
			return true;
		}
	for (uint32_t c = 0; c < match->fanout; c++) {
		uint32_t other = match->owner[c];

		if (!want->can[c] || !other || match->want[other - 1].visited ||
		    !match_more(match, other - 1))
			continue;
		match->owner[c] = index + 1;
		return true;
	}
	return false;
}

static struct match match_open(const struct laying *laying, uint32_t l,
			       uint32_t parent, uint32_t prefix)
{
	uint32_t own = laying->placement->factor[DIMENSION_PIPELINE][l];
	struct match match = { .fanout = fanout_of(laying, l) };

	match.want = ARENA_ARRAY(laying->scratch, struct want,
				 laying->bound_count);
	match.owner = ARENA_ARRAY(laying->scratch, uint32_t, match.fanout);
	for (uint32_t i = 0; i < laying->bound_count; i++) {
		uint32_t rank = laying->bound[i].rank / laying->ranks[l];
		struct want *want = &match.want[match.want_count];
		bool known = rank / own != prefix;

		for (uint32_t j = 0; j < match.want_count; j++)
			known |= match.want[j].digit == rank % own;
		if (known)
			continue;
		want->digit = rank % own;
		want->can = ARENA_ARRAY(laying->scratch, bool, match.fanout);
		for (uint32_t c = 0; c < match.fanout; c++)
			want->can[c] = can_hold(laying, l,
						parent * match.fanout + c, rank);
		match.want_count++;
	}
	return match;
}

/* Gives every pinned block below a child of level l + 1 a child of level l. */
static bool match_pinned(const struct laying *laying, uint32_t l,
			 struct match *match)
{
	uint32_t each = laying->used[l] /
			laying->placement->factor[DIMENSION_PIPELINE][l];

	for (uint32_t i = 0; i < match->want_count; i++)
		for (uint32_t j = 0; j < each; j++) {
			for (uint32_t k = 0; k < match->want_count; k++)
				match->want[k].visited = false;
			if (!match_more(match, i))
				return false;
		}
	return true;
}

static bool can_match(const struct laying *laying, uint32_t l, uint32_t parent,
		      uint32_t prefix)
{
	struct arena_mark mark = arena_mark(laying->scratch);
	struct match match = match_open(laying, l, parent, prefix);
	bool can = match_pinned(laying, l, &match);

	arena_rewind(laying->scratch, mark);
	return can;
}

/* Whether a child of the level can hold the block of that level with a pipeline
 * prefix. At most LEVEL_MAX deep. */
static bool can_hold(const struct laying *laying, uint32_t level, uint32_t child,
		     uint32_t prefix)
{
	if (is_bad(laying, level, child) ||
	    !meets_pins(laying, level, child, prefix))
		return false;
	if (!level || !has_pin(laying, level, prefix))
		return true;
	if (laying->problem->level[level - 1].kind == LEVEL_RING) {
		struct box first = { .low = torus_low(laying, level - 1),
				     .high = level - 1 };

		return box_find(laying, &first, child, prefix);
	}
	return can_match(laying, level - 1, child, prefix);
}

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
	struct box first = { .low = torus_low(laying, level - 1),
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
	       is_bad(laying, l, parent * match->fanout + from))
		from++;
	return from;
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
		uint32_t digit = i / each, child, want = 0;

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
			  rank + rank_step(laying, l, i));
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
	uint32_t fanout = fanout_of(laying, l), run = 0;

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
	uint32_t size = box_devices(laying, &first), bounds = laying->bound_count;

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
	fits = can_hold(&laying, problem->level_count, 0, 0);
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
	if (!can_hold(&laying, problem->level_count, 0, 0))
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

/* SPDX-License-Identifier: MIT
 *
 * Holding blocks: matching on switches, shifted boxes on rings and tori.
 */
#include "solver/devices_hold.h"

uint32_t laying_torus_low(const struct laying *laying, uint32_t level)
{
	while (level && laying->problem->level[level].joined)
		level--;
	return level;
}

bool laying_is_bad(const struct laying *laying, uint32_t level, uint32_t child)
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

/* ---- rings and tori: boxes that are shifted ---- */

bool box_next(struct box *box, const uint32_t *limit)
{
	for (uint32_t l = box->high + 1; l-- > box->low;) {
		if (++box->at[l] < limit[l])
			return true;
		box->at[l] = 0;
	}
	return false;
}

uint32_t box_child(const struct laying *laying, const struct box *first,
			  const struct box *logical, uint32_t parent)
{
	uint32_t child = parent;

	for (uint32_t l = first->high + 1; l-- > first->low;)
		child = child * laying_fanout(laying, l) +
			(first->at[l] + logical->at[l]) % laying_fanout(laying, l);
	return child;
}

/* Whether a child that holds nothing lies in the shifted box. */
static bool box_is_hit(const struct laying *laying, const struct box *first,
		       uint32_t child)
{
	for (uint32_t l = first->low; l <= first->high; l++) {
		uint32_t f = laying_fanout(laying, l);

		if ((child % f + f - first->at[l]) % f >= laying->used[l])
			return false;
		child /= f;
	}
	return true;
}

uint32_t box_children(const struct laying *laying, const struct box *box)
{
	return laying->below[box->high + 1] / laying->below[box->low];
}

static bool box_is_free(const struct laying *laying, const struct box *first,
			uint32_t parent)
{
	const struct children *bad = &laying->bad[first->low];
	uint32_t size = box_children(laying, first);

	for (uint32_t i = 0; i < bad->count; i++)
		if (bad->at[i] / size == parent &&
		    box_is_hit(laying, first, bad->at[i]))
			return false;
	return true;
}

uint32_t box_prefix(const struct laying *laying, const struct box *logical,
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
		    !laying_can_hold(laying, first->low,
			      box_child(laying, first, &logical, parent), own))
			return false;
	} while (box_next(&logical, laying->used));
	return true;
}

bool box_find(const struct laying *laying, struct box *first,
		     uint32_t parent, uint32_t prefix)
{
	uint32_t limit[LEVEL_MAX];

	for (uint32_t l = first->low; l <= first->high; l++) {
		first->at[l] = 0;
		limit[l] = laying->problem->level[l].wrap ?
			laying_fanout(laying, l) :
			laying_fanout(laying, l) - laying->used[l] + 1;
	}
	do {
		if (box_is_free(laying, first, parent) &&
		    box_keeps_pins(laying, first, parent, prefix))
			return true;
	} while (box_next(first, limit));
	return false;
}

/* ---- switches: any children ---- */

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

struct match match_open(const struct laying *laying, uint32_t l,
			       uint32_t parent, uint32_t prefix)
{
	uint32_t own = laying->placement->factor[DIMENSION_PIPELINE][l];
	struct match match = { .fanout = laying_fanout(laying, l) };

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
			want->can[c] = laying_can_hold(laying, l,
						parent * match.fanout + c, rank);
		match.want_count++;
	}
	return match;
}

bool match_pinned(const struct laying *laying, uint32_t l,
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

bool laying_can_hold(const struct laying *laying, uint32_t level, uint32_t child,
		     uint32_t prefix)
{
	if (laying_is_bad(laying, level, child) ||
	    !meets_pins(laying, level, child, prefix))
		return false;
	if (!level || !has_pin(laying, level, prefix))
		return true;
	if (laying->problem->level[level - 1].kind == LEVEL_RING) {
		struct box first = { .low = laying_torus_low(laying, level - 1),
				     .high = level - 1 };

		return box_find(laying, &first, child, prefix);
	}
	return can_match(laying, level - 1, child, prefix);
}


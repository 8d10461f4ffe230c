/* SPDX-License-Identifier: MIT
 *
 * Whether the ranks of a split plan can hold the chain and end in time, by taking as
 * much as they can one after the other.
 */
#include "solver/mixed_line.h"

#include <math.h>

#include "solver/most.h"

/* The ranks of one segment, from a place of the chain on. */
struct reach {
	const struct mixed_line *line;
	const struct mixed_part *part;
	double limit_s;
};

/* Both ways at least: adds up, even where layers are recomputed in part. */
static double both_s(const struct reach *reach, uint32_t begin, uint32_t end)
{
	const struct mixed_part *part = reach->part;

	if (part->ideal_s)
		return part->ideal_s[end] - part->ideal_s[begin];
	return chain_floor_both(part->chain, begin, end);
}

static bool fits(const struct reach *reach, uint32_t rank, uint32_t begin, uint32_t end)
{
	const struct partition *partition = &reach->part->partition;

	return partition_fits(partition, partition_least_memory(partition, rank,
								begin, end));
}

static bool ends_in_time(const struct reach *reach, double prefix_s, uint32_t begin,
			 uint32_t end)
{
	return prefix_s + reach->line->micro_batches * both_s(reach, begin, end) <=
	       reach->limit_s;
}

/* The last end up to high that is possible; all before it are. */
static uint32_t last_in_time(const struct reach *reach, double prefix_s,
			     uint32_t begin, uint32_t high)
{
	uint32_t low = begin;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (ends_in_time(reach, prefix_s, begin, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint32_t last_that_fits(const struct reach *reach, uint32_t rank,
			       uint32_t begin, uint32_t high)
{
	uint32_t low = begin;

	while (low < high) {
		/* Mostly there is room. */
		uint32_t middle = low == begin ? high : low + (high - low + 1) / 2;

		if (fits(reach, rank, begin, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* How far the segment's ranks come from there at most. One that cannot have the next
 * layer is taken to have none: in a cut, the one before has fewer. */
static uint32_t reach_from(const struct reach *reach, uint32_t begin, double prefix_s)
{
	uint32_t first = reach->part->first, end = first + reach->part->ranks;
	uint32_t at = begin;

	for (uint32_t rank = first; rank < end; rank++) {
		uint32_t behind = reach->line->pipeline - 1 - rank;
		uint32_t from = at, high = reach->line->length - behind;

		if (high <= from)
			continue;
		high = last_in_time(reach, prefix_s, from, high);
		at = last_that_fits(reach, rank, from, high);
		prefix_s += both_s(reach, from, at);
	}
	return at;
}

/* From the places that the ranks before may leave off at, with the least time up to
 * there, to those of this segment. */
static void pass_segment(const struct reach *reach, const double *before_s,
			 double *after_s)
{
	uint32_t ranks = reach->part->ranks, length = reach->line->length;

	for (uint32_t i = 0; i <= length; i++)
		after_s[i] = INFINITY;
	for (uint32_t begin = 0; begin < length; begin++) {
		uint32_t end;

		if (isinf(before_s[begin]))
			continue;
		end = reach_from(reach, begin, before_s[begin]);
		for (uint32_t i = begin + ranks; i <= end; i++)
			after_s[i] = fmin(after_s[i], before_s[begin] +
						      both_s(reach, begin, i));
	}
}

bool mixed_line_reaches(const struct mixed_line *line, double limit_s)
{
	struct arena_mark mark = arena_mark(line->scratch);
	size_t places = (size_t)line->length + 1;
	double *before_s = ARENA_ARRAY(line->scratch, double, places);
	double *after_s = ARENA_ARRAY(line->scratch, double, places), whole_s;
	uint32_t loops = (line->micro_batches - 1) / line->pipeline;

	for (uint32_t i = 1; i <= line->length; i++)
		before_s[i] = INFINITY;
	for (uint32_t s = 0; s < line->part_count; s++) {
		struct reach reach = { line, &line->part[s], limit_s };
		double *other = before_s;

		pass_segment(&reach, before_s, after_s);
		before_s = after_s;
		after_s = other;
	}
	whole_s = before_s[line->length];
	arena_rewind(line->scratch, mark);
	return whole_s * (1 + loops) <= limit_s && isfinite(whole_s);
}

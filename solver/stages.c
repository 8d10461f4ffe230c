/* SPDX-License-Identifier: MIT
 *
 * Tables over the number of stages left and the position where they begin.
 */
#include "solver/stages.h"

#include <math.h>
#include <stdbool.h>

double stages_time(const struct stages_input *input, uint32_t first, uint32_t end)
{
	double time = input->time_s[end] - input->time_s[first];

	if (first)
		time += input->transfer_s[first];
	if (end < input->length)
		time += input->transfer_s[end];
	return time;
}

/* Stage `left` counted from the end keeps so many micro-batches under 1F1B. */
static bool stage_fits(const struct stages_input *input, uint32_t left,
		       uint32_t first, uint32_t end)
{
	uint32_t flight = left < input->micro_batches ? left : input->micro_batches;

	return !input->held_bytes ||
	       input->held_bytes[end] - input->held_bytes[first] +
	       flight * (input->kept_bytes[end] - input->kept_bytes[first]) <=
	       input->limit_bytes;
}

static uint32_t layer_at(const struct stages *stages, uint32_t position)
{
	uint32_t layer = position * stages->group;

	return layer < stages->input->length ? layer : stages->input->length;
}

static size_t at(const struct stages *stages, uint32_t left, uint32_t position)
{
	return (size_t)left * (stages->positions + 1) + position;
}

static void extend(struct stages *stages, uint32_t left, uint32_t from)
{
	const struct stages_input *input = stages->input;
	uint32_t first = layer_at(stages, from), last = stages->positions;
	double best = INFINITY;
	uint32_t chosen = 0;

	for (uint32_t to = left == 1 ? last : from + 1; to <= last; to++) {
		double after = stages->best[at(stages, left - 1, to)], time;
		uint32_t end = layer_at(stages, to);

		/* A stage is no faster than its layers. */
		if (input->time_s[end] - input->time_s[first] >= best)
			break;
		if (after >= best || !stage_fits(input, left, first, end))
			continue;
		time = fmax(after, stages_time(input, first, end));
		if (time < best) {
			best = time;
			chosen = to;
		}
	}
	stages->best[at(stages, left, from)] = best;
	stages->end[at(stages, left, from)] = (uint16_t)chosen;
}

void stages_fill(struct stages *stages, const struct stages_input *input,
		 uint32_t most, struct arena *arena)
{
	uint32_t length = input->length;
	size_t size;

	*stages = (struct stages){ .input = input };
	stages->group = (length + STAGES_POSITIONS_MAX - 1) / STAGES_POSITIONS_MAX;
	stages->positions = (length + stages->group - 1) / stages->group;
	if (most > STAGES_MAX)
		most = STAGES_MAX;
	stages->most = most < stages->positions ? most : stages->positions;
	size = ((size_t)stages->most + 1) * (stages->positions + 1);
	stages->best = ARENA_ARRAY(arena, double, size);
	stages->end = ARENA_ARRAY(arena, uint16_t, size);
	for (uint32_t i = 0; i < stages->positions; i++)
		stages->best[i] = INFINITY;
	for (uint32_t left = 1; left <= stages->most; left++) {
		stages->best[at(stages, left, stages->positions)] = INFINITY;
		for (uint32_t from = 0; from < stages->positions; from++)
			extend(stages, left, from);
	}
}

double stages_slowest(const struct stages *stages, uint32_t count)
{
	return count <= stages->most ? stages->best[at(stages, count, 0)] : INFINITY;
}

static void follow(const struct stages *stages, const uint16_t *end,
		   uint32_t count, uint32_t *first)
{
	uint32_t position = 0;

	first[0] = 0;
	for (uint32_t left = count; left > 0; left--) {
		position = end[at(stages, left, position)];
		first[count - left + 1] = layer_at(stages, position);
	}
}

void stages_cut(const struct stages *stages, uint32_t count, uint32_t *first)
{
	follow(stages, stages->end, count, first);
}

double stages_least_sum(const struct stages *stages, uint32_t count,
			double limit_s, struct arena *scratch, uint32_t *first,
			double *slowest_s)
{
	const struct stages_input *input = stages->input;
	size_t size = ((size_t)count + 1) * (stages->positions + 1);
	struct arena_mark mark = arena_mark(scratch);
	double *best = ARENA_ARRAY(scratch, double, size), sum;
	uint16_t *end = ARENA_ARRAY(scratch, uint16_t, size);
	uint32_t last = stages->positions;

	for (uint32_t i = 0; i < size; i++)
		best[i] = INFINITY;
	best[last] = 0;
	for (uint32_t left = 1; left <= count; left++)
		for (uint32_t from = 0; from < last; from++) {
			uint32_t layer = layer_at(stages, from);

			for (uint32_t to = from + 1; to <= last; to++) {
				uint32_t next = layer_at(stages, to);
				double time = stages_time(input, layer, next);
				size_t here = at(stages, left, from);

				if (input->time_s[next] - input->time_s[layer] > limit_s)
					break;
				if (time > limit_s || !stage_fits(input, left, layer, next))
					continue;
				time += best[at(stages, left - 1, to)];
				if (time < best[here]) {
					best[here] = time;
					end[here] = (uint16_t)to;
				}
			}
		}
	sum = best[at(stages, count, 0)];
	*slowest_s = 0;
	if (sum < INFINITY) {
		follow(stages, end, count, first);
		for (uint32_t k = 0; k < count; k++)
			*slowest_s = fmax(*slowest_s,
					  stages_time(input, first[k], first[k + 1]));
	}
	arena_rewind(scratch, mark);
	return sum;
}

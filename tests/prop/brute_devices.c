/* SPDX-License-Identifier: MIT
 *
 * The oracle: whether the blocks of a factor placement find room, by trying, and
 * the devices of a linear one, rank after rank (devices.h, linear.h).
 */
#include "tests/prop/brute_parts.h"

#include <string.h>

static uint32_t child_devices(const struct problem *problem, uint32_t l)
{
	uint32_t devices = 1;

	for (uint32_t i = 0; i < l; i++)
		devices *= problem->level[i].fanout;
	return devices;
}

static bool is_avoided(const struct problem *problem, uint32_t device)
{
	for (uint32_t i = 0; i < problem->avoided_count; i++)
		if (problem->avoided[i] == device)
			return true;
	return false;
}

/* Whether the rules let a pipeline rank have that device. */
static bool may_have(const struct problem *problem, uint32_t pipeline,
		     uint32_t stage, uint32_t device)
{
	for (uint32_t i = 0; i < problem->pin_count; i++) {
		const struct problem_pin *pin = &problem->pin[i];

		if (stage != (pin->last ? pipeline - 1 : pin->rank))
			continue;
		if (device < pin->first || device >= pin->first + pin->count)
			return false;
	}
	return !is_avoided(problem, device);
}

/* ---- factors ---- */

struct room {
	const struct problem *problem;
	const struct placement *placement;
	uint32_t position[LEVEL_MAX];	/* of the block in question */
	uint32_t pipeline;
};

static uint32_t positions(const struct room *room, uint32_t l)
{
	uint32_t count = 1;

	for (int d = 0; d < DIMENSION_COUNT; d++)
		count *= room->placement->factor[d][l];
	return count;
}

/* The pipeline rank of the position at every level. */
static uint32_t stage_of(const struct room *room)
{
	uint32_t stage = 0, stride = 1;

	for (uint32_t l = 0; l < room->problem->level_count; l++) {
		uint32_t pipeline =
			room->placement->factor[DIMENSION_PIPELINE][l];

		stage += stride * (room->position[l] /
				   (positions(room, l) / pipeline));
		stride *= pipeline;
	}
	return stage;
}

static bool has_room(struct room *room, uint32_t l, uint32_t child);

/* Whether block i of a switch may be moved to a child so that all find one: a
 * matching grown by one path. */
static bool find_child(bool fits[][64], uint32_t children, uint32_t i,
		       uint32_t *holds, bool *seen)
{
	for (uint32_t j = 0; j < children; j++) {
		if (!fits[i][j] || seen[j])
			continue;
		seen[j] = true;
		if (holds[j] == UINT32_MAX ||
		    find_child(fits, children, holds[j], holds, seen)) {
			holds[j] = i;
			return true;
		}
	}
	return false;
}

static bool has_room_apart(struct room *room, uint32_t l, uint32_t child)
{
	bool fits[64][64];
	uint32_t fanout = room->problem->level[l].fanout, holds[64];

	memset(holds, 0xff, sizeof(holds));
	for (uint32_t i = 0; i < positions(room, l); i++)
		for (uint32_t j = 0; j < fanout; j++) {
			room->position[l] = i;
			fits[i][j] = has_room(room, l, child * fanout + j);
		}
	for (uint32_t i = 0; i < positions(room, l); i++) {
		bool seen[64] = { false };

		if (!find_child(fits, fanout, i, holds, seen))
			return false;
	}
	return true;
}

/* Levels bottom .. l of a torus with these firsts: child is one of level l + 1. */
static bool has_room_shifted(struct room *room, uint32_t bottom, uint32_t l,
			     uint32_t child, const uint32_t *first)
{
	const struct problem_level *level = &room->problem->level[l];

	for (uint32_t i = 0; i < positions(room, l); i++) {
		uint32_t place = (first[l] + i) % level->fanout;
		uint32_t inner = child * level->fanout + place;

		room->position[l] = i;
		if (l == bottom ? !has_room(room, l, inner) :
				  !has_room_shifted(room, bottom, l - 1, inner,
						    first))
			return false;
	}
	return true;
}

static bool has_room_on_torus(struct room *room, uint32_t bottom, uint32_t top,
			      uint32_t l, uint32_t child, uint32_t *first)
{
	const struct problem_level *level = &room->problem->level[l];

	for (first[l] = 0; first[l] < level->fanout; first[l]++) {
		if (!level->wrap &&
		    first[l] + positions(room, l) > level->fanout)
			break;
		if (l == bottom ? has_room_shifted(room, bottom, top, child,
						   first) :
				  has_room_on_torus(room, bottom, top, l - 1,
						    child, first))
			return true;
	}
	return false;
}

/* Whether the block at position[l ..] fits into a child of level l. */
static bool has_room(struct room *room, uint32_t l, uint32_t child)
{
	uint32_t bottom = l - 1, first[LEVEL_MAX] = { 0 };

	if (l == 0)
		return may_have(room->problem, room->pipeline, stage_of(room),
				child);
	if (room->problem->level[bottom].kind != LEVEL_RING)
		return has_room_apart(room, bottom, child);
	while (room->problem->level[bottom].joined)
		bottom--;
	return has_room_on_torus(room, bottom, l - 1, l - 1, child, first);
}

bool brute_has_room(const struct problem *problem,
		    const struct placement *placement, uint32_t pipeline)
{
	struct room room = { .problem = problem, .placement = placement,
			     .pipeline = pipeline };

	if (problem->avoided_count == 0 && problem->pin_count == 0)
		return true;
	return has_room(&room, problem->level_count, 0);
}

/* ---- linear ---- */

/* Ranks of a block of so many dimensions. */
static uint32_t block_size(const uint32_t *degree, const int *order,
			   uint32_t dimensions)
{
	uint32_t size = 1;

	for (uint32_t i = 0; i < dimensions; i++)
		size *= degree[order[i]];
	return size;
}

/* The child of the lowest level with children of `size` devices or more. */
static uint32_t child_for(const struct problem *problem, uint32_t size,
			  uint32_t device)
{
	uint32_t l = 0;

	while (child_devices(problem, l) < size)
		l++;
	return device / child_devices(problem, l);
}

static uint32_t next_usable(const struct problem *problem, uint32_t device)
{
	while (device < problem->device_count && is_avoided(problem, device))
		device++;
	return device;
}

/* The first rank of a block that the rank at `at` has left, or UINT32_MAX. */
static uint32_t left_block(const struct problem *problem,
			   const struct placement *placement,
			   const uint32_t *degree, const int *order,
			   const uint32_t *laid, uint32_t at, uint32_t *beyond)
{
	for (uint32_t i = placement->aligned; i > 0; i--) {
		uint32_t size = block_size(degree, order, i);
		uint32_t first = at - at % size;
		uint32_t child = child_for(problem, size, laid[first]);

		if (child_for(problem, size, laid[at]) == child)
			continue;
		*beyond = laid[first];
		while (child_for(problem, size, *beyond) == child)
			++*beyond;
		return first;
	}
	return UINT32_MAX;
}

bool brute_lay(const struct problem *problem, const struct placement *placement,
	       const uint32_t *degree, uint32_t *device)
{
	static const int orders[][DIMENSION_COUNT] = {
		[PACKING_DATA_PIPELINE] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
					    DIMENSION_DATA, DIMENSION_PIPELINE },
		[PACKING_PIPELINE_DATA] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
					    DIMENSION_PIPELINE, DIMENSION_DATA },
	};
	const int *order = orders[placement->packing];
	uint32_t laid[BRUTE_DEVICE_MAX], from = 0, at = 0;
	uint32_t ranks = block_size(degree, order, DIMENSION_COUNT);

	while (at < ranks) {
		uint32_t first, beyond;

		laid[at] = next_usable(problem, from);
		if (laid[at] >= problem->device_count)
			return false;
		from = laid[at] + 1;
		first = left_block(problem, placement, degree, order, laid, at,
				   &beyond);
		at++;
		if (first == UINT32_MAX)
			continue;
		at = first;
		from = beyond;
	}
	for (at = 0; at < ranks; at++) {
		uint32_t c[DIMENSION_COUNT], left = at;

		for (int i = 0; i < DIMENSION_COUNT; i++) {
			c[order[i]] = left % degree[order[i]];
			left /= degree[order[i]];
		}
		device[c[0] + degree[0] * (c[1] + degree[1] *
					   (c[2] + degree[2] * c[3]))] = laid[at];
	}
	return true;
}

bool brute_keeps_rules(const struct problem *problem, const uint32_t *degree,
		       const uint32_t *device)
{
	uint32_t stride = 1, ranks = block_size(degree, (int[]){ 0, 1, 2, 3 }, 4);

	for (uint32_t rank = 0; rank < ranks; rank++)
		if (!may_have(problem, degree[3],
			      rank / (degree[0] * degree[1] * degree[2]),
			      device[rank]))
			return false;
	for (int d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t inside = problem->within[d] ?
			child_devices(problem, problem->within[d]) :
			problem->device_count;

		for (uint32_t a = 0; a < ranks; a++)
			for (uint32_t b = a + stride;
			     b / (stride * degree[d]) ==
			     a / (stride * degree[d]); b += stride)
				if (device[a] / inside != device[b] / inside)
					return false;
		stride *= degree[d];
	}
	return true;
}

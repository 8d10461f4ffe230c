/* SPDX-License-Identifier: MIT
 *
 * The independent checker: the device of every rank. Under a factor placement any
 * devices will do that keep together and apart what devices.h says; a linear
 * one is laid anew from the text of linear.h.
 */
#include "solver/feasible_check.h"

/* ---- linear ---- */

/* Lays blocks over the devices that may be used. */
struct laying {
	const struct site *site;
	const uint32_t *usable;		/* ascending */
	uint32_t usable_count;
	uint32_t next;			/* into usable */
	enum dimension order[DIMENSION_COUNT];
	uint32_t *device;		/* by rank in the order of laying */
};

static uint32_t block_ranks(const struct laying *laying, uint32_t dimensions)
{
	uint32_t ranks = 1;

	for (uint32_t i = 0; i < dimensions; i++)
		ranks *= laying->site->degree[laying->order[i]];
	return ranks;
}

/* Devices of a child of the lowest level whose children have room for so many. */
static uint32_t room_for(const struct site *site, uint32_t ranks)
{
	uint32_t devices = 1;

	for (uint32_t l = 0; l < site->problem->level_count && devices < ranks; l++)
		devices *= site->problem->level[l].fanout;
	return devices;
}

static bool lay_block(struct laying *laying, uint32_t dimensions, uint32_t rank);

static bool lay_parts(struct laying *laying, uint32_t dimensions, uint32_t rank)
{
	uint32_t part = block_ranks(laying, dimensions - 1);
	uint32_t parts = laying->site->degree[laying->order[dimensions - 1]];

	for (uint32_t i = 0; i < parts; i++)
		if (!lay_block(laying, dimensions - 1, rank + i * part))
			return false;
	return true;
}

/* A block of the innermost dimensions, the first rank of which is `rank`. */
static bool lay_block(struct laying *laying, uint32_t dimensions, uint32_t rank)
{
	uint32_t ranks = block_ranks(laying, dimensions);
	uint32_t room = room_for(laying->site, ranks);

	if (laying->next >= laying->usable_count)
		return false;
	if (dimensions == 0) {
		laying->device[rank] = laying->usable[laying->next++];
		return true;
	}
	if (dimensions > laying->site->placement->aligned)
		return lay_parts(laying, dimensions, rank);
	while (laying->next < laying->usable_count) {
		uint32_t child = laying->usable[laying->next] / room;
		uint32_t begin = laying->next;

		if (!lay_parts(laying, dimensions, rank))
			return false;
		if (laying->device[rank] / room == child &&
		    laying->device[rank + ranks - 1] / room == child)
			return true;
		laying->next = begin;
		while (laying->next < laying->usable_count &&
		       laying->usable[laying->next] / room == child)
			laying->next++;
	}
	return false;
}

/* Renumbers from the order of laying to that of plan.device. */
static uint32_t *renumber(const struct laying *laying, struct arena *scratch)
{
	const uint32_t *degree = laying->site->degree;
	uint32_t ranks = block_ranks(laying, DIMENSION_COUNT);
	uint32_t *device = ARENA_ARRAY(scratch, uint32_t, ranks);

	for (uint32_t at = 0; at < ranks; at++) {
		uint32_t place[DIMENSION_COUNT], left = at, rank = 0;

		for (int i = 0; i < DIMENSION_COUNT; i++) {
			place[laying->order[i]] = left % degree[laying->order[i]];
			left /= degree[laying->order[i]];
		}
		for (int d = DIMENSION_COUNT - 1; d >= 0; d--)
			rank = rank * degree[d] + place[d];
		device[rank] = laying->device[at];
	}
	return device;
}

static const uint32_t *lay_linear(struct check *c, struct site *site)
{
	const struct problem *problem = site->problem;
	uint32_t *usable = ARENA_ARRAY(c->scratch, uint32_t,
				       problem->device_count);
	struct laying laying = {
		.site = site,
		.usable = usable,
		.order = { DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA,
			   DIMENSION_PIPELINE },
	};

	if (site->placement->packing == PACKING_PIPELINE_DATA) {
		laying.order[2] = DIMENSION_PIPELINE;
		laying.order[3] = DIMENSION_DATA;
	}
	for (uint32_t i = 0, avoided = 0; i < problem->device_count; i++) {
		if (avoided < problem->avoided_count &&
		    problem->avoided[avoided] == i)
			avoided++;
		else
			usable[laying.usable_count++] = i;
	}
	if (block_ranks(&laying, DIMENSION_COUNT) > laying.usable_count)
		return NULL;
	laying.device = ARENA_ARRAY(c->scratch, uint32_t,
				    block_ranks(&laying, DIMENSION_COUNT));
	if (!lay_block(&laying, DIMENSION_COUNT, 0))
		return NULL;
	return renumber(&laying, c->scratch);
}

static bool levels_can_be_linear(const struct problem *problem)
{
	for (uint32_t l = 0; l < problem->level_count; l++)
		if (problem->level[l].kind != LEVEL_SWITCH &&
		    problem->level[l].kind != LEVEL_FULL)
			return false;
	return true;
}

/* Ranks that differ in one coordinate only lie within a child of that level. */
static bool keeps_within(struct check *c, const struct site *site)
{
	uint32_t stride = 1, ranks = c->plan->devices;

	for (int d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t level = site->problem->within[d];
		uint32_t child = level && level < site->problem->level_count ?
			(uint32_t)site->below[level] : site->problem->device_count;

		for (uint32_t rank = 0; rank < ranks; rank++) {
			uint32_t first = rank - rank / stride % site->degree[d] *
						stride;

			if (site->device[rank] / child ==
			    site->device[first] / child)
				continue;
			text_printf(c->reason, "rank %u lies outside level %u", rank,
				    level);
			return false;
		}
		stride *= site->degree[d];
	}
	return true;
}

/* Most devices of the plan in any child of each level. */
static void count_used(struct check *c, struct site *site)
{
	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		uint32_t child = (uint32_t)site->below[l];
		uint32_t *count = ARENA_ARRAY(c->scratch, uint32_t,
			site->problem->device_count / child);

		site->used[l] = 1;
		for (uint32_t rank = 0; rank < c->plan->devices; rank++) {
			uint32_t now = ++count[site->device[rank] / child];

			if (now > site->used[l])
				site->used[l] = now;
		}
	}
}

/* ---- rules for both ---- */

static bool check_pins(struct check *c, const struct problem *problem,
		       const uint32_t *device)
{
	uint32_t pipeline = c->plan->choice.pipeline;
	uint32_t width = c->plan->devices / pipeline;

	for (uint32_t i = 0; i < problem->pin_count; i++) {
		const struct problem_pin *pin = &problem->pin[i];
		uint32_t stage = pin->last ? pipeline - 1 : pin->rank;

		for (uint32_t j = 0; stage < pipeline && j < width; j++) {
			uint32_t at = device[stage * width + j];

			if (at >= pin->first && at - pin->first < pin->count)
				continue;
			text_printf(c->reason, "pipeline rank %u lies on device %u, "
				    "outside its pin", stage, at);
			return false;
		}
	}
	return true;
}

static bool check_usable(struct check *c, const struct problem *problem,
			 const uint32_t *device)
{
	bool *taken = ARENA_ARRAY(c->scratch, bool, problem->device_count);

	for (uint32_t i = 0; i < problem->avoided_count; i++)
		taken[problem->avoided[i]] = true;
	for (uint32_t rank = 0; rank < c->plan->devices; rank++) {
		if (device[rank] >= problem->device_count ||
		    taken[device[rank]]) {
			text_printf(c->reason, "rank %u lies on device %u, which is "
				    "taken or none to use", rank, device[rank]);
			return false;
		}
		taken[device[rank]] = true;
	}
	return true;
}

static bool check_linear(struct check *c, struct site *site)
{
	const struct placement *placement = site->placement;

	if (placement->packing >= PACKING_COUNT || placement->aligned > 3 ||
	    !levels_can_be_linear(site->problem) ||
	    c->plan->choice.shard_level > 0 || c->site_count > 1) {
		text_append(c->reason, "a linear placement where there is none");
		return false;
	}
	site->device = lay_linear(c, site);
	if (!site->device) {
		text_append(c->reason, "the devices end before the ranks do");
		return false;
	}
	for (uint32_t i = 0; c->plan->device && i < c->plan->devices; i++)
		if (c->plan->device[i] != site->device[i]) {
			text_printf(c->reason, "rank %u lies on device %u and not "
				    "on %u", i, site->device[i],
				    c->plan->device[i]);
			return false;
		}
	count_used(c, site);
	feasible_linear_borders(site);
	return keeps_within(c, site);
}

/* ---- factors ---- */

/* The position of a rank at level l, from its digits there. */
static uint32_t position(const struct site *site, uint32_t rank, uint32_t l)
{
	uint32_t position = 0, stride = 1;

	for (int d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t at = rank % site->degree[d];

		rank /= site->degree[d];
		for (uint32_t i = 0; i < l; i++)
			at /= site->placement->factor[d][i];
		position += at % site->placement->factor[d][l] * stride;
		stride *= site->placement->factor[d][l];
	}
	return position;
}

static uint32_t column(const struct site *site, uint32_t l)
{
	uint32_t product = 1;

	for (int d = 0; d < DIMENSION_COUNT; d++)
		product *= site->placement->factor[d][l];
	return product;
}

/* The block of level l that a rank is in. */
static uint32_t block_of(const struct site *site, uint32_t rank, uint32_t l)
{
	uint32_t block = 0;

	for (uint32_t i = site->problem->level_count; i-- > l;)
		block = block * column(site, i) + position(site, rank, i);
	return block;
}

/* Every block lies in one child of its level, and none shares it. */
static bool check_blocks(struct check *c, const struct site *site, uint32_t l)
{
	uint32_t child = (uint32_t)site->below[l];
	uint32_t *child_of = ARENA_ARRAY(c->scratch, uint32_t, c->plan->devices);
	uint32_t *block_in = ARENA_ARRAY(c->scratch, uint32_t,
					 site->problem->device_count);

	for (uint32_t rank = 0; rank < c->plan->devices; rank++) {
		uint32_t at = c->plan->device[rank] / child;
		uint32_t block = block_of(site, rank, l);

		if (child_of[block] == 0 && block_in[at] == 0) {
			child_of[block] = at + 1;
			block_in[at] = block + 1;
		}
		if (child_of[block] == at + 1 && block_in[at] == block + 1)
			continue;
		text_printf(c->reason, "rank %u lies apart from its block of level "
			    "%u, or that with another", rank, l);
		return false;
	}
	return true;
}

/* On a ring position i lies at place first + i, with one first for all blocks of
 * the same torus. */
static bool check_ring(struct check *c, const struct site *site, uint32_t l)
{
	const struct problem_level *level = &site->problem->level[l];
	uint32_t child = (uint32_t)site->below[l], above = l + 1;
	uint32_t *first_of = ARENA_ARRAY(c->scratch, uint32_t, c->plan->devices);

	while (above < site->problem->level_count &&
	       site->problem->level[above].joined)
		above++;
	for (uint32_t rank = 0; rank < c->plan->devices; rank++) {
		uint32_t place = c->plan->device[rank] / child % level->fanout;
		uint32_t at = position(site, rank, l);
		uint32_t first = (place + level->fanout - at) % level->fanout;
		uint32_t torus = above < site->problem->level_count ?
				 block_of(site, rank, above) : 0;

		if (first_of[torus] == 0)
			first_of[torus] = first + 1;
		if (first_of[torus] == first + 1 &&
		    (level->wrap || first + column(site, l) <= level->fanout))
			continue;
		text_printf(c->reason, "rank %u lies at %u of the ring of level %u",
			    rank, place, l);
		return false;
	}
	return true;
}

static bool check_factor_devices(struct check *c, struct site *site)
{
	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		if (!check_blocks(c, site, l))
			return false;
		if (site->problem->level[l].kind == LEVEL_RING &&
		    !check_ring(c, site, l))
			return false;
	}
	return true;
}

bool feasible_devices(struct check *c, struct site *site)
{
	const struct problem *problem = site->problem;
	const uint32_t *device = c->plan->device;

	if (site->placement->packing != PACKING_FACTORS) {
		if (!check_linear(c, site))
			return false;
		device = site->device;
	}
	if (c->site_count > 1)
		return true;
	if (!device && (problem->avoided_count || problem->pin_count)) {
		text_append(c->reason, "no devices are named");
		return false;
	}
	if (!device)
		return true;
	return check_usable(c, problem, device) &&
	       check_pins(c, problem, device) &&
	       (site->placement->packing != PACKING_FACTORS ||
		check_factor_devices(c, site));
}

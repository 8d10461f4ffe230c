/* SPDX-License-Identifier: MIT
 *
 * Laying ranks over devices in order, and the rules that this may break.
 */
#include "solver/linear.h"

static const enum dimension order_table[PACKING_COUNT][DIMENSION_COUNT] = {
	[PACKING_DATA_PIPELINE] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				    DIMENSION_DATA, DIMENSION_PIPELINE },
	[PACKING_PIPELINE_DATA] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				    DIMENSION_PIPELINE, DIMENSION_DATA },
};

bool linear_is_possible(const struct problem *problem)
{
	/* On a graph groups lie along the levels that it implies. */
	if (problem->graph || problem->graph_device)
		return false;
	for (uint32_t l = 0; l < problem->level_count; l++)
		if (problem->level[l].kind == LEVEL_RING)
			return false;
	return true;
}

struct placement linear_placement(const uint32_t degree[DIMENSION_COUNT],
				  enum packing packing, uint32_t aligned)
{
	struct placement placement = { .packing = packing, .aligned = aligned };

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			placement.factor[d][l] = l ? 1 : degree[d];
	return placement;
}

/* ---- laying ---- */

/* No position in the list of usable devices. */
#define NOWHERE UINT32_MAX

struct laying {
	uint32_t *usable;		/* devices, ascending; NULL: all */
	uint32_t usable_count;
	uint32_t degree[DIMENSION_COUNT];	/* in the order */
	uint32_t number[DIMENSION_COUNT];	/* of a coordinate in the rank */
	/* Devices of a child that a block of i + 1 dimensions must not leave; 0: it
	 * may lie anywhere. */
	uint32_t child[DIMENSION_COUNT];
	uint32_t *device;
};

static uint32_t usable_at(const struct laying *laying, uint32_t at)
{
	return laying->usable ? laying->usable[at] : at;
}

/* The first position whose device is not below this one. */
static uint32_t usable_from(const struct laying *laying, uint64_t device)
{
	uint32_t low = 0, high = laying->usable_count;

	if (!laying->usable)
		return device < high ? (uint32_t)device : NOWHERE;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (laying->usable[middle] < device)
			low = middle + 1;
		else
			high = middle;
	}
	return low < laying->usable_count ? low : NOWHERE;
}

/* Lays the block of so many dimensions that begins with a rank, at or after a
 * position: where the next one may begin, or NOWHERE. DIMENSION_COUNT deep. */
static uint32_t lay_block(const struct laying *laying, uint32_t dimensions,
			  uint32_t rank, uint32_t at)
{
	uint32_t outer = dimensions - 1, child, x;

	if (at >= laying->usable_count)
		return NOWHERE;
	if (!dimensions) {
		laying->device[rank] = usable_at(laying, at);
		return at + 1;
	}
	child = laying->child[outer];
	for (;;) {
		uint64_t end = UINT64_MAX;

		for (x = 0; x < laying->degree[outer]; x++) {
			at = lay_block(laying, outer,
				       rank + x * laying->number[outer], at);
			if (at == NOWHERE)
				return NOWHERE;
			if (child && !x)
				end = ((uint64_t)laying->device[rank] / child +
				       1) * child;
			if (usable_at(laying, at - 1) >= end)
				break;
		}
		if (x == laying->degree[outer])
			return at;
		at = usable_from(laying, end);
		if (at == NOWHERE)
			return NOWHERE;
	}
}

/* Devices of a child of the lowest level whose children have so many; 0: only the
 * whole network has. */
static uint32_t child_for(const struct problem *problem, uint64_t ranks)
{
	uint32_t devices = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		if (devices >= ranks)
			return devices;
		devices *= problem->level[l].fanout;
	}
	return 0;
}

bool linear_aligns(const struct problem *problem,
		   const struct placement *placement)
{
	const enum dimension *order = order_table[placement->packing];
	uint64_t block = 1, all = 1;

	if (problem->avoided_count)
		return true;
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		all *= placement->factor[d][0];
	for (uint32_t i = 0; i < placement->aligned; i++) {
		uint32_t child;

		block *= placement->factor[order[i]][0];
		child = child_for(problem, block);
		if (child && child < all && child % block)
			return true;
	}
	return false;
}

static void find_usable(const struct problem *problem, struct arena *scratch,
			struct laying *laying)
{
	uint32_t skipped = 0;

	laying->usable_count = problem_usable(problem);
	if (!problem->avoided_count)
		return;
	laying->usable = ARENA_ARRAY(scratch, uint32_t, laying->usable_count);
	for (uint32_t i = 0; i < problem->device_count; i++) {
		if (skipped < problem->avoided_count &&
		    problem->avoided[skipped] == i)
			skipped++;
		else
			laying->usable[i - skipped] = i;
	}
}

bool linear_lay(const struct problem *problem, const struct placement *placement,
		struct arena *scratch, uint32_t *device)
{
	const enum dimension *order = order_table[placement->packing];
	struct arena_mark mark = arena_mark(scratch);
	struct laying laying = { .device = device };
	uint32_t number[DIMENSION_COUNT], all = 1;
	uint64_t block = 1;
	bool laid;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
		number[d] = all;
		all *= placement->factor[d][0];
	}
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		laying.degree[i] = placement->factor[order[i]][0];
		laying.number[i] = number[order[i]];
		block *= laying.degree[i];
		if (i < placement->aligned)
			laying.child[i] = child_for(problem, block);
	}
	if (block > problem_usable(problem))
		return false;
	find_usable(problem, scratch, &laying);
	laid = lay_block(&laying, DIMENSION_COUNT, 0, 0) != NOWHERE;
	arena_rewind(scratch, mark);
	return laid;
}

/* ---- rules ---- */

/* Whether ranks that differ in one coordinate only lie in one child of so many
 * devices. */
static bool keeps_within(const uint32_t *device, uint32_t count, uint32_t stride,
			 uint32_t degree, uint32_t child)
{
	for (uint32_t r = 0; r < count; r++)
		if (device[r] / child !=
		    device[r - r / stride % degree * stride] / child)
			return false;
	return true;
}

static bool keeps_pin(const struct problem_pin *pin, const uint32_t *device,
		      uint32_t pipeline, uint32_t width)
{
	uint32_t rank = pin->last ? pipeline - 1 : pin->rank;

	for (uint32_t i = 0; rank < pipeline && i < width; i++) {
		uint32_t at = device[rank * width + i];

		if (at < pin->first || at - pin->first >= pin->count)
			return false;
	}
	return true;
}

bool linear_keeps_rules(const struct problem *problem,
			const struct placement *placement,
			const uint32_t *device)
{
	uint32_t pipeline = placement->factor[DIMENSION_PIPELINE][0];
	uint32_t stride = 1, count = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		count *= placement->factor[d][0];
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t degree = placement->factor[d][0], child = 1;

		for (uint32_t l = 0; l < problem->within[d]; l++)
			child *= problem->level[l].fanout;
		if (problem->within[d] &&
		    !keeps_within(device, count, stride, degree, child))
			return false;
		stride *= degree;
	}
	for (uint32_t i = 0; i < problem->pin_count; i++)
		if (!keeps_pin(&problem->pin[i], device, pipeline,
			       count / pipeline))
			return false;
	return true;
}

/* ---- the same as factors ---- */

/* Splits one dimension of ranks in the order of the devices, each `stride` from the
 * next, over the levels. */
static bool split_dimension(const struct problem *problem, uint64_t stride,
			    uint64_t degree, uint32_t *factor)
{
	uint64_t high = stride * degree, begin = 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		uint64_t end = l < problem->level_count ?
			begin * problem->level[l].fanout : begin;
		uint64_t from = stride > begin ? stride : begin;
		uint64_t to = high < end ? high : end;

		factor[l] = 1;
		if (to > from && to % from)
			return false;
		if (to > from)
			factor[l] = (uint32_t)(to / from);
		begin = end;
	}
	return high <= begin;
}

bool linear_divides(const struct problem *problem,
		    const struct placement *placement, struct placement *factors)
{
	const enum dimension *order = order_table[placement->packing];
	uint64_t stride = 1;

	if (problem->avoided_count)
		return false;
	*factors = (struct placement){ .packing = PACKING_FACTORS };
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		uint32_t degree = placement->factor[order[i]][0];

		if (!split_dimension(problem, stride, degree,
				     factors->factor[order[i]]))
			return false;
		stride *= degree;
	}
	/* Factors of one level have an order of their own. */
	for (uint32_t l = 0; l < problem->level_count; l++)
		if (placement->packing == PACKING_PIPELINE_DATA &&
		    factors->factor[DIMENSION_DATA][l] > 1 &&
		    factors->factor[DIMENSION_PIPELINE][l] > 1)
			return false;
	return true;
}

/* How many ranks from the first on, each a stride on, lie in its child. */
static uint32_t run_within(const uint32_t *device, uint32_t stride,
			   uint32_t degree, uint32_t child)
{
	uint32_t run = 1;

	while (run < degree && device[(size_t)run * stride] / child ==
				       device[0] / child)
		run++;
	return run;
}

/* The only factors that can say where the ranks are: those of each dimension
 * follow from where it leaves the children of the first rank. */
static bool guess_factors(const struct problem *problem,
			  const struct placement *placement,
			  const uint32_t *device, struct placement *factors)
{
	uint32_t stride = 1, child = 1;

	*factors = (struct placement){ .packing = PACKING_FACTORS };
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
		uint32_t degree = placement->factor[d][0], done = 1;

		child = 1;
		for (uint32_t l = 0; l < LEVEL_MAX; l++) {
			uint32_t run = done;

			if (l < problem->level_count) {
				child *= problem->level[l].fanout;
				run = run_within(device, stride, degree, child);
			}
			if (run % done)
				return false;
			factors->factor[d][l] = run / done;
			done = run;
		}
		if (done != degree)
			return false;
		stride *= degree;
	}
	return true;
}

bool linear_is_factored(const struct problem *problem,
			const struct placement *placement,
			const uint32_t *device, struct placement *factors)
{
	uint32_t degree[DIMENSION_COUNT], coordinate[DIMENSION_COUNT] = { 0 };
	uint32_t count = 1;

	if (!guess_factors(problem, placement, device, factors))
		return false;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t column = 1;

		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			column *= factors->factor[d][l];
		if (column > problem->level[l].fanout)
			return false;
	}
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
		degree[d] = placement->factor[d][0];
		count *= degree[d];
	}
	for (uint32_t r = 0; r < count; r++) {
		if (network_device(problem, factors, coordinate) != device[r])
			return false;
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
			if (++coordinate[d] < degree[d])
				break;
			coordinate[d] = 0;
		}
	}
	return true;
}

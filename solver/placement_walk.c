/* SPDX-License-Identifier: MIT
 *
 * Every placement of given degrees, in the order of ties.
 */
#include "solver/placement.h"

#include <string.h>

#include "solver/linear.h"

/* The state of a walk: the matrix so far, what room its columns leave. The
 * recursion is DIMENSION_COUNT x LEVEL_MAX deep at most. */
struct walk {
	const struct problem *problem;
	struct placement placement;
	uint32_t room[LEVEL_MAX];
	uint32_t rest[DIMENSION_COUNT];	/* still to be factored */
	bool (*visit)(void *closure, const struct placement *);
	void *closure;
};

static bool walk_from(struct walk *walk, uint32_t dimension, uint32_t level);

static bool walk_factor(struct walk *walk, uint32_t dimension, uint32_t level,
			uint32_t factor)
{
	uint32_t room = walk->room[level];
	bool more;

	walk->placement.factor[dimension][level] = factor;
	walk->room[level] = room / factor;
	walk->rest[dimension] /= factor;
	more = walk_from(walk, dimension, level + 1);
	walk->rest[dimension] *= factor;
	walk->room[level] = room;
	return more;
}

static bool walk_from(struct walk *walk, uint32_t dimension, uint32_t level)
{
	uint32_t rest = walk->rest[dimension], most;
	bool last = level + 1 == walk->problem->level_count;

	if (level == walk->problem->level_count) {
		if (dimension + 1 == DIMENSION_COUNT)
			return walk->visit(walk->closure, &walk->placement);
		return walk_from(walk, dimension + 1, 0);
	}
	most = walk->room[level] < rest ? walk->room[level] : rest;
	if (walk->problem->within[dimension] &&
	    level >= walk->problem->within[dimension])
		most = 1;
	if (last)
		return most < rest || walk_factor(walk, dimension, level, rest);
	for (uint32_t factor = most; factor; factor--)
		if (rest % factor == 0 &&
		    !walk_factor(walk, dimension, level, factor))
			return false;
	return true;
}

void placement_walk(const struct problem *problem,
		    const uint32_t degree[DIMENSION_COUNT],
		    bool (*visit)(void *closure, const struct placement *),
		    void *closure)
{
	struct walk walk = {
		.problem = problem,
		.placement = { .packing = PACKING_FACTORS },
		.visit = visit,
		.closure = closure,
	};

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		walk.room[l] = l < problem->level_count ?
			problem->level[l].fanout : 1;
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			walk.placement.factor[d][l] = 1;
	}
	memcpy(walk.rest, degree, sizeof(walk.rest));
	walk_from(&walk, 0, 0);
}

void placement_walk_linear(const struct problem *problem,
			   const uint32_t degree[DIMENSION_COUNT],
			   bool (*visit)(void *closure, const struct placement *),
			   void *closure)
{
	/* With one replica the order is the same, but not what `aligned` keeps whole. */
	bool swapped = degree[DIMENSION_PIPELINE] > 1;
	int last = swapped ? PACKING_PIPELINE_DATA : PACKING_DATA_PIPELINE;

	if (!linear_is_possible(problem))
		return;
	for (int packing = PACKING_DATA_PIPELINE; packing <= last; packing++)
		for (uint32_t aligned = 0; aligned < DIMENSION_COUNT; aligned++) {
			struct placement placement = linear_placement(
				degree, (enum packing)packing, aligned);

			if (aligned && !linear_aligns(problem, &placement))
				continue;
			if (!visit(closure, &placement))
				return;
		}
}

bool placement_before(const struct placement *a, const struct placement *b)
{
	if (a->packing != b->packing)
		return a->packing < b->packing;
	if (a->aligned != b->aligned)
		return a->aligned < b->aligned;
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			if (a->factor[d][l] != b->factor[d][l])
				return a->factor[d][l] > b->factor[d][l];
	return false;
}

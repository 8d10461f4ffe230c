/* SPDX-License-Identifier: MIT
 *
 * Exhaustive enumeration, as plainly as it can be written: nested loops over
 * degrees, factor matrices and cuts; every plan priced from scratch. Nothing
 * is bounded or skipped but what the space itself excludes.
 */
#include "tests/prop/brute.h"

#include <math.h>
#include <string.h>

#include "tests/prop/brute_parts.h"

/* even.h, read literally. */
static bool blocks_are_nearly_even(const uint32_t *blocks, uint32_t chunks)
{
	uint32_t least = UINT32_MAX, largest = 0;

	for (uint32_t c = 1; c + 1 < chunks; c++) {
		if (blocks[c] < least)
			least = blocks[c];
		if (blocks[c] > largest)
			largest = blocks[c];
	}
	return largest - least <= 1 && blocks[0] <= least + 1 &&
	       blocks[chunks - 1] <= least + 1;
}

static bool cut_is_allowed(const struct brute_pricing *pricing)
{
	const struct brute_plan *plan = pricing->plan;
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;
	uint32_t blocks[BRUTE_STAGE_MAX] = { 0 };

	for (uint32_t i = 0; i < pricing->layer_count; i++)
		blocks[brute_chunk_of(plan, i)] +=
			pricing->problem->class_is_block[pricing->layer_class[i]];
	if (plan->choice.virtual_stages > 1 &&
	    !blocks_are_nearly_even(blocks, chunks))
		return false;
	for (uint32_t c = 1; c < chunks; c++)
		if (pricing->problem->uniform_stages && blocks[c] != blocks[0])
			return false;
	return true;
}

static void try_plan(struct brute_pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	bool meets;

	if (!cut_is_allowed(pricing))
		return;
	meets = brute_judge(pricing);
	if (result->visit)
		result->visit(result->closure, plan);
	if (random_below(&result->random, (uint32_t)++result->plans) == 0)
		result->sample = *plan;
	if (!meets)
		return;
	if (!result->has_lightest ||
	    plan->peak_bytes < result->lightest_peak_bytes)
		result->lightest_peak_bytes = plan->peak_bytes;
	result->has_lightest = true;
	if (plan->peak_bytes > problem->memory.limit_bytes)
		return;
	if (!result->found || brute_compare(problem, plan, &result->best) < 0)
		result->best = *plan;
	result->found = true;
}

/* All cuts: chunk `chunk` begins at `from`. */
static void try_cuts(struct brute_pricing *pricing, uint32_t chunk, uint32_t from,
		     struct brute_result *result)
{
	struct brute_plan *plan = pricing->plan;
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;

	plan->chunk_first[chunk] = from;
	if (chunk == chunks) {
		if (from == pricing->layer_count)
			try_plan(pricing, result);
		return;
	}
	for (uint32_t next = from + 1; next <= pricing->layer_count; next++)
		try_cuts(pricing, chunk + 1, next, result);
}

/* Whether the factors put every rank on the device given, each at its position. */
static bool puts_ranks_on(const struct brute_pricing *pricing,
			  const uint32_t *device)
{
	const struct problem *problem = pricing->problem;
	const struct placement *placement = &pricing->plan->placement;

	for (uint32_t rank = 0; rank < pricing->plan->devices; rank++) {
		uint32_t at[DIMENSION_COUNT], rest = rank, number = 0, below = 1;

		for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
			uint32_t degree = 1;

			for (uint32_t l = 0; l < problem->level_count; l++)
				degree *= placement->factor[d][l];
			at[d] = rest % degree;
			rest /= degree;
		}
		for (uint32_t l = 0; l < problem->level_count; l++) {
			uint32_t stride = below;

			for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
				number += at[d] % placement->factor[d][l] * stride;
				at[d] /= placement->factor[d][l];
				stride *= placement->factor[d][l];
			}
			below *= problem->level[l].fanout;
		}
		if (number != device[rank])
			return false;
	}
	return true;
}

/* All factor matrices, one cell after another; left[d] is what remains of a
 * degree. With `wanted` none is tried, but counted if it puts the ranks there. */
static void try_placements(struct brute_pricing *pricing, uint32_t cell,
			   const uint32_t *left, const uint32_t *wanted,
			   struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	uint32_t d = cell % DIMENSION_COUNT, l = cell / DIMENSION_COUNT;
	struct placement *placement = &pricing->plan->placement;
	uint32_t column = 1, rest[DIMENSION_COUNT];
	struct brute_expert_parts dealt;

	if (l == problem->level_count) {
		for (d = 0; d < DIMENSION_COUNT; d++)
			if (left[d] != 1)
				return;
		if (!brute_deal_experts(problem, pricing->shape, placement, &dealt) ||
		    !brute_has_room(problem, placement,
				    pricing->plan->choice.pipeline))
			return;
		if (wanted) {
			result->placements += puts_ranks_on(pricing, wanted);
			return;
		}
		brute_price_placement(pricing);
		try_cuts(pricing, 0, 0, result);
		return;
	}
	for (uint32_t i = 0; i < d; i++)
		column *= placement->factor[i][l];
	for (uint32_t f = 1; f <= left[d]; f++) {
		if (left[d] % f != 0 || column * f > problem->level[l].fanout)
			continue;
		if (f > 1 && problem->within[d] && l + 1 > problem->within[d])
			continue;
		memcpy(rest, left, sizeof(rest));
		rest[d] /= f;
		placement->factor[d][l] = f;
		try_placements(pricing, cell + 1, rest, wanted, result);
	}
}

static bool can_be_linear(const struct brute_pricing *pricing)
{
	const struct problem *problem = pricing->problem;

	for (uint32_t l = 0; l < problem->level_count; l++)
		if (problem->level[l].kind == LEVEL_RING)
			return false;
	return pricing->plan->choice.shard_level == 0;
}

/* The linear placements, but for those that are the same as one before or as
 * factors. */
static void try_linear(struct brute_pricing *pricing, const uint32_t *degree,
		       struct brute_result *result)
{
	static const enum packing packings[] = { PACKING_DATA_PIPELINE,
						 PACKING_PIPELINE_DATA };
	uint32_t laid[8][BRUTE_DEVICE_MAX], count = 0;
	struct brute_plan *plan = pricing->plan;
	struct placement factors = plan->placement, linear;

	for (uint32_t i = 0; i < 8; i++) {
		uint32_t same = 0;

		memset(&plan->placement, 0, sizeof(plan->placement));
		for (int d = 0; d < DIMENSION_COUNT; d++)
			for (uint32_t l = 0; l < LEVEL_MAX; l++)
				plan->placement.factor[d][l] = l ? 1 : degree[d];
		plan->placement.packing = packings[i / 4];
		plan->placement.aligned = i % 4;
		if (!brute_lay(pricing->problem, &plan->placement, degree,
			       laid[count]))
			continue;
		while (memcmp(laid[same], laid[count],
			      plan->devices * sizeof(uint32_t)) != 0)
			same++;
		if (same < count++)
			continue;
		result->placements = 0;
		linear = plan->placement;
		try_placements(pricing, 0, degree, laid[count - 1], result);
		plan->placement = linear;
		if (result->placements)
			continue;
		memcpy(plan->device, laid[count - 1], sizeof(laid[0]));
		if (!brute_keeps_rules(pricing->problem, degree, plan->device))
			continue;
		brute_price_placement(pricing);
		try_cuts(pricing, 0, 0, result);
	}
	plan->placement = factors;
}

/* One configuration under all placements. */
static void try_configuration(struct brute_pricing *pricing,
			      const uint32_t *degree,
			      struct brute_result *result)
{
	result->configurations++;
	try_placements(pricing, 0, degree, NULL, result);
	if (can_be_linear(pricing))
		try_linear(pricing, degree, result);
}

static bool in_domain(const struct problem_domain *domain, uint32_t value)
{
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return domain->count == 0;
}

/* Whether a schedule is in the space, given pipeline and virtual stages. */
static bool schedule_is_allowed(const struct problem *problem,
				const struct choice *choice,
				enum schedule schedule)
{
	bool chosen = false;

	for (int s = 0; s < SCHEDULE_COUNT; s++)
		chosen |= problem->schedule[s];
	if (choice->pipeline == 1)
		return schedule == SCHEDULE_1F1B;
	if ((choice->virtual_stages > 1) != (schedule == SCHEDULE_INTERLEAVED))
		return false;
	return chosen ? problem->schedule[schedule] :
			schedule != SCHEDULE_GPIPE;
}

static bool shard_level_is_allowed(const struct problem *problem, uint32_t zero,
				   uint32_t level)
{
	bool chosen = false;

	for (uint32_t l = 0; l < problem->level_count; l++)
		chosen |= problem->shard_level[l];
	if (zero == 0 || !chosen)
		return level == 0;
	return problem->shard_level[level];
}

/* All values of recompute_layers. */
static void try_layers(struct brute_pricing *pricing,
		       struct brute_result *result)
{
	const struct problem_domain *layers =
		&pricing->problem->recompute_layers;
	struct choice *choice = &pricing->plan->choice;
	uint32_t degree[DIMENSION_COUNT] = {
		pricing->shape->tensor, pricing->shape->context,
		choice->data, choice->pipeline,
	};

	choice->recompute_layers = 0;
	if (choice->recompute != RECOMPUTE_FULL || layers->count == 0) {
		try_configuration(pricing, degree, result);
		return;
	}
	for (uint32_t i = 0; i < layers->count; i++) {
		choice->recompute_layers = layers->at[i];
		try_configuration(pricing, degree, result);
	}
}

static void try_policies(struct brute_pricing *pricing,
			 struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	struct choice *choice = &pricing->plan->choice;

	for (uint32_t zero = 0; zero < 4; zero++)
	for (uint32_t level = 0; level < problem->level_count; level++)
	for (int r = 0; r < RECOMPUTE_COUNT; r++)
	for (int s = 0; s < SCHEDULE_COUNT; s++) {
		if (!problem->zero[zero] || !problem->recompute[r] ||
		    !shard_level_is_allowed(problem, zero, level) ||
		    !schedule_is_allowed(problem, choice, (enum schedule)s))
			continue;
		choice->zero = zero;
		choice->shard_level = level;
		choice->recompute = (enum recompute)r;
		choice->schedule = (enum schedule)s;
		try_layers(pricing, result);
	}
}

static void try_shape(struct brute_pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	const struct problem_shape *shape = pricing->shape;
	struct choice *choice = &pricing->plan->choice;

	for (uint32_t d = 1; d <= problem->device_count; d++)
	for (uint32_t p = 1; p <= problem->device_count; p++)
	for (uint32_t v = 1; p * v <= pricing->layer_count; v++) {
		uint32_t devices = shape->tensor * shape->context * d * p;

		if (devices > problem->device_count - problem->avoided_count ||
		    !in_domain(&problem->devices, devices) ||
		    !in_domain(&problem->data, d) ||
		    !in_domain(&problem->pipeline, p) ||
		    !in_domain(&problem->virtual_stages, v))
			continue;
		if (problem->global_batch % (shape->micro_batch * d) != 0)
			continue;
		if (shape->tensor * shape->context * d %
		    (shape->expert * shape->expert_tensor) != 0)
			continue;
		choice->data = d;
		choice->pipeline = p;
		choice->virtual_stages = v;
		choice->micro_batches =
			problem->global_batch / (shape->micro_batch * d);
		if (v > 1 && (p == 1 || choice->micro_batches % p != 0))
			continue;
		pricing->plan->devices = devices;
		try_policies(pricing, result);
	}
}

static void try_all(const struct problem *problem, struct brute_result *result)
{
	struct brute_plan plan;
	struct brute_pricing pricing = { .problem = problem, .plan = &plan };

	memset(&plan, 0, sizeof(plan));
	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			plan.placement.factor[d][l] = 1;
	brute_unroll(&pricing);
	for (uint32_t s = 0; s < problem->shape_count; s++) {
		plan.choice.shape = s;
		pricing.shape = &problem->shape[s];
		try_shape(&pricing, result);
	}
}

void brute_solve(const struct problem *problem, uint64_t seed,
		 struct brute_result *result)
{
	memset(result, 0, sizeof(*result));
	result->random.state = seed;
	try_all(problem, result);
}

void brute_each(const struct problem *problem, brute_visit *visit, void *closure)
{
	struct brute_result result = { .visit = visit, .closure = closure };

	try_all(problem, &result);
}

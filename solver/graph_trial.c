/* SPDX-License-Identifier: MIT
 *
 * Local search around one plan: the price decides every step.
 */
#include "solver/graph_trial.h"

#include <math.h>
#include <string.h>

#include "solver/devices.h"
#include "solver/graph_alike.h"
#include "solver/price.h"

/* Plans that are routed at most, and devices x plans. */
#define ROUTED_MAX 10000
#define ROUTED_DEVICES_MAX 200000
/* Of what has been routed, that is kept. */
#define ROUTES_BYTES_MAX ((size_t)32 << 20)
/* Each plan may use this share of what is left. */
#define SHARE 3
/* Pairs of children, in a graph so small that an exchange is also tried where it helps
 * only with others; and plans from there on. */
#define DETOUR_PAIRS_MAX 24
#define DETOUR_PLANS 60
/* A step must be better by this, relatively. */
#define STEP 1e-9

/* One plan on its way. */
struct attempt {
	struct trial *trial;
	struct incumbent best;		/* of this attempt */
	uint64_t left;			/* plans it may still route */
	uint32_t *map;			/* of its best */
	double sends_s;			/* and the transfers between its stages together */
	uint32_t *other;		/* being tried */
	uint32_t *chunk_first;
};

/* Of children of one parent. */
static uint32_t count_pairs(const struct problem *problem)
{
	uint32_t pairs = 0, parents = problem->device_count;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t fanout = problem->level[l].fanout;

		parents /= fanout;
		pairs += parents * (fanout * (fanout - 1) / 2);
	}
	return pairs;
}

void trial_init(struct trial *trial, const struct problem *problem, double goal,
		struct arena *arena, struct arena *scratch)
{
	*trial = (struct trial){
		.problem = problem,
		.arena = arena,
		.scratch = scratch,
		.goal = goal,
		.left = ROUTED_DEVICES_MAX / problem->device_count,
	};
	if (trial->left > ROUTED_MAX)
		trial->left = ROUTED_MAX;
	if (trial->left < 16)
		trial->left = 16;
	trial->has_detours = count_pairs(problem) <= DETOUR_PAIRS_MAX;
	memo_init(&trial->routes, ROUTES_BYTES_MAX);
	incumbent_init(&trial->best, problem, arena);
	trial->best_map = ARENA_ARRAY(arena, uint32_t, problem->device_count);
	trial->faulty = graph_faulty(problem->graph, scratch);
	graph_owners(problem->graph, problem->level, problem->level_count,
		     problem->graph_device, problem->device_count, scratch,
		     &trial->owners);
	for (uint32_t l = 0; l < problem->level_count; l++)
		trial->twin[l] = graph_twins(
			problem->graph, trial->owners.owner[l],
			problem->device_count / trial->owners.below[l], scratch);
}

void trial_release(struct trial *trial)
{
	memo_release(&trial->routes);
}

/* ---- the price of one ---- */

static bool is_legal(const struct problem *problem, const struct plan *plan,
		     const struct predicate_input *input)
{
	if (plan->memory_peak_bytes > problem->memory.limit_bytes)
		return false;
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double value = predicate_evaluate(&problem->requirement[i], input);

		if (value == 0 || isnan(value))
			return false;
	}
	return true;
}

static double sends_of(const struct plan *plan)
{
	double sum = 0;

	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		sum += plan->stage[k].send_s;
	return sum;
}

/* Of two orders that are as good, the slowest transfer being the same, the one whose
 * others are faster leads further. */
static bool leads_on(const struct attempt *attempt, const struct plan *plan,
		     const struct merit *merit, double sends_s)
{
	return plan == &attempt->best.plan &&
	       merit->objective[0] <= attempt->best.merit.objective[0] &&
	       sends_s < attempt->sends_s * (1 - STEP);
}

/* Prices a plan and takes it if its first objective is below `than` times that
 * of the attempt's best. */
static bool offer(struct attempt *attempt, const struct plan *plan,
		  const uint32_t *map, double than)
{
	struct trial *trial = attempt->trial;
	struct arena_mark mark = arena_mark(trial->scratch);
	struct plan priced = *plan;
	struct predicate_input input;
	struct merit merit;
	bool better = false;

	if (!attempt->left)
		return false;
	attempt->left--;
	if (trial->left)
		trial->left--;
	priced.device_map = map;
	if (devices_fill(trial->problem, trial->scratch, &priced)) {
		trial->routed++;
		price_routed(trial->problem, trial->scratch, &trial->routes,
			     &priced);
		price_variables(trial->problem, &priced, trial->scratch, &input);
		plan_merit(&attempt->best, &priced, &input, &merit);
		better = is_legal(trial->problem, &priced, &input) &&
			 (!attempt->best.found ||
			  merit.objective[0] <
				  attempt->best.merit.objective[0] * than ||
			  leads_on(attempt, plan, &merit, sends_of(&priced)));
		if (better)
			attempt->sends_s = sends_of(&priced);
	}
	/* What is kept must not lie behind the mark. */
	arena_rewind(trial->scratch, mark);
	if (!better)
		return false;
	if (than < 1)
		incumbent_offer(&attempt->best, plan, &merit);
	memcpy(attempt->map, map,
	       trial->problem->device_count * sizeof(*map));
	return true;
}

static bool is_over(const struct trial *trial)
{
	return trial->deadline && deadline_passed(trial->deadline);
}

static bool is_done(const struct attempt *attempt)
{
	return !attempt->left || is_over(attempt->trial) || attempt->best.merit.objective[0] <=
					 attempt->trial->goal * (1 + TIE);
}

/* ---- children in other places ---- */

struct block {
	uint32_t first, size;
};

static bool block_is_faulty(const struct attempt *attempt, struct block block)
{
	for (uint32_t i = 0; i < block.size; i++)
		if (attempt->trial->faulty[attempt->map[block.first + i]])
			return true;
	return false;
}

/* The place where the devices of a block stand at first tells what it is. */
static bool are_twins(const struct attempt *attempt, uint32_t level,
		      const uint32_t *map, struct block a, struct block b)
{
	const struct trial *trial = attempt->trial;
	const uint32_t *place = trial->owners.place;

	return trial->twin[level][place[map[a.first]] / a.size] ==
	       trial->twin[level][place[map[b.first]] / b.size];
}

static void exchange(uint32_t *map, struct block a, struct block b)
{
	for (uint32_t i = 0; i < a.size; i++) {
		uint32_t device = map[a.first + i];

		map[a.first + i] = map[b.first + i];
		map[b.first + i] = device;
	}
}

static bool swap_blocks(struct attempt *attempt, struct block a, struct block b)
{
	memcpy(attempt->other, attempt->map,
	       attempt->trial->problem->device_count * sizeof(*attempt->map));
	exchange(attempt->other, a, b);
	return offer(attempt, &attempt->best.plan, attempt->other, 1 - STEP);
}

/* Tries pairs of children of one parent; `faults`: only those of which one has a
 * slow link, else only those of which none has. */
static bool swap_children(struct attempt *attempt, uint32_t level,
			  uint32_t parent, bool faults)
{
	uint32_t fanout = attempt->trial->problem->level[level].fanout;
	uint32_t below = attempt->trial->owners.below[level];

	bool better = false;

	for (uint32_t i = 0; i < fanout; i++) {
		for (uint32_t j = i + 1; j < fanout; j++) {
			struct block a = { (parent * fanout + i) * below, below };
			struct block b = { (parent * fanout + j) * below, below };

			if ((block_is_faulty(attempt, a) ||
			     block_is_faulty(attempt, b)) != faults ||
			    are_twins(attempt, level, attempt->map, a, b))
				continue;
			better |= swap_blocks(attempt, a, b);
			if (is_done(attempt))
				return better;
		}
	}
	return better;
}

static bool swap_level(struct attempt *attempt, uint32_t level, bool faults)
{
	const struct problem *problem = attempt->trial->problem;
	const uint32_t *below = attempt->trial->owners.below;
	bool better = false;

	for (uint32_t parent = 0;
	     parent < problem->device_count / below[level + 1]; parent++)
		better |= swap_children(attempt, level, parent, faults);
	return better;
}

/* Twins are put in the order of the spec. */
static void sort_children(struct attempt *attempt, uint32_t level,
			  uint32_t parent, uint32_t fanout, uint32_t below)
{
	for (uint32_t i = 0; i < fanout; i++) {
		for (uint32_t j = i + 1; j < fanout; j++) {
			struct block a = { (parent * fanout + i) * below, below };
			struct block b = { (parent * fanout + j) * below, below };

			if (attempt->other[a.first] > attempt->other[b.first] &&
			    are_twins(attempt, level, attempt->other, a, b))
				exchange(attempt->other, a, b);
		}
	}
}

static void sort_places(struct attempt *attempt)
{
	const struct problem *problem = attempt->trial->problem;
	const uint32_t *below = attempt->trial->owners.below;

	memcpy(attempt->other, attempt->map,
	       problem->device_count * sizeof(*attempt->map));
	for (uint32_t l = 0; l < problem->level_count; l++)
		for (uint32_t parent = 0;
		     parent < problem->device_count / below[l + 1]; parent++)
			sort_children(attempt, l, parent,
				      problem->level[l].fanout, below[l]);
	attempt->left++;
	offer(attempt, &attempt->best.plan, attempt->other, 1 + TIE);
}

/* From the outermost level in: that is where links differ most. */
static void change_places(struct attempt *attempt)
{
	const struct problem *problem = attempt->trial->problem;
	bool better = true;

	while (better && !is_done(attempt)) {
		better = false;
		for (uint32_t l = problem->level_count; l-- > 0;)
			better |= swap_level(attempt, l, true);
		/* Two alike have nothing to gain where one part is as another. */
		for (uint32_t l = problem->level_count; l-- > 0 && !better;)
			better = swap_level(attempt, l, false);
	}
}

/* ---- stages side by side ---- */

/* Where a child of a level goes if pipeline ranks come before everything else that
 * the level is shared out by. */
static uint32_t beside(const struct placement *placement, uint32_t level,
		       uint32_t position)
{
	uint32_t ranks = placement->factor[DIMENSION_PIPELINE][level], others = 1;

	for (uint32_t d = 0; d < DIMENSION_PIPELINE; d++)
		others *= placement->factor[d][level];
	if (position >= ranks * others)
		return position;
	return position % others * ranks + position / others;
}

/* Neighbours in the spec are often neighbours in the network: stages that send to each
 * other stand side by side. False if they do as it is. */
static bool set_beside(struct attempt *attempt, const struct plan *plan)
{
	const struct problem *problem = attempt->trial->problem;
	const uint32_t *below = attempt->trial->owners.below;
	bool moved = false;

	for (uint32_t i = 0; i < problem->device_count; i++) {
		uint32_t from = 0;

		for (uint32_t l = 0; l < problem->level_count; l++)
			from += below[l] *
				beside(&plan->placement, l, i / below[l] %
						problem->level[l].fanout);
		attempt->other[i] = problem->graph_device[from];
		moved |= from != i;
	}
	return moved;
}

/* ---- stage borders ---- */

static bool move_border(struct attempt *attempt, uint32_t chunk, int by)
{
	const struct plan *best = &attempt->best.plan;
	struct plan plan = *best;

	memcpy(attempt->chunk_first, best->chunk_first,
	       (best->chunk_count + 1) * sizeof(*best->chunk_first));
	attempt->chunk_first[chunk] += (uint32_t)by;
	if (attempt->chunk_first[chunk] <= attempt->chunk_first[chunk - 1] ||
	    attempt->chunk_first[chunk] >= attempt->chunk_first[chunk + 1])
		return false;
	plan.chunk_first = attempt->chunk_first;
	return offer(attempt, &plan, attempt->map, 1 - STEP);
}

/* True if that helped. */
static bool move_borders(struct attempt *attempt)
{
	const struct problem *problem = attempt->trial->problem;
	bool better = true, helped = false;

	if (problem->uniform_stages ||
	    attempt->best.plan.choice.virtual_stages > 1)
		return false;
	while (better && !is_done(attempt)) {
		better = false;
		for (uint32_t i = 1; i < attempt->best.plan.chunk_count &&
		     !is_done(attempt); i++)
			better |= move_border(attempt, i, 1) ||
				  move_border(attempt, i, -1);
		helped |= better;
	}
	return helped;
}

/* ---- out of a dead end ---- */

/* Until no exchange and no border helps. */
static void descend(struct attempt *attempt)
{
	do
		change_places(attempt);
	while (move_borders(attempt));
}

/* Goes on from an exchange that makes it slower; true if that leads to a better one. */
static bool detour(struct attempt *attempt, uint32_t level, struct block a,
		   struct block b)
{
	struct trial *trial = attempt->trial;
	uint32_t devices = trial->problem->device_count;
	struct attempt other = *attempt;

	if (are_twins(attempt, level, attempt->map, a, b))
		return false;
	other.left = attempt->left < DETOUR_PLANS ? attempt->left : DETOUR_PLANS;
	attempt->left -= other.left;
	other.map = ARENA_ARRAY(trial->scratch, uint32_t, devices);
	other.other = ARENA_ARRAY(trial->scratch, uint32_t, devices);
	incumbent_init(&other.best, trial->problem, trial->scratch);
	memcpy(other.other, attempt->map, devices * sizeof(*other.other));
	exchange(other.other, a, b);
	if (!offer(&other, &attempt->best.plan, other.other, 1 - STEP))
		return false;
	descend(&other);
	attempt->left += other.left;
	if (other.best.merit.objective[0] >=
	    attempt->best.merit.objective[0] * (1 - STEP))
		return false;
	incumbent_offer(&attempt->best, &other.best.plan, &other.best.merit);
	memcpy(attempt->map, other.map, devices * sizeof(*attempt->map));
	return true;
}

static bool take_detours(struct attempt *attempt)
{
	const struct problem *problem = attempt->trial->problem;

	for (uint32_t l = problem->level_count; l-- > 0;) {
		uint32_t fanout = problem->level[l].fanout;
		uint32_t below = attempt->trial->owners.below[l];

		for (uint32_t i = 0; i < problem->device_count / below; i++)
			for (uint32_t j = i + 1; j % fanout; j++) {
				struct block a = { i * below, below };
				struct block b = { j * below, below };

				if (is_done(attempt))
					return false;
				if (detour(attempt, l, a, b))
					return true;
			}
	}
	return false;
}

/* ---- one plan ---- */

void trial_plan(struct trial *trial, const struct plan *plan, const uint32_t *map)
{
	uint32_t devices = trial->problem->device_count;
	struct attempt attempt = {
		.trial = trial,
		.left = trial->left < 16 ? trial->left : trial->left / SHARE,
		.map = ARENA_ARRAY(trial->scratch, uint32_t, devices),
		.other = ARENA_ARRAY(trial->scratch, uint32_t, devices),
		.chunk_first = ARENA_ARRAY(trial->scratch, uint32_t,
					   plan->chunk_count + 1),
	};

	incumbent_init(&attempt.best, trial->problem, trial->scratch);
	memcpy(attempt.other, trial->problem->graph_device,
	       devices * sizeof(*attempt.other));
	if (!offer(&attempt, plan, attempt.other, 1 - STEP))
		return;
	/* Rules that name devices hold for the places as they are. */
	if (trial->problem->avoided_count || trial->problem->pin_count) {
		move_borders(&attempt);
	} else {
		if (plan->placement.packing == PACKING_FACTORS &&
		    set_beside(&attempt, plan))
			offer(&attempt, plan, attempt.other, 1 - STEP);
		if (map)
			offer(&attempt, plan, map, 1 - STEP);
		descend(&attempt);
		while (trial->has_detours && take_detours(&attempt))
			continue;
		if (!is_over(trial))
			sort_places(&attempt);
	}
	if (incumbent_offer(&trial->best, &attempt.best.plan,
			    &attempt.best.merit))
		memcpy(trial->best_map, attempt.map,
		       devices * sizeof(*attempt.map));
}

bool trial_excludes(const struct trial *trial, double hierarchy_s)
{
	return !trial->left || (trial->best.found && is_over(trial)) ||
	       (trial->best.found && trial->best.time_only &&
		hierarchy_s >= trial->best.merit.objective[0]);
}

bool trial_is_done(const struct trial *trial)
{
	return trial->best.found &&
	       (is_over(trial) ||
		trial->best.merit.objective[0] <= trial->goal * (1 + TIE));
}

/* SPDX-License-Identifier: MIT
 *
 * Alpa: stages on submeshes of a two-level mesh. A shape and a number of replicas
 * are one way to run a stage on a submesh; how many stages there are follows from
 * its size, because the whole mesh is used.
 */
#include "solver/strategy.h"

#include <math.h>

#include "solver/view.h"

/* Limits on the slowest stage that are tried beyond the least one. */
#define LIMITS_MOST 12

/* Tensor parallelism along the inner axis of the submesh, or along the outer one. */
static const enum dimension axes[][DIMENSION_COUNT] = {
	{ DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA, DIMENSION_PIPELINE },
	{ DIMENSION_DATA, DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_PIPELINE },
};

struct alpa {
	struct attempts *attempts;
	struct view view;
	uint32_t *chunk_first, *trial_first;
	double best;			/* least estimate that fits */
};

/* A power of two within a node, or whole nodes. */
static bool is_submesh(const struct problem *problem, uint64_t devices)
{
	uint32_t node = problem->level[0].fanout;

	if (devices < node)
		return (devices & (devices - 1)) == 0 && node % devices == 0;
	return devices % node == 0;
}

/* sum + (m - 1) x slowest, least over the limits on the slowest. The cut is
 * left in chunk_first. */
static double plan_stages(struct alpa *alpa, const struct stages_input *input,
			  const struct choice *choice)
{
	struct arena *scratch = alpa->attempts->scratch;
	uint32_t p = choice->pipeline;
	double rounds = choice->micro_batches - 1.0, best = INFINITY, limit_s;
	double work_s = input->time_s[input->length];
	struct stages stages;

	stages_fill(&stages, input, p, scratch);
	limit_s = stages_slowest(&stages, p);
	for (int i = 0; i < LIMITS_MOST && limit_s < INFINITY; i++) {
		double slowest_s, sum_s, time;

		if (work_s + rounds * limit_s >= best)
			break;
		sum_s = stages_least_sum(&stages, p, limit_s * (1 + 1e-12), scratch,
					 alpa->trial_first, &slowest_s);
		time = sum_s + rounds * slowest_s;
		if (time < best) {
			best = time;
			for (uint32_t k = 0; k <= p; k++)
				alpa->chunk_first[k] = alpa->trial_first[k];
		}
		limit_s *= 1.01;
	}
	return best;
}

static void try_choice(struct alpa *alpa, const struct choice *choice,
		       const enum dimension order[DIMENSION_COUNT])
{
	struct attempts *attempts = alpa->attempts;
	const struct problem *problem = attempts->problem;
	struct plan plan = { .choice = *choice, .chunk_first = alpa->chunk_first };
	struct arena_mark mark = arena_mark(attempts->scratch);
	uint32_t members = problem->shape[choice->shape].tensor *
			   problem->shape[choice->shape].context * choice->data;
	struct stages_input input;
	double time;

	if (!view_place(&alpa->view, choice, order))
		return;
	/* Neighbouring submeshes of a node are joined inside it. */
	view_load(&alpa->view, attempts, choice,
		  members < problem->level[0].fanout ? 0 :
		  alpa->view.network.level_count - 1);
	input = view_stages(&alpa->view, attempts, choice, true);
	if (input.time_s[input.length] / choice->pipeline *
	    (choice->micro_batches + choice->pipeline - 1.0) <= alpa->best) {
		time = plan_stages(alpa, &input, choice);
		/* Of equal estimates (as those of ZeRO stages are) the one that turns
		 * out best is taken. */
		if (time < INFINITY && time <= alpa->best &&
		    (!problem->uniform_stages ||
		     attempts_deal(attempts, choice, 0, plan.chunk_first)) &&
		    attempts_place(attempts, choice, order, &plan.placement) &&
		    isfinite(attempts_offer(attempts, &plan)))
			alpa->best = time;
	}
	arena_rewind(attempts->scratch, mark);
}

static void try_shape(struct alpa *alpa, uint32_t shape, uint32_t data)
{
	struct attempts *attempts = alpa->attempts;
	const struct problem *problem = attempts->problem;
	uint64_t members = (uint64_t)problem->shape[shape].tensor *
			   problem->shape[shape].context * data;
	uint64_t pipeline;

	if (members > problem->device_count || !is_submesh(problem, members))
		return;
	pipeline = problem->device_count / members;
	if (pipeline * members != problem->device_count || pipeline > STAGES_MAX ||
	    pipeline > attempts->length)
		return;
	for (int r = 0; r < RECOMPUTE_COUNT; r++)
		for (uint32_t zero = 0; zero < 4; zero++) {
			struct choice choice;

			if (attempts_are_over(attempts) ||
			    !attempts_choose(attempts, shape, data, (uint32_t)pipeline,
					     1, zero, (enum recompute)r, &choice))
				continue;
			for (size_t i = 0; i < sizeof(axes) / sizeof(*axes); i++)
				try_choice(alpa, &choice, axes[i]);
		}
}

void strategy_alpa(struct attempts *attempts)
{
	const struct space *space = &attempts->space;
	struct alpa alpa = { .attempts = attempts, .best = INFINITY };

	alpa.chunk_first = ARENA_ARRAY(attempts->scratch, uint32_t,
				       attempts->length + 1);
	alpa.trial_first = ARENA_ARRAY(attempts->scratch, uint32_t,
				       attempts->length + 1);
	view_mesh(&alpa.view, attempts);
	for (uint32_t i = 0; i < attempts->problem->shape_count; i++)
		for (uint32_t j = 0; j < space->data_count; j++)
			if (space_has_data(space, i, space->data[j]))
				try_shape(&alpa, i, space->data[j]);
}

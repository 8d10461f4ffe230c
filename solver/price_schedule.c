/* SPDX-License-Identifier: MIT
 *
 * The end of pricing, once the stages stand: which of them decides memory and time,
 * and what the time is made of.
 */
#include "solver/price.h"

#include "solver/most.h"
#include "solver/schedule.h"

/* Within the tolerance of price.h. */
static bool is_maximum(double value, double maximum)
{
	return value >= maximum * (1 - 1e-12);
}

static void price_memory_peak(struct plan *plan)
{
	double peak = 0;
	uint32_t k = 0;

	for (uint32_t i = 0; i < plan->choice.pipeline; i++)
		peak = most(peak, plan->stage[i].memory.total);
	while (k + 1 < plan->choice.pipeline &&
	       !is_maximum(plan->stage[k].memory.total, peak))
		k++;
	plan->memory_peak_bytes = peak;
	plan->memory_peak_stage = k;
}

/* A plan whose schedule is being looked at. */
struct ending {
	struct plan *plan;
	const struct price_times *times;
	struct arena *scratch;
	double *finish_s;		/* by rank: of its last backward */
};

static double simulate(const struct ending *ending, const double *transfer_s,
		       double *finish_s)
{
	struct schedule_input input = {
		.shape = schedule_of(&ending->plan->choice),
		.forward_s = ending->times->forward_s,
		.backward_s = ending->times->backward_s,
		.transfer_s = transfer_s,
	};

	return schedule_simulate(&input, ending->scratch, finish_s);
}

/* The first stage that decides finish + exposed reduction. */
static uint32_t deciding_reduce(const struct ending *ending, double *maximum)
{
	const struct stage_cost *stage = ending->plan->stage;
	uint32_t p = ending->plan->choice.pipeline, k = 0;

	*maximum = 0;
	for (uint32_t i = 0; i < p; i++)
		*maximum = most(*maximum, ending->finish_s[i] +
						  stage[i].reduce_exposed_s);
	while (k + 1 < p &&
	       !is_maximum(ending->finish_s[k] + stage[k].reduce_exposed_s,
			   *maximum))
		k++;
	return k;
}

/* The first stage that decides step + exposed gather. */
static uint32_t deciding_step(const struct ending *ending, double *maximum)
{
	const struct stage_cost *stage = ending->plan->stage;
	uint32_t p = ending->plan->choice.pipeline, k = 0;

	*maximum = 0;
	for (uint32_t i = 0; i < p; i++)
		*maximum = most(*maximum,
				stage[i].step_s + stage[i].gather_exposed_s);
	while (k + 1 < p &&
	       !is_maximum(stage[k].step_s + stage[k].gather_exposed_s, *maximum))
		k++;
	return k;
}

static void price_time(const struct ending *ending)
{
	struct plan *plan = ending->plan;
	struct breakdown *breakdown = &plan->breakdown;
	double m = plan->choice.micro_batches;
	double end = simulate(ending, ending->times->transfer_s, ending->finish_s);
	double *no_transfer = ARENA_ARRAY(ending->scratch, double,
					  plan->chunk_count);
	double *finish = ARENA_ARRAY(ending->scratch, double,
				     plan->choice.pipeline);
	double gained = most(0, end - simulate(ending, no_transfer, finish));
	double first, second, idle;
	const struct stage_cost *k = plan->stage + deciding_reduce(ending, &first);
	const struct stage_cost *j = plan->stage + deciding_step(ending, &second);

	plan->time_s = first + second;
	idle = most(0, ending->finish_s[k - plan->stage] -
			       m * (k->forward_s + k->backward_s));
	breakdown->compute_s = m * k->compute_s;
	breakdown->tensor_s = m * k->tensor_s;
	breakdown->context_s = m * k->context_s;
	breakdown->expert_s = m * k->expert_s;
	breakdown->pipeline_s = gained < idle ? gained : idle;
	breakdown->bubble_s = idle - breakdown->pipeline_s;
	breakdown->data_s = m * k->sharding_s + k->reduce_exposed_s +
			    j->gather_exposed_s;
	breakdown->optimizer_s = j->step_s;
}

void price_schedule(struct plan *plan, const struct price_times *times,
		    struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct ending ending = {
		.plan = plan,
		.times = times,
		.scratch = arena,
		.finish_s = ARENA_ARRAY(arena, double, plan->choice.pipeline),
	};

	price_memory_peak(plan);
	price_time(&ending);
	arena_rewind(arena, mark);
}

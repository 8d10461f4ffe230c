/* SPDX-License-Identifier: MIT
 *
 * Random problems being solved, and the telling of what went wrong.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/prop/trial.h"

bool trial_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void print_choice(const struct problem *problem,
			 const struct choice *choice,
			 const struct placement *placement,
			 const uint32_t *chunk_first)
{
	const struct problem_shape *shape = &problem->shape[choice->shape];

	print_error("    shape %u (tensor %u context %u expert %u x %u micro-batch "
		    "%u) data %u "
		    "pipeline %u virtual %u micro-batches %u zero %u within "
		    "%u recompute %d (%u layers) schedule %d\n", choice->shape, shape->tensor, shape->context,
		    shape->expert, shape->expert_tensor, shape->micro_batch,
		    choice->data, choice->pipeline,
		    choice->virtual_stages, choice->micro_batches, choice->zero,
		    choice->shard_level, (int)choice->recompute,
		    choice->recompute_layers, (int)choice->schedule);
	for (uint32_t l = 0; l < problem->level_count; l++)
		print_error("    level %u: tensor %u context %u data %u pipeline "
			    "%u\n", l, placement->factor[0][l],
			    placement->factor[1][l], placement->factor[2][l],
			    placement->factor[3][l]);
	if (placement->packing != PACKING_FACTORS)
		print_error("    linear %u, aligned %u\n",
			    (unsigned)placement->packing, placement->aligned);
	print_error("    chunks at");
	for (uint32_t i = 0; i <= choice->pipeline * choice->virtual_stages; i++)
		print_error(" %u", chunk_first[i]);
	print_error("\n");
}

static void print_brute(const struct problem *problem,
			const struct brute_plan *plan)
{
	print_choice(problem, &plan->choice, &plan->placement,
		     plan->chunk_first);
	print_error("    objective %.17g time %.17g memory %.17g bubble %.17g\n",
		    plan->objective[0], plan->time_s, plan->peak_bytes,
		    plan->bubble);
	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		print_error("    stage %u: finish %.17g reduce exposed %.17g "
			    "update %.17g bytes %.17g\n", k, plan->finish_s[k],
			    plan->reduce_exposed_s[k], plan->update_s[k],
			    plan->stage_bytes[k]);
}

static void print_solved(const struct problem *problem, const struct plan *plan)
{
	const struct certificate *c = &plan->certificate;

	print_choice(problem, &plan->choice, &plan->placement,
		     plan->chunk_first);
	print_error("    value %.17g bound %.17g gap %g time %.17g memory %.17g\n",
		    c->value, c->lower_bound, c->gap, plan->time_s,
		    plan->memory_peak_bytes);
	for (uint32_t k = 0; k < plan->choice.pipeline; k++)
		print_error("    stage %u: reduce exposed %.17g update %.17g "
			    "bytes %.17g\n", k, plan->stage[k].reduce_exposed_s,
			    plan->stage[k].step_s +
			    plan->stage[k].gather_exposed_s,
			    plan->stage[k].memory.total);
}

void trial_start(struct trial *trial, uint64_t seed)
{
	memset(trial, 0, sizeof(*trial));
	trial->seed = seed;
	arena_init(&trial->arena);
	random_problem_make(&trial->made, seed, &trial->arena);
}

void trial_fail(const struct trial *trial, const char *what)
{
	static const char *const status[] = {
		"optimal", "feasible", "infeasible", "unknown",
	};
	const struct problem *problem = &trial->made.problem;

	print_error("seed %llu%s: %s\n", (unsigned long long)trial->seed,
		    trial->made.dyadic ? " (dyadic)" : "", what);
	random_problem_print(problem, stderr);
	print_error("  oracle: %s, %llu configurations, %llu plans\n",
		    trial->brute.found ? "found" : "infeasible",
		    (unsigned long long)trial->brute.configurations,
		    (unsigned long long)trial->brute.plans);
	if (trial->brute.found)
		print_brute(problem, &trial->brute.best);
	print_error("  solver: %s\n", status[trial->status]);
	if (trial->status == SOLVE_OPTIMAL || trial->status == SOLVE_FEASIBLE)
		print_solved(problem, &trial->solved.plan);
	fail_msg("seed %llu: %s", (unsigned long long)trial->seed, what);
}

static bool look(void *closure)
{
	struct looks *looks = closure;

	if (looks->left) {
		looks->left--;
		return false;
	}
	looks->late++;
	return true;
}

struct deadline looks_deadline(struct looks *looks)
{
	return (struct deadline){ .set = true, .passed = look, .closure = looks };
}

enum solve_status trial_solve_plainly(const struct problem *problem,
				      struct arena *arena,
				      struct solve_result *result)
{
	struct solve_limits limits = { 0 };

	memset(result, 0, sizeof(*result));
	return solve(problem, &limits, arena, result);
}

/* The plan as the oracle sees it. */
struct brute_plan trial_view(const struct plan *plan)
{
	struct brute_plan view = {
		.choice = plan->choice,
		.placement = plan->placement,
		.devices = plan->devices,
	};

	assert_in_range(plan->chunk_count, 1, BRUTE_STAGE_MAX);
	memcpy(view.chunk_first, plan->chunk_first,
	       (plan->chunk_count + 1) * sizeof(uint32_t));
	return view;
}

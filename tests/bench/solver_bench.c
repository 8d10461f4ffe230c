/* SPDX-License-Identifier: MIT
 *
 * Times the solver on synthetic GPT-like problems from 64 to 16,384 devices, at last
 * in five levels, with every dimension free. Arguments: [model] devices.. (default: all).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "solver/solver.h"
#include "tests/bench/synthetic.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report(const struct problem *problem, const struct plan *plan,
		   double elapsed_s)
{
	const struct certificate *c = &plan->certificate;
	const struct choice *choice = &plan->choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];

	printf("%9" PRIu64 " %7" PRIu64 " %8" PRIu64 " %8" PRIu64 " %7" PRIu64
	       " %8.1f ms %9.6f s gap %.4f%%",
	       c->configurations, c->priced, c->bounded, c->infeasible_memory,
	       c->partitions, elapsed_s * 1e3, plan->time_s, 100 * c->gap);
	printf("  t%u%s c%u d%u p%u v%u b%u m%u z%u r%d  %.1f GB bubble %.2f%%\n",
	       shape->tensor, shape->sequence ? "s" : "", shape->context,
	       choice->data, choice->pipeline, choice->virtual_stages,
	       shape->micro_batch, choice->micro_batches, choice->zero,
	       choice->recompute, plan->memory_peak_bytes * 1e-9,
	       100 * plan->breakdown.bubble_s / plan->time_s);
}

static void run(const struct synthetic_model *model, uint32_t devices,
		bool five_levels, const struct solve_limits *limits)
{
	struct solve_result result;
	struct rusage usage;
	struct arena arena;
	struct problem *problem;
	double begin;

	arena_init(&arena);
	problem = synthetic_problem(model, devices, &arena);
	if (five_levels)
		synthetic_five_levels(problem);
	if (problem_check(problem)) {
		fprintf(stderr, "%s\n", problem_check(problem));
		exit(1);
	}
	begin = now_s();
	solve(problem, limits, &arena, &result);
	printf("%-12s %6u %5u ", model->name, devices, problem->shape_count);
	if (result.status == SOLVE_OPTIMAL || result.status == SOLVE_FEASIBLE)
		report(problem, &result.plan, now_s() - begin);
	else
		printf("no plan (%d), %.1f ms; least memory %.1f GB\n",
		       result.status, (now_s() - begin) * 1e3,
		       result.failure.has_nearest ?
			       result.failure.nearest.memory_peak_bytes * 1e-9 : 0);
	getrusage(RUSAGE_SELF, &usage);
	printf("%*s peak memory %ld MB\n", 25, "", usage.ru_maxrss / 1024);
	fflush(stdout);
	arena_release(&arena);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 64, 256, 1024, 4096, 16384 };
	struct solve_limits limits = { 0 };
	const char *only = NULL;
	int first = 1;

	if (argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9'))
		only = argv[first++];
	printf("model         devices shapes  configs  priced  bounded   memory"
	       "    cuts     time  iteration\n");
	for (const struct synthetic_model *model = synthetic_models; model->name;
	     model++) {
		if (only && strcmp(only, model->name))
			continue;
		for (int i = first; i < argc; i++)
			run(model, (uint32_t)strtoul(argv[i], NULL, 10), false,
			    &limits);
		for (size_t i = 0; first == argc &&
		     i < sizeof(sizes) / sizeof(sizes[0]); i++)
			run(model, sizes[i], false, &limits);
		/* 8 x 4 x 8 x 8 x 8. */
		if (first == argc)
			run(model, 16384, true, &limits);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * How the solver grows: a decoder of 80 layers on 64 to 131,072 devices, and one of 10 to
 * 1,000 layers on 1,024 devices, every dimension free, on one thread and on several. Each
 * problem is solved in a process of its own (medians of 3 runs, of one where a run
 * takes over two seconds); its largest memory is the process's. Growth exponents are
 * the slopes of the least-squares line through the logarithms.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "solver/solver.h"
#include "tests/bench/synthetic.h"

#define RUNS 3
#define LONG_S 2.0

struct sample {
	double size;			/* devices or layers */
	double seconds;			/* of the processor, */
	double wall_s;			/* and of the clock */
	double memory_MiB;
	double gap;
	uint64_t configurations;
	bool found;
	double value, lower_bound;
};

static double clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct sample solve_here(const struct synthetic_model *model,
				uint32_t devices, bool policies, uint32_t threads)
{
	struct solve_limits limits = { .gap = 0, .threads = threads };
	struct solve_result result;
	struct sample sample = { .found = false };
	struct problem *problem;
	struct arena arena;
	double begin, wall;

	arena_init(&arena);
	problem = synthetic_problem(model, devices, &arena);
	if (policies)
		synthetic_free_policies(problem);
	begin = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	wall = clock_s(CLOCK_MONOTONIC);
	solve(problem, &limits, &arena, &result);
	sample.seconds = clock_s(CLOCK_PROCESS_CPUTIME_ID) - begin;
	sample.wall_s = clock_s(CLOCK_MONOTONIC) - wall;
	sample.value = result.plan.certificate.value;
	sample.lower_bound = result.plan.certificate.lower_bound;
	sample.configurations = result.plan.certificate.configurations;
	sample.gap = result.plan.certificate.gap;
	sample.found = result.status == SOLVE_OPTIMAL ||
		       result.status == SOLVE_FEASIBLE;
	arena_release(&arena);
	return sample;
}

/* In a process of its own, for its memory. */
static bool solve_apart(const struct synthetic_model *model, uint32_t devices,
			bool policies, uint32_t threads, struct sample *sample)
{
	struct rusage usage;
	int ends[2], status;
	ssize_t got;
	pid_t child;

	if (pipe(ends))
		return false;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		*sample = solve_here(model, devices, policies, threads);
		got = write(ends[1], sample, sizeof(*sample));
		_exit(got == (ssize_t)sizeof(*sample) ? 0 : 1);
	}
	close(ends[1]);
	got = child < 0 ? 0 : read(ends[0], sample, sizeof(*sample));
	close(ends[0]);
	if (child < 0 || wait4(child, &status, 0, &usage) < 0 ||
	    got != (ssize_t)sizeof(*sample))
		return false;
	sample->memory_MiB = (double)usage.ru_maxrss / 1024;
	return true;
}

static int by_seconds(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static struct sample measure(const struct synthetic_model *model, uint32_t devices,
			     bool policies, uint32_t threads)
{
	struct sample run[RUNS];
	int runs = 0;

	while (runs < RUNS) {
		if (!solve_apart(model, devices, policies, threads,
				 &run[runs])) {
			fprintf(stderr, "the solver died on %u devices\n", devices);
			exit(1);
		}
		if (run[runs++].seconds > LONG_S)
			break;
	}
	qsort(run, (size_t)runs, sizeof(*run), by_seconds);
	return run[runs / 2];
}

/* Slope of log y over log x. */
static double exponent(const struct sample *sample, size_t count,
		       double (*value)(const struct sample *))
{
	double x = 0, y = 0, xx = 0, xy = 0, n = (double)count;

	for (size_t i = 0; i < count; i++) {
		double u = log(sample[i].size), v = log(value(&sample[i]));

		x += u;
		y += v;
		xx += u * u;
		xy += u * v;
	}
	return (n * xy - x * y) / (n * xx - x * x);
}

static double seconds_of(const struct sample *sample)
{
	return sample->seconds;
}

static double memory_of(const struct sample *sample)
{
	return sample->memory_MiB;
}

static double configurations_of(const struct sample *sample)
{
	return (double)sample->configurations;
}

static void print_sample(const struct sample *sample)
{
	printf("%9.0f %14" PRIu64 " %11.1f %16.3g %10.1f", sample->size,
	       sample->configurations, sample->seconds * 1e3,
	       (double)sample->configurations / sample->seconds,
	       sample->memory_MiB);
	if (sample->found)
		printf(" %7.2f %%\n", 100 * sample->gap);
	else
		printf(" %9s\n", "no plan");
}

static void print_head(const char *of, const char *on)
{
	printf("%s, %s\n%9s %14s %11s %16s %10s %9s\n", of, on, "", "configurations",
	       "time, ms", "configurations/s", "memory,MiB", "gap");
}

static void print_exponents(const struct sample *sample, size_t count)
{
	printf("grows as n^%.2f (time), n^%.2f (memory), n^%.2f (configurations)\n\n",
	       exponent(sample, count, seconds_of),
	       exponent(sample, count, memory_of),
	       exponent(sample, count, configurations_of));
}

static void grow_devices(const struct synthetic_model *model)
{
	static const uint32_t devices[] = { 64, 256, 1024, 4096, 16384, 65536, 131072 };
	enum { COUNT = sizeof(devices) / sizeof(*devices) };
	struct sample sample[COUNT];

	print_head(model->name, "by devices");
	for (size_t i = 0; i < COUNT; i++) {
		sample[i] = measure(model, devices[i], false, 1);
		sample[i].size = devices[i];
		print_sample(&sample[i]);
	}
	/* Where the model does not fit there is no search to speak of. */
	print_exponents(sample[0].found ? sample : sample + 1,
			sample[0].found ? COUNT : COUNT - 1);
}

static void grow_layers(const struct synthetic_model *model)
{
	static const uint32_t layers[] = { 10, 20, 50, 100, 200, 500, 1000 };
	enum { COUNT = sizeof(layers) / sizeof(*layers) };
	struct sample sample[COUNT];

	print_head(model->name, "its layers repeated, by layers, on 1,024 devices");
	for (size_t i = 0; i < COUNT; i++) {
		struct synthetic_model longer = *model;

		longer.layers = layers[i];
		sample[i] = measure(&longer, 1024, false, 1);
		sample[i].size = layers[i];
		print_sample(&sample[i]);
	}
	print_exponents(sample, COUNT);
}

static void free_policies(const struct synthetic_model *model)
{
	static const uint32_t devices[] = { 1024, 16384, 131072 };

	print_head(model->name, "ZeRO 0 to 3, shards within a node and GPipe free as well");
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		struct sample sample = measure(model, devices[i], true, 1);

		sample.size = devices[i];
		print_sample(&sample);
	}
	printf("\n");
}

/* Elapsed time, the median of three, by threads; all must give the same answer. */
static void with_threads(const struct synthetic_model *model, uint32_t devices,
			 bool policies)
{
	static const uint32_t threads[] = { 1, 2, 4 };
	struct sample first = { .found = false };

	printf("%-14s %8u devices%s", model->name, devices,
	       policies ? ", all policies" : "              ");
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		struct sample sample = measure(model, devices, policies,
					       threads[i]);

		if (!i)
			first = sample;
		if (sample.value != first.value ||
		    sample.lower_bound != first.lower_bound) {
			fprintf(stderr, "threads give another answer\n");
			exit(1);
		}
		printf("  %u: %6.0f ms %.2f", threads[i], sample.wall_s * 1e3,
		       first.wall_s / sample.wall_s);
	}
	printf("\n");
}

int main(void)
{
	for (const struct synthetic_model *model = synthetic_models; model->name;
	     model++)
		grow_devices(model);
	for (const struct synthetic_model *model = synthetic_models; model->name;
	     model++)
		free_policies(model);
	grow_layers(&synthetic_models[0]);
	printf("elapsed time and speedup with threads, on %ld processors\n",
	       sysconf(_SC_NPROCESSORS_ONLN));
	for (const struct synthetic_model *model = synthetic_models; model->name;
	     model++) {
		with_threads(model, 1024, false);
		with_threads(model, 16384, true);
		with_threads(model, 131072, true);
	}
	return 0;
}

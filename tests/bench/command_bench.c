/* SPDX-License-Identifier: MIT
 *
 * command_bench RUNS COMMAND ARGUMENT..: runs a command after one warm-up and
 * prints medians of its wall and processor seconds and its largest memory. The
 * command's output is thrown away.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 101

struct run {
	double wall_s;
	double processor_s;
	double memory_MiB;
	int status;
};

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static struct run run_once(char **command)
{
	struct run run = { .status = -1 };
	struct timespec begin, end;
	struct rusage usage;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	child = fork();
	if (child == 0) {
		int sink = open("/dev/null", O_WRONLY);

		if (sink < 0 || dup2(sink, 1) < 0 || dup2(sink, 2) < 0)
			_exit(126);
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || wait4(child, &run.status, 0, &usage) < 0)
		return run;
	clock_gettime(CLOCK_MONOTONIC, &end);
	run.wall_s = (double)(end.tv_sec - begin.tv_sec) +
		     1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	run.processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	run.memory_MiB = (double)usage.ru_maxrss / 1024;
	return run;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	double wall_s[RUNS_MAX], processor_s[RUNS_MAX], memory_MiB = 0;
	long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	int status = 0;

	if (runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: command_bench RUNS(1..%d) COMMAND..\n", RUNS_MAX);
		return 2;
	}
	run_once(argv + 2);
	for (long i = 0; i < runs; i++) {
		struct run run = run_once(argv + 2);

		wall_s[i] = run.wall_s;
		processor_s[i] = run.processor_s;
		if (run.memory_MiB > memory_MiB)
			memory_MiB = run.memory_MiB;
		if (run.status != 0)
			status = WIFEXITED(run.status) ? WEXITSTATUS(run.status) : 128;
	}
	qsort(wall_s, (size_t)runs, sizeof(*wall_s), compare);
	qsort(processor_s, (size_t)runs, sizeof(*processor_s), compare);
	printf("%9.3f s wall  %9.3f s cpu  %7.1f MiB", wall_s[runs / 2],
	       processor_s[runs / 2], memory_MiB);
	if (status)
		printf("  (exit %d)", status);
	printf("\n");
	return 0;
}

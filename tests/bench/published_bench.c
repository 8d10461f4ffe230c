/* SPDX-License-Identifier: MIT
 *
 * The published problems in NESTC_REFERENCE_DIR (nest-inputs/, nest-results.csv):
 * processor seconds that the published solver was recorded to take, ours (reading
 * the file included, median of 5), the ratio, and objectives: what it reported, the
 * recorded exact optimum, ours, and ours with every replica priced.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "compiler/published_json.h"
#include "lang/compilation.h"
#include "tests/bench/table.h"

#define RUNS 5

struct answer {
	double seconds;			/* of the processor */
	double time;			/* of a batch, in the problem's unit */
};

struct totals {
	double theirs_s, ours_s, log_ratio, least_ratio;
	unsigned timed, equal, count;
};

static double processor_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct answer answer_of(const char *path, enum published_objective objective)
{
	struct answer answer = { .time = NAN };
	double seconds[RUNS];

	for (int i = 0; i < RUNS; i++) {
		double begin = processor_s();
		struct compilation compilation;
		struct published_file file;
		struct published_plan plan;

		compilation_init(&compilation);
		if (published_read(&compilation, path, &file) &&
		    published_solve(&file.problem, objective, &compilation.arena,
				    &plan))
			answer.time = plan.time;
		compilation_release(&compilation);
		seconds[i] = processor_s() - begin;
	}
	qsort(seconds, RUNS, sizeof(*seconds), compare);
	answer.seconds = seconds[RUNS / 2];
	return answer;
}

static void print_objective(double number)
{
	if (isfinite(number))
		printf(" %13.8g", number);
	else
		printf(" %13s", "-");
}

static void run_row(const char *directory, const struct table *table, size_t row,
		    struct totals *totals)
{
	double theirs_s = table_number(table, row, "cpu_s");
	double exact = table_number(table, row, "exact_tpb");
	struct answer first, all;
	char path[4096], name[128];

	snprintf(name, sizeof(name), "%s_%s_%s", table_text(table, row, "setup"),
		 table_text(table, row, "model"), table_text(table, row, "devices"));
	snprintf(path, sizeof(path), "%s/nest-inputs/%s.json", directory, name);
	first = answer_of(path, PUBLISHED_NEST);
	all = answer_of(path, PUBLISHED_ALL_REPLICAS);
	printf("%-32s %8.2f%s %9.4f %8.0f", name, theirs_s,
	       isfinite(table_number(table, row, "tpb")) ? " " : "*",
	       first.seconds, theirs_s / first.seconds);
	print_objective(table_number(table, row, "tpb"));
	print_objective(exact);
	print_objective(first.time);
	print_objective(all.time);
	printf(" %9.4f\n", all.seconds);
	totals->count++;
	totals->equal += fabs(first.time - exact) <= 1e-9 * exact;
	if (!(theirs_s > 0))
		return;
	totals->timed++;
	totals->theirs_s += theirs_s;
	totals->ours_s += first.seconds;
	totals->log_ratio += log(theirs_s / first.seconds);
	totals->least_ratio = fmin(totals->least_ratio, theirs_s / first.seconds);
}

int main(void)
{
	const char *directory = getenv("NESTC_REFERENCE_DIR");
	struct totals totals = { .least_ratio = INFINITY };
	struct table table;

	if (!directory) {
		puts("skipped: NESTC_REFERENCE_DIR is not set");
		return 0;
	}
	if (!table_read(&table, directory, "nest-results.csv")) {
		fprintf(stderr, "cannot read nest-results.csv in %s\n", directory);
		return 1;
	}
	printf("%-32s %9s %9s %8s %13s %13s %13s %13s %9s\n", "problem", "recorded",
	       "ours", "ratio", "reported", "exact", "ours", "all replicas", "in");
	printf("%-32s %9s %9s %8s %13s %13s %13s %13s %9s\n", "", "cpu s", "cpu s", "",
	       "", "", "", "ours", "cpu s");
	for (size_t i = 0; i < table.rows; i++)
		run_row(directory, &table, i, &totals);
	printf("\n* it ended without an answer\n"
	       "%u of %u equal the recorded exact optimum to 9 digits; %.1f s recorded, "
	       "%.3f s ours; ratio at least %.0f, geometric mean %.0f\n",
	       totals.equal, totals.count, totals.theirs_s, totals.ours_s,
	       totals.least_ratio, exp(totals.log_ratio / totals.timed));
	table_release(&table);
	return 0;
}

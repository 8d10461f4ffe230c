/* SPDX-License-Identifier: MIT
 *
 * How far the collectives of solver/network.h are from published ones: the
 * absolute error of every timing above 1 MB in collectives.csv of the directory
 * NESTC_MEASURED_DIR, by machine and collective, with the numbers of
 * std.topology.dgx. The target is a median of 15 %.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir.h"
#include "lang/compilation.h"
#include "lang/module.h"
#include "solver/network.h"
#include "tests/bench/table.h"

#define BYTES_LEAST 1e6

static const struct machine {
	const char *name;		/* in the table */
	const char *job;		/* in links.nest */
} machines[] = {
	{ "A100-80 SXM", "on_a100" },
	{ "H100 SXM", "on_h100" },
	{ "H200 SXM", "on_h200" },
	{ "B200", "on_b200" },
	{ "GB200", "on_gb200" },
};

static const struct {
	const char *name;		/* in the table */
	enum collective kind;
} kinds[] = {
	{ "all_reduce", COLLECTIVE_ALL_REDUCE },
	{ "all_gather", COLLECTIVE_ALL_GATHER },
	{ "reduce_scatter", COLLECTIVE_REDUCE_SCATTER },
	{ "alltoall", COLLECTIVE_ALL_TO_ALL },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A group over as many devices a node, and as many nodes, as a row says. */
static double predicted(const struct problem *problem, const struct table *table,
			size_t row, enum collective kind)
{
	double devices = table_number(table, row, "n_gpus");
	double nodes = table_number(table, row, "n_nodes");
	struct group_shape shape;
	uint32_t used = 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		shape.members[l] = l == 0 ? (uint32_t)(devices / nodes) :
				   l == 1 ? (uint32_t)nodes : 1;
		shape.used[l] = used;
		shape.apart[l] = 1;
		used *= shape.members[l];
	}
	return network_collective(problem, &shape, kind,
				  table_number(table, row, "size_bytes"), NULL);
}

static void score(const struct table *table, const struct machine *machine,
		  const struct problem *problem, size_t kind)
{
	double *error = calloc(table->rows, sizeof(*error));
	size_t count = 0;

	for (size_t i = 0; error && i < table->rows; i++) {
		double measured = table_number(table, i, "time_us") * 1e-6;

		if (strcmp(table_text(table, i, "accelerator"), machine->name) ||
		    strcmp(table_text(table, i, "collective"), kinds[kind].name) ||
		    !(table_number(table, i, "size_bytes") >= BYTES_LEAST) ||
		    !(measured > 0))
			continue;
		error[count++] = fabs(predicted(problem, table, i,
						kinds[kind].kind) / measured - 1);
	}
	if (count) {
		qsort(error, count, sizeof(*error), compare);
		printf("%-12s %-14s %4zu timings: median error %4.1f %%, 90th percentile %4.1f %%\n",
		       machine->name, kinds[kind].name, count,
		       100 * error[count / 2], 100 * error[count * 9 / 10]);
	}
	free(error);
}

int main(void)
{
	const char *directory = getenv("NESTC_MEASURED_DIR");
	const char *tree = getenv("top_srcdir");
	char path[4096];
	struct compilation compilation;
	const struct module *module;
	struct table table;

	if (!directory) {
		puts("skipped: NESTC_MEASURED_DIR is not set");
		return 0;
	}
	if (!table_read(&table, directory, "collectives.csv")) {
		fprintf(stderr, "cannot read the tables in %s\n", directory);
		return 1;
	}
	compilation_init(&compilation);
	snprintf(path, sizeof(path), "%s/tests/bench/links.nest",
		 tree ? tree : ".");
	module = module_load(&compilation, path);
	for (size_t i = 0; module && i < COUNT(machines); i++) {
		const struct ir *ir = lower_job(&compilation, module,
						machines[i].job);
		struct problem problem = { .level_count = 0 };

		if (!ir)
			continue;
		problem.level_count = ir->topology.level_count;
		problem.device_count = ir->topology.device_count;
		for (uint32_t l = 0; l < problem.level_count; l++)
			problem.level[l] = ir->topology.level[l].network;
		for (size_t k = 0; k < COUNT(kinds); k++)
			score(&table, &machines[i], &problem, k);
	}
	diags_flush(&compilation.diags, stderr, DIAG_FORMAT_TEXT, false);
	compilation_release(&compilation);
	table_release(&table);
	return 0;
}

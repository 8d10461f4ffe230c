/* SPDX-License-Identifier: MIT
 *
 * How far operator_time is from published kernel timings: the absolute error of
 * matrix products (gemm.csv) and of causal attention (attention_fwd.csv) in the
 * directory NESTC_MEASURED_DIR, with the numbers of the device files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/operator_time.h"
#include "lang/compilation.h"
#include "lang/module.h"
#include "tests/bench/table.h"

static const struct accelerator {
	const char *name;		/* in the tables */
	const char *job;		/* in kernels.nest */
	const char *attention_kernel;	/* the library the device file was fitted on */
} accelerators[] = {
	{ "A100-80 SXM", "on_a100", "vllm_flash_attn" },
	{ "H100 SXM", "on_h100", "torch_flow" },
	{ "H200 SXM", "on_h200", "torch_flow" },
	{ "B200", "on_b200", "torch_flow" },
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_errors(const char *what, const char *name, double *error,
			 size_t count)
{
	if (!count)
		return;
	qsort(error, count, sizeof(*error), compare);
	printf("%-12s %-14s %5zu timings: median error %4.1f %%, 90th percentile %4.1f %%\n",
	       what, name, count, 100 * error[count / 2],
	       100 * error[count * 9 / 10]);
}

static void products(const struct table *table,
		     const struct accelerator *accelerator,
		     const struct ir_device *device, const char *format,
		     enum ir_precision precision)
{
	double *error = calloc(table->rows, sizeof(*error));
	size_t count = 0;
	char what[32];

	for (size_t i = 0; error && i < table->rows; i++) {
		double m = table_number(table, i, "m");
		double measured = table_number(table, i, "latency_ms") * 1e-3;

		if (strcmp(table_text(table, i, "accelerator"),
			   accelerator->name) ||
		    strcmp(table_text(table, i, "dtype"), format) ||
		    !(m >= 1024) || !(measured > 0))
			continue;
		error[count++] = fabs(operator_time_gemm(device, precision, m,
				table_number(table, i, "k"),
				table_number(table, i, "n")) / measured - 1);
	}
	snprintf(what, sizeof(what), "gemm %s", format);
	print_errors(what, accelerator->name, error, count);
	free(error);
}

static void attention(const struct table *table,
		      const struct accelerator *accelerator,
		      const struct ir_device *device)
{
	double *error = calloc(table->rows, sizeof(*error));
	size_t count = 0;

	for (size_t i = 0; error && i < table->rows; i++) {
		double tokens = table_number(table, i, "seq_len");
		double measured = table_number(table, i, "latency_ms") * 1e-3;
		struct attention_shape shape = {
			.batch = table_number(table, i, "batch"),
			.query_tokens = tokens,
			.key_tokens = tokens,
			.heads = table_number(table, i, "heads"),
			.kv_heads = table_number(table, i, "kv_heads"),
			.head_dim = table_number(table, i, "head_dim"),
			.causal = true,
		};

		if (strcmp(table_text(table, i, "accelerator"),
			   accelerator->name) ||
		    strcmp(table_text(table, i, "kernel"),
			   accelerator->attention_kernel) ||
		    !(measured > 0))
			continue;
		error[count++] = fabs(operator_time_attention(device, IR_BF16,
				&shape, false) / measured - 1);
	}
	print_errors("attention", accelerator->name, error, count);
	free(error);
}

int main(void)
{
	const char *directory = getenv("NESTC_MEASURED_DIR");
	const char *tree = getenv("top_srcdir");
	char path[4096];
	struct compilation compilation;
	const struct module *module;
	struct table gemm, scores;

	if (!directory) {
		puts("skipped: NESTC_MEASURED_DIR is not set");
		return 0;
	}
	if (!table_read(&gemm, directory, "gemm.csv") ||
	    !table_read(&scores, directory, "attention_fwd.csv")) {
		fprintf(stderr, "cannot read the tables in %s\n", directory);
		return 1;
	}
	compilation_init(&compilation);
	snprintf(path, sizeof(path), "%s/tests/bench/kernels.nest",
		 tree ? tree : ".");
	module = module_load(&compilation, path);
	for (size_t i = 0; module && i < sizeof(accelerators) / sizeof(*accelerators); i++) {
		const struct accelerator *accelerator = &accelerators[i];
		const struct ir *ir = lower_job(&compilation, module,
						accelerator->job);

		if (!ir)
			continue;
		/* Short runs: the clocks have not fallen yet. */
		struct ir_device device = ir->topology.device;

		device.throttling = 0;
		products(&gemm, accelerator, &device, "bf16", IR_BF16);
		products(&gemm, accelerator, &device, "fp8", IR_FP8);
		attention(&scores, accelerator, &device);
	}
	diags_flush(&compilation.diags, stderr, DIAG_FORMAT_TEXT, false);
	compilation_release(&compilation);
	table_release(&gemm);
	table_release(&scores);
	return 0;
}

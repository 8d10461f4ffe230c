/* SPDX-License-Identifier: MIT
 *
 * make bench-fidelity: predicted against published measured iteration times,
 * for every run in NESTC_MEASURED_DIR (rows.csv, rows_vtrain_single.csv) that
 * states what is needed. Each run becomes a spec with all its degrees fixed,
 * on the devices and links of the standard library; nestc prices it. Nothing
 * is fitted here. Prints the mean absolute percentage error by family, and for
 * sweeps (one model, one cluster, one batch) how well layouts are ranked.
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/table.h"

#define RUNS_MAX 4096
#define NAME_MAX_BYTES 96

/* The links of a node, as std.topology.dgx has them. */
#define NVLINK_3 "bandwidth = 300GB/s latency = 0.3us efficiency = 72% " \
	"overhead = 70us short_efficiency = 36% short_overhead = 14us"
#define NVLINK_4 "bandwidth = 450GB/s latency = 0.2us efficiency = 74% " \
	"overhead = 55us short_efficiency = 53% short_overhead = 11us " \
	"in_network_reduction = true reduction_efficiency = 66%"

/* What all runs of a source share and its table does not say. The first family
 * whose prefix and infix fit a row's id has it. */
static const struct family {
	const char *prefix, *infix;
	const char *title;
	const char *device;		/* of the standard library */
	const char *node;
	double nic_GBps;		/* of one device, one direction */
	bool flash;
	bool zero1;
	bool is_sweep;
	bool tuned;			/* no recomputation, sequence parallelism if tensor > 1 */
	bool memory;			/* score the last stage's memory and not the time */
	const char *assumed;
} families[] = {
	{ "dgxc-", "h100", "dgxc H100", "h100_sxm", NVLINK_4, 50,
	  true, true, false, true, false,
	  "no recomputation; sequence parallelism; ZeRO 1" },
	{ "korthikanti-", "", "korthikanti", "a100_sxm_80", NVLINK_3, 25,
	  false, false, false, false, false, "attention not fused" },
	{ "megatron-sc21-", "", "megatron-sc21", "a100_sxm_80", NVLINK_3, 25,
	  false, false, false, false, false, "attention not fused" },
	{ "vtrain-multi-", "", "vtrain-multi", "a100_sxm_80", NVLINK_3, 12.5,
	  false, false, true, false, false, "attention not fused; no ZeRO" },
	{ "vtrain-single-", "", "vtrain-single", "a100_sxm_80", NVLINK_3, 12.5,
	  false, false, true, false, false,
	  "attention not fused; `host_operator` was fitted on these" },
	{ "bloom-176b", "", "bloom-176b", "a100_sxm_80", NVLINK_3, 6.25,
	  false, true, false, false, false, "attention not fused" },
	{ "aleph-", "rms", "aleph", "a100_sxm_80", NVLINK_3, 3.125,
	  true, true, true, false, false, "one 200 Gb/s adapter a node; ZeRO 1" },
	{ "aleph-", "-fa", "aleph eager", "a100_sxm_80", NVLINK_3, 3.125,
	  true, true, true, false, false,
	  "the same; norms of many kernels" },
	{ "mlm-ci-gpt3_7b_", "", "mlm-ci memory", "h100_sxm", NVLINK_4, 50,
	  true, true, false, false, true,
	  "allocated bytes: no reserve" },
};

enum { FAMILY_COUNT = sizeof(families) / sizeof(*families) };

struct run {
	const char *id;
	const struct family *family;
	char group[NAME_MAX_BYTES];	/* runs that differ in layout only */
	unsigned layers, hidden, ffn, heads, kv_heads, vocab, sequence_length;
	unsigned devices, per_node, tensor, pipeline, virtual_stages, context,
		 data, micro_batch, global_batch;
	bool sequence, is_llama;
	const char *recompute;
	double measured, predicted;	/* seconds, or bytes where memory is scored */
};

struct runs {
	struct run *at;
	size_t count;
	size_t skipped;			/* rows that lack something */
	size_t failed;			/* that nestc found no plan for */
};

static bool whole(const struct table *table, size_t row, const char *column,
		  unsigned fallback, unsigned *number)
{
	const char *text = table_text(table, row, column);
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text && fallback) {
		*number = fallback;
		return true;
	}
	*number = (unsigned)value;
	return isdigit((unsigned char)*text) && !*end && value > 0 &&
	       value < 1u << 30;
}

static const struct family *family_of(const char *id)
{
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		if (!strncmp(id, families[i].prefix, strlen(families[i].prefix)) &&
		    strstr(id, families[i].infix))
			return &families[i];
	return NULL;
}

/* The published rate of Megatron-LM's SC 2021 table is of hardware operations
 * with full recomputation, 96 B s l h^2 (1 + s/6h + V/16lh) in one iteration. */
static double measured(const struct table *table, size_t row,
		       const struct run *run)
{
	double seconds = table_number(table, row, "iteration_time_s");
	double rate = table_number(table, row, "tflops_per_gpu") * 1e12;
	double h = run->hidden, l = run->layers, s = run->sequence_length;

	if (run->family->memory)
		return table_number(table, row, "peak_mem_GiB") * 0x1p30;
	if (seconds > 0)
		return seconds;
	if (strcmp(run->family->title, "megatron-sc21") || !(rate > 0))
		return 0;
	return 96 * run->global_batch * s * l * h * h *
	       (1 + s / (6 * h) + run->vocab / (16 * l * h)) /
	       (run->devices * rate);
}

/* The id without what names the layout: "-t2p4mb1", "-t2d4p8-mb1". */
static void name_group(struct run *run)
{
	const char *id = run->id, *cut = NULL, *rest;
	size_t length;

	for (const char *at = strstr(id, "-t"); at; at = strstr(at + 1, "-t"))
		if (isdigit((unsigned char)at[2])) {
			cut = at;
			break;
		}
	if (!cut)
		cut = id + strlen(id);
	rest = cut;
	if (!strncmp(id, "aleph-", 6)) {
		rest = strchr(*cut ? cut + 1 : cut, '-');
		rest = rest ? rest : "";
	} else {
		rest = "";
	}
	length = (size_t)(cut - id);
	snprintf(run->group, sizeof(run->group), "%.*s%s batch %u", (int)length,
		 id, rest, run->global_batch);
}

static const char *recompute_of(const char *text)
{
	static const char *const known[] = { "none", "selective", "full" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(text, known[i], strlen(known[i])))
			return known[i];
	return NULL;
}

/* False when the row belongs to no family or does not say enough. */
static bool run_read(const struct table *table, size_t row, struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->id = table_text(table, row, "id");
	run->family = family_of(run->id);
	if (!run->family)
		return false;
	run->recompute = run->family->tuned ? "none" :
			 recompute_of(table_text(table, row, "recompute"));
	if (!run->recompute ||
	    strncmp(table_text(table, row, "precision"), "fp8", 3) == 0 ||
	    !whole(table, row, "layers", 0, &run->layers) ||
	    !whole(table, row, "hidden", 0, &run->hidden) ||
	    !whole(table, row, "ffn", 0, &run->ffn) ||
	    !whole(table, row, "heads", 0, &run->heads) ||
	    !whole(table, row, "kv_heads", run->heads, &run->kv_heads) ||
	    !whole(table, row, "vocab", 0, &run->vocab) ||
	    !whole(table, row, "seq_len", 0, &run->sequence_length) ||
	    !whole(table, row, "n_devices", 0, &run->devices) ||
	    !whole(table, row, "devices_per_node", 8, &run->per_node) ||
	    !whole(table, row, "TP", 0, &run->tensor) ||
	    !whole(table, row, "PP", 0, &run->pipeline) ||
	    !whole(table, row, "VPP", 1, &run->virtual_stages) ||
	    !whole(table, row, "CP", 1, &run->context) ||
	    !whole(table, row, "micro_batch", 0, &run->micro_batch) ||
	    !whole(table, row, "global_batch", 0, &run->global_batch))
		return false;
	run->data = run->devices / (run->tensor * run->pipeline * run->context);
	run->sequence = run->tensor > 1 &&
			(run->family->tuned ||
			 !strcmp(table_text(table, row, "SP"), "1"));
	run->is_llama = strstr(table_text(table, row, "model"), "lama") != NULL;
	run->measured = measured(table, row, run);
	name_group(run);
	return run->measured > 0;
}

/* The block of std.model.gpt with grouped keys and values. */
static const char grouped_block[] =
	"template grouped_block(hidden, heads, kv_heads, ffn,\n"
	"                       head_dim = hidden / heads, drop = 10%) {\n"
	"  split heads, kv_heads, ffn by tensor\n"
	"  x : [batch, seq, hidden]\n"
	"  n = layernorm(x)\n"
	"  q = linear(n, hidden -> heads * head_dim, bias = true)\n"
	"  k = linear(n, hidden -> kv_heads * head_dim, bias = true)\n"
	"  v = linear(n, hidden -> kv_heads * head_dim, bias = true)\n"
	"  a = attention(q, k, v, causal = true, dropout = drop)\n"
	"  y = x + dropout(linear(a, heads * head_dim -> hidden, bias = true), drop)\n"
	"  f = gelu(linear(layernorm(y), hidden -> ffn, bias = true))\n"
	"  return y + dropout(linear(f, ffn -> hidden, bias = true), drop)\n"
	"}\n";

/* Norms of many kernels; today's Megatron-LM has none. */
static bool has_eager_norms(const struct run *run)
{
	return !strcmp(run->family->title, "aleph eager");
}

static void print_layers(const struct run *run, FILE *out)
{
	const char *flash = run->family->flash ? "true" : "false";

	if (run->is_llama)
		fprintf(out, "    embedding(vocab = %u, hidden = %u)\n"
			"    %u * llama_block(hidden = %u, heads = %u, kv_heads = %u, "
			"ffn = %u, flash = %s, fused_norms = %s)\n"
			"    lm_head(vocab = %u, hidden = %u, tied = false)\n",
			run->vocab, run->hidden, run->layers, run->hidden,
			run->heads, run->kv_heads, run->ffn, flash,
			has_eager_norms(run) ? "false" : "true",
			run->vocab, run->hidden);
	else if (run->kv_heads != run->heads)
		fprintf(out, "    embedding(vocab = %u, hidden = %u, positions = %u, dropout = 10%%)\n"
			"    %u * grouped_block(hidden = %u, heads = %u, kv_heads = %u, ffn = %u)\n"
			"    lm_head(vocab = %u, hidden = %u, norm = layernorm)\n",
			run->vocab, run->hidden, run->sequence_length,
			run->layers, run->hidden, run->heads, run->kv_heads,
			run->ffn, run->vocab, run->hidden);
	else
		fprintf(out, "    embedding(vocab = %u, hidden = %u, positions = %u, dropout = 10%%)\n"
			"    %u * gpt_block(hidden = %u, heads = %u, ffn = %u, flash = %s)\n"
			"    lm_head(vocab = %u, hidden = %u, tied = true, norm = layernorm)\n",
			run->vocab, run->hidden, run->sequence_length,
			run->layers, run->hidden, run->heads, run->ffn, flash,
			run->vocab, run->hidden);
}

static void print_cluster(const struct run *run, FILE *out)
{
	const struct family *family = run->family;
	unsigned within = run->devices < run->per_node ? run->devices :
							 run->per_node;

	/* The memory limit is lifted, because only the time is asked for. */
	fprintf(out, "let here = %s with { memory = 1PiB%s }\n"
		"topology cluster {\n  device = here\n"
		"  level node { fanout = %u %s }\n", family->device,
		family->memory ? " reserve = 0B communicator = 0B" : "", within,
		family->node);
	if (run->devices > within)
		fprintf(out, "  level network { fanout = %u bandwidth = %gGB/s "
			"latency = 5us efficiency = 90%% }\n",
			run->devices / within, family->nic_GBps);
	fprintf(out, "}\n");
}

static void print_spec(const struct run *run, FILE *out)
{
	fprintf(out, "nest 1\nimport std.model.llama\nimport std.model.gpt\n"
		"import std.device.a100\n"
		"import std.device.h100\n");
	fputs(grouped_block, out);
	print_cluster(run, out);
	fprintf(out, "model net(seq = %u) {\n%s  layers {\n", run->sequence_length,
		run->is_llama ? "  rotary_base = 10000\n" : "");
	print_layers(run, out);
	fprintf(out, "  }\n}\njob fidelity {\n  model = net\n  topology = cluster\n"
		"  global_batch = %u\n  precision = bf16\n  optimizer = adam\n"
		"  target = %s\n  search {\n"
		"    tensor in { %u }\n    sequence in { %s }\n    context in { %u }\n"
		"    data in { %u }\n    pipeline in { %u }\n    virtual in { %u }\n"
		"    micro_batch in { %u }\n    zero in { %d }\n"
		"    recompute in { %s }\n  }\n",
		run->global_batch, has_eager_norms(run) ? "none" : "megatron",
		run->tensor, run->sequence ? "on" : "off",
		run->context, run->data, run->pipeline, run->virtual_stages,
		run->micro_batch, run->family->zero1, run->recompute);
	if (run->layers % (run->pipeline * run->virtual_stages) == 0)
		fprintf(out, "  require { stages.uniform }\n");
	fprintf(out, "  minimize time\n}\n");
}

/* Compiles the run's spec, which it leaves in `path`. */
static bool run_predict(struct run *run, const char *nestc, const char *path)
{
	FILE *file = fopen(path, "w");
	char command[8192];
	json_t *plan, *predicted, *stages;

	if (!file)
		return false;
	print_spec(run, file);
	fclose(file);
	snprintf(command, sizeof(command),
		 "'%s' compile '%s' --emit=manifest --ranks=factors 2>/dev/null",
		 nestc, path);
	file = popen(command, "r");
	if (!file)
		return false;
	plan = json_loadf(file, 0, NULL);
	pclose(file);
	predicted = json_object_get(plan, "predicted");
	stages = json_object_get(plan, "stages");
	if (run->family->memory)
		run->predicted = json_number_value(json_object_get(json_object_get(
			json_array_get(stages, json_array_size(stages) - 1),
			"memory"), "total"));
	else
		run->predicted = json_number_value(
			json_object_get(predicted, "iteration_time"));
	json_decref(plan);
	return run->predicted > 0;
}

static void read_runs(struct runs *runs, const struct table *table,
		      const char *nestc, const char *path)
{
	for (size_t i = 0; i < table->rows && runs->count < RUNS_MAX; i++) {
		struct run *run = &runs->at[runs->count];

		if (!family_of(table_text(table, i, "id")))
			continue;
		if (!run_read(table, i, run))
			runs->skipped++;
		else if (!run_predict(run, nestc, path))
			runs->failed++;
		else
			runs->count++;
	}
}

static double run_error(const struct run *run)
{
	return run->predicted / run->measured - 1;
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_family(const struct runs *runs, const struct family *family)
{
	static double error[RUNS_MAX];
	double sum = 0, bias = 0;
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++) {
		double now = run_error(&runs->at[i]);

		if (runs->at[i].family != family)
			continue;
		error[count++] = fabs(now);
		sum += fabs(now);
		bias += now;
	}
	if (!count)
		return;
	qsort(error, count, sizeof(*error), compare_numbers);
	printf("  %-14s %4zu runs  MAPE %5.1f %%  median %5.1f %%  worst %5.1f %%  bias %+6.1f %%  (%s)\n",
	       family->title, count, 100 * sum / (double)count,
	       100 * error[count / 2], 100 * error[count - 1],
	       100 * bias / (double)count, family->assumed);
}

/* Kendall's tau of predicted against measured times, and by how much the
 * layout predicted to be best is slower than the best one. */
static void print_group(const struct runs *runs, const char *group)
{
	double concordant = 0, pairs = 0, best_s = INFINITY;
	const struct run *winner = NULL;
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct run *a = &runs->at[i];

		if (strcmp(a->group, group))
			continue;
		count++;
		best_s = fmin(best_s, a->measured);
		if (!winner || a->predicted < winner->predicted)
			winner = a;
		for (size_t j = 0; j < i; j++) {
			const struct run *b = &runs->at[j];
			double sign;

			if (strcmp(b->group, group))
				continue;
			sign = (a->measured - b->measured) *
			       (a->predicted - b->predicted);
			pairs++;
			concordant += (sign > 0) - (sign < 0);
		}
	}
	if (count < 5)
		return;
	printf("  %-52s %3zu layouts  tau %+.2f  regret %4.1f %%\n", group, count,
	       concordant / pairs, 100 * (winner->measured / best_s - 1));
}

static void print_groups(const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->at[i];
		size_t first = 0;

		if (!run->family->is_sweep)
			continue;
		while (strcmp(runs->at[first].group, run->group))
			first++;
		if (first == i)
			print_group(runs, run->group);
	}
}

int main(void)
{
	const char *directory = getenv("NESTC_MEASURED_DIR");
	const char *nestc = getenv("NESTC") ? getenv("NESTC") : "./nestc";
	static const char *const names[] = { "rows.csv", "rows_vtrain_single.csv" };
	char path[] = "/tmp/nestc-fidelity-XXXXXX";
	struct runs runs = { 0 };
	struct table table[2];

	if (!directory) {
		puts("skipped: NESTC_MEASURED_DIR is not set");
		return 0;
	}
	int file = mkstemp(path);
	runs.at = calloc(RUNS_MAX, sizeof(*runs.at));
	if (file < 0 || !runs.at)
		return 1;
	close(file);
	for (int i = 0; i < 2; i++) {
		if (!table_read(&table[i], directory, names[i])) {
			fprintf(stderr, "cannot read %s in %s\n", names[i], directory);
			return 1;
		}
		read_runs(&runs, &table[i], nestc, path);
	}
	printf("predicted against measured, iteration time unless said otherwise (%zu runs,\n"
	       "%zu left out for want of facts, %zu without a plan)\n",
	       runs.count, runs.skipped, runs.failed);
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		print_family(&runs, &families[i]);
	puts("order of layouts (tau 1: as measured) and what the predicted best loses");
	print_groups(&runs);
	unlink(path);
	table_release(&table[0]);
	table_release(&table[1]);
	free(runs.at);
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * --emit summary: what a person wants to know about a plan, in 80 columns of
 * plain text.
 */
#include "compiler/emit_summary.h"

#include <math.h>

#include "compiler/describe.h"
#include "compiler/graph_report.h"
#include "compiler/job_names.h"
#include "compiler/recompute_module.h"
#include "compiler/time_terms.h"
#include "lang/compilation.h"

/* Columns of the longest bar of the breakdown. */
#define BAR_WIDTH 36

static void print_title(struct summary *summary)
{
	const struct ir *ir = summary->input->ir;
	struct text *out = summary->out;

	text_printf(out, "%s (", ir->model.name);
	describe_parameters((double)ir->model.parameters, out);
	text_printf(out, " parameters, %u layers) on ", ir->model.layer_count);
	cluster_describe(&ir->topology, out);
	text_append(out, "\n\n");
}

/* On a cluster of several kinds, which of them the plan is on. */
static void print_sites(struct summary *summary)
{
	struct text *out = summary->out;

	if (!summary->input->ir->topology.kind_count)
		return;
	if (summary->plan->segment_count) {
		text_append(out, "          on ");
		sites_describe(&summary->sites, out);
		text_append_char(out, '\n');
		return;
	}
	text_printf(out, "          on %u devices of all kinds, each as the slowest\n",
		    summary->plan->devices);
}

/* " (core_attn, mlp)" where the job says which parts of layers are redone. */
static void print_modules(struct summary *summary)
{
	uint32_t chosen = summary->input->ir->job.recompute_modules;

	if (summary->plan->choice.recompute != RECOMPUTE_SELECTIVE || !chosen)
		return;
	text_append(summary->out, " (");
	recompute_modules_print(chosen, ", ", summary->out);
	text_append_char(summary->out, ')');
}

static void print_plan(struct summary *summary)
{
	const struct choice *choice = &summary->plan->choice;
	const struct problem *problem = summary->input->problem;
	struct text *out = summary->out;

	text_append(out, "Plan      ");
	if (summary->input->hand_plan)
		text_printf(out, "%s: ", summary->input->hand_plan);
	describe_degrees(problem, summary->plan, out);
	if (summary->plan->devices !=
	    cluster_devices(&summary->input->ir->topology)) {
		text_append(out, " = ");
		describe_count(summary->plan->devices, out);
		text_append(out, " devices");
	}
	text_append_char(out, '\n');
	print_sites(summary);
	text_append(out, "          ");
	if (choice->virtual_stages > 1)
		text_printf(out, "%u virtual stages a device, ",
			    choice->virtual_stages);
	text_printf(out, "%u micro-batch%s of %u sequence%s, %s\n",
		    choice->micro_batches,
		    choice->micro_batches == 1 ? "" : "es",
		    summary->shape->micro_batch,
		    summary->shape->micro_batch == 1 ? "" : "s",
		    choice->virtual_stages > 1 ? "interleaved 1F1B" :
		    choice->schedule == SCHEDULE_GPIPE ? "GPipe" :
		    choice->pipeline > 1       ? "1F1B" :
						 "no pipeline");
	text_append(out, "          ");
	describe_policy(summary->plan, out);
	print_modules(summary);
	text_printf(out, "%s\n",
		    summary->shape->tensor == 1 ? "" :
		    summary->shape->sequence	? ", sequence parallelism" :
						  ", no sequence parallelism");
}

static void print_rates(struct summary *summary)
{
	const struct performance *performance = &summary->performance;
	const struct ir *ir = summary->input->ir;
	double devices = summary->plan->devices;
	struct text *out = summary->out;

	text_append(out, "Time      ");
	describe_seconds(summary->plan->time_s, out);
	text_append(out, " per iteration of ");
	describe_count(ir->job.global_batch, out);
	text_append(out, " x ");
	describe_count(ir->model.sequence_length, out);
	text_append(out, " tokens\n");
	if (ir->topology.graph)
		graph_report_time(ir->topology.graph, summary->plan, out);
	text_append(out, "Rate      ");
	describe_count((uint64_t)llround(performance->tokens_per_s), out);
	text_append(out, " tokens/s, ");
	describe_count((uint64_t)llround(performance->tokens_per_s / devices),
		       out);
	text_append(out, " per device\n");
	text_printf(out, "Use       %.0f model TFLOP/s per device: MFU %.1f %%, HFU %.1f %% (%s)\n",
		    performance->model_flops_per_s / 1e12,
		    100 * performance->mfu, 100 * performance->hfu,
		    precision_name(ir->job.precision));
	if (performance->dollars > 0)
		text_printf(out, performance->dollars < 0.995 ?
			    "Cost      $%.3g per iteration, $%.3g per million tokens\n" :
			    "Cost      $%.2f per iteration, $%.3g per million tokens\n",
			    performance->dollars,
			    performance->dollars / performance->tokens * 1e6);
}

static void print_part(struct summary *summary, const char *name, double seconds)
{
	double share = seconds / summary->plan->time_s;
	struct text *out = summary->out;
	struct text number;
	int bar = (int)lround(share * BAR_WIDTH);

	if (seconds <= 0)
		return;
	text_init(&number, &summary->input->compilation->arena);
	describe_seconds(seconds, &number);
	text_printf(out, "  %-20s %9s %6.1f %%", name, number.at, 100 * share);
	if (bar)
		text_append(out, "  ");
	while (bar-- > 0)
		text_append_char(out, '#');
	text_append_char(out, '\n');
}

static void print_breakdown(struct summary *summary)
{
	const struct breakdown *part = &summary->plan->breakdown;

	text_append(summary->out, "\nWhere the time goes\n");
	for (int i = 0; i < TIME_TERM_COUNT; i++)
		print_part(summary, time_term_words((enum time_term)i),
			   time_term_s(part, (enum time_term)i));
}

bool emit_summary(const struct emit_input *input, struct text *out)
{
	struct summary summary = {
		.input = input,
		.plan = input->plan,
		.shape = &input->problem->shape[input->plan->choice.shape],
		.out = out,
	};

	summary.sites = plan_sites(input->ir, input->problem, input->plan);
	plan_performance(input->ir, input->problem, input->plan,
			 &summary.performance);
	print_title(&summary);
	print_plan(&summary);
	print_rates(&summary);
	print_breakdown(&summary);
	summary_memory(&summary);
	summary_placement(&summary);
	summary_rivals(&summary);
	summary_certificate(&summary);
	return true;
}

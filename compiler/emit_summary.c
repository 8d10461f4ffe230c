/* SPDX-License-Identifier: MIT
 *
 * --emit summary: what a person wants to know about a plan, in 80 columns of
 * plain text.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/emit.h"
#include "compiler/graph_report.h"
#include "compiler/hand_plan.h"
#include "compiler/job_names.h"
#include "compiler/performance.h"
#include "compiler/node_order.h"
#include "compiler/profile.h"
#include "compiler/ranks.h"
#include "compiler/recompute_module.h"
#include "compiler/site.h"
#include "compiler/spread.h"
#include "compiler/time_terms.h"
#include "lang/compilation.h"
#include "solver/most.h"

#define GIB (1024.0 * 1024 * 1024)
#define BAR_WIDTH 36

struct summary {
	const struct emit_input *input;
	const struct plan *plan;
	const struct problem_shape *shape;
	struct performance performance;
	struct sites sites;
	struct text *out;
};

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

/* "embedding + 20", "19 + lm_head": what a stage holds. */
static void print_contents(struct summary *summary, uint32_t stage,
			   struct text *out)
{
	const struct ir_model *model = &summary->input->ir->model;
	const struct plan *plan = summary->plan;
	bool first = true, layers_named = false;

	for (uint32_t i = stage; i < plan->chunk_count;
	     i += plan->choice.pipeline) {
		uint32_t position = 0;

		for (uint32_t j = 0; j < model->run_count; j++) {
			const struct ir_class *class =
				&model->class[model->run[j].class_index];
			uint32_t end = position + model->run[j].count;
			bool held = position < plan->chunk_first[i + 1] &&
				    end > plan->chunk_first[i];

			position = end;
			if (!held || (class->is_block && layers_named))
				continue;
			text_append(out, first ? "" : " + ");
			first = false;
			if (class->is_block)
				text_printf(out, "%u", plan->stage[stage].layers);
			else
				text_append(out, class->name);
			layers_named |= class->is_block;
		}
	}
}

static const char *memory_row(struct summary *summary, uint32_t stage)
{
	const struct stage_memory *memory = &summary->plan->stage[stage].memory;
	struct text row;

	text_init(&row, &summary->input->compilation->arena);
	text_printf(&row, "%7.1f %10.1f %10.1f %12.1f %6.1f %6.1f  ",
		    memory->parameters / GIB, memory->gradients / GIB,
		    memory->optimizer / GIB, memory->activations / GIB,
		    (memory->working + memory->reserve) / GIB,
		    memory->total / GIB);
	if (summary->plan->choice.pipeline == 1)
		text_append(&row, "everything");
	else
		print_contents(summary, stage, &row);
	return row.at;
}

/* One row a stage; neighbours that look the same share one. */
static void print_stages(struct summary *summary, const struct site *site)
{
	uint32_t end = site->first + site->ranks, first = site->first;
	struct text *out = summary->out;

	while (first < end) {
		const char *row = memory_row(summary, first);
		uint32_t last = first;
		char label[24];

		while (last + 1 < end &&
		       strcmp(memory_row(summary, last + 1), row) == 0)
			last++;
		if (last > first)
			snprintf(label, sizeof(label), "%u-%u", first, last);
		else
			snprintf(label, sizeof(label), "%u", first);
		text_printf(out, "  %-6s %s\n", label, row);
		first = last + 1;
	}
}

/* Estimates are not that good: a plan with less of a device left over may not fit. */
#define TIGHT 0.02

/* Says so of the fullest stage, and how to ask for more room. */
static void print_tight(struct summary *summary)
{
	double least = TIGHT;
	uint32_t fullest = 0;

	for (uint32_t i = 0; i < summary->sites.count; i++) {
		const struct site *site = &summary->sites.at[i];
		double bytes = site->ir->topology.device.memory_bytes;

		for (uint32_t j = site->first; j < site->first + site->ranks; j++) {
			double left = 1 - summary->plan->stage[j].memory.total / bytes;

			if (left >= least)
				continue;
			least = left;
			fullest = j;
		}
	}
	if (least < TIGHT)
		text_printf(summary->out, "  stage %u leaves %.1f %% of its device free: "
					  "'memory <= 95%% * device.memory' in 'require' asks for more\n",
			    fullest, 100 * least);
}

static void print_memory(struct summary *summary)
{
	struct text *out = summary->out;

	for (uint32_t i = 0; i < summary->sites.count; i++) {
		const struct site *site = &summary->sites.at[i];
		const struct ir *ir = site->ir;

		text_append(out, "\nMemory per device");
		if (site->kind)
			text_printf(out, " of %s", site->kind->name);
		if (site->kind && strcmp(site->kind->name, ir->topology.device.name))
			text_printf(out, " (%s)", ir->topology.device.name);
		text_printf(out, " in GiB, limit %.1f of %.1f\n",
			    ir->job.memory_limit_bytes / GIB,
			    ir->topology.device.memory_bytes / GIB);
		text_printf(out, "  %-6s %7s %10s %10s %12s %6s %6s  %s\n", "stage",
			    "weights", "gradients", "optimizer", "activations",
			    "other", "total", "layers");
		print_stages(summary, site);
	}
	print_tight(summary);
}

static void print_dimension(struct summary *summary, const struct site *site,
			    enum dimension dimension, const char *name)
{
	struct arena *arena = &summary->input->compilation->arena;
	struct text text;

	text_init(&text, arena);
	spread_describe(&site->ir->topology, &site->plan.placement, dimension,
			&text);
	if (text.length)
		text_printf(summary->out, "  %-10s%s\n", name, text.at);
}

/* Dimensions in the order of a linear placement. */
static const enum dimension linear_order[PACKING_COUNT][DIMENSION_COUNT] = {
	[PACKING_DATA_PIPELINE] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				    DIMENSION_DATA, DIMENSION_PIPELINE },
	[PACKING_PIPELINE_DATA] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				    DIMENSION_PIPELINE, DIMENSION_DATA },
};

static const char *const dimension_words[DIMENSION_COUNT] = {
	[DIMENSION_TENSOR] = "tensor",
	[DIMENSION_CONTEXT] = "context",
	[DIMENSION_DATA] = "data",
	[DIMENSION_PIPELINE] = "pipeline",
};

/* The level whose groups have room for so many devices, or NULL when only the
 * whole cluster has, or none is needed. */
static const char *level_for(const struct ir_topology *topology, uint64_t devices)
{
	uint64_t below = 1;

	for (uint32_t l = 0; devices > 1 && l + 1 < topology->level_count; l++) {
		below *= topology->level[l].network.fanout;
		if (below >= devices)
			return topology->level[l].name;
	}
	return NULL;
}

/* Blocks that a border does not cut. */
static void print_whole(struct summary *summary, const struct site *site)
{
	const struct placement *placement = &site->plan.placement;
	struct text *out = summary->out;
	uint64_t block = 1;
	bool any = false;

	for (uint32_t i = 0; i < placement->aligned; i++) {
		enum dimension last = linear_order[placement->packing][i];
		const char *level;
		bool first = true;

		block *= placement->factor[last][0];
		level = level_for(&site->ir->topology, block);
		if (placement->factor[last][0] == 1 || !level)
			continue;
		text_append(out, any ? ", " : "  whole     ");
		any = true;
		for (uint32_t j = 0; j <= i; j++) {
			enum dimension at = linear_order[placement->packing][j];

			if (placement->factor[at][0] == 1)
				continue;
			text_printf(out, "%s%s", first ? "" : " x ",
				    dimension_words[at]);
			first = false;
		}
		text_printf(out, " within a %s", level);
	}
	if (any)
		text_append_char(out, '\n');
}

/* The order, and the blocks that are kept whole. */
static void print_linear(struct summary *summary, const struct site *site)
{
	const struct placement *placement = &site->plan.placement;
	struct text *out = summary->out;
	bool any = false;

	text_append(out, "  linear    in the order of the devices:");
	for (int i = 0; i < DIMENSION_COUNT; i++) {
		enum dimension at = linear_order[placement->packing][i];

		if (placement->factor[at][0] == 1)
			continue;
		text_printf(out, "%s %u %s", any ? "," : "",
			    placement->factor[at][0], dimension_words[at]);
		any = true;
	}
	text_append_char(out, '\n');
	print_whole(summary, site);
}

static void print_avoided(struct summary *summary)
{
	const struct problem *problem = summary->input->problem;

	if (problem->avoided_count)
		text_printf(summary->out, "  avoided   %u devices\n",
			    problem->avoided_count);
}

static void print_site(struct summary *summary, const struct site *site)
{
	struct text *out = summary->out;

	if (site->kind) {
		text_printf(out, "  %-10s", "stages");
		if (site->ranks > 1)
			text_printf(out, "%u to %u", site->first,
				    site->first + site->ranks - 1);
		else
			text_printf(out, "%u", site->first);
		text_printf(out, " on %s\n", site->kind->name);
	}
	if (site->plan.placement.packing != PACKING_FACTORS) {
		print_linear(summary, site);
		return;
	}
	print_dimension(summary, site, DIMENSION_TENSOR, "tensor");
	print_dimension(summary, site, DIMENSION_CONTEXT, "context");
	print_dimension(summary, site, DIMENSION_DATA, "data");
	print_dimension(summary, site, DIMENSION_PIPELINE, "pipeline");
}

/* Where the ranks of an order run. */
static const char *rank_words(struct summary *summary, enum rank_order order,
			      enum rank_match match)
{
	const struct emit_input *input = summary->input;
	struct node_order nodes;

	if (match == RANK_MATCH_SAME)
		return "rank r on device r";
	if (match == RANK_MATCH_ASCENDING)
		return "on the devices used, in their order";
	nodes = node_order_read(&input->ir->topology, input->problem,
				summary->plan, order, &input->compilation->arena);
	return nodes.is_whole && nodes.ranks > 1 ?
		       "node by node, in the NODE_ORDER of --emit=megatron" :
		       "by the table in the manifest";
}

static void print_placement(struct summary *summary)
{
	enum rank_match match;
	enum rank_order order = rank_order_choose(summary->input->problem,
						  summary->plan, &match);
	struct text *out = summary->out;

	if (summary->plan->devices == 1)
		return;
	text_append(out, "\nPlacement\n");
	for (uint32_t i = 0; i < summary->sites.count; i++)
		print_site(summary, &summary->sites.at[i]);
	print_avoided(summary);
	if (summary->input->ir->topology.graph)
		graph_report_stages(summary->input->compilation,
				    &summary->input->ir->topology,
				    summary->plan, out);
	text_printf(out, "  %-10s%s order, %s\n", "ranks",
		    rank_order_name(order), rank_words(summary, order, match));
}

struct counted {
	uint64_t count;
	const char *what;
};

/* Those that are not zero, on a line of their own. */
static void print_counts(struct text *out, const struct counted *counted,
			 uint32_t length)
{
	bool first = true;

	for (uint32_t i = 0; i < length; i++) {
		if (!counted[i].count)
			continue;
		text_append(out, first ? "          " : ", ");
		describe_count(counted[i].count, out);
		text_printf(out, " %s", counted[i].what);
		first = false;
	}
	if (!first)
		text_append_char(out, '\n');
}

/* How much of all this was measured. */
static void print_profile(struct summary *summary)
{
	const struct emit_input *input = summary->input;
	const struct ir_profile *profile = &input->ir->job.profile;
	struct text *out = summary->out;
	struct profile_coverage coverage;

	if (!profile->file)
		return;
	coverage = profile_coverage(input->ir, input->problem, input->plan,
				    &input->compilation->arena);
	text_printf(out, "\nMeasured  %.0f %% of this plan's layer time, by %s\n",
		    100 * coverage.plan_share, profile->file);
	text_append(out, "          ");
	describe_count(coverage.pairs_measured, out);
	text_append(out, " of ");
	describe_count(coverage.pairs, out);
	text_append(out, " pairs of a layer and a shape of the search");
	if (coverage.pairs_measured != coverage.pairs)
		text_printf(out, "; the others are %s",
			    profile->scaled ? "scaled alike" : "modelled");
	text_append_char(out, '\n');
	if (coverage.used == profile->measurement_count)
		return;
	text_append(out, "          ");
	describe_count(profile->measurement_count - coverage.used, out);
	text_append(out, " of ");
	describe_count(profile->measurement_count, out);
	text_append(out, " entries unused: their shapes are outside the search\n");
}

static void print_certificate(struct summary *summary)
{
	const struct certificate *certificate = &summary->plan->certificate;
	const struct counted searched[] = {
		{ certificate->configurations, "configurations" },
		{ certificate->priced, "priced" },
		{ certificate->bounded, "bounded out" },
	};
	const struct counted refused[] = {
		{ certificate->infeasible_memory, "over the memory limit" },
		{ certificate->infeasible_requirement, "against a requirement" },
		{ certificate->infeasible_placement, "without a placement" },
	};
	struct text *out = summary->out;

	print_profile(summary);
	text_append(out, "\nProof     ");
	if (certificate->gap <= 0) {
		text_append(out, "optimal: no plan of the search space is below ");
		describe_objective(&summary->input->ir->job, certificate->value,
				   out);
		text_append(out, " (gap 0)\n");
	} else {
		/* Not proved, so never 0.00 %. */
		text_printf(out, "within %.2f %% of optimal: no plan is below ",
			    most(100 * certificate->gap, 0.01));
		describe_objective(&summary->input->ir->job,
				   certificate->lower_bound, out);
		text_append_char(out, '\n');
		if (certificate->out_of_time)
			text_append(out, "          the time limit ended the search\n");
	}
	if (summary->input->ir->topology.graph)
		graph_report_proof(summary->plan, out);
	print_counts(out, searched, 3);
	print_counts(out, refused, 3);
	if (summary->input->timing)
		text_printf(out, "          found in %.3f s\n",
			    summary->input->solve_s);
}

static void print_rival(struct summary *summary, const struct rival *rival)
{
	const struct ir_job *job = &summary->input->ir->job;
	struct arena *arena = &summary->input->compilation->arena;
	double best = summary->plan->certificate.value;
	struct text *out = summary->out;
	struct text number;

	if (!rival->is_possible) {
		text_printf(out, "  %-12s impossible: %s\n", rival->name,
			    rival->about);
		return;
	}
	text_printf(out, "  %-12s ", rival->name);
	text_init(&number, arena);
	if (!objective_is_time(job)) {
		describe_objective_number(job, rival->value, &number);
		text_printf(out, "%10s ", number.at);
		number.length = 0;
	}
	describe_seconds(rival->time_s, &number);
	text_printf(out, "%9s %+7.1f %%  %s\n", number.at,
		    100 * (rival->value - best) / fabs(best), rival->about);
}

/* Hand-written plans, each with what it minimises against the best one's. */
static void print_rivals(struct summary *summary)
{
	const struct emit_input *input = summary->input;
	const struct ir_job *job = &input->ir->job;
	struct rival best = {
		.name = "(best)",
		.is_possible = true,
		.value = summary->plan->certificate.value,
		.time_s = summary->plan->time_s,
	};
	struct text about;

	if (!input->rival_count)
		return;
	text_init(&about, &input->compilation->arena);
	describe_choice(input->problem, summary->plan, &about);
	best.about = about.at;
	text_append(summary->out, "\nPlans written by hand");
	if (!objective_is_time(job))
		text_printf(summary->out, ", by %s and time", objective_name(job));
	text_append_char(summary->out, '\n');
	print_rival(summary, &best);
	for (uint32_t i = 0; i < input->rival_count; i++)
		print_rival(summary, &input->rival[i]);
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
	print_memory(&summary);
	print_placement(&summary);
	print_rivals(&summary);
	print_certificate(&summary);
	return true;
}

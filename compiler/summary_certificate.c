/* SPDX-License-Identifier: MIT
 *
 * What the summary ends with: the measured share of the times, the certificate, and
 * the hand-written plans beside the best.
 */
#include "compiler/emit_summary.h"

#include <inttypes.h>
#include <math.h>

#include "compiler/describe.h"
#include "compiler/graph_report.h"
#include "compiler/hand_plan.h"
#include "compiler/profile.h"
#include "lang/compilation.h"
#include "solver/most.h"

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

void summary_certificate(struct summary *summary)
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
void summary_rivals(struct summary *summary)
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

/* SPDX-License-Identifier: MIT
 *
 * The answer about an idea, for people.
 */
#include "compiler/why_not.h"

#include <math.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/performance.h"
#include "compiler/plan_json.h"
#include "compiler/site.h"
#include "compiler/time_facts.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

/* Times nearer than this, relative to the larger, are the same to people. */
#define SAME_TIME 1e-9
/* Parts of the difference of at least this share are looked into. */
#define SHARE_LEAST 0.05

struct report {
	const struct why_not *answer;
	const struct plan *chosen, *asked;
	struct text *out;
};

static struct text scratch(const struct report *report)
{
	struct text text;

	text_init(&text, &report->answer->compilation->arena);
	return text;
}

static double value_of(const struct plan *plan)
{
	return plan->certificate.value;
}

/* ---- numbers ---- */

static const char *seconds(const struct report *report, double number)
{
	struct text text = scratch(report);

	if (number > 0)
		describe_seconds(number, &text);
	else
		text_append(&text, "-");
	return text.at;
}

static const char *bytes(const struct report *report, double number)
{
	struct text text = scratch(report);

	describe_bytes(number, &text);
	return text.at;
}

/* "+1.40 s", "-15.9 GiB", "0": of two numbers, the larger of which is of that size. */
static const char *change(const struct report *report, double difference,
			  double size, void (*describe)(double, struct text *))
{
	struct text text = scratch(report);

	if (fabs(difference) <= SAME_TIME * size)
		return "0";
	text_append_char(&text, difference > 0 ? '+' : '-');
	describe(fabs(difference), &text);
	return text.at;
}

/* ---- the table ---- */

static void print_term(struct report *report, enum time_term term)
{
	double chosen = time_term_s(&report->chosen->breakdown, term);
	double asked = time_term_s(&report->asked->breakdown, term);
	double all = report->asked->time_s - report->chosen->time_s;
	struct text *out = report->out;

	if (!(chosen > 0) && !(asked > 0))
		return;
	text_printf(out, "  %-22s %10s %10s %11s", time_term_words(term),
		    seconds(report, chosen), seconds(report, asked),
		    change(report, asked - chosen, report->chosen->time_s,
			   describe_seconds));
	if (fabs(all) > SAME_TIME * report->chosen->time_s)
		text_printf(out, " %7.1f %%", 100 * (asked - chosen) / all);
	text_append_char(out, '\n');
}

static void print_bytes(struct report *report, const char *name, double chosen,
			double asked)
{
	text_printf(report->out, "  %-22s %10s %10s %11s\n", name,
		    bytes(report, chosen), bytes(report, asked),
		    change(report, asked - chosen,
			   report->chosen->memory_peak_bytes, describe_bytes));
}

static const struct stage_memory *fullest(const struct plan *plan)
{
	return &plan->stage[plan->memory_peak_stage].memory;
}

/* Of the fullest device of each plan. */
static void print_memory(struct report *report)
{
	const struct stage_memory *chosen = fullest(report->chosen);
	const struct stage_memory *asked = fullest(report->asked);

	print_bytes(report, "memory, fullest device", chosen->total, asked->total);
	print_bytes(report, "  parameters", chosen->parameters,
		    asked->parameters);
	print_bytes(report, "  gradients", chosen->gradients, asked->gradients);
	print_bytes(report, "  optimizer", chosen->optimizer, asked->optimizer);
	print_bytes(report, "  activations", chosen->activations,
		    asked->activations);
	print_bytes(report, "  working set, reserve",
		    chosen->working + chosen->reserve,
		    asked->working + asked->reserve);
}

static double mfu(const struct answer *answer)
{
	struct performance performance;

	plan_performance(answer->ir, answer->problem, &answer->plan,
			 &performance);
	return 100 * performance.mfu;
}

/* The use of the devices that people compare plans by. */
static void print_use(struct report *report)
{
	double chosen = mfu(&report->answer->chosen);
	double asked = mfu(&report->answer->asked);

	text_printf(report->out, "  %-22s %8.1f %% %8.1f %% %+9.1f %%\n", "MFU",
		    chosen, asked, asked - chosen);
}

static void print_devices(struct report *report)
{
	const struct plan *chosen = report->chosen, *asked = report->asked;

	if (chosen->devices != asked->devices)
		text_printf(report->out, "  %-22s %10u %10u %+11ld\n", "devices",
			    chosen->devices, asked->devices,
			    (long)asked->devices - (long)chosen->devices);
}

static void print_table(struct report *report)
{
	const struct plan *chosen = report->chosen, *asked = report->asked;
	struct text *out = report->out;

	text_printf(out, "\n  %-22s %10s %10s %11s %9s\n", "", "chosen",
		    "asked for", "difference", "share");
	for (int i = 0; i < TIME_TERM_COUNT; i++)
		print_term(report, (enum time_term)i);
	text_printf(out, "  %-22s %10s %10s %11s %7.1f %%\n", "iteration",
		    seconds(report, chosen->time_s),
		    seconds(report, asked->time_s),
		    change(report, asked->time_s - chosen->time_s,
			   chosen->time_s, describe_seconds),
		    100.0);
	print_use(report);
	print_memory(report);
	print_devices(report);
}

/* ---- what is behind it ---- */

static const char *facts(const struct report *report,
			 const struct answer *answer, enum time_term term)
{
	struct text text = scratch(report);

	time_facts(answer->ir, answer->problem, &answer->plan, term, &text);
	return text.at;
}

static void print_facts(struct report *report)
{
	double all = fabs(report->asked->time_s - report->chosen->time_s);
	bool any = false;

	for (int i = 0; i < TIME_TERM_COUNT; i++) {
		enum time_term term = (enum time_term)i;
		double part = fabs(
			time_term_s(&report->asked->breakdown, term) -
			time_term_s(&report->chosen->breakdown, term));
		const char *chosen, *asked;

		if (part < SHARE_LEAST * all || part == 0)
			continue;
		chosen = facts(report, &report->answer->chosen, term);
		asked = facts(report, &report->answer->asked, term);
		if (strcmp(chosen, asked) == 0)
			continue;
		if (!any)
			text_append(report->out, "\nWhat is behind it\n");
		any = true;
		text_printf(report->out, "  %-22s chosen     %s\n  %-22s asked for  %s\n",
			    time_term_words(term), chosen, "", asked);
	}
}

/* ---- what keeps it out of the search ---- */

/* What the spec says there, if it is short, without its columns. */
static const char *written(const struct report *report, struct span span)
{
	const struct compilation *compilation = report->answer->compilation;
	const char *text = compilation->sources.at[span.file]->bytes +
			   span.begin;
	size_t length = span.end - span.begin;

	struct text out = scratch(report);

	if (length > 80 || memchr(text, '\n', length))
		return "its domain in 'search'";
	text_append_char(&out, '\'');
	for (size_t i = 0; i < length; i++)
		if (i + 1 == length || text[i] != ' ' || text[i + 1] != ' ')
			text_append_char(&out, text[i]);
	text_append_char(&out, '\'');
	return out.at;
}

/* Items of `search` without which the plan asked for would have been looked at. */
static void print_excluded(struct report *report)
{
	struct text *out = report->out;
	bool any = false;

	for (int i = 0; i <= VARIABLE_DEVICES; i++) {
		enum plan_variable variable = (enum plan_variable)i;
		struct span span;

		if (!why_not_excluded(report->answer, variable, &span))
			continue;
		text_append(out, any ? "          " : "\nSearch    ");
		any = true;
		if (span_is_nowhere(span))
			text_printf(out, "this '%s' is only looked at where 'search' names it\n",
				    variable_name(variable));
		else
			text_printf(out, "%s leaves it out (%s)\n",
				    written(report, span),
				    why_not_place(report->answer, span));
	}
	if (any && value_of(report->asked) < value_of(report->chosen))
		text_append(out, "          allow it there, and it will be found\n");
}

/* ---- the whole ---- */

static void print_plans(struct report *report)
{
	const struct why_not *answer = report->answer;
	struct text *out = report->out;

	text_append(out, "  chosen     ");
	describe_choice(answer->chosen.problem, report->chosen, out);
	text_append_char(out, '\n');
	if (!report->asked)
		return;
	text_append(out, "  asked for  ");
	describe_choice(answer->asked.problem, report->asked, out);
	text_append_char(out, '\n');
}

static void print_objective(struct report *report, const char *subject)
{
	const struct ir_job *job = &report->answer->chosen.ir->job;
	double chosen = value_of(report->chosen), asked = value_of(report->asked);
	double change = asked - chosen, scale = fabs(chosen);
	struct text *out = report->out;

	if (fabs(change) <= SAME_TIME * scale)
		text_printf(out, "%s is as good: ", subject);
	else if (scale > 0)
		text_printf(out, "%s is %.3g %% %s: ", subject,
			    100 * fabs(change) / scale,
			    change > 0 ? "worse" : "better");
	else
		text_printf(out, "%s is worse: ", subject);
	describe_objective(job, asked, out);
	text_append(out, " against ");
	describe_objective(job, chosen, out);
	text_append_char(out, '\n');
}

/* "It is 10.3 % slower, by 1.40 s an iteration." */
static void print_verdict(struct report *report, const char *subject)
{
	const struct ir_job *job = &report->answer->chosen.ir->job;
	double chosen = report->chosen->time_s, asked = report->asked->time_s;
	struct text *out = report->out;

	if (!objective_is_time(job)) {
		print_objective(report, subject);
		return;
	}
	if (fabs(asked - chosen) <= SAME_TIME * chosen) {
		text_printf(out, "%s is as fast\n", subject);
		return;
	}
	text_printf(out, "%s is %.3g %% %s, by ", subject,
		    100 * fabs(asked / chosen - 1),
		    asked > chosen ? "slower" : "faster");
	describe_seconds(fabs(asked - chosen), out);
	text_append(out, " an iteration\n");
}

static void print_proof(struct report *report)
{
	const struct certificate *certificate = &report->asked->certificate;
	struct text *out = report->out;

	text_append(out, "\nProof     ");
	if (certificate->gap <= 0) {
		text_append(out, "no plan like this is better (gap 0, ");
	} else {
		text_append(out, "no plan like this is below ");
		describe_objective(&report->answer->chosen.ir->job,
				   certificate->lower_bound, out);
		text_printf(out, " (gap %.2f %%, ", 100 * certificate->gap);
	}
	describe_count(certificate->configurations, out);
	text_printf(out, " configuration%s)\n",
		    certificate->configurations == 1 ? "" : "s");
	if (certificate->lower_bound < value_of(report->chosen) &&
	    value_of(report->asked) > value_of(report->chosen) &&
	    report->answer->outcome == WHY_NOT_FOUND)
		text_append(out, "          so it is not proved that none is better than the "
			    "chosen one\n");
}

static void print_comparison(struct report *report, const char *subject)
{
	print_verdict(report, subject);
	print_plans(report);
	print_table(report);
	print_facts(report);
	if (report->answer->outcome == WHY_NOT_FOUND)
		print_excluded(report);
	print_proof(report);
}

static void print_reasons(struct report *report)
{
	const struct why_not *answer = report->answer;

	text_append(report->out, "It cannot run\n");
	print_plans(report);
	for (size_t i = 0; i < answer->reason_count; i++) {
		text_append_char(report->out, '\n');
		diag_render_text(&answer->compilation->diags, answer->reason[i],
				 false, report->out);
	}
}

static void print_unknown(struct report *report)
{
	text_append(report->out, "No plan like this was found before the search ended\n");
	print_plans(report);
	text_append(report->out, "\nFix more of the plan, or give the search more time with "
				 "--time-limit\n");
}

void why_not_print(const struct why_not *answer, struct text *out)
{
	const struct ir *ir = answer->chosen.ir;
	struct report report = { .answer = answer, .out = out,
				 .chosen = &answer->chosen.plan };

	text_printf(out, "%s on %s, why not '%s'?\n\n", ir->model.name,
		    ir->topology.name, answer->idea->text);
	switch (answer->outcome) {
	case WHY_NOT_CHOSEN:
		text_append(out, "The chosen plan is like this\n");
		print_plans(&report);
		return;
	case WHY_NOT_FOUND:
		report.asked = &answer->asked.plan;
		print_comparison(&report, "It");
		return;
	case WHY_NOT_UNKNOWN:
		print_unknown(&report);
		return;
	case WHY_NOT_IMPOSSIBLE:
		print_reasons(&report);
		if (!answer->has_without)
			return;
		report.asked = &answer->asked.plan;
		text_append_char(out, '\n');
		print_comparison(&report, "Without that, the best plan like it");
		return;
	}
}

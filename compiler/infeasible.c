/* SPDX-License-Identifier: MIT
 *
 * Explains an infeasible job by asking the solver again with constraints left
 * out: a smallest set that cannot hold together is found by dropping one after
 * the other, and the advice given is a single change that was solved and found
 * to work.
 */
#include "compiler/infeasible.h"

#include <string.h>

#include "compiler/describe.h"
#include "compiler/inquiry.h"
#include "compiler/problem_from_ir.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

/* Asking again costs a search each time; beyond these sizes only what the
 * first search counted is said. */
#define CONSTRAINTS_MAX 48
#define SHAPES_RELAXED_MAX 8192
/* Changes named for an idea that wants memory. */
#define ADVICE_MAX 3
#define RELUCTANCE_MOST 5

/* How welcome a change is: settings before wishes, wishes before limits. What
 * is asked for is only taken back for lack of memory. */
static int reluctance(const struct inquiry *inquiry,
		      const struct constraint *constraint)
{
	if (inquiry_is_asked(inquiry, constraint) && !(inquiry->least_bytes > 0))
		return RELUCTANCE_MOST;
	if (constraint->kind == CONSTRAINT_MEMORY)
		return 4;
	if (constraint->kind == CONSTRAINT_REQUIREMENT ||
	    constraint->kind == CONSTRAINT_PLACE ||
	    constraint->kind == CONSTRAINT_DEVICES)
		return 3;
	switch ((enum plan_variable)constraint->index) {
	case VARIABLE_ZERO:
		return 0;
	case VARIABLE_RECOMPUTE:
		return 1;
	default:
		return 2;
	}
}

static const char *spelling(struct inquiry *inquiry,
			    enum plan_variable variable, uint32_t value)
{
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	variable_value_print(variable, value, &text);
	return text.at;
}

static const char *degrees(struct inquiry *inquiry, const struct plan *plan,
			   const struct problem *problem)
{
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	describe_choice(problem, plan, &text);
	return text.at;
}

static const char *bytes(struct inquiry *inquiry, double number)
{
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	describe_bytes(number, &text);
	return text.at;
}

static void advise_domain(struct inquiry *inquiry,
			  const struct constraint *constraint)
{
	enum plan_variable variable = (enum plan_variable)constraint->index;
	struct diags *diags = &inquiry->compilation->diags;
	const struct plan *plan = &inquiry->result.plan;
	const char *name = variable_name(variable);
	const char *choice = degrees(inquiry, plan, inquiry->problem);
	const char *value = spelling(inquiry, variable,
				     variable_of_plan(variable, inquiry->problem,
						      plan));
	const char *peak = bytes(inquiry, plan->memory_peak_bytes);

	if (inquiry_is_asked(inquiry, constraint))
		diag_help(diags, "with '%s = %s' instead, %s fits, with %s a device",
			  name, value, choice, peak);
	else
		diag_help(diags, "allow '%s in { %s }': then %s fits, with %s a device",
			  name, value, choice, peak);
}

/* A constraint as it is written, in quotes, with single blanks; `other` when it is
 * long. */
static const char *written(struct inquiry *inquiry, struct span span,
			   const char *other)
{
	struct compilation *compilation = inquiry->compilation;
	const char *at;
	struct text text;

	if (span_is_nowhere(span) || span.end - span.begin > 60)
		return other;
	at = compilation->sources.at[span.file]->bytes + span.begin;
	if (memchr(at, '\n', span.end - span.begin))
		return other;
	text_init(&text, &compilation->arena);
	text_append_char(&text, '\'');
	for (uint32_t i = 0; i < span.end - span.begin; i++)
		if (at[i] != ' ' || !i || at[i - 1] != ' ')
			text_append_char(&text, at[i]);
	text_append_char(&text, '\'');
	return text.at;
}

/* " and 17.0 s an iteration" where that is what the requirement is about: of the best
 * plan by it, or one near that. */
static const char *outcome(struct inquiry *inquiry,
			   const struct constraint *constraint)
{
	enum plan_variable variable = VARIABLE_TIME;
	const struct plan *plan = &inquiry->result.plan;
	struct text text;

	if (constraint->kind != CONSTRAINT_REQUIREMENT ||
	    !inquiry->ir->job.requirement[constraint->index].predicate.needs_outcome)
		return "";
	text_init(&text, &inquiry->compilation->arena);
	text_append(&text, " and ");
	if (inquiry->relaxed->job.objective_count)
		variable = inquiry->relaxed->job.objective->step[0].variable;
	if (variable == VARIABLE_COST || variable == VARIABLE_ENERGY)
		describe_outcome(variable, plan->certificate.value, &text);
	else
		describe_seconds(plan->time_s, &text);
	text_append(&text, " an iteration");
	return text.at;
}

static void advise(struct inquiry *inquiry, const struct constraint *constraint)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct plan *plan = &inquiry->result.plan;

	switch (constraint->kind) {
	case CONSTRAINT_DOMAIN:
		advise_domain(inquiry, constraint);
		return;
	case CONSTRAINT_REQUIREMENT:
	case CONSTRAINT_PLACE:
	case CONSTRAINT_DEVICES:
		diag_help(diags, "without %s a plan exists: %s, with %s a device%s",
			  written(inquiry, constraint->span, "that requirement"),
			  degrees(inquiry, plan, inquiry->problem),
			  bytes(inquiry, plan->memory_peak_bytes),
			  outcome(inquiry, constraint));
		return;
	case CONSTRAINT_MEMORY:
		diag_help(diags, "a limit of %s would do, or devices with more memory",
			  bytes(inquiry, inquiry->least_bytes > 0 ?
						 inquiry->least_bytes :
						 plan->memory_peak_bytes));
		return;
	}
}

/* Single changes that work, of those in the conflicting set: one, or of an idea that
 * wants memory a few. */
static bool advise_change(struct inquiry *inquiry, const bool *in_core)
{
	bool memory_is_short = inquiry->least_bytes > 0;
	uint32_t most = inquiry->idea && memory_is_short ? ADVICE_MAX : 1;
	uint32_t given = 0;

	for (int rank = 0; rank <= RELUCTANCE_MOST; rank++) {
		for (size_t i = 0; i < inquiry->constraints.count; i++) {
			struct constraint *constraint =
				&inquiry->constraints.at[i];

			if (!in_core[i] || reluctance(inquiry, constraint) != rank)
				continue;
			if (!inquiry_ask_without(inquiry, constraint))
				continue;
			advise(inquiry, constraint);
			if (inquiry->idea && !inquiry_is_asked(inquiry, constraint) &&
			    !memory_is_short)
				inquiry->idea->without = inquiry->relaxed;
			if (++given == most)
				return true;
		}
	}
	return given > 0;
}

/* Of an idea that wants memory, as much as can be kept, degrees before policies. */
static bool advise_several(struct inquiry *inquiry)
{
	struct diags *diags = &inquiry->compilation->diags;
	struct text taken;
	uint32_t count = 0;

	for (size_t i = 0; i < inquiry->constraints.count; i++)
		inquiry->constraints.at[i].dropped =
			inquiry_is_asked(inquiry, &inquiry->constraints.at[i]);
	if (!inquiry_ask(inquiry))
		return false;
	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		struct constraint *constraint = &inquiry->constraints.at[i];

		if (!inquiry_is_asked(inquiry, constraint))
			continue;
		constraint->dropped = false;
		constraint->dropped = !inquiry_ask(inquiry);
	}
	inquiry_ask(inquiry);
	text_init(&taken, &inquiry->compilation->arena);
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		if (inquiry->constraints.at[i].dropped)
			text_printf(&taken, "%s%s", count++ ? " and " : "",
				    written(inquiry,
					    inquiry->constraints.at[i].span,
					    "that requirement"));
	diag_help(diags, "without %s, %s fits, with %s a device", taken.at,
		  degrees(inquiry, &inquiry->result.plan, inquiry->problem),
		  bytes(inquiry, inquiry->result.plan.memory_peak_bytes));
	return true;
}

static bool rule_avoids(const struct ir_job *job, uint32_t rule)
{
	for (uint32_t i = 0; i < job->place_count; i++)
		if (job->place[i].rule == rule)
			return job->place[i].avoid;
	return false;
}

static void name_constraint(struct inquiry *inquiry,
			    const struct constraint *constraint)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct ir_job *job = &inquiry->ir->job;
	const char *text = written(inquiry, constraint->span, NULL);

	if (inquiry_is_asked(inquiry, constraint))
		return;
	switch (constraint->kind) {
	case CONSTRAINT_DOMAIN:
		if (text)
			diag_note(diags, constraint->span, "only %s is allowed",
				  text);
		else
			diag_note(diags, constraint->span,
				  "the search allows no other '%s'",
				  variable_name((enum plan_variable)constraint->index));
		return;
	case CONSTRAINT_REQUIREMENT:
		if (job->requirement[constraint->index].reason)
			diag_note(diags, constraint->span, "%s is required: %s",
				  text ? text : "this",
				  job->requirement[constraint->index].reason);
		else
			diag_note(diags, constraint->span, "%s is required",
				  text ? text : "this");
		return;
	case CONSTRAINT_MEMORY:
		diag_note(diags, constraint->span,
			  "memory is limited to %s of the device's %s here",
			  bytes(inquiry, job->memory_limit_bytes),
			  bytes(inquiry, inquiry->ir->topology.device.memory_bytes));
		return;
	case CONSTRAINT_PLACE:
		diag_note(diags, constraint->span, "it must be placed so");
		return;
	case CONSTRAINT_DEVICES:
		diag_note(diags, constraint->span,
			  rule_avoids(job, constraint->index) ?
				  "these devices are avoided" :
				  "it must be on these devices");
		return;
	}
}

/* "48.0 GiB optimizer, 33.1 GiB activations, ..", largest first. */
static const char *memory_terms(struct inquiry *inquiry,
				const struct stage_memory *memory)
{
	struct {
		double bytes;
		const char *name;
	} term[] = {
		{ memory->parameters, "parameters" },
		{ memory->gradients, "gradients" },
		{ memory->optimizer, "optimizer" },
		{ memory->activations, "activations" },
		{ memory->working, "working set" },
		{ memory->reserve, "reserve" },
	};
	size_t count = sizeof(term) / sizeof(term[0]);
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	for (size_t done = 0; done < count; done++) {
		size_t largest = 0;

		for (size_t i = 1; i < count; i++)
			if (term[i].bytes > term[largest].bytes)
				largest = i;
		if (term[largest].bytes < 0.05 * 1024 * 1024 * 1024 && done)
			break;
		text_append(&text, done ? ", " : "");
		describe_bytes(term[largest].bytes, &text);
		text_printf(&text, " %s", term[largest].name);
		term[largest].bytes = -1;
	}
	return text.at;
}

static void report_memory(struct inquiry *inquiry,
			  const struct problem *problem,
			  const struct plan *nearest)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct ir_job *job = &inquiry->ir->job;
	uint32_t stage = nearest->memory_peak_stage;
	const struct stage_memory *memory = &nearest->stage[stage].memory;

	if (inquiry->idea)
		diag_error(diags, E_INFEASIBLE, inquiry->idea->span,
			   "no plan like this fits in memory: stage %u needs %s of %s, "
			   "%s too much",
			   stage, bytes(inquiry, memory->total),
			   bytes(inquiry, job->memory_limit_bytes),
			   bytes(inquiry, memory->total - job->memory_limit_bytes));
	else
		diag_error(diags, E_INFEASIBLE, job->span,
			   "no plan of job '%s' fits in memory: stage %u needs %s of %s",
			   job->name, stage, bytes(inquiry, memory->total),
			   bytes(inquiry, job->memory_limit_bytes));
	diag_note(diags, SPAN_NONE, "the nearest plan is %s",
		  degrees(inquiry, nearest, problem));
	diag_note(diags, SPAN_NONE, "its stage %u holds %s", stage,
		  memory_terms(inquiry, memory));
}

/* Without time to look, memory may be to blame as well. */
static void report_conflict(struct inquiry *inquiry, bool out_of_time)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct ir_job *job = &inquiry->ir->job;
	const char *what = out_of_time ?
				   "memory limit, requirements and search domains" :
				   "requirements and search domains";

	if (inquiry->idea)
		diag_error(diags, E_INFEASIBLE, inquiry->idea->span,
			   "no plan like this satisfies the %s of job '%s'", what,
			   job->name);
	else
		diag_error(diags, E_INFEASIBLE, job->span,
			   "no plan of job '%s' satisfies its %s together",
			   job->name, what);
}

/* What the first search counted, when asking again would take too long. */
static void report_removed(struct inquiry *inquiry,
			   const struct problem *problem,
			   const struct solve_failure *failure)
{
	const struct ir_job *job = &inquiry->ir->job;

	for (uint32_t i = 0; failure->removed_by && i < problem->requirement_count;
	     i++) {
		uint32_t source = problem->requirement[i].source;

		if (failure->removed_by[i] && source < job->requirement_count)
			diag_note(&inquiry->compilation->diags,
				  job->requirement[source].span,
				  "this requirement alone removes %llu configurations",
				  (unsigned long long)failure->removed_by[i]);
	}
}

/* Whether ZeRO 2 or 3, which are only looked at where `search` names them, would
 * do, everything else as it is. */
static bool advise_zero(struct inquiry *inquiry)
{
	bool fits;

	if (inquiry->ir->job.domain[VARIABLE_ZERO].given)
		return false;
	inquiry->every_zero = true;
	inquiry_drop_all(inquiry, false);
	fits = inquiry_ask(inquiry);
	inquiry->every_zero = false;
	if (!fits)
		return false;
	diag_help(&inquiry->compilation->diags,
		  inquiry->idea ?
			  "ZeRO 2 and 3 are only looked at where they are named: with 'zero = %u' too, "
			  "%s fits, with %s a device" :
			  "ZeRO 2 and 3 are only looked at where 'search' names them: with "
			  "'zero in { %u }' %s fits, with %s a device",
		  inquiry->result.plan.choice.zero,
		  degrees(inquiry, &inquiry->result.plan, inquiry->problem),
		  bytes(inquiry, inquiry->result.plan.memory_peak_bytes));
	return true;
}

/* With everything dropped there is still no plan. */
static void blame_hardware(struct inquiry *inquiry)
{
	const struct solve_failure *failure = &inquiry->result.failure;

	if (inquiry->problem && failure->has_nearest)
		diag_help(&inquiry->compilation->diags,
			  "give the job more or larger devices: with nothing else required, %s "
			  "still needs %s",
			  degrees(inquiry, &failure->nearest, inquiry->problem),
			  bytes(inquiry, failure->nearest.memory_peak_bytes));
}

/* Where memory is short, each constraint that alone stands in the way is one of
 * every conflicting set, and cheaper to find than a smallest set. False, with nothing
 * named, when some search ended before it knew. */
static bool explain(struct inquiry *inquiry, bool memory_is_short)
{
	struct diags *diags = &inquiry->compilation->diags;
	bool *named = ARENA_ARRAY(&inquiry->compilation->arena, bool,
				  inquiry->constraints.count);
	const char *free_plan;
	double free_bytes;

	if (memory_is_short && advise_zero(inquiry) && !inquiry->idea)
		return true;
	inquiry_drop_all(inquiry, true);
	if (!inquiry_ask(inquiry)) {
		if (!inquiry->unanswered)
			blame_hardware(inquiry);
		return !inquiry->unanswered;
	}
	free_plan = degrees(inquiry, &inquiry->result.plan, inquiry->problem);
	free_bytes = inquiry->result.plan.memory_peak_bytes;
	if (memory_is_short && inquiry_single_changes(inquiry, named))
		inquiry->unanswered = false;
	else
		inquiry_find_core(inquiry, named);
	/* What single changes do is sure all the same. */
	if (inquiry->unanswered && !memory_is_short &&
	    inquiry_single_changes(inquiry, named))
		inquiry->unanswered = false;
	if (inquiry->unanswered) {
		diag_help(diags, "without any of its requirements, place rules and search domains "
				 "the job has a plan: %s, with %s a device",
			  free_plan, bytes(inquiry, free_bytes));
		return false;
	}
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		if (named[i])
			name_constraint(inquiry, &inquiry->constraints.at[i]);
	if (advise_change(inquiry, named) ||
	    (inquiry->idea && memory_is_short && advise_several(inquiry)))
		return true;
	diag_help(diags, inquiry->unanswered ?
		  "loosen one of these; which one is enough was not found out, since a search "
		  "ended before it knew" :
		  "loosen one of these; more requirements conflict, so another "
		  "message may follow");
	return true;
}

/* Each kind of devices alone, and how far it misses. */
static void report_kinds(struct inquiry *inquiry,
			 const struct solve_failure *failure)
{
	const struct ir_topology *topology = &inquiry->ir->topology;
	struct diags *diags = &inquiry->compilation->diags;

	diag_note(diags, SPAN_NONE,
		  "this is with every device of the cluster as small as the smallest");
	for (uint32_t k = 0; k < topology->kind_count; k++) {
		const struct solve_failure *own = &failure->kind[k];
		const struct plan *nearest = &own->nearest;
		const struct ir_kind *kind = &topology->kind[k];

		if (!own->has_nearest && own->out_of_time) {
			diag_note(diags, kind->span,
				  "on '%s' alone no plan is possible; why was not found out within "
				  "the time limit",
				  kind->name);
			continue;
		}
		if (!own->has_nearest) {
			diag_note(diags, kind->span,
				  "on '%s' alone requirements and search domains leave no plan",
				  kind->name);
			continue;
		}
		diag_note(diags, kind->span,
			  "on '%s' alone stage %u needs %s of %s", kind->name,
			  nearest->memory_peak_stage,
			  bytes(inquiry, nearest->memory_peak_bytes),
			  bytes(inquiry, kind->only->job.memory_limit_bytes));
	}
	diag_help(diags, "add children, allow more recomputation or sharding, or loosen a requirement");
}

/* A rule of the target, or of an option of the job, is no constraint that could be
 * dropped. */
static void report_rules(struct inquiry *inquiry, const struct problem *problem,
			 const struct solve_failure *failure)
{
	for (uint32_t i = 0; failure->removed_by && i < problem->requirement_count;
	     i++) {
		const struct ir_requirement *requirement = problem_requirement(
			problem, problem->requirement[i].source);

		if (!failure->removed_by[i] || !requirement->rule)
			continue;
		diag_note(&inquiry->compilation->diags, requirement->span,
			  "a rule of %s stands in the way: %s",
			  span_is_nowhere(requirement->span) ? "the target" :
							       "this option",
			  requirement->rule);
	}
}

static void report(struct inquiry *inquiry, const struct problem *problem,
		   const struct solve_result *result)
{
	const struct ir *ir = inquiry->ir;

	inquiry_begin(inquiry);
	if (result->failure.has_nearest) {
		inquiry->least_bytes =
			result->failure.nearest.memory_peak_bytes;
		report_memory(inquiry, problem, &result->failure.nearest);
	} else {
		report_conflict(inquiry, result->failure.out_of_time);
		report_rules(inquiry, problem, &result->failure);
	}
	if (ir->topology.kind_count &&
	    (!inquiry->idea || inquiry->least_bytes > 0))
		report_kinds(inquiry, &result->failure);
	else if (inquiry->constraints.count > CONSTRAINTS_MAX ||
		 problem->shape_count > SHAPES_RELAXED_MAX ||
		 !explain(inquiry, result->failure.has_nearest))
		report_removed(inquiry, problem, &result->failure);
	if (inquiry->unanswered || result->failure.out_of_time)
		diag_note(&inquiry->compilation->diags, SPAN_NONE,
			  deadline_passed(inquiry->deadline) ?
				  "more about the reasons takes more time than --time-limit leaves" :
				  "which of them is in the way was not found out: a search ended before it knew");
	inquiry_end(inquiry);
}

void infeasible_report(struct compilation *compilation, const struct ir *ir,
		       const struct problem *problem,
		       const struct solve_result *result,
		       const struct deadline *deadline)
{
	struct inquiry inquiry = { .compilation = compilation, .ir = ir,
				   .deadline = deadline };

	report(&inquiry, problem, result);
}

void infeasible_report_idea(struct compilation *compilation, const struct ir *ir,
			    const struct problem *problem,
			    const struct solve_result *result,
			    const struct deadline *deadline,
			    struct infeasible_idea *idea)
{
	struct inquiry inquiry = { .compilation = compilation, .ir = ir,
				   .idea = idea, .deadline = deadline };

	idea->without = NULL;
	report(&inquiry, problem, result);
}

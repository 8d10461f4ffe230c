/* SPDX-License-Identifier: MIT
 *
 * Explains an infeasible job by asking the solver again with constraints left
 * out: a smallest set that cannot hold together is found by dropping one after
 * the other, and the advice given is a single change that was solved and found
 * to work.
 */
#include "compiler/infeasible_internal.h"

#include "compiler/describe.h"
#include "compiler/problem_from_ir.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

/* Asking again costs a search each time; beyond these sizes only what the
 * first search counted is said. */
#define CONSTRAINTS_MAX 48
#define SHAPES_RELAXED_MAX 8192

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
	const char *text = inquiry_written(inquiry, constraint->span, NULL);

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
			  inquiry_bytes(inquiry, job->memory_limit_bytes),
			  inquiry_bytes(inquiry, inquiry->ir->topology.device.memory_bytes));
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
			   stage, inquiry_bytes(inquiry, memory->total),
			   inquiry_bytes(inquiry, job->memory_limit_bytes),
			   inquiry_bytes(inquiry, memory->total - job->memory_limit_bytes));
	else
		diag_error(diags, E_INFEASIBLE, job->span,
			   "no plan of job '%s' fits in memory: stage %u needs %s of %s",
			   job->name, stage, inquiry_bytes(inquiry, memory->total),
			   inquiry_bytes(inquiry, job->memory_limit_bytes));
	diag_note(diags, SPAN_NONE, "the nearest plan is %s",
		  inquiry_degrees(inquiry, nearest, problem));
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

/* With everything dropped there is still no plan. */
static void blame_hardware(struct inquiry *inquiry)
{
	const struct solve_failure *failure = &inquiry->result.failure;

	if (inquiry->problem && failure->has_nearest)
		diag_help(&inquiry->compilation->diags,
			  "give the job more or larger devices: with nothing else required, %s "
			  "still needs %s",
			  inquiry_degrees(inquiry, &failure->nearest, inquiry->problem),
			  inquiry_bytes(inquiry, failure->nearest.memory_peak_bytes));
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

	if (memory_is_short && infeasible_advise_zero(inquiry) && !inquiry->idea)
		return true;
	inquiry_drop_all(inquiry, true);
	if (!inquiry_ask(inquiry)) {
		if (!inquiry->unanswered)
			blame_hardware(inquiry);
		return !inquiry->unanswered;
	}
	free_plan = inquiry_degrees(inquiry, &inquiry->result.plan, inquiry->problem);
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
			  free_plan, inquiry_bytes(inquiry, free_bytes));
		return false;
	}
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		if (named[i])
			name_constraint(inquiry, &inquiry->constraints.at[i]);
	if (infeasible_advise_change(inquiry, named) ||
	    (inquiry->idea && memory_is_short && infeasible_advise_several(inquiry)))
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
			  inquiry_bytes(inquiry, nearest->memory_peak_bytes),
			  inquiry_bytes(inquiry, kind->only->job.memory_limit_bytes));
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

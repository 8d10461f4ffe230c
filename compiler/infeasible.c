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
#include "compiler/problem_from_ir.h"
#include "compiler/variable.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"

/* Asking again costs a search each time; beyond these sizes only what the
 * first search counted is said. */
#define CONSTRAINTS_MAX 48
#define SHAPES_RELAXED_MAX 8192

enum constraint_kind {
	CONSTRAINT_DOMAIN,		/* `tensor in { .. }` */
	CONSTRAINT_REQUIREMENT,
	CONSTRAINT_MEMORY,		/* a limit below the device's memory */
	CONSTRAINT_PLACE,		/* `tensor within node` */
	CONSTRAINT_DEVICES		/* `avoid node[17]`, `stage[0] in rack[0]` */
};

struct constraint {
	enum constraint_kind kind;
	uint32_t index;			/* plan variable, requirement, dimension, or the
					 * number of a place rule */
	struct span span;
	bool dropped;			/* while asking */
};

struct inquiry {
	struct compilation *compilation;
	const struct ir *ir;
	VEC(struct constraint) constraints;
	struct arena arena;		/* of the last answer */
	struct problem *problem;
	struct solve_result result;
	double least_bytes;		/* that the nearest plan needs */
	const struct deadline *deadline;
	bool unanswered;		/* a search ended before it knew */
};

static void collect(struct inquiry *inquiry)
{
	struct arena *arena = &inquiry->compilation->arena;
	const struct ir_job *job = &inquiry->ir->job;

	for (uint32_t i = 0; i <= VARIABLE_DEVICES; i++) {
		struct constraint constraint = { .kind = CONSTRAINT_DOMAIN,
						 .index = i,
						 .span = job->domain[i].span };

		if (job->domain[i].given)
			VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	for (uint32_t i = 0; i < job->requirement_count; i++) {
		struct constraint constraint = {
			.kind = CONSTRAINT_REQUIREMENT,
			.index = i,
			.span = job->requirement[i].span,
		};

		VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		struct constraint constraint = { .kind = CONSTRAINT_PLACE,
						 .index = i,
						 .span = job->within_span[i] };

		if (job->within[i])
			VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	for (uint32_t i = 0; i < job->place_count; i++) {
		struct constraint constraint = { .kind = CONSTRAINT_DEVICES,
						 .index = job->place[i].rule,
						 .span = job->place[i].span };

		if (!i || job->place[i].rule != job->place[i - 1].rule)
			VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	if (job->memory_limit_bytes < inquiry->ir->topology.device.memory_bytes) {
		struct constraint constraint = { .kind = CONSTRAINT_MEMORY,
						 .span = job->memory_limit_span };

		VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
}

/* Leaves out what one place rule says. */
static void drop_rule(struct ir_job *job, uint32_t rule)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->place_count; i++)
		if (job->place[i].rule != rule)
			job->place[kept++] = job->place[i];
	job->place_count = kept;
}

/* The program without the constraints that are dropped. */
static struct ir *relaxed(struct inquiry *inquiry)
{
	struct arena *arena = &inquiry->compilation->arena;
	const struct ir_job *job = &inquiry->ir->job;
	struct ir *ir = ARENA_NEW(arena, struct ir);
	struct ir_requirement *requirement = ARENA_ARRAY(
		arena, struct ir_requirement, job->requirement_count);
	uint32_t kept = 0;

	*ir = *inquiry->ir;
	ir->job.requirement = requirement;
	ir->job.place = ARENA_ARRAY(arena, struct ir_place, job->place_count);
	for (uint32_t i = 0; i < job->place_count; i++)
		ir->job.place[i] = job->place[i];
	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		const struct constraint *constraint =
			&inquiry->constraints.at[i];

		if (constraint->kind == CONSTRAINT_REQUIREMENT) {
			if (constraint->dropped)
				continue;
			requirement[kept] = job->requirement[constraint->index];
			requirement[kept].predicate.source = kept;
			kept++;
		} else if (constraint->dropped &&
			   constraint->kind == CONSTRAINT_DOMAIN) {
			ir->job.domain[constraint->index].given = false;
			ir->job.domain[constraint->index].count = 0;
		} else if (constraint->dropped &&
			   constraint->kind == CONSTRAINT_PLACE) {
			ir->job.within[constraint->index] = 0;
		} else if (constraint->dropped &&
			   constraint->kind == CONSTRAINT_DEVICES) {
			drop_rule(&ir->job, constraint->index);
		} else if (constraint->dropped) {
			ir->job.memory_limit_bytes =
				ir->topology.device.memory_bytes;
		}
	}
	ir->job.requirement_count = kept;
	return ir;
}

/* Solves without the dropped constraints. What the compiler would report on
 * the way is of no interest here. */
static enum solve_status ask(struct inquiry *inquiry)
{
	/* Any plan will do. */
	struct solve_limits limits = { .gap = 0.9,
				       .deadline = *inquiry->deadline };
	struct diags saved = inquiry->compilation->diags;

	arena_release(&inquiry->arena);
	arena_init(&inquiry->arena);
	inquiry->problem =
		problem_from_ir(inquiry->compilation, relaxed(inquiry));
	inquiry->compilation->diags = saved;
	if (!inquiry->problem)
		return SOLVE_UNKNOWN;
	memset(&inquiry->result, 0, sizeof(inquiry->result));
	solve(inquiry->problem, &limits, &inquiry->arena, &inquiry->result);
	inquiry->unanswered |= inquiry->result.status == SOLVE_UNKNOWN;
	return inquiry->result.status;
}

static bool found(enum solve_status status)
{
	return status == SOLVE_OPTIMAL || status == SOLVE_FEASIBLE;
}

static void set_all(struct inquiry *inquiry, bool dropped)
{
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		inquiry->constraints.at[i].dropped = dropped;
}

/* Leaves `dropped` false for the members of a smallest conflicting set. */
static void shrink(struct inquiry *inquiry)
{
	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		inquiry->constraints.at[i].dropped = true;
		inquiry->constraints.at[i].dropped =
			!found(ask(inquiry));
	}
}

/* How welcome a change is: settings before wishes, wishes before limits. */
static int reluctance(const struct constraint *constraint)
{
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

static void advise_domain(struct inquiry *inquiry, enum plan_variable variable)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct plan *plan = &inquiry->result.plan;
	const char *name = variable_name(variable);
	const char *choice = degrees(inquiry, plan, inquiry->problem);
	uint32_t value = variable_of_plan(variable, inquiry->problem, plan);
	const char *peak = bytes(inquiry, plan->memory_peak_bytes);

	if (variable == VARIABLE_RECOMPUTE)
		diag_help(diags, "allow 'recompute in { %s }': then %s fits, with %s a device",
			  recompute_name((enum recompute)value), choice, peak);
	else if (variable == VARIABLE_SEQUENCE)
		diag_help(diags, "allow 'sequence in { %s }': then %s fits, with %s a device",
			  value ? "on" : "off", choice, peak);
	else
		diag_help(diags, "allow '%s in { %u }': then %s fits, with %s a device",
			  name, value, choice, peak);
}

/* A requirement as it is written, or "that requirement" when it is long. */
static const char *written(struct inquiry *inquiry, struct span span)
{
	struct compilation *compilation = inquiry->compilation;
	const char *text;

	if (span_is_nowhere(span) || span.end - span.begin > 60)
		return "that requirement";
	text = compilation->sources.at[span.file]->bytes + span.begin;
	if (memchr(text, '\n', span.end - span.begin))
		return "that requirement";
	return arena_printf(&compilation->arena, "'%.*s'",
			    (int)(span.end - span.begin), text);
}

static void advise(struct inquiry *inquiry, const struct constraint *constraint)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct plan *plan = &inquiry->result.plan;

	switch (constraint->kind) {
	case CONSTRAINT_DOMAIN:
		advise_domain(inquiry, (enum plan_variable)constraint->index);
		return;
	case CONSTRAINT_REQUIREMENT:
	case CONSTRAINT_PLACE:
	case CONSTRAINT_DEVICES:
		diag_help(diags, "without %s a plan exists: %s, with %s a device",
			  written(inquiry, constraint->span),
			  degrees(inquiry, plan, inquiry->problem),
			  bytes(inquiry, plan->memory_peak_bytes));
		return;
	case CONSTRAINT_MEMORY:
		diag_help(diags, "a limit of %s would do, or devices with more memory",
			  bytes(inquiry, inquiry->least_bytes > 0 ?
						 inquiry->least_bytes :
						 plan->memory_peak_bytes));
		return;
	}
}

/* A single change that works, of those in the conflicting set. */
static bool advise_change(struct inquiry *inquiry, const bool *in_core)
{
	for (int rank = 0; rank <= 4; rank++) {
		for (size_t i = 0; i < inquiry->constraints.count; i++) {
			struct constraint *constraint =
				&inquiry->constraints.at[i];

			if (!in_core[i] || reluctance(constraint) != rank)
				continue;
			set_all(inquiry, false);
			constraint->dropped = true;
			if (!found(ask(inquiry)))
				continue;
			advise(inquiry, constraint);
			return true;
		}
	}
	return false;
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

	switch (constraint->kind) {
	case CONSTRAINT_DOMAIN:
		diag_note(diags, constraint->span,
			  "the search allows no other '%s'",
			  variable_name((enum plan_variable)constraint->index));
		return;
	case CONSTRAINT_REQUIREMENT:
		if (job->requirement[constraint->index].reason)
			diag_note(diags, constraint->span, "this is required: %s",
				  job->requirement[constraint->index].reason);
		else
			diag_note(diags, constraint->span, "this is required");
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
	const struct ir_job *job = &inquiry->ir->job;

	diag_error(&inquiry->compilation->diags, E_INFEASIBLE, job->span,
		   out_of_time ?
			   "no plan of job '%s' satisfies its memory limit, requirements and search domains together" :
			   "no plan of job '%s' satisfies its requirements and search domains together",
		   job->name);
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
			  degrees(inquiry, &failure->nearest, inquiry->problem),
			  bytes(inquiry, failure->nearest.memory_peak_bytes));
}

/* Marks the constraints without which, the others kept, a plan exists. */
static bool find_single_changes(struct inquiry *inquiry, bool *helps)
{
	bool any = false;

	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		set_all(inquiry, false);
		inquiry->constraints.at[i].dropped = true;
		helps[i] = found(ask(inquiry));
		any |= helps[i];
	}
	return any;
}

static void find_core(struct inquiry *inquiry, bool *in_core)
{
	set_all(inquiry, false);
	shrink(inquiry);
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		in_core[i] = !inquiry->constraints.at[i].dropped;
}

/* Where memory is short, each constraint that alone stands in the way is one of
 * every conflicting set, and cheaper to find than a smallest set. False, with nothing
 * named, when some search ended before it knew. */
static bool explain(struct inquiry *inquiry, bool memory_is_short)
{
	struct diags *diags = &inquiry->compilation->diags;
	bool *named = ARENA_ARRAY(&inquiry->compilation->arena, bool,
				  inquiry->constraints.count);

	set_all(inquiry, true);
	if (!found(ask(inquiry))) {
		if (!inquiry->unanswered)
			blame_hardware(inquiry);
		return !inquiry->unanswered;
	}
	if (!memory_is_short || !find_single_changes(inquiry, named))
		find_core(inquiry, named);
	if (inquiry->unanswered)
		return false;
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		if (named[i])
			name_constraint(inquiry, &inquiry->constraints.at[i]);
	if (!advise_change(inquiry, named))
		diag_help(diags, inquiry->unanswered ?
			  "loosen one of these; which one is enough was not found out within the "
			  "time limit" :
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

void infeasible_report(struct compilation *compilation, const struct ir *ir,
		       const struct problem *problem,
		       const struct solve_result *result,
		       const struct deadline *deadline)
{
	struct inquiry inquiry = { .compilation = compilation, .ir = ir,
				   .deadline = deadline };

	arena_init(&inquiry.arena);
	collect(&inquiry);
	if (result->failure.has_nearest) {
		inquiry.least_bytes =
			result->failure.nearest.memory_peak_bytes;
		report_memory(&inquiry, problem, &result->failure.nearest);
	} else {
		report_conflict(&inquiry, result->failure.out_of_time);
	}
	if (ir->topology.kind_count)
		report_kinds(&inquiry, &result->failure);
	else if (inquiry.constraints.count > CONSTRAINTS_MAX ||
		 problem->shape_count > SHAPES_RELAXED_MAX ||
		 !explain(&inquiry, result->failure.has_nearest))
		report_removed(&inquiry, problem, &result->failure);
	if (inquiry.unanswered || result->failure.out_of_time)
		diag_note(&compilation->diags, SPAN_NONE,
			  "more about the reasons takes more time than --time-limit leaves");
	arena_release(&inquiry.arena);
}

/* SPDX-License-Identifier: MIT
 *
 * Fixing variables, and asking the solver once a plan.
 */
#include "compiler/hand_plan.h"

#include <string.h>

#include "compiler/describe.h"
#include "compiler/problem_from_ir.h"
#include "lang/compilation.h"

static bool same_span(struct span a, struct span b)
{
	return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

/* `variable is one of these`. */
static struct predicate predicate_member(struct arena *arena,
					 enum plan_variable variable,
					 const struct ir_domain *domain)
{
	struct predicate_step *step = ARENA_ARRAY(arena, struct predicate_step,
						  4 * (size_t)domain->count);
	uint32_t at = 0;

	for (uint32_t i = 0; i < domain->count; i++) {
		step[at++] = (struct predicate_step){ .op = PREDICATE_VARIABLE,
						      .variable = variable };
		step[at++] = (struct predicate_step){ .op = PREDICATE_CONSTANT,
						      .number = domain->at[i] };
		step[at++] = (struct predicate_step){ .op = PREDICATE_EQUAL };
		if (i)
			step[at++] = (struct predicate_step){
				.op = PREDICATE_OR };
	}
	return (struct predicate){ .step = step, .step_count = at };
}

/* Variables that a domain alone does not keep to a value: micro_batches follows from
 * others, and the rest have a value of their own where they mean nothing. */
static const enum plan_variable kept_by_requirement[] = {
	VARIABLE_MICRO_BATCHES, VARIABLE_RECOMPUTE_LAYERS, VARIABLE_SCHEDULE,
	VARIABLE_SHARD_LEVEL,
};

#define KEPT_COUNT (sizeof(kept_by_requirement) / sizeof(*kept_by_requirement))

/* The job's requirements without the one that its search made of a domain of
 * micro_batches that the plan replaces, and what keeps the plan's values. */
static void fix_requirements(struct arena *arena, struct ir_job *job,
			     const struct ir_plan *plan)
{
	const struct ir_domain *old = &job->domain[VARIABLE_MICRO_BATCHES];
	bool replaced = old->given && plan->domain[VARIABLE_MICRO_BATCHES].given;
	struct ir_requirement *all =
		ARENA_ARRAY(arena, struct ir_requirement,
			    job->requirement_count + KEPT_COUNT);
	uint32_t count = 0;

	for (uint32_t i = 0; i < job->requirement_count; i++)
		if (!replaced ||
		    !same_span(job->requirement[i].span, old->span))
			all[count++] = job->requirement[i];
	for (size_t i = 0; i < KEPT_COUNT; i++) {
		enum plan_variable variable = kept_by_requirement[i];
		const struct ir_domain *domain = &plan->domain[variable];

		if (domain->given)
			all[count++] = (struct ir_requirement){
				.predicate = predicate_member(arena, variable,
							      domain),
				.span = domain->span,
			};
	}
	for (uint32_t i = 0; i < count; i++)
		all[i].predicate.source = i;
	job->requirement = all;
	job->requirement_count = count;
}

/* A search of layers to recompute says nothing about a plan that recomputes none
 * whole. */
static void settle_recompute(struct ir_job *job, const struct ir_plan *plan)
{
	if (plan->domain[VARIABLE_RECOMPUTE].given &&
	    !plan->domain[VARIABLE_RECOMPUTE_LAYERS].given &&
	    !ir_domain_allows(&plan->domain[VARIABLE_RECOMPUTE],
			      RECOMPUTE_FULL))
		job->domain[VARIABLE_RECOMPUTE_LAYERS].given = false;
}

struct ir *hand_plan_apply(struct arena *arena, const struct ir *ir,
			   const struct ir_plan *plan)
{
	struct ir *fixed = ARENA_NEW(arena, struct ir);
	struct ir_topology *topology = &fixed->topology;

	*fixed = *ir;
	fixed->job.is_fixed = true;
	fix_requirements(arena, &fixed->job, plan);
	for (uint32_t i = 0; i <= VARIABLE_DEVICES; i++)
		if (plan->domain[i].given)
			fixed->job.domain[i] = plan->domain[i];
	settle_recompute(&fixed->job, plan);
	topology->kind = ARENA_ARRAY(arena, struct ir_kind, topology->kind_count);
	for (uint32_t k = 0; k < topology->kind_count; k++) {
		topology->kind[k] = ir->topology.kind[k];
		topology->kind[k].only = hand_plan_apply(
			arena, ir->topology.kind[k].only, plan);
	}
	return fixed;
}

static bool report_unknown(struct compilation *compilation,
			   const struct ir_job *job, const char *name)
{
	struct diags *diags = &compilation->diags;
	struct text list;

	diag_error(diags, E_UNKNOWN_PLAN, job->span,
		   "job '%s' has no plan '%s'", job->name, name);
	if (!job->plan_count) {
		diag_help(diags, "add 'plan %s { tensor = .. }' to it", name);
		return false;
	}
	text_init(&list, &compilation->arena);
	for (uint32_t i = 0; i < job->plan_count; i++)
		text_printf(&list, "%s'%s'", i ? ", " : "", job->plan[i].name);
	diag_help(diags, "its plans are %s", list.at);
	return false;
}

struct ir *hand_plan_fix(struct compilation *compilation, const struct ir *ir,
			 const char *name)
{
	for (uint32_t i = 0; i < ir->job.plan_count; i++)
		if (strcmp(ir->job.plan[i].name, name) == 0)
			return hand_plan_apply(&compilation->arena, ir,
					       &ir->job.plan[i]);
	report_unknown(compilation, &ir->job, name);
	return NULL;
}

/* ---- comparing ---- */

/* The requirement that stands in the way, as written. */
static const char *broken_requirement(struct compilation *compilation,
				      const struct problem *problem,
				      const struct solve_failure *failure)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		const struct ir_requirement *requirement;
		const struct source *source;
		struct span span;

		if (!failure->removed_by || !failure->removed_by[i])
			continue;
		requirement = problem_requirement(
			problem, problem->requirement[i].source);
		span = requirement->span;
		if (requirement->rule)
			return requirement->rule;
		if (requirement->reason)
			return requirement->reason;
		if (span_is_nowhere(span) || span.end - span.begin > 50)
			break;
		source = compilation->sources.at[span.file];
		return arena_printf(&compilation->arena, "against '%.*s'",
				    (int)(span.end - span.begin),
				    source->bytes + span.begin);
	}
	return "against the job's requirements";
}

static const char *why_impossible(struct compilation *compilation,
				  const struct ir *ir,
				  const struct problem *problem,
				  const struct solve_failure *failure)
{
	struct text text;

	if (!failure->has_nearest)
		return broken_requirement(compilation, problem, failure);
	text_init(&text, &compilation->arena);
	text_append(&text, "needs ");
	describe_bytes(failure->nearest.memory_peak_bytes, &text);
	text_append(&text, " of ");
	describe_bytes(ir->job.memory_limit_bytes, &text);
	return text.at;
}

static void price(struct compilation *compilation, const struct ir *ir,
		  const struct solve_limits *limits, struct rival *rival)
{
	struct diags saved = compilation->diags;
	const struct problem *problem = problem_from_ir(compilation, ir);
	struct solve_result result = { 0 };
	struct text text;

	if (!problem) {
		/* What was reported is the reason, and no error here. */
		rival->about = compilation->diags.last ?
				       compilation->diags.last->message :
				       "impossible";
		compilation->diags = saved;
		return;
	}
	compilation->diags = saved;
	switch (solve(problem, limits, &compilation->arena, &result)) {
	case SOLVE_OPTIMAL:
	case SOLVE_FEASIBLE:
		rival->is_possible = true;
		rival->value = result.plan.certificate.value;
		rival->time_s = result.plan.time_s;
		rival->memory_bytes = result.plan.memory_peak_bytes;
		text_init(&text, &compilation->arena);
		describe_choice(problem, &result.plan, &text);
		rival->about = text.at;
		return;
	case SOLVE_INFEASIBLE:
		rival->about = why_impossible(compilation, ir, problem,
					      &result.failure);
		return;
	case SOLVE_UNKNOWN:
		rival->about = "not priced within the time limit";
		return;
	case SOLVE_UNROUTED:
		rival->about = "its requirements do not hold on the graph";
		return;
	}
}

struct rival *hand_plan_compare(struct compilation *compilation,
				const struct ir *ir,
				const struct solve_limits *limits)
{
	const struct ir_job *job = &ir->job;
	struct rival *rival = ARENA_ARRAY(&compilation->arena, struct rival,
					  job->plan_count);

	for (uint32_t i = 0; i < job->plan_count; i++) {
		rival[i].name = job->plan[i].name;
		price(compilation,
		      hand_plan_apply(&compilation->arena, ir, &job->plan[i]),
		      limits, &rival[i]);
	}
	return rival;
}

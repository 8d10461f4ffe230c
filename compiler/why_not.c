/* SPDX-License-Identifier: MIT
 *
 * Reads an idea, and answers it: the job is searched again with the idea fixed.
 */
#include "compiler/why_not.h"

#include <string.h>

#include "compiler/describe.h"
#include "compiler/hand_plan.h"
#include "compiler/infeasible.h"
#include "compiler/problem_from_ir.h"
#include "lang/compilation.h"
#include "lang/parse.h"

#define IDEA_SOURCE "<command line: --why-not>"

bool idea_read(struct compilation *compilation, const struct module *module,
	       const char *job, const char *text, struct idea *idea)
{
	uint32_t file = sources_add(&compilation->sources, IDEA_SOURCE,
				    IDEA_SOURCE, text, strlen(text), false);
	const struct ast *items = parse_items(compilation, file);

	*idea = (struct idea){ .text = text };
	if (!items)
		return false;
	if (!items->child_count) {
		cli_complain("--why-not names nothing: write for instance --why-not 'tensor = 8, pipeline = 4'");
		return false;
	}
	idea->span = items->span;
	return lower_idea(compilation, module, job, items, &idea->plan);
}

/* ---- what the search leaves out ---- */

/* A value that counts for nothing where `search` does not name the variable. */
static bool is_unnamed(const struct why_not *answer, enum plan_variable variable)
{
	const struct answer *asked = &answer->asked;
	uint32_t value = variable_of_plan(variable, asked->problem, &asked->plan);

	switch (variable) {
	case VARIABLE_ZERO:
		return !answer->chosen.problem->zero[value];
	case VARIABLE_SHARD_LEVEL:
		return value > 0;
	case VARIABLE_RECOMPUTE_LAYERS:
		return asked->plan.choice.recompute_layers > 0;
	case VARIABLE_SCHEDULE:
		return value == SCHEDULE_GPIPE;
	case VARIABLE_EXPERT_TENSOR:
		return variable_of_plan(VARIABLE_TENSOR, asked->problem,
					&asked->plan) % value;
	default:
		return false;
	}
}

bool why_not_excluded(const struct why_not *answer, enum plan_variable variable,
		      struct span *span)
{
	const struct ir_domain *domain =
		&answer->chosen.ir->job.domain[variable];
	const struct answer *asked = &answer->asked;

	*span = SPAN_NONE;
	if (!answer->idea->plan.domain[variable].given)
		return false;
	if (!domain->given)
		return is_unnamed(answer, variable);
	*span = domain->span;
	return !ir_domain_allows(domain, variable_of_plan(variable, asked->problem,
							  &asked->plan));
}

/* ---- answering ---- */

/* Whether the chosen plan is as the idea wants it. */
static bool is_chosen(const struct why_not *answer)
{
	const struct answer *chosen = &answer->chosen;

	for (int i = 0; i <= VARIABLE_DEVICES; i++) {
		enum plan_variable variable = (enum plan_variable)i;

		if (!ir_domain_allows(&answer->idea->plan.domain[i],
				      variable_of_plan(variable, chosen->problem,
						       &chosen->plan)))
			return false;
	}
	return true;
}

/* What is reported from now on until take_reasons is part of the answer. */
static void take_reasons(struct why_not *answer, const struct diags *before)
{
	struct diags *diags = &answer->compilation->diags;
	size_t count = diags->count - before->count;
	struct diagnostic **reason = ARENA_ARRAY(
		&answer->compilation->arena, struct diagnostic *,
		answer->reason_count + count);

	for (size_t i = 0; i < answer->reason_count; i++)
		reason[i] = answer->reason[i];
	for (size_t i = 0; i < count; i++)
		if (diags->at[before->count + i]->severity == DIAG_ERROR)
			reason[answer->reason_count++] =
				diags->at[before->count + i];
	answer->reason = reason;
	*diags = *before;
}

/* The best plan of a program. A plan that the checkers refuse is a fault. */
static enum status find(const struct cli *cli, const struct solve_limits *limits,
			struct why_not *answer, const struct ir *ir,
			struct pipeline *found)
{
	struct compilation *compilation = answer->compilation;
	struct diags before = compilation->diags;

	*found = (struct pipeline){ .ir = (struct ir *)ir,
				    .strategy = STRATEGY_NEST };
	found->problem = problem_from_ir(compilation, ir);
	take_reasons(answer, &before);
	if (!found->problem)
		return STATUS_SPEC;
	pipeline_solve(cli, compilation, limits, found);
	if (found->result.status != SOLVE_OPTIMAL &&
	    found->result.status != SOLVE_FEASIBLE)
		return STATUS_NO_PLAN;
	answer->asked = (struct answer){ .ir = ir, .problem = found->problem,
					 .plan = found->result.plan };
	return pipeline_check(compilation, found);
}

/* Why there is no plan, and the best one without what keeps it out. */
static enum status explain(const struct cli *cli,
			   const struct solve_limits *limits,
			   struct why_not *answer,
			   const struct pipeline *failed)
{
	struct compilation *compilation = answer->compilation;
	struct infeasible_idea idea = { .ir = answer->chosen.ir,
					.span = answer->idea->span };
	struct diags before = compilation->diags;
	struct pipeline without;
	enum status status;

	if (failed->result.status == SOLVE_UNKNOWN) {
		answer->outcome = WHY_NOT_UNKNOWN;
		return STATUS_DONE;
	}
	if (failed->result.status == SOLVE_UNROUTED)
		diag_error(&compilation->diags, E_GRAPH_PLAN, idea.span,
			   "no plan like this that was priced on the graph '%s' keeps the requirements",
			   failed->ir->topology.name);
	else
		infeasible_report_idea(compilation, failed->ir, failed->problem,
				       &failed->result, &limits->deadline,
				       &idea);
	take_reasons(answer, &before);
	if (!idea.without)
		return STATUS_DONE;
	status = find(cli, limits, answer, idea.without, &without);
	answer->has_without = status == STATUS_DONE;
	return status == STATUS_FAULT ? status : STATUS_DONE;
}

enum status why_not_answer(const struct cli *cli,
			   struct compilation *compilation,
			   const struct pipeline *pipeline,
			   const struct idea *idea, struct why_not *answer)
{
	struct solve_limits limits = pipeline_limits(cli);
	struct pipeline found;
	enum status status;

	*answer = (struct why_not){
		.compilation = compilation,
		.idea = idea,
		.chosen = { .ir = pipeline->ir, .problem = pipeline->problem,
			    .plan = pipeline->result.plan },
		.outcome = WHY_NOT_CHOSEN,
	};
	if (is_chosen(answer))
		return STATUS_DONE;
	status = find(cli, &limits, answer,
		      hand_plan_apply(&compilation->arena, pipeline->ir,
				      &idea->plan),
		      &found);
	answer->outcome = status == STATUS_DONE ? WHY_NOT_FOUND :
						  WHY_NOT_IMPOSSIBLE;
	if (status != STATUS_NO_PLAN)
		return status == STATUS_FAULT ? status : STATUS_DONE;
	return explain(cli, &limits, answer, &found);
}

const char *why_not_place(const struct why_not *answer, struct span span)
{
	const struct source *source =
		answer->compilation->sources.at[span.file];
	struct place at = source_place(source, span.begin);

	return arena_printf(&answer->compilation->arena, "%s:%u:%u",
			    source->name, at.line, at.column);
}

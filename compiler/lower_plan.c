/* SPDX-License-Identifier: MIT
 *
 * Plans written by hand: `plan mine { tensor = 8 }`. Each variable it gives is
 * a domain of one value; the others stay free.
 */
#include "compiler/lower.h"

#include <string.h>

static bool plan_item(struct lower *lower, const struct ast *item,
		      struct ir_plan *plan)
{
	struct value value, list = { .kind = VALUE_LIST };
	enum plan_variable variable;
	struct ir_domain *domain;

	if (item->kind == AST_ERROR)
		return false;
	if (item->kind != AST_FIELD) {
		diag_error(lower->diags, E_SEARCH_VARIABLE, item->span,
			   "a plan gives values to plan variables, and this is a %s",
			   item->kind == AST_IN ? "domain" :
						  ast_kind_name(item->kind));
		diag_help(lower->diags, "write for instance: tensor = 8");
		return false;
	}
	if (!lower_variable(lower, item, &variable))
		return false;
	domain = &plan->domain[variable];
	if (domain->given) {
		diag_error(lower->diags, E_JOB_TWICE, item->name_span,
			   "'%s' is given twice", item->name);
		diag_label(lower->diags, domain->span, "given here first");
		return false;
	}
	if (!eval_expression(&lower->eval, lower->scope, item->child[0], &value))
		return false;
	list.item = &value;
	list.item_count = 1;
	list.span = item->child[0]->span;
	domain->span = item->span;
	domain->given = lower_domain_elements(lower, item, variable, &list, 1,
					      domain);
	return domain->given;
}

static bool is_new_name(struct lower *lower, const struct ast *label,
			uint32_t count)
{
	const struct ir_plan *plan = lower->ir->job.plan;

	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(plan[i].name, label->name))
			continue;
		diag_error(lower->diags, E_JOB_TWICE, label->span,
			   "there are two plans '%s'", label->name);
		diag_label(lower->diags, plan[i].span, "the first is here");
		return false;
	}
	return true;
}

static bool lower_plan(struct lower *lower, const struct ast *block)
{
	const struct ast *label = block->child[0], *items = block->child[1];
	struct ir_job *job = &lower->ir->job;
	struct ir_plan *plan = &job->plan[job->plan_count];
	bool good = is_new_name(lower, label, job->plan_count);

	plan->name = label->name;
	plan->span = label->span;
	job->plan_count++;
	for (uint32_t i = 0; i < items->child_count; i++)
		good = plan_item(lower, items->child[i], plan) && good;
	return good;
}

bool lower_plans(struct lower *lower)
{
	const struct ast *body = lower_body(lower->job);
	bool good = true;

	lower->ir->job.plan = ARENA_ARRAY(lower->arena, struct ir_plan,
					  body->child_count);
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind == AST_NAMED_BLOCK && !strcmp(item->name, "plan"))
			good = lower_plan(lower, item) && good;
	}
	return good;
}

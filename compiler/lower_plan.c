/* SPDX-License-Identifier: MIT
 *
 * Plans written by hand: `plan mine { tensor = 8 }`. Each variable it gives is
 * a domain of one value; the others stay free. An idea is a plan that stands
 * outside the spec, and may give a variable several values: `tensor in { 4, 8 }`.
 */
#include "compiler/lower.h"

#include <string.h>

#include "lang/module.h"

/* Values of micro_batches in an idea: each is a term of a requirement. */
#define MICRO_BATCHES_MAX 1000

/* A name that is no value of a variable that has names for values. */
static bool is_unknown_symbol(struct lower *lower, const struct ast *item,
			      enum plan_variable variable)
{
	const struct ast *value = item->child[0];
	uint32_t number;

	return variable_symbols(variable) && value->kind == AST_NAME &&
	       !variable_symbol(variable, value->name, &number) &&
	       !scope_find(lower->scope, value->name);
}

/* `tensor = 8` as a domain of one value. */
static bool fixed_value(struct lower *lower, const struct ast *item,
			enum plan_variable variable, struct ir_domain *domain)
{
	struct value value, list = { .kind = VALUE_LIST };

	if (is_unknown_symbol(lower, item, variable))
		return diag_error(lower->diags, E_SEARCH_VALUE,
				  item->child[0]->span,
				  "'%s' cannot be '%s': it must be %s",
				  item->name, item->child[0]->name,
				  variable_symbols(variable));
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

/* An item of a plan, or, where `several` are allowed, of an idea. */
static bool plan_item(struct lower *lower, const struct ast *item, bool several,
		      struct ir_plan *plan)
{
	enum plan_variable variable;
	struct ir_domain *domain;

	if (item->kind == AST_ERROR)
		return false;
	if (item->kind != AST_FIELD && !(several && item->kind == AST_IN)) {
		if (item->kind == AST_ITEM)
			diag_error(lower->diags, E_SEARCH_VARIABLE, item->span,
				   "a plan gives values to plan variables, with '=' between the two");
		else
			diag_error(lower->diags, E_SEARCH_VARIABLE, item->span,
				   "a plan gives values to plan variables, and this is %s",
				   item->kind == AST_IN ? "a domain" :
					   ast_a_kind(item->kind));
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
	if (item->kind == AST_FIELD)
		return fixed_value(lower, item, variable, domain);
	if (!lower_domain(lower, item, variable, domain))
		return false;
	if (variable != VARIABLE_MICRO_BATCHES ||
	    domain->count <= MICRO_BATCHES_MAX)
		return true;
	return diag_error(lower->diags, E_SEARCH_VALUE, item->child[0]->span,
			  "'micro_batches' can be one of at most %d values here",
			  MICRO_BATCHES_MAX);
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
		good = plan_item(lower, items->child[i], false, plan) && good;
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

bool lower_idea(struct compilation *compilation, const struct module *module,
		const char *job_name, const struct ast *items,
		struct ir_plan *plan)
{
	struct lower lower = {
		.compilation = compilation,
		.arena = &compilation->arena,
		.diags = &compilation->diags,
		.module = module,
		.job = module_find_job(compilation, module, job_name),
	};
	bool good = true;

	*plan = (struct ir_plan){ .span = items->span };
	if (!lower.job)
		return false;
	eval_init(&lower.eval, compilation);
	lower.ir = ARENA_NEW(lower.arena, struct ir);
	lower.scope = scope_new(lower.arena, module->scope);
	if (!lower_job_fields(&lower) || !lower_topology(&lower))
		return false;
	for (uint32_t i = 0; i < items->child_count && good; i++)
		good = plan_item(&lower, items->child[i], true, plan);
	return good;
}

/* SPDX-License-Identifier: MIT
 *
 * What a job minimises, in order: time, cost, devices, energy. Nothing said
 * means time.
 */
#include <string.h>

#include "compiler/lower.h"

#define OBJECTIVES_MAX 4

static bool check_objective(struct lower *lower, const struct ast *expression,
			    enum plan_variable variable)
{
	const struct ir_device *device = &lower->ir->topology.device;
	const char *missing = NULL;

	/* Without a topology there is already an error. */
	if (!lower->topology)
		return true;
	if (variable == VARIABLE_COST && device->dollars_per_s == 0)
		missing = "price";
	if (variable == VARIABLE_ENERGY && device->watts == 0)
		missing = "power";
	if (!missing)
		return true;
	diag_error(lower->diags, E_OBJECTIVE, expression->span,
		   "'%s' cannot be computed: device '%s' does not say its %s",
		   variable_name(variable), device->name ? device->name : "", missing);
	diag_help(lower->diags, "for instance: device = %s with { %s }",
		  device->name ? device->name : "h100_sxm",
		  variable == VARIABLE_COST ? "price = 2.5$/h" : "power = 700W");
	return false;
}

static bool add_objective(struct lower *lower, enum plan_variable variable)
{
	struct ir_job *job = &lower->ir->job;
	struct predicate_builder builder = { .lower = lower };

	if (!predicate_push(&builder, lower->job->name_span,
			    (struct predicate_step){ .op = PREDICATE_VARIABLE,
						     .variable = variable }))
		return false;
	job->objective[job->objective_count] =
		predicate_finish(&builder, job->objective_count);
	job->objective_name[job->objective_count++] = variable_name(variable);
	return true;
}

static bool objective(struct lower *lower, const struct ast *expression)
{
	const struct ir_job *job = &lower->ir->job;
	enum plan_variable variable = VARIABLE_COUNT;

	if (expression->kind == AST_ERROR)
		return false;
	if (expression->kind == AST_NAME)
		variable = variable_find(expression->name);
	if (variable != VARIABLE_TIME && variable != VARIABLE_COST &&
	    variable != VARIABLE_DEVICES && variable != VARIABLE_ENERGY)
		return lower_not_yet(lower, expression->span, "minimizing anything but "
				     "time, cost, devices and energy");
	for (uint32_t i = 0; i < job->objective_count; i++)
		if (!strcmp(job->objective_name[i], variable_name(variable)))
			return diag_error(lower->diags, E_JOB_TWICE, expression->span,
					  "'%s' is minimized already",
					  expression->name);
	return check_objective(lower, expression, variable) &&
	       add_objective(lower, variable);
}

bool lower_objective(struct lower *lower)
{
	const struct ast *body = lower_body(lower->job);
	struct ir_job *job = &lower->ir->job;
	const struct ast *minimize = NULL;
	bool good = true;

	job->objective = ARENA_ARRAY(lower->arena, struct predicate, OBJECTIVES_MAX);
	job->objective_name = ARENA_ARRAY(lower->arena, const char *, OBJECTIVES_MAX);
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (!item || item->kind != AST_MINIMIZE)
			continue;
		if (minimize) {
			diag_error(lower->diags, E_JOB_TWICE, item->span,
				   "a job minimizes one list of things");
			diag_label(lower->diags, minimize->span, "given here first");
			diag_help(lower->diags, "write: minimize time then devices");
			return false;
		}
		minimize = item;
		for (uint32_t j = 0; j < item->child_count; j++)
			good = objective(lower, item->child[j]) && good;
	}
	return good && (minimize || add_objective(lower, VARIABLE_TIME));
}

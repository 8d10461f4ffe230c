/* SPDX-License-Identifier: MIT
 *
 * What a job minimises, in order: outcomes and variables of the plan, or
 * expressions of them; nothing said means time. A preference that a plan does
 * not keep makes its first objective worse by its weight:
 *
 *	objective x (1 + sum of the weights of what is not kept)
 */
#include <string.h>

#include "compiler/lower_predicate.h"

#define OBJECTIVES_MAX OBJECTIVE_MAX
/* Largest weight: a hundred times the objective. */
#define WEIGHT_MAX 100.0

/* What an outcome needs the device to say. */
static bool check_outcome(struct lower *lower, const struct ast *expression,
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

static bool check_outcomes(struct lower *lower, const struct ast *expression,
			   const struct predicate_builder *builder)
{
	for (size_t i = 0; i < builder->step.count; i++)
		if (builder->step.at[i].op == PREDICATE_VARIABLE &&
		    !check_outcome(lower, expression,
				   builder->step.at[i].variable))
			return false;
	return true;
}

/* The expression as it is written, on one line. */
static const char *objective_text(struct lower *lower,
				  const struct ast *expression)
{
	struct span span = expression->span;
	const struct source *source = lower->compilation->sources.at[span.file];
	char *text;

	if (expression->kind == AST_NAME)
		return expression->name;
	if (span.end - span.begin > 60)
		return "objective";
	text = arena_copy(lower->arena, source->bytes + span.begin,
			  span.end - span.begin);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\t' || *c == '\r')
			*c = ' ';
	return text;
}

/* ---- preferences ---- */

static bool preference_weight(struct lower *lower, const struct ast *item,
			      double *weight)
{
	if (!eval_number(&lower->eval, lower->scope, item->child[1], UNIT_NONE,
			 "a weight", weight))
		return false;
	if (*weight > 0 && *weight <= WEIGHT_MAX)
		return true;
	diag_error(lower->diags, E_OUT_OF_RANGE, item->child[1]->span,
		   "a weight must be above 0 and at most %g", WEIGHT_MAX);
	diag_help(lower->diags,
		  "5%% means: worth giving up 5%% of what is minimized");
	return false;
}

/* Appends `+ weight if the expression does not hold`. */
static bool push_preference(struct lower *lower,
			    struct predicate_builder *builder,
			    const struct ast *item)
{
	static const enum predicate_op ops[] = { PREDICATE_NOT,
						 PREDICATE_CONSTANT,
						 PREDICATE_MULTIPLY,
						 PREDICATE_ADD };
	struct operand operand;
	double weight;

	if (!preference_weight(lower, item, &weight) ||
	    !predicate_compile(builder, item->child[0], &operand) ||
	    !operand_want_truth(builder, &operand))
		return false;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!predicate_push(builder, item->span,
				    (struct predicate_step){ .op = ops[i],
							     .number = weight }))
			return false;
	return true;
}

/* Multiplies what is on the stack by one plus the weights. */
static bool push_preferences(struct lower *lower,
			     struct predicate_builder *builder, bool *any)
{
	const struct ast *body = lower_body(lower->job);
	struct span span = lower->job->name_span;
	bool good = true;

	*any = false;
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind != AST_PREFER)
			continue;
		if (!*any &&
		    !predicate_push(builder, span,
				    (struct predicate_step){
					    .op = PREDICATE_CONSTANT,
					    .number = 1 }))
			return false;
		*any = true;
		good = push_preference(lower, builder, item) && good;
	}
	if (!*any || !good)
		return good;
	return predicate_push(builder, span,
			      (struct predicate_step){ .op = PREDICATE_MULTIPLY });
}

/* ---- objectives ---- */

static bool add_objective(struct lower *lower,
			  struct predicate_builder *builder, const char *name)
{
	struct ir_job *job = &lower->ir->job;
	bool has_preferences = false;

	if (!job->objective_count &&
	    !push_preferences(lower, builder, &has_preferences))
		return false;
	if (has_preferences)
		name = arena_printf(lower->arena, "%s with preferences", name);
	job->objective[job->objective_count] =
		predicate_finish(builder, job->objective_count);
	job->objective_name[job->objective_count++] = name;
	return true;
}

static bool add_time(struct lower *lower)
{
	struct predicate_builder builder = { .lower = lower };

	return predicate_push(&builder, lower->job->name_span,
			      (struct predicate_step){
				      .op = PREDICATE_VARIABLE,
				      .variable = VARIABLE_TIME }) &&
	       add_objective(lower, &builder, "time");
}

static bool objective(struct lower *lower, const struct ast *expression)
{
	const struct ir_job *job = &lower->ir->job;
	struct predicate_builder builder = { .lower = lower };
	const char *name = objective_text(lower, expression);
	struct operand operand;

	if (expression->kind == AST_ERROR)
		return false;
	if (job->objective_count == OBJECTIVES_MAX)
		return diag_error(lower->diags, E_OBJECTIVE, expression->span,
				  "at most %d things can be minimized",
				  OBJECTIVES_MAX);
	for (uint32_t i = 0; i < job->objective_count; i++)
		if (!strcmp(job->objective_name[i], name) &&
		    expression->kind == AST_NAME)
			return diag_error(lower->diags, E_JOB_TWICE, expression->span,
					  "'%s' is minimized already", name);
	if (!lower_mentions_plan(lower, expression)) {
		diag_error(lower->diags, E_OBJECTIVE, expression->span,
			   "what is minimized must depend on the plan");
		diag_help(lower->diags,
			  "minimize time, cost, devices, energy or memory, or an expression of them");
		return false;
	}
	if (!predicate_compile(&builder, expression, &operand))
		return false;
	if (operand.kind != OPERAND_NUMBER)
		return diag_error(lower->diags, E_OBJECTIVE, expression->span,
				  "what is minimized must be a number");
	return check_outcomes(lower, expression, &builder) &&
	       add_objective(lower, &builder, name);
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
	return good && (minimize || add_time(lower));
}

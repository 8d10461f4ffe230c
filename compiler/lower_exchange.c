/* SPDX-License-Identifier: MIT
 *
 * How experts exchange tokens. `overlap_expert_exchange = true`: the schedule runs the
 * forward of one micro-batch beside the backward of another, so that the exchange of
 * each one's experts hides behind the other's work. `token_dispatcher = deepep`: each
 * token goes once to every place with experts for it.
 */
#include "compiler/lower.h"
#include "compiler/recompute_module.h"

/* The first router; NULL: no experts. */
static const struct ir_operator *first_router(const struct ir_model *model)
{
	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_operator *router =
			ir_find_operator(&model->class[i], IR_ROUTER);

		if (router)
			return router;
	}
	return NULL;
}

static bool no_experts(struct lower *lower, const struct ast *field)
{
	diag_error(lower->diags, E_JOB_VALUE, field->span,
		   "'%s' has no experts that would exchange tokens",
		   lower->ir->model.name);
	diag_help(lower->diags, "leave out '%s'", field->name);
	return false;
}

/* One share of places stands for all layers. */
static bool check_dispatcher(struct lower *lower)
{
	const struct ast *field =
		lower_field(lower_body(lower->job), "token_dispatcher");
	const struct ir_model *model = &lower->ir->model;
	const struct ir_operator *first = first_router(model);

	if (!field || !model->class_count)
		return true;
	if (!first)
		return no_experts(lower, field);
	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_operator *router =
			ir_find_operator(&model->class[i], IR_ROUTER);

		if (lower->ir->job.dispatcher != IR_DISPATCHER_DEEPEP || !router ||
		    (router->top_k == first->top_k &&
		     router->groups == first->groups &&
		     router->top_groups == first->top_groups))
			continue;
		diag_error(lower->diags, E_JOB_VALUE, field->span,
			   "'deepep' needs all routers of '%s' to choose alike",
			   model->name);
		diag_label(lower->diags, router->span, "this one differs");
		diag_help(lower->diags, "leave out 'token_dispatcher'");
		return false;
	}
	return true;
}

static bool take_overlap(struct lower *lower)
{
	const struct ast *field =
		lower_field(lower_body(lower->job), "overlap_expert_exchange");
	struct ir_job *job = &lower->ir->job;

	if (!field)
		return true;
	job->overlap_experts_span = field->span;
	if (!eval_boolean(&lower->eval, lower->scope, field->child[0],
			  "'overlap_expert_exchange'", &job->overlap_experts))
		return false;
	if (!job->overlap_experts || !lower->ir->model.class_count)
		return true;
	if (!first_router(&lower->ir->model))
		return no_experts(lower, field);
	if (!(job->recompute_modules & recompute_module_bit(MODULE_EXPERTS)))
		return true;
	diag_error(lower->diags, E_JOB_VALUE, field->span,
		   "the exchange of experts cannot be overlapped where it is done again");
	diag_label(lower->diags, job->recompute_modules_span,
		   "'moe' does it again");
	diag_help(lower->diags, "leave 'moe' out of 'recompute_modules', or "
		  "'overlap_expert_exchange'");
	return false;
}

bool lower_exchange(struct lower *lower)
{
	bool good = check_dispatcher(lower);

	return take_overlap(lower) && good;
}

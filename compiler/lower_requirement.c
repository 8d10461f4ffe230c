/* SPDX-License-Identifier: MIT
 *
 * Requirements of the job. Conjunctions become several requirements, so that
 * an explanation names the part that failed; constant ones are decided here;
 * bounds on memory by a constant become the memory limit.
 */
#include <string.h>

#include "compiler/describe.h"
#include "compiler/lower_predicate.h"

static void add_requirement(struct lower *lower,
			    const struct predicate_builder *builder,
			    struct span span, const char *reason)
{
	struct ir_requirement requirement = {
		.predicate = predicate_finish(builder,
					      (uint32_t)lower->requirement.count),
		.span = span,
		.reason = reason,
	};

	VEC_PUSH(&lower->requirement, lower->arena, requirement);
}

void lower_require_member(struct lower *lower, enum plan_variable variable,
			  const struct ir_domain *domain)
{
	struct predicate_builder builder = { .lower = lower };

	for (uint32_t i = 0; i < domain->count; i++) {
		bool fits = predicate_push(&builder, domain->span,
			(struct predicate_step){ .op = PREDICATE_VARIABLE,
						 .variable = variable }) &&
			    predicate_push(&builder, domain->span,
			(struct predicate_step){ .op = PREDICATE_CONSTANT,
						 .number = domain->at[i] }) &&
			    predicate_push(&builder, domain->span,
			(struct predicate_step){ .op = PREDICATE_EQUAL });

		if (fits && i)
			fits = predicate_push(&builder, domain->span,
				(struct predicate_step){ .op = PREDICATE_OR });
		if (!fits)
			return;
	}
	add_requirement(lower, &builder, domain->span, NULL);
}

/* ---- the memory limit ---- */

static bool is_memory(const struct ast *expression)
{
	return expression->kind == AST_NAME &&
	       variable_find(expression->name) == VARIABLE_MEMORY;
}

/* Whether an expression is `memory <= X` or `X >= memory` (or strict) with X
 * the same for every plan. */
static bool is_memory_bound(struct lower *lower, const struct ast *expression,
			    const struct ast **bound, bool *strict)
{
	const char *op = expression->name;
	uint32_t side;

	if (expression->kind != AST_BINARY || (op[0] != '<' && op[0] != '>'))
		return false;
	side = op[0] == '<' ? 0 : 1;
	*bound = expression->child[1 - side];
	*strict = op[1] != '=';
	return is_memory(expression->child[side]) &&
	       !lower_mentions_plan(lower, *bound);
}

/* A limit that no device reaches is a slip, mostly in its unit: 90 for 90 %. */
static void warn_useless_limit(struct lower *lower, const struct ast *bound,
			       double bytes)
{
	const struct ir_device *device = &lower->ir->topology.device;
	struct text limit, has;

	/* Of several kinds, the smallest may be far below the others. */
	if (!lower->topology || lower->kinds || lower->variant ||
	    !(bytes > device->memory_bytes * (1 + 1e-9)))
		return;
	text_init(&limit, lower->arena);
	text_init(&has, lower->arena);
	describe_bytes(bytes, &limit);
	describe_bytes(device->memory_bytes, &has);
	diag_warning(lower->diags, E_MEMORY_LIMIT, bound->span,
		     "this limit of %s is above the %s that device '%s' has, and changes nothing",
		     limit.at, has.at, device->name ? device->name : "");
	diag_help(lower->diags, "a share of it is for instance: memory <= 90%% * device.memory");
}

static bool limit_memory(struct lower *lower, const struct ast *expression,
			 const struct ast *bound)
{
	struct ir_job *job = &lower->ir->job;
	double bytes;

	if (!eval_number(&lower->eval, lower->scope, bound, UNIT_BYTE,
			 "the bound on 'memory'", &bytes))
		return false;
	if (!(bytes > 0))
		return diag_error(lower->diags, E_REQUIREMENT_FALSE, bound->span,
				  "no plan needs as little memory as this");
	warn_useless_limit(lower, bound, bytes);
	if (bytes < job->memory_limit_bytes) {
		job->memory_limit_bytes = bytes;
		job->memory_limit_span = expression->span;
	}
	return true;
}

/* ---- requirements ---- */

/* A requirement no plan can change: true is dropped, false an error. */
static bool require_constant(struct lower *lower, const struct ast *expression,
			     const char *reason)
{
	bool holds;

	if (!eval_boolean(&lower->eval, lower->scope, expression,
			  "a requirement", &holds))
		return false;
	if (holds)
		return true;
	diag_error(lower->diags, E_REQUIREMENT_FALSE, expression->span,
		   "this requirement never holds, whatever the plan");
	if (reason)
		diag_note(lower->diags, SPAN_NONE, "%s", reason);
	return false;
}

static bool require_predicate(struct lower *lower, const struct ast *expression,
			      const struct ast *condition, const char *reason)
{
	struct predicate_builder builder = { .lower = lower };
	struct operand operand;

	if (condition &&
	    (!predicate_compile(&builder, condition, &operand) ||
	     !operand_want_truth(&builder, &operand) ||
	     !predicate_push(&builder, condition->span,
			     (struct predicate_step){ .op = PREDICATE_NOT })))
		return false;
	if (!predicate_compile(&builder, expression, &operand) ||
	    !operand_want_truth(&builder, &operand))
		return false;
	if (condition &&
	    !predicate_push(&builder, expression->span,
			    (struct predicate_step){ .op = PREDICATE_OR }))
		return false;
	add_requirement(lower, &builder, expression->span, reason);
	return true;
}

/* A conjunct without condition. */
static bool require_part(struct lower *lower, const struct ast *expression,
			 const char *reason)
{
	const struct ast *bound;
	bool strict;

	if (!lower_mentions_plan(lower, expression))
		return require_constant(lower, expression, reason);
	if (!is_memory_bound(lower, expression, &bound, &strict))
		return require_predicate(lower, expression, NULL, reason);
	return limit_memory(lower, expression, bound) &&
	       (!strict || require_predicate(lower, expression, NULL, reason));
}

/* Splits `a and b and ..` at the top. */
static bool require_parts(struct lower *lower, const struct ast *expression,
			  const char *reason)
{
	bool good;

	if (expression->kind != AST_BINARY || strcmp(expression->name, "and"))
		return require_part(lower, expression, reason);
	if (!lower_enter(lower, expression->span))
		return false;
	good = require_parts(lower, expression->child[0], reason);
	good = require_parts(lower, expression->child[1], reason) && good;
	lower_leave(lower);
	return good;
}

bool lower_require(struct lower *lower, const struct ast *expression,
		   const struct ast *condition, const char *reason)
{
	bool holds;

	if (!condition)
		return require_parts(lower, expression, reason);
	if (lower_mentions_plan(lower, condition))
		return require_predicate(lower, expression, condition, reason);
	if (!eval_boolean(&lower->eval, lower->scope, condition,
			  "the condition of a requirement", &holds))
		return false;
	return !holds || require_parts(lower, expression, reason);
}

/* `tensor in { 1, 2 }` standing alone is read as a domain; here it is an
 * expression like any other. */
static const struct ast *membership(struct lower *lower, const struct ast *item)
{
	struct ast *name = ast_new(lower->arena, AST_NAME, item->name_span);
	struct ast *binary = ast_with(lower->arena, AST_BINARY, item->span, 2,
				      name, item->child[0]);

	name->name = item->name;
	name->name_span = item->name_span;
	binary->name = intern_string(&lower->compilation->intern, "in");
	binary->name_span = item->span;
	return binary;
}

static bool require_item(struct lower *lower, const struct ast *item)
{
	const struct ast *reason = NULL;

	switch (item->kind) {
	case AST_ERROR:
		return false;
	case AST_ITEM:
		return lower_require(lower, item->child[0], NULL, NULL);
	case AST_REQUIRE:
		if (item->child_count > 2)
			reason = item->child[2];
		return lower_require(lower, item->child[0],
				     item->child_count > 1 ? item->child[1] : NULL,
				     reason ? reason->text : NULL);
	case AST_IN:
		return lower_require(lower, membership(lower, item), NULL, NULL);
	default:
		diag_error(lower->diags, E_REQUIREMENT_FORM, item->span,
			   "%s is no requirement", ast_a_kind(item->kind));
		if (item->kind == AST_FIELD)
			diag_help(lower->diags, "values are compared with '==', '<=' or '>=': %s %s ..",
				  item->name,
				  variable_find(item->name) >= VARIABLE_TIME ?
					  "<=" : "==");
		return false;
	}
}

static bool require_block(struct lower *lower, const struct ast *block)
{
	const struct ast *items = lower_body(block);
	bool good = true;

	for (uint32_t i = 0; items && i < items->child_count; i++)
		if (items->child[i])
			good = require_item(lower, items->child[i]) && good;
	return good;
}

bool lower_requirements(struct lower *lower)
{
	const struct ast *body = lower_body(lower->job);
	struct ir_job *job = &lower->ir->job;
	bool good = true;

	job->memory_limit_bytes = lower->ir->topology.device.memory_bytes;
	job->memory_limit_span = lower->ir->topology.device.span;
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item && item->kind == AST_REQUIRE)
			good = require_item(lower, item) && good;
		if (item && item->kind == AST_BLOCK &&
		    !strcmp(item->name, "require"))
			good = require_block(lower, item) && good;
	}
	job->requirement = lower->requirement.at;
	job->requirement_count = (uint32_t)lower->requirement.count;
	return good;
}

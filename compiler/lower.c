/* SPDX-License-Identifier: MIT
 *
 * From the checked tree to the placement program: the list of passes, and the
 * small things they share.
 */
#include "compiler/lower.h"

#include <string.h>

#include "lang/foreign.h"
#include "lang/module.h"

bool lower_enter(struct lower *lower, struct span span)
{
	if (lower->depth >= lower->compilation->depth_max) {
		diag_error(lower->diags, E_DEPTH_LIMIT, span,
			   "this is nested more than %u levels deep",
			   lower->compilation->depth_max);
		diag_help(lower->diags, "give parts of it a name of their own");
		return false;
	}
	if (!eval_step(&lower->eval, span))
		return false;
	lower->depth++;
	return true;
}

void lower_leave(struct lower *lower)
{
	lower->depth--;
}

bool lower_not_yet(struct lower *lower, struct span span, const char *what)
{
	return diag_error(lower->diags, E_NOT_YET, span,
			  "%s is not available in this version of nestc", what);
}

bool lower_suggest(struct lower *lower, const char *name,
		   const char *const *known, uint32_t count)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	for (uint32_t i = 0; i < count; i++) {
		unsigned distance;

		if (!diag_resembles(name, known[i], &distance))
			continue;
		if (best && distance >= best_distance)
			continue;
		best = known[i];
		best_distance = distance;
	}
	/* What it is elsewhere counts where that is known here. */
	for (uint32_t i = 0; !best && i < count && foreign_meaning(name); i++)
		if (!strcmp(foreign_meaning(name), known[i]))
			best = known[i];
	if (best)
		diag_help(lower->diags, "did you mean '%s'?", best);
	return best != NULL;
}

bool lower_name_value(struct lower *lower, struct scope *scope,
		      const char *name, struct span span, struct value *value)
{
	struct ast *node = ast_new(lower->arena, AST_NAME, span);

	node->name = name;
	node->name_span = span;
	return eval_expression(&lower->eval, scope, node, value);
}

const struct ast *lower_field(const struct ast *body, const char *name)
{
	for (uint32_t i = 0; body && i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item && item->kind == AST_FIELD && !strcmp(item->name, name))
			return item;
	}
	return NULL;
}

const struct ast *lower_body(const struct ast *node)
{
	for (uint32_t i = 0; node && i < node->child_count; i++)
		if (node->child[i] && node->child[i]->kind == AST_BODY)
			return node->child[i];
	return NULL;
}

/* Every pass runs, so that one run reports what is wrong everywhere; a pass
 * that needs what an earlier one could not find does nothing. */
static bool (*const passes[])(struct lower *) = {
	lower_job_fields,
	lower_topology,
	lower_model,
	lower_recompute_modules,
	lower_exchange,
	lower_search,
	lower_plans,
	lower_requirements,
	lower_place,
	lower_objective,
	lower_profile,
	lower_precision,
};

/* The job on one topology of alike devices; NULL after reported errors. */
static struct ir *lower_variant(struct lower *lower)
{
	bool good = true;

	eval_init(&lower->eval, lower->compilation);
	lower->ir = ARENA_NEW(lower->arena, struct ir);
	lower->scope = scope_new(lower->arena, lower->module->scope);
	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++)
		good = passes[i](lower) && good;
	return good ? lower->ir : NULL;
}

struct ir *lower_job(struct compilation *compilation,
		     const struct module *module, const char *job_name)
{
	struct lower lower = {
		.compilation = compilation,
		.arena = &compilation->arena,
		.diags = &compilation->diags,
		.module = module,
	};
	const struct lower blank = lower;
	struct ir *ir;

	lower.job = module_find_job(compilation, module, job_name);
	if (!lower.job)
		return NULL;
	ir = lower_variant(&lower);
	if (ir)
		lower_model_ends(&lower);
	for (uint32_t k = 0; ir && k < ir->topology.kind_count; k++) {
		struct lower kind = blank;

		kind.job = lower.job;
		kind.variant = &lower.kinds->at[k];
		ir->topology.kind[k].only = lower_variant(&kind);
		if (!ir->topology.kind[k].only)
			return NULL;
	}
	return ir;
}

bool model_count_parameters(const struct eval *eval, const struct record *model,
			    double *count)
{
	struct compilation *compilation = eval->compilation;
	struct record copy = *model;
	struct lower lower = {
		.compilation = compilation,
		.arena = &compilation->arena,
		.diags = &compilation->diags,
		/* Limits and chains of what is evaluated now go on. */
		.eval = *eval,
		.model = &copy,
	};

	lower.ir = ARENA_NEW(lower.arena, struct ir);
	if (!lower_model(&lower))
		return false;
	*count = (double)lower.ir->model.parameters;
	return true;
}

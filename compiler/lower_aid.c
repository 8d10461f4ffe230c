/* SPDX-License-Identifier: MIT
 *
 * The small things that the passes of the lowering share: a guard of recursions,
 * items of bodies, values of names, and near names.
 */
#include "compiler/lower.h"

#include <string.h>

#include "lang/foreign.h"

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

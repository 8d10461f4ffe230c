/* SPDX-License-Identifier: MIT
 *
 * Bodies of templates. Only what names mean is checked here; the form of a template
 * is the business of the lowering.
 */
#include "lang/check_internal.h"

#include "lang/symbol.h"

/* A value of a template; its form is the business of the lowering. */
static void check_template_name(struct check *check, struct scope *scope,
				const struct ast *item)
{
	const struct binding *first = scope_find_here(scope, item->name);

	if (scope_declare(scope, item, scope))
		return;
	diag_error(check->diags, E_NAMED_TWICE, item->name_span,
		   "'%s' already stands for something else", item->name);
	if (first->declaration)
		diag_label(check->diags, first->declaration->name_span,
			   "it is named here");
	else
		diag_note(check->diags, SPAN_NONE,
			  "it is an axis of every template");
	diag_help(check->diags, "give this value another name");
}

static void check_template_item(struct check *check, struct scope *scope,
				const struct ast *item)
{
	switch (item->kind) {
	case AST_VALUE:
		check_expression(check, scope, item->child[0]);
		check_template_name(check, scope, item);
		return;
	case AST_LET:
	case AST_FIELD:
		check_expression(check, scope, item->child[0]);
		check_template_name(check, scope, item);
		return;
	case AST_RETURN:
	case AST_ITEM:
		check_expression(check, scope, item->child[0]);
		return;
	case AST_SPLIT:
		for (uint32_t i = 0; i < item->child_count; i++)
			check_expression(check, scope, item->child[i]);
		if (symbol_is_known(SYMBOL_SPLIT, item->name) ||
		    symbol_is_known(SYMBOL_PLAN, item->name))
			return;		/* the lowering tells more of these */
		diag_error(check->diags, E_SPLIT_DIMENSION, item->name_span,
			   "an axis cannot be split by '%s'", item->name);
		diag_help(check->diags,
			  "axes are split by tensor, context, expert or expert_tensor");
		return;
	default:
		return;		/* refused by the lowering */
	}
}

void check_template(struct check *check, struct scope *scope,
		    const struct ast *declaration)
{
	const struct ast *body = declaration->child[1];
	struct check_body here = { body, check->body };
	struct intern *intern = &check->compilation->intern;

	for (int i = 0; i < 2; i++) {
		const char *axis = intern_string(intern, i ? "seq" : "batch");
		const struct binding *taken = scope_find_here(scope, axis);

		if (taken)
			diag_error(check->diags, E_NAMED_TWICE,
				   taken->declaration->name_span,
				   "'%s' is an axis of every template and cannot be a parameter",
				   axis);
		else
			check_some_value(check, scope, axis);
	}
	check->body = &here;
	check->in_template = true;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i])
			check_template_item(check, scope, body->child[i]);
	check->in_template = false;
	check->body = here.outer;
}

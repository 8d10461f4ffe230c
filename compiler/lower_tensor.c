/* SPDX-License-Identifier: MIT
 *
 * Tensor expressions in the body of a template: names, calls of operators, sums and
 * products, and `if`, of which one branch is taken. Whatever is not taken still
 * counts as used.
 */
#include "compiler/lower_template.h"

struct template_name *template_find(struct template *template,
				    const char *name)
{
	for (size_t i = 0; i < template->known.count; i++)
		if (template->known.at[i].name == name &&
		    !template->known.at[i].gone)
			return &template->known.at[i];
	return NULL;
}

static bool is_operator_call(const struct ast *expression)
{
	return expression->kind == AST_CALL && expression->child[0] &&
	       expression->child[0]->kind == AST_NAME &&
	       operator_is_known(expression->child[0]->name);
}

bool template_has_tensor(struct template *template,
			 const struct ast *expression)
{
	const struct template_name *known;
	bool found = false;

	if (expression->kind == AST_NAME) {
		known = template_find(template, expression->name);
		return known && known->value != IR_NONE;
	}
	if (is_operator_call(expression))
		return true;
	if (!lower_enter(template->lower, expression->span))
		return true;
	for (uint32_t i = 0; i < expression->child_count && !found; i++)
		found = expression->child[i] &&
			template_has_tensor(template, expression->child[i]);
	lower_leave(template->lower);
	return found;
}

void template_use(struct template *template, const struct ast *expression)
{
	struct template_name *known;

	if (expression->kind == AST_NAME) {
		known = template_find(template, expression->name);
		if (known)
			known->used = true;
		return;
	}
	if (!lower_enter(template->lower, expression->span))
		return;
	for (uint32_t i = 0; i < expression->child_count; i++)
		if (expression->child[i])
			template_use(template, expression->child[i]);
	lower_leave(template->lower);
}

/* Experts see the rows that are sent to them and nothing else. */
static bool report_outside(struct template *template, const struct ast *name)
{
	struct diags *diags = template->lower->diags;

	diag_error(diags, E_EXPERTS, name->span,
		   "'%s' is not sent to the experts and cannot be used in their body",
		   name->name);
	diag_label(diags, template_find(template, name->name)->span,
		   "it is made here");
	diag_help(diags, "what goes around the experts is added to what they give");
	return false;
}

static bool tensor_name(struct template *template, const struct ast *name,
			uint32_t *value)
{
	struct lower *lower = template->lower;
	struct template_name *known = template_find(template, name->name);
	const char *names[64];
	uint32_t count = 0;

	if (known && known->value != IR_NONE) {
		known->used = true;
		*value = known->value;
		return template->value.at[*value].router == template->router ||
		       report_outside(template, name);
	}
	if (known || scope_find(template->scope, name->name)) {
		diag_error(lower->diags, E_NOT_A_TENSOR, name->span,
			   "'%s' is no tensor, and one is needed here", name->name);
		if (known)
			diag_label(lower->diags, known->span, "it is named here");
		return false;
	}
	diag_error(lower->diags, E_UNKNOWN_NAME, name->span,
		   "template '%s' has no value '%s'", template->name, name->name);
	for (size_t i = 0; i < template->known.count && count < 64; i++)
		names[count++] = template->known.at[i].name;
	lower_suggest(lower, name->name, names, count);
	return false;
}

static bool tensor_if(struct template *template, const struct ast *expression,
		      uint32_t *value)
{
	bool condition;

	if (template_has_tensor(template, expression->child[0]))
		return diag_error(template->lower->diags, E_NOT_A_TENSOR,
				  expression->child[0]->span,
				  "the condition of 'if' cannot depend on a tensor");
	if (!eval_boolean(&template->lower->eval, template->scope,
			  expression->child[0], "the condition of 'if'",
			  &condition))
		return false;
	template_use(template, expression->child[condition ? 2 : 1]);
	return template_tensor(template, expression->child[condition ? 1 : 2],
			       value);
}

static bool tensor_other(struct template *template,
			 const struct ast *expression)
{
	if (expression->kind == AST_ERROR)
		return false;
	return diag_error(template->lower->diags, E_NOT_A_TENSOR,
			  expression->span,
			  "a tensor is needed here, not a %s",
			  ast_kind_name(expression->kind));
}

bool template_tensor(struct template *template, const struct ast *expression,
		     uint32_t *value)
{
	bool good;

	if (!lower_enter(template->lower, expression->span))
		return false;
	switch (expression->kind) {
	case AST_NAME:
		good = tensor_name(template, expression, value);
		break;
	case AST_CALL:
		good = template_call(template, expression, value);
		break;
	case AST_BINARY:
		good = template_binary(template, expression, value);
		break;
	case AST_IF:
		good = tensor_if(template, expression, value);
		break;
	default:
		good = tensor_other(template, expression);
		break;
	}
	lower_leave(template->lower);
	return good;
}

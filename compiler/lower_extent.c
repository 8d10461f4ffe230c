/* SPDX-License-Identifier: MIT
 *
 * Axis expressions of a template to extents: names become axes when they are first
 * used as such.
 */
#include <string.h>

#include "compiler/lower_template.h"

static uint32_t axis_push(struct template *template, struct ir_axis axis)
{
	if (template->axis.count == AXES_MAX) {
		diag_error(template->lower->diags, E_TEMPLATE_SIZE, axis.span,
			   "template '%s' has more than %d axes",
			   template->name, AXES_MAX);
		return IR_NONE;
	}
	VEC_PUSH(&template->axis, template->lower->arena, axis);
	return (uint32_t)template->axis.count - 1;
}

static bool axis_size(struct template *template, const char *name,
		      struct span span, const struct value *value,
		      uint64_t *size)
{
	struct lower *lower = template->lower;
	struct text scratch;

	text_init(&scratch, lower->arena);
	if (value->kind == VALUE_NUMBER && unit_is_none(value->unit) &&
	    value_is_integer(value) && value->number >= 1 &&
	    value->number <= (double)SIZE_MAX_EXACT) {
		*size = (uint64_t)value->number;
		return true;
	}
	if (value->kind != VALUE_NUMBER || !unit_is_none(value->unit))
		diag_error(lower->diags, E_AXIS_SIZE, span,
			   "'%s' is used as an axis but is %s", name,
			   value_describe(value, &scratch));
	else {
		value_print(value, &scratch);
		diag_error(lower->diags, E_AXIS_SIZE, span,
			   "axis '%s' has size %s, which is no whole number from 1 on",
			   name, scratch.at);
	}
	if (!span_is_nowhere(value->span))
		diag_label(lower->diags, value->span, "its value comes from here");
	return false;
}

static void unknown_axis(struct template *template, const char *name,
			 struct span span)
{
	struct lower *lower = template->lower;
	const char *near = scope_suggest(template->scope, name);

	diag_error(lower->diags, E_UNKNOWN_NAME, span,
		   "template '%s' has no axis '%s'", template->name, name);
	if (near)
		diag_help(lower->diags, "did you mean '%s'?", near);
	else
		diag_help(lower->diags,
			  "axes are 'batch', 'seq' and the parameters of the template");
}

uint32_t template_axis(struct template *template, const char *name,
		       struct span span)
{
	struct ir_axis axis = { .name = name, .split_span = SPAN_NONE };
	struct template_name *known = template_find(template, name);
	struct value value;

	for (uint32_t i = 0; i < template->axis.count; i++)
		if (template->axis.at[i].name == name)
			return i;
	if (known && known->value != IR_NONE) {
		diag_error(template->lower->diags, E_NOT_A_TENSOR, span,
			   "'%s' is a tensor, not an axis", name);
		diag_label(template->lower->diags, known->span, "it is made here");
		return IR_NONE;
	}
	if (!scope_find(template->scope, name)) {
		unknown_axis(template, name, span);
		return IR_NONE;
	}
	if (!lower_name_value(template->lower, template->scope, name, span,
			      &value) || value.kind == VALUE_ERROR)
		return IR_NONE;
	if (!axis_size(template, name, span, &value, &axis.size))
		return IR_NONE;
	axis.span = span_is_nowhere(value.span) ? span : value.span;
	return axis_push(template, axis);
}

static bool extent_expression(struct template *template,
			      const struct ast *expression,
			      struct ir_extent *extent);

/* Whether an expression can be read as a sum of products: only names,
 * numbers, + and *. */
static bool is_polynomial(struct template *template,
			  const struct ast *expression)
{
	bool good;

	if (expression->kind == AST_NAME || expression->kind == AST_NUMBER)
		return true;
	if (expression->kind != AST_BINARY ||
	    (strcmp(expression->name, "+") && strcmp(expression->name, "*")))
		return false;
	if (!lower_enter(template->lower, expression->span))
		return false;
	good = is_polynomial(template, expression->child[0]) &&
	       is_polynomial(template, expression->child[1]);
	lower_leave(template->lower);
	return good;
}

/* A let of the body that is itself a product of axes is expanded, so that
 * `inner = heads * head_dim` is the same shape as its right side. */
static bool extent_name(struct template *template, const struct ast *name,
			struct ir_extent *extent)
{
	struct template_name *known = template_find(template, name->name);
	uint32_t axis;

	if (known && known->value == IR_NONE && known->expression &&
	    known->expression->kind != AST_NUMBER &&
	    is_polynomial(template, known->expression))
		return extent_expression(template, known->expression, extent);
	axis = template_axis(template, name->name, name->span);
	if (axis == IR_NONE)
		return false;
	extent_of_axis(axis, extent);
	return true;
}

static bool extent_number(struct template *template,
			  const struct ast *expression,
			  struct ir_extent *extent)
{
	int64_t number;

	if (!eval_integer(&template->lower->eval, template->scope, expression,
			  1, (int64_t)SIZE_MAX_EXACT, "a size", &number))
		return false;
	*extent = (struct ir_extent){
		.term = { { .coefficient = (uint64_t)number } },
		.term_count = 1,
	};
	return true;
}

static bool extent_binary(struct template *template,
			  const struct ast *expression,
			  struct ir_extent *extent)
{
	struct lower *lower = template->lower;
	bool sum = !strcmp(expression->name, "+");
	struct ir_extent left, right;

	if (!sum && strcmp(expression->name, "*")) {
		diag_error(lower->diags, E_AXIS_EXPRESSION, expression->name_span,
			   "'%s' cannot be used between axes", expression->name);
		diag_note(lower->diags, SPAN_NONE,
			  "a shape is a sum of products of axes and whole numbers");
		diag_help(lower->diags, "make it a parameter of template '%s', "
			  "for instance head_dim = hidden / heads", template->name);
		return false;
	}
	if (!extent_expression(template, expression->child[0], &left) ||
	    !extent_expression(template, expression->child[1], &right))
		return false;
	if (sum ? extent_add(&left, &right, extent) :
		  extent_multiply(&left, &right, extent))
		return true;
	diag_error(lower->diags, E_AXIS_EXPRESSION, expression->span,
		   "this shape is too long");
	diag_note(lower->diags, SPAN_NONE,
		  "a shape has at most %d terms of at most %d axes",
		  IR_TERM_MAX, IR_FACTOR_MAX);
	diag_help(lower->diags, "make a part of it a parameter of template '%s'",
		  template->name);
	return false;
}

static bool extent_if(struct template *template, const struct ast *expression,
		      struct ir_extent *extent)
{
	bool condition;

	if (!eval_boolean(&template->lower->eval, template->scope,
			  expression->child[0], "the condition of 'if'",
			  &condition))
		return false;
	return extent_expression(template, expression->child[condition ? 1 : 2],
				 extent);
}

static bool extent_expression(struct template *template,
			      const struct ast *expression,
			      struct ir_extent *extent)
{
	bool good;

	if (!lower_enter(template->lower, expression->span))
		return false;
	switch (expression->kind) {
	case AST_NAME:
		good = extent_name(template, expression, extent);
		break;
	case AST_BINARY:
		good = extent_binary(template, expression, extent);
		break;
	case AST_IF:
		good = extent_if(template, expression, extent);
		break;
	default:
		good = extent_number(template, expression, extent);
		break;
	}
	lower_leave(template->lower);
	return good;
}

bool template_extent(struct template *template, const struct ast *expression,
		     struct ir_extent *extent)
{
	uint64_t size;

	if (!extent_expression(template, expression, extent))
		return false;
	if (extent_size(template->axis.at, extent, &size))
		return true;
	return diag_error(template->lower->diags, E_AXIS_SIZE, expression->span,
			  "this shape has more than 2^53 elements");
}

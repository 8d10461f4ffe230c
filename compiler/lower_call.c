/* SPDX-License-Identifier: MIT
 *
 * What calls of operators have in common: values of named arguments, shapes of
 * inputs, and the new operator with its result.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/lower_operator.h"

/* ---- arguments ---- */

bool call_error(struct template *template, const struct call *call,
		struct span span, const char *what)
{
	diag_error(template->lower->diags, E_OPERATOR_ARGUMENT, span,
		   "'%s' %s", call->name, what);
	diag_help(template->lower->diags, "it is written %s", call->form->usage);
	return false;
}

uint32_t form_named(const struct operator_form *form, const char *name)
{
	for (uint32_t i = 0; i < NAMED_MAX && form->named[i]; i++)
		if (!strcmp(form->named[i], name))
			return i;
	return NAMED_MAX;
}

const struct ast *call_named(const struct call *call, const char *name)
{
	return call->named[form_named(call->form, name)];
}

static const char *call_what(struct template *template, const struct call *call,
			const char *name)
{
	return arena_printf(template->lower->arena, "'%s' of '%s'", name,
			    call->name);
}

bool call_boolean(struct template *template, const struct call *call,
			 const char *name, bool *boolean)
{
	const struct ast *expression = call_named(call, name);

	return !expression ||
	       eval_boolean(&template->lower->eval, template->scope, expression,
			    call_what(template, call, name), boolean);
}

bool call_integer(struct template *template, const struct call *call,
			 const char *name, uint64_t *integer)
{
	const struct ast *expression = call_named(call, name);
	int64_t number;

	if (!expression)
		return true;
	if (!eval_integer(&template->lower->eval, template->scope, expression, 0,
			  (int64_t)SIZE_MAX_EXACT, call_what(template, call, name),
			  &number))
		return false;
	*integer = (uint64_t)number;
	return true;
}

bool call_number(struct template *template, const struct call *call,
			const char *name, struct unit unit, double *number)
{
	const struct ast *expression = call_named(call, name);

	if (!expression)
		return true;
	if (!eval_number(&template->lower->eval, template->scope, expression,
			 unit, call_what(template, call, name), number))
		return false;
	if (*number >= 0 && *number <= (double)SIZE_MAX_EXACT * 1024)
		return true;
	return diag_error(template->lower->diags, E_OPERATOR_VALUE,
			  expression->span, "%s must be from 0 on and finite",
			  call_what(template, call, name));
}

bool call_probability(struct template *template,
			     const struct call *call, const char *name,
			     double *number)
{
	if (!call_number(template, call, name, UNIT_NONE, number))
		return false;
	if (*number < 1)
		return true;
	diag_error(template->lower->diags, E_OPERATOR_VALUE,
		   call_named(call, name)->span, "%s must be below 1",
		   call_what(template, call, name));
	diag_help(template->lower->diags,
		  "it is the share of elements set to zero, for instance 0.1");
	return false;
}

bool call_axis(struct template *template, const struct call *call,
	       const char *name, uint32_t *axis)
{
	const struct ast *expression = call_named(call, name);

	*axis = IR_NONE;
	if (!expression)
		return true;
	if (expression->kind != AST_NAME)
		return call_error(template, call, expression->span,
				  arena_printf(template->lower->arena,
					       "expects the name of an axis as '%s'",
					       name));
	*axis = template_axis(template, expression->name, expression->span);
	return *axis != IR_NONE;
}

/* ---- shapes ---- */

const char *template_describe(struct template *template,
			    const struct ir_extent *extent)
{
	uint64_t size = 0;
	struct text text;

	text_init(&text, template->lower->arena);
	text_append_char(&text, '\'');
	extent_print(template->axis.at, extent, &text);
	text_append_char(&text, '\'');
	if (extent_has_axis(extent, AXIS_BATCH))
		return text.at;
	extent_size(template->axis.at, extent, &size);
	text_printf(&text, " = %" PRIu64, size);
	return text.at;
}

const char *call_describe_input(struct template *template,
				  const struct call *call, uint32_t i)
{
	if (call->input_ast[i]->kind == AST_NAME)
		return arena_printf(template->lower->arena, "'%s'",
				    call->input_ast[i]->name);
	return "its input";
}

void template_label(struct template *template, uint32_t value,
			struct span use)
{
	struct span made = template->value.at[value].span;

	if (made.file == use.file &&
	    (made.begin >= use.end || made.end <= use.begin))
		diag_label(template->lower->diags, made, "made here");
}

void template_note_size(struct template *template,
			   const struct ir_extent *a, const struct ir_extent *b)
{
	uint64_t size_a = 0, size_b = 1;

	extent_size(template->axis.at, a, &size_a);
	extent_size(template->axis.at, b, &size_b);
	if (size_a == size_b)
		diag_note(template->lower->diags, SPAN_NONE,
			  "axes are compared by name and not by size, because "
			  "each may be cut differently");
}

const struct ir_extent *template_last(const struct template *template,
					   uint32_t value)
{
	const struct ir_value *at = &template->value.at[value];

	return &at->extent[at->rank - 1];
}

bool call_expect_last(struct template *template, const struct call *call,
			const struct ir_extent *from)
{
	const struct ir_extent *last = template_last(template, call->input[0]);
	struct diags *diags = template->lower->diags;

	if (extent_equal(last, from))
		return true;
	diag_error(diags, E_SHAPE, call->arrow->child[0]->span,
		   "'%s' expects its input's last axis %s but %s ends in %s",
		   call->name, template_describe(template, from),
		   call_describe_input(template, call, 0), template_describe(template, last));
	template_label(template, call->input[0], call->ast->span);
	template_note_size(template, from, last);
	return false;
}

bool call_expect_rank(struct template *template, const struct call *call,
			uint32_t input, uint32_t rank, const char *shape)
{
	const struct ir_value *value = &template->value.at[call->input[input]];

	if (value->rank == rank)
		return true;
	diag_error(template->lower->diags, E_SHAPE, call->input_ast[input]->span,
		   "'%s' expects %s, but %s has %u axes", call->name, shape,
		   call_describe_input(template, call, input), value->rank);
	template_label(template, call->input[input], call->ast->span);
	return false;
}

bool template_append(struct template *template, const struct ast *ast,
		   struct ir_operator operator, uint32_t like,
		   const struct ir_extent *last, uint32_t *value)
{
	struct lower *lower = template->lower;
	struct ir_value result = template->value.at[like];

	if (template->operator.count == OPERATORS_MAX)
		return diag_error(lower->diags, E_TEMPLATE_SIZE, ast->span,
				  "template '%s' has more than %d operators",
				  template->name, OPERATORS_MAX);
	result.name = NULL;
	result.span = ast->span;
	result.producer = (uint32_t)template->operator.count;
	if (last)
		result.extent[result.rank - 1] = *last;
	*value = (uint32_t)template->value.count;
	operator.span = ast->span;
	operator.output = *value;
	VEC_PUSH(&template->value, lower->arena, result);
	VEC_PUSH(&template->operator, lower->arena, operator);
	return true;
}

struct ir_operator call_operator(const struct call *call)
{
	struct ir_operator operator = {
		.kind = call->kind,
		.input_count = call->input_count,
		.heads_axis = IR_NONE,
		.kv_heads_axis = IR_NONE,
	};

	memcpy(operator.input, call->input, sizeof(operator.input));
	return operator;
}

bool call_weight(struct template *template, const struct call *call,
			struct ir_operator *operator)
{
	struct diags *diags = template->lower->diags;
	uint64_t from, to, elements;

	if (!template_extent(template, call->arrow->child[0], &operator->from) ||
	    !template_extent(template, call->arrow->child[1], &operator->to))
		return false;
	for (uint32_t side = 0; side < 2; side++) {
		const struct ir_extent *extent =
			side ? &operator->to : &operator->from;

		if (extent_has_axis(extent, AXIS_BATCH) ||
		    extent_has_axis(extent, AXIS_SEQ))
			return diag_error(diags, E_SHAPE,
					  call->arrow->child[side]->span,
					  "a weight has no axis 'batch' or 'seq'");
	}
	extent_size(template->axis.at, &operator->from, &from);
	extent_size(template->axis.at, &operator->to, &to);
	if (!__builtin_mul_overflow(from, to, &elements) &&
	    elements <= SIZE_MAX_EXACT)
		return true;
	return diag_error(diags, E_AXIS_SIZE, call->arrow->span,
			  "this weight has more than 2^53 elements");
}


/* SPDX-License-Identifier: MIT
 *
 * A template applied to arguments becomes a layer class: its splits first,
 * then its items in order, each tensor expression adding operators; then what
 * does not reach the returned value is dropped, the splits are checked, and
 * parameters are counted.
 */
#include <string.h>

#include "compiler/lower_template.h"

/* ---- items ---- */

bool template_name_is_free(struct template *template, const struct ast *item)
{
	struct diags *diags = template->lower->diags;
	const struct template_name *known = template_find(template, item->name);

	if (!known && !scope_find_here(template->layer->scope, item->name) &&
	    strcmp(item->name, "batch") && strcmp(item->name, "seq"))
		return true;
	diag_error(diags, E_NAMED_TWICE, item->name_span,
		   "'%s' already stands for something else", item->name);
	if (known)
		diag_label(diags, known->span, "it is named here");
	else
		diag_note(diags, SPAN_NONE, "it is %s of template '%s'",
			  strcmp(item->name, "batch") && strcmp(item->name, "seq") ?
			  "a parameter" : "an axis", template->name);
	diag_help(diags, "give this value another name");
	return false;
}

void template_name_value(struct template *template, const struct ast *item,
			 uint32_t value)
{
	struct template_name known = {
		.name = item->name,
		.span = item->name_span,
		.value = value,
	};

	if (!template->value.at[value].name)
		template->value.at[value].name = item->name;
	VEC_PUSH(&template->known, template->lower->arena, known);
}

static bool template_number(struct template *template, const struct ast *item)
{
	struct template_name known = {
		.name = item->name,
		.span = item->name_span,
		.value = IR_NONE,
		.expression = item->child[0],
	};
	struct value value;
	bool good = eval_expression(&template->lower->eval, template->scope,
				    item->child[0], &value);

	if (!good)
		value = VALUE_FAILED;
	scope_set(template->scope, item->name, value);
	VEC_PUSH(&template->known, template->lower->arena, known);
	return good && value.kind != VALUE_ERROR;
}

static bool template_assign(struct template *template, const struct ast *item)
{
	uint32_t value;

	if (!template_name_is_free(template, item))
		return false;
	if (!template_has_tensor(template, item->child[0]))
		return template_number(template, item);
	if (!template_tensor(template, item->child[0], &value))
		return false;
	template_name_value(template, item, value);
	return true;
}

/* Extents of a declared input; they begin with batch and seq. */
static bool input_shape(struct template *template, const struct ast *item,
			struct ir_value *value)
{
	struct diags *diags = template->lower->diags;
	const struct ast *axes = item->child[0];
	struct ir_extent batch, seq;

	if (axes->child_count > IR_RANK_MAX)
		return diag_error(diags, E_TEMPLATE_INPUT, axes->span,
				  "a tensor has at most %d axes", IR_RANK_MAX);
	for (uint32_t i = 0; i < axes->child_count; i++)
		if (!template_extent(template, axes->child[i], &value->extent[i]))
			return false;
	value->rank = axes->child_count;
	extent_of_axis(AXIS_BATCH, &batch);
	extent_of_axis(AXIS_SEQ, &seq);
	if (value->rank >= 2 && extent_equal(&value->extent[0], &batch) &&
	    extent_equal(&value->extent[1], &seq))
		return true;
	diag_error(diags, E_TEMPLATE_INPUT, axes->span,
		   "the first two axes of a layer's input must be 'batch' and 'seq'");
	diag_help(diags, "for instance %s : [batch, seq, hidden]", item->name);
	return false;
}

/* Of two inputs the one with two axes is token numbers, which do not come from
 * the layer before. */
static bool place_input(struct template *template, const struct ast *item)
{
	uint32_t value = (uint32_t)template->value.count - 1;
	uint32_t first = template->input;

	template->input = value;
	if (first == IR_NONE)
		return true;
	if ((template->value.at[first].rank == 2) !=
	    (template->value.at[value].rank == 2)) {
		template->tokens = template->value.at[value].rank == 2 ? value :
									 first;
		template->input = template->tokens == value ? first : value;
		return true;
	}
	template->input = first;
	diag_error(template->lower->diags, E_TEMPLATE_INPUT, item->span,
		   "a layer has one input, and '%s' would be a second", item->name);
	diag_label(template->lower->diags, template->value.at[first].span,
		   "this is its input");
	diag_note(template->lower->diags, SPAN_NONE,
		  "token numbers [batch, seq] may stand beside it");
	return false;
}

static bool template_input(struct template *template, const struct ast *item)
{
	struct diags *diags = template->lower->diags;
	struct ir_value value = {
		.name = item->name,
		.span = item->span,
		.producer = IR_NONE,
		.router = IR_NONE,
	};

	if (template->input != IR_NONE && template->tokens != IR_NONE) {
		diag_error(diags, E_TEMPLATE_INPUT, item->span,
			   "a layer has one input and token numbers, and '%s' "
			   "would be a third", item->name);
		diag_label(diags, template->value.at[template->input].span,
			   "this is its input");
		return false;
	}
	if (!template_name_is_free(template, item) ||
	    !input_shape(template, item, &value))
		return false;
	VEC_PUSH(&template->value, template->lower->arena, value);
	template_name_value(template, item,
			    (uint32_t)template->value.count - 1);
	return place_input(template, item);
}

static bool template_return(struct template *template, const struct ast *item)
{
	if (template->output != IR_NONE) {
		diag_error(template->lower->diags, E_TEMPLATE_RETURN, item->span,
			   "template '%s' returns twice", template->name);
		return false;
	}
	return template_tensor(template, item->child[0], &template->output);
}

static bool template_refuse(struct template *template, const struct ast *item)
{
	struct diags *diags = template->lower->diags;

	if (item->kind == AST_FOR)
		return lower_not_yet(template->lower, item->span,
				     "'for' in a template");
	if (item->kind == AST_ITEM) {
		diag_error(diags, E_UNUSED_VALUE, item->span,
			   "the result of this expression is never used");
		diag_help(diags, "give it a name and use it, or return it");
		return false;
	}
	diag_error(diags, E_TEMPLATE_ITEM, item->span,
		   "%s does not belong in a template", ast_a_kind(item->kind));
	diag_help(diags, "a template holds splits, its input (x : [batch, seq, hidden]), "
		  "named values (n = rmsnorm(x)) and one return");
	return false;
}

static bool template_item(struct template *template, const struct ast *item)
{
	switch (item->kind) {
	case AST_SPLIT:			/* done before */
		return true;
	case AST_FIELD:
	case AST_LET:
		return template_assign(template, item);
	case AST_VALUE:
		return template_input(template, item);
	case AST_RETURN:
		return template_return(template, item);
	case AST_ERROR:
		return false;
	default:
		return template_refuse(template, item);
	}
}

/* Stops at the first wrong item: what follows builds on it. */
static bool template_items(struct template *template, const struct ast *body)
{
	struct diags *diags = template->lower->diags;
	const struct ast *done = NULL;

	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (!item)
			continue;
		if (done && item->kind != AST_SPLIT) {
			diag_error(diags, E_TEMPLATE_RETURN, item->span,
				   "nothing may follow the return of a template");
			diag_label(diags, done->span, "it returns here");
			return false;
		}
		if (!template_item(template, item))
			return false;
		if (item->kind == AST_RETURN)
			done = item;
	}
	if (done)
		return true;
	diag_error(diags, E_TEMPLATE_RETURN, template->layer->declaration->name_span,
		   "template '%s' returns nothing", template->name);
	diag_help(diags, "end it with the layer's result, for instance: return y");
	return false;
}

/* ---- afterwards ---- */

static bool check_used(struct template *template)
{
	struct diags *diags = template->lower->diags;
	bool good = true;

	for (size_t i = 0; i < template->known.count; i++) {
		const struct template_name *known = &template->known.at[i];

		if (known->value == IR_NONE || known->used)
			continue;
		good = diag_error(diags, E_UNUSED_VALUE, known->span,
				  "value '%s' is never used", known->name);
		diag_help(diags, "use it or remove it: it would be computed for nothing");
	}
	return good;
}

/* ---- the whole ---- */

static void predefine(struct template *template)
{
	struct lower *lower = template->lower;
	const struct ast *declaration = template->layer->declaration;
	struct ir_axis batch = {
		.name = intern_string(&lower->compilation->intern, "batch"),
		.split = IR_SPLIT_DATA,
		.span = declaration->name_span,
		.split_span = SPAN_NONE,
	};
	struct ir_axis seq = {
		.name = intern_string(&lower->compilation->intern, "seq"),
		.size = lower->ir->model.sequence_length,
		.span = lower->ir->model.span,
		.split_span = SPAN_NONE,
	};

	VEC_PUSH(&template->axis, lower->arena, batch);
	VEC_PUSH(&template->axis, lower->arena, seq);
	scope_set(template->scope, seq.name, (struct value){
		.kind = VALUE_NUMBER,
		.span = seq.span,
		.number = (double)seq.size,
	});
}

static bool check_parameter_names(struct template *template)
{
	const struct ast *declaration = template->layer->declaration;

	for (uint32_t i = 0; i < declaration->child_count; i++) {
		const struct ast *list = declaration->child[i];

		if (!list || list->kind != AST_PARAMETERS)
			continue;
		for (uint32_t j = 0; j < list->child_count; j++) {
			const struct ast *parameter = list->child[j];

			if (!parameter || !parameter->name ||
			    (strcmp(parameter->name, "batch") &&
			     strcmp(parameter->name, "seq")))
				continue;
			return diag_error(template->lower->diags, E_NAMED_TWICE,
					  parameter->name_span,
					  "'%s' is an axis of every template and "
					  "cannot be a parameter", parameter->name);
		}
	}
	return true;
}

static bool template_run(struct template *template, struct ir_class *class)
{
	const struct ast *body = lower_body(template->layer->declaration);
	struct lower *lower = template->lower;
	bool good = true;

	if (!body || !check_parameter_names(template))
		return false;
	predefine(template);
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i] && body->child[i]->kind == AST_SPLIT)
			good = template_split(template, body->child[i]) && good;
	if (!good || !template_items(template, body) || !check_used(template))
		return false;
	template_keep_needed(template, class);
	return template_check_splits(lower, class) &&
	       class_count_parameters(lower, class);
}

bool lower_template(struct lower *lower, const struct record *layer,
		    struct ir_class *class)
{
	struct template template = {
		.lower = lower,
		.layer = layer,
		.name = layer->declaration->name,
		.scope = scope_new(lower->arena, layer->scope),
		.input = IR_NONE,
		.tokens = IR_NONE,
		.output = IR_NONE,
		.router = IR_NONE,
	};
	struct diag_frame frame;
	bool good;

	*class = (struct ir_class){
		.name = template.name,
		.template_ast = layer->declaration,
		.span = layer->span,
	};
	diag_push_frame(lower->diags, &frame, layer->span,
			arena_printf(lower->arena, "in template '%s' applied here",
				     template.name));
	good = template_run(&template, class);
	diag_pop_frame(lower->diags);
	return good;
}

/* SPDX-License-Identifier: MIT
 *
 * A template applied to arguments becomes a layer class: its splits first,
 * then its items in order, each tensor expression adding operators; then what
 * does not reach the returned value is dropped, the splits are checked, and
 * parameters are counted.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/lower.h"

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

/* ---- tensor expressions ---- */

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
		   "a %s does not belong in a template", ast_kind_name(item->kind));
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

/* Marks what the result needs, from last to first: operators are in order. */
static void mark_needed(const struct template *template, bool *value_needed)
{
	value_needed[template->output] = true;
	for (size_t i = template->operator.count; i-- > 0;) {
		const struct ir_operator *operator = &template->operator.at[i];

		if (!value_needed[operator->output])
			continue;
		for (uint32_t j = 0; j < operator->input_count; j++)
			value_needed[operator->input[j]] = true;
	}
}

static void mark_axes(const struct ir_extent *extent, bool *needed)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			needed[extent->term[i].axis[j]] = true;
}

static void number_axes(struct ir_extent *extent, const uint32_t *number)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			extent->term[i].axis[j] = number[extent->term[i].axis[j]];
}

/* Drops axes that nothing has: one that is only split must not restrict how
 * the layer is cut. Their order stays, so that normal forms do. */
static void keep_axes(struct template *template, struct ir_class *class)
{
	bool needed[AXES_MAX] = { [AXIS_BATCH] = true, [AXIS_SEQ] = true };
	uint32_t number[AXES_MAX];

	for (uint32_t i = 0; i < class->value_count; i++)
		for (uint32_t j = 0; j < class->value[i].rank; j++)
			mark_axes(&class->value[i].extent[j], needed);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		mark_axes(&class->operator[i].from, needed);
		mark_axes(&class->operator[i].to, needed);
	}
	class->axis = ARENA_ARRAY(template->lower->arena, struct ir_axis,
				  template->axis.count);
	for (size_t i = 0; i < template->axis.count; i++) {
		number[i] = class->axis_count;
		if (needed[i])
			class->axis[class->axis_count++] = template->axis.at[i];
	}
	for (uint32_t i = 0; i < class->value_count; i++)
		for (uint32_t j = 0; j < class->value[i].rank; j++)
			number_axes(&class->value[i].extent[j], number);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		struct ir_operator *operator = &class->operator[i];

		number_axes(&operator->from, number);
		number_axes(&operator->to, number);
		if (operator->kind != IR_ATTENTION)
			continue;
		/* The inputs have these, so they are kept. */
		operator->heads_axis = number[operator->heads_axis];
		operator->kv_heads_axis = number[operator->kv_heads_axis];
	}
}

/* Copies what is needed into the class with new numbers: branches that were
 * not taken may have left operators nobody needs. */
static void keep_needed(struct template *template, struct ir_class *class)
{
	struct arena *arena = template->lower->arena;
	size_t values = template->value.count;
	bool *needed = ARENA_ARRAY(arena, bool, values);
	uint32_t *number = ARENA_ARRAY(arena, uint32_t, values);
	uint32_t *router = ARENA_ARRAY(arena, uint32_t, template->operator.count);

	mark_needed(template, needed);
	class->value = ARENA_ARRAY(arena, struct ir_value, values);
	class->operator = ARENA_ARRAY(arena, struct ir_operator,
				      template->operator.count);
	for (size_t i = 0; i < values; i++) {
		number[i] = class->value_count;
		if (needed[i])
			class->value[class->value_count++] = template->value.at[i];
	}
	for (size_t i = 0; i < template->operator.count; i++) {
		struct ir_operator operator = template->operator.at[i];

		if (!needed[operator.output])
			continue;
		for (uint32_t j = 0; j < operator.input_count; j++)
			operator.input[j] = number[operator.input[j]];
		operator.output = number[operator.output];
		class->value[operator.output].producer = class->operator_count;
		router[i] = class->operator_count;
		class->operator[class->operator_count++] = operator;
	}
	for (uint32_t i = 0; i < class->value_count; i++)
		if (class->value[i].router != IR_NONE)
			class->value[i].router = router[class->value[i].router];
	class->tokens = IR_NONE;
	if (template->tokens != IR_NONE && needed[template->tokens])
		class->tokens = number[template->tokens];
	class->input = IR_NONE;
	if (template->input != IR_NONE && needed[template->input])
		class->input = number[template->input];
	class->output = number[template->output];
	keep_axes(template, class);
}

/* ---- parameters ---- */

static bool add_product(uint64_t a, uint64_t b, uint64_t *sum)
{
	uint64_t product;

	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum) &&
	       *sum <= SIZE_MAX_EXACT;
}

/* The elements an operator owns, for one expert where there are several. */
static bool own_parameters(const struct ir_class *class,
			   const struct ir_operator *operator, uint64_t *sum)
{
	const struct ir_value *input = &class->value[operator->input[0]];
	uint64_t last = ir_extent_size(class, &input->extent[input->rank - 1]);
	uint64_t from = ir_extent_size(class, &operator->from);
	uint64_t to = ir_extent_size(class, &operator->to);

	switch (operator->kind) {
	case IR_LINEAR:
	case IR_ROUTER:
		return add_product(from, to, sum) &&
		       add_product(operator->bias, to, sum);
	case IR_EMBEDDING:
		return operator->tied ||
		       (add_product(from, to, sum) &&
			add_product(operator->positions, to, sum) &&
			add_product(operator->types, to, sum));
	case IR_LM_HEAD:
		return (operator->tied || add_product(from, to, sum)) &&
		       add_product(operator->bias, to, sum);
	case IR_RMSNORM:
	case IR_LAYERNORM:
		return add_product(operator->bias ? 2 : 1,
				   operator->from.term_count ? from : last, sum);
	case IR_CUSTOM:
		return add_product(1, (uint64_t)operator->custom_parameters, sum);
	default:
		return true;
	}
}

static bool add_parameters(struct ir_class *class,
			   const struct ir_operator *operator)
{
	const struct ir_operator *router = ir_operator_router(class, operator);
	uint64_t own = 0;

	return own_parameters(class, operator, &own) &&
	       add_product(own, router ? ir_extent_size(class, &router->to) : 1,
			   &class->parameters) &&
	       add_product(own, router ? router->top_k : 1,
			   &class->active_parameters);
}

static bool count_parameters(struct lower *lower, struct ir_class *class)
{
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (!add_parameters(class, &class->operator[i]))
			return diag_error(lower->diags, E_TEMPLATE_SIZE,
					  class->operator[i].span,
					  "layer '%s' has more than 2^53 parameters",
					  class->name);
	return true;
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
	keep_needed(template, class);
	return template_check_splits(lower, class) && count_parameters(lower, class);
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

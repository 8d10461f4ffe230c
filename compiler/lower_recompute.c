/* SPDX-License-Identifier: MIT
 *
 * `recompute_modules = [core_attn, mlp]`: the parts of a layer that selective
 * recomputation redoes. Each must be somewhere in the model, and none inside
 * another.
 */
#include "compiler/lower.h"
#include "compiler/recompute_module.h"

/* Whether any block of the model has the module. */
static bool model_has(const struct lower *lower, enum recompute_module module)
{
	const struct ir_model *model = &lower->ir->model;

	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_class *class = &model->class[i];
		uint32_t *modules = recompute_modules_of(class, lower->arena);

		for (uint32_t j = 0; class->is_block && j < class->operator_count; j++)
			if (modules[j] & recompute_module_bit(module))
				return true;
	}
	return false;
}

static bool unknown_module(struct lower *lower, const struct value *value,
			   struct span span)
{
	struct text list;

	text_init(&list, lower->arena);
	for (int i = 0; i < RECOMPUTE_MODULE_COUNT; i++)
		text_printf(&list, "%s%s", i ? ", " : "",
			    recompute_module_name((enum recompute_module)i));
	diag_error(lower->diags, E_JOB_VALUE, span,
		   "'recompute_modules' is a list of: %s", list.at);
	if (value->kind == VALUE_SYMBOL)
		lower_suggest(lower, value->string, recompute_module_names(),
			      RECOMPUTE_MODULE_COUNT);
	return false;
}

/* Neither twice nor inside another. */
static bool check_beside(struct lower *lower, enum recompute_module module,
			 struct span span)
{
	uint32_t set = lower->ir->job.recompute_modules;

	if (set & recompute_module_bit(module))
		return diag_error(lower->diags, E_JOB_VALUE, span,
				  "'%s' is in 'recompute_modules' twice",
				  recompute_module_name(module));
	for (int i = 0; i < RECOMPUTE_MODULE_COUNT; i++) {
		enum recompute_module other = (enum recompute_module)i, inner;

		if (!(set & recompute_module_bit(other)))
			continue;
		if (recompute_module_around(module) & recompute_module_bit(other))
			inner = module;
		else if (recompute_module_around(other) &
			 recompute_module_bit(module))
			inner = other;
		else
			continue;
		diag_error(lower->diags, E_JOB_VALUE, span,
			   "'%s' is a part of '%s', which is redone whole",
			   recompute_module_name(inner),
			   recompute_module_name(inner == module ? other : module));
		diag_help(lower->diags, "leave out '%s'",
			  recompute_module_name(inner));
		return false;
	}
	return true;
}

static bool add_module(struct lower *lower, const struct value *value,
		       struct span span)
{
	enum recompute_module module = RECOMPUTE_MODULE_COUNT;

	if (value->kind == VALUE_ERROR)
		return false;
	if (value->kind == VALUE_SYMBOL)
		module = recompute_module_find(value->string);
	if (module == RECOMPUTE_MODULE_COUNT)
		return unknown_module(lower, value, span);
	if (!check_beside(lower, module, span))
		return false;
	if (lower->ir->model.class_count && !model_has(lower, module)) {
		diag_error(lower->diags, E_JOB_VALUE, span,
			   "'%s' has nothing that '%s' would redo",
			   lower->ir->model.name, recompute_module_name(module));
		diag_help(lower->diags, "it is for models with %s",
			  recompute_module_what(module));
		return false;
	}
	lower->ir->job.recompute_modules |= recompute_module_bit(module);
	return true;
}

bool lower_recompute_modules(struct lower *lower)
{
	const struct ast *field =
		lower_field(lower_body(lower->job), "recompute_modules");
	struct value value;
	uint64_t count;

	if (!field)
		return true;
	lower->ir->job.recompute_modules_span = field->span;
	if (!eval_expression(&lower->eval, lower->scope, field->child[0], &value) ||
	    value.kind == VALUE_ERROR)
		return false;
	if (value.kind != VALUE_LIST || !value_count(&value, &count) || !count)
		return unknown_module(lower, &value, field->child[0]->span);
	for (uint64_t i = 0; i < count; i++) {
		struct value element = value_at(&value, i);
		struct span span = element.span.file == field->span.file ?
					   element.span : field->child[0]->span;

		if (!add_module(lower, &element, span))
			return false;
	}
	return true;
}

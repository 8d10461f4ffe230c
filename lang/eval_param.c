/* SPDX-License-Identifier: MIT
 *
 * Parameters of a spec: their types, and -D on the command line.
 */
#include <string.h>

#include "lang/call.h"
#include "lang/eval_internal.h"
#include "lang/module.h"
#include "lang/parse.h"

static const struct {
	const char *name;
	enum record_kind kind;
} record_types[] = {
	{ "device", RECORD_DEVICE },
	{ "topology", RECORD_TOPOLOGY },
	{ "level", RECORD_LEVEL },
	{ "model", RECORD_MODEL },
	{ "layer", RECORD_LAYER },
};

#define RECORD_TYPE_COUNT (sizeof(record_types) / sizeof(*record_types))

static bool is_type(const char *name, const char *type)
{
	return !strcmp(name, type);
}

bool type_is_known(const char *name)
{
	struct unit unit;

	for (size_t i = 0; i < RECORD_TYPE_COUNT; i++)
		if (is_type(name, record_types[i].name))
			return true;
	return is_type(name, "int") || is_type(name, "float") ||
	       is_type(name, "bool") || is_type(name, "string") ||
	       is_type(name, "word") || is_type(name, "list") ||
	       is_type(name, "set") || unit_of_type(name, &unit);
}

/* Types of one kind of value; false if the type is another. */
static bool check_plain_kind(struct eval *eval, const char *type,
			     const struct value *value, struct span span,
			     const char *what, bool *ok)
{
	static const struct {
		const char *type;
		enum value_kind kind;
		const char *wanted;
	} kinds[] = {
		{ "string", VALUE_STRING, "a string" },
		{ "word", VALUE_SYMBOL, "a word" },
		{ "list", VALUE_LIST, "a list" },
		{ "set", VALUE_SET, "a set" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!is_type(type, kinds[i].type))
			continue;
		*ok = value->kind == kinds[i].kind ||
		      (kinds[i].kind == VALUE_SET && value->kind == VALUE_RANGE) ||
		      eval_wrong_kind(eval, value, span, what, kinds[i].wanted);
		return true;
	}
	return false;
}

static bool check_bool(struct eval *eval, struct value *value, struct span span,
		       const char *what)
{
	bool on = value->kind == VALUE_SYMBOL && !strcmp(value->string, "on");
	bool off = value->kind == VALUE_SYMBOL && !strcmp(value->string, "off");

	if (on || off) {
		value->kind = VALUE_BOOL;
		value->boolean = on;
		return true;
	}
	return value->kind == VALUE_BOOL ||
	       eval_wrong_kind(eval, value, span, what, "true or false");
}

static bool check_quantity(struct eval *eval, const struct ast *expression,
			   struct value *value, struct unit unit,
			   const char *what)
{
	struct diags *diags = &eval->compilation->diags;

	if (value->kind != VALUE_NUMBER)
		return eval_wrong_kind(eval, value, expression->span, what,
				       eval_describe_unit(eval, unit));
	if (unit_equal(value->unit, unit))
		return true;
	if (!unit_is_none(value->unit))
		return diag_error(diags, E_DIMENSION, expression->span,
				  "%s must be %s, and %s is %s", what,
				  eval_describe_unit(eval, unit),
				  eval_show(eval, value),
				  eval_describe(eval, value));
	if (value->number == 0) {
		value->unit = unit;
		return true;
	}
	diag_error(diags, E_NEEDS_UNIT, expression->span,
		   "%s must be %s, and %s has no unit", what,
		   eval_describe_unit(eval, unit), eval_show(eval, value));
	eval_suggest_unit(eval, expression, value, unit);
	return false;
}

static bool check_record(struct eval *eval, const struct ast *expression,
			 struct value *value, size_t type, const char *what)
{
	if (!eval_force(eval, expression->span, value))
		return false;
	if (value->kind == VALUE_RECORD &&
	    value->record->kind == record_types[type].kind)
		return true;
	return eval_wrong_kind(eval, value, expression->span, what,
			       arena_printf(&eval->compilation->arena, "a %s",
					    record_types[type].name));
}

bool eval_check_type(struct eval *eval, struct scope *scope,
		     const struct ast *type, const char *name,
		     const struct ast *expression, struct value *value)
{
	const int64_t most = (int64_t)VALUE_INTEGER_MAX;
	struct unit unit;
	const char *what;
	int64_t number;
	bool ok;

	if (!type || value->kind == VALUE_ERROR)
		return true;
	what = arena_printf(&eval->compilation->arena, "'%s'", name);
	if (is_type(type->name, "int"))
		return eval_whole(eval, scope, expression, value, -most, most,
				  what, &number);
	if (is_type(type->name, "float"))
		return check_quantity(eval, expression, value, UNIT_NONE, what);
	if (is_type(type->name, "bool"))
		return check_bool(eval, value, expression->span, what);
	if (check_plain_kind(eval, type->name, value, expression->span, what,
			     &ok))
		return ok;
	for (size_t i = 0; i < RECORD_TYPE_COUNT; i++)
		if (is_type(type->name, record_types[i].name))
			return check_record(eval, expression, value, i, what);
	if (unit_of_type(type->name, &unit))
		return check_quantity(eval, expression, value, unit, what);
	return false;		/* unknown: reported by the checker */
}

/* ---- overrides ---- */

static struct override *override_of(struct compilation *compilation,
				    const struct ast *declaration)
{
	struct override *found = NULL;

	/* The last -D of a name counts. */
	for (uint32_t i = 0; i < compilation->override_count; i++)
		if (compilation->override[i].declaration == declaration)
			found = &compilation->override[i];
	return found;
}

/* Without a type the new value must be of the default's kind and dimension. */
static bool like_default(struct eval *eval, const struct ast *declaration,
			 const struct value *usual,
			 const struct ast *expression, struct value *value)
{
	struct diags *diags = &eval->compilation->diags;
	const char *what = arena_printf(&eval->compilation->arena, "'%s'",
					declaration->name);
	bool ok;

	if (usual->kind == VALUE_NUMBER)
		ok = check_quantity(eval, expression, value, usual->unit, what);
	else if (usual->kind == VALUE_BOOL)
		ok = check_bool(eval, value, expression->span, what);
	else if (usual->kind == VALUE_RECORD)
		ok = eval_force(eval, expression->span, value) &&
		     ((value->kind == VALUE_RECORD &&
		       value->record->kind == usual->record->kind) ||
		      eval_wrong_kind(eval, value, expression->span, what,
				      eval_describe(eval, usual)));
	else
		ok = value->kind == usual->kind ||
		     eval_wrong_kind(eval, value, expression->span, what,
				     eval_describe(eval, usual));
	if (!ok)
		diag_note(diags, declaration->span, "its default is %s",
			  eval_show(eval, usual));
	return ok;
}

static const struct ast *override_parse(struct compilation *compilation,
					const struct override *override)
{
	const char *name = arena_printf(&compilation->arena,
					"<command line: -D %s>", override->name);
	uint32_t file = sources_add(&compilation->sources, name, name,
				    override->expression,
				    strlen(override->expression), false);

	return parse_expression(compilation, file);
}

bool eval_param(struct eval *eval, struct binding *binding, struct value *value)
{
	const struct ast *declaration = binding->declaration;
	const struct ast *type = declaration->child[0];
	const struct ast *usual_ast = declaration->child[1];
	struct override *override = override_of(eval->compilation, declaration);
	const struct ast *expression;
	struct value usual;

	if (!override)
		return eval_expression(eval, binding->home, usual_ast, value) &&
		       eval_check_type(eval, binding->home, type,
				       declaration->name, usual_ast, value);
	expression = override_parse(eval->compilation, override);
	if (!expression ||
	    !eval_expression(eval, binding->home, expression, value))
		return false;
	if (type)
		return eval_check_type(eval, binding->home, type,
				       declaration->name, expression, value);
	if (!eval_expression(eval, binding->home, usual_ast, &usual))
		return false;
	return like_default(eval, declaration, &usual, expression, value);
}

/* The params of a module's own text, for the list in a message. */
static const char *list_params(struct compilation *compilation,
			       const struct module *module)
{
	struct text text;
	uint32_t count = 0;

	text_init(&text, &compilation->arena);
	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];

		if (item->kind != AST_PARAM)
			continue;
		if (count < 20)
			text_printf(&text, "%s'%s'", count ? ", " : "",
				    item->name);
		count++;
	}
	if (count > 20)
		text_append(&text, ", ...");
	return count ? text.at : NULL;
}

static const char *suggest_param(const struct module *module, const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 0, distance;

	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];

		if (item->kind == AST_PARAM && item->name &&
		    diag_resembles(name, item->name, &distance) &&
		    (!best || distance < best_distance)) {
			best = item->name;
			best_distance = distance;
		}
	}
	return best;
}

static void report_override(struct compilation *compilation,
			    const struct module *module,
			    const struct override *override,
			    const struct binding *binding)
{
	struct diags *diags = &compilation->diags;
	const char *list = list_params(compilation, module);
	const char *suggestion = suggest_param(module, override->name);

	if (binding && binding->declaration) {
		diag_error(diags, E_UNKNOWN_OVERRIDE, SPAN_NONE,
			   "-D %s: '%s' is no param", override->name,
			   override->name);
		diag_note(diags, binding->declaration->span,
			  "'%s' is declared here", override->name);
		if (binding->declaration->kind == AST_LET)
			diag_help(diags, "make it a 'param' to let the command line change it");
		return;
	}
	diag_error(diags, E_UNKNOWN_OVERRIDE, SPAN_NONE,
		   "-D %s: there is no param of that name", override->name);
	if (list)
		diag_note(diags, SPAN_NONE, "the params are %s", list);
	else
		diag_note(diags, SPAN_NONE, "this spec has no params");
	if (suggestion)
		diag_help(diags, "did you mean '%s'?", suggestion);
}

void eval_overrides_bind(struct compilation *compilation,
			 const struct module *module)
{
	for (uint32_t i = 0; i < compilation->override_count; i++) {
		struct override *override = &compilation->override[i];
		const char *name = intern_string(&compilation->intern,
						 override->name);
		const struct binding *binding = scope_find(module->scope, name);

		if (binding && !binding->rival && binding->declaration &&
		    binding->declaration->kind == AST_PARAM) {
			override->declaration = binding->declaration;
			override->used = true;
		} else {
			report_override(compilation, module, override, binding);
		}
	}
}

void eval_module(struct eval *eval, const struct module *module)
{
	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];
		struct binding *binding;
		struct value value;

		if (!item || !item->name)
			continue;
		if (item->kind != AST_LET && item->kind != AST_PARAM &&
		    item->kind != AST_DEVICE && item->kind != AST_TOPOLOGY &&
		    item->kind != AST_MODEL)
			continue;
		binding = scope_find_here(module->scope, item->name);
		if (!binding || binding->declaration != item ||
		    !eval_binding(eval, binding, item->name_span, &value))
			continue;
		if (item->kind != AST_LET && item->kind != AST_PARAM &&
		    declaration_needs_no_argument(item))
			eval_force(eval, item->name_span, &value);
	}
}

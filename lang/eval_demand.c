/* SPDX-License-Identifier: MIT
 *
 * Demands: an expression must give a kind of value, a dimension, a whole number
 * within bounds. What is wrong is told with the way out people mostly need: the
 * usual unit, a rate in place of a size, text without its quotes.
 */
#include <math.h>
#include <string.h>

#include "lang/eval_internal.h"
#include "lang/name_report.h"

bool eval_wrong_kind(struct eval *eval, const struct value *value,
		     struct span span, const char *what, const char *wanted)
{
	struct diags *diags = &eval->compilation->diags;

	if (value->kind == VALUE_ERROR)
		return false;
	if (value->kind == VALUE_PLAN_VARIABLE)
		return report_plan_name(diags, value->string, span);
	if (value->kind == VALUE_SYMBOL)
		diag_error(diags, E_TYPE, span,
			   "%s must be %s, and '%s' is only a word", what,
			   wanted, value->string);
	else
		diag_error(diags, E_TYPE, span, "%s must be %s, and %s is %s",
			   what, wanted, eval_source_text(eval, span),
			   eval_describe(eval, value));
	if (value->kind == VALUE_CALLABLE)
		diag_help(diags, "call it: '%s(..)'",
			  value->callable.declaration->name);
	return false;
}

/* The unit people mostly write for a dimension, and an example of a number. */
struct usual_unit {
	struct unit unit;
	const char *spelling;
	const char *example;
};

static const struct usual_unit usual_units[] = {
	{ UNIT_NONE, "", "1" },
	{ UNIT_BYTE, "GiB", "80" },
	{ UNIT_SECOND, "us", "3" },
	{ UNIT_BYTE_PER_SECOND, "GB/s", "450" },
	{ UNIT_FLOP, "TFLOP", "1" },
	{ UNIT_FLOP_PER_SECOND, "TFLOP/s", "989" },
	{ UNIT_WATT, "W", "700" },
	{ UNIT_DOLLAR_PER_SECOND, "$/h", "2.5" },
};

static const struct usual_unit *usual_unit_find(struct unit unit)
{
	for (size_t i = 0; i < sizeof(usual_units) / sizeof(*usual_units); i++)
		if (unit_equal(usual_units[i].unit, unit))
			return &usual_units[i];
	return NULL;
}

void eval_suggest_unit(struct eval *eval, const struct ast *expression,
		       const struct value *value, struct unit unit)
{
	const struct usual_unit *usual = usual_unit_find(unit);
	struct diags *diags = &eval->compilation->diags;
	struct text number;

	if (!usual || unit_is_none(unit))
		return;
	text_init(&number, diags->arena);
	if (expression && expression->kind == AST_NUMBER && expression->text &&
	    strchr(expression->text, '%')) {
		diag_help(diags, "say of what it is a share, for instance '%s * device.memory'",
			  expression->text);
		return;
	}
	if (expression && expression->kind == AST_NUMBER && expression->text)
		text_append(&number, expression->text);
	else
		text_append_number(&number, value->number);
	text_append(&number, usual->spelling);
	diag_help(diags, "give it a unit, for instance '%s'", number.at);
	if (expression && expression->kind == AST_NUMBER)
		diag_fix(diags, expression->span, number.at);
}

void eval_suggest_unquoted(struct eval *eval, const struct ast *expression,
			   const struct value *value)
{
	struct diags *diags = &eval->compilation->diags;
	static const char plain[] =
		"0123456789_./%$"
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *text = value->string;

	if (value->kind != VALUE_STRING || !*text ||
	    strspn(text, plain) != strlen(text))
		return;
	diag_help(diags, "write it without the quotes: %s", text);
	if (expression && expression->kind == AST_STRING)
		diag_fix(diags, expression->span, text);
}

/* 450GB for 450GB/s. */
static void suggest_per_second(struct eval *eval, const struct ast *expression,
			       const struct value *value, struct unit unit)
{
	struct diags *diags = &eval->compilation->diags;
	struct unit rate;
	const char *text;
	bool written;

	if (!unit_divide(value->unit, UNIT_SECOND, &rate) ||
	    !unit_equal(rate, unit))
		return;
	written = expression && expression->kind == AST_NUMBER &&
		  expression->text;
	text = arena_printf(diags->arena, "%s/s",
			    written ? expression->text : eval_show(eval, value));
	diag_help(diags, "give it per second, for instance '%s'", text);
	if (written)
		diag_fix(diags, expression->span, text);
}

static bool number_of(struct eval *eval, const struct ast *expression,
		      const struct value *value, struct span span,
		      struct unit unit, const char *what, double *number)
{
	struct diags *diags = &eval->compilation->diags;

	if (value->kind != VALUE_NUMBER) {
		eval_wrong_kind(eval, value, span, what,
				eval_describe_unit(eval, unit));
		eval_suggest_unquoted(eval, expression, value);
		return false;
	}
	if (unit_equal(value->unit, unit) ||
	    (unit_is_none(value->unit) && value->number == 0)) {
		*number = value->number;
		return true;
	}
	if (unit_is_none(value->unit)) {
		diag_error(diags, E_NEEDS_UNIT, span,
			   "%s must be %s, and %s has no unit", what,
			   eval_describe_unit(eval, unit),
			   eval_show(eval, value));
		eval_suggest_unit(eval, expression, value, unit);
		return false;
	}
	diag_error(diags, E_DIMENSION, span, "%s must be %s, and %s is %s", what,
		   eval_describe_unit(eval, unit), eval_show(eval, value),
		   eval_describe(eval, value));
	suggest_per_second(eval, expression, value, unit);
	return false;
}

bool eval_number(struct eval *eval, struct scope *scope,
		 const struct ast *expression, struct unit unit,
		 const char *what, double *number)
{
	struct value value;

	if (!eval_expression(eval, scope, expression, &value))
		return false;
	return number_of(eval, expression, &value, expression->span, unit, what,
			 number);
}

/* Shows the two sides of the division that gave a broken number. */
static void explain_division(struct eval *eval, struct scope *scope,
			     const struct ast *expression)
{
	struct value left, right;

	if (!expression || expression->kind != AST_BINARY || !scope ||
	    strcmp(expression->name, "/"))
		return;
	if (!eval_expression(eval, scope, expression->child[0], &left) ||
	    !eval_expression(eval, scope, expression->child[1], &right))
		return;
	diag_note(&eval->compilation->diags, expression->span,
		  "%s = %s is not divisible by %s = %s",
		  eval_source_text(eval, expression->child[0]->span),
		  eval_show(eval, &left),
		  eval_source_text(eval, expression->child[1]->span),
		  eval_show(eval, &right));
}

bool eval_whole(struct eval *eval, struct scope *scope,
		const struct ast *expression, const struct value *value,
		int64_t low, int64_t high, const char *what, int64_t *number)
{
	struct diags *diags = &eval->compilation->diags;
	struct span span = expression ? expression->span : value->span;

	if (value->kind != VALUE_NUMBER || !unit_is_none(value->unit))
		return eval_wrong_kind(eval, value, span, what,
				       "a whole number");
	if (fabs(value->number) > VALUE_INTEGER_MAX)
		return diag_error(diags, E_OUT_OF_RANGE, span,
				  "%s is %s, and whole numbers go up to 2^53",
				  what, eval_show(eval, value));
	if (floor(value->number) != value->number) {
		diag_error(diags, E_NOT_WHOLE, span,
			   "%s must be a whole number, and %s is not", what,
			   eval_show(eval, value));
		explain_division(eval, scope, expression);
		return false;
	}
	*number = (int64_t)value->number;
	if (*number >= low && *number <= high)
		return true;
	if (*number < low)
		return diag_error(diags, E_OUT_OF_RANGE, span,
				  "%s is %lld, and must be at least %lld", what,
				  (long long)*number, (long long)low);
	return diag_error(diags, E_OUT_OF_RANGE, span,
			  "%s is %lld, and must be at most %lld", what,
			  (long long)*number, (long long)high);
}

bool eval_integer(struct eval *eval, struct scope *scope,
		  const struct ast *expression, int64_t low, int64_t high,
		  const char *what, int64_t *number)
{
	struct value value;

	if (!eval_expression(eval, scope, expression, &value))
		return false;
	return eval_whole(eval, scope, expression, &value, low, high, what,
			  number);
}

bool eval_boolean(struct eval *eval, struct scope *scope,
		  const struct ast *expression, const char *what, bool *boolean)
{
	struct value value;

	if (!eval_expression(eval, scope, expression, &value))
		return false;
	if (value.kind == VALUE_SYMBOL && (!strcmp(value.string, "on") ||
					   !strcmp(value.string, "off"))) {
		*boolean = !strcmp(value.string, "on");
		return true;
	}
	if (value.kind != VALUE_BOOL)
		return eval_wrong_kind(eval, &value, expression->span, what,
				       "true or false");
	*boolean = value.boolean;
	return true;
}

bool eval_loop(struct eval *eval, struct scope *scope,
	       const struct ast *expression, struct value *range, uint64_t *count)
{
	return eval_expression(eval, scope, expression, range) &&
	       (value_count(range, count) ||
		eval_wrong_kind(eval, range, expression->span,
				"what 'for' runs over",
				"a range, a list or a set"));
}

bool eval_field_number(struct eval *eval, const struct record *record,
		       const char *name, struct unit unit, bool required,
		       double *number)
{
	struct compilation *compilation = eval->compilation;
	const struct usual_unit *usual;
	const struct field *field;
	const char *what;

	field = record_find(record, intern_string(&compilation->intern, name));
	what = arena_printf(&compilation->arena, "'%s'", name);
	if (field)
		return number_of(eval, NULL, field->value, field->value->span,
				 unit, what, number);
	if (!required)
		return true;
	/* A misspelt one is reported as such. */
	for (uint32_t i = 0; i < record->field_count; i++)
		if (diag_resembles(record->field[i].name, name, NULL))
			return false;
	diag_error(&compilation->diags, E_MISSING_FIELD, record->span,
		   "%s '%s' does not say its '%s'",
		   record_kind_name(record->kind),
		   record->name ? record->name : "", name);
	usual = usual_unit_find(unit);
	if (usual)
		diag_help(&compilation->diags, "add for instance '%s = %s%s'",
			  name, usual->example, usual->spelling);
	return false;
}

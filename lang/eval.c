/* SPDX-License-Identifier: MIT
 *
 * Expressions. Evaluation is total: every step counts against a limit, every
 * level of nesting against another, and a name that needs itself is an error.
 */
#include "lang/eval.h"

#include <math.h>
#include <string.h>

#include "lang/base/vec.h"
#include "lang/call.h"
#include "lang/eval_internal.h"
#include "lang/fix.h"
#include "lang/foreign.h"
#include "lang/module.h"
#include "lang/symbol.h"

/* Names listed for one that is only their beginning. */
#define BEGINNINGS_MAX 5

void eval_init(struct eval *eval, struct compilation *compilation)
{
	memset(eval, 0, sizeof(*eval));
	eval->compilation = compilation;
}

bool eval_steps(struct eval *eval, uint64_t steps, struct span span)
{
	uint64_t limit = eval->compilation->step_max;

	if (eval->stopped)
		return false;
	if (steps <= limit && eval->steps <= limit - steps) {
		eval->steps += steps;
		return true;
	}
	eval->stopped = true;
	diag_error(&eval->compilation->diags, E_STEP_LIMIT, span,
		   "evaluation takes more than %llu steps",
		   (unsigned long long)limit);
	diag_help(&eval->compilation->diags,
		  "repeat equal layers with 'N * layer(..)', and name a value used often with 'let'");
	return false;
}

bool eval_step(struct eval *eval, struct span span)
{
	return eval_steps(eval, 1, span);
}

const char *eval_show(struct eval *eval, const struct value *value)
{
	struct text text;

	text_init(&text, &eval->compilation->arena);
	value_print(value, &text);
	return text.at;
}

const char *eval_describe(struct eval *eval, const struct value *value)
{
	struct text text;

	text_init(&text, &eval->compilation->arena);
	return value_describe(value, &text);
}

const char *eval_describe_unit(struct eval *eval, struct unit unit)
{
	struct text text;

	text_init(&text, &eval->compilation->arena);
	return unit_describe(unit, &text);
}

const char *eval_source_text(struct eval *eval, struct span span)
{
	const struct sources *sources = &eval->compilation->sources;
	const struct source *source;
	uint32_t length;

	if (span_is_nowhere(span) || span.file >= sources->count)
		return "this";
	source = sources->at[span.file];
	if (span.begin > span.end || span.end > source->length)
		return "this";
	length = span.end - span.begin;
	if (length > 60 || memchr(source->bytes + span.begin, '\n', length))
		return "this";
	return arena_copy(&eval->compilation->arena, source->bytes + span.begin,
			  length);
}

static bool report_plan_name(struct diags *diags, const char *name,
			     struct span span)
{
	return diag_error(diags, E_PLAN_VARIABLE, span,
			  "'%s' is known only to the solver and may stand in "
			  "require, prefer and minimize only", name);
}

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

bool eval_loop(struct eval *eval, struct scope *scope,
	       const struct ast *expression, struct value *range, uint64_t *count)
{
	return eval_expression(eval, scope, expression, range) &&
	       (value_count(range, count) ||
		eval_wrong_kind(eval, range, expression->span,
				"what 'for' runs over",
				"a range, a list or a set"));
}

bool eval_finish_number(struct eval *eval, double number, struct unit unit,
			struct span span, struct value *value)
{
	if (!isfinite(number)) {
		*value = VALUE_FAILED;
		return diag_error(&eval->compilation->diags, E_OVERFLOW, span,
				  "the result is too large to be represented");
	}
	*value = value_of_number(number, unit, span);
	return true;
}

/* ---- names ---- */

bool report_ambiguous_name(struct compilation *compilation,
			   const struct binding *binding, struct span span)
{
	struct diags *diags = &compilation->diags;

	diag_error(diags, E_AMBIGUOUS_NAME, span,
		   "'%s' comes from two imports", binding->name);
	diag_note(diags, binding->target->declaration->name_span,
		  "declared here");
	diag_note(diags, binding->rival->declaration->name_span, "and here");
	diag_help(diags, "import one of them 'as' a name and write 'name.%s'",
		  binding->name);
	return false;
}

/* A file of the standard library that declares the name at its margin, as
 * "std.device.h100"; NULL if there is none. */
static const char *library_home(struct compilation *compilation,
				const char *name)
{
	static const char *const keywords[] = {
		"device ", "topology ", "template ", "model ", "fn ", "let ",
		"param ",
	};

	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
			const char *wanted = arena_printf(&compilation->arena,
							  "\n%s%s", keywords[i],
							  name);
			size_t length = strlen(wanted);
			const char *at = file->bytes;
			const char *end = at + file->length;

			while (at && (size_t)(end - at) > length) {
				if (!memcmp(at, wanted, length) &&
				    strchr(" ({=:\n", at[length]))
					return module_dotted_name(compilation,
								  file->path);
				at = memchr(at + 1, '\n', (size_t)(end - at - 1));
			}
		}
	}
	return NULL;
}

/* "names that begin so are 'a100_pcie_80', ..". */
static void suggest_beginnings(struct diags *diags, const struct scope *scope,
			       const char *name)
{
	const char *found[BEGINNINGS_MAX];
	uint32_t count = scope_beginnings(scope, name, found, BEGINNINGS_MAX);
	struct text list;

	if (!count)
		return;
	text_init(&list, diags->arena);
	for (uint32_t i = 0; i < count; i++)
		text_printf(&list, "%s'%s'",
			    !i ? "" : i + 1 < count ? ", " : " and ", found[i]);
	diag_help(diags, count == 1 ? "did you mean %s?" :
				      "names that begin so are %s", list.at);
}

bool report_unknown_name(struct compilation *compilation,
			 const struct scope *scope, const char *name,
			 struct span span)
{
	struct diags *diags = &compilation->diags;
	const char *suggestion = scope_suggest(scope, name);
	const char *home = library_home(compilation, name);

	if (!home && symbol_is_known(SYMBOL_PLAN, name))
		return report_plan_name(diags, name, span);
	diag_error(diags, E_UNKNOWN_NAME, span, "unknown name '%s'", name);
	if (!suggestion)
		suggestion = symbol_suggest(SYMBOL_WORD, name);
	if (home) {
		diag_help(diags, "add 'import %s', which declares it", home);
		fix_add_import(compilation, span.file, home);
	} else if (foreign_advise(diags, name, span)) {
		return false;
	} else if (suggestion) {
		diag_help(diags, "did you mean '%s'?", suggestion);
		diag_fix(diags, span, suggestion);
	} else {
		suggest_beginnings(diags, scope, name);
	}
	return false;
}

static bool report_cycle(struct eval *eval, const struct binding *binding,
			 struct span span)
{
	struct diags *diags = &eval->compilation->diags;
	const struct eval_running *running;
	struct text chain;

	/* The innermost comes first on the list; it is printed last. */
	text_init(&chain, diags->arena);
	text_printf(&chain, "'%s'", binding->name);
	for (running = eval->running; running; running = running->outer) {
		const char *rest = chain.at;

		text_init(&chain, diags->arena);
		text_printf(&chain, "'%s' needs %s", running->binding->name,
			    rest);
		if (running->binding == binding)
			break;
	}
	return diag_error(diags, E_RECURSION, span,
			  "'%s' needs itself: %s", binding->name, chain.at);
}

static bool eval_declaration(struct eval *eval, struct binding *binding,
			     struct span span, struct value *value)
{
	const struct ast *declaration = binding->declaration;
	struct diags *diags = &eval->compilation->diags;

	switch (declaration->kind) {
	case AST_LET:
		return eval_expression(eval, binding->home,
				       declaration->child[0], value);
	case AST_PARAM:
		return eval_param(eval, binding, value);
	case AST_FUNCTION:
	case AST_EXTERN:
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
		value->kind = VALUE_CALLABLE;
		value->span = declaration->name_span;
		value->callable.declaration = declaration;
		value->callable.home = binding->home;
		if (declaration->kind == AST_TEMPLATE ||
		    declaration->kind == AST_FUNCTION ||
		    declaration->kind == AST_EXTERN ||
		    declaration_parameters(declaration))
			return true;
		return eval_force(eval, span, value);
	case AST_JOB:
		if (eval->compilation->plan_of_job)
			return eval->compilation->plan_of_job(
				eval, declaration, binding->home, value);
		diag_error(diags, E_TYPE, span, "'%s' is a job, not a value",
			   binding->name);
		diag_help(diags,
			  "only tests may speak of its plan: expect %s.tensor == 8",
			  binding->name);
		return false;
	case AST_IMPORT:
		diag_error(diags, E_TYPE, span, "'%s' is a module, not a value",
			   binding->name);
		diag_help(diags, "write '%s.name' for something it declares",
			  binding->name);
		return false;
	default:
		return false;
	}
}

bool eval_binding(struct eval *eval, struct binding *binding, struct span span,
		  struct value *value)
{
	struct eval_running running = {
		.binding = binding, .span = span, .outer = eval->running
	};
	bool ok;

	*value = VALUE_FAILED;
	if (binding->rival)
		return report_ambiguous_name(eval->compilation, binding, span);
	if (binding->state == BINDING_RUNNING)
		return report_cycle(eval, binding, span);
	if (binding->state == BINDING_UNEVALUATED) {
		binding->state = BINDING_RUNNING;
		eval->running = &running;
		ok = eval_declaration(eval, binding, span, &binding->value);
		eval->running = running.outer;
		/* What a limit stopped may succeed for another evaluation. */
		binding->state = eval->stopped ? BINDING_UNEVALUATED
					       : BINDING_DONE;
		if (!ok)
			binding->value = VALUE_FAILED;
	}
	*value = binding->value;
	return value->kind != VALUE_ERROR;
}

static bool eval_name(struct eval *eval, struct scope *scope,
		      const struct ast *expression, struct value *value)
{
	const char *name = expression->name;
	struct binding *binding = scope_find(scope, name);

	if (binding)
		return eval_binding(eval, binding, expression->span, value);
	if (symbol_is_known(SYMBOL_WORD, name)) {
		value->kind = VALUE_SYMBOL;
		value->string = name;
		return true;
	}
	return report_unknown_name(eval->compilation, scope, name,
				   expression->span);
}

/* ---- members and elements ---- */

static bool eval_module_member(struct eval *eval, const struct module *module,
			       const struct ast *expression, struct value *value)
{
	struct binding *binding = scope_find_here(module->scope,
						  expression->name);
	struct diags *diags = &eval->compilation->diags;
	struct scope own = *module->scope;
	const char *suggestion;

	if (binding && binding->declaration->kind != AST_IMPORT)
		return eval_binding(eval, binding, expression->span, value);
	diag_error(diags, E_UNKNOWN_MEMBER, expression->name_span,
		   "the module '%s' declares no '%s'",
		   expression->child[0]->name, expression->name);
	own.outer = NULL;
	suggestion = scope_suggest(&own, expression->name);
	if (suggestion)
		diag_help(diags, "did you mean '%s'?", suggestion);
	return false;
}

static bool eval_member_expression(struct eval *eval, struct scope *scope,
				   const struct ast *expression,
				   struct value *value)
{
	const struct ast *base = expression->child[0];
	struct value record;

	if (base->kind == AST_NAME) {
		const struct binding *binding = scope_find(scope, base->name);

		if (binding && binding->module)
			return eval_module_member(eval, binding->module,
						  expression, value);
	}
	if (!eval_expression(eval, scope, base, &record) ||
	    !eval_force(eval, base->span, &record))
		return false;
	return eval_member(eval, &record, expression->name,
			   expression->name_span, value);
}

static bool eval_index(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	struct diags *diags = &eval->compilation->diags;
	const struct ast *index_ast = expression->child[1];
	struct value base, index_value;
	uint64_t count;
	int64_t index;

	if (!eval_expression(eval, scope, expression->child[0], &base))
		return false;
	if (!value_count(&base, &count))
		return eval_wrong_kind(eval, &base, expression->child[0]->span,
				       "what is indexed", "a list");
	if (!eval_expression(eval, scope, index_ast, &index_value) ||
	    !eval_whole(eval, scope, index_ast, &index_value,
			-(int64_t)VALUE_INTEGER_MAX, (int64_t)VALUE_INTEGER_MAX,
			"an index", &index))
		return false;
	if (index < 0 || (uint64_t)index >= count) {
		diag_error(diags, E_INDEX, index_ast->span,
			   "there is no element %lld in %s of %llu",
			   (long long)index, eval_describe(eval, &base),
			   (unsigned long long)count);
		if (count)
			diag_help(diags, "the elements are numbered from 0 to %llu",
				  (unsigned long long)count - 1);
		return false;
	}
	*value = value_at(&base, (uint64_t)index);
	return value->kind != VALUE_ERROR;
}

/* ---- composite values ---- */

static bool eval_range(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	const int64_t most = (int64_t)VALUE_INTEGER_MAX;
	struct range range = { .step = 1 };

	if (!eval_integer(eval, scope, expression->child[0], -most, most,
			  "the low end of a range", &range.low) ||
	    !eval_integer(eval, scope, expression->child[1], -most, most,
			  "the high end of a range", &range.high))
		return false;
	if (expression->child_count > 2 && expression->child[2] &&
	    !eval_integer(eval, scope, expression->child[2], 1, most,
			  "the step of a range", &range.step))
		return false;
	value->kind = VALUE_RANGE;
	value->range = range;
	return true;
}

/* Lists keep ranges as they are; sets take their elements. */
static bool eval_items(struct eval *eval, struct scope *scope,
		       const struct ast *expression, struct value *value)
{
	bool is_set = expression->kind == AST_SET;
	VEC(struct value) item = { 0 };
	bool ok = true;

	for (uint32_t i = 0; i < expression->child_count; i++) {
		struct value one;
		uint64_t count;

		if (!eval_expression(eval, scope, expression->child[i], &one)) {
			ok = false;
			continue;
		}
		if (!is_set || one.kind != VALUE_RANGE) {
			VEC_PUSH(&item, &eval->compilation->arena, one);
			continue;
		}
		value_count(&one, &count);
		if (!eval_steps(eval, count, expression->child[i]->span))
			return false;
		for (uint64_t j = 0; j < count; j++)
			VEC_PUSH(&item, &eval->compilation->arena,
				 value_at(&one, j));
	}
	if (!ok)
		return false;
	value->kind = is_set ? VALUE_SET : VALUE_LIST;
	value->item = item.at;
	value->item_count = (uint32_t)item.count;
	return true;
}

static bool eval_if(struct eval *eval, struct scope *scope,
		    const struct ast *expression, struct value *value)
{
	bool condition;

	if (!eval_boolean(eval, scope, expression->child[0],
			  "the condition of 'if'", &condition))
		return false;
	return eval_expression(eval, scope, expression->child[condition ? 1 : 2],
			       value);
}

static bool evaluate(struct eval *eval, struct scope *scope,
		     const struct ast *expression, struct value *value)
{
	struct diags *diags = &eval->compilation->diags;

	switch (expression->kind) {
	case AST_NUMBER:
		return eval_finish_number(eval, expression->number,
					  expression->unit, expression->span,
					  value);
	case AST_STRING:
		value->kind = VALUE_STRING;
		value->string = expression->text;
		return true;
	case AST_BOOLEAN:
		value->kind = VALUE_BOOL;
		value->boolean = expression->number != 0;
		return true;
	case AST_NAME:
		return eval_name(eval, scope, expression, value);
	case AST_MEMBER:
		return eval_member_expression(eval, scope, expression, value);
	case AST_INDEX:
		return eval_index(eval, scope, expression, value);
	case AST_CALL:
		return eval_call(eval, scope, expression, value);
	case AST_UNARY:
	case AST_BINARY:
		return eval_operator(eval, scope, expression, value);
	case AST_RANGE:
		return eval_range(eval, scope, expression, value);
	case AST_SET:
	case AST_LIST:
		return eval_items(eval, scope, expression, value);
	case AST_IF:
		return eval_if(eval, scope, expression, value);
	case AST_WITH:
		return eval_with(eval, scope, expression, value);
	case AST_ARROW:
		return diag_error(diags, E_MISPLACED_ITEM, expression->span,
				  "'a -> b' may stand only as an argument of an operator in a template");
	case AST_ERROR:
		return false;
	default:
		return diag_error(diags, E_TYPE, expression->span,
				  "a %s is no value",
				  ast_kind_name(expression->kind));
	}
}

bool eval_expression(struct eval *eval, struct scope *scope,
		     const struct ast *expression, struct value *value)
{
	bool ok;

	*value = VALUE_FAILED;
	if (!expression || !eval_step(eval, expression->span))
		return false;
	if (eval->depth >= eval->compilation->depth_max) {
		eval->stopped = true;
		return diag_error(&eval->compilation->diags, E_DEPTH_LIMIT,
				  expression->span,
				  "this is nested more than %lu levels deep",
				  (unsigned long)eval->compilation->depth_max);
	}
	eval->depth++;
	ok = evaluate(eval, scope, expression, value);
	eval->depth--;
	if (!ok)
		*value = VALUE_FAILED;
	/* A name keeps the place its value came from. */
	if (expression->kind != AST_NAME || value->kind == VALUE_SYMBOL || !ok)
		value->span = expression->span;
	return ok;
}

/* ---- demands ---- */

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

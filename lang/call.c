/* SPDX-License-Identifier: MIT
 *
 * Arguments to parameters.
 */
#include "lang/call.h"

#include <string.h>

#include "lang/foreign.h"

bool declaration_is_callable(const struct ast *declaration)
{
	switch (declaration->kind) {
	case AST_FUNCTION:
	case AST_EXTERN:
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
		return true;
	default:
		return false;
	}
}

const struct ast *declaration_parameters(const struct ast *declaration)
{
	const struct ast *parameters;

	if (!declaration_is_callable(declaration))
		return NULL;
	parameters = declaration->child[declaration->kind == AST_EXTERN];
	return parameters && parameters->child_count ? parameters : NULL;
}

const struct ast *declaration_body(const struct ast *declaration)
{
	if (declaration->kind == AST_JOB || declaration->kind == AST_TEST)
		return declaration->child[0];
	return declaration_is_callable(declaration) &&
	       declaration->kind != AST_EXTERN ? declaration->child[1] : NULL;
}

static bool has_default(const struct ast *parameter)
{
	return parameter->child_count > 1 && parameter->child[1];
}

bool declaration_needs_no_argument(const struct ast *declaration)
{
	const struct ast *parameters = declaration_parameters(declaration);

	if (!parameters)
		return true;
	for (uint32_t i = 0; i < parameters->child_count; i++)
		if (!has_default(parameters->child[i]))
			return false;
	return true;
}

struct matching {
	struct diags *diags;
	const struct ast *declaration;
	const struct ast *parameters;
	const struct ast **expression;
	bool ok;
};

static uint32_t parameter_count(const struct matching *matching)
{
	return matching->parameters ? matching->parameters->child_count : 0;
}

static bool parameter_find(const struct matching *matching, const char *name,
			   uint32_t *index)
{
	for (uint32_t i = 0; i < parameter_count(matching); i++) {
		if (matching->parameters->child[i]->name == name) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* "'vocab', 'hidden' and 'tied'" of the parameters, at most ten. */
static const char *parameter_names(const struct matching *matching)
{
	struct text text;
	uint32_t count = parameter_count(matching);
	uint32_t shown = count > 10 ? 10 : count;

	text_init(&text, matching->diags->arena);
	for (uint32_t i = 0; i < shown; i++) {
		if (i)
			text_append(&text, i + 1 == count ? " and " : ", ");
		text_printf(&text, "'%s'", matching->parameters->child[i]->name);
	}
	if (shown < count)
		text_append(&text, ", ...");
	return text.at;
}

static void report_unknown(struct matching *matching, const char *name,
			   struct span span)
{
	const char *best = NULL;
	unsigned best_distance = 0, distance;

	matching->ok = diag_error(matching->diags, E_UNKNOWN_PARAMETER, span,
				  "'%s' has no parameter '%s'",
				  matching->declaration->name, name);
	diag_note(matching->diags, matching->declaration->name_span,
		  "'%s' is declared here", matching->declaration->name);
	for (uint32_t i = 0; i < parameter_count(matching); i++) {
		const char *known = matching->parameters->child[i]->name;

		if (diag_resembles(name, known, &distance) &&
		    (!best || distance < best_distance)) {
			best = known;
			best_distance = distance;
		}
	}
	for (uint32_t i = 0; !best && i < parameter_count(matching); i++)
		if (foreign_meaning(name) &&
		    !strcmp(foreign_meaning(name),
			    matching->parameters->child[i]->name))
			best = foreign_meaning(name);
	if (best) {
		diag_help(matching->diags, "did you mean '%s'?", best);
		diag_fix(matching->diags, span, best);
	} else if (parameter_count(matching)) {
		diag_help(matching->diags, "'%s' takes %s",
			  matching->declaration->name,
			  parameter_names(matching));
	} else {
		diag_help(matching->diags, "'%s' takes no arguments",
			  matching->declaration->name);
	}
}

static void give(struct matching *matching, uint32_t index,
		 const struct ast *expression, struct span span)
{
	const struct ast *parameter = matching->parameters->child[index];

	if (matching->expression[index]) {
		matching->ok = diag_error(matching->diags, E_DUPLICATE_ARGUMENT,
					  span, "'%s' is given twice",
					  parameter->name);
		diag_label(matching->diags, matching->expression[index]->span,
			   "given here first");
		return;
	}
	matching->expression[index] = expression;
}

static void match_first(struct matching *matching, const struct ast *argument)
{
	uint32_t index;

	if (!parameter_count(matching)) {
		matching->ok = diag_error(matching->diags, E_UNKNOWN_PARAMETER,
					  argument->span,
					  "'%s' takes no arguments",
					  matching->declaration->name);
		diag_note(matching->diags, matching->declaration->name_span,
			  "'%s' is declared here", matching->declaration->name);
		return;
	}
	/* A bare name that is another parameter's could mean either. */
	if (argument->kind == AST_NAME &&
	    parameter_find(matching, argument->name, &index) && index) {
		const char *first = matching->parameters->child[0]->name;

		matching->ok = diag_error(matching->diags, E_POSITIONAL_ARGUMENT,
					  argument->span,
					  "'%s' could be the first argument, '%s', or the parameter '%s'",
					  argument->name, first, argument->name);
		diag_help(matching->diags, "write '%s = %s' or '%s = %s'", first,
			  argument->name, argument->name, argument->name);
		return;
	}
	give(matching, 0, argument, argument->span);
}

/* The parameter an argument without a name is most likely for: the first that wants a
 * value and has none yet. */
static const char *next_parameter(const struct matching *matching)
{
	for (uint32_t i = 0; i < parameter_count(matching); i++) {
		const struct ast *parameter = matching->parameters->child[i];

		if (!matching->expression[i] && !has_default(parameter))
			return parameter->name;
	}
	return "name";
}

static void match_one(struct matching *matching, const struct ast *argument,
		      bool first)
{
	uint32_t index;

	if (!argument || argument->kind == AST_ERROR) {
		matching->ok = false;
		return;
	}
	if (argument->kind == AST_ARGUMENT) {
		if (parameter_find(matching, argument->name, &index))
			give(matching, index, argument->child[0],
			     argument->name_span);
		else
			report_unknown(matching, argument->name,
				       argument->name_span);
		return;
	}
	if (first) {
		match_first(matching, argument);
		return;
	}
	if (argument->kind == AST_NAME) {
		if (parameter_find(matching, argument->name, &index))
			give(matching, index, argument, argument->span);
		else
			report_unknown(matching, argument->name, argument->span);
		return;
	}
	matching->ok = diag_error(matching->diags, E_POSITIONAL_ARGUMENT,
				  argument->span,
				  "only the first argument may stand without its name");
	if (parameter_count(matching))
		diag_help(matching->diags,
			  "write '%s = ..'; '%s' takes %s", next_parameter(matching),
			  matching->declaration->name, parameter_names(matching));
}

static void check_missing(struct matching *matching, struct span span)
{
	const char *first = NULL;
	struct text text;
	uint32_t missing = 0;

	text_init(&text, matching->diags->arena);
	for (uint32_t i = 0; i < parameter_count(matching); i++) {
		const struct ast *parameter = matching->parameters->child[i];

		if (matching->expression[i] || has_default(parameter))
			continue;
		text_printf(&text, "%s'%s'", missing ? ", " : "",
			    parameter->name);
		first = missing++ ? first : parameter->name;
	}
	if (!missing)
		return;
	matching->ok = diag_error(matching->diags, E_MISSING_ARGUMENT, span,
				  "'%s' needs %s %s",
				  matching->declaration->name,
				  missing > 1 ? "values for" : "a value for",
				  text.at);
	diag_note(matching->diags, matching->declaration->name_span,
		  "'%s' is declared here", matching->declaration->name);
	diag_help(matching->diags, "add '%s = ..'", first);
}

bool call_match(struct diags *diags, struct arena *arena,
		const struct ast *declaration, const struct ast *call,
		struct span span, const struct ast ***expression)
{
	struct matching matching = {
		.diags = diags,
		.declaration = declaration,
		.parameters = declaration_parameters(declaration),
		.ok = true,
	};
	uint32_t count = parameter_count(&matching);
	const struct ast *arguments = call ? call->child[1] : NULL;

	matching.expression = ARENA_ARRAY(arena, const struct ast *, count + 1);
	*expression = matching.expression;
	for (uint32_t i = 0; arguments && i < arguments->child_count; i++)
		match_one(&matching, arguments->child[i], i == 0);
	/* After a misspelt name the right one is missing too: say it once. */
	if (matching.ok)
		check_missing(&matching, span);
	return matching.ok;
}

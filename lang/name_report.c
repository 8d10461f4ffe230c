/* SPDX-License-Identifier: MIT
 *
 * What people mean by a name that stands for nothing: one in a module of the
 * standard library they have not imported, a word of the language or of another
 * one, a name spelt much like it, or the beginning of longer ones.
 */
#include "lang/name_report.h"

#include <string.h>

#include "lang/compilation.h"
#include "lang/fix.h"
#include "lang/foreign.h"
#include "lang/module.h"
#include "lang/symbol.h"

/* Names listed for one that is only their beginning. */
#define BEGINNINGS_MAX 5
/* Errors after which names are no longer looked for elsewhere; so many are not shown. */
#define ADVISED_MAX 100

bool report_plan_name(struct diags *diags, const char *name, struct span span)
{
	return diag_error(diags, E_PLAN_VARIABLE, span,
			  "'%s' is known only to the solver and may stand in "
			  "require, prefer and minimize only", name);
}

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
	const char *suggestion, *home;

	if (compilation->has_lost_names)
		return false;
	if (diags->errors >= ADVISED_MAX)
		return diag_error(diags, E_UNKNOWN_NAME, span, "unknown name '%s'",
				  name);
	suggestion = scope_suggest(scope, name);
	home = library_home(compilation, name);
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

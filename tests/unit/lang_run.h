/* SPDX-License-Identifier: MIT
 *
 * For tests of the language: a spec given as text is written to a file of its
 * own, loaded, and its expressions are evaluated. The standard library is the
 * one the test program defines as nest_stdlib[].
 */
#ifndef NEST_TESTS_LANG_RUN_H
#define NEST_TESTS_LANG_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/ast.h"
#include "lang/compilation.h"
#include "lang/eval.h"
#include "lang/module.h"
#include "lang/parse.h"
#include "tests/unit/diags_look.h"

struct run {
	struct compilation compilation;
	struct eval eval;
	struct module *module;
	char path[64];
};

/* Loads "nest 1" and the text; overrides may be NULL. */
static inline void run_open_with(struct run *run, const char *text,
				 struct override *override, uint32_t count)
{
	FILE *file;
	int descriptor;

	snprintf(run->path, sizeof(run->path), "/tmp/nest_test_XXXXXX");
	descriptor = mkstemp(run->path);
	file = fdopen(descriptor, "w");
	fprintf(file, "nest 1\n%s", text);
	fclose(file);
	compilation_init(&run->compilation);
	run->compilation.override = override;
	run->compilation.override_count = count;
	run->module = module_load(&run->compilation, run->path);
	eval_init(&run->eval, &run->compilation);
}

static inline void run_open(struct run *run, const char *text)
{
	run_open_with(run, text, NULL, 0);
}

static inline void run_close(struct run *run)
{
	unlink(run->path);
	compilation_release(&run->compilation);
}

/* Prints what was reported, for a test about to fail. */
static inline void run_show(struct run *run)
{
	diags_flush(&run->compilation.diags, stderr, DIAG_FORMAT_TEXT, false);
}

/* Whether no error was found; prints those that were. */
static inline bool run_is_clean(struct run *run)
{
	if (!run->module->clean)
		run_show(run);
	return run->module->clean;
}

static inline bool run_value(struct run *run, const char *expression,
			     struct value *value)
{
	uint32_t file = sources_add(&run->compilation.sources, "expression",
				    "expression", expression,
				    strlen(expression), false);
	const struct ast *ast = parse_expression(&run->compilation, file);

	*value = VALUE_FAILED;
	return ast && eval_expression(&run->eval, run->module->scope, ast,
				      value);
}

/* The value as text; "error" when there is none. */
static inline const char *run_text(struct run *run, const char *expression)
{
	struct value value;
	struct text text;

	if (!run_value(run, expression, &value))
		return "error";
	text_init(&text, &run->compilation.arena);
	value_print(&value, &text);
	return text.at;
}

/* Code of the diagnostic reported last, or DIAG_CODE_COUNT. */
static inline enum diag_code run_code(const struct run *run)
{
	const struct diags *diags = &run->compilation.diags;

	return diags->count ? diags->at[diags->count - 1]->code
			    : DIAG_CODE_COUNT;
}

/* How often a code was reported. */
static inline unsigned run_count(const struct run *run, enum diag_code code)
{
	return diags_count(&run->compilation.diags, code);
}

/* Whether some message, label or note so far holds the words. */
static inline bool run_says(const struct run *run, const char *words)
{
	return diags_say(&run->compilation.diags, words);
}

#endif

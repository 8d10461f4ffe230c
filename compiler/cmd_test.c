/* SPDX-License-Identifier: MIT
 *
 * nestc test: the `test` blocks of specs, as TAP on standard output. What is
 * wrong with an expectation stands in comments under its line, and messages on
 * standard error.
 */
#include <stdio.h>

#include "compiler/cli.h"
#include "compiler/pipeline.h"
#include "compiler/plan_value.h"
#include "lang/ast.h"
#include "lang/eval.h"
#include "lang/module.h"

struct harness {
	const struct cli *cli;
	struct compilation compilation;
	const struct module *module;
	uint32_t count;			/* tests told of so far */
	uint32_t failures;
};

/* A name in TAP is one line in which '#' begins a directive. */
static void print_name(const char *name)
{
	for (; *name; name++) {
		if (*name == '#' || *name == '\\')
			putchar('\\');
		putchar((unsigned char)*name < ' ' ? ' ' : *name);
	}
}

static void print_result(struct harness *harness, const char *name,
			 bool is_good)
{
	const char *spec = harness->module ?
		harness->compilation.sources.at[harness->module->file]->name :
		NULL;

	harness->failures += !is_good;
	printf("%sok %u - ", is_good ? "" : "not ", ++harness->count);
	if (harness->cli->operand_count > 1 && spec) {
		print_name(spec);
		fputs(": ", stdout);
	}
	print_name(name);
	putchar('\n');
}

static const char *source_text(struct harness *harness, struct span span)
{
	struct compilation *compilation = &harness->compilation;
	const struct source *source = compilation->sources.at[span.file];
	char *text = arena_copy(&compilation->arena, source->bytes + span.begin,
				span.end - span.begin);

	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\t' || *c == '\r')
			*c = ' ';
	return text;
}

/* "left is 3": one side of a comparison that fails. */
static void explain_side(struct harness *harness, struct eval *eval,
			 struct scope *scope, const struct ast *side,
			 struct text *out)
{
	struct value value;
	struct text shown;

	if (side->kind == AST_NUMBER || side->kind == AST_STRING ||
	    side->kind == AST_BOOLEAN || side->kind == AST_SET ||
	    side->kind == AST_RANGE ||
	    !eval_expression(eval, scope, side, &value) ||
	    value.kind == VALUE_SYMBOL)
		return;
	text_init(&shown, out->arena);
	value_print(&value, &shown);
	text_printf(out, "#   %s is %s\n", source_text(harness, side->span),
		    shown.at);
}

static void explain(struct harness *harness, struct eval *eval,
		    struct scope *scope, const struct ast *expression,
		    struct text *out)
{
	const struct source *source =
		harness->compilation.sources.at[expression->span.file];
	struct place place = source_place(source, expression->span.begin);

	text_printf(out, "# %s:%u:%u: expected %s\n", source->name, place.line,
		    place.column, source_text(harness, expression->span));
	if (expression->kind != AST_BINARY)
		return;
	explain_side(harness, eval, scope, expression->child[0], out);
	explain_side(harness, eval, scope, expression->child[1], out);
}

/* Evaluates one item; what fails is told in out. */
static bool run_item(struct harness *harness, struct eval *eval,
		     struct scope *scope, const struct ast *item,
		     struct text *out)
{
	bool holds;

	if (item->kind == AST_LET) {
		/* Evaluated when it is wanted. */
		scope_declare(scope, item, scope);
		return true;
	}
	if (item->kind != AST_EXPECT)
		return false;
	if (!eval_boolean(eval, scope, item->child[0], "an expectation",
			  &holds)) {
		text_printf(out, "# %s cannot be evaluated\n",
			    source_text(harness, item->child[0]->span));
		return false;
	}
	if (!holds)
		explain(harness, eval, scope, item->child[0], out);
	return holds;
}

/* Every expectation is looked at, although one before it failed. */
static void run_test(struct harness *harness, const struct ast *test)
{
	struct compilation *compilation = &harness->compilation;
	struct scope *scope = scope_new(&compilation->arena,
					harness->module->scope);
	const struct ast *body = test->child[0];
	bool is_good = true;
	struct eval eval;
	struct text out;

	text_init(&out, &compilation->arena);
	eval_init(&eval, compilation);
	for (uint32_t i = 0; i < body->child_count; i++)
		is_good = run_item(harness, &eval, scope, body->child[i],
				   &out) && is_good;
	print_result(harness, test->text, is_good);
	fwrite(out.at, 1, out.length, stdout);
}

static void run_tests(struct harness *harness)
{
	const struct ast *tree = harness->module->tree;

	plan_value_allow(harness->cli, &harness->compilation);
	for (uint32_t i = 0; i < tree->child_count; i++)
		if (tree->child[i]->kind == AST_TEST)
			run_test(harness, tree->child[i]);
	plan_value_forbid(&harness->compilation);
}

static enum status test_spec(struct harness *harness, const char *path)
{
	enum status status;

	harness->module = NULL;
	cli_prepare(harness->cli, &harness->compilation);
	harness->module = pipeline_load(harness->cli, &harness->compilation,
					path, &status);
	if (harness->module)
		run_tests(harness);
	else
		print_result(harness, path, false);
	fflush(stdout);
	cli_flush(harness->cli, &harness->compilation);
	compilation_release(&harness->compilation);
	return status;
}

enum status cmd_test(const struct cli *cli)
{
	struct harness harness = { .cli = cli };
	enum status status = STATUS_DONE;

	for (uint32_t i = 0; i < cli->operand_count; i++) {
		enum status one = test_spec(&harness, cli->operand[i]);

		if (one > status)
			status = one;
	}
	printf("1..%u%s\n", harness.count,
	       harness.count ? "" : " # SKIP no tests");
	if (status == STATUS_DONE && harness.failures)
		status = STATUS_SPEC;
	return status;
}

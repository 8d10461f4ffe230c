/* SPDX-License-Identifier: MIT
 *
 * nestc eval: the values of expressions, with the names of a spec or with
 * those of the standard library.
 */
#include <string.h>

#include "compiler/cli.h"
#include "compiler/depfile.h"
#include "compiler/json_print.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/plan_value.h"
#include "compiler/value_show.h"
#include "lang/eval.h"
#include "lang/module.h"
#include "lang/parse.h"

/* A spec that imports the whole standard library. */
static const char *whole_library(struct compilation *compilation)
{
	struct text text;

	text_init(&text, &compilation->arena);
	text_append(&text, "nest 1\n");
	for (const struct embedded_file *file = nest_stdlib; file->path; file++)
		if (strchr(file->path, '/'))
			text_printf(&text, "import %s\n",
				    module_dotted_name(compilation, file->path));
	return text.at;
}

static const struct module *load(const struct cli *cli,
				 struct compilation *compilation,
				 enum status *status)
{
	if (cli->operand_count)
		return pipeline_load(cli, compilation, cli->operand[0], status);
	*status = STATUS_DONE;
	return module_load_text(compilation, "<standard library>",
				whole_library(compilation));
}

/* A declaration that takes no arguments is shown as what it gives. */
static bool evaluate(struct eval *eval, const struct module *module,
		     const char *text, struct value *value)
{
	struct compilation *compilation = eval->compilation;
	uint32_t file = sources_add(&compilation->sources,
				    "<command line: -e>", "<command line: -e>",
				    text, strlen(text), false);
	const struct ast *expression = parse_expression(compilation, file);

	return expression &&
	       eval_expression(eval, module->scope, expression, value) &&
	       eval_applied(eval, expression->span, value);
}

static enum status evaluate_all(const struct cli *cli,
				struct compilation *compilation,
				const struct module *module, struct text *out)
{
	enum status status = STATUS_DONE;

	plan_value_allow(cli, compilation);
	for (uint32_t i = 0; i < cli->expression_count; i++) {
		struct eval eval;
		struct value value;

		eval_init(&eval, compilation);
		if (!evaluate(&eval, module, cli->expression[i], &value)) {
			status = STATUS_SPEC;
		} else if (cli->json) {
			json_t *json = value_json(&value, &compilation->arena);

			json_print(json, 0, out);
			text_append_char(out, '\n');
			json_decref(json);
		} else {
			value_show(&value, out);
			text_append_char(out, '\n');
		}
	}
	return status;
}

static enum status write_results(const struct cli *cli,
				 struct compilation *compilation,
				 const struct text *values)
{
	struct outputs outputs;
	struct text rule;

	outputs_init(&outputs, &compilation->arena, &compilation->diags);
	outputs_add(&outputs, NULL, values->at, values->length);
	if (cli->depfile) {
		text_init(&rule, &compilation->arena);
		depfile_print(cli, compilation, &rule);
		if (!outputs_add(&outputs, cli->depfile, rule.at, rule.length))
			return STATUS_USAGE;
	}
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

enum status cmd_eval(const struct cli *cli)
{
	struct compilation compilation;
	const struct module *module;
	enum status status;
	struct text out;

	if (!cli->expression_count) {
		cli_complain("'eval' needs an expression: nestc eval %s -e EXPR",
			     cli->operand_count ? cli->operand[0] : "[SPEC]");
		return STATUS_USAGE;
	}
	cli_prepare(cli, &compilation);
	text_init(&out, &compilation.arena);
	module = load(cli, &compilation, &status);
	if (module)
		status = evaluate_all(cli, &compilation, module, &out);
	if (module && status == STATUS_DONE)
		status = write_results(cli, &compilation, &out);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * nestc explain: the long text of a diagnostic code, where the time and the memory
 * of a job's plan go, why it is not another one, or the best ones.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/cli.h"
#include "compiler/depfile.h"
#include "compiler/explain_page.h"
#include "compiler/explain_plan.h"
#include "compiler/json_print.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/runners_up.h"
#include "compiler/why_not.h"

/* "E0701", in either case, or the short name "infeasible". */
static enum diag_code find_code(const char *word)
{
	static const char *const names[] = {
#define CODE(enumerator, number, severity, name, title) name,
#include "lang/codes.def"
#undef CODE
	};
	enum diag_code code = diag_code_find(word);

	for (int i = 0; code == DIAG_CODE_COUNT && i < DIAG_CODE_COUNT; i++)
		if (strcmp(names[i], word) == 0)
			code = (enum diag_code)i;
	return code;
}

/* A word of the form of a code that is none. */
static bool looks_like_code(const char *word)
{
	size_t digits;

	if (*word != 'E' && *word != 'e')
		return false;
	digits = strspn(word + 1, "0123456789");
	return digits > 0 && word[1 + digits] == '\0';
}

static enum status print_page(enum diag_code code)
{
	const struct embedded_file *page = explain_page(code);

	if (page)
		fwrite(page->bytes, 1, page->length, stdout);
	else
		printf("%s: %s\n", diag_code_name(code), diag_code_title(code));
	return STATUS_DONE;
}

static enum status complain_of_layer(const struct cli *cli, const struct ir *ir)
{
	cli_complain("model '%s' has no layer '%s'", ir->model.name, cli->layer);
	return STATUS_USAGE;
}

static void print_json(json_t *root, struct text *out)
{
	json_print(root, 0, out);
	text_append_char(out, '\n');
	json_decref(root);
}

static enum status explain_idea(const struct cli *cli,
				struct compilation *compilation,
				const struct pipeline *pipeline,
				const struct idea *idea, struct text *out)
{
	struct why_not answer;
	enum status status =
		why_not_answer(cli, compilation, pipeline, idea, &answer);

	if (status != STATUS_DONE)
		return status;
	if (cli->json)
		print_json(why_not_json(&answer), out);
	else
		why_not_print(&answer, out);
	return STATUS_DONE;
}

static enum status explain_top(const struct cli *cli,
			       struct compilation *compilation,
			       const struct pipeline *pipeline, struct text *out)
{
	struct runners_up runners;
	enum status status = runners_up_find(cli, compilation, pipeline,
					     cli->top, &runners);

	if (status != STATUS_DONE)
		return status;
	if (cli->json)
		print_json(runners_up_json(&runners), out);
	else
		runners_up_print(&runners, compilation, out);
	return STATUS_DONE;
}

static enum status explain_it(const struct cli *cli,
			      struct compilation *compilation,
			      const struct pipeline *pipeline,
			      const struct idea *idea, struct text *out)
{
	const struct plan *plan = &pipeline->result.plan;

	if (cli->why_not)
		return explain_idea(cli, compilation, pipeline, idea, out);
	if (cli->top)
		return explain_top(cli, compilation, pipeline, out);
	if (cli->layer && !explain_layer(compilation, pipeline->ir,
					 pipeline->problem, plan, cli->layer,
					 out))
		return complain_of_layer(cli, pipeline->ir);
	if (!cli->layer)
		explain_plan(compilation, pipeline->ir, pipeline->problem, plan,
			     out);
	return STATUS_DONE;
}

/* What is wrong with an idea is wrong with the command line. */
static enum status read_idea(const struct cli *cli,
			     struct compilation *compilation,
			     const struct module *module, struct idea *idea)
{
	struct pipeline pipeline;
	enum status status;

	if (!cli->why_not)
		return STATUS_DONE;
	status = pipeline_lower(compilation, module, cli->job, cli->plan,
				&pipeline);
	if (status != STATUS_DONE)
		return status;
	return idea_read(compilation, module, cli->job, cli->why_not, idea) ?
		       STATUS_DONE : STATUS_USAGE;
}

static enum status explain_spec(const struct cli *cli,
				struct compilation *compilation)
{
	struct pipeline pipeline;
	struct outputs outputs;
	struct text text, rule;
	struct idea idea;
	enum status status;
	const struct module *module =
		pipeline_load(cli, compilation, cli->operand[0], &status);

	if (!module)
		return status;
	status = read_idea(cli, compilation, module, &idea);
	if (status == STATUS_DONE)
		status = pipeline_run(cli, compilation, module, cli->job,
				      &pipeline);
	text_init(&text, &compilation->arena);
	if (status == STATUS_DONE)
		status = explain_it(cli, compilation, &pipeline, &idea, &text);
	if (status != STATUS_DONE)
		return status;
	outputs_init(&outputs, &compilation->arena, &compilation->diags);
	outputs_add(&outputs, NULL, text.at, text.length);
	if (cli->depfile) {
		text_init(&rule, &compilation->arena);
		depfile_print(cli, compilation, &rule);
		outputs_add(&outputs, cli->depfile, rule.at, rule.length);
	}
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

enum status cmd_explain(const struct cli *cli)
{
	const char *word = cli->operand[0];
	enum diag_code code = find_code(word);
	struct compilation compilation;
	enum status status;

	if (code != DIAG_CODE_COUNT)
		return print_page(code);
	if (looks_like_code(word) && access(word, F_OK) != 0) {
		cli_complain("there is no code '%s'", word);
		return STATUS_USAGE;
	}
	cli_prepare(cli, &compilation);
	status = explain_spec(cli, &compilation);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

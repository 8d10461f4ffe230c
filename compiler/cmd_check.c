/* SPDX-License-Identifier: MIT
 *
 * nestc check: reads specs, lowers every job of theirs, prices their layers,
 * and says what is wrong. Silent when nothing is.
 */
#include "compiler/cli.h"
#include "compiler/depfile.h"
#include "compiler/fix_specs.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/print_problem.h"
#include "lang/ast.h"
#include "lang/module.h"

static enum status check_job(const struct cli *cli,
			     struct compilation *compilation,
			     const struct module *module, const char *job,
			     struct text *dump)
{
	struct pipeline pipeline;
	enum status status = cli->check_solve ?
		pipeline_run(cli, compilation, module, job, &pipeline) :
		pipeline_lower(compilation, module, job, NULL, &pipeline);

	if (pipeline.ir && cli->dump == DUMP_IR)
		ir_print(pipeline.ir, dump);
	if (status == STATUS_DONE && cli->dump == DUMP_PROBLEM)
		problem_print(pipeline.ir, pipeline.problem, dump);
	return status;
}

/* The worst of two statuses: a fault, then a file, then the spec. */
static enum status worse(enum status a, enum status b)
{
	return a > b ? a : b;
}

static enum status check_jobs(const struct cli *cli,
			      struct compilation *compilation,
			      const struct module *module, struct text *dump)
{
	enum status status = STATUS_DONE;

	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];

		if (!item || item->kind != AST_JOB || !item->name)
			continue;
		status = worse(status, check_job(cli, compilation, module,
						 item->name, dump));
		if (cli->verbose && status == STATUS_DONE)
			cli_complain("job '%s' is right", item->name);
	}
	return status;
}

static enum status check_spec(const struct cli *cli,
			      struct compilation *compilation,
			      const char *path, struct text *dump)
{
	uint32_t errors = compilation->diags.errors;
	enum status status;
	struct module *module = pipeline_load(cli, compilation, path, &status);

	if (!module)
		return status;
	if (cli->dump == DUMP_AST)
		ast_dump(module->tree, dump);
	lint_module(compilation, module, &cli->lint);
	status = check_jobs(cli, compilation, module, dump);
	if (status == STATUS_DONE && compilation->diags.errors != errors)
		status = STATUS_SPEC;
	return status;
}

static enum status write_results(const struct cli *cli,
				 struct compilation *compilation,
				 const struct text *dump)
{
	struct arena *arena = &compilation->arena;
	struct outputs outputs;
	struct text rule;

	outputs_init(&outputs, arena, &compilation->diags);
	text_init(&rule, arena);
	if (dump->length &&
	    !outputs_add(&outputs, NULL, dump->at, dump->length))
		return STATUS_USAGE;
	if (cli->depfile) {
		depfile_print(cli, compilation, &rule);
		if (!outputs_add(&outputs, cli->depfile, rule.at, rule.length))
			return STATUS_USAGE;
	}
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

static enum status check_specs(const struct cli *cli,
			       struct compilation *compilation)
{
	enum status status = STATUS_DONE;
	struct text dump;

	text_init(&dump, &compilation->arena);
	for (uint32_t i = 0; i < cli->operand_count; i++)
		status = worse(status, check_spec(cli, compilation,
						  cli->operand[i], &dump));
	if (status == STATUS_DONE)
		status = write_results(cli, compilation, &dump);
	return status;
}

enum status cmd_check(const struct cli *cli)
{
	struct compilation compilation;
	enum status status;

	if (cli->fix)
		return fix_specs(cli, check_specs);
	cli_prepare(cli, &compilation);
	status = check_specs(cli, &compilation);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

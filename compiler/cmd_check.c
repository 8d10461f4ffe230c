/* SPDX-License-Identifier: MIT
 *
 * nestc check: reads specs, lowers every job of theirs, prices their layers,
 * and says what is wrong. Silent when nothing is.
 */
#include "compiler/cli.h"
#include "compiler/depfile.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/print_problem.h"
#include "lang/ast.h"
#include "lang/module.h"

static void dump_tree(const struct module *module, struct text *out)
{
	ast_dump(module->tree, out);
}

static enum status check_job(const struct cli *cli,
			     struct compilation *compilation,
			     const struct module *module, const char *job,
			     struct text *dump)
{
	struct pipeline pipeline;
	enum status status =
		pipeline_lower(compilation, module, job, &pipeline);

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
	enum status status;
	struct module *module = pipeline_load(cli, compilation, path, &status);

	if (!module)
		return status;
	if (cli->dump == DUMP_AST)
		dump_tree(module, dump);
	status = check_jobs(cli, compilation, module, dump);
	if (status == STATUS_DONE && compilation->diags.errors)
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
		depfile_print(cli, &compilation->sources, &rule);
		if (!outputs_add(&outputs, cli->depfile, rule.at, rule.length))
			return STATUS_USAGE;
	}
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

enum status cmd_check(const struct cli *cli)
{
	enum status status = STATUS_DONE;

	if (cli->depfile && cli->operand_count > 1) {
		cli_complain("-MD describes one spec: check them one by one");
		return STATUS_USAGE;
	}
	for (uint32_t i = 0; i < cli->operand_count; i++) {
		struct compilation compilation;
		enum status one;
		struct text dump;

		cli_prepare(cli, &compilation);
		text_init(&dump, &compilation.arena);
		one = check_spec(cli, &compilation, cli->operand[i], &dump);
		if (one == STATUS_DONE)
			one = write_results(cli, &compilation, &dump);
		cli_flush(cli, &compilation);
		status = worse(status, one);
		compilation_release(&compilation);
	}
	return status;
}

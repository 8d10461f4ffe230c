/* SPDX-License-Identifier: MIT
 *
 * nestc compile: the whole road, then every output that was asked for.
 */

#include "compiler/cli.h"
#include "compiler/depfile.h"
#include "compiler/digest.h"
#include "compiler/emit.h"
#include "compiler/hand_plan.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/print_problem.h"
#include "lang/ast.h"
#include "lang/module.h"

static enum status emit_all(const struct cli *cli,
			    struct compilation *compilation,
			    const struct emit_input *input)
{
	struct arena *arena = &compilation->arena;
	struct outputs outputs;

	outputs_init(&outputs, arena, &compilation->diags);
	for (uint32_t i = 0; i < cli->emission_count; i++) {
		const struct emission *emission = &cli->emission[i];
		struct text text;

		text_init(&text, arena);
		if (!emitter_find(emission->kind)->emit(input, &text))
			return STATUS_SPEC;
		if (!outputs_add(&outputs, emission->file, text.at, text.length))
			return STATUS_USAGE;
	}
	if (cli->depfile) {
		struct text rule;

		text_init(&rule, arena);
		depfile_print(cli, compilation, &rule);
		if (!outputs_add(&outputs, cli->depfile, rule.at, rule.length))
			return STATUS_USAGE;
	}
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

/* --dump stops where the form exists and prints it instead of a plan. */
static enum status dump(const struct cli *cli, struct compilation *compilation,
			const struct module *module)
{
	struct pipeline pipeline;
	struct outputs outputs;
	struct text text;
	enum status status = STATUS_DONE;

	text_init(&text, &compilation->arena);
	if (cli->dump == DUMP_AST)
		ast_dump(module->tree, &text);
	else
		status = pipeline_lower(compilation, module, cli->job,
					cli->plan, &pipeline);
	if (status != STATUS_DONE)
		return status;
	if (cli->dump == DUMP_IR)
		ir_print(pipeline.ir, &text);
	if (cli->dump == DUMP_PROBLEM)
		problem_print(pipeline.ir, pipeline.problem, &text);
	outputs_init(&outputs, &compilation->arena, &compilation->diags);
	if (!outputs_add(&outputs, cli->output, text.at, text.length))
		return STATUS_USAGE;
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

static enum status compile(const struct cli *cli,
			   struct compilation *compilation)
{
	struct emit_input input = {
		.compilation = compilation,
		.spec_name = cli->operand[0],
		.override = cli->override,
		.override_count = cli->override_count,
		.ranks_as_factors = cli->ranks_as_factors,
		.timing = cli->timing,
	};
	struct pipeline pipeline;
	enum status status;
	const struct module *module =
		pipeline_load(cli, compilation, cli->operand[0], &status);

	if (!module)
		return status;
	if (cli->dump != DUMP_NOTHING)
		return dump(cli, compilation, module);
	status = pipeline_run(cli, compilation, module, cli->job, &pipeline);
	if (status != STATUS_DONE)
		return status;
	input.hand_plan = cli->plan;
	if (!cli->plan) {
		struct solve_limits limits = { .gap = cli->gap,
					       .deadline = pipeline.after };

		input.rival = hand_plan_compare(compilation, pipeline.ir,
						&limits);
		input.rival_count = pipeline.ir->job.plan_count;
	}
	input.ir = pipeline.ir;
	input.problem = pipeline.problem;
	input.plan = &pipeline.result.plan;
	input.solve_status = pipeline.result.status;
	input.solve_s = pipeline.solve_s;
	input.spec_sha256 = source_sha256(
		&compilation->arena, compilation->sources.at[module->file]);
	return emit_all(cli, compilation, &input);
}

enum status cmd_compile(const struct cli *cli)
{
	struct compilation compilation;
	enum status status;

	cli_prepare(cli, &compilation);
	status = compile(cli, &compilation);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

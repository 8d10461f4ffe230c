/* SPDX-License-Identifier: MIT
 *
 * nestc diff: two plans, each a manifest or a spec that is compiled for it, and
 * what differs between them.
 */
#include <string.h>

#include "compiler/cli.h"
#include "compiler/digest.h"
#include "compiler/emit.h"
#include "compiler/json_file.h"
#include "compiler/json_print.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/plan_diff.h"
#include "lang/module.h"

#define SCHEMA "nest.plan/"

static bool is_manifest(const char *path)
{
	size_t length = strlen(path);

	return length > 5 && !strcmp(path + length - 5, ".json");
}

static enum status read_manifest(struct compilation *compilation,
				 const char *path, json_t **plan)
{
	uint32_t errors = compilation->diags.errors;
	struct json_file file;
	const char *schema;

	if (!json_file_read(compilation, path, SPAN_NONE, E_PLAN_FILE, &file))
		return compilation->diags.errors == errors + 1 &&
				       compilation->diags.last->code == E_PLAN_FILE ?
			       STATUS_SPEC : STATUS_FILE;
	schema = json_string_value(json_object_get(file.root, "schema"));
	if (!schema || strncmp(schema, SCHEMA, strlen(SCHEMA)) != 0) {
		diag_error(&compilation->diags, E_PLAN_FILE,
			   json_file_member(&file, json_file_root(&file),
					    "schema"),
			   "this is no plan: its 'schema' is not '%s1'", SCHEMA);
		diag_help(&compilation->diags,
			  "'nestc compile SPEC --emit=manifest=FILE' writes plans");
		json_file_release(&file);
		return STATUS_SPEC;
	}
	*plan = file.root;	/* the caller's now */
	return STATUS_DONE;
}

/* The manifest of a spec's plan, as compile would write it. */
static enum status compile_spec(const struct cli *cli,
				struct compilation *compilation,
				const char *path, json_t **plan)
{
	struct emit_input input = {
		.compilation = compilation, .spec_name = path,
	};
	struct pipeline pipeline;
	enum status status;
	struct text text;
	const struct module *module =
		pipeline_load(cli, compilation, path, &status);

	if (!module)
		return status;
	status = pipeline_run(cli, compilation, module, cli->job, &pipeline);
	if (status != STATUS_DONE)
		return status;
	input.ir = pipeline.ir;
	input.problem = pipeline.problem;
	input.plan = &pipeline.result.plan;
	input.solve_status = pipeline.result.status;
	input.spec_sha256 = source_sha256(
		&compilation->arena, compilation->sources.at[module->file]);
	text_init(&text, &compilation->arena);
	if (!emitter_find("manifest")->emit(&input, &text))
		return STATUS_SPEC;
	*plan = json_loadb(text.at, text.length, 0, NULL);
	return *plan ? STATUS_DONE : STATUS_FAULT;
}

/* Each operand has a compilation of its own: the two may be one file. */
static enum status read_plan(const struct cli *cli, const char *path,
			     json_t **plan)
{
	struct compilation compilation;
	enum status status;

	cli_prepare(cli, &compilation);
	status = is_manifest(path) ?
			 read_manifest(&compilation, path, plan) :
			 compile_spec(cli, &compilation, path, plan);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

static enum status print(const struct cli *cli, const json_t *before,
			 const json_t *after)
{
	struct compilation compilation;
	struct outputs outputs;
	struct text text;
	enum status status;
	bool differs;

	cli_prepare(cli, &compilation);
	text_init(&text, &compilation.arena);
	if (cli->json) {
		json_t *list = plan_diff_list(before, after);

		differs = json_array_size(list) > 0;
		json_print(list, 0, &text);
		text_append_char(&text, '\n');
		json_decref(list);
	} else {
		differs = plan_diff_print(before, after, &text);
	}
	outputs_init(&outputs, &compilation.arena, &compilation.diags);
	outputs_add(&outputs, NULL, text.at, text.length);
	status = differs ? STATUS_SPEC : STATUS_DONE;
	if (!outputs_write(&outputs))
		status = STATUS_FILE;
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

enum status cmd_diff(const struct cli *cli)
{
	json_t *before = NULL, *after = NULL;
	enum status status = read_plan(cli, cli->operand[0], &before);

	if (status == STATUS_DONE)
		status = read_plan(cli, cli->operand[1], &after);
	/* What a spec lacks is no difference: 1 is kept for that. */
	if (status == STATUS_DONE)
		status = print(cli, before, after);
	else if (status == STATUS_SPEC)
		status = STATUS_FILE;
	json_decref(before);
	json_decref(after);
	return status;
}

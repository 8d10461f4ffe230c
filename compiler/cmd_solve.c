/* SPDX-License-Identifier: MIT
 *
 * nestc solve: the exact optimum of a problem file of the published solver.
 */
#include <math.h>

#include "compiler/cli.h"
#include "compiler/output.h"
#include "compiler/published_json.h"

static enum status solve_file(const struct cli *cli,
			      struct compilation *compilation)
{
	struct published_file file;
	struct published_plan plan;
	struct outputs outputs;
	struct text text;
	double again;

	if (!published_read(compilation, cli->operand[0], &file))
		return compilation->diags.at[0]->code == E_UNREADABLE ?
			STATUS_FILE : STATUS_SPEC;
	if (!published_solve(&file.problem, cli->published, &compilation->arena,
			     &plan)) {
		cli_complain("%s: no plan fits the memory of its devices",
			     cli->operand[0]);
		return STATUS_NO_PLAN;
	}
	again = published_price(&file.problem, cli->published, &plan,
				&compilation->arena);
	if (!(fabs(again - plan.time) <= 1e-9 * plan.time)) {
		cli_complain("internal fault: a plan of time %.17g is priced at %.17g",
			     plan.time, again);
		return STATUS_FAULT;
	}
	text_init(&text, &compilation->arena);
	published_write(&file, cli->published, &plan, &compilation->arena, &text);
	outputs_init(&outputs, &compilation->arena, &compilation->diags);
	if (!outputs_add(&outputs, cli->output, text.at, text.length))
		return STATUS_USAGE;
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

enum status cmd_solve(const struct cli *cli)
{
	struct compilation compilation;
	enum status status;

	cli_prepare(cli, &compilation);
	status = solve_file(cli, &compilation);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

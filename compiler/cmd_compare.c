/* SPDX-License-Identifier: MIT
 *
 * nestc compare: the plans of several strategies, and those written by hand, side
 * by side under the same price.
 */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "compiler/cli.h"
#include "compiler/describe.h"
#include "compiler/hand_plan.h"
#include "compiler/infeasible.h"
#include "compiler/json_print.h"
#include "compiler/output.h"
#include "compiler/pipeline.h"
#include "compiler/plan_json.h"
#include "compiler/site.h"

/* One line of the table. */
struct contender {
	const char *name;
	bool by_hand;
	bool found;
	double value;			/* of the first objective */
	double time_s;			/* of an iteration */
	double memory_bytes;		/* of the fullest device */
	uint64_t tried;			/* plans or configurations; 0: not counted */
	uint64_t over_memory;		/* of these */
	bool out_of_time;		/* the time limit ended its search */
	const struct plan *plan;	/* NULL where it is written by hand */
	const char *about;		/* degrees, or why there is no plan */
};

struct comparison {
	struct compilation *compilation;
	struct pipeline *pipeline;
	struct contender *row;
	uint32_t count;
	const struct certificate *proof;	/* NULL when nest was not asked */
	double best;				/* least value; INFINITY: none found */
	double best_s;				/* least time, likewise */
};

static const char *about_choice(struct comparison *comparison,
				const struct plan *plan)
{
	struct text text;

	text_init(&text, &comparison->compilation->arena);
	describe_choice(comparison->pipeline->problem, plan, &text);
	return text.at;
}

static struct contender *add_row(struct comparison *comparison, const char *name)
{
	struct contender *row = &comparison->row[comparison->count++];

	*row = (struct contender){ .name = name };
	return row;
}

static const char *why_none(enum solve_status status, const struct contender *row)
{
	if (row->out_of_time)
		return "no plan within the time limit";
	if (status == SOLVE_UNROUTED)
		return "no plan: none that was priced on the graph is allowed";
	return row->tried && row->tried == row->over_memory ?
		"no plan: none that it tried fits in memory" :
		"no plan: none that it tried is allowed";
}

static enum status add_strategy(struct comparison *comparison, const struct cli *cli,
				enum strategy strategy)
{
	struct pipeline *pipeline = comparison->pipeline;
	struct arena *arena = &comparison->compilation->arena;
	struct solve_result *result = ARENA_NEW(arena, struct solve_result);
	struct contender *row = add_row(comparison, strategy_name(strategy));
	struct solve_limits limits = pipeline_limits(cli);

	strategy_solve(pipeline->problem, strategy, &limits, arena, result);
	if (strategy == STRATEGY_NEST && result->status == SOLVE_INFEASIBLE) {
		pipeline->result = *result;
		infeasible_report(comparison->compilation, pipeline->ir,
				  pipeline->problem, result, &limits.deadline);
		return STATUS_NO_PLAN;
	}
	row->tried = result->plan.certificate.configurations;
	row->over_memory = result->plan.certificate.infeasible_memory;
	row->out_of_time = result->plan.certificate.out_of_time;
	row->found = result->status == SOLVE_OPTIMAL ||
		     result->status == SOLVE_FEASIBLE;
	if (!row->found) {
		row->about = why_none(result->status, row);
		return STATUS_DONE;
	}
	row->plan = &result->plan;
	row->value = result->plan.certificate.value;
	row->time_s = result->plan.time_s;
	row->memory_bytes = result->plan.memory_peak_bytes;
	row->about = about_choice(comparison, &result->plan);
	if (strategy == STRATEGY_NEST)
		comparison->proof = &result->plan.certificate;
	pipeline->result = *result;
	return pipeline_check(comparison->compilation, pipeline);
}

static void add_hand_plans(struct comparison *comparison, const struct cli *cli)
{
	const struct ir *ir = comparison->pipeline->ir;
	struct solve_limits limits = pipeline_limits(cli);
	const struct rival *rival =
		hand_plan_compare(comparison->compilation, ir, &limits);

	for (uint32_t i = 0; i < ir->job.plan_count; i++) {
		struct contender *row = add_row(comparison, rival[i].name);

		row->by_hand = true;
		row->found = rival[i].is_possible;
		row->value = rival[i].value;
		row->time_s = rival[i].time_s;
		row->memory_bytes = rival[i].memory_bytes;
		row->about = row->found ? rival[i].about :
			arena_printf(&comparison->compilation->arena,
				     "impossible: %s", rival[i].about);
	}
}

static enum status fill(struct comparison *comparison, const struct cli *cli)
{
	uint32_t room = STRATEGY_COUNT + comparison->pipeline->ir->job.plan_count;
	unsigned wanted = cli->solvers ? cli->solvers : (1u << STRATEGY_COUNT) - 1;
	enum status status;

	comparison->row = ARENA_ARRAY(&comparison->compilation->arena,
				      struct contender, room);
	for (int i = 0; i < STRATEGY_COUNT; i++) {
		if (!(wanted >> i & 1))
			continue;
		status = add_strategy(comparison, cli, (enum strategy)i);
		if (status != STATUS_DONE)
			return status;
	}
	add_hand_plans(comparison, cli);
	comparison->best = INFINITY;
	comparison->best_s = INFINITY;
	for (uint32_t i = 0; i < comparison->count; i++) {
		const struct contender *row = &comparison->row[i];

		if (!row->found)
			continue;
		comparison->best = fmin(comparison->best, row->value);
		comparison->best_s = fmin(comparison->best_s, row->time_s);
	}
	return STATUS_DONE;
}

/* ---- text ---- */

static void print_title(const struct comparison *comparison, struct text *out)
{
	const struct ir *ir = comparison->pipeline->ir;

	text_printf(out, "%s (", ir->model.name);
	describe_parameters((double)ir->model.parameters, out);
	text_printf(out, " parameters, %u layers) on ", ir->model.layer_count);
	cluster_describe(&ir->topology, out);
	text_append(out, ", ");
	describe_count(ir->job.global_batch, out);
	text_append(out, " x ");
	describe_count(ir->model.sequence_length, out);
	text_append(out, " tokens an iteration\n\n");
}

static void print_row(const struct comparison *comparison,
		      const struct contender *row, struct text *out)
{
	struct arena *arena = &comparison->compilation->arena;
	const struct ir_job *job = &comparison->pipeline->ir->job;
	double behind = (row->value - comparison->best) / fabs(comparison->best);
	struct text value, time, memory, tried, slower;

	text_printf(out, "  %-12s ", row->name);
	text_init(&tried, arena);
	if (row->tried)
		describe_count(row->tried, &tried);
	if (!row->found) {
		if (!objective_is_time(job))
			text_printf(out, "%10s ", "");
		text_printf(out, "%9s %8s %10s %12s  %s\n", "-", "", "",
			    row->tried ? tried.at : "", row->about);
		return;
	}
	text_init(&value, arena);
	if (!objective_is_time(job)) {
		describe_objective_number(job, row->value, &value);
		text_printf(out, "%10s ", value.at);
	}
	text_init(&time, arena);
	text_init(&memory, arena);
	describe_seconds(row->time_s, &time);
	describe_bytes(row->memory_bytes, &memory);
	text_init(&slower, arena);
	text_printf(&slower, "%+.1f %%", 100 * behind);
	text_printf(out, "%9s %8s %10s %12s  %s%s\n", time.at,
		    behind <= 1e-12 ? "best" : slower.at, memory.at,
		    row->tried ? tried.at : "", row->about,
		    row->out_of_time ? " (the time limit ended the search)" : "");
}

static void print_proof(const struct comparison *comparison, struct text *out)
{
	const struct certificate *proof = comparison->proof;
	const struct ir_job *job = &comparison->pipeline->ir->job;

	if (!proof)
		return;
	text_append(out, "\nProof         ");
	if (proof->gap <= 0) {
		text_append(out, "no plan of the search space is better than nest's (gap 0)\n");
		return;
	}
	text_append(out, "no plan of the search space is below ");
	describe_objective(job, proof->lower_bound, out);
	text_printf(out, " (gap %.2f %%)\n", 100 * proof->gap);
}

static void print_table(const struct comparison *comparison, struct text *out)
{
	const struct ir_job *job = &comparison->pipeline->ir->job;
	bool hand = false;

	print_title(comparison, out);
	text_printf(out, "  %-12s ", "strategy");
	if (!objective_is_time(job))
		text_printf(out, "%10s ", strlen(objective_name(job)) > 10 ?
					"objective" : objective_name(job));
	text_printf(out, "%9s %8s %10s %12s  %s\n", "time",
		    objective_is_time(job) ? "slower" : "worse", "memory", "tried",
		    "plan");
	for (uint32_t i = 0; i < comparison->count; i++) {
		if (comparison->row[i].by_hand && !hand)
			text_append(out, "written by hand\n");
		hand = comparison->row[i].by_hand;
		print_row(comparison, &comparison->row[i], out);
	}
	print_proof(comparison, out);
}

/* ---- JSON ---- */

static json_t *row_json(const struct comparison *comparison,
			const struct contender *row)
{
	json_t *object = json_pack("{s:s,s:b,s:s}", "name", row->name, "found",
				   row->found, "about", row->about);

	json_object_set_new(object, "kind", json_string(row->by_hand ? "plan" :
							"strategy"));
	if (row->tried)
		json_object_set_new(object, "tried",
				    json_integer((json_int_t)row->tried));
	if (row->out_of_time)
		json_object_set_new(object, "out_of_time", json_true());
	if (!row->found)
		return object;
	json_object_set_new(object, "value", json_real(row->value));
	json_object_set_new(object, "time", json_real(row->time_s));
	json_object_set_new(object, "slowdown",
			    json_real(row->time_s / comparison->best_s));
	json_object_set_new(object, "memory", json_real(row->memory_bytes));
	if (row->plan)
		json_object_set_new(object, "parallelism",
			plan_json_choice(comparison->pipeline->problem,
					 row->plan));
	return object;
}

static void print_json(const struct comparison *comparison, struct text *out)
{
	const struct ir *ir = comparison->pipeline->ir;
	json_t *rows = json_array(), *root;

	for (uint32_t i = 0; i < comparison->count; i++)
		json_array_append_new(rows, row_json(comparison,
						     &comparison->row[i]));
	root = json_pack("{s:s,s:s,s:s,s:I,s:o}", "schema", "nest.compare/1",
			 "model", ir->model.name, "job", ir->job.name, "devices",
			 (json_int_t)cluster_devices(&ir->topology), "plans", rows);
	if (comparison->proof)
		json_object_set_new(root, "certificate",
			json_pack("{s:f,s:f,s:f}", "value", comparison->proof->value,
				  "lower_bound", comparison->proof->lower_bound,
				  "gap", comparison->proof->gap));
	json_print(root, 0, out);
	text_append_char(out, '\n');
	json_decref(root);
}

static enum status compare(const struct cli *cli, struct compilation *compilation)
{
	struct comparison comparison = { .compilation = compilation };
	struct pipeline pipeline;
	struct outputs outputs;
	enum status status;
	struct text text;
	const struct module *module =
		pipeline_load(cli, compilation, cli->operand[0], &status);

	if (!module)
		return status;
	status = pipeline_lower(compilation, module, cli->job, NULL, &pipeline);
	if (status != STATUS_DONE)
		return status;
	comparison.pipeline = &pipeline;
	status = fill(&comparison, cli);
	if (status != STATUS_DONE)
		return status;
	text_init(&text, &compilation->arena);
	if (cli->json)
		print_json(&comparison, &text);
	else
		print_table(&comparison, &text);
	outputs_init(&outputs, &compilation->arena, &compilation->diags);
	if (!outputs_add(&outputs, cli->output, text.at, text.length))
		return STATUS_USAGE;
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

enum status cmd_compare(const struct cli *cli)
{
	struct compilation compilation;
	enum status status;

	cli_prepare(cli, &compilation);
	status = compare(cli, &compilation);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

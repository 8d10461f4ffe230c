/* SPDX-License-Identifier: MIT
 *
 * load -> lower -> verify -> problem -> solve -> check twice.
 */
#include "compiler/pipeline.h"

#include <string.h>
#include <unistd.h>

#include "compiler/clock.h"
#include "compiler/hand_plan.h"
#include "compiler/infeasible.h"
#include "compiler/plan_verify.h"
#include "compiler/megatron_model.h"
#include "compiler/progress.h"
#include "compiler/problem_from_ir.h"
#include "compiler/site.h"
#include "lang/module.h"
#include "solver/feasible.h"

/* A fault of nestc: what was found, and that it is no fault of the reader. */
static enum status fault(const char *where, const char *what)
{
	cli_complain("internal fault: %s: %s", where, what);
	cli_complain("this is a mistake in nestc, not in the spec; nothing has been written");
	return STATUS_FAULT;
}

/* Whether only the -D options are at fault. */
static bool only_overrides_wrong(const struct diags *diags)
{
	for (size_t i = 0; i < diags->count; i++)
		if (diags->at[i]->severity == DIAG_ERROR &&
		    diags->at[i]->code != E_UNKNOWN_OVERRIDE)
			return false;
	return true;
}

struct module *pipeline_load(const struct cli *cli,
			     struct compilation *compilation, const char *path,
			     enum status *status)
{
	uint32_t errors = compilation->diags.errors;
	struct module *module = module_load(compilation, path);

	*status = STATUS_FILE;
	if (!module)
		return NULL;
	if (!module->clean || compilation->diags.errors != errors) {
		*status = only_overrides_wrong(&compilation->diags) ?
				  STATUS_USAGE :
				  STATUS_SPEC;
		return NULL;
	}
	if (cli->verbose)
		cli_complain("read '%s' and its imports", path);
	*status = STATUS_DONE;
	return module;
}

/* A model the target cannot build needs no search. */
static bool target_can_build(struct compilation *compilation,
			     const struct ir *ir)
{
	struct megatron_model model;

	return ir->job.target != IR_TARGET_MEGATRON ||
	       megatron_model_read(compilation, ir, &model);
}

enum status pipeline_lower(struct compilation *compilation,
			   const struct module *module, const char *job,
			   const char *plan, struct pipeline *pipeline)
{
	const char *reason;

	*pipeline = (struct pipeline){ .ir = NULL };
	pipeline->ir = lower_job(compilation, module, job);
	if (!pipeline->ir)
		return STATUS_SPEC;
	if (!ir_verify(pipeline->ir, &reason))
		return fault("placement program", reason);
	if (plan)
		pipeline->ir = hand_plan_fix(compilation, pipeline->ir, plan);
	if (!pipeline->ir)
		return STATUS_SPEC;
	if (!target_can_build(compilation, pipeline->ir))
		return STATUS_SPEC;
	pipeline->problem = problem_from_ir(compilation, pipeline->ir);
	if (!pipeline->problem)
		return STATUS_SPEC;
	reason = problem_check(pipeline->problem);
	if (reason)
		return fault("solver problem", reason);
	return STATUS_DONE;
}

enum status pipeline_check(struct compilation *compilation,
			   const struct pipeline *pipeline)
{
	struct text reason;

	text_init(&reason, &compilation->arena);
	if (!feasible_check(pipeline->problem, &pipeline->result.plan,
			    &compilation->arena, &reason))
		return fault("plan against its problem", reason.at);
	if (!plan_verify(pipeline->ir, pipeline->problem,
			 &pipeline->result.plan, &compilation->arena, &reason))
		return fault("plan against the placement program", reason.at);
	return STATUS_DONE;
}

static void tell_counts(const struct cli *cli, const struct pipeline *pipeline)
{
	const struct certificate *certificate =
		&pipeline->result.plan.certificate;

	if (!cli->verbose)
		return;
	cli_complain("%llu configurations, %llu priced, %llu bounded, %llu partitions simulated, "
		     "%.3f s",
		     (unsigned long long)certificate->configurations,
		     (unsigned long long)certificate->priced,
		     (unsigned long long)certificate->bounded,
		     (unsigned long long)certificate->partitions,
		     pipeline->solve_s);
}

static bool wants_progress(const struct cli *cli)
{
	if (cli->progress != WHEN_AUTO)
		return cli->progress == WHEN_ALWAYS;
	return !cli->quiet && isatty(STDERR_FILENO);
}

/* The end of a search that is not over for lack of time. */
static void tell_nothing_found(struct compilation *compilation,
			       const struct pipeline *pipeline)
{
	if (pipeline->strategy != STRATEGY_NEST) {
		cli_complain("'%s' finds no plan that is allowed and fits; 'nestc compare' shows what other strategies find",
			     strategy_name(pipeline->strategy));
		return;
	}
	diag_error(&compilation->diags, E_NO_PLAN_IN_TIME,
		   pipeline->ir->job.span,
		   "no plan was found before the search had used its effort");
	diag_help(&compilation->diags, "narrow the search in 'search'");
}

struct solve_limits pipeline_limits(const struct cli *cli)
{
	return (struct solve_limits){
		.gap = cli->gap,
		.threads = cli->threads,
		.deadline = deadline_in(cli->time_limit_s),
	};
}

void pipeline_solve(const struct cli *cli, struct compilation *compilation,
		    const struct solve_limits *limits, struct pipeline *pipeline)
{
	struct solve_limits watched = *limits;
	double start = clock_seconds();
	struct progress progress;

	progress_begin(&progress, &pipeline->ir->job, wants_progress(cli),
		       cli->progress == WHEN_ALWAYS, &watched);
	strategy_solve(pipeline->problem, pipeline->strategy, &watched,
		       &compilation->arena, &pipeline->result);
	progress_end(&progress);
	pipeline->solve_s = clock_seconds() - start;
}

enum status pipeline_run(const struct cli *cli,
			 struct compilation *compilation,
			 const struct module *module, const char *job,
			 struct pipeline *pipeline)
{
	struct solve_limits limits = pipeline_limits(cli);
	enum status status = pipeline_lower(compilation, module, job, cli->plan,
					    pipeline);

	if (status != STATUS_DONE)
		return status;
	if (cli->verbose)
		cli_complain("searching: %u shapes, %u devices",
			     pipeline->problem->shape_count,
			     cluster_devices(&pipeline->ir->topology));
	pipeline->after = deadline_in(1.1 * cli->time_limit_s);
	pipeline->strategy = cli_strategy(cli);
	pipeline_solve(cli, compilation, &limits, pipeline);
	switch (pipeline->result.status) {
	case SOLVE_OPTIMAL:
	case SOLVE_FEASIBLE:
		tell_counts(cli, pipeline);
		return pipeline_check(compilation, pipeline);
	case SOLVE_INFEASIBLE:
		infeasible_report(compilation, pipeline->ir, pipeline->problem,
				  &pipeline->result, &pipeline->after);
		return STATUS_NO_PLAN;
	case SOLVE_UNROUTED:
		diag_error(&compilation->diags, E_GRAPH_PLAN,
			   pipeline->ir->job.span,
			   "no plan that was priced on the graph '%s' keeps the requirements",
			   pipeline->ir->topology.name);
		diag_note(&compilation->diags, SPAN_NONE,
			  "plans that do so on the hierarchy its links imply exist, and are slower on the links themselves");
		diag_help(&compilation->diags,
			  pipeline->result.plan.certificate.out_of_time ?
				  "give the search more time with --time-limit, or allow more time or cost in 'require'" :
				  "allow more time or cost in 'require'");
		return STATUS_NO_PLAN;
	case SOLVE_UNKNOWN:
		if (!pipeline->result.plan.certificate.out_of_time) {
			tell_nothing_found(compilation, pipeline);
			return STATUS_NO_PLAN;
		}
		diag_error(&compilation->diags, E_NO_PLAN_IN_TIME,
			   pipeline->ir->job.span,
			   "no plan was found within %g s", cli->time_limit_s);
		diag_help(&compilation->diags,
			  "give the search more time with --time-limit, or narrow it in 'search'");
		return STATUS_NO_PLAN;
	}
	return STATUS_FAULT;
}

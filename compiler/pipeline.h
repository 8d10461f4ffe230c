/* SPDX-License-Identifier: MIT
 *
 * The road of one job from its checked spec to a verified plan: the list of
 * steps, in one function.
 */
#ifndef NEST_COMPILER_PIPELINE_H
#define NEST_COMPILER_PIPELINE_H

#include "compiler/cli.h"
#include "compiler/ir.h"
#include "solver/solver.h"

struct module;

struct pipeline {
	struct ir *ir;
	struct problem *problem;
	enum strategy strategy;		/* that was used */
	struct solve_result result;
	double solve_s;			/* wall time of the search */
	struct deadline after;		/* for what follows the search: a tenth of the time
					 * limit more */
};

/* Reads a spec. NULL, reported, with *status set when it cannot be used. */
struct module *pipeline_load(const struct cli *cli,
			     struct compilation *compilation, const char *path,
			     enum status *status);

/* Lowers a job (NULL: the only one) and builds its problem; that of one of its
 * hand-written plans where plan is not NULL. */
enum status pipeline_lower(struct compilation *compilation,
			   const struct module *module, const char *job,
			   const char *plan, struct pipeline *pipeline);

/* Searches its problem (the strategy is set), with a line of progress where one is
 * wanted. */
void pipeline_solve(const struct cli *cli, struct compilation *compilation,
		    const struct solve_limits *limits, struct pipeline *pipeline);

/* Holds the plan against both checkers; a fault is reported. */
enum status pipeline_check(struct compilation *compilation,
			   const struct pipeline *pipeline);

/* What the command line lets a search take; time counts from now. */
struct solve_limits pipeline_limits(const struct cli *cli);

/* Everything: lower, solve, and hold the plan against both checkers. What is
 * wrong with the spec, and why nothing fits, is reported. */
enum status pipeline_run(const struct cli *cli,
			 struct compilation *compilation,
			 const struct module *module, const char *job,
			 struct pipeline *pipeline);

#endif

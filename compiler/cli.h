/* SPDX-License-Identifier: MIT
 *
 * The command line: one table of commands (commands.def), one of options
 * (options.def), and what a run was asked to do. Mistakes are reported on
 * standard error here and end in STATUS_USAGE.
 */
#ifndef NEST_COMPILER_CLI_H
#define NEST_COMPILER_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lang/compilation.h"
#include "lang/lint.h"
#include "solver/published.h"
#include "solver/strategy.h"

/* Exit statuses of the command. */
enum status {
	STATUS_DONE = 0,
	STATUS_SPEC = 1,	/* the spec is wrong */
	STATUS_USAGE = 2,	/* the command line is wrong */
	STATUS_NO_PLAN = 3,	/* no plan satisfies the spec */
	STATUS_FILE = 4,	/* a file could not be read or written */
	STATUS_FAULT = 70,	/* a fault of nestc itself */
};

enum command {
#define COMMAND(enumerator, name, operands, least, most, title) \
	COMMAND_##enumerator,
#include "compiler/commands.def"
#undef COMMAND
	COMMAND_COUNT
};

enum cli_option {
#define OPTION(enumerator, short_name, long_name, argument, commands, help) \
	OPTION_##enumerator,
#include "compiler/options.def"
#undef OPTION
	OPTION_COUNT
};

/* The rows of options.def, for tests; ends with an entry whose name is NULL. */
struct option_row {
	int short_name;			/* 0: none */
	const char *long_name;
	const char *argument;		/* NULL: takes none */
	unsigned commands;		/* bit per enum command */
	const char *help;
};
extern const struct option_row option_table[];

#define TOP_MAX 50		/* of --top: each takes a search */

enum dump { DUMP_NOTHING, DUMP_AST, DUMP_IR, DUMP_PROBLEM };
enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* One --emit KIND=FILE. */
struct emission {
	const char *kind;
	const char *file;		/* NULL or "-": standard output */
};

struct cli {
	struct arena arena;		/* of everything below */
	enum command command;
	const char **operand;
	uint32_t operand_count;

	const char *job;		/* NULL: the only one */
	const char *plan;		/* written by hand; NULL: the best */
	const char *layer;		/* to explain; NULL: everything */
	const char *why_not;		/* an idea to explain, or NULL */
	uint32_t top;			/* configurations to explain; 0: the best plan */
	struct emission *emission;
	uint32_t emission_count;
	const char *output;		/* -o, or NULL */
	struct override *override;
	uint32_t override_count;
	const char **import_path;	/* -I, then NEST_PATH */
	uint32_t import_path_count;
	const char **expression;	/* -e */
	uint32_t expression_count;
	const char *depfile;		/* or NULL */
	double time_limit_s;		/* 0: none */
	double gap;			/* share, 0 .. 1 */
	uint32_t threads;		/* that search, 1 or more */
	unsigned solvers;		/* bit per enum strategy; 0: none was named */
	enum dump dump;
	enum published_objective published;	/* of solve */
	enum diag_format diagnostics;
	enum when colour;
	enum when progress;
	bool allow_extern;
	bool ranks_as_factors;
	bool timing;
	struct lint_levels lint;
	bool fmt_check;			/* --check of fmt */
	bool fmt_diff;			/* --diff of fmt, and of check --fix */
	bool fix;
	bool check_solve;		/* --solve of check */
	const char *stdin_name;		/* NULL: "<stdin>" */
	bool json;
	bool verbose;
	bool quiet;
};

/* Reads the arguments. False when there is nothing left to do: *status then
 * says how to exit (help and version were printed, or a mistake reported). */
bool cli_read(struct cli *cli, int argc, char **argv, enum status *status);
void cli_release(struct cli *cli);

/* The one strategy named, or nest. */
enum strategy cli_strategy(const struct cli *cli);

/* Gives a compilation the options of the command line. */
void cli_prepare(const struct cli *cli, struct compilation *compilation);

/* Prints what has been reported so far to standard error. */
void cli_flush(const struct cli *cli, struct compilation *compilation);

/* "nestc: " and a message on standard error, for what has no place in a spec. */
void cli_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* The commands; each takes what cli_read understood. */
#define COMMAND(enumerator, name, operands, least, most, title) \
	enum status cmd_##name(const struct cli *cli);
#include "compiler/commands.def"
#undef COMMAND

#endif

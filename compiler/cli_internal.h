/* SPDX-License-Identifier: MIT
 *
 * What the files share that read the command line. Only cli*.c include this.
 */
#ifndef NEST_COMPILER_CLI_INTERNAL_H
#define NEST_COMPILER_CLI_INTERNAL_H

#include "compiler/cli.h"
#include "lang/base/vec.h"

struct command_row {
	const char *name;
	const char *operands;
	uint32_t least, most;
	const char *title;
};

/* By enum command. */
extern const struct command_row command_table[];

/* A command line while it is read. */
struct reading {
	struct cli *cli;
	VEC(const char *) operands;
	VEC(struct emission) emissions;
	VEC(struct override) overrides;
	VEC(const char *) import_path;
	VEC(const char *) expressions;
	bool seen[OPTION_COUNT];
};

/* ---- tables and help (cli_help.c) ---- */

/* Help on a command, or on all of them (COMMAND_COUNT). */
void cli_help(enum command command);
/* The name that most resembles a misspelt one, or NULL. */
const char *cli_nearest_option(const char *name);
const char *cli_nearest_command(const char *name);

/* ---- one option (cli_option.c) ---- */

/* "--name". */
const char *cli_option_spelling(enum cli_option option, struct arena *arena);
/* Takes an option with its argument; false, complained of, if it has no such
 * value. */
bool cli_take_option(struct reading *reading, enum cli_option option,
		     const char *argument);

#endif

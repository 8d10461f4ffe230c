/* SPDX-License-Identifier: MIT
 *
 * The tables of commands and options, and the help they hold.
 */
#include "compiler/cli_internal.h"

#include <string.h>

#include "compiler/emit.h"

enum {
	ON_CHECK = 1u << COMMAND_CHECK,
	ON_COMPILE = 1u << COMMAND_COMPILE,
	ON_COMPARE = 1u << COMMAND_COMPARE,
	ON_DIFF = 1u << COMMAND_DIFF,
	ON_EXPLAIN = 1u << COMMAND_EXPLAIN,
	ON_SOLVE = 1u << COMMAND_SOLVE,
	ON_PARAMS = 1u << COMMAND_PARAMS,
	ON_LIST = 1u << COMMAND_LIST,
	ON_DOC = 1u << COMMAND_DOC,
	ON_EVAL = 1u << COMMAND_EVAL,
	ON_TEST = 1u << COMMAND_TEST,
	ON_FMT = 1u << COMMAND_FMT,
	ON_SPECS = ON_CHECK | ON_COMPILE | ON_COMPARE | ON_DIFF | ON_EXPLAIN |
		   ON_PARAMS | ON_EVAL | ON_TEST,
	ON_SEARCHES = ON_COMPILE | ON_COMPARE | ON_DIFF | ON_EXPLAIN | ON_EVAL |
		      ON_TEST,
	ON_ALL = (1u << COMMAND_COUNT) - 1,
};

const struct command_row command_table[] = {
#define COMMAND(enumerator, name, operands, least, most, title) \
	{ #name, operands, least, most, title },
#include "compiler/commands.def"
#undef COMMAND
};

const struct option_row option_table[] = {
#define OPTION(enumerator, short_name, long_name, argument, commands, help) \
	{ short_name, long_name, argument, commands, help },
#include "compiler/options.def"
#undef OPTION
	{ 0, NULL, NULL, 0, NULL }
};

static void print_options(unsigned commands)
{
	for (const struct option_row *row = option_table; row->long_name; row++) {
		char left[64];

		if (!(row->commands & commands))
			continue;
		snprintf(left, sizeof(left), "%c%c%s--%s%s%s",
			 row->short_name ? '-' : ' ',
			 row->short_name ? row->short_name : ' ',
			 row->short_name ? ", " : "  ", row->long_name,
			 row->argument ? "=" : "",
			 row->argument ? row->argument : "");
		if (strlen(left) > 28)
			printf("  %s\n  %-28s  %s\n", left, "", row->help);
		else
			printf("  %-28s  %s\n", left, row->help);
	}
}

static void print_kinds(void)
{
	printf("\nKinds of --emit:\n");
	for (const struct emitter *emitter = emitters(); emitter->name; emitter++)
		printf("  %-12s  %s\n", emitter->name, emitter->title);
}

void cli_help(enum command command)
{
	if (command != COMMAND_COUNT) {
		const struct command_row *row = &command_table[command];

		printf("Usage: nestc %s [OPTION].. %s\n\n%c%s.\n\nOptions:\n",
		       row->name, row->operands, row->title[0] - 'a' + 'A',
		       row->title + 1);
		print_options(1u << command);
		if (command == COMMAND_COMPILE)
			print_kinds();
		return;
	}
	printf("Usage: nestc COMMAND [OPTION].. [FILE]..\n\n"
	       "Finds the fastest way to train a model on a cluster, proves it, and writes\n"
	       "what launches it.\n\n"
	       "Commands:\n");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-8s %-12s  %s\n", command_table[i].name,
		       command_table[i].operands, command_table[i].title);
	printf("\nOptions of every command:\n");
	for (const struct option_row *row = option_table; row->long_name; row++)
		if (row->commands == ON_ALL)
			printf("  --%-26s  %s\n", row->long_name, row->help);
	printf("\n'nestc COMMAND --help' lists the options of a command.\n"
	       "Exit status: 0 done, 1 the spec is wrong, 2 the command line is wrong, 3 no plan\n"
	       "satisfies the spec, 4 a file could not be read or written, 70 a fault of nestc.\n");
}

const char *cli_nearest_option(const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	for (const struct option_row *row = option_table; row->long_name; row++) {
		unsigned distance;

		if (!diag_resembles(name, row->long_name, &distance))
			continue;
		if (!best || distance < best_distance) {
			best = row->long_name;
			best_distance = distance;
		}
	}
	return best;
}

const char *cli_nearest_command(const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		unsigned distance;

		if (!diag_resembles(name, command_table[i].name, &distance))
			continue;
		if (!best || distance < best_distance) {
			best = command_table[i].name;
			best_distance = distance;
		}
	}
	return best;
}

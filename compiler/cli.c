/* SPDX-License-Identifier: MIT
 *
 * Reads the command line with getopt_long from the tables and refuses what a
 * command does not take.
 */
#include "compiler/cli_internal.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/ir.h"
#include "compiler/native.h"

/* getopt_long's numbers for options; above every character. */
enum { OPTION_BASE = 256 };

void cli_complain(const char *format, ...)
{
	va_list arguments;

	fputs("nestc: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

enum strategy cli_strategy(const struct cli *cli)
{
	for (int i = 0; i < STRATEGY_COUNT; i++)
		if (cli->solvers >> i & 1)
			return (enum strategy)i;
	return STRATEGY_NEST;
}

static bool complain_unknown_option(struct cli *cli, const char *word)
{
	size_t length = strcspn(word, "=");
	const char *name = arena_copy(&cli->arena, word, length);
	const char *nearest;

	nearest = strncmp(name, "--", 2) == 0 ? cli_nearest_option(name + 2) : NULL;
	if (nearest)
		cli_complain("unknown option '%s'; did you mean '--%s'?", name,
			     nearest);
	else
		cli_complain("unknown option '%s'; 'nestc --help' lists them",
			     name);
	return false;
}

/* getopt_long takes any unique beginning of a long name; a script that relies
 * on one breaks when an option is added, so only whole names are accepted. */
static bool is_abbreviated(char **argv, enum cli_option option)
{
	const char *name = option_table[option].long_name;
	size_t length = strlen(name);
	const char *word = argv[optind - 1];

	if (optarg == word)
		word = argv[optind - 2];
	if (strncmp(word, "--", 2) != 0)
		return false;
	return strncmp(word + 2, name, length) != 0 ||
	       (word[2 + length] != '\0' && word[2 + length] != '=');
}

static bool complain_getopt(struct cli *cli, char **argv)
{
	const char *word = argv[optind - 1];
	char spelling[3] = { '-', (char)optopt, '\0' };

	if (optopt >= OPTION_BASE) {
		cli_complain("option '--%s' takes no value",
			     option_table[optopt - OPTION_BASE].long_name);
		return false;
	}
	if (optopt)
		return complain_unknown_option(cli, spelling);
	return complain_unknown_option(cli, word);
}

static bool complain_no_argument(void)
{
	for (uint32_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_table[i];

		if (optopt == (int)(OPTION_BASE + i) ||
		    (row->short_name && optopt == row->short_name)) {
			cli_complain("option '--%s' needs a value: --%s=%s",
				     row->long_name, row->long_name,
				     row->argument);
			return false;
		}
	}
	cli_complain("an option needs a value");
	return false;
}

static enum cli_option option_of(int found)
{
	if (found >= OPTION_BASE)
		return (enum cli_option)(found - OPTION_BASE);
	for (uint32_t i = 0; i < OPTION_COUNT; i++)
		if (option_table[i].short_name == found)
			return (enum cli_option)i;
	return OPTION_COUNT;
}

static void fill_tables(struct option *long_options, char *short_options)
{
	*short_options++ = ':';
	for (uint32_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_table[i];

		long_options[i].name = row->long_name;
		long_options[i].has_arg =
			row->argument ? required_argument : no_argument;
		long_options[i].val = (int)(OPTION_BASE + i);
		if (!row->short_name)
			continue;
		*short_options++ = (char)row->short_name;
		if (row->argument)
			*short_options++ = ':';
	}
	*short_options = '\0';
}

static bool read_options(struct reading *reading, int argc, char **argv)
{
	struct option long_options[OPTION_COUNT + 1] = { { 0 } };
	char short_options[2 * OPTION_COUNT + 2];
	int found;

	fill_tables(long_options, short_options);
	opterr = 0;
	optind = 0;
	while ((found = getopt_long(argc, argv, short_options, long_options,
				    NULL)) != -1) {
		enum cli_option option;

		if (found == '?')
			return complain_getopt(reading->cli, argv);
		if (found == ':')
			return complain_no_argument();
		option = option_of(found);
		if (found >= OPTION_BASE && is_abbreviated(argv, option))
			return complain_unknown_option(
				reading->cli, optarg == argv[optind - 1] ?
						      argv[optind - 2] :
						      argv[optind - 1]);
		if (!cli_take_option(reading, option, optarg))
			return false;
		reading->seen[option] = true;
	}
	for (int i = optind; i < argc; i++)
		VEC_PUSH(&reading->operands, &reading->cli->arena, argv[i]);
	return true;
}

/* "-MD FILE", as compilers spell it, is no form getopt knows. */
static char **respell(struct arena *arena, int argc, char **argv)
{
	char **copy = ARENA_ARRAY(arena, char *, (size_t)argc + 1);
	bool operands_only = false;

	for (int i = 0; i < argc; i++) {
		copy[i] = argv[i];
		if (strcmp(argv[i], "--") == 0)
			operands_only = true;
		else if (!operands_only && strcmp(argv[i], "-MD") == 0)
			copy[i] = arena_printf(arena, "--depfile");
	}
	return copy;
}

static bool find_command(struct reading *reading)
{
	const char *name = reading->operands.at[0];
	const char *nearest;

	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(command_table[i].name, name) != 0)
			continue;
		reading->cli->command = (enum command)i;
		return true;
	}
	nearest = cli_nearest_command(name);
	if (nearest)
		cli_complain("unknown command '%s'; did you mean '%s'?", name,
			     nearest);
	else
		cli_complain("unknown command '%s'; 'nestc --help' lists them",
			     name);
	return false;
}

static bool check_operands(const struct cli *cli)
{
	const struct command_row *row = &command_table[cli->command];

	if (cli->operand_count < row->least) {
		cli_complain("'%s' needs a file: nestc %s %s", row->name,
			     row->name, row->operands);
		return false;
	}
	if (cli->operand_count > row->most &&
	    !(row->most == 0 && row->least > 0)) {
		cli_complain("'%s' takes no further operand '%s'", row->name,
			     cli->operand[row->most]);
		return false;
	}
	return true;
}

static bool check_options(const struct reading *reading)
{
	const struct cli *cli = reading->cli;

	for (uint32_t i = 0; i < OPTION_COUNT; i++) {
		if (!reading->seen[i] ||
		    (option_table[i].commands & (1u << cli->command)))
			continue;
		cli_complain("option '--%s' means nothing to '%s'",
			     option_table[i].long_name,
			     command_table[cli->command].name);
		return false;
	}
	if (cli->command == COMMAND_COMPILE && cli->solvers & (cli->solvers - 1)) {
		cli_complain("'compile' takes one --solver; 'nestc compare' puts several side by side");
		return false;
	}
	if (cli->command == COMMAND_EXPLAIN &&
	    (cli->why_not != NULL) + (cli->top > 0) + (cli->layer != NULL) > 1) {
		cli_complain("'--why-not', '--top' and '--layer' ask for different things: give one");
		return false;
	}
	if (cli->command == COMMAND_EXPLAIN && cli->json && !cli->why_not &&
	    !cli->top) {
		cli_complain("'--json' of explain goes with '--why-not' or '--top'; 'nestc compile --emit=manifest' writes the plan itself");
		return false;
	}
	if (cli->command == COMMAND_CHECK && cli->fmt_diff && !cli->fix) {
		cli_complain("'--diff' of check shows what '--fix' would change: give both");
		return false;
	}
	return true;
}

/* -o names the file of the only output that has none of its own. */
static bool settle_outputs(struct reading *reading)
{
	struct cli *cli = reading->cli;
	uint32_t unnamed = 0, printed = 0;

	if (cli->command != COMMAND_COMPILE)
		return true;
	if (!reading->emissions.count) {
		struct emission summary = { .kind = "summary" };

		VEC_PUSH(&reading->emissions, &cli->arena, summary);
	}
	for (size_t i = 0; i < reading->emissions.count; i++) {
		struct emission *emission = &reading->emissions.at[i];

		unnamed += !emission->file;
		if (!emission->file && cli->output)
			emission->file = cli->output;
		printed += !emission->file || strcmp(emission->file, "-") == 0;
	}
	if (cli->output && unnamed != 1) {
		cli_complain(unnamed ? "-o is ambiguous: write --emit KIND=FILE for each output" :
				       "-o has nothing to name: every --emit has a file of its "
				       "own");
		return false;
	}
	if (printed > 1) {
		cli_complain("only one output can go to standard output: write --emit KIND=FILE "
			     "for the others");
		return false;
	}
	cli->emission = reading->emissions.at;
	cli->emission_count = (uint32_t)reading->emissions.count;
	return true;
}

static void add_import_environment(struct reading *reading)
{
	struct arena *arena = &reading->cli->arena;
	const char *path = getenv("NEST_PATH");

	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (length)
			VEC_PUSH(&reading->import_path, arena,
				 arena_copy(arena, path, length));
		path += length + (path[length] == ':');
	}
}

static bool finish(struct reading *reading)
{
	struct cli *cli = reading->cli;

	cli->operand = reading->operands.at + 1;
	cli->operand_count = (uint32_t)reading->operands.count - 1;
	add_import_environment(reading);
	cli->override = reading->overrides.at;
	cli->override_count = (uint32_t)reading->overrides.count;
	cli->expression = reading->expressions.at;
	cli->expression_count = (uint32_t)reading->expressions.count;
	cli->import_path = reading->import_path.at;
	cli->import_path_count = (uint32_t)reading->import_path.count;
	return check_options(reading) && check_operands(cli) &&
	       settle_outputs(reading);
}

bool cli_read(struct cli *cli, int argc, char **argv, enum status *status)
{
	struct reading reading = { .cli = cli };
	bool has_command, helps_by_name;

	*cli = (struct cli){ .command = COMMAND_COUNT };
	arena_init(&cli->arena);
	*status = STATUS_USAGE;
	if (!read_options(&reading, argc, respell(&cli->arena, argc, argv)))
		return false;
	if (reading.seen[OPTION_VERSION]) {
		printf("nestc %s\n", PACKAGE_VERSION);
		*status = STATUS_DONE;
		return false;
	}
	helps_by_name = reading.operands.count &&
			strcmp(reading.operands.at[0], "help") == 0;
	if (helps_by_name) {
		reading.seen[OPTION_HELP] = true;
		reading.operands.at++;
		reading.operands.count--;
	}
	has_command = reading.operands.count > 0;
	if (has_command && !find_command(&reading))
		return false;
	if (reading.seen[OPTION_HELP]) {
		cli_help(cli->command);
		*status = STATUS_DONE;
		return false;
	}
	if (!has_command) {
		cli_complain("no command is given; 'nestc --help' lists them");
		return false;
	}
	return finish(&reading);
}

void cli_release(struct cli *cli)
{
	arena_release(&cli->arena);
}

void cli_prepare(const struct cli *cli, struct compilation *compilation)
{
	compilation_init(compilation);
	compilation->import_path = cli->import_path;
	compilation->import_path_count = cli->import_path_count;
	compilation->override = cli->override;
	compilation->override_count = cli->override_count;
	compilation->allow_extern = cli->allow_extern;
	compilation->sources.stdin_name = cli->stdin_name;
	compilation->operator_names = ir_operator_names;
	compilation->count_parameters = model_count_parameters;
	compilation->call_extern = native_call;
	for (uint32_t i = 0; i < cli->override_count; i++)
		cli->override[i].used = false;
}

static bool wants_colour(enum when when)
{
	const char *no_colour = getenv("NO_COLOR");

	if (when != WHEN_AUTO)
		return when == WHEN_ALWAYS;
	return !(no_colour && *no_colour) && isatty(STDERR_FILENO);
}

static void drop_warnings(struct diags *diags)
{
	size_t kept = 0;

	for (size_t i = 0; i < diags->count; i++)
		if (diags->at[i]->severity == DIAG_ERROR)
			diags->at[kept++] = diags->at[i];
	diags->count = kept;
}

void cli_flush(const struct cli *cli, struct compilation *compilation)
{
	if (cli->quiet)
		drop_warnings(&compilation->diags);
	diags_flush(&compilation->diags, stderr, cli->diagnostics,
		    wants_colour(cli->colour));
}

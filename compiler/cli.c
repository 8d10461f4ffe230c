/* SPDX-License-Identifier: MIT
 *
 * Reads the command line with getopt_long from the tables, refuses what a
 * command does not take, and prints the help those tables hold.
 */
#include "compiler/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/emit.h"
#include "compiler/ir.h"
#include "compiler/native.h"
#include "lang/base/vec.h"
#include "lang/unit.h"

enum {
	ON_CHECK = 1u << COMMAND_CHECK,
	ON_COMPILE = 1u << COMMAND_COMPILE,
	ON_COMPARE = 1u << COMMAND_COMPARE,
	ON_EXPLAIN = 1u << COMMAND_EXPLAIN,
	ON_SOLVE = 1u << COMMAND_SOLVE,
	ON_PARAMS = 1u << COMMAND_PARAMS,
	ON_LIST = 1u << COMMAND_LIST,
	ON_DOC = 1u << COMMAND_DOC,
	ON_EVAL = 1u << COMMAND_EVAL,
	ON_TEST = 1u << COMMAND_TEST,
	ON_FMT = 1u << COMMAND_FMT,
	ON_SPECS = ON_CHECK | ON_COMPILE | ON_COMPARE | ON_EXPLAIN | ON_PARAMS | ON_EVAL |
		   ON_TEST,
	ON_SEARCHES = ON_COMPILE | ON_COMPARE | ON_EXPLAIN | ON_EVAL | ON_TEST,
	ON_ALL = (1u << COMMAND_COUNT) - 1,
};

struct command_row {
	const char *name;
	const char *operands;
	uint32_t least, most;
	const char *title;
};

static const struct command_row command_table[] = {
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

/* getopt_long's numbers for options; above every character. */
enum { OPTION_BASE = 256 };

struct reading {
	struct cli *cli;
	VEC(const char *) operands;
	VEC(struct emission) emissions;
	VEC(struct override) overrides;
	VEC(const char *) import_path;
	VEC(const char *) expressions;
	bool seen[OPTION_COUNT];
};

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

static void print_help(enum command command)
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

static const char *nearest_option(const char *name)
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

static const char *nearest_command(const char *name)
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

static bool complain_unknown_option(struct cli *cli, const char *word)
{
	size_t length = strcspn(word, "=");
	const char *name = arena_copy(&cli->arena, word, length);
	const char *nearest;

	nearest = strncmp(name, "--", 2) == 0 ? nearest_option(name + 2) : NULL;
	if (nearest)
		cli_complain("unknown option '%s'; did you mean '--%s'?", name,
			     nearest);
	else
		cli_complain("unknown option '%s'; 'nestc --help' lists them",
			     name);
	return false;
}

static const char *option_spelling(enum cli_option option, struct arena *arena)
{
	const struct option_row *row = &option_table[option];

	return arena_printf(arena, "--%s", row->long_name);
}

/* One of the words separated by bars in the option's argument column. */
static bool read_word(struct reading *reading, enum cli_option option,
		      const char *argument, int *number)
{
	const char *words = option_table[option].argument;
	int index = 0;

	for (const char *word = words; *word; index++) {
		size_t length = strcspn(word, "|");

		if (strlen(argument) == length &&
		    memcmp(word, argument, length) == 0) {
			*number = index;
			return true;
		}
		word += length + (word[length] == '|');
	}
	cli_complain("'%s' is not a value of %s: give one of %s", argument,
		     option_spelling(option, &reading->cli->arena), words);
	return false;
}

static bool read_seconds(struct reading *reading, const char *argument)
{
	char *end;
	double number = strtod(argument, &end), scale = 1;
	struct unit unit = UNIT_SECOND;

	while (*end == ' ')
		end++;
	if (end == argument || !(number > 0 && number < 1e9) ||
	    (*end && (unit_parse(end, strlen(end), &unit, &scale) != strlen(end) ||
		      !unit_equal(unit, UNIT_SECOND)))) {
		cli_complain("'%s' is not a time: --time-limit takes seconds, for instance '30' "
			     "or '500ms'",
			     argument);
		return false;
	}
	reading->cli->time_limit_s = number * scale;

	return true;
}

static bool read_gap(struct reading *reading, const char *argument)
{
	char *end;
	double number = strtod(argument, &end);

	if (*end == '%')
		end++;
	if (end == argument || *end || !(number >= 0 && number < 100)) {
		cli_complain("'%s' is not a gap: --gap takes per cent, for instance '1' or '0.5%%'",
			     argument);
		return false;
	}
	reading->cli->gap = number / 100;
	return true;
}

static bool is_name(const char *text, size_t length)
{
	if (!length || (text[0] >= '0' && text[0] <= '9'))
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return true;
}

static bool read_define(struct reading *reading, const char *argument)
{
	struct arena *arena = &reading->cli->arena;
	size_t length = strcspn(argument, "=");
	struct override override = { 0 };

	if (argument[length] != '=' || !argument[length + 1] ||
	    !is_name(argument, length)) {
		cli_complain("'-D %s' should have the form '-D NAME=EXPR'",
			     argument);
		return false;
	}
	override.name = arena_copy(arena, argument, length);
	override.expression = argument + length + 1;
	for (size_t i = 0; i < reading->overrides.count; i++) {
		if (strcmp(reading->overrides.at[i].name, override.name) == 0) {
			cli_complain("'-D %s' is given twice", override.name);
			return false;
		}
	}
	VEC_PUSH(&reading->overrides, arena, override);
	return true;
}

static bool set_lint(struct reading *reading, const char *name,
		     enum lint_level level)
{
	enum lint lint = lint_find(name);
	const char *nearest;

	if (lint != LINT_COUNT) {
		reading->cli->lint.level[lint] = level;
		return true;
	}
	nearest = lint_suggest(name);
	if (nearest)
		cli_complain("there is no warning '%s'; did you mean '%s'?",
			     name, nearest);
	else
		cli_complain("there is no warning '%s'; the manual lists them",
			     name);
	return false;
}

static bool read_warning(struct reading *reading, const char *argument)
{
	struct lint_levels *lint = &reading->cli->lint;

	if (strcmp(argument, "error") == 0) {
		for (int i = 0; i < LINT_COUNT; i++)
			if (lint->level[i] == LINT_WARNING)
				lint->level[i] = LINT_ERROR;
		return true;
	}
	if (strncmp(argument, "no-", 3) == 0)
		return set_lint(reading, argument + 3, LINT_OFF);
	return set_lint(reading, argument, LINT_WARNING);
}

static const char *nearest_kind(const char *name)
{
	for (const struct emitter *emitter = emitters(); emitter->name; emitter++)
		if (diag_resembles(name, emitter->name, NULL))
			return emitter->name;
	return NULL;
}

static bool read_emit(struct reading *reading, const char *argument)
{
	struct arena *arena = &reading->cli->arena;
	size_t length = strcspn(argument, "=");
	struct emission emission = { 0 };
	const char *nearest;

	emission.kind = arena_copy(arena, argument, length);
	if (argument[length])
		emission.file = argument + length + 1;
	if (emission.file && !*emission.file) {
		cli_complain("'--emit=%s' names no file", argument);
		return false;
	}
	if (emitter_find(emission.kind)) {
		VEC_PUSH(&reading->emissions, arena, emission);
		return true;
	}
	nearest = nearest_kind(emission.kind);
	if (nearest)
		cli_complain("unknown kind of output '%s'; did you mean '%s'?",
			     emission.kind, nearest);
	else
		cli_complain("unknown kind of output '%s'; 'nestc compile --help' lists them",
			     emission.kind);
	return false;
}

static bool take_option(struct reading *reading, enum cli_option option,
			const char *argument)
{
	struct cli *cli = reading->cli;
	int word = 0;

	switch (option) {
	case OPTION_LAYER:
		cli->layer = argument;
		return true;
	case OPTION_JOB:
		cli->job = argument;
		return true;
	case OPTION_PLAN:
		cli->plan = argument;
		return true;
	case OPTION_EMIT:
		return read_emit(reading, argument);
	case OPTION_OBJECTIVE:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->published = (enum published_objective)word;
		return true;
	case OPTION_SOLVER:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->solvers |= 1u << word;
		return true;
	case OPTION_OUTPUT:
		cli->output = argument;
		return true;
	case OPTION_DEFINE:
		return read_define(reading, argument);
	case OPTION_IMPORT_DIRECTORY:
		VEC_PUSH(&reading->import_path, &cli->arena, argument);
		return true;
	case OPTION_DEPENDENCIES:
		cli->depfile = argument;
		return true;
	case OPTION_ALLOW_EXTERN:
		cli->allow_extern = true;
		return true;
	case OPTION_TIME_LIMIT:
		return read_seconds(reading, argument);
	case OPTION_GAP:
		return read_gap(reading, argument);
	case OPTION_RANKS:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->ranks_as_factors = word == 1;
		return true;
	case OPTION_TIMING:
		cli->timing = true;
		return true;
	case OPTION_WARNING:
		return read_warning(reading, argument);
	case OPTION_WARNING_ERROR:
		return set_lint(reading, argument, LINT_ERROR);
	case OPTION_DUMP:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->dump = (enum dump)(word + 1);
		return true;
	case OPTION_EXPRESSION:
		VEC_PUSH(&reading->expressions, &cli->arena, argument);
		return true;
	case OPTION_FMT_CHECK:
		cli->fmt_check = true;
		return true;
	case OPTION_FMT_DIFF:
		cli->fmt_diff = true;
		return true;
	case OPTION_JSON:
		cli->json = true;
		return true;
	case OPTION_DIAGNOSTICS:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->diagnostics = (enum diag_format)word;
		return true;
	case OPTION_COLOUR:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->colour = (enum when)word;
		return true;
	case OPTION_PROGRESS:
		if (!read_word(reading, option, argument, &word))
			return false;
		cli->progress = (enum when)word;
		return true;
	case OPTION_VERBOSE:
		cli->verbose = true;
		return true;
	case OPTION_QUIET:
		cli->quiet = true;
		return true;
	case OPTION_HELP:
	case OPTION_VERSION:
	case OPTION_COUNT:
		return true;
	}
	return true;
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
		if (!take_option(reading, option, optarg))
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
	nearest = nearest_command(name);
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
		print_help(cli->command);
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

/* SPDX-License-Identifier: MIT
 *
 * The options one by one, and what their arguments mean.
 */
#include "compiler/cli_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/emit.h"
#include "lang/unit.h"

#define THREADS_MOST 256

const char *cli_option_spelling(enum cli_option option, struct arena *arena)
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
		     cli_option_spelling(option, &reading->cli->arena), words);
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

static bool read_threads(struct reading *reading, const char *argument)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(argument, &end, 10);
	if (end == argument || *end || errno || number < 0 ||
	    number > THREADS_MOST) {
		cli_complain("'%s' is not a number of threads: --threads takes one from 0 to %d",
			     argument, THREADS_MOST);
		return false;
	}
	if (!number)
		number = sysconf(_SC_NPROCESSORS_ONLN);
	reading->cli->threads = number < 1 ? 1 : number > THREADS_MOST ?
		THREADS_MOST : (uint32_t)number;
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

static bool read_top(struct reading *reading, const char *argument)
{
	char *end;
	long number = strtol(argument, &end, 10);

	if (end == argument || *end || number < 1 || number > TOP_MAX) {
		cli_complain("'%s' is not a number of plans: --top takes 1 to %d",
			     argument, TOP_MAX);
		return false;
	}
	reading->cli->top = (uint32_t)number;
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

bool cli_take_option(struct reading *reading, enum cli_option option,
			const char *argument)
{
	struct cli *cli = reading->cli;
	int word = 0;

	switch (option) {
	case OPTION_LAYER:
		cli->layer = argument;
		return true;
	case OPTION_WHY_NOT:
		cli->why_not = argument;
		return true;
	case OPTION_TOP:
		return read_top(reading, argument);
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
	case OPTION_THREADS:
		return read_threads(reading, argument);
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
	case OPTION_CHECK_SOLVE:
		cli->check_solve = true;
		return true;
	case OPTION_FIX:
		cli->fix = true;
		return true;
	case OPTION_STDIN_NAME:
		cli->stdin_name = argument;
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

/* SPDX-License-Identifier: MIT
 *
 * The command line: what is understood, what is refused, and that the manual
 * page tells of every option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/cli.h"

#define READ(cli, status, ...)                                             \
	read_words(cli, status, (const char *[]){ "nestc", __VA_ARGS__, NULL })

/* getopt_long wants words it might permute; it does not write to them. */
static bool read_words(struct cli *cli, enum status *status, const char **words)
{
	int count = 0;

	while (words[count])
		count++;
	return cli_read(cli, count, (char **)words, status);
}

/* Messages of refusals are not what these tests are about. */
static int quiet(void **state)
{
	(void)state;
	return freopen("/dev/null", "w", stderr) ? 0 : -1;
}

static void summary_is_the_default(void **state)
{
	struct cli cli;
	enum status status;

	(void)state;
	assert_true(READ(&cli, &status, "compile", "a.nest"));
	assert_int_equal(cli.command, COMMAND_COMPILE);
	assert_int_equal(cli.operand_count, 1);
	assert_string_equal(cli.operand[0], "a.nest");
	assert_int_equal(cli.emission_count, 1);
	assert_string_equal(cli.emission[0].kind, "summary");
	assert_null(cli.emission[0].file);
	cli_release(&cli);
}

static void options_may_stand_anywhere(void **state)
{
	struct cli cli;
	enum status status;

	(void)state;
	assert_true(READ(&cli, &status, "-v", "compile", "--job=train",
			 "a.nest", "-D", "batch=2*512", "-Ilib", "-I", "more",
			 "--gap", "0.5%", "--time-limit=500ms", "-MD", "a.d",
			 "--ranks=factors", "--diagnostics=sarif"));
	assert_true(cli.verbose);
	assert_string_equal(cli.job, "train");
	assert_int_equal(cli.override_count, 1);
	assert_string_equal(cli.override[0].name, "batch");
	assert_string_equal(cli.override[0].expression, "2*512");
	assert_string_equal(cli.import_path[0], "lib");
	assert_string_equal(cli.import_path[1], "more");
	assert_true(cli.gap == 0.005);
	assert_true(cli.time_limit_s == 0.5);
	assert_string_equal(cli.depfile, "a.d");
	assert_true(cli.ranks_as_factors);
	assert_int_equal(cli.diagnostics, DIAG_FORMAT_SARIF);
	cli_release(&cli);
}

static void environment_follows_options(void **state)
{
	struct cli cli;
	enum status status;

	(void)state;
	setenv("NEST_PATH", "one::two", 1);
	assert_true(READ(&cli, &status, "check", "a.nest", "-I", "zero"));
	unsetenv("NEST_PATH");
	assert_int_equal(cli.import_path_count, 3);
	assert_string_equal(cli.import_path[0], "zero");
	assert_string_equal(cli.import_path[1], "one");
	assert_string_equal(cli.import_path[2], "two");
	cli_release(&cli);
}

static void output_names_the_file(void **state)
{
	struct cli cli;
	enum status status;

	(void)state;
	assert_true(READ(&cli, &status, "compile", "a.nest", "--emit",
			 "manifest", "--emit=megatron=b.sh", "-o", "c.json"));
	assert_string_equal(cli.emission[0].file, "c.json");
	assert_string_equal(cli.emission[1].file, "b.sh");
	cli_release(&cli);
}

static void words_after_two_dashes_are_operands(void **state)
{
	struct cli cli;
	enum status status;

	(void)state;
	assert_true(READ(&cli, &status, "check", "--", "-MD", "-x"));
	assert_int_equal(cli.operand_count, 2);
	assert_string_equal(cli.operand[0], "-MD");
	cli_release(&cli);
}

static void mistakes_are_usage(void **state)
{
	static const char *const lines[][6] = {
		{ "nestc" },
		{ "nestc", "complie", "a.nest" },
		{ "nestc", "compile" },
		{ "nestc", "compile", "a.nest", "b.nest" },
		{ "nestc", "compile", "a.nest", "--emits=summary" },
		{ "nestc", "compile", "a.nest", "--emi=summary" },
		{ "nestc", "compile", "a.nest", "--emit=sumary" },
		{ "nestc", "compile", "a.nest", "--emit=summary=" },
		{ "nestc", "compile", "a.nest", "--timing=1" },
		{ "nestc", "compile", "a.nest", "--job" },
		{ "nestc", "compile", "a.nest", "-z" },
		{ "nestc", "compile", "a.nest", "-D", "=3" },
		{ "nestc", "compile", "a.nest", "-D", "3=3" },
		{ "nestc", "compile", "a.nest", "-D", "x" },
		{ "nestc", "compile", "a.nest", "--gap=100" },
		{ "nestc", "compile", "a.nest", "--gap=-1" },
		{ "nestc", "compile", "a.nest", "--gap=nan" },
		{ "nestc", "compile", "a.nest", "--time-limit=0" },
		{ "nestc", "compile", "a.nest", "--time-limit=1GiB" },
		{ "nestc", "compile", "a.nest", "--ranks=some" },
		{ "nestc", "compile", "a.nest", "--emit=summary=x", "-oy" },
		{ "nestc", "check", "a.nest", "--emit=summary" },
		{ "nestc", "list", "device", "model" },
		{ "nestc", "eval", "a.nest", "b.nest" },
		{ "nestc", "fmt" },
		{ "nestc", "check", "a.nest", "--diff" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *words[7] = { 0 };
		enum status status;
		struct cli cli;

		memcpy(words, lines[i], sizeof(lines[i]));
		assert_false(read_words(&cli, &status, words));
		assert_int_equal(status, STATUS_USAGE);
		cli_release(&cli);
	}
}

static void two_outputs_cannot_share_the_screen(void **state)
{
	struct cli cli;
	enum status status;

	(void)state;
	assert_false(READ(&cli, &status, "compile", "a.nest", "--emit=summary",
			  "--emit=manifest"));
	assert_int_equal(status, STATUS_USAGE);
	cli_release(&cli);
	assert_false(READ(&cli, &status, "compile", "a.nest", "--emit=summary",
			  "--emit=manifest", "-o", "x"));
	assert_int_equal(status, STATUS_USAGE);
	cli_release(&cli);
}

/* The page writes a hyphen of an option as "\-". */
static void manual_tells_of_every_option(void **state)
{
	const char *top = getenv("top_srcdir");
	char path[4096], spelling[128];
	static char page[1 << 16];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/compiler/nestc.1.in", top ? top : ".");
	file = fopen(path, "r");
	assert_non_null(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	for (const struct option_row *row = option_table; row->long_name; row++) {
		size_t length = 0;

		for (const char *c = row->long_name; *c; c++)
			length += (size_t)snprintf(spelling + length,
						   sizeof(spelling) - length,
						   *c == '-' ? "\\%c" : "%c", *c);
		if (!strstr(page, spelling))
			fail_msg("nestc.1 does not tell of --%s", row->long_name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_is_the_default),
		cmocka_unit_test(options_may_stand_anywhere),
		cmocka_unit_test(environment_follows_options),
		cmocka_unit_test(output_names_the_file),
		cmocka_unit_test(words_after_two_dashes_are_operands),
		cmocka_unit_test(mistakes_are_usage),
		cmocka_unit_test(two_outputs_cannot_share_the_screen),
		cmocka_unit_test(manual_tells_of_every_option),
	};

	return cmocka_run_group_tests(tests, quiet, NULL);
}

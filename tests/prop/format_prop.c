/* SPDX-License-Identifier: MIT
 *
 * Formatting random specs changes neither what they mean nor their comments,
 * and formatting the result changes nothing. PROP_COUNT sets how many specs,
 * PROP_SEED the first seed; a failure prints the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/ast.h"
#include "lang/compilation.h"
#include "lang/format.h"
#include "lang/parse.h"
#include "tests/prop/random.h"
#include "tests/prop/random_spec.h"

#define COUNT_DEFAULT 2000

struct trial {
	uint64_t seed;
	struct compilation compilation;
	struct text before, after;
};

static void trial_fail(struct trial *trial, const char *what)
{
	diags_flush(&trial->compilation.diags, stderr, DIAG_FORMAT_TEXT, false);
	fprintf(stderr, "PROP_SEED=%llu: %s\n---- before\n%s---- after\n%s",
		(unsigned long long)trial->seed, what, trial->before.at,
		trial->after.length ? trial->after.at : "");
	fail();
}

static uint32_t add(struct trial *trial, const struct text *text)
{
	return sources_add(&trial->compilation.sources, "spec", "spec",
			   text->at, text->length, false);
}

static const struct ast *parse(struct trial *trial, const struct text *text,
			       struct comments *comments, const char *what)
{
	bool is_clean;
	const struct ast *tree = parse_file_and_comments(
		&trial->compilation, add(trial, text), &is_clean, comments);

	if (!is_clean)
		trial_fail(trial, what);
	return tree;
}

/* The text of comment number i without blanks at its end. */
static const char *comment_text(struct trial *trial, const struct text *text,
				const struct comments *comments, size_t i)
{
	struct span span = comments->at[i];

	while (span.end > span.begin &&
	       strchr(" \t\r", text->at[span.end - 1]))
		span.end--;
	return arena_copy(&trial->compilation.arena, text->at + span.begin,
			  span.end - span.begin);
}

static void check_comments(struct trial *trial, const struct comments *before,
			   const struct comments *after)
{
	if (before->count != after->count)
		trial_fail(trial, "the number of comments changed");
	for (size_t i = 0; i < before->count; i++)
		if (strcmp(comment_text(trial, &trial->before, before, i),
			   comment_text(trial, &trial->after, after, i)) != 0)
			trial_fail(trial, "a comment changed");
}

/* Lines without blanks at their ends, and no two empty ones in a row. */
static void check_lines(struct trial *trial)
{
	const char *at = trial->after.at;

	if (strstr(at, " \n") || strstr(at, "\n\n\n") || strchr(at, '\r'))
		trial_fail(trial, "stray blanks");
	if (!trial->after.length || at[trial->after.length - 1] != '\n')
		trial_fail(trial, "the last line does not end");
}

static void check_spec(struct trial *trial)
{
	struct comments before = { 0 }, after = { 0 };
	const struct ast *tree, *again;
	struct text twice;

	tree = parse(trial, &trial->before, &before, "the spec does not parse");
	if (!format_source(&trial->compilation, add(trial, &trial->before),
			   &trial->after))
		trial_fail(trial, "it is refused");
	again = parse(trial, &trial->after, &after, "the result does not parse");
	if (!format_same(tree, again))
		trial_fail(trial, "the meaning changed");
	check_comments(trial, &before, &after);
	check_lines(trial);
	text_init(&twice, &trial->compilation.arena);
	format_source(&trial->compilation, add(trial, &trial->after), &twice);
	if (strcmp(trial->after.at, twice.at) != 0) {
		trial->before = trial->after;
		trial->after = twice;
		trial_fail(trial, "a second time changes it");
	}
}

static void test_random_specs(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial = { .seed = seed };

		compilation_init(&trial.compilation);
		text_init(&trial.before, &trial.compilation.arena);
		text_init(&trial.after, &trial.compilation.arena);
		random_spec(seed, &trial.before);
		check_spec(&trial);
		compilation_release(&trial.compilation);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_specs),
	};

	return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * The line that shows how far a search is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/progress.h"

static void line_is(const struct ir_job *job, struct solve_progress state,
		    const char *expected)
{
	struct arena arena;
	struct text line;

	arena_init(&arena);
	text_init(&line, &arena);
	progress_line(job, &state, &line);
	assert_string_equal(line.at, expected);
	arena_release(&arena);
}

static void names_the_gap(void **state)
{
	static const struct ir_job job = { .objective_count = 0 };

	(void)state;
	/* (13.5 - 13.3) / 13.5 = 1.48 % */
	line_is(&job, (struct solve_progress){ 69834, 12345, true, 13.5, 13.3 },
		"searched 12,345 of 69,834; best 13.5 s, none below 13.3 s, gap 1.48 %");
}

static void has_no_gap_without_a_plan(void **state)
{
	static const struct ir_job job = { .objective_count = 0 };

	(void)state;
	line_is(&job, (struct solve_progress){ 10, 0, false, 0, 0.25 },
		"searched 0 of 10; no plan yet, none below 250 ms");
}

/* The bound may pass the plan by a rounding error. */
static void gap_is_never_negative(void **state)
{
	static const struct ir_job job = { .objective_count = 0 };

	(void)state;
	line_is(&job, (struct solve_progress){ 1, 1, true, 2, 2.0000001 },
		"searched 1 of 1; best 2.00 s, none below 2.00 s, gap 0.00 %");
}


/* Where no line is wanted the limits stay as they are. */
static void unwanted_leaves_the_limits(void **state)
{
	static const struct ir_job job = { .objective_count = 0 };
	struct solve_limits limits = { .progress = NULL };
	struct progress progress;

	(void)state;
	progress_begin(&progress, &job, false, false, &limits);
	assert_null(limits.progress);
	progress_end(&progress);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_gap),
		cmocka_unit_test(has_no_gap_without_a_plan),
		cmocka_unit_test(gap_is_never_negative),
		cmocka_unit_test(unwanted_leaves_the_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

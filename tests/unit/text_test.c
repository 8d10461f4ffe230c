/* SPDX-License-Identifier: MIT
 *
 * The growing text buffer, and numbers in their shortest form.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/text.h"

static void test_growth(void **state)
{
	struct arena arena;
	struct text text;

	(void)state;
	arena_init(&arena);
	text_init(&text, &arena);
	assert_string_equal(text.at, "");
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(text.length, i);
		assert_int_equal(strlen(text.at), i);
		text_append_char(&text, (char)('a' + i % 26));
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(text.at[i], 'a' + i % 26);
	arena_release(&arena);
}

/* Every length of a formatted piece, around the ends of the capacity. */
static void test_printf(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (int width = 1; width < 300; width++) {
		struct text text;

		text_init(&text, &arena);
		text_append(&text, "<");
		text_printf(&text, "%*d", width, 7);
		text_append_bytes(&text, ">!", 1);
		assert_int_equal(text.length, width + 2);
		assert_int_equal(strlen(text.at), width + 2);
		assert_int_equal(text.at[width], '7');
		assert_int_equal(text.at[width + 1], '>');
	}
	arena_release(&arena);
}

static void assert_number(double number, const char *expected)
{
	struct arena arena;
	struct text text;

	arena_init(&arena);
	text_init(&text, &arena);
	text_append_number(&text, number);
	assert_string_equal(text.at, expected);
	arena_release(&arena);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_number(0, "0");
	assert_number(8, "8");
	assert_number(-2.5, "-2.5");
	assert_number(0.1, "0.1");
	assert_number(0.1 + 0.2, "0.30000000000000004");
	assert_number(1e6, "1000000");
	assert_number(128256, "128256");
	assert_number(1e300, "1e+300");
	assert_number(1.0 / 3, "0.3333333333333333");
	/* 2^53 and the largest and smallest double, from IEEE 754 */
	assert_number(9007199254740992.0, "9007199254740992");
	assert_number(1.7976931348623157e308, "1.7976931348623157e+308");
	assert_number(5e-324, "5e-324");
}

/* Whatever the bits, reading back gives the same number. */
static void test_round_trip(void **state)
{
	uint64_t bits = 88172645463325252u;	/* xorshift64, fixed seed */

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct arena arena;
		struct text text;
		double number;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&number, &bits, sizeof(number));
		if (!isfinite(number))
			continue;
		arena_init(&arena);
		text_init(&text, &arena);
		text_append_number(&text, number);
		assert_true(strtod(text.at, NULL) == number);
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

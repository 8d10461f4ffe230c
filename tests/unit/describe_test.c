/* SPDX-License-Identifier: MIT
 *
 * Numbers in the words people use for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/describe.h"
#include "compiler/json_print.h"

static int open_arena(void **state)
{
	static struct arena arena;

	arena_init(&arena);
	*state = &arena;
	return 0;
}

static int close_arena(void **state)
{
	arena_release(*state);
	return 0;
}

#define ASSERT_DESCRIBED(describe, number, words)                  \
	do {                                                       \
		struct text text_;                                 \
		text_init(&text_, *state);                         \
		describe((number), &text_);                        \
		assert_string_equal(text_.at, (words));            \
	} while (0)

static void counts_have_commas(void **state)
{
	ASSERT_DESCRIBED(describe_count, 0, "0");
	ASSERT_DESCRIBED(describe_count, 999, "999");
	ASSERT_DESCRIBED(describe_count, 1000, "1,000");
	ASSERT_DESCRIBED(describe_count, 70553706496, "70,553,706,496");
}

static void bytes_have_binary_units(void **state)
{
	ASSERT_DESCRIBED(describe_bytes, 0, "0 B");
	ASSERT_DESCRIBED(describe_bytes, 1023, "1023 B");
	ASSERT_DESCRIBED(describe_bytes, 1536, "1.5 KiB");
	ASSERT_DESCRIBED(describe_bytes, 80.0 * (1 << 30), "80.0 GiB");
	ASSERT_DESCRIBED(describe_bytes, 2048.0 * (1 << 30) * 1024, "2048.0 TiB");
}

static void seconds_have_three_digits(void **state)
{
	ASSERT_DESCRIBED(describe_seconds, 0, "0.00 s");
	ASSERT_DESCRIBED(describe_seconds, 9.6612, "9.66 s");
	ASSERT_DESCRIBED(describe_seconds, 12.34, "12.3 s");
	ASSERT_DESCRIBED(describe_seconds, 123.4, "123 s");
	ASSERT_DESCRIBED(describe_seconds, 0.9996, "1.00 s");
	ASSERT_DESCRIBED(describe_seconds, 0.0412, "41.2 ms");
	ASSERT_DESCRIBED(describe_seconds, 310e-6, "310 us");
	ASSERT_DESCRIBED(describe_seconds, 9.999e-6, "10.0 us");
}

static void parameters_have_short_units(void **state)
{
	ASSERT_DESCRIBED(describe_parameters, 70553706496.0, "70.55 B");
	ASSERT_DESCRIBED(describe_parameters, 124439808.0, "124.44 M");
	ASSERT_DESCRIBED(describe_parameters, 12345.0, "12,345");
}

static void json_is_flat_where_it_fits(void **state)
{
	json_t *value = json_pack("{s:f,s:[i,i],s:s,s:n,s:b}", "third", 1.0 / 3,
				  "list", 1, 2, "text", "a\"\n", "none", "yes",
				  1);
	struct text text;

	text_init(&text, *state);
	json_print(value, 0, &text);
	assert_string_equal(text.at, "{\"third\": 0.3333333333333333, \"list\": [1, 2], "
				     "\"text\": \"a\\\"\\n\", \"none\": null, \"yes\": true}");
	text.length = 0;
	json_print(value, 20, &text);
	/* 85 columns do not fit behind 20; the list still fits on its line. */
	assert_string_equal(text.at, "{\n"
				     "                      \"third\": 0.3333333333333333,\n"
				     "                      \"list\": [1, 2],\n"
				     "                      \"text\": \"a\\\"\\n\",\n"
				     "                      \"none\": null,\n"
				     "                      \"yes\": true\n"
				     "                    }");
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_have_commas),
		cmocka_unit_test(bytes_have_binary_units),
		cmocka_unit_test(seconds_have_three_digits),
		cmocka_unit_test(parameters_have_short_units),
		cmocka_unit_test(json_is_flat_where_it_fits),
	};

	return cmocka_run_group_tests(tests, open_arena, close_arena);
}

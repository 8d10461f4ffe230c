/* SPDX-License-Identifier: MIT
 *
 * Values: printing, integers, elements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/compilation.h"
#include "lang/value.h"

const struct embedded_file nest_stdlib[] = { { 0 } };

static struct value number(double n)
{
	return value_of_number(n, UNIT_NONE, SPAN_NONE);
}

static void assert_prints(const struct value *value, const char *expected)
{
	struct arena arena;
	struct text text;

	arena_init(&arena);
	text_init(&text, &arena);
	value_print(value, &text);
	assert_string_equal(text.at, expected);
	arena_release(&arena);
}

static void test_print(void **state)
{
	struct value items[3] = { number(1), number(2.5), { 0 } };
	struct value list = { .kind = VALUE_LIST, .item = items,
			      .item_count = 3 };
	struct value range = { .kind = VALUE_RANGE,
			       .range = { .low = 1, .high = 20, .step = 3 } };
	struct value string = { .kind = VALUE_STRING, .string = "a \"b\"\n\\" };
	struct value size = value_of_number(80.0 * 1024 * 1024 * 1024, UNIT_BYTE,
					    SPAN_NONE);
	struct value yes = { .kind = VALUE_BOOL, .boolean = true };
	struct value empty = { .kind = VALUE_SET };

	(void)state;
	items[2] = (struct value){ .kind = VALUE_SYMBOL, .string = "bf16" };
	assert_prints(&list, "[1, 2.5, bf16]");
	list.kind = VALUE_SET;
	assert_prints(&list, "{ 1, 2.5, bf16 }");
	assert_prints(&empty, "{}");
	assert_prints(&range, "1 .. 20 step 3");
	assert_prints(&string, "\"a \\\"b\\\"\\n\\\\\"");
	assert_prints(&size, "80 GiB");
	assert_prints(&yes, "true");
}

/* A list that holds itself in turn many times must not print without end. */
static void test_print_is_bounded(void **state)
{
	struct value level[12][10];
	struct value whole;
	struct arena arena;
	struct text text;

	(void)state;
	for (int i = 0; i < 10; i++)
		level[0][i] = number(7);
	for (int depth = 1; depth < 12; depth++)
		for (int i = 0; i < 10; i++)
			level[depth][i] = (struct value){
				.kind = VALUE_LIST, .item = level[depth - 1],
				.item_count = 10
			};
	whole = (struct value){ .kind = VALUE_LIST, .item = level[11],
				.item_count = 10 };
	arena_init(&arena);
	text_init(&text, &arena);
	value_print(&whole, &text);
	/* At most 8 elements of 4 levels and a mark each: 8^4 x some 10. */
	assert_true(text.length < 100000);
	arena_release(&arena);
}

static void test_integers(void **state)
{
	const double limit = 9007199254740992.0;	/* 2^53 */
	struct value value = number(limit);

	(void)state;
	assert_true(value_is_integer(&value));
	value = number(-limit);
	assert_true(value_is_integer(&value));
	value = number(limit + 2);	/* the next double */
	assert_false(value_is_integer(&value));
	value = number(0.5);
	assert_false(value_is_integer(&value));
	value = value_of_number(4, UNIT_BYTE, SPAN_NONE);
	assert_false(value_is_integer(&value));
}

static void test_elements(void **state)
{
	struct value range = { .kind = VALUE_RANGE,
			       .range = { .low = -3, .high = 8, .step = 4 } };
	uint64_t count;

	(void)state;
	/* -3, 1, 5; 9 is beyond. */
	assert_true(value_count(&range, &count));
	assert_int_equal(count, 3);
	assert_true(value_at(&range, 2).number == 5);
	range.range.high = -4;
	assert_true(value_count(&range, &count));
	assert_int_equal(count, 0);
	range = number(3);
	assert_false(value_count(&range, &count));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_print_is_bounded),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

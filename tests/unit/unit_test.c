/* SPDX-License-Identifier: MIT
 *
 * Dimensions and units. Scales are written as the SI and IEC prefixes define
 * them; a bit is an eighth of a byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/unit.h"

static void assert_near(double actual, double expected)
{
	double difference = actual - expected;

	if (difference < 0)
		difference = -difference;
	if (difference > 1e-12 * (expected < 0 ? -expected : expected))
		fail_msg("%.17g is not %.17g", actual, expected);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		size_t taken;
		double scale;
		int byte, second, flop, watt, dollar;
	} rows[] = {
		{ "B", 1, 1, 1, 0, 0, 0, 0 },
		{ "kB", 2, 1e3, 1, 0, 0, 0, 0 },
		{ "GB", 2, 1e9, 1, 0, 0, 0, 0 },
		{ "PB", 2, 1e15, 1, 0, 0, 0, 0 },
		{ "KiB", 3, 1024, 1, 0, 0, 0, 0 },
		{ "GiB", 3, 1073741824, 1, 0, 0, 0, 0 },
		{ "TiB", 3, 1099511627776, 1, 0, 0, 0, 0 },
		{ "b", 1, 0.125, 1, 0, 0, 0, 0 },
		{ "Gb/s", 4, 1e9 / 8, 1, -1, 0, 0, 0 },
		{ "TB/s", 4, 1e12, 1, -1, 0, 0, 0 },
		{ "ns", 2, 1e-9, 0, 1, 0, 0, 0 },
		{ "us", 2, 1e-6, 0, 1, 0, 0, 0 },
		{ "ms", 2, 1e-3, 0, 1, 0, 0, 0 },
		{ "s", 1, 1, 0, 1, 0, 0, 0 },
		{ "min", 3, 60, 0, 1, 0, 0, 0 },
		{ "h", 1, 3600, 0, 1, 0, 0, 0 },
		{ "d", 1, 86400, 0, 1, 0, 0, 0 },
		{ "FLOP", 4, 1, 0, 0, 1, 0, 0 },
		{ "TFLOP/s", 7, 1e12, 0, -1, 1, 0, 0 },
		{ "EFLOP", 5, 1e18, 0, 0, 1, 0, 0 },
		{ "W", 1, 1, 0, 0, 0, 1, 0 },
		{ "MW", 2, 1e6, 0, 0, 0, 1, 0 },
		{ "kWh", 3, 3.6e6, 0, 1, 0, 1, 0 },
		{ "$", 1, 1, 0, 0, 0, 0, 1 },
		{ "$/h", 3, 1.0 / 3600, 0, -1, 0, 0, 1 },
		{ "%", 1, 0.01, 0, 0, 0, 0, 0 },
		{ "FLOP/B", 6, 1, -1, 0, 1, 0, 0 },
		/* The longest unit, and only whole words. */
		{ "GiB)", 3, 1073741824, 1, 0, 0, 0, 0 },
		{ "GB/", 2, 1e9, 1, 0, 0, 0, 0 },
		{ "GB/bandwidth", 2, 1e9, 1, 0, 0, 0, 0 },
		{ "GB/s/s", 4, 1e9, 1, -1, 0, 0, 0 },
		{ "%/h", 1, 0.01, 0, 0, 0, 0, 0 },
		{ "h/%", 1, 3600, 0, 1, 0, 0, 0 },
		{ "$5", 1, 1, 0, 0, 0, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit unit = UNIT_NONE;
		double scale = 0;

		assert_int_equal(unit_parse(rows[i].text, strlen(rows[i].text),
					    &unit, &scale), rows[i].taken);
		assert_near(scale, rows[i].scale);
		assert_int_equal(unit.power[BASE_BYTE], rows[i].byte);
		assert_int_equal(unit.power[BASE_SECOND], rows[i].second);
		assert_int_equal(unit.power[BASE_FLOP], rows[i].flop);
		assert_int_equal(unit.power[BASE_WATT], rows[i].watt);
		assert_int_equal(unit.power[BASE_DOLLAR], rows[i].dollar);
	}
}

static void test_parse_nothing(void **state)
{
	static const char *const texts[] = {
		"", "x", "gb", "KB", "Gib", "GBs", "GB_", "FLOPS", "/s",
		"micro_batch", "step", " GB", "8", "S", "Hz", "m", "k",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct unit unit;
		double scale;

		assert_int_equal(unit_parse(texts[i], strlen(texts[i]), &unit,
					    &scale), 0);
	}
	/* No more than the given bytes are looked at. */
	struct unit unit;
	double scale;

	assert_int_equal(unit_parse("GBs", 2, &unit, &scale), 2);
	assert_int_equal(unit_parse("GB/s", 3, &unit, &scale), 2);
}

static void test_suggest(void **state)
{
	static const char *const rows[][2] = {
		{ "Gib", "GiB" },	{ "gib", "GiB" },
		{ "KB", "kB" },		{ "gb", "GB" },
		{ "TFLOPS", "TFLOP/s" }, { "Gbps", "Gb/s" },
		{ "\xc2\xb5s", "us" },	{ "sec", "s" },
		{ "GIBB", "GiB" },	{ "TFLOPP", "TFLOP" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *found = unit_suggest(rows[i][0],
						 strlen(rows[i][0]));

		if (i == 8) {	/* two letters off in four: too far */
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_string_equal(found, rows[i][1]);
	}
	assert_null(unit_suggest("banana", 6));
	assert_null(unit_suggest("", 0));
	assert_true(unit_is_misspelt("TFLOPS", 6));
	assert_false(unit_is_misspelt("TFLOP", 5));
	assert_false(unit_is_misspelt("m", 1));
}

static void test_arithmetic(void **state)
{
	struct unit unit;

	(void)state;
	assert_true(unit_divide(UNIT_BYTE, UNIT_SECOND, &unit));
	assert_true(unit_equal(unit, UNIT_BYTE_PER_SECOND));
	assert_true(unit_multiply(unit, UNIT_SECOND, &unit));
	assert_true(unit_equal(unit, UNIT_BYTE));
	assert_true(unit_divide(unit, UNIT_BYTE, &unit));
	assert_true(unit_is_none(unit));
	assert_true(unit_power(UNIT_BYTE_PER_SECOND, -2, &unit));
	assert_int_equal(unit.power[BASE_BYTE], -2);
	assert_int_equal(unit.power[BASE_SECOND], 2);
	assert_true(unit_power(UNIT_BYTE, 100, &unit));
	assert_false(unit_multiply(unit, UNIT_BYTE, &unit));
	assert_false(unit_power(UNIT_BYTE, 101, &unit));
	assert_false(unit_power(UNIT_BYTE, INT32_MIN, &unit));
	assert_true(unit_power(UNIT_NONE, INT32_MAX, &unit));
}

static void assert_prints(double number, struct unit unit,
			  const char *expected)
{
	struct arena arena;
	struct text text;

	arena_init(&arena);
	text_init(&text, &arena);
	unit_print(number, unit, &text);
	assert_string_equal(text.at, expected);
	arena_release(&arena);
}

static void test_print(void **state)
{
	const struct unit square = { { [BASE_BYTE] = 2, [BASE_SECOND] = -1 } };
	const struct unit inverse = { { [BASE_SECOND] = -1 } };
	const struct unit money = { { [BASE_DOLLAR] = 1 } };

	(void)state;
	assert_prints(80.0 * 1073741824, UNIT_BYTE, "80 GiB");
	assert_prints(80e9, UNIT_BYTE, "80 GB");
	assert_prints(1536, UNIT_BYTE, "1.5 KiB");
	assert_prints(0, UNIT_BYTE, "0 B");
	assert_prints(-2048, UNIT_BYTE, "-2 KiB");
	/* 93.2 GiB and a bit: six digits are shown. */
	assert_prints(93.25123456 * 1073741824, UNIT_BYTE, "93.2512 GiB");
	assert_prints(450e9, UNIT_BYTE_PER_SECOND, "450 GB/s");
	assert_prints(400e9 / 8, UNIT_BYTE_PER_SECOND, "50 GB/s");
	assert_prints(3.35e12, UNIT_BYTE_PER_SECOND, "3.35 TB/s");
	assert_prints(3e-6, UNIT_SECOND, "3 us");
	assert_prints(5.125e-3, UNIT_SECOND, "5.125 ms");
	assert_prints(900e-9, UNIT_SECOND, "900 ns");
	assert_prints(1e-12, UNIT_SECOND, "0.001 ns");
	assert_prints(90, UNIT_SECOND, "90 s");
	assert_prints(120, UNIT_SECOND, "2 min");
	assert_prints(7200, UNIT_SECOND, "2 h");
	assert_prints(989e12, UNIT_FLOP_PER_SECOND, "989 TFLOP/s");
	assert_prints(1e18, UNIT_FLOP, "1 EFLOP");
	assert_prints(700, UNIT_WATT, "700 W");
	assert_prints(2.5 / 3600, UNIT_DOLLAR_PER_SECOND, "2.5 $/h");
	assert_prints(123456789, money, "123456789 $");
	assert_prints(0.9, UNIT_NONE, "0.9");
	assert_prints(128256, UNIT_NONE, "128256");
	assert_prints(2, square, "2 B^2/s");
	assert_prints(2, inverse, "2 1/s");
}

static void test_describe(void **state)
{
	const struct unit square = { { [BASE_SECOND] = 1, [BASE_BYTE] = 1 } };
	struct arena arena;
	struct text scratch;
	struct unit unit;

	(void)state;
	arena_init(&arena);
	text_init(&scratch, &arena);
	assert_string_equal(unit_describe(UNIT_BYTE, &scratch),
			    "a size (bytes)");
	assert_string_equal(unit_describe(UNIT_SECOND, &scratch),
			    "a time (seconds)");
	assert_string_equal(unit_describe(UNIT_NONE, &scratch),
			    "a plain number");
	assert_string_equal(unit_describe(square, &scratch),
			    "a quantity in B*s");
	assert_true(unit_of_type("bandwidth", &unit));
	assert_true(unit_equal(unit, UNIT_BYTE_PER_SECOND));
	assert_true(unit_of_type("int", &unit));
	assert_true(unit_is_none(unit));
	assert_false(unit_of_type("string", &unit));
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_nothing),
		cmocka_unit_test(test_suggest),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_describe),
	};

	return cmocka_run_group_tests_name("unit", tests, NULL, NULL);
}

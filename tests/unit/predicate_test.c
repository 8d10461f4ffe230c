/* SPDX-License-Identifier: MIT
 *
 * Requirements and objectives: the stack machine, and what ranges and trends
 * say about programs whose inputs are not yet known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/predicate.h"
#include "solver/range.h"
#include "solver/trend.h"

#define NUMBER(n) { .op = PREDICATE_CONSTANT, .number = (n) }
#define VALUE(v) { .op = PREDICATE_VARIABLE, .variable = VARIABLE_##v }
#define STAGE(i) { .op = PREDICATE_VARIABLE, \
		   .variable = VARIABLE_STAGE_LAYERS, .index = (i) }
#define OP(o) { .op = PREDICATE_##o }
#define PROGRAM(...) \
	((struct predicate){ .step = (const struct predicate_step[]){ __VA_ARGS__ }, \
			     .step_count = sizeof((const struct predicate_step[]){ __VA_ARGS__ }) / \
					   sizeof(struct predicate_step), \
			     .needs_outcome = true })

static const uint32_t layers[] = { 3, 5 };

static double run(struct predicate predicate)
{
	struct predicate_input input = { .stage_layers = layers, .stage_count = 2 };

	input.value[VARIABLE_TENSOR] = 8;
	input.value[VARIABLE_TIME] = 2.5;
	assert_true(predicate_is_valid(&predicate));
	return predicate_evaluate(&predicate, &input);
}

static void test_arithmetic(void **state)
{
	(void)state;
	/* (8 + 2) * 2.5 - 1 = 24 */
	assert_float_equal(run(PROGRAM(VALUE(TENSOR), NUMBER(2), OP(ADD),
				       VALUE(TIME), OP(MULTIPLY), NUMBER(1),
				       OP(SUBTRACT))), 24, 0);
	assert_float_equal(run(PROGRAM(NUMBER(7), NUMBER(4), OP(REMAINDER))), 3, 0);
	assert_float_equal(run(PROGRAM(NUMBER(2), NUMBER(10), OP(POWER))), 1024, 0);
	assert_float_equal(run(PROGRAM(VALUE(TENSOR), OP(NEGATE))), -8, 0);
	assert_float_equal(run(PROGRAM(STAGE(1))), 5, 0);
}

static void test_comparisons(void **state)
{
	(void)state;
	assert_float_equal(run(PROGRAM(VALUE(TENSOR), NUMBER(8), OP(LESS_EQUAL))), 1, 0);
	assert_float_equal(run(PROGRAM(VALUE(TENSOR), NUMBER(8), OP(LESS))), 0, 0);
	assert_float_equal(run(PROGRAM(NUMBER(1), NUMBER(0), OP(OR), NUMBER(0),
				       OP(AND))), 0, 0);
	assert_float_equal(run(PROGRAM(NUMBER(0), OP(NOT))), 1, 0);
}

/* Division by zero is NaN: no comparison with it holds, nor is it true. */
static void test_nan(void **state)
{
	(void)state;
	assert_true(isnan(run(PROGRAM(NUMBER(1), NUMBER(0), OP(DIVIDE)))));
	assert_true(isnan(run(PROGRAM(STAGE(2)))));
	for (int op = PREDICATE_EQUAL; op <= PREDICATE_GREATER_EQUAL; op++) {
		struct predicate_step step[] = { NUMBER(1), NUMBER(0), OP(DIVIDE),
						 NUMBER(1), { .op = op } };

		assert_float_equal(run((struct predicate){ .step = step,
							   .step_count = 5 }), 0, 0);
	}
	assert_float_equal(run(PROGRAM(STAGE(9), OP(NOT))), 1, 0);
}

static bool is_valid(struct predicate predicate)
{
	return predicate_is_valid(&predicate);
}

static void test_validity(void **state)
{
	struct predicate_step deep[PREDICATE_STACK_MAX + 1];

	(void)state;
	assert_false(is_valid(PROGRAM(OP(ADD))));
	assert_false(is_valid(PROGRAM(NUMBER(1), NUMBER(2))));
	assert_false(is_valid(PROGRAM(NUMBER(1), OP(AND))));
	assert_false(is_valid((struct predicate){ .step = deep, .step_count = 0 }));
	for (uint32_t i = 0; i <= PREDICATE_STACK_MAX; i++)
		deep[i] = (struct predicate_step)NUMBER(1);
	assert_false(is_valid((struct predicate){
		.step = deep, .step_count = PREDICATE_STACK_MAX + 1 }));
	deep[0].op = (enum predicate_op)99;
	assert_false(is_valid((struct predicate){ .step = deep, .step_count = 1 }));
	deep[0] = (struct predicate_step){ .op = PREDICATE_VARIABLE,
					   .variable = VARIABLE_COUNT };
	assert_false(is_valid((struct predicate){ .step = deep, .step_count = 1 }));
}

static struct range range_of(struct predicate predicate, double low, double high)
{
	struct range_input input = { .stages_known = true, .stage_count = 2 };

	for (int i = 0; i < VARIABLE_COUNT; i++)
		input.value[i] = range_point(1);
	input.value[VARIABLE_TIME] = range_between(low, high);
	return range_evaluate(&predicate, &input);
}

static void test_ranges(void **state)
{
	struct predicate at_most = PROGRAM(VALUE(TIME), NUMBER(10), OP(LESS_EQUAL));
	struct range range;

	(void)state;
	assert_true(range_is_false(range_of(at_most, 11, INFINITY)));
	assert_true(range_is_true(range_of(at_most, 1, 10)));
	range = range_of(at_most, 1, 11);
	assert_false(range_is_true(range) || range_is_false(range));
	/* 3 - 2 t over t in 1 .. 4 lies in -5 .. 1. */
	range = range_of(PROGRAM(NUMBER(3), NUMBER(2), VALUE(TIME), OP(MULTIPLY),
				 OP(SUBTRACT)), 1, 4);
	assert_float_equal(range.low, -5, 0);
	assert_float_equal(range.high, 1, 0);
	/* 0 x infinity is no number. */
	range = range_of(PROGRAM(NUMBER(0), VALUE(TIME), OP(MULTIPLY)), 1, INFINITY);
	assert_true(range.may_nan || range.low == 0);
	assert_false(isnan(range.low));
}

static enum trend trend_of(struct predicate predicate)
{
	return predicate_trend(&predicate);
}

static void test_trends(void **state)
{
	(void)state;
	assert_int_equal(trend_of(PROGRAM(VALUE(TIME), NUMBER(2), OP(LESS))),
			 TREND_DOWN);
	assert_int_equal(trend_of(PROGRAM(NUMBER(2), VALUE(COST), OP(LESS))),
			 TREND_UP);
	assert_int_equal(trend_of(PROGRAM(VALUE(TENSOR), NUMBER(2), OP(LESS))),
			 TREND_NONE);
	assert_int_equal(trend_of(PROGRAM(VALUE(BUBBLE), NUMBER(2), OP(LESS))),
			 TREND_ANY);
	assert_int_equal(trend_of(PROGRAM(VALUE(TIME), VALUE(DEVICES), OP(DIVIDE))),
			 TREND_UP);
	assert_int_equal(trend_of(PROGRAM(VALUE(TIME), NUMBER(-1), OP(MULTIPLY))),
			 TREND_ANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_nan),
		cmocka_unit_test(test_validity),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_trends),
	};

	return cmocka_run_group_tests_name("predicate", tests, NULL, NULL);
}

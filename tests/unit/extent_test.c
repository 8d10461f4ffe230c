/* SPDX-License-Identifier: MIT
 *
 * Extents are polynomials in axes: sums and products against the same
 * arithmetic on numbers, and normal forms that do not depend on order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/extent.h"

enum { AXES = 5, ROUNDS = 20000 };

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

/* xorshift64 */
static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % limit;
}

/* Axis 0 is batch and has no size, so that extents here use the others. */
static void random_axes(struct ir_axis axis[AXES])
{
	static const char *const names[AXES] = { "batch", "a", "b", "c", "d" };

	for (uint32_t i = 0; i < AXES; i++)
		axis[i] = (struct ir_axis){ .name = names[i],
					    .size = i ? 1 + random_below(50) : 0 };
}

/* A random sum of products with its value by plain arithmetic; false when it
 * does not fit the bounds of an extent. */
static bool random_extent(const struct ir_axis *axis, struct ir_extent *extent,
			  uint64_t *value)
{
	uint32_t terms = 1 + random_below(3);

	*value = 0;
	for (uint32_t i = 0; i < terms; i++) {
		struct ir_extent product = {
			.term = { { .coefficient = 1 + random_below(4) } },
			.term_count = 1,
		};
		uint64_t number = product.term[0].coefficient;
		uint32_t factors = random_below(3);

		for (uint32_t j = 0; j < factors; j++) {
			uint32_t at = 1 + random_below(AXES - 1);
			struct ir_extent one;

			extent_of_axis(at, &one);
			if (!extent_multiply(&product, &one, &product))
				return false;
			number *= axis[at].size;
		}
		if (!i)
			*extent = product;
		else if (!extent_add(extent, &product, extent))
			return false;
		*value += number;
	}
	return true;
}

static void check_size(const struct ir_axis *axis,
		       const struct ir_extent *extent, uint64_t wanted)
{
	struct ir_class class = { .axis = (struct ir_axis *)axis };
	uint64_t size;

	assert_true(extent_size(axis, extent, &size));
	assert_int_equal(size, wanted);
	assert_int_equal(ir_extent_size(&class, extent), wanted);
}

static void sums_and_products_of_random_extents(void **state)
{
	uint32_t checked = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct ir_axis axis[AXES];
		struct ir_extent a, b, ab, ba;
		uint64_t x, y;
		bool fits;

		random_axes(axis);
		if (!random_extent(axis, &a, &x) || !random_extent(axis, &b, &y))
			continue;
		check_size(axis, &a, x);
		fits = extent_add(&a, &b, &ab);
		assert_int_equal(fits, extent_add(&b, &a, &ba));
		if (fits) {
			check_size(axis, &ab, x + y);
			assert_true(extent_equal(&ab, &ba));
		}
		fits = extent_multiply(&a, &b, &ab);
		assert_int_equal(fits, extent_multiply(&b, &a, &ba));
		if (fits) {
			check_size(axis, &ab, x * y);
			assert_true(extent_equal(&ab, &ba));
			checked++;
		}
	}
	assert_true(checked > ROUNDS / 4);
}

/* Equal extents are equal for all sizes; different ones for some are not. */
static void equality_is_that_of_polynomials(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct ir_axis axis[AXES], other[AXES];
		struct ir_extent a, b;
		uint64_t x, y, again_a, again_b;

		random_axes(axis);
		random_axes(other);
		if (!random_extent(axis, &a, &x) || !random_extent(axis, &b, &y))
			continue;
		if (extent_equal(&a, &b)) {
			assert_int_equal(x, y);
			assert_true(extent_size(other, &a, &again_a));
			assert_true(extent_size(other, &b, &again_b));
			assert_int_equal(again_a, again_b);
		} else if (x == y) {
			/* A chance agreement: it cannot last. */
			int agreements = 0;

			for (int i = 0; i < 20; i++) {
				random_axes(other);
				assert_true(extent_size(other, &a, &again_a));
				assert_true(extent_size(other, &b, &again_b));
				agreements += again_a == again_b;
			}
			assert_true(agreements < 20);
		}
	}
}

static void bounds_are_kept(void **state)
{
	struct ir_extent one, product, sum;
	struct ir_axis axis[AXES];

	(void)state;
	random_axes(axis);
	extent_of_axis(1, &one);
	product = one;
	for (int i = 1; i < IR_FACTOR_MAX; i++)
		assert_true(extent_multiply(&product, &one, &product));
	assert_false(extent_multiply(&product, &one, &product));
	/* a, a a, a a a, a a a a are four terms; 1 would be a fifth. */
	sum = product = one;
	for (int i = 1; i < IR_TERM_MAX; i++) {
		assert_true(extent_multiply(&product, &one, &product));
		assert_true(extent_add(&sum, &product, &sum));
	}
	assert_int_equal(sum.term_count, IR_TERM_MAX);
	product = (struct ir_extent){ .term = { { .coefficient = 1 } },
				      .term_count = 1 };
	assert_false(extent_add(&sum, &product, &sum));
	/* Adding what is there already needs no term of its own. */
	assert_true(extent_add(&sum, &one, &sum));
	assert_int_equal(sum.term_count, IR_TERM_MAX);
}

static void sizes_beyond_2_to_the_53_are_refused(void **state)
{
	struct ir_axis axis[3] = {
		{ .name = "batch" },
		{ .name = "a", .size = 1ull << 27 },
		{ .name = "b", .size = 1ull << 40 },
	};
	struct ir_extent a, b, product;
	uint64_t size;

	(void)state;
	extent_of_axis(1, &a);
	extent_of_axis(2, &b);
	assert_true(extent_multiply(&a, &a, &product));
	assert_false(extent_size(axis, &product, &size));	/* 2^54 */
	assert_true(extent_multiply(&product, &b, &product));
	assert_false(extent_size(axis, &product, &size));	/* 2^94 */
	axis[1].size = 1ull << 26;
	assert_true(extent_multiply(&a, &a, &product));
	assert_true(extent_size(axis, &product, &size));
	assert_int_equal(size, 1ull << 52);
}

static void printing(void **state)
{
	struct ir_axis axis[AXES];
	struct ir_extent a, b, two, product;
	struct arena arena;
	struct text text;

	(void)state;
	random_axes(axis);
	arena_init(&arena);
	text_init(&text, &arena);
	extent_of_axis(2, &b);
	extent_of_axis(1, &a);
	two = (struct ir_extent){ .term = { { .coefficient = 2 } },
				  .term_count = 1 };
	/* (b + 2 a) b + 2 = 2 a b + b b + 2 */
	assert_true(extent_multiply(&two, &a, &product));
	assert_true(extent_add(&b, &product, &product));
	assert_true(extent_multiply(&product, &b, &product));
	assert_true(extent_add(&two, &product, &product));
	extent_print(axis, &product, &text);
	assert_string_equal(text.at, "2 * a * b + b * b + 2");
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_products_of_random_extents),
		cmocka_unit_test(equality_is_that_of_polynomials),
		cmocka_unit_test(bounds_are_kept),
		cmocka_unit_test(sizes_beyond_2_to_the_53_are_refused),
		cmocka_unit_test(printing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

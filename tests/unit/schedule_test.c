/* SPDX-License-Identifier: MIT
 *
 * Schedules against textbook formulas and sums done by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/schedule.h"

#define CHUNKS_MAX 64

static double uniform(uint32_t p, uint32_t v, uint32_t m, double f, double b,
		      double x)
{
	double forward[CHUNKS_MAX], backward[CHUNKS_MAX], transfer[CHUNKS_MAX];
	double finish[CHUNKS_MAX], end;
	struct schedule_input input = {
		.shape = { .pipeline = p, .virtual_stages = v, .micro_batches = m },
		.forward_s = forward,
		.backward_s = backward,
		.transfer_s = transfer,
	};
	struct arena arena;

	for (uint32_t c = 0; c < p * v; c++) {
		forward[c] = f;
		backward[c] = b;
		transfer[c] = x;
	}
	arena_init(&arena);
	end = schedule_simulate(&input, &arena, finish);
	arena_release(&arena);
	assert_float_equal(finish[0], end, 1e-9);
	return end;
}

/* (m + p - 1)(f + b): Narayanan et al. 2021, section 2.2.1. */
static void test_1f1b_uniform(void **state)
{
	(void)state;
	assert_float_equal(uniform(1, 1, 5, 1, 2, 0), 15, 1e-9);
	assert_float_equal(uniform(4, 1, 8, 1, 2, 0), 33, 1e-9);
	assert_float_equal(uniform(4, 1, 2, 1, 2, 0), 15, 1e-9);
	assert_float_equal(uniform(16, 1, 1000, 0.5, 1.5, 0), 2030, 1e-6);
}

/* m v (f + b) + (p - 1)(f + b) for chunks of f and b: section 2.2.2, where
 * f and b are of the whole device and the bubble is (p - 1)(f + b)/v. */
static void test_interleaved_uniform(void **state)
{
	(void)state;
	assert_float_equal(uniform(2, 2, 2, 1, 2, 0), 15, 1e-9);
	assert_float_equal(uniform(4, 2, 8, 1, 2, 0), 57, 1e-9);
	assert_float_equal(uniform(8, 4, 64, 1, 2, 0), 789, 1e-9);
	assert_float_equal(uniform(4, 3, 4000, 1, 2, 0), 36009, 1e-6);
}

/* Two stages, two micro-batches, f = b = x = 1. Stage 1: F0 2-3, B0 3-4,
 * F1 4-5, B1 5-6; stage 0: F0 0-1, F1 1-2, B0 5-6, B1 7-8. */
static void test_transfers(void **state)
{
	(void)state;
	assert_float_equal(uniform(2, 1, 2, 1, 1, 1), 8, 1e-12);
	/* A loop over both stages takes 2 (f + b) + 2 x = 6 and admits two
	 * micro-batches: 2001 of them take 6 + 1000 x 6. */
	assert_float_equal(uniform(2, 1, 2001, 1, 1, 1), 6006, 1e-6);
}

/* Forward 1 and 2, backward 2 and 4, transfer 0.5, one micro-batch:
 * 1 + 0.5 + 2 + 4 + 0.5 + 2. */
static void test_uneven(void **state)
{
	double forward[] = { 1, 2 }, backward[] = { 2, 4 }, transfer[] = { 0.5 };
	double finish[2];
	struct schedule_input input = {
		.shape = { .pipeline = 2, .virtual_stages = 1, .micro_batches = 1 },
		.forward_s = forward,
		.backward_s = backward,
		.transfer_s = transfer,
	};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_float_equal(schedule_simulate(&input, &arena, finish), 10, 1e-12);
	assert_float_equal(finish[1], 7.5, 1e-12);
	arena_release(&arena);
}

/* Forward 1 and 3, backward 2 and 1, transfer 0.5, three micro-batches. The last
 * forward ends at 1 + 0.5 + 3 x 3 = 10.5, the last backward of the second stage at
 * 13.5; the first one's backwards of 2 follow the first of these: 10.5 + 1 + 0.5 +
 * 3 x 2 = 18. All three micro-batches are kept. */
static void test_gpipe(void **state)
{
	double forward[] = { 1, 3 }, backward[] = { 2, 1 }, transfer[] = { 0.5 };
	double finish[2], saved = 10;
	struct schedule_input input = {
		.shape = { SCHEDULE_GPIPE, 2, 1, 3 },
		.forward_s = forward,
		.backward_s = backward,
		.transfer_s = transfer,
	};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_float_equal(schedule_simulate(&input, &arena, finish), 18, 1e-12);
	assert_float_equal(finish[1], 13.5, 1e-12);
	assert_float_equal(schedule_peak_bytes(&input.shape, 1, &saved), 30, 0);
	assert_int_equal(schedule_least_kept(&input.shape, 0), 3);
	arena_release(&arena);
}

/* Device 1 of 2 with 2 chunks: the warm-up is (v - 1) p = 2 forwards. */
static void test_order(void **state)
{
	static const struct schedule_operation expected[] = {
		{ 0, 0, false }, { 1, 0, false }, { 0, 1, false }, { 0, 1, true },
		{ 1, 1, false }, { 1, 1, true }, { 0, 0, true }, { 1, 0, true },
	};
	const struct schedule_shape shape = {
		.pipeline = 2, .virtual_stages = 2, .micro_batches = 2,
	};
	struct schedule_operation operation[8];

	(void)state;
	assert_int_equal(schedule_order(&shape, 1, operation), 8);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(operation[i].micro_batch, expected[i].micro_batch);
		assert_int_equal(operation[i].chunk, expected[i].chunk);
		assert_int_equal(operation[i].backward, expected[i].backward);
	}
}

static double peak(uint32_t p, uint32_t v, uint32_t m, uint32_t device,
		   const double *saved_bytes)
{
	const struct schedule_shape shape = {
		.pipeline = p, .virtual_stages = v, .micro_batches = m,
	};

	return schedule_peak_bytes(&shape, device, saved_bytes);
}

/* 1F1B keeps min(m, p - k); interleaving p v (1 + (p - 1)/(p v)) chunks on the
 * first device: Korthikanti et al. 2022, section 4.2.3. */
static void test_peak(void **state)
{
	double one[] = { 10 }, four[] = { 1, 1, 1, 1 }, uneven[] = { 100, 1 };

	(void)state;
	assert_float_equal(peak(4, 1, 8, 1, one), 30, 0);
	assert_float_equal(peak(4, 1, 2, 1, one), 20, 0);
	assert_float_equal(peak(4, 2, 8, 0, four), 11, 0);
	assert_float_equal(peak(8, 4, 64, 0, four), 39, 0);
	/* Last device of 2, 2 chunks, 4 micro-batches, w = 2: before the last
	 * backwards through chunk 1, forwards 2 and 3 of chunk 0 have come. */
	assert_float_equal(peak(2, 2, 4, 1, uneven), 300, 1);
}

/* Row by row what schedule_first_kept says, and what a device keeps at its peak. */
static void test_inner_kept(void **state)
{
	(void)state;
	for (uint32_t p = 2; p <= 9; p++)
		for (uint32_t v = 2; v <= 5; v++)
			for (uint32_t m = p; m <= 4 * p; m += p) {
				struct schedule_shape shape = {
					.kind = SCHEDULE_INTERLEAVED,
					.pipeline = p,
					.virtual_stages = v,
					.micro_batches = m,
				};
				double inner = 0;

				for (uint32_t k = 0; k < p; k++) {
					struct schedule_kept kept =
						schedule_first_kept(&shape, k);
					uint32_t all = 0;

					for (uint32_t row = 0; row < v; row++)
						all += schedule_kept_in(&kept, row);
					assert_int_equal(all, schedule_most_kept(
								      &shape, k));
					if (k == 0)
						all -= schedule_kept_in(&kept, 0);
					if (k == p - 1)
						all -= schedule_kept_in(&kept,
									v - 1);
					inner += all;
				}
				assert_float_equal(schedule_inner_kept(&shape),
						   inner, 0);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_1f1b_uniform),
		cmocka_unit_test(test_interleaved_uniform),
		cmocka_unit_test(test_transfers),
		cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_gpipe),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_peak),
		cmocka_unit_test(test_inner_kept),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Time of kernels, against arithmetic done by hand on a device with round
 * numbers: 100 multiprocessors, 1 PFLOP/s, 10 TB/s.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compiler/operator_time.h"

static const struct ir_device device = {
	.memory_bandwidth_Bps = 12.5e12,
	.memory_efficiency = 0.8,
	.peak_flops = { [IR_BF16] = 1e15, [IR_FP32] = 1e14, [IR_FP8] = 2e15 },
	.gemm_efficiency = 0.8,
	.gemm_efficiency_fp8 = 0.5,
	.gemm_overhead_fp8_s = 7e-6,
	.gemm_half_k = 24,
	.gemm_wave = 0.5,
	.gemm_narrow = 0.9,
	.attention_efficiency = 0.5,
	.attention_backward_efficiency = 0.4,
	.attention_half_sequence = 1024,
	.tile_m = 128,
	.tile_n = 256,
	.multiprocessors = 100,
	.kernel_overhead_s = 3e-6,
};

static void assert_close(double actual, double expected)
{
	if (fabs(actual - expected) > 1e-12 * fabs(expected))
		fail_msg("%.17g is not %.17g", actual, expected);
}

static void product_of_whole_waves(void **state)
{
	(void)state;
	/* 12800 x 1000 x 512: 100 x 2 tiles, two waves exactly. 2 x 100 x
	 * 2 x 128 x 256 x (1000 + 24) = 1.34217728e10 FLOP at 0.8e15 per second.
	 * Narrow tiles: four waves of half the work at 0.9 of the rate: slower. */
	assert_close(operator_time_gemm(&device, IR_BF16, 12800, 1000, 512),
		     3e-6 + 1.34217728e10 / 0.8e15);
}

static void product_with_a_ragged_wave(void **state)
{
	(void)state;
	/* 12928 rows: 101 x 2 tiles = 2.02 waves, of which the last costs half of
	 * what is missing: 2.02 + 0.5 x 0.98 = 2.51 waves of 6.7108864e9 FLOP.
	 * Narrow: 4.04 + 0.5 x 0.96 = 4.52 waves of 3.3554432e9 at 0.72e15. */
	assert_close(operator_time_gemm(&device, IR_BF16, 12928, 1000, 512),
		     3e-6 + fmin(2.51 * 6.7108864e9 / 0.8e15,
				 4.52 * 3.3554432e9 / 0.72e15));
}

static void narrow_tiles_fit_narrow_products(void **state)
{
	(void)state;
	/* 12800 x 1000 x 128: one wave of either tile; the narrow one does half. */
	assert_close(operator_time_gemm(&device, IR_BF16, 12800, 1000, 128),
		     3e-6 + 3.3554432e9 / 0.72e15);
}

static void product_bound_by_memory(void **state)
{
	struct ir_device slow = device;

	(void)state;
	slow.memory_bandwidth_Bps = 1.25e12;
	/* One row: 2 bytes x (4096 + 4096 x 4096 + 4096) at 1 TB/s. */
	assert_close(operator_time_gemm(&slow, IR_BF16, 1, 4096, 4096),
		     3e-6 + 2 * (4096.0 + 4096.0 * 4096 + 4096) / 1e12);
}

static void product_of_eight_bits(void **state)
{
	(void)state;
	/* As the first, at 2e15 x 0.5, plus 3 bytes x 12800 x 1000 at 10 TB/s. */
	assert_close(operator_time_gemm(&device, IR_FP8, 12800, 1000, 512),
		     3e-6 + 1.34217728e10 / 1e15 + 7e-6 + 3 * 12800e3 / 1e13);
}

static void precisions_the_device_lacks(void **state)
{
	struct ir_device plain = device;

	(void)state;
	plain.peak_flops[IR_FP8] = 0;
	assert_close(operator_time_gemm(&plain, IR_FP8, 12800, 1000, 512),
		     operator_time_gemm(&plain, IR_BF16, 12800, 1000, 512));
	assert_close(operator_time_gemm(&plain, IR_FP16, 12800, 1000, 512),
		     operator_time_gemm(&plain, IR_BF16, 12800, 1000, 512));
}

static void attention_counts_half_when_causal(void **state)
{
	struct attention_shape shape = { .batch = 2, .query_tokens = 4096,
		.key_tokens = 4096, .heads = 16, .kv_heads = 4, .head_dim = 128 };

	(void)state;
	/* 4 x 2 x 16 x 128 x 4096 x 4096 */
	assert_close(attention_flops(&shape), 274877906944.0);
	shape.causal = true;
	assert_close(attention_flops(&shape), 137438953472.0);
	shape.window = 1024;
	assert_close(attention_flops(&shape), 68719476736.0);
}

static void attention_time(void **state)
{
	struct attention_shape shape = { .batch = 2, .query_tokens = 4096,
		.key_tokens = 4096, .heads = 25, .kv_heads = 5, .head_dim = 128,
		.causal = true };
	/* 2 x 25 x 32 blocks on 100 multiprocessors: 16 waves and one for the
	 * tail; keys 2048 + 512; bytes 2 x 2 x 128 x (2 x 25 + 2 x 5) x 4096. */
	double flops = 4.0 * 2 * 25 * 128 * 4096 * 2560 * 17 / 16;
	double bytes = 2.0 * 2 * 128 * 60 * 4096;

	(void)state;
	assert_close(operator_time_attention(&device, IR_BF16, &shape, false),
		     3e-6 + flops / 0.5e15 + bytes / 1e13);
	assert_close(operator_time_attention(&device, IR_BF16, &shape, true),
		     3e-6 + 2.5 * flops / 0.4e15 + 2 * bytes / 1e13);
	/* 8-bit training keeps attention in 16 bit. */
	assert_close(operator_time_attention(&device, IR_FP8, &shape, false),
		     operator_time_attention(&device, IR_BF16, &shape, false));
}

static void nothing_takes_no_time(void **state)
{
	struct attention_shape none = { .batch = 1 };

	(void)state;
	assert_true(operator_time_gemm(&device, IR_BF16, 0, 10, 10) == 0);
	assert_true(operator_time_memory(&device, 0) == 0);
	assert_true(operator_time_attention(&device, IR_BF16, &none, false) == 0);
	assert_close(operator_time_memory(&device, 1e9), 3e-6 + 1e-4);
}

static void accumulation_moves_eight_bytes(void **state)
{
	(void)state;
	assert_close(operator_time_accumulate(&device, 1e9), 8e9 / 1e13);
}

/* A fifth lost: all but the overheads takes 1.25 times as long. */
static void continuous_load_slows_everything(void **state)
{
	struct ir_device warm = device;
	double cold_s = operator_time_gemm(&device, IR_BF16, 12800, 1000, 512);

	(void)state;
	warm.throttling = 0.2;
	assert_close(operator_time_gemm(&warm, IR_BF16, 12800, 1000, 512),
		     3e-6 + (cold_s - 3e-6) / 0.8);
	assert_close(operator_time_memory(&warm, 1e9), 3e-6 + 1.25e-4);
}

static void larger_is_not_faster(void **state)
{
	double previous = 0;

	(void)state;
	for (double k = 64; k < 20000; k += 64) {
		double now = operator_time_gemm(&device, IR_BF16, 4096, k, 4096);
		assert_true(now >= previous);
		previous = now;
	}
	previous = 0;
	for (double m = 64; m < 20000; m += 64) {
		double now = operator_time_gemm(&device, IR_BF16, m, 4096, 4096);
		assert_true(now >= previous);
		previous = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(product_of_whole_waves),
		cmocka_unit_test(product_with_a_ragged_wave),
		cmocka_unit_test(narrow_tiles_fit_narrow_products),
		cmocka_unit_test(product_bound_by_memory),
		cmocka_unit_test(product_of_eight_bits),
		cmocka_unit_test(precisions_the_device_lacks),
		cmocka_unit_test(attention_counts_half_when_causal),
		cmocka_unit_test(attention_time),
		cmocka_unit_test(nothing_takes_no_time),
		cmocka_unit_test(accumulation_moves_eight_bytes),
		cmocka_unit_test(continuous_load_slows_everything),
		cmocka_unit_test(larger_is_not_faster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

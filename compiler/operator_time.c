/* SPDX-License-Identifier: MIT
 *
 * Time of one kernel; see the header for the form and its sources.
 */
#include "compiler/operator_time.h"

#include <math.h>

static double element_bytes(enum ir_precision precision)
{
	switch (precision) {
	case IR_FP32:
		return 4;
	case IR_FP8:
		return 1;
	default:
		return 2;
	}
}

/* Peak of the precision, or of the nearest one the device has. */
static double rated_flops(const struct ir_device *device,
			 enum ir_precision precision)
{
	if (device->peak_flops[precision] > 0)
		return device->peak_flops[precision];
	if (device->peak_flops[IR_BF16] > 0)
		return device->peak_flops[IR_BF16];
	if (device->peak_flops[IR_FP16] > 0)
		return device->peak_flops[IR_FP16];
	return device->peak_flops[IR_FP32];
}

static double peak_flops(const struct ir_device *device,
			 enum ir_precision precision)
{
	return rated_flops(device, precision) * (1 - device->throttling);
}

static double effective_bandwidth(const struct ir_device *device)
{
	return device->memory_bandwidth_Bps * device->memory_efficiency *
	       (1 - device->throttling);
}

double operator_time_accumulate(const struct ir_device *device, double elements)
{
	return 8 * elements / effective_bandwidth(device);
}

double operator_time_memory(const struct ir_device *device, double bytes)
{
	if (bytes <= 0)
		return 0;
	return device->kernel_overhead_s + bytes / effective_bandwidth(device);
}

/* Compute time of count products whose outputs are cut into tiles of that size. */
static double tiled_s(const struct ir_device *device, double tile_n, double rate,
		      double count, double m, double k, double n)
{
	double tiles = count * ceil(m / device->tile_m) * ceil(n / tile_n);
	double waves = tiles / device->multiprocessors;

	waves += device->gemm_wave * (ceil(waves) - waves);
	return waves * device->multiprocessors * 2 * device->tile_m * tile_n *
	       (k + device->gemm_half_k) / rate;
}

double operator_time_gemm(const struct ir_device *device,
			  enum ir_precision precision,
			  double m, double k, double n)
{
	return operator_time_grouped(device, precision, 1, m, k, n);
}

double operator_time_grouped(const struct ir_device *device,
			     enum ir_precision precision, double count,
			     double m, double k, double n)
{
	double rate, width, compute_s, memory_s, extra_s = 0;

	if (m <= 0 || k <= 0 || n <= 0)
		return 0;
	if (precision == IR_FP8 && device->peak_flops[IR_FP8] <= 0)
		precision = IR_BF16;
	rate = peak_flops(device, precision);
	if (precision == IR_FP8) {
		rate *= device->gemm_efficiency_fp8;
		extra_s = device->gemm_overhead_fp8_s +
			  3 * count * m * k / effective_bandwidth(device);
	} else {
		rate *= device->gemm_efficiency;
	}
	compute_s = fmin(tiled_s(device, device->tile_n, rate, count, m, k, n),
			 tiled_s(device, device->tile_n / 2,
				 rate * device->gemm_narrow, count, m, k, n));
	width = element_bytes(precision);
	memory_s = count * (width * (m * k + k * n) + fmax(width, 2) * m * n) /
		   effective_bandwidth(device);
	return device->kernel_overhead_s + fmax(compute_s, memory_s) + extra_s;
}

/* Keys a query looks at on average. */
static double attention_keys(const struct attention_shape *shape)
{
	double keys = shape->causal ? shape->key_tokens / 2 : shape->key_tokens;

	if (shape->window > 0)
		return fmin(keys, shape->window);
	return keys;
}

/* Width of keys and values together. */
static double both_dims(const struct attention_shape *shape)
{
	return shape->head_dim + (shape->value_dim > 0 ? shape->value_dim :
							 shape->head_dim);
}

static double flops_over(const struct attention_shape *shape, double keys)
{
	return 2 * shape->batch * shape->heads * both_dims(shape) *
	       shape->query_tokens * keys;
}

double attention_flops(const struct attention_shape *shape)
{
	return flops_over(shape, attention_keys(shape));
}

double operator_time_attention(const struct ir_device *device,
			       enum ir_precision precision,
			       const struct attention_shape *shape,
			       bool backward)
{
	double keys = attention_keys(shape);
	double flops, bytes, rate, waves;

	if (attention_flops(shape) <= 0)
		return 0;
	if (precision == IR_FP8)
		precision = IR_BF16;
	rate = peak_flops(device, precision) *
	       (backward ? device->attention_backward_efficiency :
			   device->attention_efficiency);
	keys += device->attention_half_sequence * (shape->causal ? 0.5 : 1);
	waves = shape->batch * shape->heads * ceil(shape->query_tokens / 128) /
		device->multiprocessors;
	flops = flops_over(shape, keys) * (1 + 1 / waves);
	bytes = element_bytes(precision) * shape->batch * both_dims(shape) *
		(shape->heads * shape->query_tokens +
		 shape->kv_heads * shape->key_tokens);
	if (backward) {
		flops *= 2.5;
		bytes *= 2;
	}
	return device->kernel_overhead_s + flops / rate +
	       bytes / effective_bandwidth(device);
}

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
static double peak_flops(const struct ir_device *device,
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

double operator_time_memory(const struct ir_device *device, double bytes)
{
	if (bytes <= 0)
		return 0;
	return device->kernel_overhead_s +
	       bytes / (device->memory_bandwidth_Bps * device->memory_efficiency);
}

double operator_time_gemm(const struct ir_device *device,
			  enum ir_precision precision,
			  double m, double k, double n)
{
	double rate, tiles, waves, compute_s, memory_s, width;

	if (m <= 0 || k <= 0 || n <= 0)
		return 0;
	rate = peak_flops(device, precision) *
	       (precision == IR_FP8 ? device->gemm_efficiency_fp8 :
				      device->gemm_efficiency);
	tiles = ceil(m / device->tile_m) * ceil(n / device->tile_n);
	waves = ceil(tiles / device->multiprocessors);
	compute_s = waves * device->multiprocessors * 2 * device->tile_m *
		    device->tile_n * (k + device->gemm_half_k) / rate;
	width = element_bytes(precision);
	memory_s = (width * (m * k + k * n) + fmax(width, 2) * m * n) /
		   (device->memory_bandwidth_Bps * device->memory_efficiency);
	return device->kernel_overhead_s + fmax(compute_s, memory_s);
}

double attention_flops(const struct attention_shape *shape)
{
	double keys = shape->key_tokens;
	double share = shape->causal ? 0.5 : 1;

	if (shape->window > 0 && shape->window < keys * share) {
		keys = shape->window;
		share = 1;
	}
	return 4 * shape->batch * shape->heads * shape->head_dim *
	       shape->query_tokens * keys * share;
}

double operator_time_attention(const struct ir_device *device,
			       enum ir_precision precision,
			       const struct attention_shape *shape,
			       bool backward)
{
	double flops = attention_flops(shape);
	double bytes, rate;

	if (flops <= 0)
		return 0;
	if (precision == IR_FP8)
		precision = IR_BF16;
	rate = peak_flops(device, precision) *
	       (backward ? device->attention_backward_efficiency :
			   device->attention_efficiency);
	rate *= shape->key_tokens /
		(shape->key_tokens + device->attention_half_sequence);
	bytes = element_bytes(precision) * shape->batch * shape->head_dim *
		(2 * shape->heads * shape->query_tokens +
		 2 * shape->kv_heads * shape->key_tokens);
	if (backward) {
		flops *= 2.5;
		bytes *= 2;
	}
	return device->kernel_overhead_s +
	       fmax(flops / rate,
		    bytes / (device->memory_bandwidth_Bps * device->memory_efficiency));
}

/* SPDX-License-Identifier: MIT
 *
 * Time of one kernel on one device, from the numbers of its device file (the
 * names below are fields of a `device`).
 *
 * Product of m x k and k x n. The output is cut into tiles, which the
 * multiprocessors take in waves of w = ceil(m/tile_m) ceil(n/tile_n) /
 * multiprocessors; a last, partly filled wave costs the share `gemm.wave` of a
 * whole one. Each tile contracts over k and pays a ramp of half_k more:
 *
 *	compute	 (w + wave (ceil(w) - w)) x multiprocessors x
 *		 2 tile_m tile_n (k + half_k) / (peak x efficiency)
 *	memory	 bytes of both inputs and the output / effective bandwidth
 *	time	 kernel_overhead + max(compute, memory)
 *
 * with the cheaper of tiles of the full and of half the width, the latter at
 * `gemm.narrow` of the rate. 8-bit products add gemm.overhead_fp8 and the pass
 * that converts the activations (3 bytes an element).
 *
 * Flash attention has x = batch heads ceil(queries / 128) / multiprocessors
 * waves of blocks, of which one is lost to the tail:
 *
 *	flops	 2 batch heads (head_dim + value_dim) queries (keys + half_sequence)
 *		 [x 1/2 causal]
 *	time	 kernel_overhead + flops (1 + 1/x) / (peak x efficiency)
 *		 + bytes of q, k, v and the result / effective bandwidth
 *
 * Fitted by minimising the mean absolute logarithmic error on the kernel
 * timings of github.com/ai-dynamo/aiconfigurator (collected on real devices
 * with the libraries of TensorRT-LLM and vLLM), shapes with m >= 1024; median
 * and 90th percentile of the absolute error:
 *
 *	product, bf16	A100 3.6 % 11 %   H100 3.6 % 10 %   H200 3.0 % 11 %   B200 4.2 % 12 %
 *	product, fp8	                  H100 8.3 % 25 %   H200 6.5 % 22 %   B200 7.4 % 19 %
 *	attention	A100 2.9 % 10 %   H100 3.9 % 11 %   H200 3.3 %  9 %   B200 6.0 % 22 %
 *
 * For the same product the two libraries differ by 2 % (A100) and 5 % (H100),
 * median. `make bench` prints these errors where NESTC_MEASURED_DIR names the
 * directory of such tables.
 *
 * All rates are then lowered by `throttling`, the share that is lost under
 * continuous load; with 0 the timings above are reproduced.
 */
#ifndef NEST_COMPILER_OPERATOR_TIME_H
#define NEST_COMPILER_OPERATOR_TIME_H

#include <stdbool.h>

#include "compiler/ir.h"

/* One attention call on one device. */
struct attention_shape {
	double batch;		/* sequences */
	double query_tokens;	/* per sequence, local */
	double key_tokens;	/* per sequence that the queries look at in all */
	double heads;		/* local query heads */
	double kv_heads;	/* local key and value heads */
	double head_dim;	/* of queries and keys */
	double value_dim;	/* of values; 0: as head_dim */
	bool causal;		/* half of the scores are masked and skipped */
	double window;		/* sliding window in tokens; 0: none */
};

/* Floating-point operations of the two products of attention, forward, counting
 * only the scores that are computed (half of them when causal). */
double attention_flops(const struct attention_shape *shape);

/* The product of m x k and k x n on one device. fp8 means 8-bit inputs, 16-bit
 * output. Zero when any extent is zero. */
double operator_time_gemm(const struct ir_device *device,
			  enum ir_precision precision,
			  double m, double k, double n);

/* count such products at once, each with inputs of its own, as one kernel (the
 * experts of a mixture): their tiles share the waves. Measured grouped kernels
 * are taken to reach what a single product of as many tiles does (assumed). */
double operator_time_grouped(const struct ir_device *device,
			     enum ir_precision precision, double count,
			     double m, double k, double n);

/* Flash attention: one fused kernel, scores never stored. The backward pass
 * does 2.5 times the forward operations (five products instead of two). 8-bit
 * training keeps attention in 16 bit. */
double operator_time_attention(const struct ir_device *device,
			       enum ir_precision precision,
			       const struct attention_shape *shape,
			       bool backward);

/* What adding a product's result to 32-bit sums already in memory costs beyond
 * the product: 8 bytes an element, moved after the last multiplication. */
double operator_time_accumulate(const struct ir_device *device, double elements);

/* A kernel that only moves bytes (read and written together). */
double operator_time_memory(const struct ir_device *device, double bytes);

#endif

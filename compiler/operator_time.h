/* SPDX-License-Identifier: MIT
 *
 * Time of one kernel on one device, from the numbers of its device file.
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
	double head_dim;
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

/* Flash attention: one fused kernel, scores never stored. The backward pass
 * does 2.5 times the forward operations (five products instead of two). 8-bit
 * training keeps attention in 16 bit. */
double operator_time_attention(const struct ir_device *device,
			       enum ir_precision precision,
			       const struct attention_shape *shape,
			       bool backward);

/* A kernel that only moves bytes (read and written together). */
double operator_time_memory(const struct ir_device *device, double bytes);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Inside the cost of operators. Only the layout*.c files include this. Each function
 * fills result->operator[index] for one operator.
 */
#ifndef NEST_COMPILER_LAYOUT_COST_H
#define NEST_COMPILER_LAYOUT_COST_H

#include "compiler/layout_walk.h"

/* A dropout mask is one byte per element. */
#define MASK_BYTES 1

/* Local size of an extent, for arithmetic with sizes beyond integers. */
static inline double layout_extent(const struct layout_walk *walk,
				   const struct ir_extent *extent,
				   enum layout layout)
{
	return (double)layout_extent_size(walk, extent, layout);
}

/* Adds a kernel forward and one backward that move these bytes. */
void layout_move(struct layout_walk *walk, uint32_t index,
		 double forward_bytes, double backward_bytes);

/* Work and parameters of a product, which its group must know before the times of
 * any of them. */
void layout_product_work(struct layout_walk *walk, uint32_t index);
/* Times of a product, as its share of the fused group. */
void layout_product_time(struct layout_walk *walk, uint32_t index);
/* A product, and kernels over the scores of all experts. */
void layout_router_cost(struct layout_walk *walk, uint32_t index);
void layout_attention_cost(struct layout_walk *walk, uint32_t index);
void layout_norm_cost(struct layout_walk *walk, uint32_t index);
/* All other operators: bytes decide. */
void layout_kernel_cost(struct layout_walk *walk, uint32_t index);

#endif

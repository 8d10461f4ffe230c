/* SPDX-License-Identifier: MIT
 *
 * Inference of sharding and collectives. For one layer class and one shape
 * (degrees of tensor, context, sequence parallelism, micro-batch) it walks the
 * operator graph, gives every value its layout, and records the collectives
 * that conversions between layouts imply. No template names a collective.
 *
 * Layouts of a value over the tensor group:
 *	whole		every rank holds all of it
 *	cut		an axis split by tensor is cut
 *	by sequence	the sequence axis is cut (sequence parallelism)
 *	partial		every rank holds a summand
 * Rules: a product whose output axis is split wants a whole input and gives a
 * cut output; one that contracts over a split axis gives partial sums;
 * everything else works in the layout it finds. A partial value is made whole
 * (all-reduce) or by sequence (reduce-scatter) before its first other use; a
 * value by sequence is gathered (all-gather) once for all products that want
 * it whole. The backward pass has the transposed collective of each, and
 * gathers again what was saved by sequence.
 * Sources: Shoeybi et al. 2019 (Megatron-LM) section 3; Korthikanti et al. 2022,
 * "Reducing Activation Recomputation in Large Transformer Models", section 4.
 */
#ifndef NEST_COMPILER_LAYOUT_H
#define NEST_COMPILER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/arena.h"

enum layout { LAYOUT_WHOLE, LAYOUT_CUT, LAYOUT_SEQUENCE, LAYOUT_PARTIAL };

/* A collective that was inferred. */
struct inferred {
	enum collective kind;
	enum group group;
	bool backward;
	uint32_t operator;		/* that needs or produces the value */
	uint32_t value;			/* that is converted */
	double bytes;			/* as problem_collective.bytes */
	uint32_t hidden_by;		/* operator whose backward products it runs behind, IR_NONE: exposed */
	struct span span;		/* source it comes from */
	struct span split_span;		/* the `split` that causes it */
};

/* Local facts of one operator under the shape. */
struct operator_cost {
	double forward_flops, backward_flops;
	double forward_bytes, backward_bytes;	/* read and written */
	double forward_s, backward_s;
	double parameters;			/* elements held by one device */
	bool parameters_tied;
	double saved_bytes;			/* first kept by this operator (its inputs, masks, scores) */
	double core_saved_bytes;		/* of these, dropped by selective recomputation */
	double output_bytes;
	enum layout output_layout;
	uint64_t local[IR_RANK_MAX];		/* local output shape */
};

struct layout_result {
	struct operator_cost *operator;		/* class->operator_count entries */
	struct inferred *inferred;
	uint32_t inferred_count;
	double input_bytes;			/* of the layer's input on one device */
	double output_bytes;
	double saved_bytes;			/* kept for backward, nothing recomputed; each value once */
	double core_saved_bytes;		/* part that selective recomputation drops */
	double working_bytes;			/* largest transient: gathered inputs, logits in fp32 */
};

/* Whether the class can be cut that way; otherwise the axis and the degree that
 * does not divide it. */
bool layout_is_legal(const struct ir_class *class, const struct ir_model *model,
		     const struct problem_shape *shape,
		     const struct ir_axis **axis, uint32_t *degree);

/* The inference. The shape must be legal. */
void layout_infer(const struct ir *ir, uint32_t class_index,
		  const struct problem_shape *shape, struct arena *arena,
		  struct layout_result *result);

#endif

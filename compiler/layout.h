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
 * (all-reduce) or by sequence (reduce-scatter) before its first other use,
 * except that the sum of two partial values is partial; a value by sequence is
 * gathered (all-gather) once for all products that want it whole. The backward
 * pass has the transposed collective of each, adds up the input gradient of
 * products whose output is cut (all-reduce, or reduce-scatter of what was
 * gathered), and gathers again what was saved by sequence. A layer's input and
 * output are whole, or by sequence where sequence parallelism is on.
 * Sources: Shoeybi et al. 2019 (Megatron-LM) section 3; Korthikanti et al. 2022,
 * "Reducing Activation Recomputation in Large Transformer Models", section 4.
 *
 * Experts. Every rank sends the tokens it holds (by sequence over the tensor
 * group) to the ranks of the experts they were routed to: an all-to-all over the
 * expert group, then an all-gather over the expert-tensor group, whose ranks have
 * parts of the same experts; results come back by a reduce-scatter and an
 * all-to-all (Megatron-LM, core/transformer/moe/token_dispatcher.py,
 * MoEAlltoAllTokenDispatcher). Between them the rules above hold with the
 * expert-tensor group in place of the tensor group. All experts are taken to be
 * met equally often, but for the router's capacity, by which everything routed
 * is multiplied. A layer with experts is cut by tensor only under sequence
 * parallelism.
 *
 * Overlap is what Megatron-LM does without further flags: in the backward pass
 * of a product the second gather of its input runs behind the input-gradient
 * product, and the reduction of the input gradient behind the weight-gradient
 * product (core/tensor_parallel/layers.py,
 * LinearWithGradAccumulationAndAsyncCommunication). The exchange of keys and
 * values over the context group runs behind attention, as in a ring: all but one
 * step of c. Where the job overlaps the exchange of experts, the forward of one
 * micro-batch runs beside the backward of another: all-to-alls of the one run behind
 * the work of the other, of an equal layer (core/pipeline_parallel/combined_1f1b.py).
 * Everything else is exposed.
 *
 * Fusion is what Megatron-LM with Transformer Engine does:
 *	- products of equal kind that read the same value are one product
 *	  (query, key and value; gate and up);
 *	- a bias costs nothing of its own;
 *	- an activation read only by a multiplication is one kernel with it, and
 *	  its result is not kept;
 *	- a dropout read only by an addition is one kernel with it;
 *	- the products of all experts of a device are one (grouped) kernel, and
 *	  their weighting by the router is part of the activation before.
 * What is fused into another operator shows no time of its own, except that
 * a fused product's time is shared in proportion to the work.
 *
 * Selective recomputation redoes the modules the job chose
 * (compiler/recompute_module.h). A value stays if an operator that is not redone,
 * or a module that it enters from outside, keeps or reads it; the result of a
 * module that discards does not.
 *
 * Bytes are counted as each kernel reading its inputs and writing its outputs
 * once; backward, the addition of two gradients where a residual branches off is
 * counted with the `+`. Neglected: statistics of norms and attention, token
 * numbers, gradients of norm weights over the tensor group (once an iteration).
 */
#ifndef NEST_COMPILER_LAYOUT_H
#define NEST_COMPILER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/arena.h"

enum layout { LAYOUT_WHOLE, LAYOUT_CUT, LAYOUT_SEQUENCE, LAYOUT_PARTIAL };

/* Compute that a collective runs behind. */
enum hidden {
	HIDDEN_NOT,
	HIDDEN_INPUT_GRADIENT,	/* input-gradient products of hidden_by */
	HIDDEN_WEIGHT_GRADIENT,	/* weight-gradient products of hidden_by */
	HIDDEN_ATTENTION,	/* the attention core, of its own direction */
	HIDDEN_BESIDE		/* work of another micro-batch in the other direction, of
				 * which each exchange of experts has its share; by no
				 * operator */
};

/* A collective that was inferred. */
struct inferred {
	enum collective kind;
	enum group group;
	bool backward;
	uint32_t operator;		/* that needs or produces the value; IR_NONE: the
					 * layer's boundary */
	uint32_t value;			/* that is converted */
	double bytes;			/* as problem_collective.bytes */
	enum hidden hidden;
	uint32_t hidden_by;		/* operator (first of a fused product), or IR_NONE */
	double hidden_s;		/* time of that compute; 0: exposed */
	double slowing;			/* as problem_collective.slowing */
	bool selective;			/* forward, and done again by selective
					 * recomputation */
	struct span span;		/* source it comes from */
	struct span split_span;		/* the `split` that causes it */
};

/* Local facts of one operator under the shape. */
struct operator_cost {
	double forward_flops, backward_flops;	/* executed */
	double forward_bytes, backward_bytes;	/* read and written; 0 for products */
	double forward_s, backward_s;
	double parameters;			/* elements held by one device */
	double tied_parameters;			/* of these, owned by another layer */
	bool is_expert;				/* they belong to experts */
	/* Products and routers: local extents of the weight, and how many there are
	 * (experts). */
	double weight_from, weight_to, weight_count;
	double saved_bytes;			/* first kept by this operator: inputs,
						 * masks, scores */
	double selective_saved_bytes;		/* the same under selective recomputation */
	double output_bytes;
	enum layout output_layout;		/* as produced, before any conversion */
	uint64_t local[IR_RANK_MAX];		/* local output shape; of a routed value:
						 * experts, rows of one, width */
};

struct layout_result {
	struct operator_cost *operator;		/* class->operator_count entries */
	struct inferred *inferred;		/* in the order of the walk */
	uint32_t inferred_count;
	double forward_s, backward_s;		/* compute of all operators, or the host's
						 * time to launch them if longer */
	double selective_forward_s;		/* part that selective recomputation redoes */
	double parameters;			/* elements held by one device, */
	double expert_parameters;		/*   and those of experts besides */
	double tied_parameters;			/* of `parameters`, owned by another layer */
	double input_bytes;			/* of the layer's input on one device */
	bool input_saved;			/* saved_bytes holds the input */
	double output_bytes;			/* 0 when nothing follows: loss, logits */
	double saved_bytes;			/* kept for backward, nothing recomputed;
						 * each value once */
	double selective_saved_bytes;		/* kept under selective recomputation */
	double selective_working_bytes;		/* largest part it holds again at a time */
	double working_bytes;			/* largest transient of one operator:
						 * gathered inputs, gradients around it */
};

/* Whether the class can be cut that way; otherwise the axis and the degree that
 * does not divide it (both may be NULL). A padded axis always can; a replicable
 * one when size or degree divides the other; the sequence over context ranks
 * only in two equal pieces each, so that causal work is balanced. Expert degrees
 * concern classes with experts only, and these go with tensor > 1 only by
 * sequence. */
bool layout_is_legal(const struct ir_class *class, const struct ir_model *model,
		     const struct problem_shape *shape,
		     const struct ir_axis **axis, uint32_t *degree);

/* The inference. The shape must be legal. Results live in the arena. */
void layout_infer(const struct ir *ir, uint32_t class_index,
		  const struct problem_shape *shape, struct arena *arena,
		  struct layout_result *result);

/* Bytes of one number of activations and weights in the job's precision. */
double layout_element_bytes(enum ir_precision precision);

#endif

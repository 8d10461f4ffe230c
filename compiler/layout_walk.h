/* SPDX-License-Identifier: MIT
 *
 * Inside the inference of layouts: the state that its steps share. Only the
 * layout*.c files include this. The steps, in order, are walk (layouts and
 * collectives), cost (work, bytes, time, parameters) and saved (activations
 * kept and transient).
 */
#ifndef NEST_COMPILER_LAYOUT_WALK_H
#define NEST_COMPILER_LAYOUT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/layout.h"
#include "compiler/recompute_module.h"
#include "lang/base/vec.h"

/* How a product uses the tensor group. */
enum product {
	PRODUCT_PLAIN,		/* weight on every rank, layout as found */
	PRODUCT_COLUMN,		/* output cut: wants its input whole */
	PRODUCT_ROW,		/* contraction cut: gives partial sums */
	PRODUCT_COUNT
};

struct axis_state {
	uint64_t whole, cut, by_sequence;	/* local size in these layouts */
	bool is_cut;				/* over the tensor or expert-tensor group */
	bool is_sequence;
};

struct value_state {
	enum layout layout;		/* after conversions that replace the value */
	uint32_t cause;			/* axis that made it cut or partial, or IR_NONE */
	bool gathered;			/* also made whole, for products */
	bool gradient_reduced;		/* its gradient's reduction is recorded */
	bool regathered;		/* its second gather is recorded */
	bool sliced;			/* cut from whole; its gradient's gather is recorded */
	bool saved_whole;		/* saved gathered, not as it lies */
	uint32_t uses;			/* operators that read it */
	uint32_t last_use;		/* the last of them */
	uint32_t leader[PRODUCT_COUNT];	/* first LINEAR of each kind that reads it, + 1 */
};

struct operator_state {
	enum product product;
	enum layout input_layout;	/* in which it reads its inputs */
	bool gathers;			/* its input was gathered for it */
	bool is_fused;			/* runs inside another kernel */
	bool takes_dropout;		/* ADD: runs a dropout as well */
	uint32_t leader;		/* products: the first of the fused group */
	double group_n;			/* leader: columns of the whole group */
	double input_gradient_s;	/* leader: time of these products */
	double weight_gradient_s;
	double core_forward_s;		/* attention proper, without rotation */
	double core_backward_s;
	enum recompute_module module;	/* that redoes it; RECOMPUTE_MODULE_COUNT: none */
};

struct layout_walk {
	const struct ir *ir;
	const struct ir_class *class;
	const struct problem_shape *shape;
	struct arena *arena;
	struct layout_result *result;
	bool sequence;			/* parallelism over the sequence in effect */
	double element_bytes;
	struct axis_state *axis;	/* by axis */
	struct value_state *value;	/* by value */
	struct operator_state *operator;	/* by operator */
	VEC(struct inferred) inferred;
};

/* Local sizes. An axis split by tensor or expert_tensor counts whole (padded) in
 * every layout but LAYOUT_CUT; the sequence is divided further in
 * LAYOUT_SEQUENCE. */
static inline uint64_t layout_axis_size(const struct layout_walk *walk,
					uint32_t axis, enum layout layout)
{
	const struct axis_state *state = &walk->axis[axis];

	if (layout == LAYOUT_CUT)
		return state->cut;
	return layout == LAYOUT_SEQUENCE ? state->by_sequence : state->whole;
}

uint64_t layout_extent_size(const struct layout_walk *walk,
			    const struct ir_extent *extent,
			    enum layout layout);
double layout_value_elements(const struct layout_walk *walk, uint32_t value,
			     enum layout layout);
double layout_value_bytes(const struct layout_walk *walk, uint32_t value,
			  enum layout layout);
/* Elements of all extents of a value but the last. A routed value has the rows
 * of all experts of the device. */
double layout_value_rows(const struct layout_walk *walk, uint32_t value,
			 enum layout layout);

/* Experts on one device that a router sends to. */
double layout_local_experts(const struct layout_walk *walk,
			    const struct ir_operator *router);

/* The router of an operator on routed values, or NULL. */
static inline const struct ir_operator *
layout_router(const struct layout_walk *walk, uint32_t operator)
{
	return ir_operator_router(walk->class, &walk->class->operator[operator]);
}

/* The first axis of the extent that its group cuts, or IR_NONE. */
uint32_t layout_cut_axis(const struct layout_walk *walk,
			 const struct ir_extent *extent);
/* The same over all extents of a value. */
uint32_t layout_value_cut_axis(const struct layout_walk *walk, uint32_t value);
uint32_t layout_sequence_axis(const struct ir_class *class);
bool layout_is_sequence_axis(const struct ir_axis *axis);

/* Bytes of an attention's keys on one device, the shared part in every head. */
double layout_key_bytes(const struct layout_walk *walk, uint32_t attention);

static inline bool layout_is_product(const struct ir_operator *operator)
{
	return operator->kind == IR_LINEAR || operator->kind == IR_LM_HEAD;
}

static inline bool layout_is_activation(const struct ir_operator *operator)
{
	return operator->kind == IR_GELU || operator->kind == IR_SILU ||
	       operator->kind == IR_RELU;
}

void layout_walk_values(struct layout_walk *walk);
void layout_walk_fusion(struct layout_walk *walk);
void layout_walk_costs(struct layout_walk *walk);
void layout_walk_hidden(struct layout_walk *walk);
void layout_walk_saved(struct layout_walk *walk);
/* Which work and collectives selective recomputation does again. */
void layout_walk_redone(struct layout_walk *walk);

#endif

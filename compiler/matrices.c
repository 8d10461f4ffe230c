/* SPDX-License-Identifier: MIT
 *
 * Which weights Muon steps as matrices, and how long that takes.
 */
#include "compiler/matrices.h"

#include <math.h>

#include "compiler/operator_time.h"
#include "compiler/training.h"
#include "lang/base/divisor.h"
#include "solver/network.h"

enum { NEWTON_SCHULZ_ITERATIONS = 5 };

bool operator_has_matrix(const struct ir_operator *operator)
{
	return operator->kind == IR_LINEAR || operator->kind == IR_ROUTER;
}

double matrix_orthogonalise_s(const struct ir_device *device, double rows,
			      double columns)
{
	double r = fmin(rows, columns), c = fmax(rows, columns);

	return NEWTON_SCHULZ_ITERATIONS *
	       (operator_time_gemm(device, IR_BF16, r, c, r) +
		operator_time_gemm(device, IR_BF16, r, r, r) +
		operator_time_gemm(device, IR_BF16, r, r, c));
}

/* What is kept as one weight, and how long its step takes if its parts are stepped
 * apart; the same from extent, to extents added up. */
struct kept_matrix {
	double from, to;		/* on one device, */
	double whole_from, whole_to;	/*   and over its group */
	double elements, step_s;
	uint32_t parts;
};

struct counting {
	const struct ir *ir;
	const struct ir_class *class;
	const struct layout_result *result;
	double s_per_parameter;		/* besides the products, */
	double s_per_byte;		/*   of what they read and write */
	uint32_t *first;		/* by operator: that whose weight it is part of */
	struct kept_matrix *kept;	/* by operator */
};

/* ---- what a framework keeps as one weight ---- */

#define WAY_MAX 4	/* norms and activations between a product and its use */

/* The product that a value comes from, perhaps by way of norms and activations. */
static uint32_t product_behind(const struct ir_class *class, uint32_t value)
{
	for (int i = 0; i < WAY_MAX; i++) {
		uint32_t producer = class->value[value].producer;

		if (producer == IR_NONE)
			return IR_NONE;
		switch (class->operator[producer].kind) {
		case IR_LINEAR:
			return producer;
		case IR_RMSNORM:
		case IR_LAYERNORM:
		case IR_GELU:
		case IR_SILU:
		case IR_RELU:
			value = class->operator[producer].input[0];
			break;
		default:
			return IR_NONE;
		}
	}
	return IR_NONE;
}

static void join(struct counting *counting, uint32_t a, uint32_t b)
{
	uint32_t *first = counting->first;
	uint32_t earlier = first[a] < first[b] ? first[a] : first[b];

	first[a] = earlier;
	first[b] = earlier;
}

/* Products that read the same value and meet in an attention or at a gate are one. */
static void join_inputs(struct counting *counting, const struct ir_operator *meeting)
{
	const struct ir_class *class = counting->class;
	uint32_t product[OPERATOR_INPUT_MAX];

	for (uint32_t i = 0; i < meeting->input_count; i++) {
		product[i] = product_behind(class, meeting->input[i]);
		for (uint32_t j = 0; j < i && product[i] != IR_NONE; j++) {
			if (product[j] != IR_NONE &&
			    class->operator[product[i]].input[0] ==
				    class->operator[product[j]].input[0])
				join(counting, product[i], product[j]);
		}
	}
}

/* The rotary part of a latent's keys comes out of the product that makes the latent. */
static void join_shared_key(struct counting *counting,
			    const struct ir_operator *attention)
{
	const struct ir_class *class = counting->class;
	uint32_t shared, key, latent;

	if (attention->kind != IR_ATTENTION || attention->input_count <= 3)
		return;
	shared = product_behind(class, attention->input[3]);
	key = product_behind(class, attention->input[1]);
	if (shared == IR_NONE || key == IR_NONE)
		return;
	latent = product_behind(class, class->operator[key].input[0]);
	if (latent != IR_NONE &&
	    class->operator[latent].input[0] == class->operator[shared].input[0])
		join(counting, shared, latent);
}

static void join_products(struct counting *counting)
{
	const struct ir_class *class = counting->class;

	for (uint32_t i = 0; i < class->operator_count; i++)
		counting->first[i] = i;
	if (counting->ir->job.target != IR_TARGET_MEGATRON)
		return;
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (class->operator[i].kind == IR_ATTENTION ||
		    class->operator[i].kind == IR_MULTIPLY) {
			join_inputs(counting, &class->operator[i]);
			join_shared_key(counting, &class->operator[i]);
		}
}

/* ---- matrices ---- */

/* A collective of a group packed into the innermost levels, beside others like it. */
static double packed_s(const struct ir_topology *topology, double members,
		       enum collective kind, double bytes)
{
	struct problem problem = { .level_count = topology->level_count };
	uint64_t left = (uint64_t)llround(members), used = 1;
	struct group_shape group;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		uint64_t fanout = 1, part;

		if (l < topology->level_count) {
			problem.level[l] = topology->level[l].network;
			fanout = problem.level[l].fanout;
		}
		part = common_divisor(left, fanout);
		if (l + 1 == topology->level_count)
			part = left;
		group.members[l] = (uint32_t)part;
		group.used[l] = (uint32_t)used;
		group.apart[l] = 1;
		left /= part;
		used *= fanout;
	}
	return network_collective(&problem, &group, kind, bytes, NULL);
}

/* All ranks of a group at once, each with `cut` of the side that is cut. */
static double distributed_s(const struct ir_topology *topology, double whole,
			    double cut, double members)
{
	const struct ir_device *device = &topology->device;

	return NEWTON_SCHULZ_ITERATIONS *
	       (operator_time_gemm(device, IR_BF16, whole, cut, whole) +
		operator_time_gemm(device, IR_BF16, whole, whole, whole) +
		operator_time_gemm(device, IR_BF16, whole, whole, cut) +
		packed_s(topology, members, COLLECTIVE_ALL_REDUCE,
			 2 * whole * whole));
}

static double step_s(const struct counting *counting, const struct kept_matrix *part)
{
	const struct ir_topology *topology = &counting->ir->topology;
	double own = part->from * part->to;
	double all = part->whole_from * part->whole_to, members = all / own;
	double own_s = own * counting->s_per_parameter;
	bool from_cut = part->whole_from > part->from;

	switch (members > 1 ? counting->ir->job.muon_mode : IR_MUON_BLOCKWISE) {
	case IR_MUON_DUPLICATED:
		return matrix_orthogonalise_s(&topology->device, part->whole_from,
					      part->whole_to) +
		       packed_s(topology, members, COLLECTIVE_ALL_GATHER, 4 * all) +
		       (all - own) * TRAINING_ORTHOGONALISE_BYTES *
			       counting->s_per_byte + own_s;
	case IR_MUON_DISTRIBUTED:
		return distributed_s(topology, from_cut ? part->to : part->from,
				     from_cut ? part->from : part->to, members) +
		       own_s;
	default:
		return matrix_orthogonalise_s(&topology->device, part->from,
					      part->to) + own_s;
	}
}

static void add_part(struct counting *counting, uint32_t index)
{
	const struct operator_cost *cost = &counting->result->operator[index];
	const struct ir_operator *operator = &counting->class->operator[index];
	struct kept_matrix *kept = &counting->kept[counting->first[index]];
	struct kept_matrix part = {
		.from = cost->weight_from,
		.to = cost->weight_to,
		.whole_from = (double)ir_extent_size(counting->class, &operator->from),
		.whole_to = (double)ir_extent_size(counting->class, &operator->to),
	};

	kept->from = part.from;
	kept->whole_from = part.whole_from;
	kept->to += part.to;
	kept->whole_to += part.whole_to;
	kept->elements += part.from * part.to;
	kept->step_s += step_s(counting, &part);
	kept->parts++;
}

static void add_matrices(const struct kept_matrix *kept, double count,
			 struct problem_apart *to)
{
	to->parameters += count * kept->elements;
	to->step_s += count * kept->step_s;
	to->largest = fmax(to->largest, kept->elements);
	to->largest_step_s = fmax(to->largest_step_s, kept->step_s);
}

void matrices_fill(const struct ir *ir, const struct ir_class *class,
		   const struct layout_result *result, double step_bytes,
		   double bandwidth_Bps, struct arena *scratch,
		   struct problem_weight *weight)
{
	struct counting counting = {
		.ir = ir,
		.class = class,
		.result = result,
		.s_per_parameter = step_bytes / bandwidth_Bps,
		.s_per_byte = 1 / bandwidth_Bps,
		.first = ARENA_ARRAY(scratch, uint32_t, class->operator_count),
		.kept = ARENA_ARRAY(scratch, struct kept_matrix,
				    class->operator_count),
	};

	join_products(&counting);
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (operator_has_matrix(&class->operator[i]))
			add_part(&counting, i);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct operator_cost *cost = &result->operator[i];
		struct kept_matrix *kept = &counting.kept[i];

		if (!kept->parts)
			continue;
		if (kept->parts == 2)	/* all but query, key and value */
			kept->step_s = step_s(&counting, kept);
		add_matrices(kept, cost->weight_count,
			     cost->is_expert ? &weight->expert_apart :
					       &weight->apart);
	}
}

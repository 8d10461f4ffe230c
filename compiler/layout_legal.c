/* SPDX-License-Identifier: MIT
 *
 * Which degrees a layer class can be cut by.
 */
#include <stddef.h>
#include <string.h>

#include "compiler/layout_walk.h"

bool layout_is_sequence_axis(const struct ir_axis *axis)
{
	return axis->split == IR_SPLIT_CONTEXT || strcmp(axis->name, "seq") == 0;
}

uint32_t layout_sequence_axis(const struct ir_class *class)
{
	for (uint32_t i = 0; i < class->axis_count; i++)
		if (layout_is_sequence_axis(&class->axis[i]))
			return i;
	return IR_NONE;
}

static bool divides(const struct ir_axis *axis, uint32_t degree)
{
	if (axis->pad)
		return true;
	if (axis->replicable && axis->size && degree % axis->size == 0)
		return true;
	return axis->size % degree == 0;
}

static bool refuse(const struct ir_axis *of, uint32_t by,
		   const struct ir_axis **axis, uint32_t *degree)
{
	if (axis)
		*axis = of;
	if (degree)
		*degree = by;
	return false;
}

/* Experts are shared out whole, and cut only where their template says so. */
static bool experts_are_legal(const struct ir_class *class,
			      const struct problem_shape *shape,
			      const struct ir_axis **axis, uint32_t *degree)
{
	const struct ir_operator *router = ir_find_operator(class, IR_ROUTER);
	const struct ir_axis *experts;
	bool cut = shape->expert_tensor == 1;

	if (!router)
		return true;
	experts = &class->axis[router->to.term[0].axis[0]];
	if (shape->expert > 1 && experts->split != IR_SPLIT_EXPERT)
		return refuse(NULL, shape->expert, axis, degree);
	for (uint32_t i = 0; i < class->axis_count; i++) {
		const struct ir_axis *one = &class->axis[i];

		if (one->split == IR_SPLIT_EXPERT && !divides(one, shape->expert))
			return refuse(one, shape->expert, axis, degree);
		if (one->split != IR_SPLIT_EXPERT_TENSOR)
			continue;
		cut = true;
		if (!divides(one, shape->expert_tensor))
			return refuse(one, shape->expert_tensor, axis, degree);
	}
	if (!cut)
		return refuse(NULL, shape->expert_tensor, axis, degree);
	return shape->tensor == 1 || shape->sequence ||
	       refuse(NULL, shape->tensor, axis, degree);
}

bool layout_is_legal(const struct ir_class *class, const struct ir_model *model,
		     const struct problem_shape *shape,
		     const struct ir_axis **axis, uint32_t *degree)
{
	uint32_t sequence = layout_sequence_axis(class);
	uint64_t pieces = shape->context > 1 ? 2ull * shape->context : 1;
	uint64_t tokens = model->sequence_length;

	for (uint32_t i = 0; i < class->axis_count; i++) {
		const struct ir_axis *cut = &class->axis[i];

		if (cut->split == IR_SPLIT_TENSOR && !divides(cut, shape->tensor))
			return refuse(cut, shape->tensor, axis, degree);
	}
	if (!experts_are_legal(class, shape, axis, degree))
		return false;
	if (sequence == IR_NONE)
		return shape->context == 1 && !shape->sequence ? true :
		       refuse(NULL, shape->context, axis, degree);
	if (shape->context > 1 &&
	    (class->axis[sequence].split != IR_SPLIT_CONTEXT ||
	     tokens % pieces != 0))
		return refuse(&class->axis[sequence], shape->context, axis,
			      degree);
	if (!shape->sequence)
		return true;
	if (shape->tensor == 1 || tokens / shape->context % shape->tensor != 0)
		return refuse(&class->axis[sequence], shape->tensor, axis,
			      degree);
	return true;
}

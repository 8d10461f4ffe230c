/* SPDX-License-Identifier: MIT
 *
 * Inference of layouts: how axes are cut, and the steps in order.
 */
#include "compiler/layout.h"

#include "compiler/layout_walk.h"

double layout_element_bytes(enum ir_precision precision)
{
	return precision == IR_FP32 ? 4 : 2;
}

/* Ranks that cut the axis. */
static uint32_t axis_degree(const struct problem_shape *shape,
			    const struct ir_axis *axis)
{
	if (axis->split == IR_SPLIT_TENSOR)
		return shape->tensor;
	return axis->split == IR_SPLIT_EXPERT_TENSOR ? shape->expert_tensor : 1;
}

static uint64_t padded_size(const struct ir_axis *axis, uint32_t degree)
{
	uint64_t unit = (uint64_t)axis->pad * degree;

	if (axis->pad == 0 || (axis->split != IR_SPLIT_TENSOR &&
			       axis->split != IR_SPLIT_EXPERT_TENSOR))
		return axis->size;
	return (axis->size + unit - 1) / unit * unit;
}

static struct axis_state axis_state(const struct layout_walk *walk,
				    const struct ir_axis *axis)
{
	uint32_t tensor = walk->shape->tensor;
	uint32_t degree = axis_degree(walk->shape, axis);
	struct axis_state state = { 0 };

	state.whole = padded_size(axis, degree);
	state.is_sequence = layout_is_sequence_axis(axis);
	if (axis->split == IR_SPLIT_DATA)
		state.whole = walk->shape->micro_batch;
	else if (state.is_sequence)
		state.whole /= walk->shape->context;
	state.cut = state.whole;
	state.by_sequence = state.is_sequence ? state.whole / tensor :
						state.whole;
	if (degree == 1)
		return state;
	state.is_cut = true;
	state.cut = axis->replicable && axis->size < degree ?
			    1 : state.whole / degree;
	return state;
}

static void walk_init(struct layout_walk *walk)
{
	const struct ir_class *class = walk->class;
	uint32_t chosen = ir_recompute_modules(&walk->ir->job);
	uint32_t *modules = recompute_modules_of(class, walk->arena);

	walk->axis = ARENA_ARRAY(walk->arena, struct axis_state,
				 class->axis_count);
	for (uint32_t i = 0; i < class->axis_count; i++)
		walk->axis[i] = axis_state(walk, &class->axis[i]);
	walk->value = ARENA_ARRAY(walk->arena, struct value_state,
				  class->value_count);
	walk->operator = ARENA_ARRAY(walk->arena, struct operator_state,
				     class->operator_count);
	walk->result->operator = ARENA_ARRAY(walk->arena, struct operator_cost,
					     class->operator_count);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct ir_operator *operator = &class->operator[i];

		walk->operator[i].module =
			recompute_module_chosen(modules[i], chosen);
		for (uint32_t j = 0; j < operator->input_count; j++) {
			walk->value[operator->input[j]].uses++;
			walk->value[operator->input[j]].last_use = i;
		}
	}
}

void layout_infer(const struct ir *ir, uint32_t class_index,
		  const struct problem_shape *shape, struct arena *arena,
		  struct layout_result *result)
{
	struct layout_walk walk = {
		.ir = ir,
		.class = &ir->model.class[class_index],
		.shape = shape,
		.arena = arena,
		.result = result,
		.sequence = shape->sequence && shape->tensor > 1,
		.element_bytes = layout_element_bytes(ir->job.precision),
	};

	*result = (struct layout_result){ 0 };
	walk_init(&walk);
	layout_walk_fusion(&walk);
	layout_walk_values(&walk);
	layout_walk_costs(&walk);
	layout_walk_hidden(&walk);
	layout_walk_redone(&walk);
	layout_walk_saved(&walk);
	result->inferred = walk.inferred.at;
	result->inferred_count = (uint32_t)walk.inferred.count;
}

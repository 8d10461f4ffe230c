/* SPDX-License-Identifier: MIT
 *
 * Which operators run inside another's kernel, and which products are one.
 */
#include "compiler/layout_walk.h"

static const struct ir_operator *only_reader(const struct layout_walk *walk,
					     uint32_t value)
{
	const struct value_state *state = &walk->value[value];

	if (state->uses != 1 || value == walk->class->output)
		return NULL;
	return &walk->class->operator[state->last_use];
}

static enum product product_kind(const struct layout_walk *walk,
				 const struct ir_operator *operator)
{
	if (layout_cut_axis(walk, &operator->to) != IR_NONE)
		return PRODUCT_COLUMN;
	if (layout_cut_axis(walk, &operator->from) != IR_NONE)
		return PRODUCT_ROW;
	return PRODUCT_PLAIN;
}

/* The first product of equal kind over the same value. The head is alone. */
static uint32_t find_leader(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t *leader = &walk->value[operator->input[0]]
				    .leader[walk->operator[index].product];

	if (operator->kind == IR_LM_HEAD)
		return index;
	if (*leader == 0)
		*leader = index + 1;
	return *leader - 1;
}

void layout_walk_fusion(struct layout_walk *walk)
{
	for (uint32_t i = 0; i < walk->class->operator_count; i++) {
		const struct ir_operator *operator = &walk->class->operator[i];
		struct operator_state *state = &walk->operator[i];
		const struct ir_operator *reader =
			only_reader(walk, operator->output);

		state->leader = i;
		if (layout_is_product(operator)) {
			state->product = product_kind(walk, operator);
			state->leader = find_leader(walk, i);
		}
		if (!reader)
			continue;
		if (layout_is_activation(operator))
			state->is_fused = reader->kind == IR_MULTIPLY;
		if (operator->kind == IR_DROPOUT && reader->kind == IR_ADD) {
			state->is_fused = true;
			walk->operator[reader - walk->class->operator]
				.takes_dropout = true;
		}
	}
}

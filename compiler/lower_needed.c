/* SPDX-License-Identifier: MIT
 *
 * What the result of a template needs becomes the class, with new numbers: branches
 * that were not taken may have left operators nobody needs, and axes nothing has.
 */
#include "compiler/lower_template.h"

/* Marks what the result needs, from last to first: operators are in order. */
static void mark_needed(const struct template *template, bool *value_needed)
{
	value_needed[template->output] = true;
	for (size_t i = template->operator.count; i-- > 0;) {
		const struct ir_operator *operator = &template->operator.at[i];

		if (!value_needed[operator->output])
			continue;
		for (uint32_t j = 0; j < operator->input_count; j++)
			value_needed[operator->input[j]] = true;
	}
}

static void mark_axes(const struct ir_extent *extent, bool *needed)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			needed[extent->term[i].axis[j]] = true;
}

static void number_axes(struct ir_extent *extent, const uint32_t *number)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			extent->term[i].axis[j] = number[extent->term[i].axis[j]];
}

/* Drops axes that nothing has: one that is only split must not restrict how
 * the layer is cut. Their order stays, so that normal forms do. */
static void keep_axes(struct template *template, struct ir_class *class)
{
	bool needed[AXES_MAX] = { [AXIS_BATCH] = true, [AXIS_SEQ] = true };
	uint32_t number[AXES_MAX];

	for (uint32_t i = 0; i < class->value_count; i++)
		for (uint32_t j = 0; j < class->value[i].rank; j++)
			mark_axes(&class->value[i].extent[j], needed);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		mark_axes(&class->operator[i].from, needed);
		mark_axes(&class->operator[i].to, needed);
	}
	class->axis = ARENA_ARRAY(template->lower->arena, struct ir_axis,
				  template->axis.count);
	for (size_t i = 0; i < template->axis.count; i++) {
		number[i] = class->axis_count;
		if (needed[i])
			class->axis[class->axis_count++] = template->axis.at[i];
	}
	for (uint32_t i = 0; i < class->value_count; i++)
		for (uint32_t j = 0; j < class->value[i].rank; j++)
			number_axes(&class->value[i].extent[j], number);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		struct ir_operator *operator = &class->operator[i];

		number_axes(&operator->from, number);
		number_axes(&operator->to, number);
		if (operator->kind != IR_ATTENTION)
			continue;
		/* The inputs have these, so they are kept. */
		operator->heads_axis = number[operator->heads_axis];
		operator->kv_heads_axis = number[operator->kv_heads_axis];
	}
}

void template_keep_needed(struct template *template, struct ir_class *class)
{
	struct arena *arena = template->lower->arena;
	size_t values = template->value.count;
	bool *needed = ARENA_ARRAY(arena, bool, values);
	uint32_t *number = ARENA_ARRAY(arena, uint32_t, values);
	uint32_t *router = ARENA_ARRAY(arena, uint32_t, template->operator.count);

	mark_needed(template, needed);
	class->value = ARENA_ARRAY(arena, struct ir_value, values);
	class->operator = ARENA_ARRAY(arena, struct ir_operator,
				      template->operator.count);
	for (size_t i = 0; i < values; i++) {
		number[i] = class->value_count;
		if (needed[i])
			class->value[class->value_count++] = template->value.at[i];
	}
	for (size_t i = 0; i < template->operator.count; i++) {
		struct ir_operator operator = template->operator.at[i];

		if (!needed[operator.output])
			continue;
		for (uint32_t j = 0; j < operator.input_count; j++)
			operator.input[j] = number[operator.input[j]];
		operator.output = number[operator.output];
		class->value[operator.output].producer = class->operator_count;
		router[i] = class->operator_count;
		class->operator[class->operator_count++] = operator;
	}
	for (uint32_t i = 0; i < class->value_count; i++)
		if (class->value[i].router != IR_NONE)
			class->value[i].router = router[class->value[i].router];
	class->tokens = IR_NONE;
	if (template->tokens != IR_NONE && needed[template->tokens])
		class->tokens = number[template->tokens];
	class->input = IR_NONE;
	if (template->input != IR_NONE && needed[template->input])
		class->input = number[template->input];
	class->output = number[template->output];
	keep_axes(template, class);
}

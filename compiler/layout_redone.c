/* SPDX-License-Identifier: MIT
 *
 * What selective recomputation does again: the work of the operators of the
 * chosen modules, and the forward collectives within them. What is saved gathered
 * is not gathered again.
 */
#include "compiler/layout_walk.h"

/* Work of one operator that is done again. The rotation of queries and keys is
 * the attention operator's but belongs to the products before it. */
static double redone_s(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct operator_state *state = &walk->operator[index];
	double forward_s = walk->result->operator[index].forward_s;
	uint32_t producer;
	double again_s = 0;

	if (operator->kind != IR_ATTENTION)
		return state->module == RECOMPUTE_MODULE_COUNT ? 0 : forward_s;
	if (state->module != RECOMPUTE_MODULE_COUNT)
		again_s += state->core_forward_s;
	producer = walk->class->value[operator->input[0]].producer;
	if (producer != IR_NONE &&
	    walk->operator[producer].module != RECOMPUTE_MODULE_COUNT)
		again_s += forward_s - state->core_forward_s;
	return again_s;
}

static bool is_redone(const struct layout_walk *walk,
		      const struct inferred *inferred)
{
	enum recompute_module module;
	uint32_t producer;

	if (inferred->backward || inferred->operator == IR_NONE)
		return false;
	module = walk->operator[inferred->operator].module;
	if (module == RECOMPUTE_MODULE_COUNT)
		return false;
	producer = walk->class->value[inferred->value].producer;
	if (inferred->group == GROUP_CONTEXT ||
	    (producer != IR_NONE && walk->operator[producer].module == module))
		return true;
	return !walk->value[inferred->value].saved_whole;
}

void layout_walk_redone(struct layout_walk *walk)
{
	for (uint32_t i = 0; i < walk->class->operator_count; i++)
		walk->result->selective_forward_s += redone_s(walk, i);
	for (size_t i = 0; i < walk->inferred.count; i++)
		walk->inferred.at[i].selective =
			is_redone(walk, &walk->inferred.at[i]);
}

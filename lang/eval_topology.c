/* SPDX-License-Identifier: MIT
 *
 * Topologies: their levels, and the members computed from these.
 */
#include "lang/eval_record.h"
#include "lang/network_graph.h"

void maker_level(struct maker *maker, const struct ast *item)
{
	const struct ast *label = item->child[0];
	struct diags *diags = &maker->eval->compilation->diags;
	struct record *level;

	for (size_t i = 0; i < maker->part.count; i++) {
		if (maker->part.at[i]->name != label->name)
			continue;
		maker->ok = diag_error(diags, E_DUPLICATE_NAME, label->span,
				       "the level '%s' is given twice",
				       label->name);
		diag_label(diags, maker->part.at[i]->span, "given here first");
		return;
	}
	if (!maker_block_record(maker, item->child[1], RECORD_LEVEL,
				label->name, item, &level))
		maker->ok = false;
	if (level->part_count && maker->part.count) {
		maker->ok = diag_error(diags, E_CHILDREN, label->span,
				       "the children of '%s' bring their own levels, and another is written before it",
				       label->name);
		diag_label(diags, maker->part.at[0]->span, "this one");
		diag_help(diags, "write '%s' in a topology of its own, and that in 'children'",
			  maker->part.at[0]->name);
	}
	VEC_PUSH(&maker->part, arena_of(maker->eval), level);
	VEC_PUSH(&maker->repeat, arena_of(maker->eval), 1);
}

/* What a level joins: its fanout, or the product of its torus; where children
 * differ, all their devices. */
static bool level_children(struct eval *eval, const struct record *level,
			   double *children)
{
	const struct field *torus = record_find(
		level, intern_string(&eval->compilation->intern, "torus"));

	*children = 1;
	if (level->part_count)
		return eval_children_devices(eval, level, children);
	if (!torus)
		return eval_field_number(eval, level, "fanout", UNIT_NONE, true,
					 children);
	if (torus->value->kind != VALUE_LIST)
		return torus->value->kind != VALUE_ERROR &&
		       eval_wrong_kind(eval, torus->value, torus->span,
				       "'torus'", "a list such as [4, 4, 4]");
	for (uint32_t i = 0; i < torus->value->item_count; i++) {
		const struct value *item = &torus->value->item[i];

		if (!value_is_integer(item) || item->number < 1)
			return eval_wrong_kind(eval, item, torus->span,
					       "a size of 'torus'",
					       "a whole number from 1");
		*children *= item->number;
	}
	return true;
}

/* topology.devices: the product of all fanouts. */
bool eval_topology_devices(struct eval *eval, const struct record *topology,
			   struct span span, struct value *value)
{
	double devices = 1;

	if (topology->graph)
		return eval_finish_number(eval, topology->graph->device_count,
					  UNIT_NONE, span, value);
	for (uint32_t i = 0; i < topology->part_count; i++) {
		double children;

		if (!level_children(eval, topology->part[i], &children))
			return false;
		devices *= children;
	}
	return eval_finish_number(eval, devices, UNIT_NONE, span, value);
}

void eval_topology_levels(struct eval *eval, const struct record *topology,
			  struct span span, struct value *value)
{
	struct value *item = ARENA_ARRAY(arena_of(eval), struct value,
					 topology->part_count);

	for (uint32_t i = 0; i < topology->part_count; i++) {
		item[i].kind = VALUE_RECORD;
		item[i].record = topology->part[i];
		item[i].span = span;
	}
	value->kind = VALUE_LIST;
	value->item = item;
	value->item_count = topology->part_count;
}

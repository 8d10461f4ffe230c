/* SPDX-License-Identifier: MIT
 *
 * From the name of a part to its devices.
 */
#include "compiler/place_part.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Stands for single devices where a level stands for groups. */
#define DEVICE_WORD "device"

/* Ranges of one rule. */
#define RANGES_MAX 65536

static bool is_level(const char *level, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(level, name, length) &&
	       (level[length] == '\0' || level[length] == '.');
}

bool place_level(const struct ir_topology *topology, const char *name,
		 uint32_t *above)
{
	*above = 0;
	for (uint32_t l = 0; l < topology->level_count; l++)
		if (is_level(topology->level[l].name, name))
			*above = l + 1;
	return *above != 0;
}

bool place_no_level(struct lower *lower, const char *name, struct span span)
{
	const struct ir_topology *topology = &lower->ir->topology;
	const char *names[LEVEL_MAX + 1];
	struct text list;

	text_init(&list, lower->arena);
	for (uint32_t l = 0; l < topology->level_count; l++) {
		names[l] = topology->level[l].name;
		text_printf(&list, "%s'%s'", l ? ", " : "", names[l]);
	}
	names[topology->level_count] = DEVICE_WORD;
	diag_error(lower->diags, E_PLACE, span, "the topology has no level '%s'",
		   name);
	diag_note(lower->diags, topology->span,
		  "the topology is this one; its levels are %s", list.at);
	lower_suggest(lower, name, names, topology->level_count + 1);
	return false;
}

bool place_is_part(const struct ast *expression)
{
	return expression->kind == AST_INDEX || expression->kind == AST_MEMBER ||
	       expression->kind == AST_LIST || expression->kind == AST_SET;
}

static bool push_range(struct lower *lower, struct span span, uint32_t first,
		       uint32_t count, struct device_ranges *out)
{
	struct device_range *last = out->range.count ?
		&out->range.at[out->range.count - 1] : NULL;
	struct device_range range = { first, count };

	if (last && last->first + last->count == first) {
		last->count += count;
		return true;
	}
	if (out->range.count == RANGES_MAX)
		return diag_error(lower->diags, E_PLACE, span,
				  "a place rule names at most %d ranges of devices",
				  RANGES_MAX);
	VEC_PUSH(&out->range, lower->arena, range);
	return true;
}

/* ---- indices ---- */

static bool push_number(struct lower *lower, const struct value *value,
			struct span span, uint32_t limit, const char *what,
			struct device_ranges *numbers)
{
	if (!value_is_integer(value) || value->number < 0)
		return diag_error(lower->diags, E_PLACE, span,
				  "an index of '%s' is a whole number from 0 on",
				  what);
	if (value->number >= limit) {
		diag_error(lower->diags, E_PLACE, span,
			   "there is no %s[%.0f]: the last one is %s[%u]", what,
			   value->number, what, limit - 1);
		return false;
	}
	return push_range(lower, span, (uint32_t)value->number, 1, numbers);
}

bool place_numbers(struct lower *lower, const struct ast *index, uint32_t limit,
		   const char *what, struct device_ranges *numbers)
{
	struct value value;
	uint64_t count;

	if (!eval_expression(&lower->eval, lower->scope, index, &value) ||
	    value.kind == VALUE_ERROR)
		return false;
	if (!value_count(&value, &count))
		return push_number(lower, &value, index->span, limit, what,
				   numbers);
	if (!count || count > limit)
		return diag_error(lower->diags, E_PLACE, index->span,
				  "'%s' takes from 1 to %u indices here, and these are %" PRIu64,
				  what, limit, count);
	for (uint64_t i = 0; i < count; i++) {
		struct value element = value_at(&value, i);

		if (!push_number(lower, &element, index->span, limit, what,
				 numbers))
			return false;
	}
	return true;
}

/* ---- parts ---- */

/* Devices of one thing that a word stands for: an instance of a level, or a
 * device. */
static bool word_size(struct lower *lower, const char *name, struct span span,
		      uint32_t *size)
{
	const struct ir_topology *topology = &lower->ir->topology;
	uint32_t above;

	*size = 1;
	if (!place_level(topology, name, &above)) {
		if (!strcmp(name, DEVICE_WORD))
			return true;
		return place_no_level(lower, name, span);
	}
	for (uint32_t l = 0; l < above; l++)
		*size *= topology->level[l].network.fanout;
	return true;
}

static bool part_of(struct lower *lower, const struct ast *expression,
		    struct device_ranges *out);

/* `node[3]` within the whole cluster, or within each of some parts. */
static bool indexed(struct lower *lower, const char *name, struct span name_span,
		    const struct ast *index, const struct device_ranges *around,
		    uint32_t around_size, struct device_ranges *out)
{
	struct device_ranges numbers = { { 0 } };
	uint32_t size;

	if (!word_size(lower, name, name_span, &size))
		return false;
	if (size >= around_size && around->range.count &&
	    around_size < lower->ir->topology.device_count)
		return diag_error(lower->diags, E_PLACE, name_span,
				  "'%s' is no part of what stands before it",
				  name);
	if (!place_numbers(lower, index, around_size / size, name, &numbers))
		return false;
	for (size_t i = 0; i < around->range.count; i++)
		for (uint32_t at = 0; at < around->range.at[i].count;
		     at += around_size)
			for (size_t j = 0; j < numbers.range.count; j++)
				if (!push_range(lower, index->span,
						around->range.at[i].first + at +
							numbers.range.at[j].first * size,
						numbers.range.at[j].count * size,
						out))
					return false;
	return true;
}

/* Devices of one of the things that `base[..]` names. */
static bool base_size(struct lower *lower, const struct ast *base, uint32_t *size)
{
	const struct ast *name = base->child[0];

	return word_size(lower, name->name,
			 name->kind == AST_MEMBER ? name->name_span : name->span,
			 size);
}

static bool not_a_part(struct lower *lower, const struct ast *expression)
{
	diag_error(lower->diags, E_PLACE, expression->span,
		   "this names no part of the cluster");
	diag_help(lower->diags,
		  "write for instance node[17], node[0 .. 3], rack[2].node[1] or device[5]");
	return false;
}

/* ---- nodes of a graph, by the names that the spec gives them ---- */

/* Indices of a name, `host[1][0]`. */
#define INDICES_MAX 8

struct node_part {
	const char *name;
	struct device_ranges index[INDICES_MAX];
	uint32_t count;
};

static bool has_number(const struct device_ranges *numbers, unsigned long number)
{
	for (size_t i = 0; i < numbers->range.count; i++)
		if (number >= numbers->range.at[i].first &&
		    number - numbers->range.at[i].first < numbers->range.at[i].count)
			return true;
	return false;
}

/* Whether a device, "host[1][0]/gpu5", is of a node called so; of the first `indices`
 * of the part, the node may have more. */
static bool is_of_node(const char *device, const struct node_part *part,
		       uint32_t indices)
{
	size_t length = strlen(part->name);

	if (strncmp(device, part->name, length))
		return false;
	device += length;
	for (uint32_t i = 0; i < indices; i++) {
		char *end;
		unsigned long number;

		if (*device != '[')
			return false;
		number = strtoul(device + 1, &end, 10);
		if (*end != ']' || !has_number(&part->index[i], number))
			return false;
		device = end + 1;
	}
	return *device == '\0' || *device == '[' || *device == '/';
}

static bool any_of_node(const struct ir_graph *graph, const struct node_part *part,
			uint32_t indices)
{
	for (uint32_t d = 0; d < graph->graph.device_count; d++)
		if (is_of_node(graph->device_name[d], part, indices))
			return true;
	return false;
}

/* The name below all indices; NULL if there is none. */
static const char *node_name(const struct ast *expression)
{
	while (expression->kind == AST_INDEX)
		expression = expression->child[0];
	return expression->kind == AST_NAME ? expression->name : NULL;
}

static bool read_indices(struct lower *lower, const struct ast *expression,
			 struct node_part *part)
{
	bool good;

	if (expression->kind != AST_INDEX)
		return true;
	if (!lower_enter(lower, expression->span))
		return false;
	good = read_indices(lower, expression->child[0], part);
	lower_leave(lower);
	if (!good)
		return false;
	if (part->count == INDICES_MAX)
		return diag_error(lower->diags, E_PLACE, expression->span,
				  "a node has at most %d indices", INDICES_MAX);
	return place_numbers(lower, expression->child[1], UINT32_MAX, part->name,
			     &part->index[part->count++]);
}

/* The devices of nodes called so, in the order of the levels. */
static bool nodes_of(struct lower *lower, const struct ast *expression,
		     struct node_part *part, struct device_ranges *out)
{
	const struct ir_graph *graph = lower->ir->topology.graph;

	if (!read_indices(lower, expression, part))
		return false;
	if (!any_of_node(graph, part, part->count)) {
		diag_error(lower->diags, E_PLACE, expression->span,
			   "no node of the topology is called so");
		diag_help(lower->diags,
			  "nodes have the names and indices that the topology gives them; the "
			  "first device is '%s'", graph->device_name[0]);
		return false;
	}
	for (uint32_t i = 0; i < lower->ir->topology.device_count; i++)
		if (is_of_node(graph->device_name[graph->device[i]], part,
			       part->count) &&
		    !push_range(lower, expression->span, i, 1, out))
			return false;
	return true;
}

/* ---- parts of both kinds ---- */

static bool part_of(struct lower *lower, const struct ast *expression,
		    struct device_ranges *out)
{
	struct node_part part = { .name = node_name(expression) };
	const struct ast *base;
	struct device_ranges around = { { 0 } };
	uint32_t size = lower->ir->topology.device_count;

	if (expression->kind != AST_INDEX)
		return not_a_part(lower, expression);
	if (lower->ir->topology.graph && part.name &&
	    any_of_node(lower->ir->topology.graph, &part, 0))
		return nodes_of(lower, expression, &part, out);
	base = expression->child[0];
	if (base->kind == AST_NAME) {
		struct device_range all = { 0, size };

		VEC_PUSH(&around.range, lower->arena, all);
		return indexed(lower, base->name, base->span,
			       expression->child[1], &around, size, out);
	}
	if (base->kind != AST_MEMBER || base->child[0]->kind != AST_INDEX)
		return not_a_part(lower, expression);
	if (!lower_enter(lower, base->span))
		return false;
	if (!part_of(lower, base->child[0], &around)) {
		lower_leave(lower);
		return false;
	}
	lower_leave(lower);
	return base_size(lower, base->child[0], &size) &&
	       indexed(lower, base->name, base->name_span, expression->child[1],
		       &around, size, out);
}

bool place_part(struct lower *lower, const struct ast *expression,
		struct device_ranges *out)
{
	uint32_t above;

	if (expression->kind == AST_NAME &&
	    place_level(&lower->ir->topology, expression->name, &above)) {
		diag_error(lower->diags, E_PLACE, expression->span,
			   "which '%s' is not said", expression->name);
		diag_help(lower->diags, "write for instance %s[0] or %s[0 .. 1]",
			  expression->name, expression->name);
		return false;
	}
	if (expression->kind == AST_NAME)
		return place_no_level(lower, expression->name, expression->span);
	if (expression->kind != AST_LIST && expression->kind != AST_SET)
		return part_of(lower, expression, out);
	for (uint32_t i = 0; i < expression->child_count; i++)
		if (!part_of(lower, expression->child[i], out))
			return false;
	return true;
}

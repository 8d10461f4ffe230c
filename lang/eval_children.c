/* SPDX-License-Identifier: MIT
 *
 * The children of a level that are not all alike:
 * `children = [16 * h100_node, 8 * a100_node]`. They become the parts of the
 * level's record, each a topology or a device with its number.
 */
#include <inttypes.h>
#include <string.h>

#include "lang/eval_record.h"

/* Most children that one `N *` may stand for. */
#define CHILDREN_MAX (1 << 20)

/* A misspelt one is no other field: `16 * node` means nothing elsewhere. */
bool maker_is_children(const struct maker *maker, const struct ast *item)
{
	if (maker->record->kind != RECORD_LEVEL)
		return false;
	return !strcmp(item->name, "children") ||
	       (item->child[0]->kind == AST_LIST &&
		diag_resembles(item->name, "children", NULL));
}

static bool name_is_right(struct maker *maker, const struct ast *item)
{
	struct diags *diags = &maker->eval->compilation->diags;

	if (!strcmp(item->name, "children"))
		return true;
	diag_error(diags, E_CHILDREN, item->name_span,
		   "a level has no field '%s'", item->name);
	diag_help(diags, "did you mean 'children'?");
	diag_fix(diags, item->name_span, "children");
	return false;
}

static bool is_child(const struct value *value)
{
	return value->kind == VALUE_RECORD &&
	       (value->record->kind == RECORD_TOPOLOGY ||
		value->record->kind == RECORD_DEVICE);
}

static bool refuse_child(struct eval *eval, const struct value *value,
			 struct span span)
{
	struct diags *diags = &eval->compilation->diags;

	if (value->kind == VALUE_ERROR)
		return false;
	diag_error(diags, E_CHILDREN, span,
		   "'children' holds topologies and devices, and this is %s",
		   eval_describe(eval, value));
	diag_help(diags,
		  "write for instance 'children = [16 * h100_node, 8 * a100_node]'");
	return false;
}

static bool push_child(struct maker *maker, const struct value *value,
		       uint32_t count, struct span span)
{
	struct eval *eval = maker->eval;
	const struct record *record = value->record;

	if (!is_child(value))
		return refuse_child(eval, value, span);
	if (record->kind == RECORD_TOPOLOGY && record->graph) {
		diag_error(&eval->compilation->diags, E_CHILDREN, span,
			   "'%s' is a graph, and a level cannot join graphs",
			   record->name);
		diag_help(&eval->compilation->diags,
			  "describe the whole cluster as one graph, or '%s' by its levels",
			  record->name);
		return false;
	}
	if (record->kind == RECORD_TOPOLOGY && record->part_count &&
	    record->part[0]->part_count) {
		diag_error(&eval->compilation->diags, E_CHILDREN, span,
			   "the children of '%s' are not alike either",
			   record->name);
		diag_help(&eval->compilation->diags,
			  "name all kinds at one level: the outermost");
		return false;
	}
	VEC_PUSH(&maker->part, arena_of(eval), value->record);
	VEC_PUSH(&maker->repeat, arena_of(eval), count);
	return true;
}

/* One element: `count * child`, in either order, or a child alone. */
static bool make_child(struct maker *maker, const struct ast *expression)
{
	struct eval *eval = maker->eval;
	const struct ast *child = expression, *times = NULL;
	int64_t count = 1;
	struct value value;

	if (!eval_step(eval, expression->span))
		return false;
	if (expression->kind == AST_BINARY && !strcmp(expression->name, "*")) {
		times = expression->child[0];
		child = expression->child[1];
		if (child->kind == AST_NUMBER) {
			times = expression->child[1];
			child = expression->child[0];
		}
	}
	if (times && !eval_integer(eval, maker->inside, times, 0, CHILDREN_MAX,
				   "the number of equal children", &count))
		return false;
	if (!eval_expression(eval, maker->inside, child, &value) ||
	    !eval_force(eval, child->span, &value))
		return false;
	return push_child(maker, &value, (uint32_t)count, child->span);
}

/* A list made elsewhere, such as an argument. */
static bool make_listed(struct maker *maker, const struct ast *expression)
{
	struct eval *eval = maker->eval;
	struct value list;

	if (!eval_expression(eval, maker->inside, expression, &list))
		return false;
	if (list.kind != VALUE_LIST)
		return refuse_child(eval, &list, expression->span);
	for (uint32_t i = 0; i < list.item_count; i++) {
		struct value item = list.item[i];

		if (!eval_step(eval, expression->span) ||
		    !eval_force(eval, expression->span, &item) ||
		    !push_child(maker, &item, 1, expression->span))
			return false;
	}
	return true;
}

/* The children as a value of the record, so that a person can look at them. */
static struct value children_value(struct maker *maker, struct span span)
{
	size_t count = maker->part.count;
	struct value *item = ARENA_ARRAY(arena_of(maker->eval), struct value,
					 count);

	for (size_t i = 0; i < count; i++)
		item[i] = (struct value){ .kind = VALUE_RECORD,
					  .span = span,
					  .record = maker->part.at[i] };
	return (struct value){ .kind = VALUE_LIST, .span = span, .item = item,
			       .item_count = (uint32_t)count };
}

/* A kind of which there are none keeps its place, for values listed by kind. */
static bool has_children(const struct maker *maker)
{
	for (size_t i = 0; i < maker->repeat.count; i++)
		if (maker->repeat.at[i])
			return true;
	return false;
}

/* `if` may choose between lists. */
static bool choose_list(struct maker *maker, const struct ast **expression)
{
	while ((*expression)->kind == AST_IF) {
		bool condition;

		if (!eval_boolean(maker->eval, maker->inside,
				  (*expression)->child[0],
				  "the condition of 'if'", &condition))
			return false;
		*expression = (*expression)->child[condition ? 1 : 2];
	}
	return true;
}

void maker_children(struct maker *maker, const struct ast *item)
{
	const struct ast *expression = item->child[0];
	struct diags *diags = &maker->eval->compilation->diags;
	bool good = name_is_right(maker, item) &&
		    choose_list(maker, &expression);

	maker->part.count = 0;
	maker->repeat.count = 0;
	if (good && expression->kind == AST_LIST)
		for (uint32_t i = 0; i < expression->child_count; i++)
			good = make_child(maker, expression->child[i]) && good;
	else if (good)
		good = make_listed(maker, expression);
	if (good && !has_children(maker)) {
		good = diag_error(diags, E_CHILDREN, expression->span,
				  "a level without children joins nothing");
		diag_help(diags,
			  "write for instance 'children = [16 * h100_node, 8 * a100_node]'");
	}
	maker->ok = good && maker->ok;
	maker_set(maker, item, good ? children_value(maker, expression->span) :
				      VALUE_FAILED);
}

bool eval_children_devices(struct eval *eval, const struct record *level,
			   double *devices)
{
	*devices = 0;
	for (uint32_t i = 0; i < level->part_count; i++) {
		struct value inner = { .kind = VALUE_NUMBER, .number = 1 };

		if (level->part[i]->kind == RECORD_TOPOLOGY &&
		    !eval_topology_devices(eval, level->part[i], level->span,
					   &inner))
			return false;
		*devices += inner.number * level->part_repeat[i];
	}
	return true;
}

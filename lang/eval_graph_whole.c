/* SPDX-License-Identifier: MIT
 *
 * A graph once its body has been read: the ends of links are looked up, since an
 * end may be declared further down, and what only the whole shows is checked.
 */
#include <stdlib.h>

#include "lang/eval_graph.h"

/* Wrong ends that are reported before the rest is passed over. */
#define WRONG_ENDS_MAX 5

static bool find_end(struct maker *maker, const struct pending_link *pending,
		     uint32_t which, uint32_t *vertex)
{
	struct graph_maker *graph = maker->graph;
	struct diags *diags = &maker->eval->compilation->diags;
	const char *name = which ? pending->to : pending->from;
	struct binding *binding = scope_find_here(graph->names, name);
	const struct ast *place = pending->item->child[which];
	const char *suggestion;

	if (binding) {
		*vertex = binding->index;
		return true;
	}
	diag_error(diags, E_GRAPH_END, place->span,
		   "there is no node or switch '%s'", name);
	suggestion = scope_suggest(graph->names, name);
	if (suggestion)
		diag_help(diags, "did you mean '%s'?", suggestion);
	else
		diag_help(diags, "declare it: 'switch %s'", name);
	return false;
}

/* An order in which links between the same vertices stand side by side. */
static int compare_links(const void *left, const void *right)
{
	const struct graph_link_item *const *a = left;
	const struct graph_link_item *const *b = right;
	uint32_t a_low = (*a)->from < (*a)->to ? (*a)->from : (*a)->to;
	uint32_t b_low = (*b)->from < (*b)->to ? (*b)->from : (*b)->to;
	uint32_t a_high = (*a)->from ^ (*a)->to ^ a_low;
	uint32_t b_high = (*b)->from ^ (*b)->to ^ b_low;

	if (a_low != b_low)
		return a_low < b_low ? -1 : 1;
	if (a_high != b_high)
		return a_high < b_high ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static bool is_second(const struct graph_link_item *a,
		      const struct graph_link_item *b)
{
	if (a->from == b->from && a->to == b->to)
		return true;
	return a->from == b->to && a->to == b->from &&
	       !(a->one_way && b->one_way);
}

static void check_twice(struct maker *maker,
			const struct graph_link_item *link, uint32_t count)
{
	struct arena *arena = arena_of(maker->eval);
	struct diags *diags = &maker->eval->compilation->diags;
	const struct graph_link_item **sorted =
		ARENA_ARRAY(arena, const struct graph_link_item *, count + 1);

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = &link[i];
	qsort(sorted, count, sizeof(*sorted), compare_links);
	for (uint32_t i = 1; i < count; i++) {
		const struct graph_link_item *a = sorted[i - 1], *b = sorted[i];

		if (!is_second(a, b))
			continue;
		maker->ok = diag_error(diags, E_GRAPH_TWICE, b->span,
				       "'%s' and '%s' are linked twice",
				       maker->graph->vertex.at[b->from].name,
				       maker->graph->vertex.at[b->to].name);
		if (a->span.begin != b->span.begin)
			diag_label(diags, a->span, "linked here first");
		diag_help(diags, "links side by side are one with 'count = 2'; "
			  "in a loop over pairs let the second index begin behind the first");
		return;
	}
}

static bool check_levels(struct maker *maker)
{
	struct diags *diags = &maker->eval->compilation->diags;

	if (!maker->part.count)
		return true;
	diag_error(diags, E_GRAPH_MIXED, maker->part.at[0]->span,
		   "topology '%s' has levels, and nodes or links as well",
		   maker->record->name);
	if (maker->graph->vertex.count)
		diag_label(diags, maker->graph->vertex.at[0].span,
			   "this makes it a graph");
	diag_help(diags, "a network is either levels or a graph");
	return false;
}

/* Two devices that were made apart may still be the same. */
static bool same_device(const struct record *a, const struct record *b)
{
	if (a == b)
		return true;
	if (a->name != b->name || a->field_count != b->field_count)
		return false;
	for (uint32_t i = 0; i < a->field_count; i++) {
		const struct value *x = a->field[i].value;
		const struct value *y = b->field[i].value;

		if (a->field[i].name != b->field[i].name || x->kind != y->kind)
			return false;
		if (x->kind == VALUE_RECORD ? !same_device(x->record, y->record) :
		    x->kind == VALUE_NUMBER && (x->number < y->number ||
						x->number > y->number))
			return false;
	}
	return true;
}

/* All nodes have one kind of device, which becomes the topology's. */
static bool settle_device(struct maker *maker)
{
	struct eval *eval = maker->eval;
	struct diags *diags = &eval->compilation->diags;
	struct ast *item = ast_new(arena_of(eval), AST_FIELD, SPAN_NONE);
	struct value value = { .kind = VALUE_RECORD };
	const struct graph_vertex *first = NULL;

	for (size_t i = 0; i < maker->graph->vertex.count; i++) {
		const struct graph_vertex *vertex = &maker->graph->vertex.at[i];

		if (!vertex->device)
			continue;
		if (!first)
			first = vertex;
		if (same_device(first->device, vertex->device))
			continue;
		diag_error(diags, E_GRAPH_NODE, vertex->device_span,
			   "'%s' is not the device of '%s': a graph has one kind of device",
			   vertex->name, first->name);
		diag_label(diags, first->device_span, "the other one");
		diag_help(diags, "give clusters of several kinds as levels with 'children'");
		return false;
	}
	if (!first) {
		diag_error(diags, E_GRAPH_NODE, maker->record->span,
			   "topology '%s' has no nodes", maker->record->name);
		diag_help(diags, "add for instance: node gpu[0] : h100_sxm");
		return false;
	}
	item->name = intern_string(&eval->compilation->intern, "device");
	item->span = value.span = first->device_span;
	value.record = first->device;
	if (!maker_find(maker, item->name))
		maker_set(maker, item, value);
	return true;
}

void maker_graph_finish(struct maker *maker)
{
	struct graph_maker *made = maker->graph;
	struct arena *arena = arena_of(maker->eval);
	struct network_graph *graph = ARENA_NEW(arena, struct network_graph);
	uint32_t count = (uint32_t)made->pending.count, wrong = 0;
	struct graph_link_item *link =
		ARENA_ARRAY(arena, struct graph_link_item, count + 1);

	graph->vertex = made->vertex.at;
	graph->vertex_count = (uint32_t)made->vertex.count;
	graph->device_count = made->device_count;
	maker->record->graph = graph;
	if (maker->ok)
		maker->ok = check_levels(maker) && settle_device(maker);
	/* What is missing after another mistake is no news. */
	if (!maker->ok)
		return;
	for (uint32_t i = 0; i < count && wrong < WRONG_ENDS_MAX; i++) {
		const struct pending_link *pending = &made->pending.at[i];

		link[i] = pending->link;
		wrong += !find_end(maker, pending, 0, &link[i].from);
		wrong += !find_end(maker, pending, 1, &link[i].to);
	}
	if (wrong) {
		maker->ok = false;
		return;
	}
	check_twice(maker, link, count);
	graph->link = link;
	graph->link_count = count;
}

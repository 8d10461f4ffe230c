/* SPDX-License-Identifier: MIT
 *
 * Declarations that need themselves. A depth-first search over the uses of a
 * file; it keeps its own stack, since a file may chain very many declarations.
 * Imports have no cycles, so no cycle leaves a file.
 */

#include "lang/check_internal.h"

enum colour { WHITE, GREY, BLACK };

struct graph {
	uint32_t node_count;
	uint32_t *first;		/* of each node's uses; one more entry */
	const struct check_use *use;	/* sorted by `from`, else as met */
	uint8_t *colour;
	uint32_t *next;			/* use to follow next, by node */
	uint32_t *stack;		/* nodes from the root to here */
	uint32_t depth;
};

/* Counting sort by the declaration that uses: stable, hence in text order. */
static void graph_fill(struct graph *graph, struct check *check)
{
	uint32_t count = (uint32_t)check->use.count;
	struct check_use *sorted = ARENA_ARRAY(check->arena, struct check_use,
					       (size_t)count + 1);
	uint32_t *place;

	graph->node_count = check->module->tree->child_count;
	graph->first = ARENA_ARRAY(check->arena, uint32_t,
				   (size_t)graph->node_count + 1);
	place = ARENA_ARRAY(check->arena, uint32_t,
			    (size_t)graph->node_count + 1);
	for (uint32_t i = 0; i < count; i++)
		graph->first[check->use.at[i].from + 1]++;
	for (uint32_t i = 0; i < graph->node_count; i++) {
		graph->first[i + 1] += graph->first[i];
		place[i] = graph->first[i];
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[place[check->use.at[i].from]++] = check->use.at[i];
	graph->use = sorted;
	graph->colour = ARENA_ARRAY(check->arena, uint8_t, graph->node_count);
	graph->next = ARENA_ARRAY(check->arena, uint32_t, graph->node_count);
	graph->stack = ARENA_ARRAY(check->arena, uint32_t, graph->node_count);
}

/* Declarations of a cycle that a message names. */
#define CYCLE_SHOWN 10u

/* The cycle runs from `use->to` on the stack to its top and back by `use`. */
static void report(struct check *check, const struct graph *graph,
		   const struct check_use *use)
{
	struct ast *const *item = check->module->tree->child;
	uint32_t begin = graph->depth - 1, shown;
	struct text chain;

	while (graph->stack[begin] != use->to)
		begin--;
	shown = graph->depth - begin;
	if (shown > CYCLE_SHOWN)
		shown = CYCLE_SHOWN;
	text_init(&chain, check->arena);
	for (uint32_t i = 0; i < shown; i++)
		text_printf(&chain, "'%s' needs ",
			    item[graph->stack[begin + i]]->name);
	if (begin + shown < graph->depth)
		text_append(&chain, "... needs ");
	text_printf(&chain, "'%s'", item[use->to]->name);
	diag_error(check->diags, E_RECURSION, use->span,
		   "'%s' needs itself: %s", item[use->to]->name, chain.at);
	for (uint32_t i = 0; i + 1 < shown; i++) {
		uint32_t node = graph->stack[begin + i];

		diag_note(check->diags, graph->use[graph->next[node] - 1].span,
			  "'%s' needs '%s' here", item[node]->name,
			  item[graph->stack[begin + i + 1]]->name);
	}
	diag_help(check->diags,
		  "nothing may be defined by itself: repeat layers with "
		  "'N * ..' or 'for', add up lists with 'sum'");
}

static void visit(struct check *check, struct graph *graph, uint32_t root)
{
	graph->stack[0] = root;
	graph->depth = 1;
	graph->colour[root] = GREY;
	graph->next[root] = graph->first[root];
	while (graph->depth) {
		uint32_t node = graph->stack[graph->depth - 1];
		const struct check_use *use;

		if (graph->next[node] == graph->first[node + 1]) {
			graph->colour[node] = BLACK;
			graph->depth--;
			continue;
		}
		use = &graph->use[graph->next[node]++];
		if (graph->colour[use->to] == GREY) {
			report(check, graph, use);
		} else if (graph->colour[use->to] == WHITE) {
			graph->colour[use->to] = GREY;
			graph->next[use->to] = graph->first[use->to];
			graph->stack[graph->depth++] = use->to;
		}
	}
}

void check_cycles(struct check *check)
{
	struct graph graph = { 0 };

	graph_fill(&graph, check);
	for (uint32_t i = 0; i < graph.node_count; i++)
		if (graph.colour[i] == WHITE)
			visit(check, &graph, i);
}

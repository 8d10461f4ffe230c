/* SPDX-License-Identifier: MIT
 *
 * One class after the other, and of it all flows to one root together: walked from the
 * farthest vertices in, each sending on what has come to it. Which links a class has
 * used is noted on the way.
 */
#include "solver/graph_flows.h"

#include "lang/base/vec.h"
#include "solver/graph_row.h"

/* Each vertex waits in the list of its distance with what it has to send on. */
struct walk {
	const struct graph *graph;
	struct arena *scratch;
	uint32_t root;			/* that is walked to */
	double *bytes;			/* by vertex in the core */
	bool *waits;
	uint32_t *next;			/* the list's next vertex */
	uint32_t *head;			/* by distance, plus 1; 0: none */
	uint32_t farthest;		/* distance of any that waits */
	double *load_bytes;		/* by link: of all flows */
	uint32_t *seen;			/* by link: the last class that used it, plus 1 */
	uint32_t class;
	VEC(uint32_t) used;		/* links, class by class */
};

static void walk_init(struct walk *walk, const struct graph *graph,
		      struct arena *scratch)
{
	*walk = (struct walk){
		.graph = graph,
		.scratch = scratch,
		.bytes = ARENA_ARRAY(scratch, double, graph->core_count + 1),
		.waits = ARENA_ARRAY(scratch, bool, graph->core_count + 1),
		.next = ARENA_ARRAY(scratch, uint32_t, graph->core_count + 1),
		.head = ARENA_ARRAY(scratch, uint32_t, graph->hops_most + 2),
		.load_bytes = ARENA_ARRAY(scratch, double, graph->link_count + 1),
		.seen = ARENA_ARRAY(scratch, uint32_t, graph->link_count + 1),
	};
}

static uint32_t lowest(uint64_t bits)
{
	return (uint32_t)__builtin_ctzll(bits);
}

static void walk_link(struct walk *walk, uint32_t link, double bytes)
{
	walk->load_bytes[link] += bytes;
	if (walk->seen[link] == walk->class + 1)
		return;
	walk->seen[link] = walk->class + 1;
	VEC_PUSH(&walk->used, walk->scratch, link);
}

static void walk_wait(struct walk *walk, uint32_t vertex, double bytes)
{
	uint32_t at = walk->graph->core_of[vertex], hop;

	walk->bytes[at] += bytes;
	if (walk->waits[at])
		return;
	walk->waits[at] = true;
	hop = graph_hops(walk->graph, walk->root, at);
	walk->next[at] = walk->head[hop];
	walk->head[hop] = vertex + 1;
	if (hop > walk->farthest)
		walk->farthest = hop;
}

/* Links side by side, of all that lead on from a vertex. */
static uint64_t count_leads(const struct walk *walk, uint32_t begin, uint32_t end)
{
	const struct graph *graph = walk->graph;
	uint64_t count = 0;

	for (uint32_t i = begin; i < end; i += 64) {
		uint64_t bits = graph_leads_of(graph, walk->root, i, end - i);

		for (; bits; bits &= bits - 1)
			count += graph->link[graph->out[i + lowest(bits)]].count;
	}
	return count;
}

/* Shares out what a vertex has among the links that lead on. */
static void walk_on(struct walk *walk, uint32_t vertex)
{
	const struct graph *graph = walk->graph;
	uint32_t begin = graph->out_first[vertex];
	uint32_t end = graph->out_first[vertex + 1];
	double bytes = walk->bytes[graph->core_of[vertex]];
	double all = (double)count_leads(walk, begin, end);

	for (uint32_t i = begin; i < end; i += 64) {
		uint64_t bits = graph_leads_of(graph, walk->root, i, end - i);

		for (; bits; bits &= bits - 1) {
			uint32_t number = graph->out[i + lowest(bits)];
			const struct graph_link *link = &graph->link[number];
			double part = bytes * link->count / all;

			walk_link(walk, number, part);
			walk_wait(walk, link->to, part);
		}
	}
}

/* All that waits goes to the root. */
static void walk_in(struct walk *walk)
{
	for (uint32_t hop = walk->farthest + 1; hop-- > 0;) {
		uint32_t v = walk->head[hop];

		walk->head[hop] = 0;
		while (v) {
			uint32_t at = walk->graph->core_of[v - 1];

			if (hop)
				walk_on(walk, v - 1);
			walk->bytes[at] = 0;
			walk->waits[at] = false;
			v = walk->next[at];
		}
	}
	walk->farthest = 0;
}

/* ---- flows in lists: of a class, and of those the ones to one root ---- */

struct lists {
	const struct graph_flow *flow;
	uint32_t *of_class, *of_root;	/* the first of each, plus 1; 0: none */
	uint32_t *next;			/* by flow: of its class, then of its root; plus 1 */
	uint32_t *root;			/* that have some of the class at hand */
	uint32_t roots;
};

static struct lists lists_new(const struct graph *graph,
			      const struct graph_flow *flow, uint32_t count,
			      uint32_t class_count, struct arena *scratch)
{
	struct lists lists = {
		.flow = flow,
		.of_class = ARENA_ARRAY(scratch, uint32_t, class_count + 1),
		.of_root = ARENA_ARRAY(scratch, uint32_t, graph->root_count + 1),
		.next = ARENA_ARRAY(scratch, uint32_t, count + 1),
		.root = ARENA_ARRAY(scratch, uint32_t, graph->root_count + 1),
	};

	for (uint32_t i = count; i-- > 0;) {
		lists.next[i] = lists.of_class[flow[i].class];
		lists.of_class[flow[i].class] = i + 1;
	}
	return lists;
}

/* Sorts a class by root; what does not pass the core is dealt with at once. */
static void sort_class(struct lists *lists, struct walk *walk)
{
	const struct graph *graph = walk->graph;
	uint32_t after;

	lists->roots = 0;
	for (uint32_t i = lists->of_class[walk->class]; i; i = after) {
		const struct graph_flow *flow = &lists->flow[i - 1];
		const struct graph_device *from = &graph->device[flow->from];
		const struct graph_device *to = &graph->device[flow->to];
		uint32_t root = graph->root_of[to->root];

		after = lists->next[i - 1];
		if (flow->from == flow->to || flow->bytes <= 0)
			continue;
		if (from->up != GRAPH_NONE)
			walk_link(walk, from->up, flow->bytes);
		if (to->down != GRAPH_NONE)
			walk_link(walk, to->down, flow->bytes);
		if (from->root == to->root)
			continue;
		if (!lists->of_root[root])
			lists->root[lists->roots++] = root;
		lists->next[i - 1] = lists->of_root[root];
		lists->of_root[root] = i;
	}
}

static void walk_class(struct walk *walk, struct lists *lists)
{
	sort_class(lists, walk);
	for (uint32_t r = 0; r < lists->roots; r++) {
		uint32_t i = lists->of_root[lists->root[r]];

		lists->of_root[lists->root[r]] = 0;
		walk->root = lists->root[r];
		for (; i; i = lists->next[i - 1]) {
			const struct graph_flow *flow = &lists->flow[i - 1];

			walk_wait(walk, walk->graph->device[flow->from].root,
				  flow->bytes);
		}
		walk_in(walk);
	}
}

/* ---- times ---- */

/* Of links that are as loaded, the first of the graph. */
static void keep_longer(struct graph_time *time, double s, uint32_t link)
{
	if (s > time->time_s || (s == time->time_s && link < time->link))
		*time = (struct graph_time){ s, link };
}

void graph_flows(const struct graph *graph, const struct graph_flow *flow,
		 uint32_t count, struct graph_time *time, struct graph_time *brief,
		 uint32_t class_count, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct lists lists = lists_new(graph, flow, count, class_count, scratch);
	size_t *end = ARENA_ARRAY(scratch, size_t, class_count + 1);
	struct walk walk;

	walk_init(&walk, graph, scratch);
	for (uint32_t c = 0; c < class_count; c++) {
		walk.class = c;
		walk_class(&walk, &lists);
		end[c] = walk.used.count;
	}
	for (uint32_t c = 0, i = 0; c < class_count; c++) {
		time[c] = (struct graph_time){ 0, GRAPH_NONE };
		if (brief)
			brief[c] = time[c];
		for (; i < end[c]; i++) {
			uint32_t link = walk.used.at[i];
			double bytes = walk.load_bytes[link];

			keep_longer(&time[c], bytes / graph->link[link].rate_Bps,
				    link);
			if (brief)
				keep_longer(&brief[c],
					    bytes / graph->link[link].short_rate_Bps,
					    link);
		}
	}
	arena_rewind(scratch, mark);
}

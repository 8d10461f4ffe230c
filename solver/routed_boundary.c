/* SPDX-License-Identifier: MIT
 *
 * Transfers between stages, and the exchange of a tied weight, as the graph routes them.
 */
#include "solver/routed_parts.h"

#include "solver/graph_flows.h"
#include "solver/most.h"

/* From every rank of a stage to the same of another; latency and overhead of
 * the slowest pair. */
static uint32_t list_pairs(const struct router *router, uint32_t from,
			   uint32_t to, uint32_t class, struct graph_flow *flow,
			   struct network_line *line)
{
	uint32_t n = router->stage_ranks;

	for (uint32_t i = 0; i < n; i++) {
		struct graph_way way;

		flow[i] = (struct graph_flow){
			.from = router_device(router, router_place(router, from * n + i)),
			.to = router_device(router, router_place(router, to * n + i)),
			.bytes = 1,
			.class = class,
		};
		way = graph_way(router->problem->graph, flow[i].from,
				flow[i].to);
		line->latency_s = most(line->latency_s,
				       way.latency_s + way.overhead_s);
	}
	return n;
}

struct boundary {
	struct network_line line;
	uint32_t link;
};

/* One way: raises what there is. */
static void raise_boundaries(const struct router *router, bool forward,
			     struct boundary *boundary)
{
	uint32_t p = router_pipeline(router), count = 0, n = router->stage_ranks;
	uint32_t last = router->plan->choice.virtual_stages > 1 ? p : p - 1;
	struct graph_flow *flow = ARENA_ARRAY(router->arena, struct graph_flow,
					      (size_t)n * p + 1);
	struct graph_time *time = ARENA_ARRAY(router->arena, struct graph_time,
					      p);

	for (uint32_t r = 0; r < last; r++) {
		uint32_t next = (r + 1) % p;

		count += list_pairs(router, forward ? r : next,
				    forward ? next : r, r, flow + count,
				    &boundary[r].line);
	}
	graph_flows(router->problem->graph, flow, count, time, NULL, p,
		    router->arena);
	for (uint32_t r = 0; r < last; r++) {
		if (time[r].time_s <= boundary[r].line.s_per_byte)
			continue;
		boundary[r].line.s_per_byte = time[r].time_s;
		boundary[r].link = time[r].link;
	}
}

static const struct boundary *find_boundaries(const struct router *router)
{
	uint32_t p = router_pipeline(router);
	struct boundary *boundary = ARENA_ARRAY(router->arena, struct boundary, p);

	for (uint32_t r = 0; r < p; r++)
		boundary[r].link = GRAPH_NONE;
	raise_boundaries(router, true, boundary);
	raise_boundaries(router, false, boundary);
	return boundary;
}

static const struct boundary *look_up_boundaries(const struct router *router)
{
	uint32_t ranks = router->stage_ranks * router_pipeline(router), words = 0;
	uint32_t *key = ARENA_ARRAY(router->arena, uint32_t, ranks + 3);
	const struct boundary *found;

	if (!router->memo)
		return find_boundaries(router);
	key[words++] = KEY_BOUNDARIES;
	key[words++] = router->stage_ranks;
	key[words++] = router->plan->choice.virtual_stages > 1;
	for (uint32_t i = 0; i < ranks; i++)
		key[words++] = router_device(router, router_place(router, i));
	found = memo_find(router->memo, key, words);
	if (found)
		return found;
	found = find_boundaries(router);
	memo_keep(router->memo, key, words, found,
		  router_pipeline(router) * sizeof(*found));
	return found;
}

void routed_boundaries(const struct router *router)
{
	const struct boundary *found = look_up_boundaries(router);

	for (uint32_t r = 0; r < router_pipeline(router); r++) {
		router->routed->boundary[r] = found[r].line;
		router->routed->rank[r].boundary_link = found[r].link;
	}
}

/* The rank that holds the layer of a class that occurs once. */
static uint32_t rank_of_class(const struct router *router, uint32_t class)
{
	const struct problem *problem = router->problem;
	uint32_t position = 0, chunk = 0;

	for (uint32_t i = 0; i < problem->run_count &&
			     problem->run[i].class_index != class; i++)
		position += problem->run[i].count;
	while (router->plan->chunk_first[chunk + 1] <= position)
		chunk++;
	return chunk % router_pipeline(router);
}

void routed_tied(const struct router *router)
{
	const struct problem *problem = router->problem;
	struct graph_flow *flow;
	uint32_t a, b, count, level;
	struct graph_time time;

	if (problem->tied_class == CLASS_NONE)
		return;
	a = rank_of_class(router, problem->tied_class);
	b = rank_of_class(router, problem->tied_with_class);
	if (a == b)
		return;
	flow = ARENA_ARRAY(router->arena, struct graph_flow,
			   2 * (size_t)router->stage_ranks);
	count = list_pairs(router, a, b, 0, flow, &router->routed->tied);
	count += list_pairs(router, b, a, 0, flow + count,
			    &router->routed->tied);
	graph_flows(problem->graph, flow, count, &time, NULL, 1, router->arena);
	level = placement_pipeline_level(problem, router->base, a, b);
	router->routed->tied.s_per_byte = time.time_s;
	router->routed->tied_latency_s = most(router->routed->tied.latency_s,
					      problem->level[level].latency_s);
	router->routed->tied = routed_slower(router->routed->tied,
				      router->base->transfer[level]);
}

/* SPDX-License-Identifier: MIT
 *
 * Ways between roots once, then a search for the best pairs.
 */
#include "solver/graph_match.h"

#include <math.h>
#include <string.h>

#include "lang/base/vec.h"
#include "solver/graph_row.h"
#include "solver/most.h"

/* What a byte on its way from one root to another loads a link with. */
struct load {
	uint32_t link;
	double s;
};

struct match {
	const struct graph *graph;
	struct arena *arena;
	uint32_t inner;			/* children inside, in all */
	uint32_t fanout;		/* in one child */
	uint32_t siblings;		/* children of one parent */
	uint32_t *root;			/* of each */
	uint32_t *first;		/* inner x inner + 1, into load */
	VEC(struct load) load;
	double *link_s[2];		/* of what is paired so far, forward and back */
	double *shared_s;		/* by child and sibling: for each that sends */
	double best_s;			/* the least of all that were complete */
	double enough_s;		/* no pairs of the two at hand are below */
	uint32_t steps;			/* that are left */
};

/* ---- ways ---- */

/* The root that all devices of a child have; GRAPH_NONE: they have several. */
static uint32_t root_of_child(const struct graph *graph, const uint32_t *device,
			      uint32_t below)
{
	uint32_t root = graph->root_of[graph->device[device[0]].root];

	for (uint32_t i = 1; i < below; i++)
		if (graph->root_of[graph->device[device[i]].root] != root)
			return GRAPH_NONE;
	return root;
}

static bool find_roots(struct match *match, const uint32_t *device, uint32_t below)
{
	match->root = ARENA_ARRAY(match->arena, uint32_t, match->inner);
	for (uint32_t i = 0; i < match->inner; i++) {
		match->root[i] = root_of_child(match->graph,
					       device + (size_t)i * below, below);
		if (match->root[i] == GRAPH_NONE)
			return false;
	}
	return true;
}

/* A vertex sends on over each link that leads there in proportion to its count. */
static void send_on(struct match *match, uint32_t root, uint32_t vertex,
		    double *amount)
{
	const struct graph *graph = match->graph;
	double bytes = amount[graph->core_of[vertex]], all = 0;

	for (uint32_t i = graph->out_first[vertex];
	     i < graph->out_first[vertex + 1]; i++)
		if (graph_leads(graph, root, i))
			all += graph->link[graph->out[i]].count;
	for (uint32_t i = graph->out_first[vertex];
	     i < graph->out_first[vertex + 1]; i++) {
		const struct graph_link *link = &graph->link[graph->out[i]];
		double part = bytes * link->count / all;
		struct load load = { graph->out[i], part / link->rate_Bps };

		if (!graph_leads(graph, root, i))
			continue;
		amount[graph->core_of[link->to]] += part;
		VEC_PUSH(&match->load, match->arena, load);
	}
}

static void find_way(struct match *match, const struct graph_row *row, uint32_t from,
		     uint32_t to, double *amount)
{
	const struct graph *graph = match->graph;

	for (uint32_t i = 0; i < graph->core_count; i++)
		amount[i] = 0;
	amount[graph->core_of[graph->root[from]]] = 1;
	for (uint32_t i = row->count; i-- > 1;)
		if (amount[graph->core_of[row->order[i]]] > 0)
			send_on(match, to, row->order[i], amount);
}

/* From every child inside to those inside the siblings of its parent, by the one it
 * leads to. */
static void find_ways(struct match *match)
{
	const struct graph *graph = match->graph;
	struct graph_row row = graph_row_new(graph, match->arena);
	double *amount = ARENA_ARRAY(match->arena, double, graph->core_count);
	double *rate = ARENA_ARRAY(match->arena, double, graph->link_count);
	uint32_t family = match->fanout * match->siblings, n = match->inner;

	for (uint32_t i = 0; i < graph->link_count; i++)
		rate[i] = graph->link[i].rate_Bps;
	match->first = ARENA_ARRAY(match->arena, uint32_t, (size_t)n * n + 1);
	for (uint32_t to = 0; to < n; to++) {
		graph_row_fill(graph, match->root[to], rate, &row);
		for (uint32_t from = 0; from < n; from++) {
			match->first[(size_t)to * n + from] =
				(uint32_t)match->load.count;
			if (from / family == to / family &&
			    from / match->fanout != to / match->fanout)
				find_way(match, &row, match->root[from],
					 match->root[to], amount);
		}
	}
	match->first[(size_t)n * n] = (uint32_t)match->load.count;
}

/* What each adds to a link that all ways from one child to another use. */
static double shared_one_way(const struct match *match, uint32_t from, uint32_t to,
			     uint32_t *ways, double *least_s)
{
	uint32_t fanout = match->fanout;
	double shared_s = 0;

	memset(ways, 0, match->graph->link_count * sizeof(*ways));
	for (uint32_t pair = 0; pair < fanout * fanout; pair++) {
		size_t at = (size_t)(to + pair / fanout) * match->inner + from +
			    pair % fanout;

		for (uint32_t i = match->first[at]; i < match->first[at + 1]; i++) {
			const struct load *load = &match->load.at[i];

			least_s[load->link] = ways[load->link]++ ?
				fmin(least_s[load->link], load->s) : load->s;
			if (ways[load->link] == fanout * fanout)
				shared_s = most(shared_s, least_s[load->link]);
		}
	}
	return shared_s;
}

static void find_shared(struct match *match)
{
	uint32_t children = match->inner / match->fanout, links, *ways;
	double *least_s;

	links = match->graph->link_count;
	ways = ARENA_ARRAY(match->arena, uint32_t, links);
	least_s = ARENA_ARRAY(match->arena, double, links);
	match->shared_s = ARENA_ARRAY(match->arena, double,
				      (size_t)children * children);
	for (uint32_t a = 0; a < children; a++)
		for (uint32_t b = 0; b < children; b++)
			if (a != b && a / match->siblings == b / match->siblings)
				match->shared_s[(size_t)a * children + b] =
					shared_one_way(match, a * match->fanout,
						       b * match->fanout, ways,
						       least_s);
}

/* ---- pairs ---- */

/* Adds a way, or takes it off; the largest load of its links. */
static double add_way(struct match *match, uint32_t from, uint32_t to, bool back,
		      double by)
{
	size_t at = back ? (size_t)from * match->inner + to :
			   (size_t)to * match->inner + from;
	double *link_s = match->link_s[back], largest = 0;

	for (uint32_t i = match->first[at]; i < match->first[at + 1]; i++) {
		const struct load *load = &match->load.at[i];

		link_s[load->link] += by * load->s;
		largest = most(largest, link_s[load->link]);
	}
	return largest;
}

/* The same there and back, one after the other. */
static double add_pair(struct match *match, uint32_t from, uint32_t to, double by)
{
	return most(add_way(match, from, to, false, by),
		    add_way(match, from, to, true, by));
}

/* `left` of the children inside from number `at` on are still to send; taken: bits of
 * those that receive. */
static void pair_on(struct match *match, uint32_t from, uint32_t to, uint32_t at,
		    uint32_t left, uint32_t taken, double so_far)
{
	if (!match->steps || match->best_s <= match->enough_s)
		return;
	match->steps--;
	if (!left) {
		match->best_s = fmin(match->best_s, so_far);
		return;
	}
	for (uint32_t j = 0; j < match->fanout; j++) {
		double s;

		if (taken >> j & 1)
			continue;
		s = most(so_far, add_pair(match, from + at, to + j, 1));
		if (s < match->best_s)
			pair_on(match, from, to, at + 1, left - 1,
				taken | 1u << j, s);
		add_pair(match, from + at, to + j, -1);
	}
	if (match->fanout - at > left)
		pair_on(match, from, to, at + 1, left, taken, so_far);
}

/* Of a child and a sibling. Some links are shared whatever the pairs. */
static void match_children(struct match *match, uint32_t a, uint32_t b,
			   uint32_t senders)
{
	uint32_t children = match->inner / match->fanout;
	double there_s = match->shared_s[(size_t)a * children + b];
	double back_s = match->shared_s[(size_t)b * children + a];

	match->enough_s = senders * most(there_s, back_s) * (1 + 1e-12);
	pair_on(match, a * match->fanout, b * match->fanout, 0, senders, 0, 0);
}

/* The least over all pairs of siblings; 0 if that takes too long. */
static double match_senders(struct match *match, uint32_t senders)
{
	uint32_t children = match->inner / match->fanout;

	match->best_s = INFINITY;
	match->steps = GRAPH_MATCH_STEPS_MAX;
	for (uint32_t a = 0; a < children; a++)
		for (uint32_t b = a + 1; b < children; b++)
			if (a / match->siblings == b / match->siblings)
				match_children(match, a, b, senders);
	return match->steps && !isinf(match->best_s) ? match->best_s : 0;
}

void graph_match(const struct graph *graph, const struct graph_owners *owners,
		 const struct problem_level *levels, const uint32_t *device,
		 uint32_t level, struct arena *arena, double *s)
{
	struct match match = { .graph = graph, .arena = arena };
	uint32_t below = level ? owners->below[level - 1] : 0;

	if (!level || levels[level - 1].fanout > GRAPH_MATCH_FANOUT_MAX)
		return;
	match.fanout = levels[level - 1].fanout;
	match.siblings = levels[level].fanout;
	match.inner = owners->device_count / below;
	if ((uint64_t)match.inner * match.inner * graph->core_count >
		    GRAPH_MATCH_WAYS_MAX ||
	    !find_roots(&match, device, below))
		return;
	find_ways(&match);
	find_shared(&match);
	for (uint32_t i = 0; i < 2; i++)
		match.link_s[i] = ARENA_ARRAY(arena, double, graph->link_count);
	for (uint32_t n = 0; n < match.fanout; n++)
		s[n] = match_senders(&match, n + 1) * (1 - 1e-9);
}

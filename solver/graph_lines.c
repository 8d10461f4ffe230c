/* SPDX-License-Identifier: MIT
 *
 * The flow patterns of graph_lines.h.
 */
#include "solver/graph_lines.h"

#include <math.h>
#include <string.h>

#include "solver/graph_flows.h"
#include "solver/most.h"

/* Flows of one pattern while they are listed. */
struct pattern {
	const struct graph *graph;
	const struct graph_groups *groups;
	struct arena *scratch;
	struct graph_flow *flow;
	uint32_t count;
	/* By class; of two things, the second is by the protocol for short messages. */
	uint32_t protocols;
	struct protocol_lines *lines[2];
	struct graph_time *time[2];
	double *latency_s;
	double *overhead_s[2];
	struct graph_time *longest;	/* of the levels */
};

static void pattern_init(struct pattern *pattern, const struct graph *graph,
			 const struct graph_groups *groups,
			 struct arena *scratch)
{
	uint32_t classes = groups->class_count;

	*pattern = (struct pattern){
		.graph = graph,
		.groups = groups,
		.scratch = scratch,
		.protocols = graph->has_short ? 2 : 1,
		.latency_s = ARENA_ARRAY(scratch, double, classes),
		.longest = ARENA_ARRAY(scratch, struct graph_time, classes),
	};
	for (uint32_t i = 0; i < pattern->protocols; i++) {
		pattern->lines[i] = ARENA_ARRAY(scratch, struct protocol_lines,
						classes);
		pattern->time[i] = ARENA_ARRAY(scratch, struct graph_time,
					       classes);
		pattern->overhead_s[i] = ARENA_ARRAY(scratch, double, classes);
	}
}

static void pattern_start(struct pattern *pattern, uint64_t capacity)
{
	pattern->flow = ARENA_ARRAY(pattern->scratch, struct graph_flow,
				    capacity + 1);
	pattern->count = 0;
}

static void pattern_run(struct pattern *pattern)
{
	graph_flows(pattern->graph, pattern->flow, pattern->count,
		    pattern->time[0],
		    pattern->protocols > 1 ? pattern->time[1] : NULL,
		    pattern->groups->class_count, pattern->scratch);
}

static uint32_t device_at(const struct pattern *pattern, uint32_t group,
			  uint32_t member)
{
	return pattern->groups->device[(size_t)group * pattern->groups->size +
				       member];
}

static void add_flow(struct pattern *pattern, uint32_t group, uint32_t from,
		     uint32_t to, double bytes)
{
	pattern->flow[pattern->count++] = (struct graph_flow){
		.from = device_at(pattern, group, from),
		.to = device_at(pattern, group, to),
		.bytes = bytes,
		.class = pattern->groups->class[group],
	};
}

static double hop_s(struct pattern *pattern, uint32_t group, uint32_t from,
		    uint32_t to)
{
	struct graph_way way = graph_way(pattern->graph,
					 device_at(pattern, group, from),
					 device_at(pattern, group, to));
	uint32_t class = pattern->groups->class[group];

	for (uint32_t i = 0; i < pattern->protocols; i++)
		pattern->overhead_s[i][class] = most(
			pattern->overhead_s[i][class],
			i ? way.short_overhead_s : way.overhead_s);
	return way.latency_s;
}

/* ---- digits ---- */

static uint32_t inside_of(const struct graph_groups *groups, uint32_t level)
{
	uint32_t inside = 1;

	for (uint32_t l = 0; l < level; l++)
		inside *= groups->members[l];
	return inside;
}

static uint32_t top_level(const struct graph_groups *groups)
{
	uint32_t top = 0;

	for (uint32_t l = 0; l < groups->level_count; l++)
		if (groups->members[l] > 1)
			top = l;
	return top;
}

/* Member m with another digit at a level. */
static uint32_t moved(uint32_t m, uint32_t inside, uint32_t n, uint32_t digit)
{
	return m + (digit - m / inside % n) * inside;
}

static void keep_most(const struct graph_groups *groups, const double *of_group,
		      double *of_class)
{
	for (uint32_t c = 0; c < groups->class_count; c++)
		of_class[c] = 0;
	for (uint32_t g = 0; g < groups->count; g++)
		of_class[groups->class[g]] = most(of_class[groups->class[g]],
						  of_group[g]);
}

/* ---- level by level ---- */

static void list_around(struct pattern *pattern, uint32_t g, uint32_t m,
			uint32_t inside, uint32_t n)
{
	double bytes = (n - 1.0) / n / inside / 2;
	uint32_t digit = m / inside % n;

	add_flow(pattern, g, m, moved(m, inside, n, (digit + 1) % n), bytes);
	add_flow(pattern, g, m, moved(m, inside, n, (digit + n - 1) % n), bytes);
}

static void list_full(struct pattern *pattern, uint32_t g, uint32_t m,
		      uint32_t inside, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (i != m / inside % n)
			add_flow(pattern, g, m, moved(m, inside, n, i),
				 1.0 / n / inside);
}

/* Latency of the members that differ from m, whose digit is 0, at one level. */
static double scatter_latency(struct pattern *pattern, uint32_t g, uint32_t m,
			      uint32_t inside, uint32_t n, bool full)
{
	double sum = 0, shortest = INFINITY, longest = 0;

	for (uint32_t i = 0; i < n; i++) {
		double hop = hop_s(pattern, g, moved(m, inside, n, i),
				   moved(m, inside, n, (i + 1) % n));

		sum += hop;
		shortest = hop < shortest ? hop : shortest;
		longest = most(longest, hop);
	}
	return full ? longest : sum - shortest;
}

/* The largest hop between neighbours at a level, by class, is left in
 * pattern.latency_s. */
static void level_latency(struct pattern *pattern, uint32_t l, bool whole)
{
	const struct graph_groups *groups = pattern->groups;
	uint32_t n = groups->members[l], inside = inside_of(groups, l);
	double *of_group = ARENA_ARRAY(pattern->scratch, double, groups->count);

	for (uint32_t g = 0; g < groups->count; g++) {
		for (uint32_t m = 0; m < groups->size; m++) {
			if (m / inside % n)
				continue;
			of_group[g] = most(of_group[g], scatter_latency(
				pattern, g, m, inside, n,
				!whole || groups->kind[l] == LEVEL_FULL));
		}
	}
	keep_most(groups, of_group, pattern->latency_s);
}

static void run_level(struct pattern *pattern, uint32_t l)
{
	const struct graph_groups *groups = pattern->groups;
	uint32_t n = groups->members[l], inside = inside_of(groups, l);
	bool full = groups->kind[l] == LEVEL_FULL;

	pattern_start(pattern, (uint64_t)groups->count * groups->size *
				       (full ? n - 1 : 2));
	for (uint32_t g = 0; g < groups->count; g++) {
		for (uint32_t m = 0; m < groups->size; m++) {
			if (full)
				list_full(pattern, g, m, inside, n);
			else
				list_around(pattern, g, m, inside, n);
		}
	}
	pattern_run(pattern);
}

/* Adds what has been run to a line of a reduce-scatter of each class. */
static void add_half(struct pattern *pattern, uint32_t which)
{
	for (uint32_t i = 0; i < pattern->protocols; i++) {
		for (uint32_t c = 0; c < pattern->groups->class_count; c++) {
			struct network_line *line =
				&pattern->lines[i][c].half[which];

			line->latency_s += pattern->latency_s[c];
			line->s_per_byte += pattern->time[i][c].time_s;
		}
	}
}

static void lines_hierarchical(struct pattern *pattern)
{
	const struct graph_groups *groups = pattern->groups;

	for (uint32_t l = 0; l < groups->level_count; l++) {
		struct arena_mark mark = arena_mark(pattern->scratch);

		if (groups->members[l] > 1) {
			run_level(pattern, l);
			level_latency(pattern, l, true);
			add_half(pattern, 1);
			for (uint32_t c = 0; c < groups->class_count; c++)
				if (pattern->time[0][c].time_s >
				    pattern->longest[c].time_s)
					pattern->longest[c] = pattern->time[0][c];
		}
		arena_rewind(pattern->scratch, mark);
	}
}

/* ---- flat ring ---- */

/* Member at place i of copy k. */
static uint32_t ring_member(const struct graph_groups *groups, uint32_t i,
			    uint32_t k)
{
	uint32_t member = 0, inside = 1;

	for (uint32_t l = 0; l < groups->level_count; l++) {
		uint32_t n = groups->members[l];

		member += (i / inside % n + k / inside % n) % n * inside;
		inside *= n;
	}
	return member;
}

static double ring_latency(struct pattern *pattern, uint32_t g, uint32_t k)
{
	uint32_t n = pattern->groups->size;
	double sum = 0, shortest = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		double hop = hop_s(pattern, g,
				   ring_member(pattern->groups, i, k),
				   ring_member(pattern->groups, (i + 1) % n, k));

		sum += hop;
		shortest = hop < shortest ? hop : shortest;
	}
	return sum - shortest;
}

static void lines_ring(struct pattern *pattern)
{
	const struct graph_groups *groups = pattern->groups;
	uint32_t n = groups->size;
	uint32_t copies = inside_of(groups, top_level(groups));
	double *of_group = ARENA_ARRAY(pattern->scratch, double, groups->count);
	double bytes = (n - 1.0) / n / copies / 2;

	pattern_start(pattern, 2ull * groups->count * n * copies);
	for (uint32_t g = 0; g < groups->count; g++) {
		for (uint32_t k = 0; k < copies; k++) {
			for (uint32_t i = 0; i < n; i++) {
				uint32_t a = ring_member(groups, i, k);
				uint32_t b = ring_member(groups, (i + 1) % n, k);

				add_flow(pattern, g, a, b, bytes);
				add_flow(pattern, g, b, a, bytes);
			}
			of_group[g] = most(of_group[g],
					   ring_latency(pattern, g, k));
		}
	}
	pattern_run(pattern);
	keep_most(groups, of_group, pattern->latency_s);
	add_half(pattern, 0);
}

/* ---- trees ---- */

static uint32_t ceil_log2(uint32_t n)
{
	uint32_t bits = 0;

	while (n > 1u << bits)
		bits++;
	return bits;
}

/* Parent of node i of n in a binary tree laid out in order, so that the leaves
 * are the odd nodes; node 0 is the root. */
static uint32_t tree_parent(uint32_t i, uint32_t n)
{
	uint32_t bit = i & (0u - i), up = (i ^ bit) | bit << 1;

	if (!i)
		return 0;
	return up >= n ? i ^ bit : up;
}

/* The same in a second tree, mirrored or turned by one place where n is odd, so
 * that the leaves of the first are inner nodes; other_root is the root. */
static uint32_t other_root(uint32_t n)
{
	return n % 2 ? 1 % n : n - 1;
}

static uint32_t other_parent(uint32_t i, uint32_t n)
{
	if (n % 2 == 0)
		return n - 1 - tree_parent(n - 1 - i, n);
	return (tree_parent((i + n - 1) % n, n) + 1) % n;
}

/* Both trees of copy k at one level. Below the highest level both have the
 * member as root that goes on further up. */
static void list_trees(struct pattern *pattern, uint32_t g, uint32_t k,
		       uint32_t l, double bytes)
{
	const struct graph_groups *groups = pattern->groups;
	uint32_t n = groups->members[l], inside = inside_of(groups, l);
	uint32_t root = k / inside % n;
	uint32_t turn = l == top_level(groups) ? 0 : other_root(n);

	for (uint32_t m = 0; m < groups->size; m++) {
		uint32_t i = (m / inside + n - root) % n;
		uint32_t p = tree_parent(i, n);
		uint32_t q = (other_parent((i + turn) % n, n) + n - turn) % n;

		if (m % inside != k % inside)
			continue;
		if (p != i)
			add_flow(pattern, g, m,
				 moved(m, inside, n, (p + root) % n), bytes / 2);
		if (q != i)
			add_flow(pattern, g, m,
				 moved(m, inside, n, (q + root) % n), bytes / 2);
	}
}

static void add_tree_latency(struct pattern *pattern, double hops)
{
	for (uint32_t i = 0; i < pattern->protocols; i++) {
		for (uint32_t c = 0; c < pattern->groups->class_count; c++) {
			double whole = hops * pattern->latency_s[c];

			pattern->lines[i][c].all_reduce[2].latency_s += 2 * whole;
			pattern->lines[i][c].broadcast.latency_s += whole;
		}
	}
}

static void tree_latency(struct pattern *pattern)
{
	const struct graph_groups *groups = pattern->groups;

	for (uint32_t l = 0; l < groups->level_count; l++) {
		double hops = ceil_log2(groups->members[l]);
		struct arena_mark mark = arena_mark(pattern->scratch);

		if (groups->members[l] > 1) {
			level_latency(pattern, l, false);
			add_tree_latency(pattern, hops);
		}
		arena_rewind(pattern->scratch, mark);
	}
}

static void lines_tree(struct pattern *pattern)
{
	const struct graph_groups *groups = pattern->groups;
	uint32_t copies = inside_of(groups, top_level(groups));

	pattern_start(pattern, 2ull * groups->count * groups->size * copies *
				       groups->level_count);
	for (uint32_t g = 0; g < groups->count; g++)
		for (uint32_t k = 0; k < copies; k++)
			for (uint32_t l = 0; l < groups->level_count; l++)
				if (groups->members[l] > 1)
					list_trees(pattern, g, k, l,
						   1.0 / copies);
	pattern_run(pattern);
	for (uint32_t i = 0; i < pattern->protocols; i++)
		for (uint32_t c = 0; c < groups->class_count; c++)
			pattern->lines[i][c].all_reduce[2].s_per_byte =
				2 * pattern->time[i][c].time_s;
	tree_latency(pattern);
}

/* ---- all to all ---- */

/* The time of the levels, unless it is routed. */
static void set_direct(struct pattern *pattern, bool routed)
{
	for (uint32_t i = 0; i < pattern->protocols; i++) {
		for (uint32_t c = 0; c < pattern->groups->class_count; c++) {
			struct protocol_lines *lines = &pattern->lines[i][c];

			lines->all_to_all = lines->half[1];
			if (routed)
				lines->all_to_all.s_per_byte =
					pattern->time[i][c].time_s;
		}
	}
}

static void lines_direct(struct pattern *pattern)
{
	const struct graph_groups *groups = pattern->groups;
	uint64_t flows = (uint64_t)groups->count * groups->size *
			 (groups->size - 1);
	bool routed = groups->direct && flows <= GRAPH_DIRECT_MAX;

	if (routed) {
		pattern_start(pattern, flows);
		for (uint32_t g = 0; g < groups->count; g++)
			for (uint32_t a = 0; a < groups->size; a++)
				for (uint32_t b = 0; b < groups->size; b++)
					if (a != b)
						add_flow(pattern, g, a, b,
							 1.0 / groups->size);
		pattern_run(pattern);
	}
	set_direct(pattern, routed);
}

/* ---- all of them ---- */

static struct network_line doubled(const struct network_line *line)
{
	return (struct network_line){ 2 * line->latency_s, 2 * line->s_per_byte };
}

static bool has_full(const struct graph_groups *groups)
{
	for (uint32_t l = 0; l < groups->level_count; l++)
		if (groups->members[l] > 1 && groups->kind[l] == LEVEL_FULL)
			return true;
	return false;
}

static void settle(struct protocol_lines *lines,
		   const struct graph_groups *groups, double overhead_s)
{
	double size = groups->size;

	for (uint32_t i = 0; i < 2; i++)
		lines->all_reduce[i] = doubled(&lines->half[i]);
	if (has_full(groups))
		lines->all_reduce[2] = lines->all_reduce[0];
	lines->all_reduce[3] = lines->all_reduce[1];
	lines->broadcast.s_per_byte = lines->half[0].s_per_byte * size /
				      (size - 1);
	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		lines->all_reduce[i].latency_s += overhead_s;
	for (uint32_t i = 0; i < 2; i++)
		lines->half[i].latency_s += overhead_s;
	lines->all_to_all.latency_s += overhead_s;
	lines->broadcast.latency_s += overhead_s;
}

static void run_patterns(struct pattern *pattern)
{
	lines_hierarchical(pattern);
	lines_ring(pattern);
	lines_tree(pattern);
	lines_direct(pattern);
	for (uint32_t i = 0; i < pattern->protocols; i++)
		for (uint32_t c = 0; c < pattern->groups->class_count; c++)
			settle(&pattern->lines[i][c], pattern->groups,
			       pattern->overhead_s[i][c]);
}

void graph_lines(const struct graph *graph, const struct graph_groups *groups,
		 struct network_lines *lines, uint32_t *link,
		 struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	bool alone = groups->size < 2;
	struct pattern pattern;

	pattern_init(&pattern, graph, groups, scratch);
	if (!alone)
		run_patterns(&pattern);
	for (uint32_t g = 0; g < groups->count; g++) {
		uint32_t c = groups->class[g];
		uint32_t last = alone ? 0 : pattern.protocols - 1;

		lines[c] = (struct network_lines){
			.alone = alone,
			.protocols = last + 1,
			.by = { pattern.lines[0][c], pattern.lines[last][c] },
		};
		if (link)
			link[c] = alone ? GRAPH_NONE : pattern.longest[c].link;
	}
	arena_rewind(scratch, mark);
}

/* SPDX-License-Identifier: MIT
 *
 * Runs the patterns of each algorithm and reads its line off.
 */
#include "solver/graph_lines.h"

#include <math.h>

#include "solver/graph_flows.h"
#include "solver/graph_pattern.h"
#include "solver/most.h"

/* Of all groups at once, by class; of two things, the second is by the protocol for
 * short messages. */
struct run {
	const struct graph *graph;
	const struct graph_groups *groups;
	struct arena *scratch;
	uint32_t protocols;
	struct protocol_lines *lines[2];
	struct graph_time *time[2];	/* of the pattern that ran last */
	double *overhead_s[2];
	struct graph_time *longest;	/* of the levels */
	/* Of rings that were walked last: without the shortest hop, the longest hop. */
	double *around_s, *hop_s;
};

static void run_init(struct run *run, const struct graph *graph,
		     const struct graph_groups *groups, struct arena *scratch)
{
	uint32_t classes = groups->class_count;

	*run = (struct run){
		.graph = graph,
		.groups = groups,
		.scratch = scratch,
		.protocols = graph->has_short ? 2 : 1,
		.longest = ARENA_ARRAY(scratch, struct graph_time, classes),
		.around_s = ARENA_ARRAY(scratch, double, classes),
		.hop_s = ARENA_ARRAY(scratch, double, classes),
	};
	for (uint32_t i = 0; i < run->protocols; i++) {
		run->lines[i] = ARENA_ARRAY(scratch, struct protocol_lines,
					    classes);
		run->time[i] = ARENA_ARRAY(scratch, struct graph_time, classes);
		run->overhead_s[i] = ARENA_ARRAY(scratch, double, classes);
	}
}

static const uint32_t *devices_of(const struct run *run, uint32_t group)
{
	return run->groups->device + (size_t)group * run->groups->size;
}

/* The pattern in every group. */
static void run_flows(struct run *run, const struct graph_pattern *pattern)
{
	const struct graph_groups *groups = run->groups;
	struct arena_mark mark = arena_mark(run->scratch);
	uint32_t count = groups->count * pattern->count;
	struct graph_flow *flow = ARENA_ARRAY(run->scratch, struct graph_flow,
					      (size_t)count + 1), *at = flow;

	for (uint32_t g = 0; g < groups->count; g++) {
		const uint32_t *device = devices_of(run, g);

		for (uint32_t i = 0; i < pattern->count; i++) {
			const struct graph_send *send = &pattern->send[i];

			*at++ = (struct graph_flow){
				.from = device[send->from],
				.to = device[send->to],
				.bytes = send->bytes,
				.class = groups->class[g],
			};
		}
	}
	graph_flows(run->graph, flow, count, run->time[0],
		    run->protocols > 1 ? run->time[1] : NULL,
		    groups->class_count, run->scratch);
	arena_rewind(run->scratch, mark);
}

/* ---- latencies ---- */

static double hop_latency(struct run *run, uint32_t class, uint32_t from, uint32_t to)
{
	struct graph_way way = graph_way(run->graph, from, to);

	for (uint32_t i = 0; i < run->protocols; i++)
		run->overhead_s[i][class] = most(run->overhead_s[i][class],
						 i ? way.short_overhead_s :
						     way.overhead_s);
	return way.latency_s;
}

static void walk_ring(struct run *run, uint32_t class, const uint32_t *device,
		      const uint32_t *member, uint32_t size)
{
	double sum = 0, shortest = INFINITY;

	for (uint32_t i = 0; i < size; i++) {
		uint32_t next = member[i + 1 < size ? i + 1 : 0];
		double hop = hop_latency(run, class, device[member[i]],
					 device[next]);

		sum += hop;
		shortest = hop < shortest ? hop : shortest;
		run->hop_s[class] = most(run->hop_s[class], hop);
	}
	run->around_s[class] = most(run->around_s[class], sum - shortest);
}

static void walk_rings(struct run *run, const struct graph_rings *rings)
{
	const struct graph_groups *groups = run->groups;

	for (uint32_t c = 0; c < groups->class_count; c++)
		run->around_s[c] = run->hop_s[c] = 0;
	for (uint32_t g = 0; g < groups->count; g++)
		for (uint32_t k = 0; k < rings->count; k++)
			walk_ring(run, groups->class[g], devices_of(run, g),
				  rings->member + (size_t)k * rings->size,
				  rings->size);
}

/* hop_s: of each step, by carries, then member */
static double flat_around(const struct graph_flat_ring *ring, uint32_t copy,
			  const double *hop_s)
{
	double sum = 0, shortest = INFINITY;
	uint32_t member = copy;

	for (uint32_t i = 0; i < ring->size; i++) {
		size_t at = (size_t)ring->carry[i] * ring->size + member;

		sum += hop_s[at];
		shortest = hop_s[at] < shortest ? hop_s[at] : shortest;
		member = ring->next[at];
	}
	return sum - shortest;
}

static void walk_flat_ring(struct run *run, const struct graph_flat_ring *ring)
{
	const struct graph_groups *groups = run->groups;
	size_t steps = (size_t)ring->carries * ring->size;
	double *hop_s = ARENA_ARRAY(run->scratch, double, steps);

	for (uint32_t c = 0; c < groups->class_count; c++)
		run->around_s[c] = 0;
	for (uint32_t g = 0; g < groups->count; g++) {
		const uint32_t *device = devices_of(run, g);
		double *around_s = &run->around_s[groups->class[g]];

		for (size_t i = 0; i < steps; i++)
			hop_s[i] = hop_latency(run, groups->class[g],
					       device[i % ring->size],
					       device[ring->next[i]]);
		for (uint32_t k = 0; k < ring->copies; k++)
			*around_s = most(*around_s, flat_around(ring, k, hop_s));
	}
}

/* ---- the algorithms ---- */

/* Adds what has been run to a line of a reduce-scatter of each class. */
static void add_half(struct run *run, uint32_t which, const double *latency_s)
{
	for (uint32_t i = 0; i < run->protocols; i++) {
		for (uint32_t c = 0; c < run->groups->class_count; c++) {
			struct network_line *line =
				&run->lines[i][c].half[which];

			line->latency_s += latency_s[c];
			line->s_per_byte += run->time[i][c].time_s;
		}
	}
}

static uint32_t ceil_log2(uint32_t n)
{
	uint32_t bits = 0;

	while (n > 1u << bits)
		bits++;
	return bits;
}

/* A level's hops on the way up a tree. */
static void add_tree_hops(struct run *run, uint32_t n)
{
	for (uint32_t i = 0; i < run->protocols; i++) {
		for (uint32_t c = 0; c < run->groups->class_count; c++) {
			double whole = ceil_log2(n) * run->hop_s[c];

			run->lines[i][c].all_reduce[2].latency_s += 2 * whole;
			run->lines[i][c].broadcast.latency_s += whole;
		}
	}
}

static void run_level(struct run *run, uint32_t level)
{
	const struct graph_groups *groups = run->groups;
	uint32_t n = groups->members[level];
	double inside = graph_members_inside(groups, level);
	bool full = groups->kind[level] == LEVEL_FULL;
	struct graph_rings rings = graph_level_rings(groups, level, run->scratch);
	struct graph_pattern pattern =
		full ? graph_among(&rings, 1.0 / n / inside, run->scratch) :
		       graph_around(&rings, (n - 1.0) / n / inside / 2,
				    run->scratch);

	run_flows(run, &pattern);
	walk_rings(run, &rings);
	add_half(run, 1, full ? run->hop_s : run->around_s);
	add_tree_hops(run, n);
	for (uint32_t c = 0; c < groups->class_count; c++)
		if (run->time[0][c].time_s > run->longest[c].time_s)
			run->longest[c] = run->time[0][c];
}

static void run_levels(struct run *run)
{
	for (uint32_t l = 0; l < run->groups->level_count; l++) {
		struct arena_mark mark = arena_mark(run->scratch);

		if (run->groups->members[l] > 1)
			run_level(run, l);
		arena_rewind(run->scratch, mark);
	}
}

static void run_ring(struct run *run)
{
	struct arena_mark mark = arena_mark(run->scratch);
	struct graph_flat_ring ring = graph_flat_ring(run->groups, run->scratch);
	struct graph_pattern pattern = graph_flat_around(&ring, run->scratch);

	run_flows(run, &pattern);
	walk_flat_ring(run, &ring);
	add_half(run, 0, run->around_s);
	arena_rewind(run->scratch, mark);
}

static void run_trees(struct run *run)
{
	struct arena_mark mark = arena_mark(run->scratch);
	struct graph_pattern pattern = graph_trees(run->groups, run->scratch);

	run_flows(run, &pattern);
	for (uint32_t i = 0; i < run->protocols; i++)
		for (uint32_t c = 0; c < run->groups->class_count; c++)
			run->lines[i][c].all_reduce[2].s_per_byte =
				2 * run->time[i][c].time_s;
	arena_rewind(run->scratch, mark);
}

/* The time of the levels, unless it is routed. */
static void set_direct(struct run *run, bool routed)
{
	for (uint32_t i = 0; i < run->protocols; i++) {
		for (uint32_t c = 0; c < run->groups->class_count; c++) {
			struct protocol_lines *lines = &run->lines[i][c];

			lines->all_to_all = lines->half[1];
			if (routed)
				lines->all_to_all.s_per_byte =
					run->time[i][c].time_s;
		}
	}
}

static void run_direct(struct run *run)
{
	const struct graph_groups *groups = run->groups;
	uint64_t flows = (uint64_t)groups->count * groups->size *
			 (groups->size - 1);
	bool routed = groups->direct && flows <= GRAPH_DIRECT_MAX;

	if (routed) {
		struct arena_mark mark = arena_mark(run->scratch);
		struct graph_pattern pattern = graph_all(groups->size,
							 run->scratch);

		run_flows(run, &pattern);
		arena_rewind(run->scratch, mark);
	}
	set_direct(run, routed);
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

static void run_all(struct run *run)
{
	run_levels(run);
	run_ring(run);
	run_trees(run);
	run_direct(run);
	for (uint32_t i = 0; i < run->protocols; i++)
		for (uint32_t c = 0; c < run->groups->class_count; c++)
			settle(&run->lines[i][c], run->groups,
			       run->overhead_s[i][c]);
}

void graph_lines(const struct graph *graph, const struct graph_groups *groups,
		 struct network_lines *lines, uint32_t *link,
		 struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	bool alone = groups->size < 2;
	struct run run;

	run_init(&run, graph, groups, scratch);
	if (!alone)
		run_all(&run);
	for (uint32_t g = 0; g < groups->count; g++) {
		uint32_t c = groups->class[g];
		uint32_t last = alone ? 0 : run.protocols - 1;

		lines[c] = (struct network_lines){
			.alone = alone,
			.protocols = last + 1,
			.by = { run.lines[0][c], run.lines[last][c] },
		};
		if (link)
			link[c] = alone ? GRAPH_NONE : run.longest[c].link;
	}
	arena_rewind(scratch, mark);
}

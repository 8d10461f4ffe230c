/* SPDX-License-Identifier: MIT
 *
 * Collectives and transfers on routed graphs against flows over their links
 * (flow.h: max-min fair, its own shortest ways), and the hierarchy of a graph
 * against the graph: nothing may be slower on it. Seeds: PROP_SEED is the first,
 * PROP_COUNT how many.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "solver/graph_flows.h"
#include "solver/graph_hierarchy.h"
#include "solver/graph_lines.h"
#include "solver/graph_row.h"
#include "tests/prop/errors.h"
#include "tests/prop/random_graph.h"

#define DEVICES_MOST 24
#define COUNT_DEFAULT 400

struct trial {
	struct arena arena;
	struct random random;
	struct random_graph made;
	struct graph graph;
	struct graph_hierarchy hierarchy;
	struct flow_net net;
	struct graph_groups groups;	/* of a random kind along the levels */
	uint32_t *device;		/* groups.device */
	uint32_t used[LEVEL_MAX];	/* children used at each level */
	uint32_t apart[LEVEL_MAX];
};

/* ---- random groups ---- */

/* Position at a level of member m of group g: members n_l, `apart` others of the
 * kind between, the rest of the children used further on. */
static uint32_t place_of(const struct trial *trial, uint32_t g, uint32_t m)
{
	uint32_t place = 0, below = 1;

	for (uint32_t l = 0; l < trial->hierarchy.level_count; l++) {
		uint32_t n = trial->groups.members[l];
		uint32_t side = trial->used[l] / n;

		place += (m % n * side + g % side) * below;
		m /= n;
		g /= side;
		below *= trial->hierarchy.level[l].fanout;
	}
	return place;
}

/* Children change places at every level, as the search has them do. */
static void shuffle(struct trial *trial)
{
	struct graph_hierarchy *hierarchy = &trial->hierarchy;
	uint32_t below = 1;

	for (uint32_t l = 0; l < hierarchy->level_count; l++) {
		uint32_t fanout = hierarchy->level[l].fanout;
		uint32_t parents = hierarchy->device_count / below / fanout;

		for (uint32_t p = 0; p < parents; p++) {
			uint32_t first = p * fanout * below;
			uint32_t a = random_below(&trial->random, fanout);
			uint32_t b = random_below(&trial->random, fanout);

			for (uint32_t i = 0; i < below; i++) {
				uint32_t *x = &hierarchy->device[first + a * below + i];
				uint32_t *y = &hierarchy->device[first + b * below + i];
				uint32_t device = *x;

				*x = *y;
				*y = device;
			}
		}
		below *= fanout;
	}
}

static void draw_groups(struct trial *trial)
{
	struct graph_groups *groups = &trial->groups;
	uint32_t *class;

	*groups = (struct graph_groups){
		.count = 1, .size = 1, .class_count = 1, .direct = true,
		.level_count = trial->hierarchy.level_count,
	};
	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		groups->members[l] = 1;
	for (uint32_t l = 0; l < groups->level_count; l++) {
		uint32_t f = trial->hierarchy.level[l].fanout;
		uint32_t n = random_chance(&trial->random, 0.3) ? 1 :
			     1 + random_below(&trial->random, f);

		groups->members[l] = n;
		trial->used[l] = n * (1 + random_below(&trial->random, f / n));
		groups->kind[l] = trial->hierarchy.level[l].kind;
		groups->size *= n;
		groups->count *= trial->used[l] / n;
	}
	trial->device = ARENA_ARRAY(&trial->arena, uint32_t,
				    groups->size * groups->count);
	class = ARENA_ARRAY(&trial->arena, uint32_t, groups->count);
	for (uint32_t g = 0; g < groups->count; g++)
		for (uint32_t m = 0; m < groups->size; m++)
			trial->device[g * groups->size + m] =
				trial->hierarchy.device[place_of(trial, g, m)];
	groups->device = trial->device;
	groups->class = class;
}

static void trial_start(struct trial *trial, uint64_t seed)
{
	memset(trial, 0, sizeof(*trial));
	arena_init(&trial->arena);
	trial->random.state = seed;
	random_graph(&trial->made, &trial->arena, &trial->random, DEVICES_MOST);
	random_graph_prepare(&trial->made, &trial->arena, &trial->graph);
	graph_hierarchy(&trial->graph, &trial->arena, &trial->hierarchy);
	flow_net_of_wires(&trial->net, trial->made.wire.at,
			  (uint32_t)trial->made.wire.count,
			  trial->made.vertices, &trial->arena);
	shuffle(trial);
	draw_groups(trial);
}

/* ---- playing ---- */

static void send(struct trial *trial, struct flows *flows, uint32_t a, uint32_t b,
		 double bytes)
{
	for (uint32_t g = 0; g < trial->groups.count; g++)
		flows_add(flows, trial->device[g * trial->groups.size + a],
			  trial->device[g * trial->groups.size + b], bytes);
}

/* Digits of a member, level by level, and back. */
static void digits(const struct trial *trial, uint32_t m, uint32_t *digit)
{
	for (uint32_t l = 0; l < trial->groups.level_count; l++) {
		digit[l] = m % trial->groups.members[l];
		m /= trial->groups.members[l];
	}
}

static uint32_t member(const struct trial *trial, const uint32_t *digit)
{
	uint32_t m = 0;

	for (uint32_t l = trial->groups.level_count; l-- > 0;)
		m = m * trial->groups.members[l] + digit[l];
	return m;
}

/* One phase after the other: rings around each level, direct where it is full. */
static double play_hierarchical(struct trial *trial)
{
	double time = 0, bytes = 1;

	for (uint32_t l = 0; l < trial->groups.level_count; l++) {
		uint32_t n = trial->groups.members[l];
		bool full = trial->groups.kind[l] == LEVEL_FULL;
		struct flows step = { .net = &trial->net };

		for (uint32_t m = 0; n > 1 && m < trial->groups.size; m++) {
			uint32_t digit[LEVEL_MAX], from;

			digits(trial, m, digit);
			from = digit[l];
			for (uint32_t i = 1; i < n; i++) {
				digit[l] = (from + i) % n;
				if (full)
					send(trial, &step, m,
					     member(trial, digit), bytes / n);
				if (!full && i == 1)
					send(trial, &step, m,
					     member(trial, digit), bytes / n / 2);
				if (!full && i == n - 1)
					send(trial, &step, m,
					     member(trial, digit), bytes / n / 2);
			}
		}
		time += flows_time(&step) * (full ? 1 : n - 1);
		bytes /= n;
	}
	return time;
}

static double play_ring(struct trial *trial)
{
	uint32_t n = trial->groups.size, copies = 1, top = 0;
	struct flows step = { .net = &trial->net };
	uint32_t *order = ARENA_ARRAY(&trial->arena, uint32_t, n);

	for (uint32_t l = 0; l < trial->groups.level_count; l++)
		if (trial->groups.members[l] > 1)
			top = l;
	for (uint32_t l = 0; l < top; l++)
		copies *= trial->groups.members[l];
	for (uint32_t k = 0; k < copies; k++) {
		uint32_t begin[LEVEL_MAX], digit[LEVEL_MAX];

		digits(trial, k, begin);
		for (uint32_t i = 0; i < n; i++) {
			digits(trial, i, digit);
			for (uint32_t l = 0; l < trial->groups.level_count; l++)
				digit[l] = (digit[l] + begin[l]) %
					   trial->groups.members[l];
			order[i] = member(trial, digit);
		}
		for (uint32_t i = 0; i < n; i++) {
			double bytes = 1.0 / n / copies / 2;

			send(trial, &step, order[i], order[(i + 1) % n], bytes);
			send(trial, &step, order[(i + 1) % n], order[i], bytes);
		}
	}
	return (n - 1) * flows_time(&step);
}

static double play_direct(struct trial *trial)
{
	struct flows flows = { .net = &trial->net };

	for (uint32_t a = 0; a < trial->groups.size; a++)
		for (uint32_t b = 0; b < trial->groups.size; b++)
			if (a != b)
				send(trial, &flows, a, b,
				     1.0 / trial->groups.size);
	return flows_time(&flows);
}

/* Latency around, all but the shortest hop, in the slowest group. */
static double play_ring_latency(struct trial *trial)
{
	uint32_t n = trial->groups.size;
	double slowest = 0;

	for (uint32_t g = 0; g < trial->groups.count; g++) {
		double sum = 0, shortest = INFINITY;

		for (uint32_t i = 0; i < n; i++) {
			double hop = flow_latency(
				&trial->net, trial->device[g * n + i],
				trial->device[g * n + (i + 1) % n]);

			sum += hop;
			shortest = fmin(shortest, hop);
		}
		slowest = fmax(slowest, sum - shortest);
	}
	return slowest;
}

/* ---- comparing ---- */

static void compare(struct errors *errors, uint64_t seed, double formula,
		    double played)
{
	/* No way of sharing the links ends before the most loaded one. */
	if (formula > played * (1 + 1e-6))
		fail_msg("seed %llu: %s takes %g, and its flows end at %g",
			 (unsigned long long)seed, errors->name, formula, played);
	errors_add(errors, seed, formula, played);
}

static void finish(const struct errors *errors, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		errors_show(&errors[i]);
	/* Few have flows that are held up elsewhere while the most loaded link
	 * waits for them. */
	for (uint32_t i = 0; i < count; i++) {
		assert_true(errors[i].count >= 100);
		assert_true(errors_mean(&errors[i]) <= 0.01);
		assert_true(100 * errors[i].beyond <= 3 * errors[i].count);
		assert_true(errors_worst(&errors[i]) <= 3 * ERROR_TOLERANCE);
	}
}

static void test_collectives(void **state)
{
	struct errors errors[] = {
		{ .name = "hierarchical" }, { .name = "ring" },
		{ .name = "all-to-all" },
	};
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct network_lines lines;
		const struct protocol_lines *by = &lines.by[0];
		struct trial trial;

		trial_start(&trial, seed);
		graph_lines(&trial.graph, &trial.groups, &lines, NULL,
			    &trial.arena);
		if (!lines.alone) {
			compare(&errors[0], seed, by->half[1].s_per_byte,
				play_hierarchical(&trial));
			compare(&errors[1], seed, by->half[0].s_per_byte,
				play_ring(&trial));
			compare(&errors[2], seed, by->all_to_all.s_per_byte,
				play_direct(&trial));
			/* With the overhead of random_graph_prepare. */
			if (trial.groups.members[0] == trial.groups.size)
				assert_true(fabs(by->half[0].latency_s -
						 trial.graph.link[0].overhead_s -
						 play_ring_latency(&trial)) <
					    1e-9);
		}
		arena_release(&trial.arena);
	}
	if (count >= COUNT_DEFAULT)
		finish(errors, 3);
}

/* ---- random sets of flows ---- */

static void test_flows(void **state)
{
	struct errors errors = { .name = "permutations" };
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct graph_flow flow[DEVICES_MOST];
		struct flows flows = { 0 };
		struct graph_time time[2];
		double whole;
		struct trial trial;
		uint32_t n;

		trial_start(&trial, seed);
		flows.net = &trial.net;
		n = trial.graph.device_count;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t to = (i + 1 + random_below(&trial.random, n - 1)) % n;

			flow[i] = (struct graph_flow){ i, to, 1, i % 2 };
			flows_add(&flows, i, to, 1);
		}
		graph_flows(&trial.graph, flow, n, time, NULL, 2, &trial.arena);
		whole = fmax(time[0].time_s, time[1].time_s);
		compare(&errors, seed, whole, flows_time(&flows));
		arena_release(&trial.arena);
	}
	/* Flows of one size need not keep the most loaded link busy throughout. */
	errors_show(&errors);
	assert_true(errors_mean(&errors) < ERROR_TOLERANCE / 2);
}

/* ---- loads, one flow after the other ---- */

struct loads {
	const struct graph *graph;
	double *bytes;			/* by link */
	bool *used;			/* by class, then link */
};

static void load(struct loads *loads, uint32_t link, uint32_t class, double bytes)
{
	loads->bytes[link] += bytes;
	loads->used[class * loads->graph->link_count + link] = true;
}

/* On from a vertex: by number of links over each that leads to the root. */
static void load_on(struct loads *loads, uint32_t vertex, uint32_t root,
		    uint32_t class, double bytes)
{
	const struct graph *graph = loads->graph;
	uint32_t all = 0;

	if (vertex == root)
		return;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = graph->out_first[vertex];
		     i < graph->out_first[vertex + 1]; i++) {
			const struct graph_link *link =
				&graph->link[graph->out[i]];
			double part = pass ? bytes * link->count / all : 0;

			if (!graph_leads(graph, graph->root_of[root], i))
				continue;
			if (!pass) {
				all += link->count;
				continue;
			}
			load(loads, graph->out[i], class, part);
			load_on(loads, link->to, root, class, part);
		}
	}
}

static void load_flow(struct loads *loads, const struct graph_flow *flow)
{
	const struct graph_device *from = &loads->graph->device[flow->from];
	const struct graph_device *to = &loads->graph->device[flow->to];

	if (flow->from == flow->to)
		return;
	if (from->up != GRAPH_NONE)
		load(loads, from->up, flow->class, flow->bytes);
	load_on(loads, from->root, to->root, flow->class, flow->bytes);
	if (to->down != GRAPH_NONE)
		load(loads, to->down, flow->class, flow->bytes);
}

static double loads_time(const struct loads *loads, uint32_t class, bool brief)
{
	const struct graph *graph = loads->graph;
	double time = 0;

	for (uint32_t i = 0; i < graph->link_count; i++)
		if (loads->used[class * graph->link_count + i])
			time = fmax(time, loads->bytes[i] /
					  (brief ? graph->link[i].short_rate_Bps :
						   graph->link[i].rate_Bps));
	return time;
}

/* In any order of classes and destinations. */
static void test_loads(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct graph_flow flow[3 * DEVICES_MOST];
		struct graph_time time[3], brief[3];
		struct trial trial;
		struct loads loads;
		uint32_t n;

		trial_start(&trial, seed);
		n = trial.graph.device_count;
		loads.graph = &trial.graph;
		loads.bytes = ARENA_ARRAY(&trial.arena, double,
					  trial.graph.link_count);
		loads.used = ARENA_ARRAY(&trial.arena, bool,
					 3 * trial.graph.link_count);
		for (uint32_t i = 0; i < 3 * n; i++) {
			flow[i] = (struct graph_flow){
				.from = random_below(&trial.random, n),
				.to = random_below(&trial.random, n),
				.bytes = random_unit(&trial.random),
				.class = random_below(&trial.random, 3),
			};
			load_flow(&loads, &flow[i]);
		}
		graph_flows(&trial.graph, flow, 3 * n, time, brief, 3,
			    &trial.arena);
		for (uint32_t c = 0; c < 3; c++) {
			double s = loads_time(&loads, c, false);
			double short_s = loads_time(&loads, c, true);

			if (fabs(s - time[c].time_s) > 1e-9 * s ||
			    fabs(short_s - brief[c].time_s) > 1e-9 * short_s)
				fail_msg("seed %llu: class %u takes %.12g, %.12g, not %.12g, %.12g",
					 (unsigned long long)seed, c,
					 time[c].time_s, brief[c].time_s, s,
					 short_s);
		}
		arena_release(&trial.arena);
	}
}

/* ---- nothing is slower on the hierarchy ---- */

static void assert_not_below(uint64_t seed, const char *what,
			     const struct network_line *graph,
			     const struct network_line *hierarchy)
{
	if (graph->latency_s < hierarchy->latency_s * (1 - 1e-9) ||
	    graph->s_per_byte < hierarchy->s_per_byte * (1 - 1e-9))
		fail_msg("seed %llu: %s takes %g + %g x bytes on the graph, %g + %g on the hierarchy",
			 (unsigned long long)seed, what, graph->latency_s,
			 graph->s_per_byte, hierarchy->latency_s,
			 hierarchy->s_per_byte);
}

static void assert_protocol_not_below(uint64_t seed,
				      const struct protocol_lines *graph,
				      const struct protocol_lines *hierarchy)
{
	static const char *const all_reduce[NETWORK_LINES] = {
		"all-reduce by ring", "all-reduce by levels",
		"all-reduce by trees", "all-reduce in the network",
	};

	for (uint32_t i = 0; i < NETWORK_LINES; i++)
		assert_not_below(seed, all_reduce[i], &graph->all_reduce[i],
				 &hierarchy->all_reduce[i]);
	assert_not_below(seed, "all-to-all", &graph->all_to_all,
			 &hierarchy->all_to_all);
	assert_not_below(seed, "broadcast", &graph->broadcast,
			 &hierarchy->broadcast);
}

static void test_hierarchy_bounds(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", 5 * COUNT_DEFAULT);
	uint32_t levels[LEVEL_MAX + 1] = { 0 }, full = 0;
	double tight = 0, groups = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct group_shape shape;
		struct network_lines on_graph, on_levels;
		struct problem problem = { 0 };
		struct trial trial;
		uint32_t used = 1;

		trial_start(&trial, seed);
		levels[trial.hierarchy.level_count]++;
		problem.level_count = trial.hierarchy.level_count;
		for (uint32_t l = 0; l < LEVEL_MAX; l++) {
			shape.members[l] = trial.groups.members[l];
			shape.used[l] = used;
			shape.apart[l] = 1;
			if (l >= problem.level_count)
				continue;
			problem.level[l] = trial.hierarchy.level[l];
			full += problem.level[l].kind == LEVEL_FULL;
			used *= trial.used[l];
		}
		problem.device_count = trial.hierarchy.device_count;
		graph_lines(&trial.graph, &trial.groups, &on_graph, NULL,
			    &trial.arena);
		on_levels = network_lines(&problem, &shape);
		assert_int_equal(on_graph.alone, on_levels.alone);
		for (uint32_t i = 0; i < 2 && !on_graph.alone; i++)
			assert_protocol_not_below(seed, &on_graph.by[i],
						  &on_levels.by[i]);
		if (!on_graph.alone) {
			tight += on_levels.by[0].half[1].s_per_byte /
				 on_graph.by[0].half[1].s_per_byte;
			groups++;
		}
		arena_release(&trial.arena);
	}
	printf("# %.0f groups: the hierarchy takes %.0f %% of the graph's time in the mean; %u full levels; of 1, 2, 3, 4 levels: %u, %u, %u, %u\n",
	       groups, 100 * tight / groups, full, levels[1], levels[2],
	       levels[3], levels[4]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collectives),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_hierarchy_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

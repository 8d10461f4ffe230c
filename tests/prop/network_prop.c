/* SPDX-License-Identifier: MIT
 *
 * The formulas of solver/network.h against flows over the wired network: every
 * algorithm's schedule is played by all groups of one kind at once, on random
 * hierarchies. Seeds: PROP_SEED is the first, PROP_COUNT how many.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solver/network.h"
#include "tests/prop/errors.h"
#include "tests/prop/flow.h"
#include "tests/prop/random_problem.h"

#define DEVICES_MOST 64
#define COUNT_DEFAULT 400

struct trial {
	struct arena arena;
	struct random random;
	struct problem problem;
	struct group_shape shape;
	uint32_t outer[LEVEL_MAX];	/* stretches of the group's kind side by side */
	uint32_t members;
	struct flow_net net;
};

static bool chance(struct trial *trial, double probability)
{
	return random_chance(&trial->random, probability);
}

/* ---- random networks and groups ---- */

static void make_level(struct trial *trial, uint32_t l)
{
	struct problem_level *level = &trial->problem.level[l];

	level->bandwidth_Bps = random_between(&trial->random, 1, 20);
	level->latency_s = random_between(&trial->random, 0.01, 1);
	level->efficiency = random_between(&trial->random, 0.5, 1);
	level->oversubscription = chance(trial, 0.3) ? random_between(&trial->random, 1, 4) : 1;
	if (l && chance(trial, 0.3))
		level->nics = 1 + random_below(&trial->random, 8);
	if (chance(trial, 0.5))
		return;
	level->nics = 0;
	level->kind = chance(trial, 0.3) ? LEVEL_FULL : LEVEL_RING;
	level->wrap = level->kind == LEVEL_RING && chance(trial, 0.7);
	level->joined = l && level->kind == LEVEL_RING && chance(trial, 0.8) &&
			level[-1].kind == LEVEL_RING;
}

static void make_group(struct trial *trial, uint32_t l, uint32_t *used)
{
	uint32_t f = trial->problem.level[l].fanout;
	struct group_shape *shape = &trial->shape;

	shape->used[l] = *used;
	shape->members[l] = chance(trial, 0.25) ? 1 :
			    1 + random_below(&trial->random, f);
	f /= shape->members[l];
	shape->apart[l] = 1 + random_below(&trial->random, f);
	f /= shape->apart[l];
	trial->outer[l] = 1 + random_below(&trial->random, f);
	*used *= shape->members[l] * shape->apart[l] * trial->outer[l];
	trial->members *= shape->members[l];
	trial->net.on_line[l] = shape->members[l] * shape->apart[l] !=
				trial->problem.level[l].fanout;
}

static void trial_start(struct trial *trial, uint64_t seed)
{
	static const uint32_t fanouts[] = { 2, 2, 3, 4, 4, 5, 6, 8 };
	struct problem *problem = &trial->problem;
	uint32_t used = 1;

	memset(trial, 0, sizeof(*trial));
	arena_init(&trial->arena);
	trial->random.state = seed;
	problem->device_count = 1;
	problem->level_count = 1 + random_below(&trial->random, 4);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t f = fanouts[random_below(&trial->random, 8)];

		while (f * problem->device_count > DEVICES_MOST)
			f--;
		problem->level[l].fanout = f;
		problem->device_count *= f;
		make_level(trial, l);
	}
	flow_net_init(&trial->net, problem, &trial->arena);
	trial->members = 1;
	for (uint32_t l = 0; l < problem->level_count; l++)
		make_group(trial, l, &used);
}

/* ---- members ---- */

/* How many groups there are, and where member m of group g is: digits of m over
 * the levels, innermost fastest; those of g over interleaved and side by side. */
static uint32_t group_count(const struct trial *trial)
{
	uint32_t count = 1;

	for (uint32_t l = 0; l < trial->problem.level_count; l++)
		count *= trial->shape.apart[l] * trial->outer[l];
	return count;
}

static uint32_t device_of(const struct trial *trial, uint32_t g, uint32_t m)
{
	uint32_t device = 0;

	for (uint32_t l = 0; l < trial->problem.level_count; l++) {
		uint32_t n = trial->shape.members[l], a = trial->shape.apart[l];
		uint32_t position = g % a + a * (m % n);

		g /= a;
		m /= n;
		position += a * n * (g % trial->outer[l]);
		g /= trial->outer[l];
		device += position * trial->net.below[l];
	}
	return device;
}

/* Members below a level. */
static uint32_t inside(const struct trial *trial, uint32_t level)
{
	uint32_t count = 1;

	for (uint32_t l = 0; l < level; l++)
		count *= trial->shape.members[l];
	return count;
}

static uint32_t digit(const struct trial *trial, uint32_t l, uint32_t m)
{
	return m / inside(trial, l) % trial->shape.members[l];
}

static uint32_t with_digit(const struct trial *trial, uint32_t l, uint32_t m,
			   uint32_t value)
{
	return m + (value - digit(trial, l, m)) * inside(trial, l);
}

static uint32_t top_level(const struct trial *trial)
{
	uint32_t top = 0;

	for (uint32_t l = 0; l < trial->problem.level_count; l++)
		if (trial->shape.members[l] > 1)
			top = l;
	return top;
}

static bool is_closed(const struct trial *trial, uint32_t l)
{
	return trial->problem.level[l].wrap && !trial->net.on_line[l];
}

/* ---- schedules ---- */

struct outcome {
	double transfer_s;		/* of bytes = 1 */
	double latency_s;
};

static void everywhere(const struct trial *trial, struct flows *flows,
		       uint32_t from, uint32_t to, double bytes)
{
	for (uint32_t g = 0; g < group_count(trial); g++)
		flows_add(flows, device_of(trial, g, from),
			  device_of(trial, g, to), bytes);
}

/* Place i of a ring at a level: round a closed one, there and back again over
 * every second position on a line. */
static uint32_t ring_place(const struct trial *trial, uint32_t l, uint32_t i)
{
	uint32_t n = trial->shape.members[l];

	if (trial->problem.level[l].kind != LEVEL_RING || is_closed(trial, l))
		return i;
	return 2 * i < n ? 2 * i : 2 * (n - 1 - i) + 1;
}

/* The longest sum of all but one of the hops around. */
static double ring_latency(const struct trial *trial, const uint32_t *order,
			   uint32_t n)
{
	double sum = 0, shortest = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		double hop = flow_latency(&trial->net,
					  device_of(trial, 0, order[i]),
					  device_of(trial, 0, order[(i + 1) % n]));

		sum += hop;
		shortest = fmin(shortest, hop);
	}
	return sum - shortest;
}

/* Copy k of the flat ring: at every level the round begins elsewhere. */
static void flat_order(const struct trial *trial, uint32_t k, uint32_t *order)
{
	for (uint32_t i = 0; i < trial->members; i++) {
		uint32_t m = 0;

		for (uint32_t l = 0; l < trial->problem.level_count; l++) {
			uint32_t n = trial->shape.members[l];
			uint32_t place = (digit(trial, l, i) +
					  digit(trial, l, k)) % n;

			m += ring_place(trial, l, place) * inside(trial, l);
		}
		order[i] = m;
	}
}

static struct outcome play_ring(struct trial *trial)
{
	uint32_t copies = inside(trial, top_level(trial)), n = trial->members;
	uint32_t *order = ARENA_ARRAY(&trial->arena, uint32_t, n);
	struct flows step = { .net = &trial->net };
	struct outcome outcome = { 0 };

	for (uint32_t k = 0; k < copies; k++) {
		flat_order(trial, k, order);
		for (uint32_t i = 0; i < n; i++) {
			double bytes = 1.0 / n / copies / 2;

			everywhere(trial, &step, order[i], order[(i + 1) % n],
				   bytes);
			everywhere(trial, &step, order[(i + 1) % n], order[i],
				   bytes);
		}
		outcome.latency_s = fmax(outcome.latency_s,
					 ring_latency(trial, order, n));
	}
	outcome.transfer_s = (n - 1) * flows_time(&step);
	return outcome;
}

/* All members' steps of one phase of the hierarchical reduce-scatter. */
static void add_phase(const struct trial *trial, uint32_t l, double bytes,
		      struct flows *step)
{
	uint32_t n = trial->shape.members[l];
	bool full = trial->problem.level[l].kind == LEVEL_FULL;

	for (uint32_t m = 0; m < trial->members; m++) {
		for (uint32_t i = 0; full && i < n; i++)
			everywhere(trial, step, m, with_digit(trial, l, m, i),
				   bytes / n);
		if (full || digit(trial, l, m) > 0)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t a = ring_place(trial, l, i);
			uint32_t b = ring_place(trial, l, (i + 1) % n);

			a = with_digit(trial, l, m, a);
			b = with_digit(trial, l, m, b);
			everywhere(trial, step, a, b, bytes / n / 2);
			everywhere(trial, step, b, a, bytes / n / 2);
		}
	}
}

static uint32_t phase_steps(const struct trial *trial, uint32_t l)
{
	return trial->problem.level[l].kind == LEVEL_FULL ? 1 :
	       trial->shape.members[l] - 1;
}

static double phase_latency(struct trial *trial, uint32_t l)
{
	uint32_t n = trial->shape.members[l], order[DEVICES_MOST];

	for (uint32_t i = 0; i < n; i++)
		order[i] = with_digit(trial, l, 0, ring_place(trial, l, i));
	if (trial->problem.level[l].kind == LEVEL_FULL)
		return flow_latency(&trial->net, device_of(trial, 0, order[0]),
				    device_of(trial, 0, order[1]));
	return ring_latency(trial, order, n);
}

/* Dimensions one after another. */
static double play_in_turn(struct trial *trial, const uint32_t *list,
			   uint32_t count, double bytes)
{
	double time = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct flows step = { .net = &trial->net };

		add_phase(trial, list[i], bytes, &step);
		time += phase_steps(trial, list[i]) * flows_time(&step);
		bytes /= trial->shape.members[list[i]];
	}
	return time;
}

/* Part k begins at dimension k. A round's parts use different links; it ends
 * when the slowest has. */
static double play_at_once(struct trial *trial, const uint32_t *list,
			   uint32_t count, double bytes)
{
	double part[LEVEL_MAX], time = 0;

	for (uint32_t k = 0; k < count; k++)
		part[k] = bytes / count;
	for (uint32_t round = 0; round < count; round++) {
		double slowest = 0;

		for (uint32_t k = 0; k < count; k++) {
			uint32_t l = list[(k + round) % count];
			struct flows step = { .net = &trial->net };

			add_phase(trial, l, part[k], &step);
			slowest = fmax(slowest, phase_steps(trial, l) *
						flows_time(&step));
			part[k] /= trial->shape.members[l];
		}
		time += slowest;
	}
	return time;
}

static struct outcome play_hierarchical(struct trial *trial)
{
	struct outcome outcome = { 0 };
	uint32_t list[LEVEL_MAX], count = 0;
	double bytes = 1, before = 1;

	for (uint32_t l = 0; l <= trial->problem.level_count; l++) {
		if (l == trial->problem.level_count ||
		    !trial->problem.level[l].joined) {
			double turn = play_in_turn(trial, list, count, before);

			outcome.transfer_s += count < 2 ? turn :
				fmin(turn, play_at_once(trial, list, count,
							before));
			before = bytes;
			count = 0;
		}
		if (l == trial->problem.level_count ||
		    trial->shape.members[l] == 1)
			continue;
		outcome.latency_s += phase_latency(trial, l);
		list[count++] = l;
		bytes /= trial->shape.members[l];
	}
	return outcome;
}

/* Parent of node i in the first of two binary trees over n nodes; itself at the
 * root, node 0. Leaves there are inner nodes in the second, which is the first
 * mirrored or shifted. */
static uint32_t tree_parent(uint32_t i, uint32_t n)
{
	uint32_t bit = 1, up;

	if (!i)
		return 0;
	while (!(i & bit))
		bit <<= 1;
	up = (i ^ bit) | bit << 1;
	return up >= n ? i ^ bit : up;
}

static uint32_t other_parent(uint32_t i, uint32_t n)
{
	if (n % 2 == 0)
		return n - 1 - tree_parent(n - 1 - i, n);
	return (tree_parent((i + n - 1) % n, n) + 1) % n;
}

/* Edges towards the root of copy k: at every level a pair of trees over the
 * children, that of the members below which stand where k does. At the highest
 * level each tree has a root of its own. */
static void add_trees(const struct trial *trial, uint32_t k, double bytes,
		      struct flows *up)
{
	for (uint32_t l = 0; l < trial->problem.level_count; l++) {
		uint32_t n = trial->shape.members[l];
		uint32_t root = digit(trial, l, k);
		uint32_t other_root = n % 2 ? 1 : n - 1;

		if (l == top_level(trial))
			other_root = 0;
		for (uint32_t m = 0; n > 1 && m < trial->members; m++) {
			uint32_t i, p, q;

			if (m % inside(trial, l) != k % inside(trial, l))
				continue;
			/* Node i of the first tree, j of the second. */
			i = (digit(trial, l, m) + n - root) % n;
			p = (tree_parent(i, n) + root) % n;
			everywhere(trial, up, m, with_digit(trial, l, m, p),
				   bytes / 2);
			i = (i + other_root) % n;
			q = (other_parent(i, n) + n - other_root + root) % n;
			everywhere(trial, up, m, with_digit(trial, l, m, q),
				   bytes / 2);
		}
	}
}

/* Half of an all-reduce: everything to the root, or back. */
static struct outcome play_tree(struct trial *trial)
{
	uint32_t copies = inside(trial, top_level(trial));
	struct flows up = { .net = &trial->net };
	struct outcome outcome = { 0 };

	for (uint32_t k = 0; k < copies; k++)
		add_trees(trial, k, 1.0 / copies, &up);
	outcome.transfer_s = flows_time(&up);
	for (uint32_t l = 0; l < trial->problem.level_count; l++)
		outcome.latency_s += ceil(log2(trial->shape.members[l])) *
				     trial->problem.level[l].latency_s;
	return outcome;
}

static struct outcome play_all_to_all(struct trial *trial)
{
	struct flows flows = { .net = &trial->net };
	struct outcome outcome = { 0 };

	for (uint32_t a = 0; a < trial->members; a++)
		for (uint32_t b = 0; b < trial->members; b++)
			everywhere(trial, &flows, a, b, 1.0 / trial->members);
	outcome.transfer_s = flows_time(&flows);
	return outcome;
}

/* The boundaries between pipeline ranks that cross a level, all at once; the
 * group's members are the ranks, groups the devices of a stage. */
static struct outcome play_transfers(struct trial *trial,
				     const struct placement *placement,
				     uint32_t level)
{
	struct flows flows = { .net = &trial->net };
	struct outcome outcome = { 0 };

	for (uint32_t r = 0; r + 1 < trial->members; r++) {
		if (network_pipeline_level(&trial->problem, placement, r,
					   r + 1) != level)
			continue;
		for (uint32_t g = 0; g < group_count(trial); g++) {
			uint32_t from = device_of(trial, g, r);
			uint32_t to = device_of(trial, g, r + 1);

			flows_add(&flows, from, to, 1);
			outcome.latency_s = fmax(outcome.latency_s,
						 flow_latency(&trial->net, from,
							      to));
		}
	}
	outcome.transfer_s = flows_time(&flows);
	return outcome;
}

/* ---- comparing ---- */

static void describe(const struct trial *trial)
{
	for (uint32_t l = 0; l < trial->problem.level_count; l++) {
		const struct problem_level *level = &trial->problem.level[l];

		printf("#   level %u: fanout %u kind %d%s%s bandwidth %.3g nics %u over %.3g; group %u, %u apart, %u outside\n",
		       l, level->fanout, (int)level->kind,
		       level->wrap ? " wraps" : "",
		       level->joined ? " joined" : "",
		       level->bandwidth_Bps * level->efficiency, level->nics,
		       level->oversubscription, trial->shape.members[l],
		       trial->shape.apart[l], trial->outer[l]);
	}
}

/* A line at a size where latency and bytes weigh alike. */
static void compare_line(struct errors *errors, uint64_t seed,
			 const struct network_line *line,
			 const struct outcome *played)
{
	errors_add(&errors[0], seed, line->s_per_byte, played->transfer_s);
	errors_add(&errors[1], seed, line->latency_s, played->latency_s);
}

enum { RING, HIERARCHICAL = 2, TREE = 4, DIRECT = 6, KINDS };

/* A formula may be further off in one case of a hundred, and never far. */
static void finish(const struct errors *errors, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		errors_show(&errors[i]);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(100 * errors[i].beyond <= errors[i].count);
		assert_true(errors_worst(&errors[i]) <= 3 * ERROR_TOLERANCE);
	}
}

static bool has_full(const struct trial *trial)
{
	for (uint32_t l = 0; l < trial->problem.level_count; l++)
		if (trial->problem.level[l].kind == LEVEL_FULL &&
		    trial->shape.members[l] > 1)
			return true;
	return false;
}

static bool all_switches(const struct trial *trial)
{
	for (uint32_t l = 0; l < trial->problem.level_count; l++)
		if (trial->problem.level[l].kind != LEVEL_SWITCH &&
		    trial->shape.members[l] > 1)
			return false;
	return true;
}

static void run_trial(uint64_t seed, struct errors *errors)
{
	struct network_lines lines;
	struct outcome played;
	struct trial trial;

	trial_start(&trial, seed);
	lines = network_lines(&trial.problem, &trial.shape);
	if (lines.alone) {
		arena_release(&trial.arena);
		return;
	}
	/* A full level has more ways round than one ring takes. */
	if (!has_full(&trial)) {
		played = play_ring(&trial);
		compare_line(&errors[RING], seed, &lines.by[0].half[0], &played);
	}
	played = play_hierarchical(&trial);
	compare_line(&errors[HIERARCHICAL], seed, &lines.by[0].half[1], &played);
	if (all_switches(&trial)) {
		struct network_line half = lines.by[0].all_reduce[2];

		half.latency_s /= 2;
		half.s_per_byte /= 2;
		played = play_tree(&trial);
		compare_line(&errors[TREE], seed, &half, &played);
	}
	if (getenv("PROP_SHOW"))
		describe(&trial);
	played = play_all_to_all(&trial);
	errors_add(&errors[DIRECT], seed, lines.by[0].all_to_all.s_per_byte,
		played.transfer_s);
	arena_release(&trial.arena);
}

static void test_collectives(void **state)
{
	struct errors errors[KINDS] = {
		{ .name = "ring" }, { .name = "ring latency" },
		{ .name = "hierarchical" }, { .name = "hierarchical latency" },
		{ .name = "tree" }, { .name = "tree latency" },
		{ .name = "all-to-all" },
	};
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++)
		run_trial(seed, errors);
	finish(errors, KINDS);
}

static void run_transfers(uint64_t seed, struct errors *errors)
{
	struct placement placement;
	struct trial trial;

	trial_start(&trial, seed);
	for (uint32_t l = 0; l < LEVEL_MAX; l++)
		for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
			placement.factor[d][l] = 1;
	for (uint32_t l = 0; l < trial.problem.level_count; l++) {
		trial.net.on_line[l] = false;
		trial.outer[l] = 1;
		placement.factor[DIMENSION_TENSOR][l] = trial.shape.apart[l];
		placement.factor[DIMENSION_PIPELINE][l] = trial.shape.members[l];
	}
	for (uint32_t l = 0; l < trial.problem.level_count; l++) {
		struct network_line line = network_transfer_line(
			&trial.problem, &placement, l);
		struct outcome played;

		if (trial.shape.members[l] == 1)
			continue;
		played = play_transfers(&trial, &placement, l);
		if (getenv("PROP_SHOW"))
			describe(&trial);
		compare_line(errors, seed, &line, &played);
	}
	arena_release(&trial.arena);
}

static void test_transfers(void **state)
{
	struct errors errors[] = {
		{ .name = "transfer" }, { .name = "transfer latency" },
	};
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++)
		run_transfers(seed, errors);
	finish(errors, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collectives),
		cmocka_unit_test(test_transfers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

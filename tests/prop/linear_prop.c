/* SPDX-License-Identifier: MIT
 *
 * Linear placements against flows over the wired network: on random hierarchies of
 * switches and full levels, with random devices avoided, ranks are laid in random
 * orders; rings, pairwise exchanges and stage boundaries are then played by all
 * groups of a kind at once. What linear.h says must not be less. Seeds: PROP_SEED
 * is the first, PROP_COUNT how many.
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

#include "solver/linear.h"
#include "tests/prop/errors.h"
#include "tests/prop/flow.h"
#include "tests/prop/random_problem.h"

#define DEVICES_MOST 64
#define COPIES_MOST 240
#define COUNT_DEFAULT 600

/* Rounding. */
#define SLACK 1e-9

struct trial {
	struct arena arena;
	struct random random;
	struct problem problem;
	struct problem_shape shape;
	struct placement placement;
	uint32_t avoided[DEVICES_MOST];
	uint32_t device[DEVICES_MOST];
	uint32_t width, pipeline;
	struct flow_net net;
};

static uint32_t below(struct trial *trial, uint32_t limit)
{
	return random_below(&trial->random, limit);
}

/* ---- random networks and placements ---- */

static void make_level(struct trial *trial, uint32_t l)
{
	struct problem_level *level = &trial->problem.level[l];

	level->bandwidth_Bps = random_between(&trial->random, 1, 20);
	level->latency_s = random_between(&trial->random, 0.01, 1);
	level->efficiency = random_between(&trial->random, 0.5, 1);
	level->oversubscription = random_chance(&trial->random, 0.3) ?
		random_between(&trial->random, 1, 4) : 1;
	if (l && random_chance(&trial->random, 0.3))
		level->nics = 1 + below(trial, 8);
	if (random_chance(&trial->random, 0.2)) {
		level->kind = LEVEL_FULL;
		level->nics = 0;
	}
}

static void make_avoided(struct trial *trial)
{
	struct problem *problem = &trial->problem;

	problem->avoided = trial->avoided;
	if (random_chance(&trial->random, 0.5))
		return;
	for (uint32_t i = 0; i < problem->device_count; i++)
		if (random_chance(&trial->random, 0.1) &&
		    problem->avoided_count + 2 < problem->device_count)
			trial->avoided[problem->avoided_count++] = i;
}

static void make_network(struct trial *trial)
{
	static const uint32_t fanouts[] = { 2, 2, 3, 4, 4, 5, 6, 8 };
	struct problem *problem = &trial->problem;

	problem->device_count = 1;
	problem->level_count = 2 + below(trial, 3);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t f = fanouts[below(trial, 8)];

		while (f * problem->device_count > DEVICES_MOST)
			f--;
		problem->level[l].fanout = f;
		problem->device_count *= f;
		make_level(trial, l);
	}
	make_avoided(trial);
	flow_net_init(&trial->net, problem, &trial->arena);
}

/* A random divisor. */
static uint32_t divisor(struct trial *trial, uint32_t of)
{
	uint32_t d;

	do
		d = 1 + below(trial, of);
	while (of % d);
	return d;
}

/* False if the ranks do not fit. */
static bool trial_start(struct trial *trial, uint64_t seed)
{
	uint32_t degree[DIMENSION_COUNT], room, of[] = { 0, 1, 2, 3 };

	memset(trial, 0, sizeof(*trial));
	arena_init(&trial->arena);
	trial->random.state = seed;
	make_network(trial);
	room = problem_usable(&trial->problem);
	for (uint32_t i = DIMENSION_COUNT; i-- > 0;) {
		uint32_t pick = below(trial, i + 1), d = of[pick];

		of[pick] = of[i];
		degree[d] = 1 + below(trial, room < 12 ? room : 12);
		room /= degree[d];
	}
	trial->placement = linear_placement(degree, 1 + below(trial, 2),
					    below(trial, 4));
	trial->pipeline = degree[DIMENSION_PIPELINE];
	trial->width = degree[DIMENSION_TENSOR] * degree[DIMENSION_CONTEXT] *
		       degree[DIMENSION_DATA];
	trial->shape = (struct problem_shape){
		.tensor = degree[DIMENSION_TENSOR],
		.context = degree[DIMENSION_CONTEXT],
		.expert_tensor = divisor(trial, trial->width),
	};
	trial->shape.expert = divisor(trial, trial->width /
					     trial->shape.expert_tensor);
	return linear_lay(&trial->problem, &trial->placement, &trial->arena,
			  trial->device);
}

/* ---- instances ---- */

/* The devices of one set of ranks that communicates, ascending. */
struct instance {
	uint32_t device[DEVICES_MOST];
	uint32_t count;
};

/* Whether rank r of a stage is in the instance of rank `of`; from the definitions
 * of the groups, rank by rank. */
static bool share_instance(const struct trial *trial, enum group group,
			   uint32_t of, uint32_t r)
{
	uint32_t t = trial->shape.tensor, c = trial->shape.context;
	uint32_t x = trial->shape.expert_tensor, e = trial->shape.expert;
	bool same_t = of % t == r % t;
	bool same_c = of / t % c == r / t % c;
	bool same_d = of / (t * c) == r / (t * c);

	switch (group) {
	case GROUP_TENSOR:
		return same_c && same_d;
	case GROUP_CONTEXT:
		return same_t && same_d;
	case GROUP_DATA_CONTEXT:
		return same_t;
	case GROUP_EXPERT_TENSOR:
		return of / x == r / x;
	case GROUP_EXPERT:
		return of % x == r % x && of / (x * e) == r / (x * e);
	default:
		return of % (x * e) == r % (x * e);
	}
}

/* The instance whose first rank in stage p is r; empty if another one is. */
static void find_instance(const struct trial *trial, enum group group,
			  uint32_t p, uint32_t r, struct instance *instance)
{
	instance->count = 0;
	for (uint32_t i = 0; i < r; i++)
		if (share_instance(trial, group, r, i))
			return;
	for (uint32_t i = r; i < trial->width; i++)
		if (share_instance(trial, group, r, i))
			instance->device[instance->count++] =
				trial->device[p * trial->width + i];
}

/* Members in the same child of a level as member i, from i on. */
static uint32_t together(const struct trial *trial,
			 const struct instance *instance, uint32_t level,
			 uint32_t i, uint32_t end)
{
	uint32_t size = trial->net.below[level], count = 1;

	while (i + count < end && instance->device[i + count] / size ==
					  instance->device[i] / size)
		count++;
	return count;
}

static uint32_t parts(const struct trial *trial, const struct instance *instance,
		      uint32_t level, uint32_t begin, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t i = begin; i < end; count++)
		i += together(trial, instance, level, i, end);
	return count;
}

/* Whether all children of a level that hold ranks of an instance hold equally many,
 * for every level. */
static bool lies_evenly(const struct trial *trial, enum group group)
{
	for (uint32_t l = 0; l < trial->problem.level_count; l++) {
		uint32_t held = 0;

		for (uint32_t i = 0; i < trial->pipeline * trial->width; i++) {
			struct instance instance;

			find_instance(trial, group, i / trial->width,
				      i % trial->width, &instance);
			for (uint32_t j = 0; j < instance.count;) {
				uint32_t n = together(trial, &instance, l, j,
						      instance.count);

				if (held && held != n)
					return false;
				held = n;
				j += n;
			}
		}
	}
	return true;
}

/* Full levels have more ways around than one ring takes; even groups use them. */
static bool has_full(const struct trial *trial)
{
	for (uint32_t l = 0; l < trial->problem.level_count; l++)
		if (trial->problem.level[l].kind == LEVEL_FULL)
			return true;
	return false;
}

/* ---- the ring ---- */

static uint32_t multiple(uint32_t a, uint32_t b)
{
	uint32_t m = a;

	while (m % b)
		m += a;
	return m;
}

/* Beginnings to choose from at each level: a multiple of every number of parts. */
static uint32_t beginnings(const struct trial *trial,
			   const struct instance *instance,
			   uint32_t of[LEVEL_MAX])
{
	uint32_t all = 1, levels = trial->problem.level_count;

	for (uint32_t l = 0; l < levels; l++) {
		of[l] = 1;
		for (uint32_t i = 0; i < instance->count;) {
			uint32_t n = together(trial, instance, l + 1, i,
					      instance->count);

			of[l] = multiple(of[l], parts(trial, instance, l, i,
						      i + n));
			i += n;
		}
		all *= of[l];
		if (all > COPIES_MOST)
			return 0;
	}
	return all;
}

struct round {
	const struct trial *trial;
	const struct instance *instance;
	uint32_t begin[LEVEL_MAX];
	uint32_t order[DEVICES_MOST];
	uint32_t count;
};

/* Visits the members begin .. end of a child of a level: its parts one after the
 * other, beginning with another one in every copy. */
static void visit(struct round *round, uint32_t level, uint32_t begin,
		  uint32_t end)
{
	uint32_t start[DEVICES_MOST], count = 0, first;

	if (!level) {
		round->order[round->count++] = round->instance->device[begin];
		return;
	}
	for (uint32_t i = begin; i < end;) {
		start[count++] = i;
		i += together(round->trial, round->instance, level - 1, i, end);
	}
	first = round->begin[level - 1] % count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = start[(first + i) % count];

		visit(round, level - 1, at,
		      at + together(round->trial, round->instance, level - 1,
				    at, end));
	}
}

/* Hops around but the shortest one. */
static double round_latency(const struct round *round)
{
	double sum = 0, shortest = INFINITY;

	for (uint32_t i = 0; i < round->count; i++) {
		double hop = flow_latency(&round->trial->net, round->order[i],
					  round->order[(i + 1) % round->count]);

		sum += hop;
		shortest = fmin(shortest, hop);
	}
	return sum - shortest;
}

/* Adds one step of all copies of an instance's ring, both ways. False if there are
 * too many. */
static bool add_ring(const struct trial *trial, const struct instance *instance,
		     struct flows *step, double *latency_s)
{
	uint32_t of[LEVEL_MAX], n = instance->count;
	uint32_t copies = beginnings(trial, instance, of);

	for (uint32_t k = 0; k < copies; k++) {
		struct round round = { .trial = trial, .instance = instance };
		uint32_t rest = k;

		for (uint32_t l = 0; l < trial->problem.level_count; l++) {
			round.begin[l] = rest % of[l];
			rest /= of[l];
		}
		visit(&round, trial->problem.level_count, 0, n);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t a = round.order[i], b = round.order[(i + 1) % n];

			flows_add(step, a, b, 0.5 / n / copies);
			flows_add(step, b, a, 0.5 / n / copies);
		}
		*latency_s = fmax(*latency_s, round_latency(&round));
	}
	return copies > 0;
}

/* ---- comparing ---- */

static void describe(const struct trial *trial, const char *what, double said,
		     double played)
{
	printf("# %s: said %g, played %g; packing %d aligned %u, avoided %u\n",
	       what, said, played, (int)trial->placement.packing,
	       trial->placement.aligned, trial->problem.avoided_count);
	for (uint32_t l = 0; l < trial->problem.level_count; l++) {
		const struct problem_level *level = &trial->problem.level[l];

		printf("#   level %u: fanout %u kind %d port %.3g nics %u over %.3g\n",
		       l, level->fanout, (int)level->kind,
		       level->bandwidth_Bps * level->efficiency, level->nics,
		       level->oversubscription);
	}
	for (uint32_t p = 0; p < trial->pipeline; p++) {
		printf("#   stage %u:", p);
		for (uint32_t i = 0; i < trial->width; i++)
			printf(" %u", trial->device[p * trial->width + i]);
		printf("\n");
	}
}

/* Nothing to compare with where nothing moves. */
static void compare(struct errors *errors, uint64_t seed, double said,
		    double played)
{
	if (played > 0)
		errors_add(errors, seed, said, played);
}

enum { RING, AROUND, DIRECT, KINDS };

static void compare_group(struct trial *trial, uint64_t seed, enum group group,
			  struct errors *errors)
{
	struct network_lines lines = linear_lines(
		&trial->problem, &trial->placement, &trial->shape,
		trial->device, group, &trial->arena);
	struct flows step = { .net = &trial->net }, all = { .net = &trial->net };
	struct instance instance;
	double latency_s = 0;
	bool whole = true;
	uint32_t n = 1;

	for (uint32_t i = 0; i < trial->pipeline * trial->width; i++) {
		find_instance(trial, group, i / trial->width, i % trial->width,
			      &instance);
		if (instance.count < 2)
			continue;
		n = instance.count;
		whole = add_ring(trial, &instance, &step, &latency_s) && whole;
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				flows_add(&all, instance.device[a],
					  instance.device[b], 1.0 / n);
	}
	assert_int_equal(lines.alone, n == 1);
	if (n == 1)
		return;
	if (whole && !(has_full(trial) && lies_evenly(trial, group))) {
		compare(&errors[RING], seed, lines.by[0].half[0].s_per_byte,
			(n - 1) * flows_load_time(&step));
		compare(&errors[AROUND], seed, lines.by[0].half[0].latency_s,
			latency_s);
	}
	if (getenv("PROP_SHOW"))
		describe(trial, "ring", lines.by[0].half[0].s_per_byte,
			 (n - 1) * flows_time(&step));
	compare(&errors[DIRECT], seed, lines.by[0].all_to_all.s_per_byte,
		flows_time(&all));
}

static void test_groups(void **state)
{
	struct errors errors[KINDS] = {
		{ .name = "ring" },
		{ .name = "around" },
		{ .name = "all-to-all" },
	};
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial;

		if (trial_start(&trial, seed))
			for (int g = 0; g < GROUP_COUNT; g++)
				compare_group(&trial, seed, (enum group)g, errors);
		arena_release(&trial.arena);
	}
	for (int i = RING; i <= DIRECT; i++)
		errors_show(&errors[i]);
	for (int i = RING; i <= DIRECT; i++)
		assert_true(errors[i].most_below <= SLACK);
}

/* The transfers after those pipeline ranks whose boundary crosses a level; without
 * levels, all of them. */
static double play_borders(struct trial *trial, const uint8_t *level,
			   uint32_t which)
{
	struct flows flows = { .net = &trial->net };

	for (uint32_t p = 0; p + 1 < trial->pipeline; p++)
		for (uint32_t i = 0; (!level || level[p] == which) &&
				     i < trial->width; i++)
			flows_add(&flows, trial->device[p * trial->width + i],
				  trial->device[(p + 1) * trial->width + i], 1);
	return flows_time(&flows);
}

static void test_borders(void **state)
{
	struct errors each = { .name = "boundary" };
	struct errors at_once = { .name = "all boundaries" };
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct network_line line[LEVEL_MAX];
		uint8_t level[DEVICES_MOST];
		double said = 0;
		struct trial trial;

		if (!trial_start(&trial, seed)) {
			arena_release(&trial.arena);
			continue;
		}
		linear_transfers(&trial.problem, &trial.placement, trial.device,
				 &trial.arena, line, level);
		for (uint32_t l = 0; l < trial.problem.level_count; l++)
			compare(&each, seed, line[l].s_per_byte,
				play_borders(&trial, level, l));
		for (uint32_t p = 0; p + 1 < trial.pipeline; p++)
			said = fmax(said, line[level[p]].s_per_byte);
		compare(&at_once, seed, said, play_borders(&trial, NULL, 0));
		for (uint32_t l = 0; getenv("PROP_SHOW") &&
				     l < trial.problem.level_count; l++)
			describe(&trial, "boundary", line[l].s_per_byte,
				 play_borders(&trial, level, l));
		arena_release(&trial.arena);
	}
	errors_show(&each);
	errors_show(&at_once);
	assert_true(each.most_below <= SLACK && at_once.most_below <= SLACK);
}

/* The bound on uneven groups is below every one. */
static void test_least(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = number_from("PROP_COUNT", COUNT_DEFAULT);
	uint32_t uneven = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct trial trial;
		bool laid = trial_start(&trial, seed);

		for (int g = 0; laid && g < GROUP_COUNT; g++) {
			struct network_lines least, lines = linear_lines(
				&trial.problem, &trial.placement, &trial.shape,
				trial.device, (enum group)g, &trial.arena);
			struct instance instance;

			if (lines.alone || lies_evenly(&trial, (enum group)g))
				continue;
			find_instance(&trial, (enum group)g, 0, 0, &instance);
			assert_true(linear_least(&trial.problem, instance.count,
						 &least));
			assert_true(network_lines_cover(&lines, &least));
			uneven++;
		}
		arena_release(&trial.arena);
	}
	printf("# %u groups that lie unevenly\n", uneven);
	assert_true(uneven > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_borders),
		cmocka_unit_test(test_least),
	};

	return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}

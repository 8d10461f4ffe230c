/* SPDX-License-Identifier: MIT
 *
 * The devices of ranks: around devices that are avoided, with stages where they are
 * pinned, and in order under linear placements. Small clusters, worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/devices.h"
#include "solver/linear.h"

struct fixture {
	struct problem problem;
	struct placement placement;
	uint32_t avoided[16];
	struct problem_pin pin[4];
	struct arena arena;
};

/* Switches, innermost first; a fan-out of 0 ends the list. */
static void init(struct fixture *f, uint32_t a, uint32_t b, uint32_t c)
{
	const uint32_t fanout[] = { a, b, c, 0 };

	*f = (struct fixture){ .placement = { .packing = PACKING_FACTORS } };
	f->problem.device_count = 1;
	for (uint32_t l = 0; fanout[l]; l++) {
		f->problem.level[l].fanout = fanout[l];
		f->problem.device_count *= fanout[l];
		f->problem.level_count++;
	}
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			f->placement.factor[d][l] = 1;
	f->problem.avoided = f->avoided;
	f->problem.pin = f->pin;
	arena_init(&f->arena);
}

static void avoid(struct fixture *f, uint32_t device)
{
	f->avoided[f->problem.avoided_count++] = device;
}

static void pin(struct fixture *f, uint32_t rank, uint32_t first, uint32_t count)
{
	f->pin[f->problem.pin_count++] = (struct problem_pin){
		.rank = rank, .first = first, .count = count
	};
}

static void expect(struct fixture *f, const uint32_t *device, uint32_t count)
{
	const uint32_t *laid = devices_lay(&f->problem, &f->placement, &f->arena);

	assert_non_null(laid);
	if (f->placement.packing == PACKING_FACTORS)
		assert_true(devices_fit(&f->problem, &f->placement, &f->arena));
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(laid[i], device[i]);
	arena_release(&f->arena);
}

static void expect_none(struct fixture *f)
{
	assert_null(devices_lay(&f->problem, &f->placement, &f->arena));
	if (f->placement.packing == PACKING_FACTORS)
		assert_false(devices_fit(&f->problem, &f->placement, &f->arena));
	arena_release(&f->arena);
}

/* Two racks of two nodes of four. Tensor 3 in a node, data 2 over nodes: node 0 has
 * two devices left, so rack 0 has one node only, and rack 1 takes both. */
static void test_avoid(void **state)
{
	const uint32_t devices[] = { 8, 9, 10, 13, 14, 15 };
	struct fixture f;

	(void)state;
	init(&f, 4, 2, 2);
	f.placement.factor[DIMENSION_TENSOR][0] = 3;
	f.placement.factor[DIMENSION_DATA][1] = 2;
	avoid(&f, 0);
	avoid(&f, 3);
	avoid(&f, 12);
	expect(&f, devices, 6);
}

/* Data 4 and pipeline 2 in a node of eight, data 2 across nodes: with pipeline inside
 * data the ranks of a node are consecutive, r = p + 2 d on device r. Laid as rank
 * d + 8 p. Two devices of a child on a rail make the pipeline's stride matter: then
 * a node's positions are d + 4 p, as on a ring. */
static void test_pipeline_inside(void **state)
{
	const uint32_t inside[] = { 0, 2, 4, 6, 8, 10, 12, 14,
				    1, 3, 5, 7, 9, 11, 13, 15 };
	const uint32_t outside[] = { 0, 1, 2, 3, 8, 9, 10, 11,
				     4, 5, 6, 7, 12, 13, 14, 15 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct fixture f;

		init(&f, 8, 2, 0);
		f.placement.factor[DIMENSION_DATA][0] = 4;
		f.placement.factor[DIMENSION_PIPELINE][0] = 2;
		f.placement.factor[DIMENSION_DATA][1] = 2;
		f.problem.level[1].rails = i == 1 ? 8 : i == 2 ? 4 : 0;
		if (i == 3) {
			f.problem.level[0].kind = LEVEL_RING;
			f.problem.level[0].wrap = true;
		}
		expect(&f, i < 2 ? inside : outside, 16);
	}
}

/* Pipeline across nodes below data across racks: neither order ascends while data is
 * within the node too, and positions stay as they are. */
static void test_neither_order(void **state)
{
	const uint32_t devices[] = { 0, 1, 4, 5, 2, 3, 6, 7 };
	struct fixture f;

	(void)state;
	init(&f, 2, 2, 2);
	f.placement.factor[DIMENSION_DATA][0] = 2;
	f.placement.factor[DIMENSION_PIPELINE][1] = 2;
	f.placement.factor[DIMENSION_DATA][2] = 2;
	expect(&f, devices, 8);
}

/* The same over racks too: rack 0 cannot. */
static void test_no_room(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, 4, 2, 2);
	f.placement.factor[DIMENSION_TENSOR][0] = 3;
	f.placement.factor[DIMENSION_DATA][1] = 2;
	f.placement.factor[DIMENSION_PIPELINE][2] = 2;
	avoid(&f, 0);
	avoid(&f, 3);
	expect_none(&f);
}

/* A ring of six without device 2: three that follow one another are 3, 4, 5; four
 * only around the end, 3, 4, 5, 0, where it wraps. */
static void test_ring(void **state)
{
	const uint32_t three[] = { 3, 4, 5 }, four[] = { 3, 4, 5, 0 };
	struct fixture f;

	(void)state;
	for (int wrap = 0; wrap < 2; wrap++) {
		init(&f, 6, 0, 0);
		f.problem.level[0].kind = LEVEL_RING;
		f.problem.level[0].wrap = wrap;
		f.placement.factor[DIMENSION_DATA][0] = 3 + (uint32_t)wrap;
		avoid(&f, 2);
		expect(&f, wrap ? four : three, 3 + (uint32_t)wrap);
	}
	init(&f, 6, 0, 0);
	f.problem.level[0].kind = LEVEL_RING;
	f.placement.factor[DIMENSION_DATA][0] = 4;
	avoid(&f, 2);
	expect_none(&f);
}

/* A torus of 4 x 4 without wrap, device 5 at (1, 1) avoided: the first box of 2 x 3
 * (x by y) is at x = 2. Of 3 x 2 there is none at y < 2; at y = 2 it begins at x = 0. */
static void test_torus(void **state)
{
	const uint32_t tall[] = { 2, 3, 6, 7, 10, 11 };
	const uint32_t wide[] = { 8, 9, 10, 12, 13, 14 };
	struct fixture f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		init(&f, 4, 4, 0);
		f.problem.level[0].kind = f.problem.level[1].kind = LEVEL_RING;
		f.problem.level[1].joined = true;
		f.placement.factor[DIMENSION_TENSOR][0] = i ? 3 : 2;
		f.placement.factor[DIMENSION_DATA][1] = i ? 2 : 3;
		avoid(&f, 5);
		expect(&f, i ? wide : tall, 6);
	}
}

/* Three nodes of two, a stage each; stage 0 belongs to node 1, the others keep
 * their order. */
static void test_pin(void **state)
{
	const uint32_t devices[] = { 2, 3, 0, 1, 4, 5 };
	struct fixture f;

	(void)state;
	init(&f, 2, 3, 0);
	f.placement.factor[DIMENSION_TENSOR][0] = 2;
	f.placement.factor[DIMENSION_PIPELINE][1] = 3;
	pin(&f, 0, 2, 2);
	pin(&f, 7, 0, 1);		/* there is no such stage */
	expect(&f, devices, 6);
}

/* Stage 0 may be in node 0 or 1, stage 1 in node 0 only: stage 0 makes room. */
static void test_pins_contend(void **state)
{
	const uint32_t devices[] = { 2, 3, 0, 1, 4, 5 };
	struct fixture f;

	(void)state;
	init(&f, 2, 3, 0);
	f.placement.factor[DIMENSION_TENSOR][0] = 2;
	f.placement.factor[DIMENSION_PIPELINE][1] = 3;
	pin(&f, 0, 0, 4);
	pin(&f, 1, 0, 2);
	expect(&f, devices, 6);
}

/* Two stages in one node of two devices cannot both be tensor groups of 2. */
static void test_pins_conflict(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, 2, 3, 0);
	f.placement.factor[DIMENSION_TENSOR][0] = 2;
	f.placement.factor[DIMENSION_PIPELINE][1] = 3;
	pin(&f, 0, 0, 2);
	pin(&f, 1, 0, 2);
	expect_none(&f);
}

/* The last stage of a ring of four that wraps, on device 0: the ring turns by one. */
static void test_pin_ring(void **state)
{
	const uint32_t devices[] = { 1, 2, 3, 0 };
	struct fixture f;

	(void)state;
	init(&f, 4, 0, 0);
	f.problem.level[0].kind = LEVEL_RING;
	f.problem.level[0].wrap = true;
	f.placement.factor[DIMENSION_PIPELINE][0] = 4;
	pin(&f, 0, 0, 1);
	f.pin[0].last = true;
	expect(&f, devices, 4);
}

/* Tensor 3 x data 3 on four nodes of four. As they come the second group lies in two
 * nodes; kept whole, each has a node. Four groups would need a fifth node, as two
 * devices are avoided in node 1. */
static void test_linear(void **state)
{
	const uint32_t loose[] = { 0, 1, 2, 3, 4, 7, 8, 9, 10 };
	const uint32_t whole[] = { 0, 1, 2, 8, 9, 10, 12, 13, 14 };
	uint32_t degree[DIMENSION_COUNT] = { 3, 1, 3, 1 };

	(void)state;
	for (uint32_t aligned = 0; aligned < 2; aligned++) {
		struct fixture f;

		init(&f, 4, 4, 0);
		avoid(&f, 5);
		avoid(&f, 6);
		f.placement = linear_placement(degree, PACKING_DATA_PIPELINE,
					       aligned);
		expect(&f, aligned ? whole : loose, 9);
	}
	for (uint32_t aligned = 0; aligned < 2; aligned++) {
		struct fixture f;

		init(&f, 4, 4, 0);
		avoid(&f, 5);
		avoid(&f, 6);
		degree[DIMENSION_DATA] = 4;
		f.placement = linear_placement(degree, PACKING_DATA_PIPELINE,
					       aligned);
		if (aligned)
			expect_none(&f);
		else
			arena_release(&f.arena);
	}
}

/* Pipeline 2 inside data 2: ranks are numbered data first all the same. */
static void test_linear_order(void **state)
{
	const uint32_t devices[] = { 0, 2, 1, 3 };
	const uint32_t degree[DIMENSION_COUNT] = { 1, 1, 2, 2 };
	struct fixture f;

	(void)state;
	init(&f, 4, 0, 0);
	f.placement = linear_placement(degree, PACKING_PIPELINE_DATA, 0);
	expect(&f, devices, 4);
}

/* Three groups of two in order: factors say the same on nodes of two, not of four. */
static void test_factored(void **state)
{
	const uint32_t degree[DIMENSION_COUNT] = { 2, 1, 3, 1 };
	struct placement linear = linear_placement(degree, PACKING_DATA_PIPELINE, 0);
	struct placement factors;
	struct fixture f;
	const uint32_t *device;

	(void)state;
	/* 2 x 3 in order on nodes of four: two groups in node 0, one in node 1. */
	init(&f, 4, 2, 0);
	device = devices_lay(&f.problem, &linear, &f.arena);
	assert_false(linear_is_factored(&f.problem, &linear, device, &factors));
	arena_release(&f.arena);
	/* On nodes of two each group has one: factors 2 in a node, 3 across. */
	init(&f, 2, 4, 0);
	device = devices_lay(&f.problem, &linear, &f.arena);
	assert_true(linear_is_factored(&f.problem, &linear, device, &factors));
	assert_int_equal(factors.factor[DIMENSION_TENSOR][0], 2);
	assert_int_equal(factors.factor[DIMENSION_DATA][1], 3);
	arena_release(&f.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_avoid),
		cmocka_unit_test(test_pipeline_inside),
		cmocka_unit_test(test_neither_order),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_torus),
		cmocka_unit_test(test_pin),
		cmocka_unit_test(test_pins_contend),
		cmocka_unit_test(test_pins_conflict),
		cmocka_unit_test(test_pin_ring),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_linear_order),
		cmocka_unit_test(test_factored),
	};

	return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Patterns of collectives against their text in graph_lines.h, copy by copy.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/graph_pattern.h"

#define SIZE_MOST 36

struct sends {
	double bytes[SIZE_MOST][SIZE_MOST];	/* from, to */
};

static struct sends sum_up(const struct graph_pattern *pattern)
{
	struct sends sends = { { { 0 } } };

	for (uint32_t i = 0; i < pattern->count; i++)
		sends.bytes[pattern->send[i].from][pattern->send[i].to] +=
			pattern->send[i].bytes;
	return sends;
}

static void assert_same(const struct sends *a, const struct sends *b)
{
	for (uint32_t i = 0; i < SIZE_MOST; i++)
		for (uint32_t j = 0; j < SIZE_MOST; j++)
			assert_true(fabs(a->bytes[i][j] - b->bytes[i][j]) < 1e-12);
}

static struct graph_groups groups_of(uint32_t a, uint32_t b, uint32_t c)
{
	return (struct graph_groups){
		.count = 1,
		.size = a * b * c,
		.level_count = 3,
		.members = { a, b, c },
	};
}

static const uint32_t kinds[][3] = {
	{ 1, 1, 5 }, { 5, 1, 1 }, { 1, 5, 1 }, { 2, 3, 1 }, { 2, 1, 3 },
	{ 3, 2, 4 }, { 4, 3, 3 }, { 2, 2, 2 }, { 1, 4, 3 }, { 6, 2, 1 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Place i of copy k, digit by digit. */
static uint32_t member_at(const struct graph_groups *groups, uint32_t i, uint32_t k)
{
	uint32_t member = 0, below = 1;

	for (uint32_t l = 0; l < 3; l++) {
		uint32_t n = groups->members[l];

		member += (i / below % n + k / below % n) % n * below;
		below *= n;
	}
	return member;
}

/* From each member of each copy to both neighbours (n - 1)/n / N_t / 2. */
static void test_flat_ring(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct graph_groups groups = groups_of(kinds[kind][0], kinds[kind][1],
						       kinds[kind][2]);
		uint32_t n = groups.size;
		uint32_t copies = n / groups.members[graph_top_level(&groups)];
		double bytes = (n - 1.0) / n / copies / 2;
		struct sends want = { { { 0 } } }, have;
		struct graph_flat_ring ring;
		struct graph_pattern pattern;
		struct arena arena;

		arena_init(&arena);
		ring = graph_flat_ring(&groups, &arena);
		assert_int_equal(ring.copies, copies);
		for (uint32_t k = 0; k < copies; k++) {
			uint32_t member = k;

			for (uint32_t i = 0; i < n; i++) {
				uint32_t a = member_at(&groups, i, k);
				uint32_t b = member_at(&groups, (i + 1) % n, k);

				assert_int_equal(member, a);
				member = ring.next[ring.carry[i] * n + member];
				want.bytes[a][b] += bytes;
				want.bytes[b][a] += bytes;
			}
			assert_int_equal(member, k);
		}
		pattern = graph_flat_around(&ring, &arena);
		have = sum_up(&pattern);
		assert_same(&have, &want);
		arena_release(&arena);
	}
}

/* The level at which two members differ; they must at one only. */
static uint32_t level_between(const struct graph_groups *groups, uint32_t a, uint32_t b)
{
	uint32_t below = 1, level = 3;

	for (uint32_t l = 0; l < 3; l++) {
		uint32_t n = groups->members[l];

		if (a / below % n != b / below % n) {
			assert_int_equal(level, 3);
			level = l;
		}
		below *= n;
	}
	return level;
}

/* A copy is the members of one place inside the children below a level, there 1 / N_t:
 * two trees of n_l - 1 sends each, with half of it. Of all copies every member is an
 * inner node once, so no member hears from more than two in each tree, nor sends to
 * more than one. */
static void test_trees(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct graph_groups groups = groups_of(kinds[kind][0], kinds[kind][1],
						       kinds[kind][2]);
		double sent[3] = { 0 }, up[SIZE_MOST][3] = { { 0 } };
		double down[SIZE_MOST][3] = { { 0 } }, below = 1;
		struct graph_pattern pattern;
		struct arena arena;

		arena_init(&arena);
		pattern = graph_trees(&groups, &arena);
		for (uint32_t i = 0; i < pattern.count; i++) {
			const struct graph_send *send = &pattern.send[i];
			uint32_t l = level_between(&groups, send->from, send->to);

			sent[l] += send->bytes;
			up[send->from][l] += send->bytes;
			down[send->to][l] += send->bytes;
		}
		for (uint32_t l = 0; l < 3; l++) {
			double n = groups.members[l];

			assert_true(fabs(sent[l] - groups.size / below * (n - 1) / n) <
				    1e-12);
			for (uint32_t m = 0; m < groups.size; m++) {
				assert_true(up[m][l] < 1 / below + 1e-12);
				assert_true(down[m][l] < 2 / below + 1e-12);
			}
			below *= n;
		}
		arena_release(&arena);
	}
}

/* Below the highest level all copies together load every member alike: each digit is
 * the root as often. With three, a root has 2 children, at most. */
static void test_trees_alike(void **state)
{
	struct graph_groups groups = groups_of(3, 1, 2);
	struct graph_pattern pattern;
	struct sends sends;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	pattern = graph_trees(&groups, &arena);
	sends = sum_up(&pattern);
	for (uint32_t m = 0; m < 3; m++) {
		double out = 0, in = 0;

		for (uint32_t i = 0; i < 3; i++) {
			out += sends.bytes[m][i];
			in += sends.bytes[i][m];
		}
		/* 2/3 a member, as two of three send to a parent. */
		assert_true(fabs(out - 2.0 / 3) < 1e-12);
		assert_true(fabs(in - 2.0 / 3) < 1e-12);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat_ring),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_trees_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

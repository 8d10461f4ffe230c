/* SPDX-License-Identifier: MIT
 *
 * The bump allocator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"

static void test_alignment_and_zero(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (size_t size = 0; size < 300; size++) {
		unsigned char *at = arena_alloc(&arena, size);

		assert_non_null(at);
		assert_int_equal((uintptr_t)at % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(at[i], 0);
		memset(at, 0xa5, size);
	}
	arena_release(&arena);
}

/* Allocations of all sizes, also beyond one block, do not overlap. */
static void test_no_overlap(void **state)
{
	static const size_t sizes[] = { 1, 16, 100, 70000, 8, 5000000, 3 };
	enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
	unsigned char *at[COUNT];
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < COUNT; i++) {
		at[i] = arena_alloc(&arena, sizes[i]);
		memset(at[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(at[i][j], i + 1);
	arena_release(&arena);
	assert_null(arena.block);
	assert_int_equal(arena.total_bytes, 0);
}

static void test_rewind(void **state)
{
	struct arena arena;
	struct arena_mark mark;
	size_t before;
	char *kept;

	(void)state;
	arena_init(&arena);
	kept = arena_copy(&arena, "kept", 4);
	mark = arena_mark(&arena);
	before = arena.total_bytes;
	for (int round = 0; round < 3; round++) {
		unsigned char *scratch = arena_alloc(&arena, 50);

		for (int i = 0; i < 50; i++)
			assert_int_equal(scratch[i], 0);
		memset(scratch, 0xff, 50);
		arena_alloc(&arena, 1000000);
		assert_true(arena.total_bytes > before);
		arena_rewind(&arena, mark);
		assert_int_equal(arena.total_bytes, before);
	}
	assert_string_equal(kept, "kept");
	arena_release(&arena);
}

/* A mark taken before anything was allocated empties the arena. */
static void test_rewind_to_nothing(void **state)
{
	struct arena arena;
	struct arena_mark mark;

	(void)state;
	arena_init(&arena);
	mark = arena_mark(&arena);
	arena_alloc(&arena, 10);
	arena_rewind(&arena, mark);
	assert_null(arena.block);
	assert_non_null(arena_alloc(&arena, 10));
	arena_release(&arena);
}

static void test_strings(void **state)
{
	struct arena arena;
	char *copy;

	(void)state;
	arena_init(&arena);
	copy = arena_copy(&arena, "a\0b", 3);
	assert_memory_equal(copy, "a\0b\0", 4);
	assert_string_equal(arena_copy(&arena, NULL, 0), "");
	assert_string_equal(arena_printf(&arena, "%s is %d", "six", 6),
			    "six is 6");
	assert_int_equal(strlen(arena_printf(&arena, "%70000d", 1)), 70000);
	arena_release(&arena);
}

static void test_vec(void **state)
{
	VEC(int) vec = { 0 };
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (int i = 0; i < 1000; i++)
		VEC_PUSH(&vec, &arena, i * i);
	assert_int_equal(vec.count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(vec.at[i], i * i);
	VEC_GROW(&vec, &arena);
	assert_int_equal(vec.at[1000], 0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_and_zero),
		cmocka_unit_test(test_no_overlap),
		cmocka_unit_test(test_rewind),
		cmocka_unit_test(test_rewind_to_nothing),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_vec),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}

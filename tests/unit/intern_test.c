/* SPDX-License-Identifier: MIT
 *
 * Unique strings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lang/base/intern.h"

static void test_same_pointer(void **state)
{
	struct arena arena;
	struct intern intern;
	char mutable[] = "tensor";
	const char *first;

	(void)state;
	arena_init(&arena);
	intern_init(&intern, &arena);
	first = intern_string(&intern, mutable);
	assert_ptr_not_equal(first, mutable);
	assert_ptr_equal(first, intern_bytes(&intern, "tensors", 6));
	mutable[0] = 'x';
	assert_string_equal(first, "tensor");
	assert_ptr_not_equal(first, intern_string(&intern, "tensors"));
	assert_ptr_not_equal(first, intern_string(&intern, "tenso"));
	assert_int_equal(intern.count, 3);
	arena_release(&arena);
}

static void test_odd_strings(void **state)
{
	struct arena arena;
	struct intern intern;
	const char *empty, *nul;

	(void)state;
	arena_init(&arena);
	intern_init(&intern, &arena);
	empty = intern_string(&intern, "");
	nul = intern_bytes(&intern, "a\0b", 3);
	assert_string_equal(empty, "");
	assert_ptr_equal(empty, intern_bytes(&intern, "zzz", 0));
	assert_memory_equal(nul, "a\0b\0", 4);
	assert_ptr_not_equal(nul, intern_string(&intern, "a"));
	arena_release(&arena);
}

/* Pointers stay valid and unique while the table grows. */
static void test_many(void **state)
{
	enum { COUNT = 20000 };
	static const char *seen[COUNT];
	struct arena arena;
	struct intern intern;
	char name[32];

	(void)state;
	arena_init(&arena);
	intern_init(&intern, &arena);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "name_%d", i);
		seen[i] = intern_string(&intern, name);
	}
	assert_int_equal(intern.count, COUNT);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "name_%d", i);
		assert_string_equal(seen[i], name);
		assert_ptr_equal(seen[i], intern_string(&intern, name));
	}
	assert_int_equal(intern.count, COUNT);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_pointer),
		cmocka_unit_test(test_odd_strings),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Results are found by their whole key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/memo.h"

static void test_find(void **state)
{
	static struct memo memo;
	uint32_t key[3] = { 0 };

	(void)state;
	memo_init(&memo, 1 << 20);
	assert_null(memo_find(&memo, key, 0));
	/* More keys than slots. */
	for (uint32_t i = 0; i < 2 * MEMO_SLOTS; i++) {
		key[1] = i;
		assert_null(memo_find(&memo, key, 3));
		memo_keep(&memo, key, 3, &i, sizeof(i));
	}
	for (uint32_t i = 0; i < 2 * MEMO_SLOTS; i++) {
		const uint32_t *found;

		key[1] = i;
		found = memo_find(&memo, key, 3);
		assert_non_null(found);
		assert_int_equal(*found, i);
	}
	/* Part of a key is another. */
	assert_null(memo_find(&memo, key, 2));
	key[2] = 1;
	assert_null(memo_find(&memo, key, 3));
	memo_release(&memo);
}

static void test_full(void **state)
{
	static struct memo memo;
	uint32_t key = 7, result[256] = { 1 };

	(void)state;
	memo_init(&memo, sizeof(result));
	memo_keep(&memo, &key, 1, result, sizeof(result));
	assert_null(memo_find(&memo, &key, 1));
	memo_keep(&memo, &key, 1, result, sizeof(*result));
	assert_non_null(memo_find(&memo, &key, 1));
	memo_release(&memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

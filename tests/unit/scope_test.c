/* SPDX-License-Identifier: MIT
 *
 * Scopes: shadowing, growth, imports and their rivals, suggestions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/base/intern.h"
#include "lang/compilation.h"
#include "lang/scope.h"
#include "lang/symbol.h"

const struct embedded_file nest_stdlib[] = { { 0 } };

struct fixture {
	struct arena arena;
	struct intern intern;
};

static int setup(void **state)
{
	static struct fixture fixture;

	arena_init(&fixture.arena);
	intern_init(&fixture.intern, &fixture.arena);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	arena_release(&fixture->arena);
	return 0;
}

static struct value number(double n)
{
	return value_of_number(n, UNIT_NONE, SPAN_NONE);
}

static void test_inner_hides_outer(void **state)
{
	struct fixture *fixture = *state;
	struct scope *outer = scope_new(&fixture->arena, NULL);
	struct scope *inner = scope_new(&fixture->arena, outer);
	const char *x = intern_string(&fixture->intern, "x");
	const char *y = intern_string(&fixture->intern, "y");

	scope_set(outer, x, number(1));
	scope_set(outer, y, number(2));
	scope_set(inner, x, number(3));
	assert_true(scope_find(inner, x)->value.number == 3);
	assert_true(scope_find(inner, y)->value.number == 2);
	assert_true(scope_find(outer, x)->value.number == 1);
	assert_null(scope_find_here(inner, y));
	assert_null(scope_add(inner, x));
	assert_null(scope_find(inner, intern_string(&fixture->intern, "z")));
}

static void test_many_names(void **state)
{
	struct fixture *fixture = *state;
	struct scope *scope = scope_new(&fixture->arena, NULL);

	for (int i = 0; i < 5000; i++)
		scope_set(scope,
			  intern_string(&fixture->intern,
					arena_printf(&fixture->arena, "n%d", i)),
			  number(i));
	assert_int_equal(scope->count, 5000);
	for (int i = 0; i < 5000; i++)
		assert_true(scope_find(scope,
				       intern_string(&fixture->intern,
						     arena_printf(&fixture->arena,
								  "n%d", i)))
				    ->value.number == i);
}

static void test_import_shares_the_binding(void **state)
{
	struct fixture *fixture = *state;
	struct scope *home = scope_new(&fixture->arena, NULL);
	struct scope *other = scope_new(&fixture->arena, NULL);
	struct scope *user = scope_new(&fixture->arena, NULL);
	const char *x = intern_string(&fixture->intern, "x");

	scope_set(home, x, number(1));
	scope_set(other, x, number(2));
	scope_import(user, scope_find(home, x), NULL);
	assert_ptr_equal(scope_find(user, x), scope_find(home, x));
	/* The same module once more is no rival. */
	scope_import(user, scope_find(home, x), NULL);
	assert_null(scope_find(user, x)->rival);
	scope_import(user, scope_find(other, x), NULL);
	assert_ptr_equal(scope_find(user, x)->rival, scope_find(other, x));
}

static void test_suggestions(void **state)
{
	struct fixture *fixture = *state;
	struct scope *outer = scope_new(&fixture->arena, NULL);
	struct scope *inner = scope_new(&fixture->arena, outer);

	scope_set(outer, intern_string(&fixture->intern, "hidden"), number(1));
	scope_set(inner, intern_string(&fixture->intern, "heads"), number(1));
	/* Equally far from both: the first in the alphabet, on every run. */
	scope_set(inner, intern_string(&fixture->intern, "nodes"), number(1));
	scope_set(inner, intern_string(&fixture->intern, "modes"), number(1));
	assert_string_equal(scope_suggest(inner, "hiddne"), "hidden");
	assert_string_equal(scope_suggest(inner, "haeds"), "heads");
	assert_string_equal(scope_suggest(inner, "lodes"), "modes");
	assert_null(scope_suggest(inner, "vocabulary"));
	assert_null(scope_suggest(outer, "heads"));
}

static void test_symbols(void **state)
{
	(void)state;
	assert_true(symbol_is_known(SYMBOL_WORD, "bf16"));
	assert_false(symbol_is_known(SYMBOL_WORD, "tensor"));
	assert_true(symbol_is_known(SYMBOL_PLAN, "tensor"));
	assert_true(symbol_is_known(SYMBOL_SPLIT, "context"));
	assert_false(symbol_is_known(SYMBOL_SPLIT, "pipeline"));
	assert_string_equal(symbol_suggest(SYMBOL_WORD, "selectve"), "selective");
	assert_string_equal(symbol_at(SYMBOL_SPLIT, 0), "tensor");
	assert_null(symbol_at(SYMBOL_SPLIT, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_inner_hides_outer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_many_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_import_shares_the_binding,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_suggestions, setup,
						teardown),
		cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

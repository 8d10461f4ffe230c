/* SPDX-License-Identifier: MIT
 *
 * Evaluation: arithmetic with dimensions, calls, records, `with`, limits, and
 * what each mistake is called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/lang_run.h"

static const char prelude[] =
	"nest 1\n"
	"template embedding(vocab, hidden) {\n"
	"  ids : [batch, seq]\n"
	"  return embedding(ids, vocab -> hidden)\n"
	"}\n";

const struct embedded_file nest_stdlib[] = {
	{ "prelude.nest", prelude, sizeof(prelude) - 1 },
	{ 0 }
};

static void assert_values(const char *spec, const char *const (*expected)[2])
{
	struct run run;

	run_open(&run, spec);
	assert_true(run_is_clean(&run));
	for (; (*expected)[0]; expected++) {
		const char *text = run_text(&run, (*expected)[0]);

		if (strcmp(text, (*expected)[1]))
			print_error("%s\n", (*expected)[0]);
		assert_string_equal(text, (*expected)[1]);
	}
	assert_int_equal(run.compilation.diags.errors, 0);
	run_close(&run);
}

struct mistake {
	const char *expression;
	enum diag_code code;
	const char *words;	/* somewhere in what is said; or NULL */
};

/* Each gives exactly one error. */
static void assert_mistakes(const char *spec, const struct mistake *mistake)
{
	for (; mistake->expression; mistake++) {
		struct run run;

		run_open(&run, spec);
		assert_true(run_is_clean(&run));
		print_message("# %s\n", mistake->expression);
		assert_string_equal(run_text(&run, mistake->expression),
				    "error");
		assert_int_equal(run.compilation.diags.errors, 1);
		assert_int_equal(run_code(&run), mistake->code);
		if (mistake->words)
			assert_true(run_says(&run, mistake->words));
		run_close(&run);
	}
}

static void test_arithmetic(void **state)
{
	static const char *const expected[][2] = {
		{ "1 + 2 * 3", "7" },
		{ "(1 + 2) * 3", "9" },
		{ "7 / 2", "3.5" },		/* never truncates */
		{ "2 ^ 3 ^ 2", "512" },		/* 2 ^ 9: right to left */
		{ "2 ^ -2", "0.25" },
		{ "-2 ^ 2", "-4" },		/* the sign comes last */
		{ "7 % 3", "1" },
		{ "-1 % 8", "7" },		/* sign of the divisor */
		{ "1 % -8", "-7" },
		{ "-7 % -3", "-1" },
		{ "128_256 * 2", "256512" },
		{ "0 - 0", "0" },
		{ "-0", "0" },
		{ "90% * 10", "9" },
		{ "1 < 2 and 2 <= 2 and not 3 < 2", "true" },
		{ "1 == 2 or 1 != 2", "true" },
		{ "false and 1 / 0 > 1", "false" },	/* right side not looked at */
		{ "true or 1 / 0 > 1", "true" },
		{ "if 1 > 2 then 1 / 0 else 3", "3" },
		{ "bf16 == bf16", "true" },
		{ "bf16 != fp8", "true" },
		{ "\"a\" == \"b\"", "false" },
		{ "2 in { 1, 2 }", "true" },
		{ "3 in { 1, 2 }", "false" },
		{ "{ 1, 4 .. 6 }", "{ 1, 4, 5, 6 }" },
		{ "7 in 1 .. 20 step 3", "true" },	/* 1 4 7 */
		{ "8 in 1 .. 20 step 3", "false" },
		{ "2.5 in 1 .. 20", "false" },
		{ "[4, 5, 6][2]", "6" },
		{ "(1 .. 20 step 3)[2]", "7" },
		{ "count(5 .. 4)", "0" },
		{ NULL, NULL }
	};

	(void)state;
	assert_values("", expected);
}

static void test_dimensions(void **state)
{
	static const char *const expected[][2] = {
		{ "80GiB + 16GiB", "96 GiB" },
		/* 80 x 2^30 bytes in 2 s = 40 x 2^30 B/s */
		{ "80GiB / 2s == 40GiB / 1s", "true" },
		{ "450GB/s * 2s", "900 GB" },
		{ "400Gb/s == 50GB/s", "true" },	/* 8 bits a byte */
		{ "1GiB == 1024MiB", "true" },
		{ "1GB == 1000MB", "true" },
		{ "80GiB / 20GiB", "4" },
		{ "80GiB > 0", "true" },		/* zero needs no unit */
		{ "0 + 5us", "5 us" },
		{ "5us - 0", "5 us" },
		{ "max(0, 3GiB)", "3 GiB" },
		{ "(2GiB) ^ 2 / 2GiB == 2GiB", "true" },
		{ "sqrt((2GiB) ^ 2)", "2 GiB" },
		{ "abs(-3us)", "3 us" },
		{ "3600$/h * 1s", "1 $" },		/* 3600 $/h = 1 $/s */
		{ "sum([1GiB, 512MiB, 512MiB])", "2 GiB" },
		{ NULL, NULL }
	};

	(void)state;
	assert_values("", expected);
}

static void test_builtins(void **state)
{
	static const char *const expected[][2] = {
		{ "min(3, 1, 2)", "1" },
		{ "max([3, 1, 2])", "3" },
		{ "min(4 .. 9)", "4" },
		{ "ceil(2.1)", "3" },
		{ "ceil(-0.5)", "0" },
		{ "floor(-2.1)", "-3" },
		{ "round(2.5)", "3" },
		{ "log2(1024)", "10" },
		{ "sqrt(144)", "12" },
		{ "sum(1 .. 100)", "5050" },	/* 100 x 101 / 2 */
		{ "sum([])", "0" },
		{ "count({ 3, 4 })", "2" },
		{ NULL, NULL }
	};

	(void)state;
	assert_values("", expected);
}

static void test_mistakes(void **state)
{
	static const struct mistake mistakes[] = {
		{ "80GiB + 5us", E_DIMENSION, "a time" },
		{ "80GiB - 5", E_DIMENSION, "5GiB" },
		{ "80GiB < 5us", E_DIMENSION, NULL },
		{ "80GiB == 5", E_DIMENSION, NULL },
		{ "max(1GiB, 1us)", E_DIMENSION, NULL },
		{ "sum([1, 1us])", E_DIMENSION, NULL },
		{ "3GiB in { 1us }", E_DIMENSION, NULL },
		{ "1 / 0", E_DIVISION_BY_ZERO, NULL },
		{ "1 % 0", E_DIVISION_BY_ZERO, NULL },
		{ "0 ^ -1", E_DIVISION_BY_ZERO, NULL },
		{ "1e308 * 10", E_OVERFLOW, NULL },
		{ "10 ^ 400", E_OVERFLOW, NULL },
		{ "(1GiB) ^ 200", E_OVERFLOW, NULL },
		{ "2 ^ 0.5", E_NOT_WHOLE, NULL },
		{ "7.5 % 2", E_NOT_WHOLE, NULL },
		/* 2^54 is beyond what is surely exact */
		{ "2 ^ 54 % 2", E_OUT_OF_RANGE, "2^53" },
		{ "7GiB % 2", E_TYPE, NULL },
		{ "1 .. 2.5", E_NOT_WHOLE, NULL },
		{ "1 .. 5 step 0", E_OUT_OF_RANGE, NULL },
		{ "[1, 2][2]", E_INDEX, "from 0 to 1" },
		{ "[1, 2][-1]", E_INDEX, NULL },
		{ "[1, 2][0.5]", E_NOT_WHOLE, NULL },
		{ "3[0]", E_TYPE, NULL },
		{ "if 1 then 2 else 3", E_TYPE, NULL },
		{ "not 3", E_TYPE, NULL },
		{ "true + 1", E_TYPE, NULL },
		{ "bf16 + 1", E_TYPE, "'bf16' is only a word" },
		{ "bf16 == 1", E_TYPE, NULL },
		{ "[1] == [1]", E_TYPE, NULL },
		{ "-\"a\"", E_TYPE, NULL },
		{ "sqrt(-1)", E_UNDEFINED, NULL },
		{ "sqrt(2GiB)", E_DIMENSION, NULL },
		{ "log2(0)", E_UNDEFINED, NULL },
		{ "min([])", E_UNDEFINED, NULL },
		{ "ceil(3us)", E_TYPE, NULL },
		{ "count(3)", E_TYPE, NULL },
		{ "max()", E_MISSING_ARGUMENT, NULL },
		{ "ceil(1, 2)", E_MISSING_ARGUMENT, NULL },
		{ "ceil(x = 1)", E_UNKNOWN_PARAMETER, NULL },
		{ "unheard_of", E_UNKNOWN_NAME, NULL },
		{ "bf17", E_UNKNOWN_NAME, "did you mean 'bf16'" },
		{ "cieling(3)", E_UNKNOWN_NAME, NULL },
		{ "mxa(3)", E_UNKNOWN_NAME, "did you mean 'max'" },
		{ NULL, 0, NULL }
	};

	(void)state;
	assert_mistakes("", mistakes);
}

static const char functions[] =
	"let base = 10\n"
	"fn add(a, b = 2 * a) = a + b + base\n"
	"fn typed(n: int, s: size = 1GiB, on: bool = false) = s * n\n"
	"fn outer(x) = add(x, b = 1)\n"
	"let early = later + 1\n"
	"let later = 41\n";

static void test_functions(void **state)
{
	static const char *const expected[][2] = {
		{ "add(1)", "13" },		/* 1 + 2 + 10 */
		{ "add(1, b = 5)", "16" },
		{ "add(b = 5, a = 1)", "16" },
		{ "add(a = add(1))", "49" },	/* 13 + 26 + 10 */
		{ "outer(3)", "14" },
		{ "typed(3)", "3 GiB" },
		{ "typed(3, s = 0)", "0 B" },	/* zero takes the dimension */
		{ "early", "42" },
		{ NULL, NULL }
	};
	static const struct mistake mistakes[] = {
		{ "add()", E_MISSING_ARGUMENT, "'a'" },
		{ "add(1, 2)", E_POSITIONAL_ARGUMENT, NULL },
		{ "add(1, c = 2)", E_UNKNOWN_PARAMETER, NULL },
		{ "add(1, a = 2)", E_DUPLICATE_ARGUMENT, NULL },
		{ "add(1, later)", E_UNKNOWN_PARAMETER, NULL },
		{ "typed(1.5)", E_NOT_WHOLE, NULL },
		{ "typed(1, s = 5)", E_NEEDS_UNIT, "5GiB" },
		{ "typed(1, s = 5us)", E_DIMENSION, NULL },
		{ "typed(1, on = 3)", E_TYPE, NULL },
		{ "base(3)", E_NOT_CALLABLE, NULL },
		{ "base.member", E_TYPE, NULL },
		{ "add.member", E_TYPE, NULL },
		{ "add + 1", E_TYPE, NULL },
		{ "outer(1us)", E_DIMENSION, "in 'add' used here" },
		{ NULL, 0, NULL }
	};

	(void)state;
	assert_values(functions, expected);
	assert_mistakes(functions, mistakes);
}

/* A bare name stands for `name = name`; a first one that could be both is
 * refused rather than guessed. */
static void test_bare_names(void **state)
{
	static const char *const expected[][2] = {
		{ "direct", "15" },
		{ NULL, NULL }
	};
	static const struct mistake mistakes[] = {
		{ "f(b)", E_POSITIONAL_ARGUMENT, "'a = b' or 'b = b'" },
		{ NULL, 0, NULL }
	};
	static const char spec[] = "let b = 5\n"
				   "fn f(a, b = 1) = a + b\n"
				   "let direct = f(10, b)\n";

	(void)state;
	assert_values(spec, expected);
	assert_mistakes(spec, mistakes);
}

static const char records[] =
	"device card {\n"
	"  memory = 80GiB\n"
	"  usable = 90% * memory\n"
	"  peak { bf16 = 1000TFLOP/s fp8 = 2 * bf16 }\n"
	"}\n"
	"device sized(memory, spare = memory / 8) { size = memory - spare }\n"
	"topology two(device, gpus = 8, nodes = 4) {\n"
	"  device = device\n"
	"  level node { fanout = gpus bandwidth = 450GB/s }\n"
	"  level rack { fanout = nodes bandwidth = 50GB/s }\n"
	"}\n"
	"let cluster = two(device = card)\n"
	"let big = card with { memory = 96GiB peak { bf16 = 1PFLOP/s } }\n"
	"let fast = cluster with { level rack { bandwidth = 100GB/s } }\n";

static void test_records(void **state)
{
	static const char *const expected[][2] = {
		{ "card.memory", "80 GiB" },
		{ "card.usable", "72 GiB" },
		{ "card.peak.fp8", "2 PFLOP/s" },
		{ "sized(8GiB).size", "7 GiB" },
		{ "sized(8GiB).spare", "1 GiB" },
		{ "cluster.devices", "32" },		/* 8 x 4 */
		{ "count(cluster.levels)", "2" },
		{ "cluster.levels[1].fanout", "4" },
		{ "cluster.node.bandwidth", "450 GB/s" },
		{ "cluster.gpus", "8" },
		{ "cluster.device.memory", "80 GiB" },
		{ "two(card, nodes = 3).devices", "24" },
		{ "big.memory", "96 GiB" },
		/* fields made from others keep their values: no late binding */
		{ "big.usable", "72 GiB" },
		{ "big.peak.bf16", "1 PFLOP/s" },
		{ "big.peak.fp8", "2 PFLOP/s" },
		{ "card.memory", "80 GiB" },
		{ "fast.rack.bandwidth", "100 GB/s" },
		{ "fast.rack.fanout", "4" },
		{ "cluster.rack.bandwidth", "50 GB/s" },
		{ NULL, NULL }
	};
	static const struct mistake mistakes[] = {
		{ "card.memroy", E_UNKNOWN_MEMBER, "did you mean 'memory'" },
		{ "card.peak.fp9", E_UNKNOWN_MEMBER, NULL },
		{ "two.devices", E_MISSING_ARGUMENT, "'device'" },
		{ "card with { memory = 96 }", E_DIMENSION, "96GiB" },
		{ "card with { memory = bf16 }", E_WITH, NULL },
		{ "card with { peak = 3 }", E_WITH, NULL },
		{ "card with { memory { x = 1 } }", E_WITH, NULL },
		{ "cluster with { level pod { fanout = 2 } }", E_WITH, NULL },
		{ "cluster with { gpus = 2 }", E_WITH, "as an argument" },
		{ "3 with { memory = 1GiB }", E_TYPE, NULL },
		{ "embedding(vocab = 8, hidden = 4) with { x = 1 }", E_WITH,
		  NULL },
		{ NULL, 0, NULL }
	};

	(void)state;
	assert_values(records, expected);
	assert_mistakes(records, mistakes);
}

static const char models[] =
	"template block(hidden, heads, head_dim = hidden / heads) {\n"
	"  x : [batch, seq, hidden]\n"
	"  q = linear(x, hidden -> heads * head_dim)\n"
	"  return x + linear(attention(q, q, q), heads * head_dim -> hidden)\n"
	"}\n"
	"template tail(hidden) {\n"
	"  x : [batch, seq, hidden]\n"
	"  return x\n"
	"}\n"
	"model small(seq = 1024, hidden = 64, layers_left = 3) {\n"
	"  let heads = 4\n"
	"  rotary_base = 10_000\n"
	"  layers {\n"
	"    embedding(vocab = 100, hidden)\n"
	"    12 * block(hidden, heads)\n"
	"    for i in 1 .. layers_left { block(hidden, heads = i) }\n"
	"    if layers_left > 2 then 2 * tail(hidden) else tail(hidden)\n"
	"    0 * tail(hidden)\n"
	"  }\n"
	"}\n";

static void test_models(void **state)
{
	static const char *const expected[][2] = {
		{ "small(seq = 10, hidden = 48).seq", "10" },
		/* i = 3 does not divide 64, so only up to 2: 12 + 2 blocks */
		{ "small(layers_left = 2).layers", "14" },
		{ NULL, NULL }
	};
	struct run run;
	struct value value;
	const struct record *model;

	(void)state;
	/* 64 / 3 is not whole, and head_dim is an axis. */
	run_open(&run, models);
	assert_false(run.module->clean);
	assert_int_equal(run_code(&run), E_NOT_WHOLE);
	assert_true(run_says(&run, "hidden = 64 is not divisible by heads = 3"));
	assert_true(run_says(&run, "in 'block' used here"));
	run_close(&run);

	run_open(&run, models);
	for (const char *const(*at)[2] = expected; (*at)[0]; at++)
		assert_string_equal(run_text(&run, (*at)[0]), (*at)[1]);
	assert_true(run_value(&run, "small(hidden = 48)", &value));
	model = value.record;
	/* embedding, 12 blocks, 3 single blocks, 2 tails */
	assert_int_equal(model->part_count, 6);
	assert_int_equal(model->part_repeat[0], 1);
	assert_int_equal(model->part_repeat[1], 12);
	assert_int_equal(model->part_repeat[4], 1);
	assert_int_equal(model->part_repeat[5], 2);
	assert_string_equal(model->part[1]->name, "block");
	assert_string_equal(run_text(&run, "small(hidden = 48).hidden"), "48");
	assert_string_equal(run_text(&run, "small(hidden = 48).heads"), "4");
	assert_string_equal(run_text(&run, "small(hidden = 48).rotary_base"),
			    "10000");
	run_close(&run);
}

static void test_wrong_models(void **state)
{
	static const struct mistake mistakes[] = {
		{ "a(3)", E_LAYER, NULL },
		{ "b(3)", E_NOT_WHOLE, NULL },
		{ "c(3)", E_TYPE, NULL },
		{ "d(3)", E_MISSING_FIELD, "layers" },
		{ "e(3)", E_LAYER, NULL },
		{ "f(3)", E_OUT_OF_RANGE, NULL },
		{ NULL, 0, NULL }
	};
	static const char spec[] =
		"template t(hidden) { x : [batch, seq, hidden] return x }\n"
		"model a(h) { layers { 3 } }\n"
		"model b(h) { layers { 2.5 * t(h) } }\n"
		"model c(h) { layers { for i in h { t(i) } } }\n"
		"model d(h) { }\n"
		"model e(h) { layers { 3 * (3 + h) } }\n"
		"model f(h) { layers { (0 - 2) * t(h) } }\n";

	(void)state;
	assert_mistakes(spec, mistakes);
}

/* ---- limits ---- */

static void test_steps(void **state)
{
	static const struct mistake mistakes[] = {
		{ "f25(1)", E_STEP_LIMIT, NULL },	/* 2^25 additions */
		{ "sum(1 .. 10 ^ 12)", E_STEP_LIMIT, NULL },
		{ "{ 1 .. 10 ^ 12 }", E_STEP_LIMIT, NULL },
		{ "m(1)", E_STEP_LIMIT, NULL },
		{ NULL, 0, NULL }
	};
	struct run run;
	struct text spec;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	text_init(&spec, &arena);
	text_append(&spec, "fn f0(x) = x\n");
	for (int i = 1; i <= 25; i++)
		text_printf(&spec, "fn f%d(x) = f%d(x) + f%d(x)\n", i, i - 1,
			    i - 1);
	text_append(&spec,
		    "template t(h) { x : [batch, seq, h] return x }\n"
		    "model m(h) { layers { for i in 1 .. 10 ^ 12 { t(h) } } }\n");
	assert_mistakes(spec.at, mistakes);
	/* 2^10 additions are well within the limit. */
	run_open(&run, spec.at);
	assert_string_equal(run_text(&run, "f10(1)"), "1024");
	run_close(&run);
	arena_release(&arena);
}

static void test_depth(void **state)
{
	struct run run;
	struct text text;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	text_init(&text, &arena);
	/* A chain of 2,000 lets, each the next. */
	for (int i = 0; i < 2000; i++)
		text_printf(&text, "let a%d = a%d\n", i, i + 1);
	text_append(&text, "let a2000 = 1\n");
	run_open(&run, text.at);
	assert_int_equal(run_count(&run, E_DEPTH_LIMIT), 1);
	run_close(&run);
	/* Within the parser's bound of 1000, beyond that of evaluation. */
	text_init(&text, &arena);
	for (int i = 0; i < 600; i++)
		text_append(&text, "not ");
	text_append(&text, "true");
	run_open(&run, "");
	assert_string_equal(run_text(&run, text.at), "error");
	assert_int_equal(run_code(&run), E_DEPTH_LIMIT);
	run_close(&run);
	arena_release(&arena);
}

/* ---- demands the compiler makes ---- */

static const struct ast *parse(struct run *run, const char *expression)
{
	uint32_t file = sources_add(&run->compilation.sources, "e", "e",
				    expression, strlen(expression), false);

	return parse_expression(&run->compilation, file);
}

static void test_demands(void **state)
{
	struct run run;
	struct scope *scope;
	struct value variable = { .kind = VALUE_PLAN_VARIABLE,
				  .string = "tensor" };
	struct record *record;
	int64_t whole;
	double number;
	bool boolean;

	(void)state;
	run_open(&run, records);
	scope = run.module->scope;
	assert_true(eval_number(&run.eval, scope, parse(&run, "2GiB"), UNIT_BYTE,
				"'x'", &number));
	assert_true(number == 2147483648.0);
	assert_true(eval_number(&run.eval, scope, parse(&run, "0"), UNIT_BYTE,
				"'x'", &number));
	assert_true(eval_integer(&run.eval, scope, parse(&run, "3"), 1, 3, "'x'",
				 &whole));
	assert_int_equal(whole, 3);
	assert_true(eval_boolean(&run.eval, scope, parse(&run, "off"), "'x'",
				 &boolean));
	assert_false(boolean);
	assert_true(eval_record(&run.eval, scope, parse(&run, "cluster"),
				RECORD_TOPOLOGY, "'x'", &record));
	number = 7;
	assert_true(eval_field_number(&run.eval, record, "absent", UNIT_BYTE,
				      false, &number));
	assert_true(number == 7);
	assert_int_equal(run.compilation.diags.errors, 0);

	assert_false(eval_number(&run.eval, scope, parse(&run, "2"), UNIT_BYTE,
				 "'x'", &number));
	assert_int_equal(run_code(&run), E_NEEDS_UNIT);
	assert_true(run_says(&run, "2GiB"));
	assert_false(eval_integer(&run.eval, scope, parse(&run, "4"), 1, 3,
				  "'x'", &whole));
	assert_int_equal(run_code(&run), E_OUT_OF_RANGE);
	assert_false(eval_record(&run.eval, scope, parse(&run, "card"),
				 RECORD_TOPOLOGY, "'x'", &record));
	assert_int_equal(run_code(&run), E_TYPE);
	assert_true(eval_record(&run.eval, scope, parse(&run, "card"),
				RECORD_DEVICE, "'x'", &record));
	assert_false(eval_field_number(&run.eval, record, "absent", UNIT_BYTE,
				       true, &number));
	assert_int_equal(run_code(&run), E_MISSING_FIELD);

	scope = scope_new(&run.compilation.arena, scope);
	scope_set(scope, intern_string(&run.compilation.intern, "tensor"),
		  variable);
	assert_false(eval_integer(&run.eval, scope, parse(&run, "2 * tensor"),
				  1, 9, "'x'", &whole));
	assert_int_equal(run_code(&run), E_PLAN_VARIABLE);
	run_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_dimensions),
		cmocka_unit_test(test_builtins),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_bare_names),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_wrong_models),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_demands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

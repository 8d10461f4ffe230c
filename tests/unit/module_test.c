/* SPDX-License-Identifier: MIT
 *
 * Modules: where imports are looked for, what they make visible, cycles,
 * overrides, and the names of declarations nobody uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "tests/unit/diags_look.h"
#include "tests/unit/lang_run.h"

#define EMBEDDED(path, text) { path, text, sizeof(text) - 1 }

const struct embedded_file nest_stdlib[] = {
	EMBEDDED("prelude.nest", "nest 1\nlet from_prelude = 1\nlet hidden_here = 2\n"),
	EMBEDDED("device/card.nest",
		 "nest 1\nimport \"../base.nest\"\n"
		 "device card { memory = base_size }\nlet shared = 1\n"),
	EMBEDDED("base.nest", "nest 1\nlet base_size = 8GiB\n"),
	EMBEDDED("device/other.nest", "nest 1\nlet shared = 2\nlet other = 3\n"),
	EMBEDDED("out.nest", "nest 1\nimport \"../../etc/passwd\"\n"),
	{ 0 }
};

/* A directory of files, and what loading one of them gives. */
struct tree {
	struct compilation compilation;
	struct eval eval;
	char directory[64];
	char names[16][96];
	unsigned count;
};

static int setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	snprintf(tree->directory, sizeof(tree->directory),
		 "/tmp/nest_module_XXXXXX");
	if (!mkdtemp(tree->directory))
		return -1;
	compilation_init(&tree->compilation);
	eval_init(&tree->eval, &tree->compilation);
	*state = tree;
	return 0;
}

static int teardown(void **state)
{
	struct tree *tree = *state;

	while (tree->count)
		remove(tree->names[--tree->count]);
	rmdir(tree->directory);
	compilation_release(&tree->compilation);
	free(tree);
	return 0;
}

static const char *path_in(struct tree *tree, const char *name)
{
	return arena_printf(&tree->compilation.arena, "%s/%s", tree->directory,
			    name);
}

static void add(struct tree *tree, const char *name, const char *text)
{
	FILE *file = fopen(path_in(tree, name), "w");

	assert_non_null(file);
	fprintf(file, "nest 1\n%s", text);
	fclose(file);
	snprintf(tree->names[tree->count++], sizeof(tree->names[0]), "%s",
		 path_in(tree, name));
}

static void add_directory(struct tree *tree, const char *name)
{
	assert_int_equal(mkdir(path_in(tree, name), 0700), 0);
	snprintf(tree->names[tree->count++], sizeof(tree->names[0]), "%s",
		 path_in(tree, name));
}

static struct module *load(struct tree *tree, const char *name)
{
	return module_load(&tree->compilation, path_in(tree, name));
}

static unsigned count(const struct tree *tree, enum diag_code code)
{
	return diags_count(&tree->compilation.diags, code);
}

static bool says(const struct tree *tree, const char *words)
{
	return diags_say(&tree->compilation.diags, words);
}

static const char *value(struct tree *tree, const struct module *module,
			 const char *name)
{
	struct binding *binding;
	struct ast node = { .kind = AST_NAME, .span = SPAN_NONE };
	struct value result;
	struct text text;

	node.name = intern_string(&tree->compilation.intern, name);
	binding = scope_find(module->scope, node.name);
	if (!binding || !eval_expression(&tree->eval, module->scope, &node,
					 &result))
		return "error";
	text_init(&text, &tree->compilation.arena);
	value_print(&result, &text);
	return text.at;
}

static void test_relative_and_library(void **state)
{
	struct tree *tree = *state;
	struct module *module;

	add(tree, "a.nest", "import \"./b.nest\"\nimport std.device.card\n"
			    "let size = card.memory\nlet hidden_here = 5\n"
			    "let sum = b + hidden_here + from_prelude\n");
	add(tree, "b.nest", "import \"c.nest\"\nlet b = 2 * c\n");
	add(tree, "c.nest", "let c = 10\n");
	module = load(tree, "a.nest");
	assert_true(module->clean);
	assert_string_equal(value(tree, module, "size"), "8 GiB");
	/* 20 of b, 5 of its own (which hides the prelude's), 1 of the prelude */
	assert_string_equal(value(tree, module, "sum"), "26");
	/* c is not passed on by b. */
	assert_string_equal(value(tree, module, "c"), "error");
}

static void test_import_path(void **state)
{
	struct tree *tree = *state;
	const char *paths[2];
	struct module *module;

	add_directory(tree, "lib");
	add_directory(tree, "lib/std");
	add_directory(tree, "lib/net");
	add(tree, "lib/net/ring.nest", "let ring_size = 4\n");
	add(tree, "lib/std/base.nest", "let base_size = 16GiB\n");
	add(tree, "a.nest", "import net.ring\nimport \"net/ring.nest\" as r\n"
			    "import std.base\nlet same = r.ring_size\n");
	paths[0] = path_in(tree, "nowhere");
	paths[1] = path_in(tree, "lib");
	tree->compilation.import_path = paths;
	tree->compilation.import_path_count = 2;
	module = load(tree, "a.nest");
	assert_true(module->clean);
	assert_string_equal(value(tree, module, "ring_size"), "4");
	assert_string_equal(value(tree, module, "same"), "4");
	/* The directory comes before what is embedded. */
	assert_string_equal(value(tree, module, "base_size"), "16 GiB");
}

static void test_alias(void **state)
{
	struct tree *tree = *state;
	struct module *module;

	add(tree, "a.nest", "import \"./b.nest\" as f\nlet x = f.b + f.twice(3)\n");
	add(tree, "b.nest", "let b = 1\nfn twice(n) = 2 * n\n");
	module = load(tree, "a.nest");
	assert_true(module->clean);
	assert_string_equal(value(tree, module, "x"), "7");
	assert_string_equal(value(tree, module, "b"), "error");
}

static void test_read_once(void **state)
{
	struct tree *tree = *state;
	unsigned modules = 0;

	/* c is reached three ways, once through a link of another name. */
	add(tree, "a.nest", "import \"./b.nest\"\nimport \"././c.nest\"\n"
			    "import \"./d.nest\" as d\nlet x = c + d.c\n");
	add(tree, "b.nest", "import \"./c.nest\"\nlet b = c\n");
	add(tree, "c.nest", "let c = 10\n");
	assert_int_equal(symlink(path_in(tree, "c.nest"),
				 path_in(tree, "d.nest")), 0);
	snprintf(tree->names[tree->count++], sizeof(tree->names[0]), "%s",
		 path_in(tree, "d.nest"));
	assert_true(load(tree, "a.nest")->clean);
	for (const struct module *module = tree->compilation.modules; module;
	     module = module->next)
		modules++;
	assert_int_equal(modules, 4);	/* prelude, a, b, c */
}

static void test_cycle(void **state)
{
	struct tree *tree = *state;

	add(tree, "a.nest", "import \"./b.nest\"\nlet a = 1\n");
	add(tree, "b.nest", "import \"./c.nest\"\nlet b = 1\n");
	add(tree, "c.nest", "import \"./a.nest\"\nlet c = 1\n");
	assert_false(load(tree, "a.nest")->clean);
	assert_int_equal(tree->compilation.diags.errors, 1);
	assert_int_equal(count(tree, E_IMPORT_CYCLE), 1);
	assert_true(says(tree, "/a.nest -> "));
	assert_true(says(tree, "/b.nest -> "));
	assert_true(says(tree, "/c.nest -> "));
}

static void test_imports_itself(void **state)
{
	struct tree *tree = *state;

	add(tree, "a.nest", "import \"./a.nest\"\n");
	assert_false(load(tree, "a.nest")->clean);
	assert_int_equal(count(tree, E_IMPORT_CYCLE), 1);
}

static void test_missing(void **state)
{
	struct tree *tree = *state;

	add(tree, "a.nest", "import \"./b.nest\"\nimport std.device.crad\n"
			    "import std.out\nimport device.card\n"
			    "let x = perhaps_from_b\n");
	assert_false(load(tree, "a.nest")->clean);
	/* ./b.nest, std.device.crad, device.card, and one inside std.out */
	assert_int_equal(count(tree, E_UNKNOWN_MODULE), 4);
	assert_true(says(tree, "did you mean 'std.device.card'"));
	/* What a missing module may declare is not reported as unknown. */
	assert_int_equal(tree->compilation.diags.errors, 4);
	assert_null(load(tree, "nofile.nest"));
	assert_int_equal(count(tree, E_UNREADABLE), 1);
}

static void test_rivals(void **state)
{
	struct tree *tree = *state;

	add(tree, "a.nest", "import std.device.card\nimport std.device.other\n"
			    "let x = other\n");
	assert_true(load(tree, "a.nest")->clean);	/* not used: no matter */
	add(tree, "b.nest", "import std.device.card\nimport std.device.other\n"
			    "let x = shared\n");
	assert_false(load(tree, "b.nest")->clean);
	assert_int_equal(count(tree, E_AMBIGUOUS_NAME), 1);
	add(tree, "c.nest", "import std.device.card\nimport std.device.other\n"
			    "let shared = 9\nlet x = shared\n");
	assert_string_equal(value(tree, load(tree, "c.nest"), "x"), "9");
}

static void test_import_depth(void **state)
{
	struct tree *tree = *state;
	static char names[120][32];

	/* 120 files in a row, each importing the next. */
	for (int i = 0; i < 120; i++) {
		FILE *file;

		snprintf(names[i], sizeof(names[i]), "m%d.nest", i);
		file = fopen(path_in(tree, names[i]), "w");
		assert_non_null(file);
		fprintf(file, "nest 1\nimport \"./m%d.nest\"\n", i + 1);
		fclose(file);
	}
	assert_false(load(tree, "m0.nest")->clean);
	assert_int_equal(count(tree, E_IMPORT_DEPTH), 1);
	assert_int_equal(tree->compilation.diags.errors, 1);
	for (int i = 0; i < 120; i++)
		remove(path_in(tree, names[i]));
}

/* ---- names ---- */

struct wrong {
	const char *text;
	enum diag_code code;
	const char *words;
};

static void test_names(void **state)
{
	static const struct wrong wrong[] = {
		{ "let a = b\n", E_UNKNOWN_NAME, NULL },
		{ "let long_name = 1\nlet a = long_nmae\n", E_UNKNOWN_NAME,
		  "did you mean 'long_name'" },
		{ "let a = card\n", E_UNKNOWN_NAME, "import std.device.card" },
		{ "let a = 1\nlet a = 2\n", E_DUPLICATE_NAME, "first" },
		{ "let a = 1\nfn a(b) = b\n", E_DUPLICATE_NAME, NULL },
		{ "fn f(a, a) = 1\n", E_DUPLICATE_NAME, NULL },
		{ "fn f(a = b, b = 1) = 1\n", E_UNKNOWN_NAME, NULL },
		{ "fn f(a) = b\n", E_UNKNOWN_NAME, NULL },
		{ "fn f(a) = f(a)\n", E_RECURSION, NULL },
		{ "fn f(a) = g(a)\nfn g(a) = f(a)\n", E_RECURSION,
		  "'f' needs 'g' needs 'f'" },
		{ "let a = b\nlet b = c\nlet c = a\n", E_RECURSION,
		  "'a' needs 'b' needs 'c' needs 'a'" },
		{ "param a = a\n", E_RECURSION, NULL },
		{ "model m(seq = m.seq) { layers { } }\n", E_RECURSION, NULL },
		{ "fn f(a) = a\nlet x = f(1, b = 2)\n", E_UNKNOWN_PARAMETER,
		  NULL },
		{ "fn f(a) = a\nlet x = f()\n", E_MISSING_ARGUMENT, NULL },
		{ "fn f(a) = a\nlet x = f(1, 2)\n", E_POSITIONAL_ARGUMENT,
		  NULL },
		{ "param a: sise = 1GiB\n", E_UNKNOWN_TYPE, NULL },
		{ "device d { memory = 1GiB memory = 2GiB }\n",
		  E_DUPLICATE_FIELD, NULL },
		{ "device d { a { x = 1 } a { x = 2 } }\n", E_DUPLICATE_FIELD,
		  NULL },
		{ "device d { a = b b = 1 }\n", E_USED_BEFORE, NULL },
		{ "device d { return 3 }\n", E_MISPLACED_ITEM, NULL },
		{ "topology t { level a { fanout = 1 } level a { fanout = 2 } }\n",
		  E_DUPLICATE_NAME, NULL },
		{ "topology t { lvl { fanout = 1 } }\n", E_UNKNOWN_BLOCK, NULL },
		{ "model m { layer { } }\n", E_UNKNOWN_BLOCK, NULL },
		{ "model m { layers { for i in j { } } }\n", E_UNKNOWN_NAME,
		  NULL },
		{ "model m { layers { split a by tensor } }\n",
		  E_MISPLACED_ITEM, NULL },
		{ "template t(h) { x : [batch, seq, j] return x }\n",
		  E_UNKNOWN_NAME, NULL },
		{ "template t(h) { x : [batch, seq, h] return y y = x }\n",
		  E_USED_BEFORE, NULL },
		{ "template t(h) { x : [batch, seq, h] x = 3 return x }\n",
		  E_NAMED_TWICE, NULL },
		{ "template t(seq) { x : [batch, seq] return x }\n",
		  E_NAMED_TWICE, NULL },
		{ "template t(h) { split h by tensr x : [batch, seq, h] return x }\n",
		  E_SPLIT_DIMENSION, NULL },
		{ "template t(h) { x : [batch, seq, h] return liner(x, h -> h) }\n",
		  E_UNKNOWN_OPERATOR, "did you mean 'linear'" },
		{ "job j { require { tensor <= limit } }\n", E_UNKNOWN_NAME,
		  NULL },
		{ "job j { require { tensr <= 8 } }\n", E_UNKNOWN_NAME,
		  "did you mean 'tensor'" },
		{ "job j { let a = 1 let a = 2 }\n", E_DUPLICATE_NAME, NULL },
		{ "job j { global_batch = 8 * tensor }\n", E_PLAN_VARIABLE,
		  NULL },
		{ "test \"t\" { expect a == 1 }\n", E_UNKNOWN_NAME, NULL },
		{ "extern \"l.so\" fn f(m: int) -> tyme\n", E_UNKNOWN_TYPE,
		  NULL },
		{ "extern \"l.so\" fn f(m: int) -> time\nlet a = f(1)\n",
		  E_EXTERN_REFUSED, NULL },
		{ "let d = card with { memory = size }\n"
		  "device card { memory = 1GiB }\n", E_UNKNOWN_NAME, NULL },
		{ "job j { }\nlet a = j\n", E_TYPE, NULL },
	};
	static const char *const operators[] = { "linear", NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct tree *tree;
		void *pointer;

		assert_int_equal(setup(&pointer), 0);
		tree = pointer;
		tree->compilation.operator_names = operators;
		add(tree, "a.nest", wrong[i].text);
		print_message("# %s", wrong[i].text);
		assert_false(load(tree, "a.nest")->clean);
		assert_int_equal(tree->compilation.diags.errors, 1);
		assert_int_equal(count(tree, wrong[i].code), 1);
		if (wrong[i].words)
			assert_true(says(tree, wrong[i].words));
		teardown(&pointer);
	}
}

/* Right and unused: nothing may be said. */
static void test_right(void **state)
{
	struct tree *tree = *state;

	add(tree, "a.nest",
	    "let b = a\nlet a = 1\n"
	    "fn f(a, b = a) = if a > b then a else b\n"
	    "device d(memory) { memory = memory half = memory / 2 }\n"
	    "topology t(device) { device = device level node { fanout = 8 } }\n"
	    "template l(h, p = 10%) {\n"
	    "  split h by tensor pad 128 x : [batch, seq, h]\n"
	    "  let q = 2 * h\n"
	    "  n = linear(x, h -> q)\n"
	    "  return if p > max(0, 0) then n else x\n"
	    "}\n"
	    "model m(seq = 4, h = 8) {\n"
	    "  let depth = 3\n"
	    "  layers { for i in 1 .. depth { l(h) } let k = 2 k * l(h) }\n"
	    "}\n"
	    "job j {\n"
	    "  model = m(seq = 2) topology = t(device = d(memory = 1GiB))\n"
	    "  let limit = 8\n"
	    "  search { tensor in { 1, 2 } recompute in { none, full } }\n"
	    "  require { tensor <= limit memory <= 90% * device.memory\n"
	    "    stage[0].layers >= 1 pipeline <= model.depth }\n"
	    "  require tensor >= 1 when pipeline > 1 else \"why\"\n"
	    "  place { tensor within node }\n"
	    "  minimize time then devices\n"
	    "}\n"
	    "test \"sum\" { let z = f(1) expect z == 1 }\n"
	    "extern \"l.so\" fn g(m: int, n: int) -> time\n");
	if (!load(tree, "a.nest")->clean)
		diags_flush(&tree->compilation.diags, stderr, DIAG_FORMAT_TEXT,
			    false);
	assert_int_equal(tree->compilation.diags.errors, 0);
}

/* A ring of 20,000 lets: found without deep recursion, said briefly. */
static void test_long_cycle(void **state)
{
	struct tree *tree = *state;
	struct text text;

	text_init(&text, &tree->compilation.arena);
	for (int i = 0; i < 20000; i++)
		text_printf(&text, "let a%d = a%d\n", i, (i + 1) % 20000);
	add(tree, "a.nest", text.at);
	assert_false(load(tree, "a.nest")->clean);
	assert_int_equal(tree->compilation.diags.errors, 1);
	assert_int_equal(count(tree, E_RECURSION), 1);
}

/* ---- overrides ---- */

static const char params[] =
	"param n: int = 4\nparam size = 80GiB\nparam enabled: bool = false\n"
	"param word = bf16\nparam card: device = small\nparam twice = 2 * n\n"
	"device small { memory = 1GiB }\ndevice large { memory = 2GiB }\n"
	"device sized(memory) { memory = memory }\n"
	"let total = n * size\nlet constant = 3\n";

static void test_overrides(void **state)
{
	static const char *const right[][4] = {
		{ "n", "8", "total", "640 GiB" },
		{ "n", "2 * 4", "twice", "16" },
		{ "size", "1GiB", "total", "4 GiB" },
		{ "size", "0", "size", "0 B" },
		{ "enabled", "true", "enabled", "true" },
		{ "enabled", "on", "enabled", "true" },
		{ "word", "fp8", "word", "fp8" },
		{ "card", "large", "card", "device 'large'" },
		{ "card", "sized(memory = 3GiB)", "card", "device 'sized'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		struct override override = { .name = right[i][0],
					     .expression = right[i][1] };
		struct run run;

		run_open_with(&run, params, &override, 1);
		assert_true(run_is_clean(&run));
		assert_true(override.used);
		assert_string_equal(run_text(&run, right[i][2]), right[i][3]);
		run_close(&run);
	}
}

static void test_wrong_overrides(void **state)
{
	static const struct {
		const char *name, *expression;
		enum diag_code code;
		const char *words;
	} wrong[] = {
		{ "n", "2.5", E_NOT_WHOLE, NULL },
		{ "n", "8GiB", E_TYPE, NULL },
		{ "n", "twice", E_RECURSION, "'twice' needs 'n'" },
		{ "n", "8 +", E_SYNTAX, NULL },
		{ "size", "80", E_NEEDS_UNIT, "its default is 80 GiB" },
		{ "size", "80us", E_DIMENSION, NULL },
		{ "size", "bf16", E_TYPE, NULL },
		{ "enabled", "3", E_TYPE, NULL },
		{ "word", "3", E_TYPE, NULL },
		{ "card", "3", E_TYPE, NULL },
		{ "card", "sized", E_MISSING_ARGUMENT, NULL },
		{ "siez", "3GiB", E_UNKNOWN_OVERRIDE, "did you mean 'size'" },
		{ "nowhere", "3", E_UNKNOWN_OVERRIDE,
		  "'n', 'size', 'enabled', 'word', 'card', 'twice'" },
		{ "constant", "3", E_UNKNOWN_OVERRIDE, "is no param" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct override override = { .name = wrong[i].name,
					     .expression = wrong[i].expression };
		struct run run;

		print_message("# -D %s=%s\n", wrong[i].name,
			      wrong[i].expression);
		run_open_with(&run, params, &override, 1);
		assert_false(run.module->clean);
		assert_int_equal(run.compilation.diags.errors, 1);
		assert_int_equal(run_code(&run), wrong[i].code);
		if (wrong[i].words)
			assert_true(run_says(&run, wrong[i].words));
		run_close(&run);
	}
}

static void test_last_override_counts(void **state)
{
	struct override override[] = {
		{ .name = "n", .expression = "8" },
		{ .name = "n", .expression = "16" },
	};
	struct run run;

	(void)state;
	run_open_with(&run, params, override, 2);
	assert_string_equal(run_text(&run, "n"), "16");
	run_close(&run);
}

/* ---- jobs ---- */

static void test_find_job(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, "job one { }\njob two { }\n");
	assert_string_equal(module_find_job(&run.compilation, run.module, "two")
				    ->name, "two");
	assert_int_equal(run.compilation.diags.errors, 0);
	assert_null(module_find_job(&run.compilation, run.module, NULL));
	assert_int_equal(run_code(&run), E_SEVERAL_JOBS);
	assert_null(module_find_job(&run.compilation, run.module, "twoo"));
	assert_int_equal(run_code(&run), E_UNKNOWN_JOB);
	assert_true(run_says(&run, "did you mean 'two'"));
	run_close(&run);
	run_open(&run, "");
	assert_null(module_find_job(&run.compilation, run.module, NULL));
	assert_int_equal(run_code(&run), E_UNKNOWN_JOB);
	run_close(&run);
	run_open(&run, "job only { }\n");
	assert_non_null(module_find_job(&run.compilation, run.module, NULL));
	run_close(&run);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(test_relative_and_library),
		WITH_TREE(test_import_path),
		WITH_TREE(test_alias),
		WITH_TREE(test_read_once),
		WITH_TREE(test_cycle),
		WITH_TREE(test_imports_itself),
		WITH_TREE(test_missing),
		WITH_TREE(test_rivals),
		WITH_TREE(test_import_depth),
		cmocka_unit_test(test_names),
		WITH_TREE(test_right),
		WITH_TREE(test_long_cycle),
		cmocka_unit_test(test_overrides),
		cmocka_unit_test(test_wrong_overrides),
		cmocka_unit_test(test_last_override_counts),
		cmocka_unit_test(test_find_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

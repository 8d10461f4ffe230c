/* SPDX-License-Identifier: MIT
 *
 * Scanner and grammar: trees written as prefix forms, spans as the text they
 * cover, errors as codes at places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/ast.h"
#include "lang/compilation.h"
#include "lang/parse.h"
#include "lang/token.h"

const struct embedded_file nest_stdlib[] = { { 0 } };

struct fixture {
	struct compilation compilation;
	struct ast *tree;
	const struct source *source;
	bool clean;
};

static void parse_bytes(struct fixture *fixture, const char *text,
			size_t length)
{
	struct compilation *compilation = &fixture->compilation;
	uint32_t file;

	*fixture = (struct fixture){ 0 };
	arena_init(&compilation->arena);
	intern_init(&compilation->intern, &compilation->arena);
	sources_init(&compilation->sources, &compilation->arena);
	diags_init(&compilation->diags, &compilation->arena,
		   &compilation->sources);
	file = sources_add(&compilation->sources, "t", "t", text, length,
			   false);
	fixture->source = compilation->sources.at[file];
	fixture->tree = parse_file(compilation, file, &fixture->clean);
}

static void parse_text(struct fixture *fixture, const char *text)
{
	parse_bytes(fixture, text, strlen(text));
}

static void release(struct fixture *fixture)
{
	arena_release(&fixture->compilation.arena);
}

/* (kind name number "text" children...), with operators and leaves short. */
static void write_form(const struct ast *node, struct text *out)
{
	if (!node) {
		text_append(out, "-");
		return;
	}
	if (node->kind == AST_NAME) {
		text_append(out, node->name);
		return;
	}
	if (node->kind == AST_NUMBER) {
		text_append_number(out, node->number);
		return;
	}
	if (node->kind == AST_STRING) {
		text_printf(out, "\"%s\"", node->text);
		return;
	}
	text_append_char(out, '(');
	if (node->kind == AST_BINARY || node->kind == AST_UNARY)
		text_append(out, node->name);
	else
		text_append(out, ast_kind_name(node->kind));
	if (node->name && node->kind != AST_BINARY && node->kind != AST_UNARY)
		text_printf(out, ":%s", node->name);
	if (node->kind == AST_BOOLEAN || node->kind == AST_FILE)
		text_printf(out, " %g", node->number);
	if (node->text)
		text_printf(out, " \"%s\"", node->text);
	for (uint32_t i = 0; i < node->child_count; i++) {
		text_append_char(out, ' ');
		write_form(node->child[i], out);
	}
	text_append_char(out, ')');
}

static void assert_form(struct fixture *fixture, const struct ast *node,
			const char *expected)
{
	struct text form;

	text_init(&form, &fixture->compilation.arena);
	write_form(node, &form);
	assert_string_equal(form.at, expected);
}

/* The form of a file (depth 0), or of what so many steps to an only child lead to. */
static void assert_form_at(unsigned depth, const char *text, const char *spec,
			   const char *expected)
{
	struct fixture fixture;
	const struct ast *node;

	parse_text(&fixture, spec);
	if (!fixture.clean)
		fail_msg("'%s' has an error: %s", text,
			 fixture.compilation.diags.at[0]->message);
	for (node = fixture.tree; depth; depth--) {
		assert_int_equal(node->child_count, 1);
		node = node->child[0];
	}
	assert_form(&fixture, node, expected);
	release(&fixture);
}

/* The form of `let x = TEXT`. */
static void assert_expression(const char *text, const char *expected)
{
	char spec[4096];

	snprintf(spec, sizeof(spec), "nest 1\nlet x = %s\n", text);
	assert_form_at(2, text, spec, expected);
}

/* The form of the items in `job j { TEXT }`. */
static void assert_items(const char *text, const char *expected)
{
	char spec[4096];

	snprintf(spec, sizeof(spec), "nest 1\njob j {\n%s\n}\n", text);
	assert_form_at(2, text, spec, expected);
}

/* The form of the declarations behind "nest 1". */
static void assert_file(const char *text, const char *expected)
{
	char spec[4096];

	snprintf(spec, sizeof(spec), "nest 1\n%s", text);
	assert_form_at(0, text, spec, expected);
}

/* The errors of a text as "LINE:COLUMN CODE; ...", by place. */
static void assert_errors(const char *text, const char *expected)
{
	struct fixture fixture;
	struct text found;
	char *drawn = NULL;
	size_t length;
	FILE *out;

	parse_text(&fixture, text);
	assert_int_equal(fixture.clean, *expected == '\0');
	text_init(&found, &fixture.compilation.arena);
	/* Flushing sorts; the records stay where they are. */
	struct diagnostic **at = fixture.compilation.diags.at;
	size_t count = fixture.compilation.diags.count;

	out = open_memstream(&drawn, &length);
	diags_flush(&fixture.compilation.diags, out, DIAG_FORMAT_TEXT, false);
	fclose(out);
	for (size_t i = 0; i < count; i++) {
		struct place place = source_place(fixture.source,
						  at[i]->span.begin);

		text_printf(&found, "%s%u:%u %s", i ? "; " : "", place.line,
			    place.column, diag_code_name(at[i]->code));
	}
	if (strcmp(found.at, expected) != 0)
		fail_msg("found %s, expected %s:\n%s", found.at, expected,
			 drawn);
	free(drawn);
	release(&fixture);
}

/* Whether the drawing of the errors of a text holds the words. */
static void assert_says(const char *text, const char *words)
{
	struct fixture fixture;
	char *drawn = NULL;
	size_t length;
	FILE *out = open_memstream(&drawn, &length);

	parse_text(&fixture, text);
	diags_flush(&fixture.compilation.diags, out, DIAG_FORMAT_TEXT, false);
	fclose(out);
	if (!strstr(drawn, words))
		fail_msg("'%s' is not in:\n%s", words, drawn);
	free(drawn);
	release(&fixture);
}

static void test_precedence(void **state)
{
	(void)state;
	assert_expression("a + b * c", "(+ a (* b c))");
	assert_expression("a * b + c", "(+ (* a b) c)");
	assert_expression("a - b - c", "(- (- a b) c)");
	assert_expression("a / b / c % d", "(% (/ (/ a b) c) d)");
	assert_expression("a ^ b ^ c", "(^ a (^ b c))");
	assert_expression("-a ^ b", "(- (^ a b))");
	assert_expression("a ^ -b", "(^ a (- b))");
	assert_expression("-a * b", "(* (- a) b)");
	assert_expression("a - -b", "(- a (- b))");
	assert_expression("a or b and c", "(or a (and b c))");
	assert_expression("not a and b", "(and (not a) b)");
	assert_expression("not a == b", "(not (== a b))");
	assert_expression("not not a", "(not (not a))");
	assert_expression("a + 1 == b * 2", "(== (+ a 1) (* b 2))");
	assert_expression("a < b and c >= d", "(and (< a b) (>= c d))");
	assert_expression("1 .. n - 1", "(range 1 (- n 1) -)");
	assert_expression("1 .. 20 step 2 * k", "(range 1 20 (* 2 k))");
	assert_expression("a in 1 .. 3 and b", "(and (in a (range 1 3 -)) b)");
	assert_expression("a in { 1, 2 } or b", "(or (in a (set 1 2)) b)");
	assert_expression("(a + b) * c", "(* (+ a b) c)");
	assert_expression("a.b.c[1](2).d",
			  "(member:d (call (index (member:c (member:b a)) 1)"
			  " (arguments 2) -))");
	assert_expression("-a.b", "(- (member:b a))");
	assert_expression("a with { b = 1 } with {}",
			  "(with (with a (body (field:b 1))) (body))");
	assert_expression("2 * a with { b = 1 }",
			  "(* 2 (with a (body (field:b 1))))");
	assert_expression("if a then b else if c then d else e + 1",
			  "(if a b (if c d (+ e 1)))");
	assert_expression("1 + (if a then b else c)", "(+ 1 (if a b c))");
	assert_expression("if a then { 1 } else { 2, 3 }",
			  "(if a (set 1) (set 2 3))");
}

static void test_primaries(void **state)
{
	(void)state;
	assert_expression("[4, 4, 4]", "(list 4 4 4)");
	assert_expression("[]", "(list)");
	assert_expression("[\n  [1, 2],\n  [3],\n]",
			  "(list (list 1 2) (list 3))");
	assert_expression("{ 1, 2, }", "(set 1 2)");
	assert_expression("{}", "(set)");
	assert_expression("{ a, 1 .. 3 }", "(set a (range 1 3 -))");
	assert_expression("true", "(boolean 1)");
	assert_expression("false", "(boolean 0)");
	assert_expression("\"a \\\"b\\\" \\\\ \\n\\t.\"",
			  "\"a \"b\" \\ \n\t.\"");
	assert_expression("f()", "(call f (arguments) -)");
	assert_expression("f(a, b = 1, c -> d * e,)",
			  "(call f (arguments a (argument:b 1)"
			  " (arrow c (* d e))) -)");
	assert_expression("f(device = device, model = model.x)",
			  "(call f (arguments (argument:device device)"
			  " (argument:model (member:x model))) -)");
	assert_expression("f({ 1 }, if a then b else c)",
			  "(call f (arguments (set 1) (if a b c)) -)");
	assert_expression("experts(m, r) { e -> silu(e) }",
			  "(call experts (arguments m r)"
			  " (lambda:e (call silu (arguments e) -)))");
	assert_expression("f() { # why\n e # not\n -> e } * 2",
			  "(* (call f (arguments) (lambda:e e)) 2)");
}

static void assert_quantity(const char *text, double number, int byte,
			    int second, int flop, int watt, int dollar)
{
	struct unit unit = { { (int8_t)byte, (int8_t)second, (int8_t)flop,
			       (int8_t)watt, (int8_t)dollar } };
	struct fixture fixture;
	const struct ast *node;
	char spec[256];
	double error;

	snprintf(spec, sizeof(spec), "nest 1 let x = %s", text);
	parse_text(&fixture, spec);
	if (!fixture.clean)
		fail_msg("'%s' has an error: %s", text,
			 fixture.compilation.diags.at[0]->message);
	node = fixture.tree->child[0]->child[0];
	assert_int_equal(node->kind, AST_NUMBER);
	error = node->number - number;
	if (error < 0)
		error = -error;
	if (error > 1e-12 * number)
		fail_msg("%s is %.17g", text, node->number);
	assert_true(unit_equal(node->unit, unit));
	release(&fixture);
}

static void test_quantities(void **state)
{
	(void)state;
	assert_quantity("0", 0, 0, 0, 0, 0, 0);
	assert_quantity("128_256", 128256, 0, 0, 0, 0, 0);
	assert_quantity("1_0.0_5e1_0", 10.05e10, 0, 0, 0, 0, 0);
	assert_quantity("1e6", 1e6, 0, 0, 0, 0, 0);
	assert_quantity("2.5E-3", 2.5e-3, 0, 0, 0, 0, 0);
	assert_quantity("80GiB", 85899345920.0, 1, 0, 0, 0, 0);
	assert_quantity("80 GiB", 85899345920.0, 1, 0, 0, 0, 0);
	assert_quantity("3.35 TB/s", 3.35e12, 1, -1, 0, 0, 0);
	assert_quantity("400Gb/s", 50e9, 1, -1, 0, 0, 0);
	assert_quantity("3us", 3e-6, 0, 1, 0, 0, 0);
	assert_quantity("989TFLOP/s", 989e12, 0, -1, 1, 0, 0);
	assert_quantity("90%", 0.9, 0, 0, 0, 0, 0);
	assert_quantity("2.5$/h", 2.5 / 3600, 0, -1, 0, 0, 1);
	assert_quantity("700W", 700, 0, 0, 0, 1, 0);
	assert_quantity("1e3kB", 1e6, 1, 0, 0, 0, 0);
	assert_quantity("80 GiB # comment", 85899345920.0, 1, 0, 0, 0,
			0);
	assert_quantity("80GiB", 85899345920.0, 1, 0, 0, 0, 0);
}

/* A blank, a sign or a name decide what belongs to a number. */
static void test_unit_borders(void **state)
{
	(void)state;
	assert_expression("7 % 3", "(% 7 3)");
	assert_expression("90% * x", "(* 0.9 x)");
	assert_expression("1..20", "(range 1 20 -)");
	assert_expression("1 s..2 s", "(range 1 2 -)");
	assert_expression("8B / 2s", "(/ 8 2)");
	assert_expression("8B/bandwidth", "(/ 8 bandwidth)");
	assert_expression("{ 1 s, 2 ms }", "(set 1 0.002)");
	assert_items("h = 8 d = 4", "(body (field:h 8) (field:d 4))");
	assert_items("h = 8 d == 4", "(body (field:h (== 691200 4)))");
	assert_items("a = 20 micro_batch = 3",
		     "(body (field:a 20) (field:micro_batch 3))");
	assert_items("a = 8 b : [x]", "(body (field:a 8) (value:b (axes x)))");
	assert_items("a = 1 .. 9 step 2", "(body (field:a (range 1 9 2)))");
	assert_items("a = 5\nh = 3", "(body (field:a 5) (field:h 3))");
	assert_items("a = 2 min(1)\n", "(body (field:a 2) (item (call min"
				       " (arguments 1) -)))");
}

static void test_items(void **state)
{
	(void)state;
	assert_items("", "(body)");
	assert_items(",;,", "(body)");
	assert_items("a = 1 b = 2, c = 3; d = 4",
		     "(body (field:a 1) (field:b 2) (field:c 3) (field:d 4))");
	assert_items("search { tensor in { 1, 2 } zero in 0 .. 3 }",
		     "(body (block:search (body (in:tensor (set 1 2))"
		     " (in:zero (range 0 3 -)))))");
	assert_items("x in a and b", "(body (item (and (in x a) b)))");
	assert_items("a.b in c", "(body (item (in (member:b a) c)))");
	assert_items("level node { fanout = 8 }",
		     "(body (named block:level node (body (field:fanout 8))))");
	assert_items("plan mine { tensor = 8 } plan { tensor = 4 }",
		     "(body (named block:plan mine (body (field:tensor 8)))"
		     " (block:plan (body (field:tensor 4))))");
	assert_items("split a, b by tensor pad 128",
		     "(body (split:tensor 128 a b))");
	assert_items("split a by tensor pad (2 * k)",
		     "(body (split:tensor (* 2 k) a))");
	assert_items("split a by tensor\npad = 3",
		     "(body (split:tensor - a) (field:pad 3))");
	assert_items("x : [batch, seq, 2 * h]",
		     "(body (value:x (axes batch seq (* 2 h))))");
	assert_items("let y = 1 fn f(a) = a return y",
		     "(body (let:y 1) (fn:f (parameters (parameter:a - -)) a)"
		     " (return y))");
	assert_items("for g in 0 .. 7 { a = g }",
		     "(body (for:g (range 0 7 -) (body (field:a g))))");
	assert_items("for g in { 1, 2 } { }", "(body (for:g (set 1 2) (body)))");
	assert_items("for g in f(1) { g }",
		     "(body (for:g (call f (arguments 1) -)"
		     " (body (item g))))");
	assert_items("require tensor == 8 when pipeline > 1 else \"why\"",
		     "(body (require (== tensor 8) (> pipeline 1) \"why\"))");
	assert_items("require a require { b c <= 1 }",
		     "(body (require a - -) (block:require (body (item b)"
		     " (item (<= c 1)))))");
	assert_items("prefer time < 3s weight 2",
		     "(body (prefer (< time 3) 2))");
	assert_items("minimize time then if a then b else c then d",
		     "(body (minimize time (if a b c) d))");
	assert_items("place { tensor within node\n e within rack[0]\n"
		     "avoid rack[1] }",
		     "(body (block:place (body (within:within tensor node)"
		     " (within:within e (index rack 0))"
		     " (within:avoid - (index rack 1)))))");
	assert_items("node gpu[g][i] : h100 node a : 8 * b { latency = 1 }",
		     "(body (node (index (index gpu g) i) h100 -)"
		     " (node a (* 8 b) (body (field:latency 1))))");
	assert_items("switch leaf[g] switch spine kind = switch",
		     "(body (switch (index leaf g)) (switch spine)"
		     " (field:kind switch))");
	assert_items("link a -> b link b[1] -> a { latency = 1 }",
		     "(body (link:-> a b -) (link:-> (index b 1) a"
		     " (body (field:latency 1))))");
	assert_items("link a[0] -- b { latency = 1 } link a -- b.c",
		     "(body (link (index a 0) b (body (field:latency 1)))"
		     " (link a (member:c b) -))");
	assert_items("expect a == 1", "(body (expect (== a 1)))");
	assert_items("80 * block(h, k = 8)",
		     "(body (item (* 80 (call block (arguments h"
		     " (argument:k 8)) -))))");
	assert_items("if a then b else c", "(body (item (if a b c)))");
}

/* Words of the grammar that are names wherever a name may stand. */
static void test_words_as_names(void **state)
{
	static const char *const words[] = {
		"device", "topology", "template", "model", "job", "test",
		"level", "node", "link", "plan", "pad", "switch", "search", "place",
		"layers", "time", "target", "profile",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char spec[512], expected[512];
		const char *w = words[i];

		snprintf(spec, sizeof(spec),
			 "%s = %s\nx = f(%s = %s).%s[%s]\n%s : [%s]\n%s { }\n"
			 "let %s = 1\n%s + 1", w, w, w, w, w, w, w, w, w, w,
			 w);
		snprintf(expected, sizeof(expected),
			 "(body (field:%s %s) (field:x (index (member:%s (call"
			 " f (arguments (argument:%s %s)) -)) %s))"
			 " (value:%s (axes %s)) (block:%s (body)) (let:%s 1)"
			 " (item (+ %s 1)))", w, w, w, w, w, w, w, w, w, w, w);
		assert_items(spec, expected);
	}
	assert_items("level level { } plan plan { }",
		     "(body (named block:level level (body))"
		     " (named block:plan plan (body)))");
}

/* A bracket or minus that is first on its line begins an item in braces, and
 * nowhere else. */
static void test_line_starts(void **state)
{
	(void)state;
	assert_items("a = b\n(c)", "(body (field:a b) (item c))");
	assert_items("a = b (c)", "(body (field:a (call b (arguments c) -)))");
	assert_items("a = b\n[c]", "(body (field:a b) (item (list c)))");
	assert_items("a = b\n- c", "(body (field:a b) (item (- c)))");
	assert_items("a = b - c", "(body (field:a (- b c)))");
	assert_items("a = b -\nc", "(body (field:a (- b c)))");
	assert_items("a = b +\n- c", "(body (field:a (+ b (- c))))");
	assert_items("a =\n(c)", "(body (field:a c))");
	assert_items("a = f(b\n- c\n(d))",
		     "(body (field:a (call f (arguments (- b (call c"
		     " (arguments d) -))) -)))");
	assert_items("a = [b\n[c]\n- d]",
		     "(body (field:a (list (- (index b c) d))))");
	assert_items("a = b\n* c\n+ d", "(body (field:a (+ (* b c) d)))");
	assert_items("a = { 1,\n-2,\n(3) }", "(body (field:a (set 1 (- 2) 3)))");
	assert_file("let a = b\nlet c = -d",
		    "(file 1 (let:a b) (let:c (- d)))");
	assert_file("template t\n(a)\n{ }",
		    "(file 1 (template:t (parameters (parameter:a - -))"
		    " (body)))");
}

static void test_declarations(void **state)
{
	(void)state;
	assert_file("", "(file 1)");
	assert_errors("nest 1", "");
	assert_errors("\xef\xbb\xbfnest 1\r\n# c\r\n", "");
	assert_errors("", "1:1 E0110");
	assert_errors("let x = 1", "1:1 E0110");
	assert_file("; import std.device.h100 import \"./f.nest\" as f",
		    "(file 1 (import (path std device h100))"
		    " (import:f \"./f.nest\"))");
	assert_file("import a as b",
		    "(file 1 (import:b (path a)))");
	assert_file("param x: size = 1 param y = { 1 }",
		    "(file 1 (param:x (type:size) 1) (param:y - (set 1)))");
	assert_file("fn f(a: int, b = 1,) = a",
		    "(file 1 (fn:f (parameters (parameter:a (type:int) -)"
		    " (parameter:b - 1)) a))");
	assert_file("extern \"l.so\" fn f(m: int, n: int) -> time",
		    "(file 1 (extern:f \"l.so\" (parameters"
		    " (parameter:m (type:int) -) (parameter:n (type:int) -))"
		    " (type:time)))");
	assert_file("device d { peak { bf16 = 1 } }",
		    "(file 1 (device:d - (body (block:peak (body"
		    " (field:bf16 1))))))");
	assert_file("topology t(device, n = 8) { device = device }",
		    "(file 1 (topology:t (parameters (parameter:device - -)"
		    " (parameter:n - 8)) (body (field:device device))))");
	assert_file("template t() { } model m { }",
		    "(file 1 (template:t (parameters) (body))"
		    " (model:m - (body)))");
	assert_file("job model { } test \"a b\" { expect x }",
		    "(file 1 (job:model (body)) (test \"a b\" (body"
		    " (expect x))))");
	assert_file("device topology { } model device { }",
		    "(file 1 (device:topology - (body))"
		    " (model:device - (body)))");
}

static const struct ast *find_kind(const struct ast *node, enum ast_kind kind)
{
	if (!node || node->kind == kind)
		return node;
	for (uint32_t i = 0; i < node->child_count; i++) {
		const struct ast *found = find_kind(node->child[i], kind);

		if (found)
			return found;
	}
	return NULL;
}

/* What the spans of the first node of a kind cover. */
static void assert_spans(const char *text, enum ast_kind kind,
			 const char *whole, const char *name)
{
	struct fixture fixture;
	const struct ast *node;
	char covered[256];

	parse_text(&fixture, text);
	assert_true(fixture.clean);
	node = find_kind(fixture.tree, kind);
	assert_non_null(node);
	snprintf(covered, sizeof(covered), "%.*s",
		 (int)(node->span.end - node->span.begin),
		 fixture.source->bytes + node->span.begin);
	assert_string_equal(covered, whole);
	if (!name) {
		assert_true(span_is_nowhere(node->name_span));
	} else {
		snprintf(covered, sizeof(covered), "%.*s",
			 (int)(node->name_span.end - node->name_span.begin),
			 fixture.source->bytes + node->name_span.begin);
		assert_string_equal(covered, name);
	}
	release(&fixture);
}

static void test_spans(void **state)
{
	static const char text[] =
		"nest 1\nimport a.b as c # x\n"
		"job j {\n  f = (1 + 80 GiB ) * g(x, y -> z)[2].m\n"
		"  x in { 1 }\n  80 * b\n require a when b else \"c\"\n"
		"  q = e with { k = 1 } split u , v by w pad 3\n"
		"  r = if a then b else c  level n { }\n"
		"  o(1) { p -> p + 1 } -\n d\n}\n";

	(void)state;
	assert_spans(text, AST_FILE, text, NULL);
	assert_spans(text, AST_IMPORT, "import a.b as c", "c");
	assert_spans(text, AST_PATH, "a.b", NULL);
	assert_spans(text, AST_FIELD,
		     "f = (1 + 80 GiB ) * g(x, y -> z)[2].m", "f");
	assert_spans(text, AST_BINARY,
		     "(1 + 80 GiB ) * g(x, y -> z)[2].m", "*");
	assert_spans(text, AST_MEMBER, "g(x, y -> z)[2].m", "m");
	assert_spans(text, AST_INDEX, "g(x, y -> z)[2]", NULL);
	assert_spans(text, AST_CALL, "g(x, y -> z)", NULL);
	assert_spans(text, AST_ARGUMENTS, "(x, y -> z)", NULL);
	assert_spans(text, AST_ARROW, "y -> z", NULL);
	assert_spans(text, AST_IN, "x in { 1 }", "x");
	assert_spans(text, AST_SET, "{ 1 }", NULL);
	assert_spans(text, AST_ITEM, "80 * b", NULL);
	assert_spans(text, AST_REQUIRE, "require a when b else \"c\"", NULL);
	assert_spans(text, AST_STRING, "\"c\"", NULL);
	assert_spans(text, AST_WITH, "e with { k = 1 }", NULL);
	assert_spans(text, AST_SPLIT, "split u , v by w pad 3", "w");
	assert_spans(text, AST_IF, "if a then b else c", NULL);
	assert_spans(text, AST_NAMED_BLOCK, "level n { }", "level");
	assert_spans(text, AST_LAMBDA, "{ p -> p + 1 }", "p");
	assert_spans("nest 1 let x = 80 GiB # c", AST_NUMBER, "80 GiB", NULL);
	assert_spans("nest 1 let x = 80GB/s", AST_NUMBER, "80GB/s", NULL);
	assert_spans("nest 1 let x = -y", AST_UNARY, "-y", "-");
}

static void test_documentation(void **state)
{
	struct fixture fixture;
	const struct ast *device, *field, *fn;

	(void)state;
	parse_text(&fixture, "nest 1\n## first\n##  second\n# no\n"
			     "device d {\n  ## of a\n  a = 1 ## of b\n  b = 2\n"
			     "}\nfn f(## of x\n x) = x\n## of nothing\n");
	assert_true(fixture.clean);
	device = fixture.tree->child[0];
	assert_string_equal(device->documentation, "first\n second");
	field = device->child[1]->child[0];
	assert_string_equal(field->documentation, "of a");
	field = device->child[1]->child[1];
	assert_string_equal(field->documentation, "of b");
	fn = fixture.tree->child[1];
	assert_null(fn->documentation);
	assert_string_equal(fn->child[0]->child[0]->documentation, "of x");
	release(&fixture);
}

static void test_expression_alone(void **state)
{
	struct fixture fixture;
	struct sources *sources;
	struct ast *node;
	uint32_t file;

	(void)state;
	parse_text(&fixture, "nest 1");
	sources = &fixture.compilation.sources;
	file = sources_add(sources, "-D", "-D", "1 + 2GB", 7, false);
	node = parse_expression(&fixture.compilation, file);
	assert_form(&fixture, node, "(+ 1 2000000000)");
	file = sources_add(sources, "-D", "-D", "{ 1, 2 }", 8, false);
	assert_form(&fixture, parse_expression(&fixture.compilation, file),
		    "(set 1 2)");
	file = sources_add(sources, "-D", "-D", "1 2", 3, false);
	assert_null(parse_expression(&fixture.compilation, file));
	file = sources_add(sources, "-D", "-D", "", 0, false);
	assert_null(parse_expression(&fixture.compilation, file));
	file = sources_add(sources, "-D", "-D", "(1", 2, false);
	assert_null(parse_expression(&fixture.compilation, file));
	file = sources_add(sources, "-D", "-D", "a\0b", 3, false);
	assert_null(parse_expression(&fixture.compilation, file));
	assert_int_equal(fixture.compilation.diags.errors, 4);
	release(&fixture);
}

/* Parsing goes on behind an error: each of several is found, and no more. */
static void test_recovery(void **state)
{
	(void)state;
	assert_errors("let x = = 3\nlet y = 3\nlet 4 = z\n",
		      "1:9 E0101; 3:5 E0101");
	assert_errors("modle m { a = = 1 }\njob j { }", "1:1 E0101");
	assert_errors("job j {\n  a = = 1\n  b = 2\n  c = 3)\n  d = * 4\n}\n"
		      "let x = = 1",
		      "2:7 E0101; 4:8 E0104; 5:7 E0101; 7:9 E0101");
	assert_errors("job j {\n  s { a = * 1\n b = 1 } c = * 2\n}\n",
		      "2:11 E0101; 3:14 E0101");
	/* Blocks behind the error are skipped as a whole. */
	assert_errors("job j {\n  a b { c { d = = 1 } }\n  e = = 2\n}\n",
		      "2:17 E0101; 3:7 E0101");
	assert_errors("job j = { a = 1 }\nlet x = * 1", "1:7 E0101; 2:9 E0101");
	assert_errors("job j { a = (1 + * 2, [3, 4) }\nlet x = * 1",
		      "1:18 E0101; 1:23 E0103; 2:9 E0101");
	assert_errors("let x = f(a, b c, d)\nlet y = [1 2]",
		      "1:16 E0101; 2:12 E0101");
	assert_errors("job j {\n  x = { a = 1 }\n  b = * 2\n}",
		      "2:11 E0101; 3:7 E0101");
	/* The unfinished line is told, not the one behind it. */
	assert_errors("job j {\n  a = 1 +\n  b = 2\n  c =\n  d = 3\n}",
		      "2:9 E0101; 4:5 E0101");
	assert_errors("let x =", "1:8 E0101");
	assert_errors("nest\nlet x = * 1", "2:1 E0101; 2:9 E0101");
}

static void test_brackets(void **state)
{
	(void)state;
	/* The opening bracket is pointed at. */
	assert_errors("job j {\n  a = 1\n", "1:7 E0103");
	assert_errors("job j {\n  s {\n    a = 1\n}\n", "2:5 E0103");
	assert_errors("job j {\n  a = 1\njob k {\n  b = * 2\n}\n",
		      "1:7 E0103; 4:7 E0101");
	assert_errors("job j {\n  s {\n    a = f(1\n  }\n}\nlet x = * 1",
		      "3:10 E0103; 6:9 E0101");
	assert_errors("job j {\n  a = f(1,\n  b = 2\n  c = * 3\n}\n",
		      "4:3 E0101; 4:7 E0101");
	assert_errors("job j {\n  a = f(1,\n    b c\n}\nlet x = * 1",
		      "3:7 E0101; 5:9 E0101");
	assert_errors("let x = (1 + [2)\nlet y = * 1",
		      "1:14 E0103; 2:9 E0101");
	assert_errors("let x = (1]\nlet y = * 1", "1:11 E0104; 2:9 E0101");
	assert_errors("job j { } }\nlet x = * 1", "1:11 E0104; 2:9 E0101");
	assert_errors("let x = 1)\nlet y = * 1", "1:10 E0104; 2:9 E0101");
	assert_errors("import a.b\njob j {\nimport c\n}\n",
		      "2:7 E0103; 4:1 E0104");
	/* Names at the start of a line do not close anything. */
	assert_errors("nest 1 topology t(device) {\ndevice = device\nlevel a { }\n}\n",
		      "");
}

static void test_literal_errors(void **state)
{
	(void)state;
	assert_errors("let x = 1e999 let y = 1e-999 let z = 0e-999",
		      "1:9 E0106; 1:23 E0106");
	assert_errors("let x = 1e308PB", "1:9 E0106");
	assert_errors("let x = 80Gib let y = 3 TFLOPS let z = 4x",
		      "1:11 E0107; 1:25 E0107; 1:41 E0107");
	assert_errors("let x = 5GB/sec let y = 5gb/s let z = 5B/x",
		      "1:10 E0107; 1:26 E0107");
	assert_errors("let x = \"abc\nlet y = \"a\\q\" let z = 1",
		      "1:9 E0105; 2:11 E0105");
	assert_errors("let x = \"abc\\", "1:9 E0105");
	assert_errors("let x = a && b let y = ! c let z = a || b",
		      "1:11 E0102; 1:24 E0102; 1:38 E0102");
	assert_errors("let x = 3 @ 4\nlet y = 3 4", "1:11 E0102; 2:11 E0101");
	assert_errors("let \xc3\xbcx = 3 let y = 2 \xe2\x89\xa4 4",
		      "1:5 E0102; 1:22 E0102");
	assert_errors("nest 2", "1:6 E0110");
	assert_says("let x = 80Gib", "did you mean '80GiB'?");
	assert_says("let x = 5GB/sec", "did you mean '5GB/s'?");
	assert_says("let x = 5gb/s", "did you mean '5GB/s'?");
	assert_says("let x = 3 TFLOPS", "did you mean '3TFLOP/s'?");
	assert_says("let x = 4 \xe2\x89\xa4 5", "write '<='");
	assert_says("let x = a // b", "a comment begins with '#'");
}

static void test_words_for_people(void **state)
{
	(void)state;
	assert_says("let x = = 3", "unexpected '='; expected an expression\n");
	assert_says("let = 3", "unexpected '='; expected a name\n");
	assert_says("let step = 3", "'step' is a word of the language");
	assert_says("let x 3", "unexpected '3'; expected '='\n");
	assert_says("device d 3", "unexpected '3'; expected '{' or '('\n");
	assert_says("let x =", "unexpected end of the file; expected an"
			       " expression\n");
	assert_says("temlate t { }", "did you mean 'template'?");
	assert_says("job j { a < b < c }", "comparisons do not chain");
	assert_says("let x = 1 + if a then b else c",
		    "put the whole 'if' in parentheses");
	assert_says("job j { x = { a = 1 } }", "without '=' before its '{'");
	assert_says("let x = f(\na,\nb c)", "inside the '(' opened here");
	assert_says("job j { a = 1 +\n b = 2 }",
		    "the line ends with '+'; expected an expression");
	assert_says("let x = [1 2]", "separate the elements with ','");
}

static void test_not_text(void **state)
{
	struct fixture fixture;

	(void)state;
	parse_bytes(&fixture, "nest 1\nlet x\0", 13);
	assert_false(fixture.clean);
	assert_non_null(fixture.tree);
	assert_int_equal(fixture.compilation.diags.at[0]->code, E_NOT_TEXT);
	assert_int_equal(fixture.compilation.diags.at[0]->span.begin, 12);
	release(&fixture);
	parse_bytes(&fixture, "# \xc3(", 4);
	assert_false(fixture.clean);
	assert_int_equal(fixture.compilation.diags.at[0]->span.begin, 2);
	release(&fixture);
}

/* "nest 1 let x = PREFIX... MIDDLE SUFFIX...", each repeated. */
static char *repeat(const char *prefix, size_t count, const char *middle,
		    const char *suffix)
{
	size_t length = count * (strlen(prefix) + strlen(suffix)) +
			strlen(middle) + 20;
	char *text = malloc(length), *at = text;

	at = stpcpy(at, "nest 1 let x = ");
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, prefix);
	at = stpcpy(at, middle);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, suffix);
	return text;
}

static void assert_nesting(const char *prefix, size_t count,
			   const char *middle, const char *suffix, bool fits)
{
	char *text = repeat(prefix, count, middle, suffix);
	struct fixture fixture;

	parse_text(&fixture, text);
	assert_int_equal(fixture.clean, fits);
	assert_true(fixture.tree->depth <= AST_DEPTH_MAX + 1);
	if (!fits) {
		assert_int_equal(fixture.compilation.diags.count, 1);
		assert_int_equal(fixture.compilation.diags.at[0]->code,
				 E_NESTING);
	}
	release(&fixture);
	free(text);
}

/* The tree stays shallow enough to recurse over, whatever the text. */
static void test_nesting(void **state)
{
	(void)state;
	assert_nesting("(", NEST_BRACKETS_MAX, "1", ")", true);
	assert_nesting("(", NEST_BRACKETS_MAX + 1, "1", ")", false);
	assert_nesting("(", 100000, "1", ")", false);
	assert_nesting("(", 100000, "", "", false);
	assert_nesting("[", 100000, "1", "]", false);
	assert_nesting("f(a = ", NEST_BRACKETS_MAX, "1", ")", true);
	assert_nesting("f() { e -> ", NEST_BRACKETS_MAX, "1", "}", true);
	assert_nesting("a with { b = ", 100000, "1", "}", false);
	assert_nesting("1 + ", 900, "1", "", true);
	assert_nesting("1 + ", 100000, "1", "", false);
	assert_nesting("not ", 900, "1", "", true);
	assert_nesting("not ", 100000, "1", "", false);
	assert_nesting("- ", 100000, "1", "", false);
	assert_nesting("2 ^ ", 100000, "1", "", false);
	assert_nesting("if a then b else ", 100000, "1", "", false);
	assert_nesting("", 100000, "a", ".b", false);
	assert_nesting("", 100000, "a", "[0]", false);
	assert_nesting("", 100000, "a", "(0)", false);
	assert_nesting("", 100000, "a", " with { }", false);
}

/* Errors without end are given up on. */
static void test_many_errors(void **state)
{
	struct fixture fixture;
	char *text = malloc(1000001);

	(void)state;
	memset(text, '@', 1000000);
	text[1000000] = '\0';
	parse_text(&fixture, text);
	assert_int_equal(fixture.compilation.diags.errors, NEST_ERRORS_MAX);
	release(&fixture);
	for (int i = 0; i < 1000000; i += 10)
		memcpy(text + i, "let = 3 \n\n", 10);
	parse_text(&fixture, text);
	assert_int_equal(fixture.compilation.diags.errors, NEST_ERRORS_MAX);
	release(&fixture);
	for (int i = 0; i < 1000000; i += 10)
		memcpy(text + i, ") ] } ) ] ", 10);
	parse_text(&fixture, text);
	assert_int_equal(fixture.compilation.diags.errors, NEST_ERRORS_MAX);
	release(&fixture);
	free(text);
}

/* Any beginning and any single lost byte of a spec is survived, and a spec
 * that lost its end is never taken for whole inside a declaration. */
static void test_mutilated(void **state)
{
	static const char text[] =
		"nest 1\nimport std.a as b\n## doc\nparam x: size = 80 GiB\n"
		"fn f(a, b = 1) = if a then { 1, 2 } else [b - 1]\n"
		"template t(h) {\n  split h by tensor pad 128\n"
		"  x : [batch, h]\n  z = e(x, r) { e -> l(e, h -> h) }\n"
		"  return x + z.y[0]\n}\n"
		"job j {\n  m = a with { b = 90% }\n"
		"  s { tensor in 1 .. 20 step 2 }\n"
		"  require a <= \"x\\n\" when not b else \"w\"\n"
		"  minimize time then cost\n  node g[0] : d link a -- b { }\n"
		"}\n";
	char copy[sizeof(text)];
	struct fixture fixture;

	(void)state;
	for (size_t length = 0; length < sizeof(text); length++) {
		parse_bytes(&fixture, text, length);
		assert_non_null(fixture.tree);
		if (length > (size_t)(strstr(text, "job j {") - text) + 4 &&
		    length < sizeof(text) - 2)
			assert_false(fixture.clean);
		release(&fixture);
	}
	for (size_t lost = 0; lost + 1 < sizeof(text); lost++) {
		memcpy(copy, text, lost);
		memcpy(copy + lost, text + lost + 1, sizeof(text) - lost - 1);
		parse_text(&fixture, copy);
		assert_non_null(fixture.tree);
		release(&fixture);
		memcpy(copy, text, sizeof(text));
		copy[lost] = '}';
		parse_text(&fixture, copy);
		assert_non_null(fixture.tree);
		release(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_primaries),
		cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_unit_borders),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_words_as_names),
		cmocka_unit_test(test_line_starts),
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_documentation),
		cmocka_unit_test(test_expression_alone),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_brackets),
		cmocka_unit_test(test_literal_errors),
		cmocka_unit_test(test_words_for_people),
		cmocka_unit_test(test_not_text),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_many_errors),
		cmocka_unit_test(test_mutilated),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}

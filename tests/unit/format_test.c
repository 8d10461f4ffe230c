/* SPDX-License-Identifier: MIT
 *
 * The layout, case by case: what goes in and what comes out, both written by
 * hand. That formatting twice changes nothing and means the same is tested on
 * random specs in tests/prop/format_prop.c; every case here is checked for it
 * too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/ast.h"
#include "lang/compilation.h"
#include "lang/format.h"
#include "lang/parse.h"

const struct embedded_file nest_stdlib[] = { { 0 } };

static bool format_text(struct compilation *compilation, const char *before,
			struct text *after)
{
	uint32_t file = sources_add(&compilation->sources, "spec", "spec",
				    before, strlen(before), false);

	text_init(after, &compilation->arena);
	return format_source(compilation, file, after);
}

static void gives(const char *before, const char *expected)
{
	struct compilation compilation;
	struct text after, again;

	compilation_init(&compilation);
	assert_true(format_text(&compilation, before, &after));
	assert_string_equal(after.at, expected);
	assert_true(format_text(&compilation, after.at, &again));
	assert_string_equal(again.at, expected);
	compilation_release(&compilation);
}

static void stays(const char *text)
{
	gives(text, text);
}

static void fields_are_aligned(void **state)
{
	(void)state;
	gives("nest 1\n"
	      "device d {\n"
	      "memory=80GiB;memory_bandwidth   = 3.35 TB/s\n"
	      "\n\n\n"
	      "price = 2$/h\n"
	      "  # between\n"
	      "power = 700W\n"
	      "}\n",
	      "nest 1\n"
	      "device d {\n"
	      "  memory           = 80GiB\n"
	      "  memory_bandwidth = 3.35 TB/s\n"
	      "\n"
	      "  price = 2$/h\n"
	      "  # between\n"
	      "  power = 700W\n"
	      "}\n");
	gives("nest 1\nlet a = 1\nlet long = 2\nparam p: int = 3\nparam long = 4\n",
	      "nest 1\n"
	      "let a    = 1\n"
	      "let long = 2\n"
	      "param p: int = 3\n"
	      "param long   = 4\n");
	gives("nest 1\njob j { search { tensor in {1,2}\npipeline in 1..4 step 1 } }\n",
	      "nest 1\n"
	      "job j {\n"
	      "  search {\n"
	      "    tensor   in { 1, 2 }\n"
	      "    pipeline in 1 .. 4 step 1\n"
	      "  }\n"
	      "}\n");
}

static void rows_are_a_table(void **state)
{
	(void)state;
	gives("nest 1\n"
	      "topology t {\n"
	      "level node { fanout = 8 bandwidth = 450GB/s latency = 1us }\n"
	      "level rack_of_nodes { fanout = nodes bandwidth = 5GB/s latency = 10us }\n"
	      "level spine { fanout = 2 bandwidth = 50GB/s latency = 5us, efficiency = 4 }\n"
	      "}\n",
	      "nest 1\n"
	      "topology t {\n"
	      "  level node          { fanout = 8      bandwidth = 450GB/s  latency = 1us }\n"
	      "  level rack_of_nodes { fanout = nodes  bandwidth = 5GB/s    latency = 10us }\n"
	      "  level spine         { fanout = 2      bandwidth = 50GB/s   latency = 5us"
	      "  efficiency = 4 }\n"
	      "}\n");
	/* Rows that name other things are not aligned behind them. */
	gives("nest 1\n"
	      "topology t {\n"
	      "  level a { fanout = 8  latency = 1us }\n"
	      "  level bb { latency = 100us fanout = 8 }\n"
	      "}\n",
	      "nest 1\n"
	      "topology t {\n"
	      "  level a  { fanout = 8  latency = 1us }\n"
	      "  level bb { latency = 100us  fanout = 8 }\n"
	      "}\n");
	/* A block of several lines keeps them. */
	stays("nest 1\n"
	      "topology t {\n"
	      "  level a {\n"
	      "    fanout = 8\n"
	      "  }\n"
	      "}\n");
}

static void parentheses_are_those_needed_and_those_written(void **state)
{
	(void)state;
	gives("nest 1\nlet a = ((1+2))*3 - (-4)^2 + (x*y)\n",
	      "nest 1\nlet a = (1 + 2) * 3 - (-4) ^ 2 + (x * y)\n");
	gives("nest 1\nlet a = not(a and b)or c in{1}and 7  %  2==1\n",
	      "nest 1\nlet a = not (a and b) or c in { 1 } and 7 % 2 == 1\n");
	gives("nest 1\nlet a=f(x,-y)[1 ] . b with{c=1}\n",
	      "nest 1\nlet a = f(x, -y)[1].b with { c = 1 }\n");
	gives("nest 1\nlet s = \"a\\\"\\\\\\t\t\"\n",
	      "nest 1\nlet s = \"a\\\"\\\\\\t\\t\"\n");
	stays("nest 1\nlet a = (if a then 1 else 2) + 1\n");
}

static void long_lines_break(void **state)
{
	(void)state;
	/* 88 columns stay, 89 break behind the bracket. */
	stays("nest 1\n"
	      "topology spin(device, gpus = 8, nodes = 4, racks = 32, nvlink = 450GB/s, nic = 50GB/s) {}\n");
	gives("nest 1\n"
	      "topology spine(device, gpus = 8, nodes = 4, racks = 32, nvlink = 450GB/s, nic = 50GB/s) {\n"
	      "device = device }\n",
	      "nest 1\n"
	      "topology spine(device, gpus = 8, nodes = 4, racks = 32, nvlink = 450GB/s,\n"
	      "               nic = 50GB/s) {\n"
	      "  device = device\n"
	      "}\n");
	gives("nest 1\n"
	      "template t { n = if norm == none then x else if norm == layernorm then layernorm(x) else rmsnorm(rmsnorm(x)) }\n",
	      "nest 1\n"
	      "template t {\n"
	      "  n = if norm == none then x\n"
	      "      else if norm == layernorm then layernorm(x)\n"
	      "      else rmsnorm(rmsnorm(x))\n"
	      "}\n");
	gives("nest 1\n"
	      "let sum = first_of_all_the_numbers + second_of_all_the_numbers + third_of_all_of_the_numbers\n",
	      "nest 1\n"
	      "let sum = first_of_all_the_numbers + second_of_all_the_numbers +\n"
	      "          third_of_all_of_the_numbers\n");
	gives("nest 1\n"
	      "job j {\nrequire pipeline >= 2 when tensor < 8 else \"four devices must not hold the whole model\"\n}\n",
	      "nest 1\n"
	      "job j {\n"
	      "  require pipeline >= 2 when tensor < 8\n"
	      "    else \"four devices must not hold the whole model\"\n"
	      "}\n");
}

static void calls_break_inside(void **state)
{
	(void)state;
	/* Layers keep their number beside them. */
	gives("nest 1\n"
	      "model m { layers {\n"
	      "58 * block(hidden, heads = 128, kv_heads = 8, head_dim = 128, experts = 256, top_k = 8)\n"
	      "} }\n",
	      "nest 1\n"
	      "model m {\n"
	      "  layers {\n"
	      "    58 * block(hidden, heads = 128, kv_heads = 8, head_dim = 128, experts = 256,\n"
	      "               top_k = 8)\n"
	      "  }\n"
	      "}\n");
	gives("nest 1\n"
	      "template t {\n"
	      "longer = experts(m, router(m, experts, top_k)) { e -> linear(silu(linear(e, hidden -> ffn)), ffn -> hidden) }\n"
	      "z = longer\n"
	      "}\n",
	      "nest 1\n"
	      "template t {\n"
	      "  longer = experts(m, router(m, experts, top_k)) { e ->\n"
	      "    linear(silu(linear(e, hidden -> ffn)), ffn -> hidden)\n"
	      "  }\n"
	      "  z = longer\n"
	      "}\n");
}

static void comments_stay(void **state)
{
	(void)state;
	gives("# head\n\n\n# second\nnest 1 # edition\n"
	      "## about d\n"
	      "device d {# open  \n"
	      "# own\n"
	      "a=1#one\n"
	      "\n# last\n\n"
	      "}  # close\n# end",
	      "# head\n"
	      "\n"
	      "# second\n"
	      "nest 1                              # edition\n"
	      "## about d\n"
	      "device d {                          # open\n"
	      "  # own\n"
	      "  a = 1                             #one\n"
	      "\n"
	      "  # last\n"
	      "}                                   # close\n"
	      "# end\n");
	/* Behind code beyond their column they keep two blanks off it. */
	gives("nest 1\nlet a_name_so_long_that_it_ends_there = 1 # x\nlet b = 2 # y\n",
	      "nest 1\n"
	      "let a_name_so_long_that_it_ends_there = 1  # x\n"
	      "let b                                 = 2  # y\n");
}

static void comments_in_lists_get_lines(void **state)
{
	(void)state;
	gives("nest 1\n"
	      "template t(hidden, # width\n"
	      "  ## how many\n"
	      "  heads = 8) {}\n",
	      "nest 1\n"
	      "template t(\n"
	      "  hidden,                           # width\n"
	      "  ## how many\n"
	      "  heads = 8,\n"
	      ") {}\n");
	gives("nest 1\nlet l = [1, # one\n2\n# end\n]\n",
	      "nest 1\n"
	      "let l = [\n"
	      "  1,                                # one\n"
	      "  2,\n"
	      "  # end\n"
	      "]\n");
}

static void odd_comments_keep_their_item(void **state)
{
	(void)state;
	gives("nest 1\ndevice d {\na   = 1 + # one\n     2*3\nbb=2\n}\n",
	      "nest 1\n"
	      "device d {\n"
	      "  a   = 1 + # one\n"
	      "       2*3\n"
	      "  bb = 2\n"
	      "}\n");
	gives("nest 1\ndevice d # about\n{ a=1 }\n",
	      "nest 1\ndevice d # about\n{ a = 1 }\n");
}

static void items_stay_apart(void **state)
{
	(void)state;
	/* Without the separator `level` would take the name behind it. */
	gives("nest 1\ntest \"t\" { level; x\nsplit a by b; pad * 8 }\n",
	      "nest 1\n"
	      "test \"t\" {\n"
	      "  level;\n"
	      "  x\n"
	      "  split a by b;\n"
	      "  pad * 8\n"
	      "}\n");
	stays("nest 1\njob j { require { a, (b) }  minimize time }\n");
}

static void wrong_specs_are_refused(void **state)
{
	struct compilation compilation;
	struct text text;

	(void)state;
	compilation_init(&compilation);
	assert_false(format_text(&compilation, "nest 1\nlet a = \n", &text));
	assert_int_equal(text.length, 0);
	assert_int_equal(compilation.diags.errors, 1);
	assert_false(format_text(&compilation, "let a = 1\n", &text));
	compilation_release(&compilation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_aligned),
		cmocka_unit_test(rows_are_a_table),
		cmocka_unit_test(parentheses_are_those_needed_and_those_written),
		cmocka_unit_test(long_lines_break),
		cmocka_unit_test(calls_break_inside),
		cmocka_unit_test(comments_stay),
		cmocka_unit_test(comments_in_lists_get_lines),
		cmocka_unit_test(odd_comments_keep_their_item),
		cmocka_unit_test(items_stay_apart),
		cmocka_unit_test(wrong_specs_are_refused),
	};

	return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}

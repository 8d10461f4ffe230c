/* SPDX-License-Identifier: MIT
 *
 * Diagnostics: drawings, order, limits, JSON and SARIF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lang/diag.h"

struct fixture {
	struct arena arena;
	struct sources sources;
	struct diags diags;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	arena_init(&fixture.arena);
	sources_init(&fixture.sources, &fixture.arena);
	diags_init(&fixture.diags, &fixture.arena, &fixture.sources);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	arena_release(&fixture->arena);
	return 0;
}

static uint32_t add(struct fixture *fixture, const char *name,
		    const char *text)
{
	return sources_add(&fixture->sources, name, name, text, strlen(text),
			   false);
}

/* The first place of the words in the text of a source. */
static struct span find(struct fixture *fixture, uint32_t file,
			const char *words)
{
	const char *bytes = fixture->sources.at[file]->bytes;
	const char *at = strstr(bytes, words);

	assert_non_null(at);
	return (struct span){
		.file = file,
		.begin = (uint32_t)(at - bytes),
		.end = (uint32_t)(at - bytes + (ptrdiff_t)strlen(words)),
	};
}

/* What a flush prints; to be freed. */
static char *flushed_as(struct fixture *fixture, enum diag_format format,
			bool colour)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	diags_flush(&fixture->diags, out, format, colour);
	fclose(out);
	return text;
}

static void assert_flushes(struct fixture *fixture, const char *expected)
{
	char *text = flushed_as(fixture, DIAG_FORMAT_TEXT, false);

	assert_string_equal(text, expected);
	free(text);
}

static void test_plain(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest", "nest 1\nlet x = 64 + y\n");

	assert_false(diag_error(&fixture->diags, E_SYNTAX,
				find(fixture, file, "64"), "bad '%d'", 64));
	diag_note(&fixture->diags, SPAN_NONE, "a note");
	diag_note(&fixture->diags, find(fixture, file, "nest"), "placed");
	diag_help(&fixture->diags, "do this");
	assert_flushes(fixture,
		       "a.nest:2:9: error[E0101]: bad '64'\n"
		       "    2 | let x = 64 + y\n"
		       "      |         ^~\n"
		       "   note: a note\n"
		       "   note: a.nest:1:1: placed\n"
		       "   help: do this\n");
	assert_int_equal(fixture->diags.errors, 1);
	/* The list is empty now. */
	assert_flushes(fixture, "");
}

static void test_no_place(void **state)
{
	struct fixture *fixture = *state;

	diag_warning(&fixture->diags, E_UNREADABLE, SPAN_NONE, "two\nlines");
	assert_flushes(fixture, "nestc: warning[E0901]: two\n"
				"         lines\n");
	assert_int_equal(fixture->diags.errors, 0);
	assert_int_equal(fixture->diags.warnings, 1);
}

static void test_labels(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest",
			    "budget = 64GiB + 5us\n\n\nlimit = 3\n");

	diag_error(&fixture->diags, E_DIMENSION, find(fixture, file, "5us"),
		   "cannot add");
	diag_caption(&fixture->diags, "this is a time");
	diag_label(&fixture->diags, find(fixture, file, "64GiB"),
		   "this is a size");
	diag_label(&fixture->diags, find(fixture, file, "limit"), "and here");
	assert_flushes(fixture,
		       "a.nest:1:18: error[E0302]: cannot add\n"
		       "    1 | budget = 64GiB + 5us\n"
		       "      |          ~~~~~   ^~~ this is a time\n"
		       "      |          this is a size\n"
		       "  ...\n"
		       "    4 | limit = 3\n"
		       "      | ~~~~~ and here\n");
}

static void test_other_file(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = add(fixture, "a.nest", "one\n");
	uint32_t second = add(fixture, "b.nest", "two\n");

	diag_error(&fixture->diags, E_SYNTAX, find(fixture, first, "one"),
		   "m");
	diag_label(&fixture->diags, find(fixture, second, "wo"), "there");
	assert_flushes(fixture, "a.nest:1:1: error[E0101]: m\n"
				"    1 | one\n"
				"      | ^~~\n"
				"   b.nest:1:2:\n"
				"    1 | two\n"
				"      |  ~~ there\n");
}

/* A tab reaches to the next multiple of eight, a CJK character takes two
 * cells, a combining accent none; the column counts characters. */
static void test_columns(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest",
			    "a\tb\xe4\xb8\xad" "e\xcc\x81 here\n");

	diag_error(&fixture->diags, E_SYNTAX, find(fixture, file, "here"),
		   "m");
	assert_flushes(fixture,
		       "a.nest:1:8: error[E0101]: m\n"
		       "    1 | a       b\xe4\xb8\xad" "e\xcc\x81 here\n"
		       "      |              ^~~~\n");
}

/* Nothing in a source reaches the terminal that could steer it. */
static void test_control_characters(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest",
			    "x\033[2J\xe2\x80\xae y\xff\n");

	diag_error(&fixture->diags, E_SYNTAX, find(fixture, file, "y"), "m");
	assert_flushes(fixture,
		       "a.nest:1:8: error[E0101]: m\n"
		       "    1 | x\xef\xbf\xbd[2J\xef\xbf\xbd y\xef\xbf\xbd\n"
		       "      |        ^\n");
}

static void test_several_lines(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest",
			    "ab {\n  cd\n  ef\n} gh\n");
	struct span span = find(fixture, file, "{\n  cd\n  ef\n}");

	diag_error(&fixture->diags, E_SYNTAX, span, "m");
	diag_caption(&fixture->diags, "all this");
	assert_flushes(fixture, "a.nest:1:4: error[E0101]: m\n"
				"    1 | ab {\n"
				"      |    ^\n"
				"  ...\n"
				"    4 | } gh\n"
				"      | ~ all this\n");
}

/* An empty range and the end of the file still get a caret. */
static void test_empty_ranges(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest", "ab");

	diag_error(&fixture->diags, E_SYNTAX,
		   (struct span){ .file = file, .begin = 1, .end = 1 }, "m");
	diag_error(&fixture->diags, E_SYNTAX,
		   (struct span){ .file = file, .begin = 2, .end = 2 }, "n");
	assert_flushes(fixture, "a.nest:1:2: error[E0101]: m\n"
				"    1 | ab\n"
				"      |  ^\n"
				"a.nest:1:3: error[E0101]: n\n"
				"    1 | ab\n"
				"      |   ^\n");
}

static void test_long_line(void **state)
{
	struct fixture *fixture = *state;
	char text[1001], expected[400];
	uint32_t file;
	char *out;

	memset(text, 'x', 1000);
	text[1000] = '\0';
	memcpy(text + 500, "HERE", 4);
	file = add(fixture, "a.nest", text);
	diag_error(&fixture->diags, E_SYNTAX, find(fixture, file, "HERE"),
		   "m");
	out = flushed_as(fixture, DIAG_FORMAT_TEXT, false);
	/* 40 cells before the mark, 100 in all. */
	snprintf(expected, sizeof(expected),
		 "a.nest:1:501: error[E0101]: m\n"
		 "    1 | \xe2\x80\xa6%.40sHERE%.56s\xe2\x80\xa6\n"
		 "      | %41s^~~~\n", text, text, "");
	assert_string_equal(out, expected);
	free(out);
}

static void test_order_and_repeats(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest", "one two");
	struct span one = find(fixture, file, "one");
	struct span two = find(fixture, file, "two");

	diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "last");
	diag_error(&fixture->diags, E_SYNTAX, two, "fourth");
	diag_error(&fixture->diags, E_SYNTAX, one, "z first");
	diag_error(&fixture->diags, E_SYNTAX, one, "a second");
	diag_error(&fixture->diags, E_SYNTAX, one, "z first");
	diag_error(&fixture->diags, E_TYPE, one, "z first");
	assert_flushes(fixture,
		       "a.nest:1:1: error[E0101]: z first\n"
		       "    1 | one two\n      | ^~~\n"
		       "a.nest:1:1: error[E0101]: a second\n"
		       "    1 | one two\n      | ^~~\n"
		       "a.nest:1:1: error[E0301]: z first\n"
		       "    1 | one two\n      | ^~~\n"
		       "a.nest:1:5: error[E0101]: fourth\n"
		       "    1 | one two\n      |     ^~~\n"
		       "nestc: error[E0101]: last\n");
}

static void test_maximum(void **state)
{
	struct fixture *fixture = *state;

	fixture->diags.errors_max = 2;
	for (int i = 0; i < 5; i++)
		diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "e%d", i);
	diag_warning(&fixture->diags, E_SYNTAX, SPAN_NONE, "w");
	assert_flushes(fixture, "nestc: error[E0101]: e0\n"
				"nestc: error[E0101]: e1\n"
				"nestc: warning[E0101]: w\n"
				"3 more errors not shown\n");
	assert_int_equal(fixture->diags.errors, 5);
	/* The maximum is for the whole run. */
	diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "e5");
	assert_flushes(fixture, "1 more error not shown\n");
	/* Far more than are kept. */
	for (int i = 0; i < 10000; i++)
		diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "m%d", i);
	diag_help(&fixture->diags, "to one that is not kept");
	assert_int_equal(fixture->diags.errors, 10006);
	assert_flushes(fixture, "10000 more errors not shown\n");
}

static void test_warnings_as_errors(void **state)
{
	struct fixture *fixture = *state;

	fixture->diags.warnings_are_errors = true;
	assert_false(diag_warning(&fixture->diags, E_SYNTAX, SPAN_NONE, "w"));
	assert_int_equal(fixture->diags.errors, 1);
	assert_flushes(fixture, "nestc: error[E0101]: w\n");
}

static void test_frames(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest", "outer inner");
	struct diag_frame outer, inner;
	char passing[] = "in 'inner'";

	diag_push_frame(&fixture->diags, &outer, find(fixture, file, "outer"),
			"in 'outer'");
	diag_push_frame(&fixture->diags, &inner, find(fixture, file, "inner"),
			passing);
	diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "m");
	diag_note(&fixture->diags, SPAN_NONE, "own note");
	diag_pop_frame(&fixture->diags);
	memset(passing, 'x', 5);	/* frames are copied */
	diag_pop_frame(&fixture->diags);
	diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "n");
	assert_flushes(fixture, "nestc: error[E0101]: m\n"
				"   note: own note\n"
				"   note: a.nest:1:7: in 'inner'\n"
				"   note: a.nest:1:1: in 'outer'\n"
				"nestc: error[E0101]: n\n");
}

/* The place of what the library finds is where people's own file uses it. */
static void test_found_in_the_library(void **state)
{
	struct fixture *fixture = *state;
	uint32_t own = add(fixture, "a.nest", "outer use");
	uint32_t library = sources_add(&fixture->sources, "std/b.nest",
				       "std:b.nest", "inner fault", 11, true);
	struct diag_frame outer, use, inner;

	diag_push_frame(&fixture->diags, &outer, find(fixture, own, "outer"),
			"in 'outer'");
	diag_push_frame(&fixture->diags, &use, find(fixture, own, "use"),
			"in 'use'");
	diag_push_frame(&fixture->diags, &inner,
			find(fixture, library, "inner"), "in 'inner'");
	diag_error(&fixture->diags, E_SYNTAX, find(fixture, library, "fault"),
		   "m");
	diag_caption(&fixture->diags, "too much");
	diag_error(&fixture->diags, E_SYNTAX, find(fixture, own, "outer"), "n");
	diag_pop_frame(&fixture->diags);
	diag_pop_frame(&fixture->diags);
	diag_pop_frame(&fixture->diags);
	/* Without a use there is nothing else to point at. */
	diag_error(&fixture->diags, E_SYNTAX, find(fixture, library, "fault"),
		   "o");
	assert_flushes(fixture, "a.nest:1:1: error[E0101]: n\n"
				"    1 | outer use\n"
				"      | ^~~~~\n"
				"   note: std/b.nest:1:1: in 'inner'\n"
				"   note: a.nest:1:7: in 'use'\n"
				"   note: a.nest:1:1: in 'outer'\n"
				"a.nest:1:7: error[E0101]: m\n"
				"    1 | outer use\n"
				"      |       ^~~\n"
				"   std/b.nest:1:7:\n"
				"    1 | inner fault\n"
				"      |       ~~~~~ too much\n"
				"   note: std/b.nest:1:1: in 'inner'\n"
				"   note: a.nest:1:1: in 'outer'\n"
				"std/b.nest:1:7: error[E0101]: o\n"
				"    1 | inner fault\n"
				"      |       ^~~~~\n");
}

static void test_deep_frames(void **state)
{
	struct fixture *fixture = *state;
	struct diag_frame frames[12];

	for (int i = 0; i < 12; i++)
		diag_push_frame(&fixture->diags, &frames[i], SPAN_NONE, "f");
	diag_error(&fixture->diags, E_SYNTAX, SPAN_NONE, "m");
	assert_flushes(fixture, "nestc: error[E0101]: m\n"
				"   note: f\n   note: f\n   note: f\n"
				"   note: f\n   note: f\n   note: f\n"
				"   note: f\n   note: f\n"
				"   note: and 4 outer expansions\n");
}

static void test_parts_without_diagnostic(void **state)
{
	struct fixture *fixture = *state;

	diag_caption(&fixture->diags, "c");
	diag_note(&fixture->diags, SPAN_NONE, "n");
	diag_help(&fixture->diags, "h");
	diag_fix(&fixture->diags, SPAN_NONE, "f");
	assert_flushes(fixture, "");
}

static void test_colour(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "a.nest", "one");
	char *text;

	diag_error(&fixture->diags, E_SYNTAX, find(fixture, file, "one"),
		   "m");
	text = flushed_as(fixture, DIAG_FORMAT_TEXT, true);
	assert_non_null(strstr(text, "\033[1;31merror[E0101]:\033[0m m\n"));
	free(text);
	diag_error(&fixture->diags, E_SYNTAX, find(fixture, file, "one"),
		   "m");
	text = flushed_as(fixture, DIAG_FORMAT_TEXT, false);
	assert_null(strchr(text, '\033'));
	free(text);
}

static json_t *only_object(const char *text)
{
	json_t *object = json_loads(text, 0, NULL);

	assert_non_null(object);
	return object;
}

static void assert_string(const json_t *object, const char *key,
			  const char *expected)
{
	assert_string_equal(json_string_value(json_object_get(object, key)),
			    expected);
}

static void assert_integer(const json_t *object, const char *key, int expected)
{
	assert_int_equal(json_integer_value(json_object_get(object, key)),
			 expected);
}

static void report_for_machines(struct fixture *fixture)
{
	uint32_t file = add(fixture, "a \"b\".nest", "\xc3\xa9 80Gib\nnext\n");

	diag_error(&fixture->diags, E_UNKNOWN_UNIT,
		   find(fixture, file, "Gib"), "no 'unit'");
	diag_caption(&fixture->diags, "here");
	diag_label(&fixture->diags, find(fixture, file, "next"), "there");
	diag_note(&fixture->diags, find(fixture, file, "80"), "placed");
	diag_help(&fixture->diags, "did you mean 'GiB'?");
	diag_fix(&fixture->diags, find(fixture, file, "Gib"), "GiB");
}

static void test_json(void **state)
{
	struct fixture *fixture = *state;
	json_t *object, *span, *list;
	char *text;

	report_for_machines(fixture);
	text = flushed_as(fixture, DIAG_FORMAT_JSON, false);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	object = only_object(text);
	assert_string(object, "format_version", "1.0");
	assert_string(object, "severity", "error");
	assert_string(object, "code", "E0107");
	assert_string(object, "name", "unknown-unit");
	assert_string(object, "message", "no 'unit'");
	assert_non_null(strstr(json_string_value(
			json_object_get(object, "rendered")), "^~~ here"));

	list = json_object_get(object, "spans");
	assert_int_equal(json_array_size(list), 2);
	span = json_array_get(list, 0);
	assert_string(span, "file", "a \"b\".nest");
	assert_string(span, "label", "here");
	assert_true(json_is_true(json_object_get(span, "primary")));
	/* e with acute is two bytes and one column */
	assert_integer(span, "byte_start", 5);
	assert_integer(span, "byte_end", 8);
	assert_integer(span, "line", 1);
	assert_integer(span, "column", 5);
	assert_integer(span, "end_line", 1);
	assert_integer(span, "end_column", 8);
	span = json_array_get(list, 1);
	assert_integer(span, "line", 2);
	assert_true(json_is_false(json_object_get(span, "primary")));

	list = json_object_get(object, "notes");
	assert_int_equal(json_array_size(list), 2);
	assert_string(json_array_get(list, 0), "kind", "note");
	assert_string(json_array_get(list, 1), "kind", "help");

	list = json_object_get(object, "fixes");
	assert_int_equal(json_array_size(list), 1);
	list = json_object_get(json_array_get(list, 0), "edits");
	assert_string(json_array_get(list, 0), "replacement", "GiB");
	json_decref(object);
	free(text);
}

/* Bytes of a file that is no text do not spoil the JSON. */
static void test_json_of_no_text(void **state)
{
	struct fixture *fixture = *state;
	uint32_t file = add(fixture, "\xff.nest", "a\xff z");
	json_t *object;
	char *text;

	diag_error(&fixture->diags, E_NOT_TEXT, find(fixture, file, "\xff"),
		   "byte \xff");
	text = flushed_as(fixture, DIAG_FORMAT_JSON, false);
	object = only_object(text);
	assert_string(object, "message", "byte ?");
	json_decref(object);
	free(text);
}

static void test_sarif(void **state)
{
	struct fixture *fixture = *state;
	json_t *document, *run, *driver, *result, *region, *rules;
	const char *uri = NULL;
	char *text;
	int index;

	report_for_machines(fixture);
	diag_warning(&fixture->diags, E_UNREADABLE, SPAN_NONE, "w");
	text = flushed_as(fixture, DIAG_FORMAT_SARIF, false);
	document = only_object(text);
	assert_string(document, "version", "2.1.0");
	run = json_array_get(json_object_get(document, "runs"), 0);
	driver = json_object_get(json_object_get(run, "tool"), "driver");
	assert_string(driver, "name", "nestc");
	rules = json_object_get(driver, "rules");
	assert_int_equal(json_array_size(rules), DIAG_CODE_COUNT);
	assert_int_equal(json_array_size(json_object_get(run, "results")), 2);
	result = json_array_get(json_object_get(run, "results"), 0);
	assert_string(result, "ruleId", "E0107");
	assert_string(result, "level", "error");
	assert_int_equal(json_unpack(result, "{s:i}", "ruleIndex", &index), 0);
	assert_string(json_array_get(rules, (size_t)index), "id", "E0107");
	assert_int_equal(json_unpack(result,
				     "{s:[{s:{s:{s:s},s:o}}],s:[{},{}]}",
				     "locations", "physicalLocation",
				     "artifactLocation", "uri", &uri,
				     "region", &region, "relatedLocations"),
			 0);
	assert_string_equal(uri, "a%20%22b%22.nest");
	assert_integer(region, "startLine", 1);
	assert_integer(region, "startColumn", 5);
	assert_integer(region, "byteOffset", 5);
	assert_integer(region, "byteLength", 3);
	result = json_array_get(json_object_get(run, "results"), 1);
	assert_string(result, "level", "warning");
	assert_int_equal(json_array_size(json_object_get(result,
							 "locations")), 0);
	json_decref(document);
	free(text);
}

/* A document comes out even when there is nothing to say. */
static void test_sarif_empty(void **state)
{
	char *text = flushed_as(*state, DIAG_FORMAT_SARIF, false);
	json_t *document = only_object(text), *results;

	assert_int_equal(json_unpack(document, "{s:[{s:o}]}", "runs",
				     "results", &results), 0);
	assert_int_equal(json_array_size(results), 0);
	json_decref(document);
	free(text);
}

static void test_codes(void **state)
{
	(void)state;
	assert_string_equal(diag_code_name(E_SYNTAX), "E0101");
	assert_string_equal(diag_code_short_name(E_SYNTAX), "syntax");
	assert_int_equal(diag_code_find("E0101"), E_SYNTAX);
	assert_int_equal(diag_code_find("e0390"), E_NOT_YET);
	assert_int_equal(diag_code_find("E0001"), DIAG_CODE_COUNT);
	assert_int_equal(diag_code_find(""), DIAG_CODE_COUNT);
	assert_int_equal(diag_code_find("E01011"), DIAG_CODE_COUNT);
	for (int i = 0; i < DIAG_CODE_COUNT; i++) {
		enum diag_code code = (enum diag_code)i;

		assert_int_equal(diag_code_find(diag_code_name(code)), code);
	}
}

static void test_resembles(void **state)
{
	static const struct {
		const char *a, *b;
		bool resembles;
		unsigned distance;
	} rows[] = {
		{ "tensor", "tensor", true, 0 },
		{ "tensr", "tensor", true, 1 },
		{ "tnesor", "tensor", true, 1 },	/* exchanged */
		{ "tensors", "tensor", true, 1 },
		{ "teensorr", "tensor", true, 2 },
		{ "xyz", "abc", false, 3 },
		{ "ab", "ba", false, 1 },	/* more than a third */
		{ "abc", "acb", true, 1 },
		{ "kitten", "sitting", false, 3 },
		{ "", "", true, 0 },
		{ "", "abc", false, 3 },
	};
	char longer[100];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned distance = 99;

		assert_int_equal(diag_resembles(rows[i].a, rows[i].b,
						&distance),
				 rows[i].resembles);
		assert_int_equal(distance, rows[i].distance);
		assert_int_equal(diag_resembles(rows[i].b, rows[i].a, NULL),
				 rows[i].resembles);
	}
	memset(longer, 'a', 99);
	longer[99] = '\0';
	assert_false(diag_resembles(longer, longer, NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),
		TEST(test_no_place),
		TEST(test_labels),
		TEST(test_other_file),
		TEST(test_columns),
		TEST(test_control_characters),
		TEST(test_several_lines),
		TEST(test_empty_ranges),
		TEST(test_long_line),
		TEST(test_order_and_repeats),
		TEST(test_maximum),
		TEST(test_warnings_as_errors),
		TEST(test_frames),
		TEST(test_found_in_the_library),
		TEST(test_deep_frames),
		TEST(test_parts_without_diagnostic),
		TEST(test_colour),
		TEST(test_json),
		TEST(test_json_of_no_text),
		TEST(test_sarif),
		TEST(test_sarif_empty),
		TEST(test_codes),
		TEST(test_resembles),
	};

	return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}

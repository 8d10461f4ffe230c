/* SPDX-License-Identifier: MIT
 *
 * Source files: lines, columns, UTF-8, reading.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lang/source.h"

struct fixture {
	struct arena arena;
	struct sources sources;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	arena_init(&fixture.arena);
	sources_init(&fixture.sources, &fixture.arena);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	arena_release(&fixture->arena);
	return 0;
}

static const struct source *add(struct fixture *fixture, const char *text,
				size_t length)
{
	uint32_t file = sources_add(&fixture->sources, "a.nest", "/a.nest",
				    text, length, false);

	return fixture->sources.at[file];
}

static void assert_line(const struct source *source, uint32_t line,
			const char *expected)
{
	uint32_t length;
	const char *text = source_line(source, line, &length);

	assert_int_equal(length, strlen(expected));
	assert_memory_equal(text, expected, length);
}

static void assert_place(const struct source *source, uint32_t offset,
			 uint32_t line, uint32_t column)
{
	struct place place = source_place(source, offset);

	assert_int_equal(place.line, line);
	assert_int_equal(place.column, column);
}

static void test_lines(void **state)
{
	/*                        0123 4567 8 9 0 1 2 */
	static const char text[] = "one\ntwo\r\n\nlast";
	const struct source *source = add(*state, text, strlen(text));

	assert_int_equal(source->line_count, 4);
	assert_line(source, 1, "one");
	assert_line(source, 2, "two");
	assert_line(source, 3, "");
	assert_line(source, 4, "last");
	assert_line(source, 0, "");
	assert_line(source, 5, "");
	assert_place(source, 0, 1, 1);
	assert_place(source, 3, 1, 4);
	assert_place(source, 4, 2, 1);
	assert_place(source, 9, 3, 1);
	assert_place(source, 10, 4, 1);
	assert_place(source, 14, 4, 5);
	assert_place(source, 99, 4, 5);
}

static void test_edges(void **state)
{
	const struct source *empty = add(*state, NULL, 0);
	const struct source *line = add(*state, "\n", 1);

	assert_int_equal(empty->line_count, 1);
	assert_place(empty, 0, 1, 1);
	assert_int_equal(line->line_count, 2);
	assert_line(line, 1, "");
	assert_line(line, 2, "");
	assert_place(line, 1, 2, 1);
	/* What the scanner needs behind the text. */
	assert_int_equal(empty->bytes[0], 0);
	assert_int_equal(empty->bytes[1], 0);
}

/* Columns count characters: e with acute takes two bytes, the grinning face
 * U+1F600 four. */
static void test_columns(void **state)
{
	static const char text[] = "a\xc3\xa9\xf0\x9f\x98\x80z";
	const struct source *source = add(*state, text, strlen(text));

	assert_place(source, 1, 1, 2);
	assert_place(source, 3, 1, 3);
	assert_place(source, 7, 1, 4);
}

static void test_many_sources(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < 100; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", i);
		assert_int_equal(sources_add(&fixture->sources, text, text,
					     text, strlen(text), false), i);
	}
	assert_string_equal(fixture->sources.at[57]->name, "57");
	assert_string_equal(fixture->sources.at[57]->bytes, "57");
}

/* Well and ill formed sequences of table 3-7 of the Unicode standard. */
static void test_utf8(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		int fault;		/* offset, -1 for none */
	} rows[] = {
		{ "", 0, -1 },
		{ "plain", 5, -1 },
		{ "a\0b", 3, 1 },
		{ "\x7f", 1, -1 },
		{ "\xc2\x80", 2, -1 },		/* U+0080 */
		{ "\xc0\x80", 2, 0 },		/* over-long */
		{ "\xc1\xbf", 2, 0 },
		{ "x\xc3", 2, 1 },		/* cut short */
		{ "x\xc3(", 3, 1 },
		{ "\x80", 1, 0 },
		{ "\xe0\xa0\x80", 3, -1 },	/* U+0800 */
		{ "\xe0\x9f\xbf", 3, 0 },
		{ "\xed\x9f\xbf", 3, -1 },	/* U+D7FF */
		{ "\xed\xa0\x80", 3, 0 },	/* a surrogate */
		{ "\xef\xbf\xbf", 3, -1 },
		{ "\xe2\x82", 2, 0 },
		{ "\xf0\x90\x80\x80", 4, -1 },	/* U+10000 */
		{ "\xf0\x8f\xbf\xbf", 4, 0 },
		{ "\xf4\x8f\xbf\xbf", 4, -1 },	/* U+10FFFF */
		{ "\xf4\x90\x80\x80", 4, 0 },
		{ "\xf5\x80\x80\x80", 4, 0 },
		{ "ok\xff", 3, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct source *source =
			add(*state, rows[i].text, rows[i].length);
		uint32_t offset = 77;
		bool is_text = source_is_text(source, &offset);

		assert_int_equal(is_text, rows[i].fault < 0);
		assert_int_equal(offset, is_text ? 77 : rows[i].fault);
	}
}

static void test_join(void **state)
{
	struct span a = { .file = 0, .begin = 5, .end = 8 };
	struct span b = { .file = 0, .begin = 2, .end = 6 };
	struct span joined = span_join(a, b);

	(void)state;
	assert_int_equal(joined.begin, 2);
	assert_int_equal(joined.end, 8);
	joined = span_join(SPAN_NONE, b);
	assert_int_equal(joined.begin, 2);
	joined = span_join(a, SPAN_NONE);
	assert_int_equal(joined.end, 8);
	assert_true(span_is_nowhere(span_join(SPAN_NONE, SPAN_NONE)));
}

static void write_file(char *path, const char *bytes, size_t length)
{
	int descriptor = mkstemp(path);
	FILE *file = fdopen(descriptor, "wb");

	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

static void test_read(void **state)
{
	struct fixture *fixture = *state;
	char path[] = "/tmp/nest_source_XXXXXX";
	char *big = calloc(200001, 1);
	uint32_t file;

	/* Longer than one read. */
	memset(big, 'x', 200000);
	write_file(path, big, 200000);
	assert_int_equal(sources_read(&fixture->sources, path, &file),
			 SOURCE_OK);
	assert_int_equal(fixture->sources.at[file]->length, 200000);
	assert_string_equal(fixture->sources.at[file]->bytes, big);
	assert_string_equal(fixture->sources.at[file]->name, path);
	assert_false(fixture->sources.at[file]->is_embedded);
	free(big);
	unlink(path);
}

static void test_read_failures(void **state)
{
	struct fixture *fixture = *state;
	char path[] = "/tmp/nest_source_XXXXXX";
	uint32_t file = 1234;

	errno = 0;
	assert_int_equal(sources_read(&fixture->sources, "/no/such.nest",
				      &file), SOURCE_UNREADABLE);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(sources_read(&fixture->sources, "/tmp", &file),
			 SOURCE_UNREADABLE);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(file, 1234);
	write_file(path, "a\0b", 3);
	assert_int_equal(sources_read(&fixture->sources, path, &file),
			 SOURCE_NOT_TEXT);
	assert_int_equal(fixture->sources.at[file]->length, 3);
	/* A hole in a file costs no disk. */
	assert_int_equal(truncate(path, (off_t)SOURCE_BYTES_MAX + 1), 0);
	assert_int_equal(sources_read(&fixture->sources, path, &file),
			 SOURCE_TOO_LARGE);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_edges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_columns, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_many_sources, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_utf8, set_up, tear_down),
		cmocka_unit_test(test_join),
		cmocka_unit_test_setup_teardown(test_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_read_failures, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}

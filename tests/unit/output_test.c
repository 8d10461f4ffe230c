/* SPDX-License-Identifier: MIT
 *
 * Output files appear whole or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/output.h"
#include "lang/diag.h"

struct sandbox {
	struct arena arena;
	struct diags diags;
	char directory[64];
	struct outputs outputs;
};

static int enter(void **state)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));

	arena_init(&sandbox->arena);
	snprintf(sandbox->directory, sizeof(sandbox->directory),
		 "/tmp/nestc-output-XXXXXX");
	if (!mkdtemp(sandbox->directory) || chdir(sandbox->directory) != 0 ||
	    !freopen("/dev/null", "w", stderr))
		return -1;
	diags_init(&sandbox->diags, &sandbox->arena, NULL);
	outputs_init(&sandbox->outputs, &sandbox->arena, &sandbox->diags);
	*state = sandbox;
	return 0;
}

static int leave(void **state)
{
	struct sandbox *sandbox = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", sandbox->directory);
	arena_release(&sandbox->arena);
	free(sandbox);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static const char *contents(const char *path)
{
	static char bytes[256];
	FILE *file = fopen(path, "r");

	if (!file)
		return NULL;
	bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
	fclose(file);
	return bytes;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static uint32_t entries(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	unsigned count = 0;

	assert_int_equal(fscanf(list, "%u", &count), 1);
	pclose(list);
	return count;
}

static void writes_all(void **state)
{
	struct sandbox *sandbox = *state;

	assert_true(outputs_add(&sandbox->outputs, "a", "one", 3));
	assert_true(outputs_add(&sandbox->outputs, "b", "two", 3));
	assert_true(outputs_write(&sandbox->outputs));
	assert_string_equal(contents("a"), "one");
	assert_string_equal(contents("b"), "two");
	assert_int_equal(entries(), 2);
}

static void writes_none_when_one_fails(void **state)
{
	struct sandbox *sandbox = *state;

	write_file("a", "old");
	assert_true(outputs_add(&sandbox->outputs, "a", "new", 3));
	assert_true(outputs_add(&sandbox->outputs, "missing/b", "two", 3));
	assert_false(outputs_write(&sandbox->outputs));
	assert_int_equal(sandbox->diags.errors, 1);
	assert_int_equal(sandbox->diags.at[0]->code, E_UNWRITABLE);
	assert_string_equal(contents("a"), "old");
	assert_int_equal(entries(), 1);
}

static void writes_none_when_the_disk_is_full(void **state)
{
	struct sandbox *sandbox = *state;

	if (access("/dev/full", W_OK) != 0)
		return;
	write_file("a", "old");
	assert_true(outputs_add(&sandbox->outputs, "a", "new", 3));
	assert_true(outputs_add(&sandbox->outputs, "/dev/full", "two", 3));
	assert_false(outputs_write(&sandbox->outputs));
	assert_int_equal(sandbox->diags.errors, 1);
	assert_int_equal(sandbox->diags.at[0]->code, E_UNWRITABLE);
	assert_string_equal(contents("a"), "old");
	assert_int_equal(entries(), 1);
}

static void refuses_a_directory(void **state)
{
	struct sandbox *sandbox = *state;

	assert_int_equal(mkdir("d", 0777), 0);
	assert_true(outputs_add(&sandbox->outputs, "d", "new", 3));
	assert_false(outputs_write(&sandbox->outputs));
	assert_int_equal(sandbox->diags.errors, 1);
	assert_int_equal(sandbox->diags.at[0]->code, E_UNWRITABLE);
}

static void refuses_one_file_twice(void **state)
{
	struct sandbox *sandbox = *state;

	assert_true(outputs_add(&sandbox->outputs, "a", "one", 3));
	assert_false(outputs_add(&sandbox->outputs, "a", "two", 3));
}

static void follows_links_and_keeps_modes(void **state)
{
	struct sandbox *sandbox = *state;
	struct stat status;

	write_file("target", "old");
	assert_int_equal(chmod("target", 0640), 0);
	assert_int_equal(symlink("target", "link"), 0);
	assert_true(outputs_add(&sandbox->outputs, "link", "new", 3));
	assert_true(outputs_write(&sandbox->outputs));
	assert_string_equal(contents("target"), "new");
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat("target", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_all),
		TEST(writes_none_when_one_fails),
		TEST(writes_none_when_the_disk_is_full),
		TEST(refuses_a_directory),
		TEST(refuses_one_file_twice),
		TEST(follows_links_and_keeps_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

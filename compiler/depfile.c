/* SPDX-License-Identifier: MIT
 *
 * Writes the make rule of -MD.
 */
#include "compiler/depfile.h"

#include <string.h>

/* Characters that make reads otherwise. */
static void append_escaped(struct text *out, const char *path)
{
	for (; *path; path++) {
		if (*path == '$')
			text_append_char(out, '$');
		else if (strchr(" \t#:\\", *path))
			text_append_char(out, '\\');
		text_append_char(out, *path);
	}
}

static uint32_t append_targets(const struct cli *cli, struct text *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < cli->emission_count; i++) {
		const char *file = cli->emission[i].file;

		if (!file || strcmp(file, "-") == 0)
			continue;
		if (count++)
			text_append_char(out, ' ');
		append_escaped(out, file);
	}
	return count;
}

static bool is_file(const struct source *source)
{
	return !source->is_embedded && source->path &&
	       strcmp(source->path, "-") != 0 && source->path[0] != '<' &&
	       strncmp(source->path, "std:", 4) != 0;
}

void depfile_print(const struct cli *cli,
		   const struct compilation *compilation, struct text *out)
{
	const struct sources *sources = &compilation->sources;
	const struct native_library *library;

	if (!append_targets(cli, out))
		append_escaped(out, cli->depfile);
	text_append_char(out, ':');
	for (uint32_t i = 0; i < sources->count; i++) {
		if (!is_file(sources->at[i]))
			continue;
		text_append(out, " \\\n ");
		append_escaped(out, sources->at[i]->name);
	}
	for (library = compilation->libraries; library; library = library->next) {
		text_append(out, " \\\n ");
		append_escaped(out, library->path);
	}
	text_append_char(out, '\n');
	/* A file that has gone must not stop make: it is read anew. */
	for (uint32_t i = 0; i < sources->count; i++) {
		if (!is_file(sources->at[i]))
			continue;
		text_append_char(out, '\n');
		append_escaped(out, sources->at[i]->name);
		text_append(out, ":\n");
	}
}

/* SPDX-License-Identifier: MIT
 *
 * Applies fixes in rounds: one may show what another needs (names are looked at
 * only where the text is right).
 */
#include "compiler/fix_specs.h"

#include <stdio.h>
#include <string.h>

#include "compiler/output.h"
#include "compiler/text_diff.h"
#include "lang/fix.h"

/* A spec with an error in every line needs some; a mistake in a fix that brings
 * itself forth ends here. */
#define ROUNDS_MAX 100

/* One operand: its own bytes, and those it has by now. */
struct fixed {
	struct overlay overlay;		/* bytes NULL: not read yet */
	const char *name;		/* as shown */
	const char *before;
	size_t before_length;
	uint32_t fixes;
};

struct fixing {
	const struct cli *cli;
	struct arena arena;		/* outlives the rounds */
	struct fixed *all;		/* one for each operand */
	const struct overlay *overlay;
};

/* The source of an operand in this round, or NULL if it could not be read. */
static const struct source *find_source(const struct compilation *compilation,
					const struct fixed *fixed,
					uint32_t *file)
{
	const struct sources *sources = &compilation->sources;
	const char *name = fixed->overlay.path;

	if (strcmp(name, "-") == 0)
		name = sources->stdin_name ? sources->stdin_name : "<stdin>";
	for (*file = 0; *file < sources->count; (*file)++)
		if (!sources->at[*file]->is_embedded &&
		    strcmp(sources->at[*file]->name, name) == 0)
			return sources->at[*file];
	return NULL;
}

/* From now on these bytes count. */
static void overlay(struct fixing *fixing, struct fixed *fixed,
		    const char *bytes, size_t length)
{
	bool is_new = !fixed->overlay.bytes;

	fixed->overlay.bytes = arena_copy(&fixing->arena, bytes, length);
	fixed->overlay.length = length;
	if (!is_new)
		return;
	fixed->before = fixed->overlay.bytes;
	fixed->before_length = length;
	fixed->overlay.next = fixing->overlay;
	fixing->overlay = &fixed->overlay;
}

/* The number of fixes made in one operand. */
static uint32_t fix_one(struct fixing *fixing, struct fixed *fixed,
			struct compilation *compilation)
{
	const struct source *source;
	uint32_t file, count;
	struct text text;

	source = find_source(compilation, fixed, &file);
	if (!source)
		return 0;
	if (!fixed->overlay.bytes) {
		fixed->name = arena_printf(&fixing->arena, "%s", source->name);
		overlay(fixing, fixed, source->bytes, source->length);
	}
	text_init(&text, &compilation->arena);
	count = fix_apply(compilation, file, &text);
	if (count)
		overlay(fixing, fixed, text.at, text.length);
	fixed->fixes += count;
	return count;
}

static void print_change(const struct fixed *fixed, struct arena *arena)
{
	struct text diff;

	text_init(&diff, arena);
	text_diff(fixed->name, fixed->before, fixed->before_length,
		  fixed->overlay.bytes, fixed->overlay.length, &diff);
	fwrite(diff.at, 1, diff.length, stdout);
}

/* Standard input is written to standard output, changed or not. */
static enum status write_all(struct fixing *fixing,
			     struct compilation *compilation)
{
	const struct cli *cli = fixing->cli;
	struct outputs outputs;

	outputs_init(&outputs, &compilation->arena, &compilation->diags);
	for (uint32_t i = 0; i < cli->operand_count; i++) {
		const struct fixed *fixed = &fixing->all[i];
		bool is_stdin = strcmp(fixed->overlay.path, "-") == 0;

		if (!fixed->overlay.bytes || (!fixed->fixes && !is_stdin))
			continue;
		if (cli->fmt_diff) {
			print_change(fixed, &compilation->arena);
			continue;
		}
		if (!outputs_add(&outputs, fixed->overlay.path,
				 fixed->overlay.bytes, fixed->overlay.length))
			return STATUS_USAGE;
		if (!cli->quiet && fixed->fixes)
			cli_complain("%u fix%s in '%s'", fixed->fixes,
				     fixed->fixes == 1 ? "" : "es",
				     fixed->name);
	}
	return outputs_write(&outputs) ? STATUS_DONE : STATUS_FILE;
}

enum status fix_specs(const struct cli *cli,
		      enum status (*check)(const struct cli *cli,
					   struct compilation *compilation))
{
	struct fixing fixing = { .cli = cli };
	struct compilation compilation;
	enum status status, written;

	arena_init(&fixing.arena);
	fixing.all = ARENA_ARRAY(&fixing.arena, struct fixed,
				 cli->operand_count);
	for (uint32_t i = 0; i < cli->operand_count; i++)
		fixing.all[i].overlay.path = cli->operand[i];
	for (uint32_t round = 0;; round++) {
		uint32_t count = 0;

		cli_prepare(cli, &compilation);
		compilation.overlay = fixing.overlay;
		status = check(cli, &compilation);
		for (uint32_t i = 0; i < cli->operand_count; i++)
			count += fix_one(&fixing, &fixing.all[i], &compilation);
		if (!count || round == ROUNDS_MAX)
			break;
		compilation_release(&compilation);
	}
	written = write_all(&fixing, &compilation);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	arena_release(&fixing.arena);
	return written > status ? written : status;
}

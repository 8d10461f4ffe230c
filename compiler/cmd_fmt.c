/* SPDX-License-Identifier: MIT
 *
 * nestc fmt: specs in their one layout, in place. Nothing is written when one
 * of the files does not parse, or if what comes out would mean something else.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/cli.h"
#include "compiler/output.h"
#include "compiler/text_diff.h"
#include "lang/format.h"
#include "lang/parse.h"

/* Parses a text again and holds it against the tree of the source. */
static bool means_the_same(struct compilation *compilation, uint32_t file,
			   const struct text *text)
{
	const struct source *source = compilation->sources.at[file];
	bool was_clean, is_clean;
	uint32_t again = sources_add(&compilation->sources, source->name,
				     source->path, text->at, text->length,
				     false);

	return format_same(parse_file(compilation, file, &was_clean),
			   parse_file(compilation, again, &is_clean)) &&
	       was_clean && is_clean;
}

/* Where the result of a file goes: back to it, to a diff, or to nowhere. */
static enum status deliver(const struct cli *cli, const char *path,
			   const struct source *source, const struct text *text,
			   struct outputs *outputs)
{
	bool is_same = text->length == source->length &&
		       memcmp(text->at, source->bytes, text->length) == 0;
	struct text diff;

	if (cli->fmt_diff && !is_same) {
		text_init(&diff, text->arena);
		text_diff(source->name, source->bytes, source->length,
			  text->at, text->length, &diff);
		fwrite(diff.at, 1, diff.length, stdout);
	}
	if (cli->fmt_check && !is_same) {
		if (!cli->fmt_diff)
			printf("%s\n", source->name);
		return STATUS_SPEC;
	}
	if (cli->fmt_check || cli->fmt_diff ||
	    (is_same && strcmp(path, "-") != 0))
		return STATUS_DONE;
	return outputs_add(outputs, path, text->at, text->length) ?
		       STATUS_DONE : STATUS_USAGE;
}

static enum status format_file(const struct cli *cli,
			       struct compilation *compilation,
			       const char *path, struct outputs *outputs)
{
	struct text text;
	uint32_t file;

	if (!compilation_read(compilation, path, SPAN_NONE, &file))
		return STATUS_FILE;
	text_init(&text, &compilation->arena);
	if (!format_source(compilation, file, &text))
		return STATUS_SPEC;
	if (!means_the_same(compilation, file, &text)) {
		cli_complain("internal fault: the layout of '%s' would change what it means; "
			     "nothing has been written",
			     path);
		return STATUS_FAULT;
	}
	return deliver(cli, path, compilation->sources.at[file], &text,
		       outputs);
}

enum status cmd_fmt(const struct cli *cli)
{
	struct compilation compilation;
	enum status status = STATUS_DONE;
	struct outputs outputs;

	cli_prepare(cli, &compilation);
	outputs_init(&outputs, &compilation.arena, &compilation.diags);
	for (uint32_t i = 0; i < cli->operand_count; i++) {
		enum status one = format_file(cli, &compilation,
					      cli->operand[i], &outputs);

		if (one > status)
			status = one;
	}
	if (status == STATUS_DONE && !outputs_write(&outputs))
		status = STATUS_FILE;
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

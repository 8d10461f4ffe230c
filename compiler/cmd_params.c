/* SPDX-License-Identifier: MIT
 *
 * nestc params: the params of a spec and of what it imports, with types,
 * defaults and documentation, as text or JSON.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "compiler/cli.h"
#include "compiler/pipeline.h"
#include "lang/ast.h"
#include "lang/module.h"

/* The source text of a node, on one line. */
static const char *source_text(struct compilation *compilation,
			       const struct ast *node)
{
	const struct source *source;
	char *text;

	if (!node || span_is_nowhere(node->span))
		return "";
	source = compilation->sources.at[node->span.file];
	text = arena_copy(&compilation->arena, source->bytes + node->span.begin,
			  node->span.end - node->span.begin);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	return text;
}

static void print_param(struct compilation *compilation, const struct ast *item,
			json_t *list)
{
	const char *type = source_text(compilation, item->child[0]);
	const char *value = source_text(compilation, item->child[1]);
	const char *about = item->documentation ? item->documentation : "";

	if (list) {
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:s,s:s}", "name",
					item->name, "type", type, "default",
					value, "about", about, "file",
					compilation->sources.at[item->span.file]->name));
		return;
	}
	printf("%s%s%s = %s\n", item->name, *type ? ": " : "", type, value);
	while (*about) {
		size_t length = strcspn(about, "\n");

		printf("    %.*s\n", (int)length, about);
		about += length + (about[length] == '\n');
	}
}

static void print_params(struct compilation *compilation, json_t *list)
{
	for (const struct module *module = compilation->modules; module;
	     module = module->next) {
		for (uint32_t i = 0; i < module->tree->child_count; i++) {
			const struct ast *item = module->tree->child[i];

			if (item && item->kind == AST_PARAM && item->name)
				print_param(compilation, item, list);
		}
	}
}

enum status cmd_params(const struct cli *cli)
{
	struct compilation compilation;
	enum status status;

	cli_prepare(cli, &compilation);
	if (pipeline_load(cli, &compilation, cli->operand[0], &status)) {
		json_t *list = cli->json ? json_array() : NULL;

		print_params(&compilation, list);
		if (list) {
			json_dumpf(list, stdout, JSON_INDENT(2));
			putchar('\n');
			json_decref(list);
		}
	}
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

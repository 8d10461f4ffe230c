/* SPDX-License-Identifier: MIT
 *
 * nestc list: the modules of the standard library and what they declare.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "compiler/cli.h"
#include "lang/ast.h"
#include "lang/parse.h"

static const char *kind_word(enum ast_kind kind)
{
	switch (kind) {
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
	case AST_FUNCTION:
	case AST_LET:
	case AST_PARAM:
		return ast_kind_name(kind);
	default:
		return NULL;
	}
}

/* "std.device.h100" of "device/h100.nest". */
static const char *module_name(struct arena *arena, const char *path)
{
	char *name = arena_printf(arena, "std.%s", path);
	char *end = strrchr(name, '.');

	*end = '\0';
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
	return name;
}

/* The first line of a declaration's documentation. */
static const char *first_line(struct arena *arena, const char *documentation)
{
	size_t length;

	if (!documentation)
		return "";
	while (*documentation == ' ' || *documentation == '\n')
		documentation++;
	length = strcspn(documentation, "\n");
	return arena_copy(arena, documentation, length);
}

static void list_module(struct compilation *compilation, const char *name,
			const struct ast *tree, json_t *list)
{
	for (uint32_t i = 0; i < tree->child_count; i++) {
		const struct ast *item = tree->child[i];
		const char *kind = item ? kind_word(item->kind) : NULL;
		const char *about;

		if (!kind || !item->name)
			continue;
		about = first_line(&compilation->arena, item->documentation);
		if (list)
			json_array_append_new(
				list, json_pack("{s:s,s:s,s:s,s:s}", "module",
						name, "kind", kind, "name",
						item->name, "about", about));
		else
			printf("%-28s %-9s %-22s%s%s\n", name, kind, item->name,
			       *about ? "  " : "", about);
	}
}

enum status cmd_list(const struct cli *cli)
{
	struct compilation compilation;
	json_t *list = cli->json ? json_array() : NULL;
	enum status status = STATUS_DONE;

	cli_prepare(cli, &compilation);
	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name = module_name(&compilation.arena, file->path);
		bool clean;
		uint32_t number = sources_add(&compilation.sources, name,
					      file->path, file->bytes,
					      file->length, true);
		const struct ast *tree =
			parse_file(&compilation, number, &clean);

		if (!clean)
			status = STATUS_FAULT;
		list_module(&compilation, name, tree, list);
	}
	if (list) {
		json_dumpf(list, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(list);
	}
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * nestc list: what the modules of the standard library declare, all of it or
 * one kind.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "compiler/cli.h"
#include "compiler/library.h"

static const char *const kinds[] = {
	"device", "topology", "template", "model", "fn", "let", "param",
};
#define KIND_COUNT (sizeof(kinds) / sizeof(*kinds))

/* A kind may be given in the plural. */
static bool is_kind(const char *word, const char *kind)
{
	size_t length = strlen(kind);

	if (strcmp(kind, "topology") == 0 && strcmp(word, "topologies") == 0)
		return true;
	return strncmp(word, kind, length) == 0 &&
	       (word[length] == '\0' || strcmp(word + length, "s") == 0);
}

static bool find_kind(const char *word, const char **kind)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		*kind = kinds[i];
		if (is_kind(word, *kind))
			return true;
	}
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (!diag_resembles(word, kinds[i], NULL))
			continue;
		cli_complain("there is no kind '%s'; did you mean '%s'?", word,
			     kinds[i]);
		return false;
	}
	cli_complain("there is no kind '%s': give one of device, topology, template, model, fn, "
		     "let, param",
		     word);
	return false;
}

static void print_item(struct compilation *compilation,
		       const struct library_item *entry, json_t *list)
{
	const char *kind = library_kind(entry->item);
	const char *about = library_about(&compilation->arena, entry->item);

	if (list)
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:s}", "module",
					entry->module, "kind", kind, "name",
					entry->item->name, "about", about));
	else
		printf("%-28s %-9s %-22s%s%s\n", entry->module, kind,
		       entry->item->name, *about ? "  " : "", about);
}

static enum status list_items(const struct cli *cli,
			      struct compilation *compilation, const char *kind)
{
	json_t *list = cli->json ? json_array() : NULL;
	struct library library = { 0 };
	bool is_clean = library_add_standard(compilation, &library);

	for (size_t i = 0; i < library.count; i++)
		if (!kind || !strcmp(kind, library_kind(library.at[i].item)))
			print_item(compilation, &library.at[i], list);
	if (list) {
		json_dumpf(list, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(list);
	}
	return is_clean ? STATUS_DONE : STATUS_FAULT;
}

enum status cmd_list(const struct cli *cli)
{
	struct compilation compilation;
	const char *kind = NULL;
	enum status status;

	if (cli->operand_count && !find_kind(cli->operand[0], &kind))
		return STATUS_USAGE;
	cli_prepare(cli, &compilation);
	status = list_items(cli, &compilation, kind);
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

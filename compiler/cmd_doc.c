/* SPDX-License-Identifier: MIT
 *
 * nestc doc: what the `##` comments say about a declaration or about all of a
 * module, with parameters, defaults and the place in the source.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "compiler/cli.h"
#include "compiler/json_set.h"
#include "compiler/library.h"
#include "lang/call.h"

struct documents {
	struct compilation *compilation;
	struct library library;
	json_t *list;			/* NULL: text */
	uint32_t shown;
};

/* The source text of a node, on one line. */
static const char *source_text(struct documents *documents,
			       const struct ast *node)
{
	const struct source *source;
	char *text;

	if (!node)
		return "";
	source = documents->compilation->sources.at[node->span.file];
	text = arena_copy(&documents->compilation->arena,
			  source->bytes + node->span.begin,
			  node->span.end - node->span.begin);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\t' || *c == '\r')
			*c = ' ';
	return text;
}

static const struct ast *parameters_of(const struct ast *item)
{
	return item->kind == AST_LET || item->kind == AST_PARAM ||
			       item->kind == AST_JOB ?
		       NULL : declaration_parameters(item);
}

/* "gpus: int = 8". */
static void append_parameter(struct documents *documents,
			     const struct ast *parameter, struct text *out)
{
	text_append(out, parameter->name);
	if (parameter->child[0])
		text_printf(out, ": %s", parameter->child[0]->name);
	if (parameter->child[1])
		text_printf(out, " = %s",
			    source_text(documents, parameter->child[1]));
}

/* "topology two_tier(device, gpus = 8)". */
static const char *signature_of(struct documents *documents,
				const struct ast *item)
{
	const struct ast *parameters = parameters_of(item);
	struct text text;

	text_init(&text, &documents->compilation->arena);
	text_printf(&text, "%s %s", ast_kind_name(item->kind), item->name);
	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		text_append(&text, i ? ", " : "(");
		append_parameter(documents, parameters->child[i], &text);
	}
	if (parameters)
		text_append(&text, parameters->child_count ? ")" : "()");
	if (item->kind == AST_EXTERN)
		text_printf(&text, " -> %s", item->child[2]->name);
	if (item->kind == AST_PARAM && item->child[0])
		text_printf(&text, ": %s", item->child[0]->name);
	if (item->kind == AST_PARAM || item->kind == AST_LET ||
	    item->kind == AST_FUNCTION)
		text_printf(&text, " = %s",
			    source_text(documents,
					item->child[item->child_count - 1]));
	return text.at;
}

/* Lines of documentation behind an indentation. */
static void print_lines(const char *lines, const char *indent)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		printf("%s%.*s\n", length ? indent : "", (int)length, lines);
		lines += length + (lines[length] == '\n');
	}
}

static void print_text(struct documents *documents,
		       const struct library_item *entry, struct place place)
{
	const struct ast *parameters = parameters_of(entry->item);
	const struct source *source =
		documents->compilation->sources.at[entry->file];
	bool has_head = false;

	printf("%s%s\n", documents->shown ? "\n" : "",
	       signature_of(documents, entry->item));
	if (strcmp(entry->module, source->name) != 0)
		printf("    %s, ", entry->module);
	else
		printf("    ");
	printf("%s:%u\n", source->name, place.line);
	if (entry->item->documentation) {
		putchar('\n');
		print_lines(entry->item->documentation, "    ");
	}
	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];

		if (!parameter->documentation)
			continue;
		if (!has_head)
			putchar('\n');
		has_head = true;
		printf("    %s\n", parameter->name);
		print_lines(parameter->documentation, "        ");
	}
}

static json_t *parameters_json(struct documents *documents,
			       const struct ast *parameters)
{
	json_t *list = json_array();

	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];
		const char *about = parameter->documentation;
		json_t *object = json_pack("{s:s}", "name", parameter->name);

		if (parameter->child[0])
			json_set(object, "type",
				 json_string(parameter->child[0]->name));
		if (parameter->child[1])
			json_set(object, "default",
				 json_string(source_text(documents,
							 parameter->child[1])));
		json_set(object, "about", json_string(about ? about : ""));
		json_array_append_new(list, object);
	}
	return list;
}

static void print_json(struct documents *documents,
		       const struct library_item *entry, struct place place)
{
	const struct ast *item = entry->item;
	const struct source *source =
		documents->compilation->sources.at[entry->file];

	json_array_append_new(
		documents->list,
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:s,s:i}", "module",
			  entry->module, "kind", library_kind(item), "name",
			  item->name, "signature", signature_of(documents, item),
			  "about", item->documentation ? item->documentation : "",
			  "parameters",
			  parameters_json(documents, parameters_of(item)), "file",
			  source->name, "line", (int)place.line));
}

static void show(struct documents *documents, const struct library_item *entry)
{
	const struct source *source =
		documents->compilation->sources.at[entry->file];
	struct place place = source_place(source, entry->item->span.begin);

	if (documents->list)
		print_json(documents, entry, place);
	else
		print_text(documents, entry, place);
	documents->shown++;
}

/* Whether a module is the one asked for, or in the directory asked for. */
static bool is_within(const char *module, const char *asked)
{
	size_t length = strlen(asked);

	return strncmp(module, asked, length) == 0 &&
	       (module[length] == '\0' || module[length] == '.');
}

/* Shows what fits; a NULL asks for everything. */
static void show_matching(struct documents *documents, const char *module,
			  const char *name)
{
	for (size_t i = 0; i < documents->library.count; i++) {
		const struct library_item *entry = &documents->library.at[i];

		if ((!module || is_within(entry->module, module)) &&
		    (!name || strcmp(entry->item->name, name) == 0))
			show(documents, entry);
	}
}

/* "std.device.h100.h100_sxm": the last part may be a declaration. */
static void show_dotted(struct documents *documents, const char *word)
{
	const char *dot = strrchr(word, '.');
	const char *module;

	show_matching(documents, word, NULL);
	if (documents->shown || !dot)
		return;
	module = arena_copy(&documents->compilation->arena, word,
			    (size_t)(dot - word));
	show_matching(documents, module, dot + 1);
}

static const char *nearest(const struct documents *documents, const char *word)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	for (size_t i = 0; i < documents->library.count; i++) {
		const struct library_item *entry = &documents->library.at[i];
		const char *const names[] = { entry->item->name, entry->module };

		for (int j = 0; j < 2; j++) {
			unsigned distance;

			if (!diag_resembles(word, names[j], &distance) ||
			    (best && distance >= best_distance))
				continue;
			best = names[j];
			best_distance = distance;
		}
	}
	return best;
}

static enum status complain_unknown(const struct documents *documents,
				    const char *word)
{
	const char *suggestion = nearest(documents, word);

	if (suggestion)
		cli_complain("nothing is called '%s'; did you mean '%s'?", word,
			     suggestion);
	else
		cli_complain("nothing is called '%s'; 'nestc list' shows what there is",
			     word);
	return STATUS_USAGE;
}

static bool is_file_name(const char *word)
{
	size_t length = strlen(word);

	return strcmp(word, "-") == 0 || strchr(word, '/') ||
	       (length > 5 && strcmp(word + length - 5, ".nest") == 0);
}

static enum status add_spec(struct documents *documents, const char *path)
{
	struct compilation *compilation = documents->compilation;
	enum source_status read;
	uint32_t file;

	errno = 0;
	read = sources_read(&compilation->sources, path, &file);
	if (read == SOURCE_UNREADABLE || read == SOURCE_TOO_LARGE) {
		diag_error(&compilation->diags, E_UNREADABLE, SPAN_NONE,
			   "'%s' cannot be read: %s", path,
			   read == SOURCE_TOO_LARGE ? "it is too large"
						    : strerror(errno));
		return STATUS_FILE;
	}
	return library_add_file(compilation, file, path, &documents->library) ?
		       STATUS_DONE : STATUS_SPEC;
}

static enum status show_asked(const struct cli *cli,
			      struct documents *documents)
{
	const char *word = cli->operand[0];
	enum status status = STATUS_DONE;

	if (is_file_name(word)) {
		status = add_spec(documents, word);
		if (status != STATUS_DONE)
			return status;
		word = cli->operand_count > 1 ? cli->operand[1] : NULL;
		show_matching(documents, NULL, word);
	} else if (cli->operand_count > 1) {
		cli_complain("'%s' is no spec: nestc doc SPEC.nest NAME", word);
		return STATUS_USAGE;
	} else {
		library_add_standard(documents->compilation,
				     &documents->library);
		show_matching(documents, NULL, word);
		if (!documents->shown)
			show_dotted(documents, word);
	}
	if (!documents->shown && word)
		return complain_unknown(documents, word);
	return status;
}

enum status cmd_doc(const struct cli *cli)
{
	struct compilation compilation;
	struct documents documents = { .compilation = &compilation };
	enum status status;

	cli_prepare(cli, &compilation);
	if (cli->json)
		documents.list = json_array();
	status = show_asked(cli, &documents);
	if (documents.list) {
		if (status == STATUS_DONE) {
			json_dumpf(documents.list, stdout, JSON_INDENT(2));
			putchar('\n');
		}
		json_decref(documents.list);
	}
	cli_flush(cli, &compilation);
	compilation_release(&compilation);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * Declarations are taken from syntax trees alone: nothing is evaluated.
 */
#include "compiler/library.h"

#include <string.h>

#include "lang/module.h"
#include "lang/parse.h"

const char *library_kind(const struct ast *item)
{
	switch (item->kind) {
	case AST_DEVICE:
	case AST_TOPOLOGY:
	case AST_TEMPLATE:
	case AST_MODEL:
	case AST_JOB:
	case AST_FUNCTION:
	case AST_EXTERN:
	case AST_LET:
	case AST_PARAM:
		return item->name ? ast_kind_name(item->kind) : NULL;
	default:
		return NULL;
	}
}

bool library_add_file(struct compilation *compilation, uint32_t file,
		      const char *module, struct library *library)
{
	bool is_clean;
	const struct ast *tree = parse_file(compilation, file, &is_clean);

	for (uint32_t i = 0; i < tree->child_count; i++) {
		struct library_item entry = {
			.module = module, .item = tree->child[i], .file = file
		};

		if (library_kind(entry.item))
			VEC_PUSH(library, &compilation->arena, entry);
	}
	return is_clean;
}

bool library_add_standard(struct compilation *compilation,
			  struct library *library)
{
	bool is_clean = true;

	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *module = module_dotted_name(compilation, file->path);
		const char *name = arena_printf(&compilation->arena,
						"std/%s", file->path);
		uint32_t number = sources_add(&compilation->sources, name,
					      file->path, file->bytes,
					      file->length, true);

		is_clean = library_add_file(compilation, number, module,
					    library) && is_clean;
	}
	return is_clean;
}

const char *library_about(struct arena *arena, const struct ast *item)
{
	const char *about = item->documentation;

	if (!about)
		return "";
	while (*about == ' ' || *about == '\n')
		about++;
	return arena_copy(arena, about, strcspn(about, "\n"));
}

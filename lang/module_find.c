/* SPDX-License-Identifier: MIT
 *
 * Where an import leads: beside the importing file, in the -I directories, in the
 * standard library; to a module that is already there, or to a file to be read.
 */
#include "lang/module_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lang/ast.h"
#include "lang/base/path.h"

/* Before the paths of embedded files; those of the system begin with a slash. */
#define EMBEDDED_PREFIX "std:"

struct module *module_find_loaded(struct compilation *compilation,
				  const char *path)
{
	for (struct module *module = compilation->modules; module;
	     module = module->next)
		if (!strcmp(module_source(compilation, module)->path, path))
			return module;
	return NULL;
}

/* A file of the system, if there is one. */
static struct import_target try_file(struct import_search *search, const char *path)
{
	struct compilation *compilation = search->compilation;
	struct import_target target = { .kind = TARGET_NONE };
	struct span span = search->import->child[0]->span;
	struct stat status;
	char *canonical;

	VEC_PUSH(&search->tried, &compilation->arena, path);
	if (stat(path, &status) || S_ISDIR(status.st_mode))
		return target;
	canonical = realpath(path, NULL);
	if (canonical) {
		target.module = module_find_loaded(compilation, canonical);
		free(canonical);
		if (target.module) {
			target.kind = TARGET_LOADED;
			return target;
		}
	}
	target.kind = compilation_read(compilation, path, span, &target.file) ?
			      TARGET_FILE : TARGET_FAILED;
	return target;
}

struct import_target import_embedded(struct compilation *compilation,
				     const char *path)
{
	struct arena *arena = &compilation->arena;
	struct import_target target = { .kind = TARGET_NONE };
	const char *canonical = arena_printf(arena, EMBEDDED_PREFIX "%s", path);

	target.module = module_find_loaded(compilation, canonical);
	if (target.module) {
		target.kind = TARGET_LOADED;
		return target;
	}
	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		if (strcmp(file->path, path))
			continue;
		target.kind = TARGET_FILE;
		target.file = sources_add(&compilation->sources,
					  arena_printf(arena, "std/%s", path),
					  canonical, file->bytes, file->length,
					  true);
		break;
	}
	return target;
}

/* "a/../b" and "a/./b" to "b" and "a/b" in an embedded path; NULL when it
 * leads out of the library. */
static const char *embedded_normalise(struct arena *arena, const char *path)
{
	char *out = arena_alloc(arena, strlen(path) + 1);
	size_t length = 0;

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && !memcmp(path, "..", 2)) {
			if (!length)
				return NULL;
			length--;
			while (length && out[length - 1] != '/')
				length--;
		} else if (part && !(part == 1 && path[0] == '.')) {
			memcpy(out + length, path, part);
			length += part;
			if (path[part])
				out[length++] = '/';
		}
		path += part + (path[part] == '/');
	}
	out[length] = '\0';
	return out;
}

static struct import_target try_relative(struct import_search *search,
					 const struct source *from,
					 const char *path)
{
	struct arena *arena = &search->compilation->arena;
	const char *inside;

	if (!from->is_embedded)
		return try_file(search,
				path_join(arena, path_directory(arena, from->name),
					  path));
	inside = embedded_normalise(
		arena, path_join(arena,
				 path_directory(arena, from->path +
						       strlen(EMBEDDED_PREFIX)),
				 path));
	return inside ? import_embedded(search->compilation, inside)
		      : (struct import_target){ .kind = TARGET_NONE };
}

static struct import_target try_import_path(struct import_search *search,
					    const char *path)
{
	struct compilation *compilation = search->compilation;
	struct import_target target = { .kind = TARGET_NONE };

	for (uint32_t i = 0; i < compilation->import_path_count; i++) {
		target = try_file(search, path_join(&compilation->arena,
						    compilation->import_path[i],
						    path));
		if (target.kind != TARGET_NONE)
			break;
	}
	return target;
}

/* "std/device/h100.nest" of the names std.device.h100. */
static const char *path_of_names(struct arena *arena, const struct ast *path,
				 uint32_t first)
{
	struct text text;

	text_init(&text, arena);
	for (uint32_t i = first; i < path->child_count; i++)
		text_printf(&text, "%s%s", i > first ? "/" : "",
			    path->child[i]->name);
	text_append(&text, ".nest");
	return text.at;
}

static struct import_target resolve_names(struct import_search *search,
					  const struct source *from,
					  const struct ast *path)
{
	struct arena *arena = &search->compilation->arena;
	const char *file = path_of_names(arena, path, 0);
	struct import_target target;

	if (!strcmp(path->child[0]->name, "std")) {
		target = try_import_path(search, file);
		if (target.kind == TARGET_NONE && path->child_count > 1)
			target = import_embedded(search->compilation,
						 path_of_names(arena, path, 1));
		return target;
	}
	target = try_relative(search, from, file);
	if (target.kind == TARGET_NONE)
		target = try_import_path(search, file);
	return target;
}

static struct import_target resolve_string(struct import_search *search,
					   const struct source *from,
					   const char *path)
{
	struct import_target target = try_relative(search, from, path);
	bool explicit = path[0] == '/' || !strncmp(path, "./", 2) ||
			!strncmp(path, "../", 3);

	if (target.kind == TARGET_NONE && !explicit)
		target = try_import_path(search, path);
	return target;
}

struct import_target import_resolve(struct import_search *search,
				    const struct source *from)
{
	const struct ast *where = search->import->child[0];

	return where->kind == AST_STRING ?
		       resolve_string(search, from, where->text) :
		       resolve_names(search, from, where);
}

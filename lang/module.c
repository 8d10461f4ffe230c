/* SPDX-License-Identifier: MIT
 *
 * Loading of modules. A file is read once however many import it, and under
 * whatever path; imports that lead back to where they began are an error that
 * shows the whole way round.
 */
#include "lang/module.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lang/ast.h"
#include "lang/base/path.h"
#include "lang/base/vec.h"
#include "lang/check.h"
#include "lang/compilation.h"
#include "lang/eval.h"
#include "lang/parse.h"

/* Imports inside each other. */
#define IMPORT_DEPTH_MAX 100u
#define EMBEDDED_PREFIX "std:"
#define PRELUDE_PATH "prelude.nest"

/* The imports that led to the module being read now, innermost first. */
struct import_chain {
	const struct module *module;	/* that is being read */
	const struct ast *import;	/* in it, that is followed now */
	uint32_t depth;
	const struct import_chain *outer;
};

static struct module *module_read(struct compilation *compilation,
				  uint32_t file,
				  const struct import_chain *outer);

static const struct source *source_of(const struct compilation *compilation,
				      const struct module *module)
{
	return compilation->sources.at[module->file];
}

const char *module_dotted_name(struct compilation *compilation,
			       const char *embedded_path)
{
	struct text text;

	text_init(&text, &compilation->arena);
	text_append(&text, "std.");
	for (const char *c = embedded_path; *c && strcmp(c, ".nest"); c++)
		text_append_char(&text, *c == '/' ? '.' : *c);
	return text.at;
}

static struct module *find_loaded(struct compilation *compilation,
				  const char *path)
{
	for (struct module *module = compilation->modules; module;
	     module = module->next)
		if (!strcmp(source_of(compilation, module)->path, path))
			return module;
	return NULL;
}

/* ---- where an import leads ---- */

struct target {
	enum { TARGET_NONE, TARGET_LOADED, TARGET_FILE, TARGET_FAILED } kind;
	struct module *module;
	uint32_t file;
};

/* One import being resolved. */
struct search {
	struct compilation *compilation;
	const struct ast *import;
	VEC(const char *) tried;
};

/* A file of the system, if there is one. */
static struct target try_file(struct search *search, const char *path)
{
	struct compilation *compilation = search->compilation;
	struct target target = { .kind = TARGET_NONE };
	struct span span = search->import->child[0]->span;
	struct stat status;
	char *canonical;

	VEC_PUSH(&search->tried, &compilation->arena, path);
	if (stat(path, &status) || S_ISDIR(status.st_mode))
		return target;
	canonical = realpath(path, NULL);
	if (canonical) {
		target.module = find_loaded(compilation, canonical);
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

/* A file of the embedded standard library, by its path there. */
static struct target try_embedded(struct compilation *compilation,
				  const char *path)
{
	struct arena *arena = &compilation->arena;
	struct target target = { .kind = TARGET_NONE };
	const char *canonical = arena_printf(arena, EMBEDDED_PREFIX "%s", path);

	target.module = find_loaded(compilation, canonical);
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

static struct target try_relative(struct search *search,
				  const struct source *from, const char *path)
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
	return inside ? try_embedded(search->compilation, inside)
		      : (struct target){ .kind = TARGET_NONE };
}

static struct target try_import_path(struct search *search, const char *path)
{
	struct compilation *compilation = search->compilation;
	struct target target = { .kind = TARGET_NONE };

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

static struct target resolve_names(struct search *search,
				   const struct source *from,
				   const struct ast *path)
{
	struct arena *arena = &search->compilation->arena;
	const char *file = path_of_names(arena, path, 0);
	struct target target;

	if (!strcmp(path->child[0]->name, "std")) {
		target = try_import_path(search, file);
		if (target.kind == TARGET_NONE && path->child_count > 1)
			target = try_embedded(search->compilation,
					      path_of_names(arena, path, 1));
		return target;
	}
	target = try_relative(search, from, file);
	if (target.kind == TARGET_NONE)
		target = try_import_path(search, file);
	return target;
}

static struct target resolve_string(struct search *search,
				    const struct source *from, const char *path)
{
	struct target target = try_relative(search, from, path);
	bool explicit = path[0] == '/' || !strncmp(path, "./", 2) ||
			!strncmp(path, "../", 3);

	if (target.kind == TARGET_NONE && !explicit)
		target = try_import_path(search, path);
	return target;
}

/* ---- what cannot be found ---- */

/* The embedded module most like the one asked for. */
static const char *suggest_embedded(struct compilation *compilation,
				    const char *dotted)
{
	const char *best = NULL;
	unsigned best_distance = 0, distance;

	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name;

		if (!strcmp(file->path, PRELUDE_PATH))
			continue;
		name = module_dotted_name(compilation, file->path);
		if (diag_resembles(dotted, name, &distance) &&
		    (!best || distance < best_distance)) {
			best = name;
			best_distance = distance;
		}
	}
	return best;
}

/* What the directory of the library holds in which the module was sought. */
static const char *siblings(struct compilation *compilation, const char *dotted)
{
	const char *dot = strrchr(dotted, '.');
	size_t prefix = dot ? (size_t)(dot - dotted) + 1 : 0;
	struct text text;
	uint32_t count = 0;

	text_init(&text, &compilation->arena);
	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name = module_dotted_name(compilation, file->path);

		if (!strcmp(file->path, PRELUDE_PATH) ||
		    strncmp(name, dotted, prefix) || strchr(name + prefix, '.'))
			continue;
		text_printf(&text, "%s'%s'", count++ ? ", " : "", name);
	}
	return count ? text.at : NULL;
}

/* The module of the library whose name ends in the last part of this one, as
 * people write it who leave out where it lies. */
static const char *find_last_part(struct compilation *compilation,
				  const char *dotted)
{
	const char *wanted = strrchr(dotted, '.');

	wanted = wanted ? wanted + 1 : dotted;
	for (const struct embedded_file *file = nest_stdlib; file->path; file++) {
		const char *name = module_dotted_name(compilation, file->path);
		const char *last = strrchr(name, '.');

		if (last && !strcmp(last + 1, wanted) &&
		    strcmp(file->path, PRELUDE_PATH))
			return name;
	}
	return NULL;
}

static const char *import_spelling(struct arena *arena, const struct ast *target)
{
	struct text text;

	if (target->kind == AST_STRING)
		return target->text;
	text_init(&text, arena);
	for (uint32_t i = 0; i < target->child_count; i++)
		text_printf(&text, "%s%s", i ? "." : "", target->child[i]->name);
	return text.at;
}

static void report_not_found(struct search *search)
{
	struct compilation *compilation = search->compilation;
	struct diags *diags = &compilation->diags;
	const struct ast *target = search->import->child[0];
	const char *spelling = import_spelling(&compilation->arena, target);
	const char *suggestion, *list;

	/* A string without an end was reported, and names no file. */
	if (target->kind == AST_STRING &&
	    compilation->sources.at[target->span.file]
			    ->bytes[target->span.end - 1] != '"' &&
	    compilation->diags.errors)
		return;
	diag_error(diags, E_UNKNOWN_MODULE, target->span,
		   "there is no module '%s'", spelling);
	for (size_t i = 0; i < search->tried.count; i++)
		diag_note(diags, SPAN_NONE, "there is no file '%s'",
			  search->tried.at[i]);
	if (target->kind == AST_STRING)
		return;
	suggestion = suggest_embedded(compilation, spelling);
	if (!suggestion)
		suggestion = suggest_embedded(compilation,
					      arena_printf(&compilation->arena,
							   "std.%s", spelling));
	if (!suggestion)
		suggestion = find_last_part(compilation, spelling);
	list = siblings(compilation, spelling);
	if (suggestion) {
		diag_help(diags, "did you mean '%s'?", suggestion);
		diag_fix(diags, target->span, suggestion);
	} else if (list) {
		diag_help(diags, "the standard library has %s", list);
	}
}

static void report_cycle(struct compilation *compilation,
			 const struct module *module,
			 const struct import_chain *chain)
{
	struct diags *diags = &compilation->diags;
	const struct import_chain *link;
	const char *way = source_of(compilation, module)->name;

	for (link = chain; link; link = link->outer) {
		way = arena_printf(&compilation->arena, "%s -> %s",
				   source_of(compilation, link->module)->name,
				   way);
		if (link->module == module)
			break;
	}
	diag_error(diags, E_IMPORT_CYCLE, chain->import->span,
		   "these modules import each other: %s", way);
	for (link = chain->outer; link && chain->module != module;
	     link = link->outer) {
		diag_note(diags, link->import->span, "imported here");
		if (link->module == module)
			break;
	}
	diag_help(diags, "move what both need into a module that imports neither");
}

/* ---- reading ---- */

static struct module *follow_import(struct compilation *compilation,
				    const struct import_chain *chain)
{
	const struct ast *import = chain->import;
	const struct source *from = source_of(compilation, chain->module);
	struct search search = { .compilation = compilation, .import = import };
	struct target target;

	if (!import->child_count || !import->child[0] ||
	    import->child[0]->kind == AST_ERROR)
		return NULL;
	target = import->child[0]->kind == AST_STRING ?
			 resolve_string(&search, from, import->child[0]->text) :
			 resolve_names(&search, from, import->child[0]);
	switch (target.kind) {
	case TARGET_NONE:
		report_not_found(&search);
		return NULL;
	case TARGET_FAILED:
		return NULL;
	case TARGET_LOADED:
		if (!target.module->loading)
			return target.module;
		report_cycle(compilation, target.module, chain);
		return NULL;
	case TARGET_FILE:
		break;
	}
	if (chain->depth < IMPORT_DEPTH_MAX)
		return module_read(compilation, target.file, chain);
	diag_error(&compilation->diags, E_IMPORT_DEPTH, import->span,
		   "more than %u modules import each other in a row",
		   IMPORT_DEPTH_MAX);
	return NULL;
}

/* Names of an imported module become visible: all of its own, or the alias. */
static void take_import(struct module *module, const struct ast *import,
			struct module *imported)
{
	struct scope *scope = module->scope->outer;
	const struct ast *tree = imported->tree;
	struct binding *binding;

	if (import->name) {
		/* A second one of that name is reported by the checker. */
		binding = scope_find_here(module->scope, import->name);
		if (binding && binding->declaration == import)
			binding->module = imported;
		return;
	}
	for (uint32_t i = 0; i < tree->child_count; i++) {
		const struct ast *item = tree->child[i];

		if (!item || !item->name || item->kind == AST_IMPORT)
			continue;
		binding = scope_find_here(imported->scope, item->name);
		if (binding && binding->declaration == item)
			scope_import(scope, binding, import);
	}
}

/* The module's own names; a second one of a name is left to the checker. */
static void declare_all(struct module *module)
{
	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];
		struct binding *binding;

		if (!item || !item->name || item->kind == AST_ERROR)
			continue;
		binding = scope_declare(module->scope, item, module->scope);
		if (binding)
			binding->index = i;
	}
}

static struct module *module_read(struct compilation *compilation,
				  uint32_t file,
				  const struct import_chain *outer)
{
	struct arena *arena = &compilation->arena;
	struct module *module = ARENA_NEW(arena, struct module);
	struct import_chain chain = {
		.module = module,
		.depth = outer ? outer->depth + 1 : 1,
		.outer = outer,
	};
	uint32_t errors = compilation->diags.errors;
	struct scope *prelude = compilation->prelude ?
					compilation->prelude->scope : NULL;
	bool parsed;

	module->file = file;
	module->loading = true;
	module->clean = true;
	module->next = compilation->modules;
	compilation->modules = module;
	module->tree = parse_file(compilation, file, &parsed);
	module->scope = scope_new(arena, scope_new(arena, prelude));
	declare_all(module);
	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		struct module *imported;

		chain.import = module->tree->child[i];
		if (!chain.import || chain.import->kind != AST_IMPORT)
			continue;
		imported = follow_import(compilation, &chain);
		if (imported)
			take_import(module, chain.import, imported);
		if (!imported || !imported->clean)
			module->clean = false;
		if (!imported)
			module->incomplete = true;
	}
	module->loading = false;
	check_module(compilation, module);
	if (!parsed || compilation->diags.errors != errors)
		module->clean = false;
	return module;
}

static void load_prelude(struct compilation *compilation)
{
	struct target target;

	if (compilation->prelude)
		return;
	target = try_embedded(compilation, PRELUDE_PATH);
	if (target.kind == TARGET_FILE)
		compilation->prelude = module_read(compilation, target.file,
						   NULL);
}

/* What is wrong in a constant shows although no job uses it; not in a module
 * with errors already, where much would only follow from them. */
static void evaluate(struct compilation *compilation, struct module *main)
{
	uint32_t errors = compilation->diags.errors;
	struct eval eval;

	eval_overrides_bind(compilation, main);
	if (compilation->diags.errors != errors)
		main->clean = false;
	if (!main->clean)
		return;
	eval_init(&eval, compilation);
	for (struct module *module = compilation->modules; module;
	     module = module->next)
		if (!source_of(compilation, module)->is_embedded)
			eval_module(&eval, module);
	if (compilation->diags.errors != errors)
		main->clean = false;
}

struct module *module_load(struct compilation *compilation, const char *path)
{
	struct module *module;
	char *canonical;
	uint32_t file;

	load_prelude(compilation);
	canonical = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	module = canonical ? find_loaded(compilation, canonical) : NULL;
	free(canonical);
	if (!module) {
		if (!compilation_read(compilation, path, SPAN_NONE, &file))
			return NULL;
		module = module_read(compilation, file, NULL);
	}
	if (compilation->prelude && !compilation->prelude->clean)
		module->clean = false;
	evaluate(compilation, module);
	return module;
}

struct module *module_load_text(struct compilation *compilation,
				const char *name, const char *text)
{
	struct module *module;

	load_prelude(compilation);
	module = module_read(compilation,
			     sources_add(&compilation->sources, name, name,
					 text, strlen(text), false),
			     NULL);
	evaluate(compilation, module);
	return module;
}

/* "'a', 'b' and 'c'": the jobs of a module. */
static const char *list_jobs(struct compilation *compilation,
			     const struct module *module)
{
	struct text text;
	uint32_t count = 0;

	text_init(&text, &compilation->arena);
	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];

		if (item && item->kind == AST_JOB)
			text_printf(&text, "%s'%s'", count++ ? ", " : "",
				    item->name);
	}
	return text.at;
}

const struct ast *module_find_job(struct compilation *compilation,
				  const struct module *module,
				  const char *name)
{
	struct diags *diags = &compilation->diags;
	struct span whole = { .file = module->file };
	const struct ast *found = NULL;
	const char *suggestion = NULL;
	uint32_t jobs = 0;

	for (uint32_t i = 0; i < module->tree->child_count; i++) {
		const struct ast *item = module->tree->child[i];

		if (!item || item->kind != AST_JOB || !item->name)
			continue;
		jobs++;
		if (!name || !strcmp(item->name, name))
			found = item;
		else if (diag_resembles(name, item->name, &(unsigned){ 0 }))
			suggestion = item->name;
	}
	if (found && (name || jobs == 1))
		return found;
	if (!jobs) {
		diag_error(diags, E_UNKNOWN_JOB, whole, "this file has no job");
		diag_help(diags, "add 'job name { model = .. topology = .. global_batch = .. }'");
	} else if (name) {
		diag_error(diags, E_UNKNOWN_JOB, whole,
			   "this file has no job '%s'", name);
		if (suggestion)
			diag_help(diags, "did you mean '%s'?", suggestion);
		else
			diag_help(diags, "its jobs are %s",
				  list_jobs(compilation, module));
	} else {
		diag_error(diags, E_SEVERAL_JOBS, found->name_span,
			   "this file has %lu jobs", (unsigned long)jobs);
		diag_help(diags, "choose one with --job: %s",
			  list_jobs(compilation, module));
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * Loading of modules. A file is read once however many import it, and under
 * whatever path; its imports are followed before its own names are checked.
 */
#include "lang/module_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lang/ast.h"
#include "lang/check.h"
#include "lang/eval.h"
#include "lang/parse.h"

/* Imports inside each other. */
#define IMPORT_DEPTH_MAX 100u

static struct module *module_read(struct compilation *compilation,
				  uint32_t file,
				  const struct import_chain *outer);

static struct module *follow_import(struct compilation *compilation,
				    const struct import_chain *chain)
{
	const struct ast *import = chain->import;
	const struct source *from = module_source(compilation, chain->module);
	struct import_search search = { .compilation = compilation,
					.import = import };
	struct import_target target;

	if (!import->child_count || !import->child[0] ||
	    import->child[0]->kind == AST_ERROR)
		return NULL;
	target = import_resolve(&search, from);
	switch (target.kind) {
	case TARGET_NONE:
		import_report_not_found(&search);
		return NULL;
	case TARGET_FAILED:
		return NULL;
	case TARGET_LOADED:
		if (!target.module->loading)
			return target.module;
		import_report_cycle(compilation, target.module, chain);
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
	struct import_target target;

	if (compilation->prelude)
		return;
	target = import_embedded(compilation, PRELUDE_PATH);
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
		if (!module_source(compilation, module)->is_embedded)
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
	module = canonical ? module_find_loaded(compilation, canonical) : NULL;
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

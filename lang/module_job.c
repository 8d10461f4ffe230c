/* SPDX-License-Identifier: MIT
 *
 * The job of a module that is asked for, by name or as the only one.
 */
#include "lang/module.h"

#include <string.h>

#include "lang/ast.h"
#include "lang/compilation.h"

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

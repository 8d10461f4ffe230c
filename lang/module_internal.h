/* SPDX-License-Identifier: MIT
 *
 * What the files that load modules share. Only module*.c include this.
 */
#ifndef NEST_LANG_MODULE_INTERNAL_H
#define NEST_LANG_MODULE_INTERNAL_H

#include <stdint.h>

#include "lang/base/vec.h"
#include "lang/compilation.h"
#include "lang/module.h"

/* The module visible everywhere, by its path in the standard library. */
#define PRELUDE_PATH "prelude.nest"

/* The imports that led to the module being read now, innermost first. */
struct import_chain {
	const struct module *module;	/* that is being read */
	const struct ast *import;	/* in it, that is followed now */
	uint32_t depth;
	const struct import_chain *outer;
};

/* Where an import leads. */
struct import_target {
	enum {
		TARGET_NONE,		/* nowhere */
		TARGET_LOADED,		/* to a module that is there, perhaps half read */
		TARGET_FILE,		/* to a source that is to be read */
		TARGET_FAILED		/* to a file that cannot be read (reported) */
	} kind;
	struct module *module;		/* LOADED */
	uint32_t file;			/* FILE: index of the source */
};

/* One import being resolved. */
struct import_search {
	struct compilation *compilation;
	const struct ast *import;
	VEC(const char *) tried;	/* paths of files that are not there */
};

static inline const struct source *
module_source(const struct compilation *compilation, const struct module *module)
{
	return compilation->sources.at[module->file];
}

/* The module read from a file of this canonical path; NULL if there is none. */
struct module *module_find_loaded(struct compilation *compilation,
				  const char *path);

/* Where the import of a search leads from a source. */
struct import_target import_resolve(struct import_search *search,
				    const struct source *from);

/* A file of the embedded standard library, by its path there. */
struct import_target import_embedded(struct compilation *compilation,
				     const char *path);

/* Reports an import that leads nowhere. */
void import_report_not_found(struct import_search *search);

/* Reports that the last import of a chain leads to a module on it. */
void import_report_cycle(struct compilation *compilation,
			 const struct module *module,
			 const struct import_chain *chain);

#endif

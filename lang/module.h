/* SPDX-License-Identifier: MIT
 *
 * Modules: a file, its tree and the names it declares. Imports are resolved
 * relative to the importing file, then in the -I directories, then in the
 * standard library (installed or embedded). The prelude (stdlib/prelude.nest)
 * is visible everywhere.
 */
#ifndef NEST_LANG_MODULE_H
#define NEST_LANG_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/scope.h"
#include "lang/source.h"

struct ast;
struct compilation;

struct module {
	uint32_t file;			/* index of its source */
	struct ast *tree;
	struct scope *scope;		/* its declarations and imports */
	bool clean;			/* no error while it was read */
	bool loading;			/* on the import chain now: finds cycles */
	bool incomplete;		/* an import failed: unknown names may come from it */
	struct module *next;
};

/* Reads a spec and everything it imports, and resolves every name in them.
 * NULL if the file itself could not be read (reported); otherwise the module,
 * whose `clean` is false after any error. */
struct module *module_load(struct compilation *compilation, const char *path);

/* The same for a text (ending with NUL) that is in no file. */
struct module *module_load_text(struct compilation *compilation,
				const char *name, const char *text);

/* The job of that name (NULL: the only one) in a module. Reports what is missing
 * or ambiguous, and returns NULL then. */
const struct ast *module_find_job(struct compilation *compilation,
				  const struct module *module,
				  const char *name);

/* "std.device.h100" of an embedded path "device/h100.nest". */
const char *module_dotted_name(struct compilation *compilation,
			       const char *embedded_path);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What one run of the compiler owns: the arena, the unique strings, the
 * sources, the diagnostics, the options of the language and the modules read.
 */
#ifndef NEST_LANG_COMPILATION_H
#define NEST_LANG_COMPILATION_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/intern.h"
#include "lang/diag.h"
#include "lang/source.h"

struct ast;
struct eval;
struct module;
struct record;
struct scope;
struct value;

/* One -D NAME=EXPR of the command line. */
struct override {
	const char *name;
	const char *expression;
	bool used;		/* set when a param took it */
	const struct ast *declaration;	/* that param; set by eval_overrides_bind */
};

/* A shared library that a spec has called. */
struct native_library {
	const char *path;	/* as it was opened */
	const struct native_library *next;
};

/* The embedded standard library: generated at build time, ends with NULL. */
struct embedded_file {
	const char *path;	/* "device/h100.nest" */
	const char *bytes;
	size_t length;
};
extern const struct embedded_file nest_stdlib[];

/* Bytes that count in the place of a file's own. */
struct overlay {
	const char *path;	/* as it is asked for */
	const char *bytes;
	size_t length;
	const struct overlay *next;
};

struct compilation {
	struct arena arena;
	struct intern intern;
	struct sources sources;
	struct diags diags;

	/* Options, read-only once set. */
	const char *const *import_path;	/* -I directories, then NEST_PATH */
	uint32_t import_path_count;
	struct override *override;
	uint32_t override_count;
	bool allow_extern;
	const struct overlay *overlay;
	/* Names of the operators templates may call, ending with NULL. The
	 * compiler sets them; while NULL, any callee is let pass there. */
	const char *const *operator_names;

	/* How many parameters a model has, reported and false if it cannot be
	 * told; the compiler sets it. While NULL, models have no such member. */
	bool (*count_parameters)(const struct eval *eval,
				 const struct record *model, double *count);

	/* The plan of a job as a record, where jobs are values: in tests. NULL
	 * elsewhere. */
	bool (*plan_of_job)(const struct eval *eval, const struct ast *job,
			    const struct scope *home, struct value *value);
	const void *plan_context;	/* for it */

	/* Calls a function of a shared library with arguments of the types
	 * declared; reported and false if it fails. The compiler sets it; called
	 * only where allow_extern is set. */
	bool (*call_extern)(struct compilation *compilation,
			    const struct ast *declaration,
			    const struct value *argument, struct span span,
			    struct value *value);
	const struct native_library *libraries;	/* called so far, newest first */

	/* Bounds on hostile input; each has its own diagnostic. */
	uint32_t depth_max;		/* nesting of calls and expressions */
	uint64_t step_max;		/* evaluation steps */

	/* A declaration could not be read: what is not declared may have been in it. */
	bool has_lost_names;

	struct module *modules;		/* every module read, newest first */
	struct module *prelude;		/* visible everywhere; NULL before loading */
};

/* Reads a file for a spec. What stands in the way is reported at the span, where
 * the file is asked for; a file that is no text is read all the same. */
bool compilation_read(struct compilation *compilation, const char *path,
		      struct span span, uint32_t *file);

/* Initialises everything with the defaults; release frees it all. */
void compilation_init(struct compilation *compilation);
void compilation_release(struct compilation *compilation);

#endif

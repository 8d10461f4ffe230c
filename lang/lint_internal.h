/* SPDX-License-Identifier: MIT
 *
 * What the files share that look for what is right but hardly meant. Only
 * lint*.c include this.
 */
#ifndef NEST_LANG_LINT_INTERNAL_H
#define NEST_LANG_LINT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"
#include "lang/lint.h"
#include "lang/module.h"

/* One name of a comment `# nest: allow(NAME, ..)`. */
struct lint_allow {
	enum lint lint;			/* LINT_COUNT: there is none of that name */
	struct span span;		/* of the name */
	uint32_t line;			/* it speaks of */
	bool used;
};

struct linter {
	struct compilation *compilation;
	const struct module *module;
	const struct lint_levels *levels;
	const char **slot;		/* names used in the file: hash table */
	size_t capacity;		/* a power of two */
	VEC(struct lint_allow) allow;
};

/* Reports at the level of the command line, unless a comment allows it.
 * Whether there was a word, to which parts can be added. */
bool lint_report(struct linter *linter, enum lint lint, struct span span,
		 const char *message);

/* ---- comments that allow a warning (lint_allow.c) ---- */

/* Finds them; one behind code speaks of its line, any other of the next line
 * that is no comment. */
void lint_collect_allows(struct linter *linter);
/* Whether one allows this here; it is used then. */
bool lint_is_allowed(struct linter *linter, enum lint lint, struct span span);
void lint_unused_allows(struct linter *linter);

/* ---- the others, one file each ---- */

/* Names that hide another, and uses of what is deprecated. */
void lint_names(struct linter *linter);
/* Numbers of devices and levels far from all that exist. */
void lint_units(struct linter *linter);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Warnings: what is right but hardly meant. Each has a name by which it is
 * turned off, or into an error.
 */
#ifndef NEST_LANG_LINT_H
#define NEST_LANG_LINT_H

struct compilation;
struct module;

enum lint {
#define LINT(enumerator, name, code) LINT_##enumerator,
#include "lang/lint.def"
#undef LINT
	LINT_COUNT
};

enum lint_level { LINT_WARNING, LINT_OFF, LINT_ERROR };

/* By enum lint; all zero is the default. */
struct lint_levels {
	enum lint_level level[LINT_COUNT];
};

/* The lint of that name; LINT_COUNT when there is none. */
enum lint lint_find(const char *name);
/* The name that most resembles a misspelt one, or NULL. */
const char *lint_suggest(const char *name);

/* Looks at one module that was loaded without errors. */
void lint_module(struct compilation *compilation, const struct module *module,
		 const struct lint_levels *levels);

#endif

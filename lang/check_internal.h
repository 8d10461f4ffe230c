/* SPDX-License-Identifier: MIT
 *
 * What the files of the checker share. Only check*.c include this.
 */
#ifndef NEST_LANG_CHECK_INTERNAL_H
#define NEST_LANG_CHECK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/vec.h"
#include "lang/compilation.h"
#include "lang/module.h"
#include "lang/scope.h"

/* One declaration of the module mentions another. */
struct check_use {
	uint32_t from, to;	/* indices of items of the file */
	struct span span;	/* of the mention */
};

/* The bodies around the place being checked: a name unknown there may be
 * given further down in one of them. */
struct check_body {
	const struct ast *body;
	const struct check_body *outer;
};

struct check {
	struct compilation *compilation;
	struct diags *diags;
	struct arena *arena;
	const struct module *module;
	uint32_t item;			/* of the file, being checked */
	const struct check_body *body;
	bool in_template;		/* operators may be called */
	VEC(struct check_use) use;
};

/* Resolves every name of an expression (which may be NULL). */
void check_expression(struct check *check, struct scope *scope,
		      const struct ast *expression);

/* Reports declarations that need themselves, once all uses are known. */
void check_cycles(struct check *check);

#endif

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

/* Declares an item in a scope, or reports that its name is taken there. */
void check_declare(struct check *check, struct scope *scope,
		   const struct ast *item);

/* A name that has some value, which does not matter here. */
void check_some_value(struct check *check, struct scope *scope,
		      const char *name);

/* Declares the parameters of a declaration in a scope of its own, and resolves their
 * defaults. */
void check_parameters(struct check *check, struct scope *scope,
		      const struct ast *declaration);

/* A `let` of a body: it can name only what stands before it. */
void check_let(struct check *check, struct scope *scope,
	       const struct ast *item);

/* Reports an item that has no place in a body ("device", "test"). */
void check_refuse(struct check *check, const struct ast *item,
		  const char *where);

/* The bodies of declarations; the scope of a template holds its parameters. */
void check_record(struct check *check, const struct ast *item);
void check_template(struct check *check, struct scope *scope,
		    const struct ast *declaration);
void check_job(struct check *check, const struct ast *job);
void check_test(struct check *check, const struct ast *test);

/* Resolves every name of an expression (which may be NULL). */
void check_expression(struct check *check, struct scope *scope,
		      const struct ast *expression);

/* Reports declarations that need themselves, once all uses are known. */
void check_cycles(struct check *check);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Nested scopes from names to declarations or values, with suggestions for
 * misspelt names.
 */
#ifndef NEST_LANG_SCOPE_H
#define NEST_LANG_SCOPE_H

#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/value.h"

struct module;

enum binding_state {
	BINDING_UNEVALUATED,	/* a declaration not looked at yet */
	BINDING_RUNNING,	/* being evaluated: meeting it again is a cycle */
	BINDING_DONE,
};

struct binding {
	const char *name;		/* interned */
	const struct ast *declaration;	/* NULL for loop variables and arguments */
	const struct module *module;	/* AST_IMPORT with an alias: the module */
	struct scope *home;		/* scope in which the declaration is evaluated */
	struct value value;
	enum binding_state state;
	struct binding *target;		/* an imported name: what it stands for */
	struct binding *rival;		/* another import gives the same name */
	const struct ast *import;	/* the import that brought the name */
	uint32_t index;			/* of a declaration in its file's tree */
	struct binding *next;
};

struct scope {
	struct arena *arena;
	struct scope *outer;		/* NULL for the prelude */
	struct binding **slot;		/* hash table on the interned pointer */
	uint32_t capacity;
	uint32_t count;
};

struct scope *scope_new(struct arena *arena, struct scope *outer);

/* Adds a name to this scope; NULL if it is there already. */
struct binding *scope_add(struct scope *scope, const char *name);
void scope_set(struct scope *scope, const char *name, struct value value);

/* Makes another module's binding visible under its own name. A second module
 * giving that name becomes the rival of the first: using it is an error. */
void scope_import(struct scope *scope, struct binding *target,
		  const struct ast *import);

/* Look in this scope and the outer ones, or here only; NULL if unknown. An
 * imported name gives the binding of the module that declares it, except that
 * a name with a rival gives the importing binding, for the message. */
struct binding *scope_find(const struct scope *scope, const char *name);
struct binding *scope_find_here(const struct scope *scope, const char *name);

/* Adds a name for the declaration, evaluated in home when first wanted; NULL if
 * the name is there already. */
struct binding *scope_declare(struct scope *scope, const struct ast *declaration,
			      struct scope *home);

/* The visible name that most resembles a misspelt one, or NULL. */
const char *scope_suggest(const struct scope *scope, const char *name);

/* Visible names that begin with this one and '_', in the order of the alphabet: the
 * first `most` of them; returns how many. */
uint32_t scope_beginnings(const struct scope *scope, const char *name,
			  const char **found, uint32_t most);

#endif

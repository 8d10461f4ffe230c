/* SPDX-License-Identifier: MIT
 *
 * Nested scopes from names to declarations or values, with suggestions for
 * misspelt names.
 */
#ifndef NEST_LANG_SCOPE_H
#define NEST_LANG_SCOPE_H

#include <stdbool.h>
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

/* Looks in this scope and the outer ones; NULL if unknown. */
struct binding *scope_find(const struct scope *scope, const char *name);
struct binding *scope_find_here(const struct scope *scope, const char *name);

/* The visible name that most resembles a misspelt one, or NULL. */
const char *scope_suggest(const struct scope *scope, const char *name);

#endif

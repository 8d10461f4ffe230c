/* SPDX-License-Identifier: MIT
 *
 * The functions every file may call without an import.
 */
#ifndef NEST_LANG_BUILTIN_H
#define NEST_LANG_BUILTIN_H

#include <stdbool.h>
#include <stdint.h>

struct eval;
struct ast;
struct value;

struct builtin {
	const char *name;
	uint32_t least, most;		/* arguments */
	/* Arguments are evaluated; the call is for messages. */
	bool (*apply)(struct eval *eval, const struct ast *call,
		      struct value *argument, uint32_t count,
		      struct value *value);
};

/* The function called so, or NULL. */
const struct builtin *builtin_find(const char *name);

/* The name that most resembles a misspelt one, or NULL. */
const char *builtin_suggest(const char *name);

/* Checks the number of arguments and that none is named; reports otherwise. */
bool builtin_match(struct eval *eval, const struct builtin *builtin,
		   const struct ast *call);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The words of symbols.def: symbols, names of the plan, and dimensions of
 * `split`.
 */
#ifndef NEST_LANG_SYMBOL_H
#define NEST_LANG_SYMBOL_H

#include <stdbool.h>

enum symbol_kind {
	SYMBOL_WORD,		/* bf16, adam, none: stands for itself */
	SYMBOL_PLAN,		/* tensor, memory: known only to the solver */
	SYMBOL_SPLIT		/* tensor, context: what an axis is cut over */
};

/* Whether the word is one of that kind. */
bool symbol_is_known(enum symbol_kind kind, const char *word);

/* The word of that kind that most resembles a misspelt one, or NULL. */
const char *symbol_suggest(enum symbol_kind kind, const char *word);

/* The words of a kind in the order of symbols.def; NULL past the last. */
const char *symbol_at(enum symbol_kind kind, unsigned index);

#endif

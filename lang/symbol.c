/* SPDX-License-Identifier: MIT
 *
 * Look-up in the tables made from symbols.def. They are short, so a linear
 * search will do.
 */
#include "lang/symbol.h"

#include <stddef.h>
#include <string.h>

#include "lang/diag.h"

static const char *const words[] = {
#define SYMBOL(word, use) word,
#include "lang/symbols.def"
	NULL
};

static const char *const plan_names[] = {
#define PLAN_NAME(word) word,
#include "lang/symbols.def"
	NULL
};

static const char *const split_dimensions[] = {
#define SPLIT_DIMENSION(word) word,
#include "lang/symbols.def"
	NULL
};

static const char *const *table_of(enum symbol_kind kind)
{
	switch (kind) {
	case SYMBOL_WORD:
		return words;
	case SYMBOL_PLAN:
		return plan_names;
	case SYMBOL_SPLIT:
		break;
	}
	return split_dimensions;
}

bool symbol_is_known(enum symbol_kind kind, const char *word)
{
	for (const char *const *at = table_of(kind); *at; at++)
		if (!strcmp(*at, word))
			return true;
	return false;
}

const char *symbol_suggest(enum symbol_kind kind, const char *word)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	for (const char *const *at = table_of(kind); *at; at++) {
		unsigned distance;

		if (!diag_resembles(word, *at, &distance))
			continue;
		if (!best || distance < best_distance) {
			best = *at;
			best_distance = distance;
		}
	}
	return best;
}

const char *symbol_at(enum symbol_kind kind, unsigned index)
{
	const char *const *table = table_of(kind);

	for (unsigned i = 0; i < index; i++)
		if (!table[i])
			return NULL;
	return table[index];
}

/* SPDX-License-Identifier: MIT
 *
 * Looking up foreign words.
 */
#include "lang/foreign.h"

#include <string.h>

static const struct foreign {
	const char *word, *meant, *advice;
} foreign_words[] = {
#define FOREIGN(word, meant, advice) { word, meant, advice },
#include "lang/foreign.def"
#undef FOREIGN
};

static const struct foreign *find(const char *word)
{
	for (size_t i = 0; i < sizeof(foreign_words) / sizeof(*foreign_words); i++)
		if (strcmp(foreign_words[i].word, word) == 0)
			return &foreign_words[i];
	return NULL;
}

const char *foreign_meaning(const char *word)
{
	const struct foreign *foreign = find(word);

	return foreign ? foreign->meant : NULL;
}

bool foreign_advise(struct diags *diags, const char *word, struct span span)
{
	const struct foreign *foreign = find(word);

	if (!foreign)
		return false;
	if (!foreign->meant) {
		diag_help(diags, "%s", foreign->advice);
		return true;
	}
	diag_help(diags, "did you mean '%s'?", foreign->meant);
	diag_fix(diags, span, foreign->meant);
	return true;
}

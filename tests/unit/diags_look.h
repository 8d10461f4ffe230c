/* SPDX-License-Identifier: MIT
 *
 * What a test asks of the diagnostics reported so far.
 */
#ifndef NEST_TESTS_DIAGS_LOOK_H
#define NEST_TESTS_DIAGS_LOOK_H

#include <stdbool.h>
#include <string.h>

#include "lang/diag.h"

/* How often a code was reported. */
static inline unsigned diags_count(const struct diags *diags,
				   enum diag_code code)
{
	unsigned count = 0;

	for (size_t i = 0; i < diags->count; i++)
		count += diags->at[i]->code == code;
	return count;
}

/* Whether some message, label or note so far holds the words. */
static inline bool diags_say(const struct diags *diags, const char *words)
{
	for (size_t i = 0; i < diags->count; i++) {
		const struct diag_part *part = diags->at[i]->parts;

		if (strstr(diags->at[i]->message, words))
			return true;
		for (; part; part = part->next)
			if (part->text && strstr(part->text, words))
				return true;
		for (part = diags->at[i]->frames; part; part = part->next)
			if (part->text && strstr(part->text, words))
				return true;
	}
	return false;
}

#endif

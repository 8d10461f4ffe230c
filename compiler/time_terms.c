/* SPDX-License-Identifier: MIT
 *
 * Parts of an iteration's time.
 */
#include "compiler/time_terms.h"

const char *time_term_key(enum time_term term)
{
	static const char *const keys[] = {
#define TIME_TERM(enumerator, field, key, words) key,
#include "compiler/time_terms.def"
#undef TIME_TERM
	};

	return keys[term];
}

const char *time_term_words(enum time_term term)
{
	static const char *const names[] = {
#define TIME_TERM(enumerator, field, key, words) words,
#include "compiler/time_terms.def"
#undef TIME_TERM
	};

	return names[term];
}

double time_term_s(const struct breakdown *breakdown, enum time_term term)
{
	switch (term) {
#define TIME_TERM(enumerator, field, key, words) \
	case TIME_##enumerator: \
		return breakdown->field;
#include "compiler/time_terms.def"
#undef TIME_TERM
	case TIME_TERM_COUNT:
		break;
	}
	return 0;
}

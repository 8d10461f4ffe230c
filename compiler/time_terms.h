/* SPDX-License-Identifier: MIT
 *
 * The parts that an iteration's time is the sum of, by number: reports walk them
 * and name them alike.
 */
#ifndef NEST_COMPILER_TIME_TERMS_H
#define NEST_COMPILER_TIME_TERMS_H

#include "solver/plan.h"

enum time_term {
#define TIME_TERM(enumerator, field, key, words) TIME_##enumerator,
#include "compiler/time_terms.def"
#undef TIME_TERM
	TIME_TERM_COUNT
};

/* In manifests and other JSON: "pipeline_comm". */
const char *time_term_key(enum time_term term);
/* For people: "stage to stage". */
const char *time_term_words(enum time_term term);
double time_term_s(const struct breakdown *breakdown, enum time_term term);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Words of other languages and frameworks (foreign.def), and what they are here.
 */
#ifndef NEST_LANG_FOREIGN_H
#define NEST_LANG_FOREIGN_H

#include <stdbool.h>

#include "lang/diag.h"

/* The word of this language that a foreign one stands for, or NULL. */
const char *foreign_meaning(const char *word);

/* Adds to the diagnostic reported last what a foreign word is here. False if it
 * is not known as one. */
bool foreign_advise(struct diags *diags, const char *word, struct span span);

#endif

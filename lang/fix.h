/* SPDX-License-Identifier: MIT
 *
 * Fixes: the edits that diagnostics propose, made and applied.
 */
#ifndef NEST_LANG_FIX_H
#define NEST_LANG_FIX_H

#include <stdint.h>

#include "lang/base/text.h"
#include "lang/diag.h"

struct ast;
struct compilation;

/* Adds to the diagnostic reported last the fix that imports a module into a
 * file, behind its imports; none for texts that are no module. */
void fix_add_import(struct compilation *compilation, uint32_t file,
		    const char *dotted);

/* Adds the fix that takes an item out, with its line where nothing else stands
 * there; none where a comment stands behind it, which would be lost. */
void fix_remove_item(struct compilation *compilation, struct span item);

/* The text of a file after all safe fixes of the diagnostics not yet flushed.
 * One that overlaps another, or inserts at the same place, is left for another
 * round. Returns how many were applied; *out is untouched if none. */
uint32_t fix_apply(const struct compilation *compilation, uint32_t file,
		   struct text *out);

#endif

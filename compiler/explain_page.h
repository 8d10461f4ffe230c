/* SPDX-License-Identifier: MIT
 *
 * The long text of every diagnostic code: lang/explain/EXXXX.md, embedded.
 */
#ifndef NEST_COMPILER_EXPLAIN_PAGE_H
#define NEST_COMPILER_EXPLAIN_PAGE_H

#include "lang/compilation.h"

/* Generated at build time from the pages; ends with NULL. */
extern const struct embedded_file nest_explain[];

/* The page of a code, or NULL. */
const struct embedded_file *explain_page(enum diag_code code);

#endif

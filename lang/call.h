/* SPDX-License-Identifier: MIT
 *
 * Matching the arguments of a call to the parameters of a declaration. The
 * checker and the evaluator share it, so that both see a call alike.
 */
#ifndef NEST_LANG_CALL_H
#define NEST_LANG_CALL_H

#include <stdbool.h>

#include "lang/ast.h"
#include "lang/base/arena.h"
#include "lang/diag.h"

/* Most parameters a declaration may have. */
#define CALL_PARAMETERS_MAX 256u

/* Whether it may stand before `(..)`. */
bool declaration_is_callable(const struct ast *declaration);
/* The AST_PARAMETERS of a declaration; NULL when it takes none. */
const struct ast *declaration_parameters(const struct ast *declaration);
/* Its body: AST_BODY, or the expression of a function; NULL for an extern. */
const struct ast *declaration_body(const struct ast *declaration);
/* Whether it can be applied without any argument. */
bool declaration_needs_no_argument(const struct ast *declaration);

/* Finds the expression given for each parameter: *expression gets an array
 * with one entry a parameter, NULL where the default is to be used. The call
 * may be NULL (no arguments); span is then where it is asked for. The first
 * argument may be positional, every other is `name = e` or a bare name that is
 * a parameter's. Reports unknown, repeated, missing and nameless arguments and
 * returns false after any. */
bool call_match(struct diags *diags, struct arena *arena,
		const struct ast *declaration, const struct ast *call,
		struct span span, const struct ast ***expression);

#endif

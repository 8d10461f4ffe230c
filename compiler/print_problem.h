/* SPDX-License-Identifier: MIT
 *
 * The solver's problem as text, for --dump=problem.
 */
#ifndef NEST_COMPILER_PRINT_PROBLEM_H
#define NEST_COMPILER_PRINT_PROBLEM_H

#include "compiler/ir.h"
#include "lang/base/text.h"

/* The program gives the classes their names. */
void problem_print(const struct ir *ir, const struct problem *problem,
		   struct text *out);

#endif

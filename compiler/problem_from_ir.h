/* SPDX-License-Identifier: MIT
 *
 * Placement program to solver problem: every legal shape is enumerated, every
 * layer class priced once under each, and the target framework's rules become
 * domains and requirements.
 */
#ifndef NEST_COMPILER_PROBLEM_FROM_IR_H
#define NEST_COMPILER_PROBLEM_FROM_IR_H

#include "compiler/ir.h"

struct compilation;

/* Shapes enumerated at most; more is an error that names the search domains. */
#define SHAPES_MAX 65536

/* The problem, in the compilation's arena; NULL after reported errors (for
 * instance when no degree of a given domain divides its axis). */
struct problem *problem_from_ir(struct compilation *compilation,
				const struct ir *ir);

#endif

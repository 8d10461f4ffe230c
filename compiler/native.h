/* SPDX-License-Identifier: MIT
 *
 * Functions of shared libraries, for `extern` declarations. A call runs in a
 * process of its own: a library that crashes, ends the program or never
 * returns is an error in the spec, not the end of the compiler.
 *
 * In C an int is an int64_t, every other number a double in base units (bytes,
 * seconds, floating-point operations, watts, dollars):
 *
 *	extern "./cost.so" fn gemm_time(m: int, rate: bandwidth) -> time
 *	double gemm_time(int64_t m, double rate);
 */
#ifndef NEST_COMPILER_NATIVE_H
#define NEST_COMPILER_NATIVE_H

#include <stdbool.h>

#include "lang/compilation.h"
#include "lang/source.h"

struct ast;
struct value;

/* Most parameters of one function. */
#define NATIVE_PARAMETERS_MAX 64
/* Seconds after which a call is given up. */
#define NATIVE_SECONDS_MAX 5

/* For compilation.call_extern. A library's name is relative to the file that
 * declares the function. */
bool native_call(struct compilation *compilation, const struct ast *declaration,
		 const struct value *argument, struct span span,
		 struct value *value);

#endif

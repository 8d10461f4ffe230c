/* SPDX-License-Identifier: MIT
 *
 * The make rule of -MD: outputs depend on every file that was read.
 */
#ifndef NEST_COMPILER_DEPFILE_H
#define NEST_COMPILER_DEPFILE_H

#include "compiler/cli.h"
#include "lang/base/text.h"

/* Targets are the output files, or the rule's own file when there are none.
 * Embedded modules are no files and are left out. */
void depfile_print(const struct cli *cli,
		   const struct compilation *compilation, struct text *out);

#endif

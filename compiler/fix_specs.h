/* SPDX-License-Identifier: MIT
 *
 * check --fix: looks at specs again and again, each time with the sure fixes of
 * the time before, until there are none; then writes the files that changed.
 */
#ifndef NEST_COMPILER_FIX_SPECS_H
#define NEST_COMPILER_FIX_SPECS_H

#include "compiler/cli.h"

/* `check` looks at all operands and reports into the compilation. What is left
 * after the last time is printed. With --diff the changes are printed and no
 * file is written. Only the files named on the command line change. */
enum status fix_specs(const struct cli *cli,
		      enum status (*check)(const struct cli *cli,
					   struct compilation *compilation));

#endif

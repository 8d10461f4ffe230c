/* SPDX-License-Identifier: MIT
 *
 * Inside --emit manifest: where the ranks are.
 */
#ifndef NEST_COMPILER_MANIFEST_PLACEMENT_H
#define NEST_COMPILER_MANIFEST_PLACEMENT_H

#include "compiler/emit.h"

/* Appends the member "placement" after another member. */
void manifest_print_placement(const struct emit_input *input, struct text *out);

#endif

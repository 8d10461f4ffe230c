/* SPDX-License-Identifier: MIT
 *
 * The weights of a layer whose optimizer states are of another kind than those of
 * most: matrices under Muon (matrices.h); under 8-bit Adam all but the tables of
 * embeddings, which keep 32 bits (Dettmers et al. 2022, "8-bit Optimizers via
 * Block-wise Quantization", section 2.3; transformers registers them so with
 * bitsandbytes), and so does a head that shares a table. That bitsandbytes keeps weights
 * of fewer than 4096 elements in 32 bits is neglected.
 */
#ifndef NEST_COMPILER_APART_H
#define NEST_COMPILER_APART_H

#include "compiler/layout.h"
#include "solver/problem.h"

/* Fills weight->apart and expert_apart of a class, of which `result` is the
 * inference; nothing under other optimizers. The step moves bytes at that rate. */
void apart_fill(const struct ir *ir, const struct ir_class *class,
		const struct layout_result *result, double bandwidth_Bps,
		struct arena *scratch, struct problem_weight *weight);

/* What tells these weights from others, in words: "in matrices". */
const char *apart_words(enum ir_optimizer optimizer);

#endif

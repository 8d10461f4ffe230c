/* SPDX-License-Identifier: MIT
 *
 * The weights that Muon steps as whole matrices: those of products inside
 * the layers and of routers. Embeddings, heads, norms, biases and the parameters
 * of custom operators are Adam's (Jordan et al. 2024,
 * kellerjordan.github.io/posts/muon; Megatron-LM,
 * core/optimizer/emerging_optimizers.py: whatever is not of two extents, and
 * embedding and output layer).
 *
 * Each is orthogonalised by 5 Newton-Schulz iterations X <- aX + (bA + cA^2) X with
 * A = X X^T, in 16 bits whatever the precision. With X of r rows and c >= r columns
 * (turned round where it has more rows) an iteration is three products, of
 * 2 r^2 c, 2 r^3 and 2 r^2 c operations, at the device's rate for matrices.
 *
 * Of a weight that is cut over a tensor (or expert-tensor) group, the modes of Megatron-LM's
 * --muon-tp-mode (NVIDIA-NeMo/Emerging-Optimizers, orthogonalized_optimizers/muon_utils.py,
 * newton_schulz_tp) step
 *	blockwise	a rank its own part, without communication: the default of releases
 *			0.16 to 0.19
 *	duplicated	every rank the whole, after an all-gather of the update in 32 bits
 *	distributed	all together: with u rows or columns of a rank and w on the side that
 *			is not cut, w <= u or not, an iteration is 2 w^2 u + 2 w^3 + 2 w^2 u
 *			operations and an all-reduce of w x w in 16 bits
 * These exchanges are priced as if the group were packed into the innermost levels,
 * wherever the plan puts it; the sum of squares that the distributed ranks add up first is
 * neglected.
 *
 * Where the target is Megatron-LM, weights that it keeps as one are one: query, key
 * and value (which it orthogonalises apart, --muon-no-split-qkv), key and value
 * out of one latent, that latent and the rotary key, gate and up. Else each is a
 * matrix of its own. Neglected: the host's time to launch the kernels of many small
 * matrices, and what the products keep for a moment after activations are gone.
 */
#ifndef NEST_COMPILER_MATRICES_H
#define NEST_COMPILER_MATRICES_H

#include <stdbool.h>

#include "compiler/layout.h"
#include "solver/problem.h"

/* Whether the weight of an operator is such a matrix. */
bool operator_has_matrix(const struct ir_operator *operator);

/* Time of orthogonalising a matrix of these extents. */
double matrix_orthogonalise_s(const struct ir_device *device, double rows,
			      double columns);

/* Fills weight->apart and expert_apart of a class, of which `result` is the
 * inference. Each of their parameters moves step_bytes at the given rate besides. */
void matrices_fill(const struct ir *ir, const struct ir_class *class,
		   const struct layout_result *result, double step_bytes,
		   double bandwidth_Bps, struct arena *scratch,
		   struct problem_weight *weight);

#endif

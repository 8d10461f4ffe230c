/* SPDX-License-Identifier: MIT
 *
 * Floating-point operations of one iteration over the whole cluster.
 *
 * Products count 2 m k n forward and twice that backward; attention 4 s^2 per
 * sequence and unit of head width forward (s times the window where that is
 * shorter) and twice that backward; everything else nothing. Vocabularies are
 * counted as written, without padding. For a GPT with 4 h wide feed-forward
 * layers, full recomputation and attention that is not causal this is formula 3 of
 * Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU
 * Clusters Using Megatron-LM": 96 B s l h^2 (1 + s/(6 h) + V/(16 l h)).
 *
 * Two conventions exist for causal attention. The Megatron papers count it
 * whole: `model` and `hardware` do, so that utilisations compare with theirs.
 * Newer versions of the program count half: `model_causal`.
 */
#ifndef NEST_COMPILER_FLOPS_H
#define NEST_COMPILER_FLOPS_H

#include "compiler/ir.h"
#include "solver/plan.h"

struct flops {
	double model;		/* forward and backward; for the MFU */
	double model_causal;	/* the same, causal attention counted half */
	double hardware;	/* model and recomputation; for the HFU */
	double executed;	/* what kernels do: flash attention skips masked scores
				 * and computes the others again backward */
};

/* Counts for the job's global batch. Recomputation applies to blocks only. */
struct flops ir_flops(const struct ir *ir, enum recompute recompute);

/* Those of a plan, whose chunks may recompute a part of their layers; *recomputed
 * receives the layers that are recomputed whole. */
struct flops ir_plan_flops(const struct ir *ir, const struct plan *plan,
			   uint32_t *recomputed);

/* ir_flops(...).model. */
double ir_model_flops(const struct ir *ir);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Reads a model's operator graphs as the one kind of model Megatron-LM builds:
 * embedding, pre-norm decoder blocks that are equal but for their MLP, which is
 * dense or a mixture of experts, perhaps one layer for multi-token prediction, final
 * norm, output layer.
 */
#ifndef NEST_COMPILER_MEGATRON_MODEL_H
#define NEST_COMPILER_MEGATRON_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"

struct compilation;

/* What a decoder block is made of. */
struct megatron_block {
	uint64_t hidden, ffn;
	uint64_t heads, kv_heads, head_dim;
	uint64_t window;		/* tokens; 0: none */
	double attention_dropout, hidden_dropout;
	bool rmsnorm;			/* else LayerNorm */
	bool swiglu;			/* else GELU */
	bool bias;			/* every linear has one */
	bool qkv_bias;			/* only those of attention's inputs do */
	bool flash;
	bool qk_norm;			/* heads of queries and keys are normalised */
	/* Multi-head latent attention; kv_rank 0: none. The rotary part of a
	 * query and key is rope_dim of its head_dim wide. */
	uint64_t q_rank, kv_rank, rope_dim, value_dim;
	/* A mixture of experts in place of the MLP; experts 0: none. */
	uint64_t experts, top_k, expert_ffn, shared_ffn;
	uint64_t groups, top_groups;	/* of experts, as ir_operator */
	bool router_bias;
	bool expert_bias;		/* products of experts have biases */
};

struct megatron_model {
	struct megatron_block block;	/* ffn of the dense blocks, if any; experts
					 * of the others */
	uint32_t *moe_run;		/* by run of the model: its blocks have experts */
	uint32_t block_run_end;		/* runs from 1 to before this are blocks */
	uint32_t prediction;		/* layers for multi-token prediction: 0 or 1 */
	uint64_t vocabulary;
	uint32_t vocabulary_pad;	/* rounded up to this x tensor */
	uint64_t positions;		/* learned; 0: none */
	bool tied;
};

/* False, reported, when Megatron-LM has no such model. */
bool megatron_model_read(struct compilation *compilation, const struct ir *ir,
			 struct megatron_model *model);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Reads a model's operator graphs as the one kind of model Megatron-LM builds:
 * embedding, equal pre-norm decoder blocks, final norm, output layer.
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
};

struct megatron_model {
	struct megatron_block block;
	uint64_t vocabulary;
	uint32_t vocabulary_pad;	/* rounded up to this x tensor */
	uint64_t positions;		/* learned; 0: none */
	bool tied;
};

/* False, reported, when Megatron-LM has no such model. */
bool megatron_model_read(struct compilation *compilation, const struct ir *ir,
			 struct megatron_model *model);

#endif

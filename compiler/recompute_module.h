/* SPDX-License-Identifier: MIT
 *
 * Which operators of a layer belong to which part that can be recomputed by
 * itself. The parts are those of Megatron-LM with Transformer Engine:
 *
 *	core_attn	attention proper, from queries, keys and values on
 *	moe_act		the activations between the products of routed experts
 *	layernorm	norms of the residual stream that are kernels of their own
 *	mla_up_proj	the products from the latents to queries, keys and values,
 *			with the latents' norms and the rotation
 *	mlp		the feed-forward branch of a dense layer
 *	moe		the same with experts: router, exchange, experts, shared expert
 *	shared_experts	the expert that sees every token
 *
 * A norm that only products read whose output is cut by tensor is part of these
 * (TELayerNormColumnParallelLinear): it belongs to `mlp` where that begins with
 * it, and never to `layernorm`. Norms and dropouts that end a branch are part of
 * the residual sum. A branch is what lies between a value and a sum of this value
 * with something that was computed from it.
 */
#ifndef NEST_COMPILER_RECOMPUTE_MODULE_H
#define NEST_COMPILER_RECOMPUTE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/arena.h"
#include "lang/base/text.h"

enum recompute_module {
#define RECOMPUTE_MODULE(enumerator, name, discards, what) MODULE_##enumerator,
#include "compiler/recompute_modules.def"
#undef RECOMPUTE_MODULE
	RECOMPUTE_MODULE_COUNT
};

/* A set of modules, one bit each. */
static inline uint32_t recompute_module_bit(enum recompute_module module)
{
	return 1u << module;
}

const char *recompute_module_name(enum recompute_module module);
/* What a model must have for the module to be there: "latent attention". */
const char *recompute_module_what(enum recompute_module module);
bool recompute_module_discards(enum recompute_module module);

/* What the layers of a class do under a policy. Those beside the blocks keep
 * everything; one with an attention of its own (multi-token prediction) takes part in
 * selective recomputation. */
enum recompute recompute_of_class(const struct ir_class *class,
				  enum recompute policy);

/* All names, RECOMPUTE_MODULE_COUNT of them. */
const char *const *recompute_module_names(void);
/* The module called so; RECOMPUTE_MODULE_COUNT if there is none. */
enum recompute_module recompute_module_find(const char *name);

/* The modules that contain a module: redone with them anyway. */
uint32_t recompute_module_around(enum recompute_module module);

/* The set that selective recomputation of the job redoes; attention proper
 * where the job does not say. */
uint32_t ir_recompute_modules(const struct ir_job *job);

/* Appends "core_attn, mlp". */
void recompute_modules_print(uint32_t set, const char *separator,
			     struct text *out);

/* The set of modules each operator belongs to, in the arena; scratch too. */
uint32_t *recompute_modules_of(const struct ir_class *class, struct arena *arena);

/* The module of a chosen set that an operator with these modules is redone by;
 * RECOMPUTE_MODULE_COUNT if it is not redone. Chosen sets hold no module together
 * with one around it. */
enum recompute_module recompute_module_chosen(uint32_t of_operator, uint32_t chosen);

#endif

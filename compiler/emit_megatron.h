/* SPDX-License-Identifier: MIT
 *
 * Inside --emit megatron: the arguments being collected, and who adds which. Only
 * emit_megatron.c and megatron_*.c include this.
 */
#ifndef NEST_COMPILER_EMIT_MEGATRON_H
#define NEST_COMPILER_EMIT_MEGATRON_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/emit.h"
#include "compiler/ir.h"
#include "compiler/megatron_model.h"
#include "compiler/node_order.h"
#include "compiler/ranks.h"
#include "lang/base/text.h"
#include "solver/plan.h"

/* The flags that can be written, FLAG_TENSOR and so on. */
enum flag {
#define FLAG(enumerator, spelling, kind, minor, patch) FLAG_##enumerator,
#include "compiler/megatron_flags.def"
#undef FLAG
	FLAG_COUNT
};

struct megatron {
	const struct emit_input *input;
	const struct ir *ir;
	const struct plan *plan;
	const struct choice *choice;	/* the plan's */
	const struct problem_shape *shape;	/* the choice's */
	struct megatron_model model;
	enum rank_order order;
	enum rank_match match;
	struct node_order nodes;
	uint32_t instances;		/* of its optimizer; see megatron_shards.h */
	int minor, patch;		/* of megatron-core 0.minor.patch: newest in use */
	struct text array;		/* between the parentheses */
};

/* False, reported, when the framework cannot run the plan. */
bool megatron_check(struct megatron *megatron);

/* The arguments, in the order they are written. */
void megatron_add_parallelism(struct megatron *megatron);
void megatron_add_training(struct megatron *megatron);
void megatron_add_model(struct megatron *megatron);

/* How many positions the model has room for, as Megatron-LM is told. */
uint64_t megatron_positions(const struct megatron *megatron);

/* Notes that release 0.minor.patch or a later one is needed. */
void megatron_need(struct megatron *megatron, int minor, int patch);

/* A comment above the arguments that follow. */
void flag_heading(struct megatron *megatron, const char *heading);
/* A flag that stands alone. */
void flag_switch(struct megatron *megatron, enum flag flag);
/* A flag with one value, quoted where a shell would read it otherwise. */
void flag_text(struct megatron *megatron, enum flag flag, const char *value);
void flag_number(struct megatron *megatron, enum flag flag, double number);
/* A flag with a value that is several plain words. */
void flag_words(struct megatron *megatron, enum flag flag, const char *words);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Inside the reading of a model for Megatron-LM: operator graphs matched piece by
 * piece. Only the megatron_m*.c files include this. Every operator of a template
 * must take part in the match, so that nothing the framework would leave out passes
 * unseen.
 */
#ifndef NEST_COMPILER_MEGATRON_MATCH_H
#define NEST_COMPILER_MEGATRON_MATCH_H

#include "compiler/megatron_model.h"

/* One template being matched. */
struct match {
	struct compilation *compilation;
	const struct ir_class *class;
	bool *used;			/* operators that took part */
};

struct match match_start(struct compilation *compilation,
			 const struct ir_class *class);

/* Reports that Megatron-LM has no such model; false. Nowhere: at the layer. */
bool match_refuse(struct match *match, struct span span, const char *what);

/* The operator that makes a value, if it is of that kind; it then counts as
 * matched. NULL else. */
const struct ir_operator *match_take(struct match *match, uint32_t value,
				     enum ir_operator_kind kind);
/* Where a value comes from. */
struct span match_span(const struct match *match, uint32_t value);
uint64_t match_size(const struct match *match, const struct ir_extent *extent);

/* Steps over a dropout, noting its probability. */
uint32_t match_dropout(struct match *match, uint32_t value, double *probability);
/* A norm of `of`; false without a report when it is none. */
bool match_norm(struct match *match, uint32_t value, uint32_t *of, bool *rms);

/* The decoder block that makes a value, and the value it reads. False, reported,
 * when it is none that Megatron-LM has. */
bool match_decoder(struct match *match, uint32_t value, uint32_t *input,
		   struct megatron_block *block);

/* False, reported, when an operator took no part. */
bool match_all_used(struct match *match);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Matches a model against Megatron-LM's GPTModel: embedding, decoder blocks,
 * perhaps a layer for multi-token prediction, output layer.
 */
#include "compiler/megatron_model.h"

#include <math.h>

#include "compiler/megatron_match.h"
#include "lang/compilation.h"

static const struct ir_axis *vocabulary_axis(const struct match *match,
					     const struct ir_extent *extent)
{
	if (extent->term_count != 1 || extent->term[0].axis_count != 1 ||
	    extent->term[0].coefficient != 1)
		return NULL;
	return &match->class->axis[extent->term[0].axis[0]];
}

static bool match_embedding(struct match *match, struct megatron_model *model)
{
	double dropout;
	uint32_t value = match_dropout(match, match->class->output, &dropout);
	const struct ir_operator *embedding = match_take(match, value, IR_EMBEDDING);
	const struct ir_axis *vocabulary;

	if (!embedding)
		return match_refuse(match, match->class->span,
			      "the first layer must be an embedding");
	vocabulary = vocabulary_axis(match, &embedding->from);
	if (!vocabulary || match_size(match, &embedding->to) != model->block.hidden)
		return match_refuse(match, embedding->span,
			      "the embedding must go from the vocabulary to the width of the "
			      "blocks");
	if (dropout != model->block.hidden_dropout)
		return match_refuse(match, match->class->span,
			      "it drops embeddings with the same probability as the blocks' "
			      "outputs");
	model->vocabulary = vocabulary->size;
	model->vocabulary_pad = vocabulary->pad;
	model->positions = embedding->positions;
	return match_all_used(match);
}

static bool match_head(struct match *match, struct megatron_model *model)
{
	const struct ir_class *class = match->class;
	const struct ir_operator *loss =
		match_take(match, class->output, IR_CROSS_ENTROPY);
	const struct ir_operator *head = match_take(
		match, loss ? loss->input[0] : class->output, IR_LM_HEAD);
	const struct ir_axis *vocabulary;
	uint32_t of;
	bool rms;

	if (!head)
		return match_refuse(match, class->span,
			      "the last layer must be an output projection and its loss");
	if (!match_norm(match, head->input[0], &of, &rms) ||
	    of != class->input || rms != model->block.rmsnorm)
		return match_refuse(match, head->span,
			      "the output projection reads a norm of the kind the blocks have");
	vocabulary = vocabulary_axis(match, &head->to);
	if (!vocabulary || vocabulary->size != model->vocabulary ||
	    vocabulary->pad != model->vocabulary_pad)
		return match_refuse(match, head->span,
			      "embedding and output projection have one vocabulary, padded alike");
	if (head->bias)
		return match_refuse(match, head->span,
			      "the output projection has no bias");
	model->tied = head->tied;
	return match_all_used(match);
}

/* Equal but for dense MLP against experts. */
static bool same_block(const struct megatron_block *a,
		       const struct megatron_block *b)
{
	bool same_kind = (a->experts > 0) == (b->experts > 0);

	if (same_kind &&
	    (a->ffn != b->ffn || a->experts != b->experts ||
	     a->top_k != b->top_k || a->groups != b->groups ||
	     a->top_groups != b->top_groups || a->expert_ffn != b->expert_ffn ||
	     a->shared_ffn != b->shared_ffn ||
	     a->router_bias != b->router_bias ||
	     a->expert_bias != b->expert_bias))
		return false;
	return a->hidden == b->hidden && a->qk_norm == b->qk_norm &&
	       a->q_rank == b->q_rank && a->kv_rank == b->kv_rank &&
	       a->rope_dim == b->rope_dim && a->value_dim == b->value_dim &&
	       a->heads == b->heads && a->kv_heads == b->kv_heads &&
	       a->head_dim == b->head_dim && a->window == b->window &&
	       a->attention_dropout == b->attention_dropout &&
	       a->hidden_dropout == b->hidden_dropout &&
	       a->rmsnorm == b->rmsnorm && a->swiglu == b->swiglu &&
	       a->bias == b->bias && a->qkv_bias == b->qkv_bias &&
	       a->flash == b->flash;
}

/* Puts the dense and the expert kind of block together. */
static void join_blocks(struct megatron_block *block,
			const struct megatron_block *other)
{
	const struct megatron_block *dense = block->experts ? other : block;
	struct megatron_block joined = block->experts ? *block : *other;

	joined.ffn = dense->ffn;
	*block = joined;
}

static bool read_block(struct match *match, struct megatron_block *block)
{
	const struct ir_class *class = match->class;
	uint32_t input;

	if (class->input == IR_NONE)
		return match_refuse(match, class->span,
				    "a block reads the layer before it");
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (class->operator[i].eager)
			return match_refuse(match, class->operator[i].span,
					    "its norms are one kernel each");
	if (!match_decoder(match, class->output, &input, block))
		return false;
	if (input != class->input)
		return match_refuse(match, match_span(match, input),
				    "attention must read a norm of the layer's input");
	return match_all_used(match);
}

static struct match start_run(struct compilation *compilation,
			      const struct ir_model *model, uint32_t run)
{
	return match_start(compilation,
			   &model->class[model->run[run].class_index]);
}

static bool match_blocks(struct compilation *compilation,
			 const struct ir_model *of, struct megatron_model *model,
			 struct megatron_block *last)
{
	struct megatron_block kind[2] = { { 0 } };	/* dense, experts */
	bool seen[2] = { false };

	model->moe_run = ARENA_ARRAY(&compilation->arena, uint32_t, of->run_count);
	for (uint32_t i = 1; i < model->block_run_end; i++) {
		struct match match = start_run(compilation, of, i);
		struct megatron_block one = { 0 };
		bool moe;

		if (!read_block(&match, &one))
			return false;
		moe = one.experts > 0;
		model->moe_run[i] = moe;
		for (int j = 0; j < 2; j++)
			if (seen[j] && !same_block(&kind[j], &one))
				return match_refuse(&match, match.class->span,
					"all its blocks are alike but for experts, and this one differs from those before it");
		kind[moe] = one;
		seen[moe] = true;
		*last = one;
	}
	model->block = kind[seen[1]];
	if (seen[0] && seen[1])
		join_blocks(&model->block, &kind[0]);
	return true;
}

/* A product without bias over a norm of `of`. */
static bool take_projection(struct match *match, uint32_t value, bool rms,
			    uint32_t *of)
{
	const struct ir_operator *linear = match_take(match, value, IR_LINEAR);
	bool is_rms;

	return linear && !linear->bias &&
	       match_norm(match, linear->input[0], of, &is_rms) && is_rms == rms;
}

/* linear(norm(embedding)) + linear(norm(trunk)), in either order; in Megatron-LM
 * one product of both side by side. */
static bool match_join(struct match *match, uint32_t value,
		       const struct megatron_model *model)
{
	const struct ir_operator *sum = match_take(match, value, IR_ADD);
	const struct ir_operator *embedding = NULL;
	uint32_t of[2] = { IR_NONE, IR_NONE };

	for (uint32_t i = 0; sum && i < 2; i++)
		if (!take_projection(match, sum->input[i], model->block.rmsnorm,
				     &of[i]))
			sum = NULL;
	for (uint32_t i = 0; sum && i < 2; i++)
		if (of[1 - i] == match->class->input)
			embedding = match_take(match, of[i], IR_EMBEDDING);
	if (!embedding || !embedding->tied || embedding->positions ||
	    embedding->input[0] != match->class->tokens)
		return match_refuse(match, match_span(match, value),
				    "a prediction layer joins norms of the trunk and of the shared "
				    "embedding by products without biases");
	return true;
}

/* The layer for multi-token prediction: its loss goes beside the trunk. */
static bool match_prediction(struct match *match,
			     const struct megatron_model *model,
			     const struct megatron_block *last)
{
	const struct ir_class *class = match->class;
	const struct ir_operator *beside =
		match_take(match, class->output, IR_AUXILIARY_LOSS);
	const struct ir_operator *loss = !beside ? NULL :
		match_take(match, beside->input[1], IR_CROSS_ENTROPY);
	const struct ir_operator *head = !loss ? NULL :
		match_take(match, loss->input[0], IR_LM_HEAD);
	struct megatron_block block = { 0 };
	uint32_t value, input;
	bool rms;

	if (!head || !head->tied || head->bias ||
	    beside->input[0] != class->input ||
	    !match_norm(match, head->input[0], &value, &rms) ||
	    rms != model->block.rmsnorm)
		return match_refuse(match, class->span,
				    "a prediction layer ends in a norm and the shared output "
				    "projection, and passes the trunk on");
	if (!match_decoder(match, value, &input, &block) ||
	    !match_join(match, input, model))
		return false;
	if (!same_block(&block, last) ||
	    (block.experts > 0) != (last->experts > 0))
		return match_refuse(match, class->span,
				    "its block is as the last one of the model");
	if (model->positions)
		return match_refuse(match, class->span,
				    "it goes with rotary positions only");
	return match_all_used(match);
}

/* Which runs are blocks, and which the layers at the ends. */
static bool find_runs(struct compilation *compilation, const struct ir_model *of,
		      struct megatron_model *model)
{
	struct match first = start_run(compilation, of, 0);
	uint32_t end = of->run_count;
	const struct ir_run *before = end > 1 ? &of->run[end - 2] : NULL;

	if (end < 3 || of->run[0].count != 1 || of->run[end - 1].count != 1)
		return match_refuse(&first, of->span,
				    "a model is an embedding, decoder blocks and an output layer");
	model->block_run_end = end - 1;
	if (!ir_find_operator(&of->class[before->class_index], IR_AUXILIARY_LOSS))
		return true;
	if (end < 4 || before->count != 1)
		return match_refuse(&first, of->span,
				    "one layer for multi-token prediction goes behind the blocks: "
				    "of several each reads the one before it there");
	model->prediction = 1;
	model->block_run_end = end - 2;
	return true;
}

bool megatron_model_read(struct compilation *compilation, const struct ir *ir,
			 struct megatron_model *model)
{
	const struct ir_model *of = &ir->model;
	struct megatron_block last_block = { 0 };
	struct match first, last, prediction;

	*model = (struct megatron_model){ 0 };
	if (!find_runs(compilation, of, model))
		return false;
	first = start_run(compilation, of, 0);
	last = start_run(compilation, of, of->run_count - 1);
	prediction = start_run(compilation, of, of->run_count - 2);
	if (!match_blocks(compilation, of, model, &last_block) ||
	    !match_embedding(&first, model) || !match_head(&last, model))
		return false;
	if (model->prediction &&
	    !match_prediction(&prediction, model, &last_block))
		return false;
	if (model->positions && of->facts.rotary_base > 0)
		return match_refuse(&first, of->span,
				    "positions are learned or rotary, not both");
	if (of->facts.rotary_base != floor(of->facts.rotary_base))
		return match_refuse(&first, of->span,
				    "the base of rotary positions is a whole number");
	return true;
}

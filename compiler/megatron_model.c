/* SPDX-License-Identifier: MIT
 *
 * Matches operator graphs against the layers of Megatron-LM's GPTModel. Every
 * operator of a template must take part in the match, so that nothing the
 * framework would leave out passes unseen.
 */
#include "compiler/megatron_model.h"

#include <math.h>
#include <string.h>

#include "lang/compilation.h"

/* One template being matched. */
struct match {
	struct compilation *compilation;
	const struct ir_class *class;
	bool *used;			/* operators that took part */
};

static bool refuse(struct match *match, struct span span, const char *what)
{
	struct diags *diags = &match->compilation->diags;

	if (span_is_nowhere(span))
		span = match->class->span;
	diag_error(diags, E_TARGET_MODEL, span,
		   "megatron cannot build '%s': %s", match->class->name, what);
	diag_help(diags, "megatron builds pre-norm decoders: attention, then an MLP with gelu or gated silu; for any other, leave out 'target = megatron' and emit the manifest");
	return false;
}

/* The operator that makes a value, if it is of that kind; it then counts as
 * matched. */
static const struct ir_operator *take(struct match *match, uint32_t value,
				      enum ir_operator_kind kind)
{
	uint32_t producer = match->class->value[value].producer;

	if (producer == IR_NONE ||
	    match->class->operator[producer].kind != kind)
		return NULL;
	match->used[producer] = true;
	return &match->class->operator[producer];
}

static struct span span_of(const struct match *match, uint32_t value)
{
	uint32_t producer = match->class->value[value].producer;

	return producer == IR_NONE ? match->class->value[value].span :
				     match->class->operator[producer].span;
}

static uint64_t size(const struct match *match, const struct ir_extent *extent)
{
	return ir_extent_size(match->class, extent);
}

/* Steps over a dropout, noting its probability. */
static uint32_t peel_dropout(struct match *match, uint32_t value,
			     double *probability)
{
	const struct ir_operator *dropout = take(match, value, IR_DROPOUT);

	*probability = dropout ? dropout->dropout : 0;
	return dropout ? dropout->input[0] : value;
}

/* A norm of `of`; false without a report when it is none. */
static bool take_norm(struct match *match, uint32_t value, uint32_t *of,
		      bool *rms)
{
	const struct ir_operator *norm = take(match, value, IR_RMSNORM);

	*rms = norm != NULL;
	if (!norm)
		norm = take(match, value, IR_LAYERNORM);
	if (!norm || (!*rms && !norm->bias))
		return false;
	*of = norm->input[0];
	return true;
}

/* residual + branch, in either order: the branch is the side that a linear
 * (and perhaps a dropout) ends. */
static bool take_residual(struct match *match, uint32_t value,
			  uint32_t *residual, const struct ir_operator **linear,
			  double *dropout)
{
	const struct ir_operator *sum = take(match, value, IR_ADD);

	if (!sum)
		return refuse(match, span_of(match, value),
			      "a residual sum is expected here");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t branch =
			peel_dropout(match, sum->input[i], dropout);

		*linear = take(match, branch, IR_LINEAR);
		*residual = sum->input[1 - i];
		if (*linear)
			return true;
	}
	return refuse(match, sum->span, "one side of this sum must end in a linear");
}

struct linears {
	uint32_t input;			/* the norm's output they all read */
	uint32_t with_bias, count;
};

static const struct ir_operator *take_linear(struct match *match,
					     uint32_t value,
					     struct linears *linears)
{
	const struct ir_operator *linear = take(match, value, IR_LINEAR);

	if (!linear)
		return NULL;
	if (linears->count && linear->input[0] != linears->input)
		return NULL;
	linears->input = linear->input[0];
	linears->count++;
	linears->with_bias += linear->bias;
	return linear;
}

/* silu(gate) * up, in either order. */
static const struct ir_operator *take_gated(struct match *match, uint32_t value,
					    struct linears *linears)
{
	const struct ir_operator *product = take(match, value, IR_MULTIPLY);

	for (uint32_t i = 0; product && i < 2; i++) {
		const struct ir_operator *silu =
			take(match, product->input[i], IR_SILU);
		const struct ir_operator *gate, *up;

		if (!silu)
			continue;
		gate = take_linear(match, silu->input[0], linears);
		up = take_linear(match, product->input[1 - i], linears);
		if (gate && up &&
		    size(match, &gate->to) == size(match, &up->to))
			return up;
	}
	return NULL;
}

static bool match_mlp(struct match *match, const struct ir_operator *down,
		      struct megatron_block *block, struct linears *linears)
{
	uint32_t value = down->input[0];
	const struct ir_operator *gelu = take(match, value, IR_GELU);
	const struct ir_operator *up;

	block->swiglu = gelu == NULL;
	up = gelu ? take_linear(match, gelu->input[0], linears) :
		    take_gated(match, value, linears);
	if (!up)
		return refuse(match, span_of(match, value),
			      "the MLP must be a gelu of a linear or a silu-gated product of two");
	block->hidden = size(match, &up->from);
	block->ffn = size(match, &up->to);
	if (size(match, &down->from) != block->ffn)
		return refuse(match, down->span,
			      "the MLP's second linear must read what the first gives");
	linears->count++;
	linears->with_bias += down->bias;
	return true;
}

static bool match_attention(struct match *match, const struct ir_operator *out,
			    struct megatron_block *block,
			    struct linears *linears)
{
	const struct ir_operator *attention =
		take(match, out->input[0], IR_ATTENTION);
	const struct ir_axis *axis = match->class->axis;

	if (!attention)
		return refuse(match, span_of(match, out->input[0]),
			      "an attention is expected before this linear");
	if (!attention->causal)
		return refuse(match, attention->span,
			      "its attention is causal always");
	for (uint32_t i = 0; i < 3; i++)
		if (!take_linear(match, attention->input[i], linears))
			return refuse(match, span_of(match, attention->input[i]),
				      "attention must read three linears of one norm");
	block->heads = axis[attention->heads_axis].size;
	block->kv_heads = axis[attention->kv_heads_axis].size;
	block->head_dim = axis[attention->head_axis].size;
	block->window = attention->window;
	block->flash = attention->flash;
	block->attention_dropout = attention->dropout;
	return true;
}

static bool match_biases(struct match *match, struct megatron_block *block,
			 const struct linears *attention,
			 const struct linears *mlp, bool out_bias)
{
	uint32_t others = mlp->with_bias + out_bias;

	if (attention->with_bias == 0 && others == 0)
		return true;
	block->qkv_bias = attention->with_bias == 3 && others == 0;
	block->bias = attention->with_bias == 3 && others == mlp->count + 1;
	return block->qkv_bias || block->bias ||
	       refuse(match, match->class->span,
		      "its linears have biases all, only before attention, or none");
}

static bool all_used(struct match *match)
{
	for (uint32_t i = 0; i < match->class->operator_count; i++)
		if (!match->used[i])
			return refuse(match, match->class->operator[i].span,
				      "it has nothing like this operator there");
	return true;
}

static bool match_block(struct match *match, struct megatron_block *block)
{
	const struct ir_class *class = match->class;
	const struct ir_operator *down, *out;
	struct linears mlp = { 0 }, attention = { 0 };
	uint32_t middle, input, norm_of;
	double attention_drop, mlp_drop;
	bool rms;

	if (class->input == IR_NONE)
		return refuse(match, class->span, "a block reads the layer before it");
	if (!take_residual(match, class->output, &middle, &down, &mlp_drop) ||
	    !match_mlp(match, down, block, &mlp))
		return false;
	if (!take_norm(match, mlp.input, &norm_of, &block->rmsnorm) ||
	    norm_of != middle)
		return refuse(match, span_of(match, mlp.input),
			      "the MLP must read a norm of what is added to it");
	if (!take_residual(match, middle, &input, &out, &attention_drop) ||
	    !match_attention(match, out, block, &attention))
		return false;
	if (!take_norm(match, attention.input, &norm_of, &rms) ||
	    norm_of != input || input != class->input ||
	    rms != block->rmsnorm)
		return refuse(match, span_of(match, attention.input),
			      "attention must read a norm of the layer's input, of the same kind as the MLP's");
	if (attention_drop != mlp_drop)
		return refuse(match, class->span,
			      "both its dropouts have one probability");
	block->hidden_dropout = mlp_drop;
	return match_biases(match, block, &attention, &mlp, out->bias) &&
	       all_used(match);
}

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
	uint32_t value = peel_dropout(match, match->class->output, &dropout);
	const struct ir_operator *embedding = take(match, value, IR_EMBEDDING);
	const struct ir_axis *vocabulary;

	if (!embedding)
		return refuse(match, match->class->span,
			      "the first layer must be an embedding");
	vocabulary = vocabulary_axis(match, &embedding->from);
	if (!vocabulary || size(match, &embedding->to) != model->block.hidden)
		return refuse(match, embedding->span,
			      "the embedding must go from the vocabulary to the width of the blocks");
	if (dropout != model->block.hidden_dropout)
		return refuse(match, match->class->span,
			      "it drops embeddings with the same probability as the blocks' outputs");
	model->vocabulary = vocabulary->size;
	model->vocabulary_pad = vocabulary->pad;
	model->positions = embedding->positions;
	return all_used(match);
}

static bool match_head(struct match *match, struct megatron_model *model)
{
	const struct ir_class *class = match->class;
	const struct ir_operator *loss =
		take(match, class->output, IR_CROSS_ENTROPY);
	const struct ir_operator *head = take(
		match, loss ? loss->input[0] : class->output, IR_LM_HEAD);
	const struct ir_axis *vocabulary;
	uint32_t of;
	bool rms;

	if (!head)
		return refuse(match, class->span,
			      "the last layer must be an output projection and its loss");
	if (!take_norm(match, head->input[0], &of, &rms) ||
	    of != class->input || rms != model->block.rmsnorm)
		return refuse(match, head->span,
			      "the output projection reads a norm of the kind the blocks have");
	vocabulary = vocabulary_axis(match, &head->to);
	if (!vocabulary || vocabulary->size != model->vocabulary ||
	    vocabulary->pad != model->vocabulary_pad)
		return refuse(match, head->span,
			      "embedding and output projection have one vocabulary, padded alike");
	if (head->bias)
		return refuse(match, head->span,
			      "the output projection has no bias");
	model->tied = head->tied;
	return all_used(match);
}

static struct match start(struct compilation *compilation, const struct ir *ir,
			  const struct ir_run *run)
{
	struct match match = { .compilation = compilation,
			       .class = &ir->model.class[run->class_index] };

	match.used = ARENA_ARRAY(&compilation->arena, bool,
				 match.class->operator_count);
	return match;
}

static bool same_block(const struct megatron_block *a,
		       const struct megatron_block *b)
{
	return a->hidden == b->hidden && a->ffn == b->ffn &&
	       a->heads == b->heads && a->kv_heads == b->kv_heads &&
	       a->head_dim == b->head_dim && a->window == b->window &&
	       a->attention_dropout == b->attention_dropout &&
	       a->hidden_dropout == b->hidden_dropout &&
	       a->rmsnorm == b->rmsnorm && a->swiglu == b->swiglu &&
	       a->bias == b->bias && a->qkv_bias == b->qkv_bias &&
	       a->flash == b->flash;
}

static bool match_blocks(struct compilation *compilation, const struct ir *ir,
			 struct megatron_block *block)
{
	for (uint32_t i = 1; i + 1 < ir->model.run_count; i++) {
		struct match match =
			start(compilation, ir, &ir->model.run[i]);
		struct megatron_block one = { 0 };

		if (!match_block(&match, &one))
			return false;
		if (i > 1 && !same_block(block, &one))
			return refuse(&match, match.class->span,
				      "all its blocks are alike, and this one differs from those before it");
		*block = one;
	}
	return true;
}

bool megatron_model_read(struct compilation *compilation, const struct ir *ir,
			 struct megatron_model *model)
{
	const struct ir_model *of = &ir->model;
	struct match first, last;

	*model = (struct megatron_model){ 0 };
	first = start(compilation, ir, &of->run[0]);
	last = start(compilation, ir, &of->run[of->run_count - 1]);
	if (of->run_count < 3 || of->run[0].count != 1 ||
	    of->run[of->run_count - 1].count != 1)
		return refuse(&first, of->span,
			      "a model is an embedding, decoder blocks and an output layer");
	if (!match_blocks(compilation, ir, &model->block) ||
	    !match_embedding(&first, model) || !match_head(&last, model))
		return false;
	if (model->positions && of->facts.rotary_base > 0)
		return refuse(&first, of->span,
			      "positions are learned or rotary, not both");
	if (of->facts.rotary_base != floor(of->facts.rotary_base))
		return refuse(&first, of->span,
			      "the base of rotary positions is a whole number");
	return true;
}

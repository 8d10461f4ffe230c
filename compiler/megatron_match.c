/* SPDX-License-Identifier: MIT
 *
 * Matches operator graphs against the decoder layer of Megatron-LM's GPTModel.
 */
#include "compiler/megatron_match.h"

#include "lang/compilation.h"

struct match match_start(struct compilation *compilation,
			 const struct ir_class *class)
{
	struct match match = { .compilation = compilation, .class = class };

	match.used = ARENA_ARRAY(&compilation->arena, bool,
				 class->operator_count);
	return match;
}

bool match_refuse(struct match *match, struct span span, const char *what)
{
	struct diags *diags = &match->compilation->diags;

	if (span_is_nowhere(span))
		span = match->class->span;
	diag_error(diags, E_TARGET_MODEL, span,
		   "megatron cannot build '%s': %s", match->class->name, what);
	diag_help(diags, "megatron builds pre-norm decoders: attention, then an MLP with gelu or "
			 "gated silu; for any other, leave out 'target = megatron' and emit the "
			 "manifest");
	return false;
}

/* match_take without counting the operator as matched. */
static const struct ir_operator *peek(const struct match *match, uint32_t value,
				      enum ir_operator_kind kind)
{
	uint32_t producer = match->class->value[value].producer;

	if (producer == IR_NONE ||
	    match->class->operator[producer].kind != kind)
		return NULL;
	return &match->class->operator[producer];
}

const struct ir_operator *match_take(struct match *match, uint32_t value,
				      enum ir_operator_kind kind)
{
	const struct ir_operator *operator = peek(match, value, kind);

	if (operator)
		match->used[operator - match->class->operator] = true;
	return operator;
}

struct span match_span(const struct match *match, uint32_t value)
{
	uint32_t producer = match->class->value[value].producer;

	return producer == IR_NONE ? match->class->value[value].span :
				     match->class->operator[producer].span;
}

uint64_t match_size(const struct match *match, const struct ir_extent *extent)
{
	return ir_extent_size(match->class, extent);
}

/* Steps over a dropout, noting its probability. */
uint32_t match_dropout(struct match *match, uint32_t value,
			     double *probability)
{
	const struct ir_operator *dropout = match_take(match, value, IR_DROPOUT);

	*probability = dropout ? dropout->dropout : 0;
	return dropout ? dropout->input[0] : value;
}

/* A norm of `of`; false without a report when it is none. */
bool match_norm(struct match *match, uint32_t value, uint32_t *of,
		      bool *rms)
{
	const struct ir_operator *norm = match_take(match, value, IR_RMSNORM);

	*rms = norm != NULL;
	if (!norm)
		norm = match_take(match, value, IR_LAYERNORM);
	if (!norm || (!*rms && !norm->bias) || norm->from.term_count)
		return false;
	*of = norm->input[0];
	return true;
}

/* What is added to a residual: a linear (perhaps behind a dropout), or experts,
 * perhaps with a linear beside them. */
struct branch {
	const struct ir_operator *linear, *combine;
};

static bool find_branch(struct match *match, uint32_t value,
			struct branch *branch)
{
	const struct ir_operator *sum;

	branch->linear = branch->combine = NULL;
	branch->combine = match_take(match, value, IR_COMBINE);
	if (branch->combine)
		return true;
	branch->linear = match_take(match, value, IR_LINEAR);
	if (branch->linear)
		return true;
	sum = peek(match, value, IR_ADD);
	for (uint32_t i = 0; sum && i < 2; i++) {
		if (!peek(match, sum->input[i], IR_COMBINE) ||
		    !peek(match, sum->input[1 - i], IR_LINEAR))
			continue;
		match_take(match, value, IR_ADD);
		branch->combine = match_take(match, sum->input[i], IR_COMBINE);
		branch->linear = match_take(match, sum->input[1 - i], IR_LINEAR);
		return true;
	}
	return false;
}

/* residual + branch, in either order. */
static bool take_residual(struct match *match, uint32_t value,
			  uint32_t *residual, struct branch *branch,
			  double *dropout)
{
	const struct ir_operator *sum = match_take(match, value, IR_ADD);

	if (!sum)
		return match_refuse(match, match_span(match, value),
			      "a residual sum is expected here");
	for (uint32_t i = 0; i < 2; i++) {
		*residual = sum->input[1 - i];
		if (find_branch(match,
				match_dropout(match, sum->input[i], dropout),
				branch))
			return true;
	}
	return match_refuse(match, sum->span,
		      "one side of this sum must end in a linear or in experts");
}

struct linears {
	uint32_t input;			/* the norm's output they all read */
	uint32_t with_bias, count;
};

static const struct ir_operator *take_linear(struct match *match,
					     uint32_t value,
					     struct linears *linears)
{
	const struct ir_operator *linear = match_take(match, value, IR_LINEAR);

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
	const struct ir_operator *product = match_take(match, value, IR_MULTIPLY);

	for (uint32_t i = 0; product && i < 2; i++) {
		const struct ir_operator *silu =
			match_take(match, product->input[i], IR_SILU);
		const struct ir_operator *gate, *up;

		if (!silu)
			continue;
		gate = take_linear(match, silu->input[0], linears);
		up = take_linear(match, product->input[1 - i], linears);
		if (gate && up &&
		    match_size(match, &gate->to) == match_size(match, &up->to))
			return up;
	}
	return NULL;
}

/* The MLP that `down` ends; linears->input is what it reads. */
static bool match_mlp(struct match *match, const struct ir_operator *down,
		      struct megatron_block *block, uint64_t *ffn,
		      struct linears *linears)
{
	uint32_t value = down->input[0];
	const struct ir_operator *gelu = match_take(match, value, IR_GELU);
	const struct ir_operator *up;

	block->swiglu = gelu == NULL;
	up = gelu ? take_linear(match, gelu->input[0], linears) :
		    take_gated(match, value, linears);
	if (!up)
		return match_refuse(match, match_span(match, value),
			      "the MLP must be a gelu of a linear or a silu-gated product of two");
	block->hidden = match_size(match, &up->from);
	*ffn = match_size(match, &up->to);
	if (match_size(match, &down->from) != *ffn)
		return match_refuse(match, down->span,
			      "the MLP's second linear must read what the first gives");
	linears->count++;
	linears->with_bias += down->bias;
	return true;
}

/* Experts, and perhaps an MLP beside them; linears->input is what they read. */
static bool match_experts(struct match *match, const struct branch *branch,
			  struct megatron_block *block, struct linears *linears)
{
	const struct ir_operator *combine = branch->combine;
	const struct ir_operator *router =
		match_take(match, combine->input[1], IR_ROUTER);
	const struct ir_operator *down =
		match_take(match, combine->input[0], IR_LINEAR);
	const struct ir_operator *dispatch;
	struct linears inside = { 0 }, beside = { 0 };

	if (!router || !down)
		return match_refuse(match, combine->span, "each expert must be an MLP");
	if (!match_mlp(match, down, block, &block->expert_ffn, &inside))
		return false;
	dispatch = match_take(match, inside.input, IR_DISPATCH);
	if (!dispatch || dispatch->input[0] != router->input[0])
		return match_refuse(match, combine->span,
			      "experts and their router read one value");
	linears->input = router->input[0];
	block->experts = match_size(match, &router->to);
	block->top_k = router->top_k;
	block->groups = router->groups;
	block->top_groups = router->top_groups;
	block->router_bias = router->bias;
	block->expert_bias = inside.with_bias > 0;
	if (inside.with_bias && inside.with_bias != inside.count)
		return match_refuse(match, combine->span,
			      "the products of an expert have biases all or none");
	linears->count = inside.count;
	linears->with_bias = inside.with_bias;
	if (!branch->linear)
		return true;
	if (!match_mlp(match, branch->linear, block, &block->shared_ffn, &beside))
		return false;
	if (beside.input != linears->input || beside.with_bias != inside.with_bias)
		return match_refuse(match, branch->linear->span,
			      "a shared expert reads what the others do, and has biases where they have");
	return true;
}

/* A linear of a head's norm, or of the value itself. */
static const struct ir_operator *take_head_linear(struct match *match,
						  uint32_t value, bool *norm,
						  struct linears *linears)
{
	const struct ir_operator *over = peek(match, value, IR_RMSNORM);

	*norm = over && over->from.term_count;
	if (*norm) {
		match_take(match, value, IR_RMSNORM);
		value = over->input[0];
	}
	return take_linear(match, value, linears);
}

/* linear(rmsnorm(linear(n, hidden -> rank)), ..): the width of the latent, 0 when
 * it is no such thing. */
static uint64_t take_latent(struct match *match, uint32_t value,
			    uint32_t *latent, struct linears *linears)
{
	const struct ir_operator *up = match_take(match, value, IR_LINEAR);
	const struct ir_operator *down;
	bool rms;

	if (!up || up->bias || !match_norm(match, up->input[0], latent, &rms) ||
	    !rms)
		return 0;
	/* Keys and values come from one latent. */
	*latent = up->input[0];
	down = peek(match, match->class->operator[
			match->class->value[*latent].producer].input[0],
		    IR_LINEAR);
	if (!down)
		return 0;
	if (!match->used[down - match->class->operator] &&
	    !take_linear(match, down->output, linears))
		return 0;
	return match_size(match, &down->to);
}

static bool match_latent(struct match *match,
			 const struct ir_operator *attention,
			 struct megatron_block *block, struct linears *linears)
{
	uint32_t query, key, value;
	const struct ir_operator *shared;

	block->q_rank = take_latent(match, attention->input[0], &query, linears);
	block->kv_rank = take_latent(match, attention->input[1], &key, linears);
	shared = take_linear(match, attention->input[3], linears);
	if (!block->q_rank || !block->kv_rank || !shared ||
	    take_latent(match, attention->input[2], &value, linears) !=
		    block->kv_rank || key != value)
		return match_refuse(match, attention->span,
			      "latent attention reads queries of one normalised latent, keys and values of another, and a shared key");
	block->rope_dim = match_size(match, &shared->to);
	block->value_dim = attention->value_size;
	return true;
}

static bool match_heads(struct match *match, const struct ir_operator *attention,
			struct megatron_block *block, struct linears *linears)
{
	bool norm[3];

	for (uint32_t i = 0; i < 3; i++)
		if (!take_head_linear(match, attention->input[i], &norm[i],
				      linears))
			return match_refuse(match, match_span(match, attention->input[i]),
				      "attention must read three linears of one norm");
	block->qk_norm = norm[0];
	if (norm[0] != norm[1] || norm[2])
		return match_refuse(match, attention->span,
			      "heads of queries and keys are normalised, or none");
	if (attention->value_size != attention->head_size)
		return match_refuse(match, attention->span,
			      "heads of keys and values are of one size");
	return true;
}

static bool match_attention(struct match *match, const struct branch *branch,
			    struct megatron_block *block,
			    struct linears *linears)
{
	const struct ir_operator *out = branch->linear, *attention = NULL;
	const struct ir_axis *axis = match->class->axis;

	if (out && !branch->combine)
		attention = match_take(match, out->input[0], IR_ATTENTION);
	if (!attention)
		return match_refuse(match, out ? match_span(match, out->input[0]) :
					   branch->combine->span,
			      "an attention is expected before this linear");
	if (!attention->causal)
		return match_refuse(match, attention->span,
			      "its attention is causal always");
	block->heads = axis[attention->heads_axis].size;
	block->kv_heads = axis[attention->kv_heads_axis].size;
	block->head_dim = attention->head_size;
	block->window = attention->window;
	block->flash = attention->flash;
	block->attention_dropout = attention->dropout;
	return attention->input_count > 3 ?
		       match_latent(match, attention, block, linears) :
		       match_heads(match, attention, block, linears);
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
	       match_refuse(match, match->class->span,
		      "its linears have biases all, only before attention, or none");
}

bool match_all_used(struct match *match)
{
	for (uint32_t i = 0; i < match->class->operator_count; i++)
		if (!match->used[i])
			return match_refuse(match, match->class->operator[i].span,
				      "it has nothing like this operator there");
	return true;
}

bool match_decoder(struct match *match, uint32_t value, uint32_t *input,
		   struct megatron_block *block)
{
	struct branch mlp_branch, branch;
	struct linears mlp = { 0 }, attention = { 0 };
	uint32_t middle, norm_of;
	double attention_drop, mlp_drop;
	bool rms;

	if (!take_residual(match, value, &middle, &mlp_branch, &mlp_drop) ||
	    !(mlp_branch.combine ?
		      match_experts(match, &mlp_branch, block, &mlp) :
		      match_mlp(match, mlp_branch.linear, block, &block->ffn,
				&mlp)))
		return false;
	if (!match_norm(match, mlp.input, &norm_of, &block->rmsnorm) ||
	    norm_of != middle)
		return match_refuse(match, match_span(match, mlp.input),
			      "the MLP must read a norm of what is added to it");
	if (!take_residual(match, middle, input, &branch, &attention_drop) ||
	    !match_attention(match, &branch, block, &attention))
		return false;
	if (!match_norm(match, attention.input, &norm_of, &rms) ||
	    norm_of != *input || rms != block->rmsnorm)
		return match_refuse(match, match_span(match, attention.input),
			      "attention must read a norm of the layer's input, of the same kind "
			      "as the MLP's");
	if (attention_drop != mlp_drop)
		return match_refuse(match, match->class->span,
			      "both its dropouts have one probability");
	block->hidden_dropout = mlp_drop;
	return match_biases(match, block, &attention, &mlp, branch.linear->bias);
}

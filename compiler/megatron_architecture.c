/* SPDX-License-Identifier: MIT
 *
 * Arguments of Megatron-LM that build the model.
 */
#include "compiler/emit_megatron.h"

#include <stdio.h>

#include "lang/compilation.h"

/* "([0]*3+[1]*58)": which blocks have experts. */
static void add_moe_layers(struct megatron *megatron)
{
	const struct ir_model *model = &megatron->ir->model;
	const char *plus = "";
	bool dense = false;
	struct text text;

	text_init(&text, &megatron->input->compilation->arena);
	text_append_char(&text, '(');
	for (uint32_t i = 1; i < megatron->model.block_run_end; i++) {
		text_printf(&text, "%s[%u]*%u", plus, megatron->model.moe_run[i],
			    model->run[i].count);
		plus = "+";
		dense |= !megatron->model.moe_run[i];
	}
	text_append_char(&text, ')');
	if (dense)
		flag_text(megatron, FLAG_MOE_LAYERS, text.at);
}

static void add_experts(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;

	if (!block->experts)
		return;
	flag_number(megatron, FLAG_EXPERTS, (double)block->experts);
	add_moe_layers(megatron);
	flag_number(megatron, FLAG_EXPERT_FFN, (double)block->expert_ffn);
	if (block->shared_ffn)
		flag_number(megatron, FLAG_SHARED_FFN, (double)block->shared_ffn);
	flag_number(megatron, FLAG_TOP_K, (double)block->top_k);
	if (block->router_bias) {
		flag_text(megatron, FLAG_SCORES, "sigmoid");
		flag_switch(megatron, FLAG_ROUTER_BIAS);
	} else if (block->top_k == 1) {
		flag_switch(megatron, FLAG_PRE_SOFTMAX);
	}
	if (block->groups > 1) {
		flag_number(megatron, FLAG_GROUPS, (double)block->groups);
		flag_number(megatron, FLAG_TOP_GROUPS, (double)block->top_groups);
	}
	/* What the exchange and the products are priced as. */
	if (megatron->ir->job.dispatcher == IR_DISPATCHER_DEEPEP) {
		flag_text(megatron, FLAG_DISPATCHER, "flex");
		flag_switch(megatron, FLAG_DEEPEP);
	} else {
		flag_text(megatron, FLAG_DISPATCHER, "alltoall");
	}
	if (megatron->ir->job.overlap_experts && megatron->shape->expert > 1)
		flag_switch(megatron, FLAG_OVERLAP_EXPERTS);
	flag_switch(megatron, FLAG_GROUPED_GEMM);
}

/* Latent attention normalises both latents. */
static void add_latent(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;

	flag_switch(megatron, FLAG_LATENT);
	flag_number(megatron, FLAG_Q_RANK, (double)block->q_rank);
	flag_number(megatron, FLAG_KV_RANK, (double)block->kv_rank);
	flag_number(megatron, FLAG_QK_DIM,
		    (double)(block->head_dim - block->rope_dim));
	flag_number(megatron, FLAG_ROPE_DIM, (double)block->rope_dim);
	flag_number(megatron, FLAG_VALUE_DIM, (double)block->value_dim);
}

static void add_attention(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;

	flag_number(megatron, FLAG_HEADS, (double)block->heads);
	if (block->qk_norm || block->kv_rank)
		flag_switch(megatron, FLAG_QK_NORM);
	if (block->kv_rank)
		add_latent(megatron);
	if (block->kv_heads != block->heads) {
		/* Without the switch the number is ignored in silence. */
		flag_switch(megatron, FLAG_GROUPED);
		flag_number(megatron, FLAG_KV_HEADS, (double)block->kv_heads);
		/* Copied key and value heads. */
		if (block->kv_heads % megatron->shape->tensor != 0)
			megatron_need(megatron, 16, 1);
	}
	if (!block->kv_rank)
		flag_number(megatron, FLAG_HEAD_DIM, (double)block->head_dim);
	if (block->window) {
		char window[48];

		/* Tokens looked back at, besides the token itself. */
		snprintf(window, sizeof(window), "(%llu,0)",
			 (unsigned long long)block->window - 1);
		flag_text(megatron, FLAG_WINDOW, window);
	}
	if (!block->flash)
		flag_text(megatron, FLAG_BACKEND, "unfused");
}

uint64_t megatron_positions(const struct megatron *megatron)
{
	uint64_t positions = megatron->model.positions;

	if (!positions)
		positions = megatron->ir->model.facts.max_positions;
	return positions ? positions : megatron->ir->model.sequence_length;
}

static void add_positions(struct megatron *megatron)
{
	double rotary_base = megatron->ir->model.facts.rotary_base;

	flag_number(megatron, FLAG_SEQUENCE_LENGTH,
		    (double)megatron->ir->model.sequence_length);
	flag_number(megatron, FLAG_POSITIONS, (double)megatron_positions(megatron));
	flag_text(megatron, FLAG_POSITION_KIND,
		  megatron->model.positions ? "learned_absolute" :
		  rotary_base > 0	   ? "rope" :
					      "none");
	if (rotary_base > 0)
		flag_number(megatron, FLAG_ROTARY_BASE, rotary_base);
}

void megatron_add_model(struct megatron *megatron)
{
	const struct megatron_model *model = &megatron->model;
	const struct megatron_block *block = &model->block;

	flag_heading(megatron, "model");
	flag_number(megatron, FLAG_LAYERS, megatron->ir->model.layer_count);
	if (model->prediction)
		flag_number(megatron, FLAG_PREDICTION, model->prediction);
	/* Tokens are shifted over the context since then. */
	if (model->prediction && megatron->shape->context > 1)
		megatron_need(megatron, 14, 0);
	flag_number(megatron, FLAG_HIDDEN, (double)block->hidden);
	flag_number(megatron, FLAG_FFN,
		    (double)(block->ffn ? block->ffn : block->expert_ffn));
	add_experts(megatron);
	add_attention(megatron);
	add_positions(megatron);
	flag_text(megatron, FLAG_NORM, block->rmsnorm ? "RMSNorm" : "LayerNorm");
	flag_number(megatron, FLAG_EPSILON,
		    megatron->ir->model.facts.norm_epsilon);
	if (block->swiglu)
		flag_switch(megatron, FLAG_SWIGLU);
	if (!block->bias)
		flag_switch(megatron, FLAG_NO_BIAS);
	if (block->qkv_bias)
		flag_switch(megatron, FLAG_QKV_BIAS);
	flag_number(megatron, FLAG_ATTENTION_DROPOUT, block->attention_dropout);
	flag_number(megatron, FLAG_HIDDEN_DROPOUT, block->hidden_dropout);
	if (!model->tied)
		flag_switch(megatron, FLAG_UNTIED);
	flag_number(megatron, FLAG_VOCABULARY, (double)model->vocabulary);
	flag_number(megatron, FLAG_VOCABULARY_PAD,
		    model->vocabulary_pad ? model->vocabulary_pad : 1);
}

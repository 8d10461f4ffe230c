/* SPDX-License-Identifier: MIT
 *
 * Arguments of Megatron-LM that divide the model over devices, and its layers among
 * the stages of the pipeline.
 */
#include "compiler/emit_megatron.h"

#include "lang/compilation.h"

/* Whether the layer for multi-token prediction, before the head, is in a chunk. */
static bool has_prediction(const struct megatron *megatron, uint32_t chunk)
{
	const uint32_t *first = megatron->plan->chunk_first;
	uint32_t layer = first[megatron->plan->chunk_count] - 2;

	return megatron->model.prediction && first[chunk] <= layer &&
	       layer < first[chunk + 1];
}

/* Blocks, and nothing else, of a chunk. */
static uint32_t chunk_blocks(const struct megatron *megatron, uint32_t chunk)
{
	const uint32_t *first = megatron->plan->chunk_first;
	uint32_t blocks = first[chunk + 1] - first[chunk];

	/* The chain is embedding, blocks, perhaps a prediction layer, head:
	 * megatron_model_read saw to it. */
	if (chunk == 0)
		blocks--;
	if (has_prediction(megatron, chunk))
		blocks--;
	if (chunk + 1 == megatron->plan->chunk_count)
		blocks--;
	return blocks;
}

/* Equally many blocks in each chunk, and the prediction layer beside the head: what
 * the program does without being told. */
static bool is_even(const struct megatron *megatron)
{
	if (megatron->model.prediction &&
	    !has_prediction(megatron, megatron->plan->chunk_count - 1))
		return false;
	for (uint32_t i = 1; i < megatron->plan->chunk_count; i++)
		if (chunk_blocks(megatron, i) != chunk_blocks(megatron, 0))
			return false;
	return true;
}

/* "Et*7|t*8|t*8|t*9L": stages in the order of execution. */
static const char *stage_layout(struct megatron *megatron)
{
	uint32_t count = megatron->plan->chunk_count;
	struct text text;

	text_init(&text, &megatron->input->compilation->arena);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t blocks = chunk_blocks(megatron, i);

		text_append(&text, i ? "|" : "E");
		if (blocks > 1)
			text_printf(&text, "t*%u", blocks);
		else if (blocks == 1)
			text_append_char(&text, 't');
		if (has_prediction(megatron, i)) {
			text_append_char(&text, 'm');
			/* Releases before 0.16 want it beside the head. */
			megatron_need(megatron, i + 1 == count ? 14 : 16,
				      i + 1 == count ? 0 : 1);
		}
		if (i + 1 == count)
			text_append_char(&text, 'L');
	}
	return text.at;
}

void megatron_add_parallelism(struct megatron *megatron)
{
	const struct choice *choice = megatron->choice;

	flag_heading(megatron, "parallelism");
	flag_number(megatron, FLAG_TENSOR, megatron->shape->tensor);
	/* Megatron-LM switches it off by itself where tensor = 1. */
	if (megatron->shape->sequence && megatron->shape->tensor > 1)
		flag_switch(megatron, FLAG_SEQUENCE);
	flag_number(megatron, FLAG_CONTEXT, megatron->shape->context);
	/* The keys that travel are priced as hidden behind attention: a ring. */
	if (megatron->shape->context > 1)
		flag_text(megatron, FLAG_CONTEXT_KIND, "p2p");
	flag_number(megatron, FLAG_PIPELINE, choice->pipeline);
	if (choice->pipeline > 1 && !is_even(megatron))
		flag_text(megatron, FLAG_STAGE_LAYOUT, stage_layout(megatron));
	else if (choice->virtual_stages > 1)
		flag_number(megatron, FLAG_VIRTUAL, choice->virtual_stages);
	if (megatron->order == RANK_ORDER_PIPELINE_DATA)
		flag_switch(megatron, FLAG_RANK_ORDER);
	if (!megatron->model.block.experts)
		return;
	flag_number(megatron, FLAG_EXPERT, megatron->shape->expert);
	/* Left out it is tensor. */
	flag_number(megatron, FLAG_EXPERT_TENSOR, megatron->shape->expert_tensor);
}

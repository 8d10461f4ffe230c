/* SPDX-License-Identifier: MIT
 *
 * Cost of attention: in one kernel, or as products over stored scores; and the
 * rotation of queries and keys.
 */
#include "compiler/layout_cost.h"

#include "compiler/operator_time.h"

static struct attention_shape attention_shape(const struct layout_walk *walk,
					      uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double tokens = (double)(walk->ir->model.sequence_length /
				 walk->shape->context);

	return (struct attention_shape){
		.batch = walk->shape->micro_batch,
		.query_tokens = tokens,
		.key_tokens = (double)walk->ir->model.sequence_length,
		.heads = (double)layout_axis_size(walk, operator->heads_axis,
						  layout),
		.kv_heads = (double)layout_axis_size(walk,
						     operator->kv_heads_axis,
						     layout),
		.head_dim = (double)operator->head_size,
		.value_dim = (double)operator->value_size,
		.causal = operator->causal,
		.window = (double)operator->window,
	};
}

double layout_key_bytes(const struct layout_walk *walk, uint32_t attention)
{
	const struct ir_operator *operator = &walk->class->operator[attention];
	enum layout layout = walk->operator[attention].input_layout;

	return walk->element_bytes *
	       layout_value_rows(walk, operator->input[1], layout) *
	       (double)layout_axis_size(walk, operator->kv_heads_axis, layout) *
	       (double)operator->head_size;
}

/* Scores as one product over stacked heads, softmax with scale and mask as one
 * kernel, dropout of the scores as another. All scores are computed, also
 * those a causal mask hides. */
static void unfused_attention(struct layout_walk *walk, uint32_t index,
			      const struct attention_shape *shape)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_state *state = &walk->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];
	enum ir_precision precision = walk->ir->job.precision == IR_FP8 ?
					      IR_BF16 :
					      walk->ir->job.precision;
	double rows = shape->batch * shape->heads * shape->query_tokens;
	double scores = rows * shape->key_tokens;
	double scores_s = operator_time_gemm(device, precision, rows,
					     shape->head_dim, shape->key_tokens);
	double values_s = operator_time_gemm(device, precision, rows,
					     shape->key_tokens, shape->value_dim);
	double e = walk->element_bytes;

	cost->forward_flops = 2 * scores * (shape->head_dim + shape->value_dim);
	cost->backward_flops = 2 * cost->forward_flops;
	layout_move(walk, index, 2 * e * scores, 3 * e * scores);
	if (operator->dropout > 0)
		layout_move(walk, index, (2 * e + MASK_BYTES) * scores,
			    (2 * e + MASK_BYTES) * scores);
	state->core_forward_s = cost->forward_s + scores_s + values_s;
	state->core_backward_s = cost->backward_s + scores_s + 3 * values_s;
	cost->forward_s = state->core_forward_s;
	cost->backward_s = state->core_backward_s;
}

static void flash_attention(struct layout_walk *walk, uint32_t index,
			    const struct attention_shape *shape)
{
	const struct ir_device *device = &walk->ir->topology.device;
	enum ir_precision precision = walk->ir->job.precision;
	struct operator_state *state = &walk->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];

	cost->forward_flops = attention_flops(shape);
	cost->backward_flops = 2.5 * cost->forward_flops;
	state->core_forward_s =
		operator_time_attention(device, precision, shape, false);
	state->core_backward_s =
		operator_time_attention(device, precision, shape, true);
	cost->forward_s = state->core_forward_s;
	cost->backward_s = state->core_backward_s;
}

void layout_attention_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	struct attention_shape shape = attention_shape(walk, index);

	if (operator->flash)
		flash_attention(walk, index, &shape);
	else
		unfused_attention(walk, index, &shape);
	/* Rotary positions: one kernel each for queries and keys. That of the
	 * keys also puts a shared part into every head. */
	if (walk->ir->model.facts.rotary_base > 0)
		layout_move(walk, index,
			    2 * layout_value_bytes(walk, operator->input[0], layout),
			    2 * layout_value_bytes(walk, operator->input[0], layout));
	if (walk->ir->model.facts.rotary_base > 0 || operator->input_count > 3)
		layout_move(walk, index, 2 * layout_key_bytes(walk, index),
			    2 * layout_key_bytes(walk, index));
}

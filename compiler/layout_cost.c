/* SPDX-License-Identifier: MIT
 *
 * Work, bytes, time and parameters of every operator under a shape; which
 * operators run inside another's kernel. The header layout.h states the rules.
 */
#include <math.h>

#include "compiler/layout_walk.h"
#include "compiler/operator_time.h"

/* Bytes per logit of the loss kernels beyond reading (forward) or writing
 * (backward) it once in the training precision: a copy in 32 bits is written,
 * scanned for the largest, shifted by it, turned to exponentials, added up and
 * divided; backward scales these and reads them to convert
 * (Megatron-LM, core/tensor_parallel/cross_entropy.py). */
#define LOSS_FORWARD_BYTES (4 + 4 + 8 + 8 + 4 + 8)
#define LOSS_BACKWARD_BYTES (8 + 4)

/* Share of the compute behind which a collective runs that it really has: it
 * takes multiprocessors and memory bandwidth from the kernels beside it, which
 * published measurements see slowed down by 1.1 to 1.3 times. */
#define HIDDEN_SHARE 0.8

/* A dropout mask is one byte per element. */
#define MASK_BYTES 1

/* Bytes per score of a router, in 32 bits: a copy is written, turned to
 * probabilities, and scanned for the largest; backward the same without the scan. */
#define ROUTER_FORWARD_BYTES (2 + 4 + 8 + 4)
#define ROUTER_BACKWARD_BYTES (8 + 4 + 2)

static const struct ir_operator *only_reader(const struct layout_walk *walk,
					     uint32_t value)
{
	const struct value_state *state = &walk->value[value];

	if (state->uses != 1 || value == walk->class->output)
		return NULL;
	return &walk->class->operator[state->last_use];
}

static enum product product_kind(const struct layout_walk *walk,
				 const struct ir_operator *operator)
{
	if (layout_cut_axis(walk, &operator->to) != IR_NONE)
		return PRODUCT_COLUMN;
	if (layout_cut_axis(walk, &operator->from) != IR_NONE)
		return PRODUCT_ROW;
	return PRODUCT_PLAIN;
}

/* The first product of equal kind over the same value. The head is alone. */
static uint32_t find_leader(const struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	uint32_t *leader = &walk->value[operator->input[0]]
				    .leader[walk->operator[index].product];

	if (operator->kind == IR_LM_HEAD)
		return index;
	if (*leader == 0)
		*leader = index + 1;
	return *leader - 1;
}

void layout_walk_fusion(struct layout_walk *walk)
{
	for (uint32_t i = 0; i < walk->class->operator_count; i++) {
		const struct ir_operator *operator = &walk->class->operator[i];
		struct operator_state *state = &walk->operator[i];
		const struct ir_operator *reader =
			only_reader(walk, operator->output);

		state->leader = i;
		if (layout_is_product(operator)) {
			state->product = product_kind(walk, operator);
			state->leader = find_leader(walk, i);
		}
		if (!reader)
			continue;
		if (layout_is_activation(operator))
			state->is_fused = reader->kind == IR_MULTIPLY;
		if (operator->kind == IR_DROPOUT && reader->kind == IR_ADD) {
			state->is_fused = true;
			walk->operator[reader - walk->class->operator]
				.takes_dropout = true;
		}
	}
}

/* Layout in which the weight's contracted extent lies. */
static enum layout from_layout(const struct operator_state *state)
{
	return state->product == PRODUCT_ROW ? LAYOUT_CUT : LAYOUT_WHOLE;
}

static enum layout to_layout(const struct operator_state *state)
{
	return state->product == PRODUCT_COLUMN ? LAYOUT_CUT : LAYOUT_WHOLE;
}

static double extent(const struct layout_walk *walk,
		     const struct ir_extent *of, enum layout layout)
{
	return (double)layout_extent_size(walk, of, layout);
}

static void product_work(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_state *state = &walk->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];
	const struct ir_operator *router = layout_router(walk, index);
	double m = layout_value_rows(walk, operator->input[0],
				     state->input_layout);
	double k = extent(walk, &operator->from, from_layout(state));
	double n = extent(walk, &operator->to, to_layout(state));
	double experts = router ? layout_local_experts(walk, router) : 1;

	cost->forward_flops = 2 * m * k * n;
	cost->backward_flops = 2 * cost->forward_flops;
	cost->parameters = experts * (k * n + (operator->bias ? n : 0));
	cost->tied_parameters = operator->tied ? k * n : 0;
	cost->is_expert = router != NULL;
	cost->weight_from = k;
	cost->weight_to = n;
	cost->weight_count = experts;
	walk->operator[state->leader].group_n += n;
}

/* Times of the fused group, once all of its columns are known. */
static void product_time(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_state *state = &walk->operator[index];
	struct operator_state *leader = &walk->operator[state->leader];
	struct operator_cost *cost = &walk->result->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	enum ir_precision precision = walk->ir->job.precision;
	const struct ir_operator *router = layout_router(walk, index);
	double experts = router ? layout_local_experts(walk, router) : 1;
	double m = layout_value_rows(walk, operator->input[0],
				     state->input_layout) / experts;
	double k = extent(walk, &operator->from, from_layout(state));
	double n = leader->group_n;
	double share = extent(walk, &operator->to, to_layout(state)) / n;

	/* The head stays in 16 bits when the layers are trained in 8. */
	if (operator->kind == IR_LM_HEAD && precision == IR_FP8)
		precision = IR_BF16;
	if (state->leader == index) {
		state->input_gradient_s =
			operator_time_grouped(device, precision, experts, m, n, k);
		state->weight_gradient_s =
			operator_time_grouped(device, precision, experts, k, m, n) +
			operator_time_accumulate(device, experts * k * n);
	}
	cost->forward_s = share * operator_time_grouped(device, precision, experts,
							m, k, n);
	cost->backward_s = share * (leader->input_gradient_s +
				    leader->weight_gradient_s);
	/* A bias' gradient adds up the output's over the rows. */
	if (operator->bias)
		cost->backward_s += operator_time_memory(
			device, walk->element_bytes * experts * m * share * n);
}

/* A kernel that moves these bytes. */
static void move(struct layout_walk *walk, uint32_t index,
		 double forward_bytes, double backward_bytes)
{
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_cost *cost = &walk->result->operator[index];

	cost->forward_bytes += forward_bytes;
	cost->backward_bytes += backward_bytes;
	cost->forward_s += operator_time_memory(device, forward_bytes);
	cost->backward_s += operator_time_memory(device, backward_bytes);
}

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
	move(walk, index, 2 * e * scores, 3 * e * scores);
	if (operator->dropout > 0)
		move(walk, index, (2 * e + MASK_BYTES) * scores,
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

static void attention_cost(struct layout_walk *walk, uint32_t index)
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
		move(walk, index,
		     2 * layout_value_bytes(walk, operator->input[0], layout),
		     2 * layout_value_bytes(walk, operator->input[0], layout));
	if (walk->ir->model.facts.rotary_base > 0 || operator->input_count > 3)
		move(walk, index, 2 * layout_key_bytes(walk, index),
		     2 * layout_key_bytes(walk, index));
}

/* Rows are read and written, and again for learned positions. Backward, the
 * gradient of the table is made dense in the training precision and added to
 * the 32-bit one, as autograd does it. */
static void embedding_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	struct operator_cost *cost = &walk->result->operator[index];
	double to = extent(walk, &operator->to, LAYOUT_CUT);
	double table = extent(walk, &operator->from, LAYOUT_CUT) * to;
	double output = layout_value_bytes(walk, operator->output, LAYOUT_CUT);
	double positions = (double)operator->positions * to;
	double types = (double)operator->types * to;
	double e = walk->element_bytes;

	cost->parameters = table + positions + types;
	move(walk, index, 2 * output, output + table * (2 * e + 8));
	if (operator->positions)
		move(walk, index, 3 * output, output + positions * (2 * e + 8));
	if (operator->types)
		move(walk, index, 3 * output, output + types * (2 * e + 8));
}

/* Bytes that each kernel of an RMSNorm written in framework operations moves per
 * element: `half` numbers in the training precision, `full` in 32 bits. Forward x is
 * converted, squared, averaged, scaled, converted back and weighted, and the mean
 * goes through two more kernels of a number a row (huggingface/transformers,
 * LlamaRMSNorm); backward is what autograd runs for each. */
struct eager_kernel {
	double half, full;
};

static const struct eager_kernel eager_forward[] = {
	{ 1, 1 }, { 0, 2 }, { 0, 1 }, { 0, 2 }, { 1, 1 }, { 2, 0 },
};

static const struct eager_kernel eager_backward[] = {
	{ 2, 0 },		/* to the scaled rows */
	{ 3, 0 }, { 1, 0 },	/* to the weight, added up */
	{ 1, 1 },		/* converted */
	{ 0, 2 },		/* to x by the scale, */
	{ 0, 3 }, { 0, 1 },	/* to the scale, added up, */
	{ 0, 1 },		/* spread over the row, */
	{ 0, 2 }, { 0, 2 }, { 0, 3 },	/* times 2 x */
	{ 0, 3 },		/* both together */
	{ 1, 1 },		/* converted back */
};

static double eager_bytes(const struct eager_kernel *kernel, double element_bytes)
{
	return kernel->half * element_bytes + 4 * kernel->full;
}

static void eager_norm(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double count = layout_value_elements(walk, operator->input[0], layout);
	double rows = layout_value_rows(walk, operator->input[0], layout);
	double e = walk->element_bytes;

	for (size_t i = 0; i < sizeof(eager_forward) / sizeof(*eager_forward); i++)
		move(walk, index, count * eager_bytes(&eager_forward[i], e), 0);
	for (size_t i = 0; i < sizeof(eager_backward) / sizeof(*eager_backward); i++)
		move(walk, index, 0, count * eager_bytes(&eager_backward[i], e));
	for (int i = 0; i < 2; i++)
		move(walk, index, 8 * rows, 12 * rows);
}

static void norm_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_value *input = &walk->class->value[operator->input[0]];
	enum layout layout = walk->operator[index].input_layout;
	double bytes = layout_value_bytes(walk, operator->input[0], layout);
	double width = operator->from.term_count ?
			       extent(walk, &operator->from, LAYOUT_WHOLE) :
		       input->rank == 0 ? 1 :
		extent(walk, &input->extent[input->rank - 1], layout);

	walk->result->operator[index].parameters =
		operator->kind == IR_LAYERNORM && operator->bias ? 2 * width :
								   width;
	if (operator->eager)
		eager_norm(walk, index);
	else
		/* Backward x and dy are read for dx and again for the weight's
		 * gradient. */
		move(walk, index, 2 * bytes, 5 * bytes);
}

static void loss_cost(struct layout_walk *walk, uint32_t index)
{
	uint32_t input = walk->class->operator[index].input[0];
	double logits = layout_value_elements(walk, input,
					      walk->operator[index].input_layout);

	move(walk, index, logits * (LOSS_FORWARD_BYTES + walk->element_bytes),
	     logits * (LOSS_BACKWARD_BYTES + walk->element_bytes));
}

static void unary_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double count = layout_value_elements(walk, operator->output, layout);
	double e = walk->element_bytes;

	if (walk->operator[index].is_fused)
		return;
	if (operator->kind == IR_DROPOUT)
		move(walk, index, count * (2 * e + MASK_BYTES),
		     count * (2 * e + MASK_BYTES));
	else
		move(walk, index, count * 2 * e, count * 3 * e);
}

static void binary_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double count = layout_value_elements(walk, operator->output, layout);
	double e = walk->element_bytes;

	if (operator->kind == IR_MULTIPLY) {
		move(walk, index, count * 3 * e, count * 5 * e);
		return;
	}
	if (!walk->operator[index].takes_dropout) {
		move(walk, index, count * 3 * e, count * 3 * e);
		return;
	}
	/* The mask is written on the way; undoing it is a kernel of its own. */
	move(walk, index, count * (3 * e + MASK_BYTES), count * 3 * e);
	move(walk, index, 0, count * (2 * e + MASK_BYTES));
}

/* Numbers are per token and device; the tensor group shares them where the
 * operator works on a cut value or by sequence. */
static void custom_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_cost *cost = &walk->result->operator[index];
	enum layout layout = walk->operator[index].input_layout;
	double tensor = walk->shape->tensor;
	double tokens = (double)walk->shape->micro_batch *
			(double)(walk->ir->model.sequence_length /
				 walk->shape->context);
	double peak = device->peak_flops[walk->ir->job.precision] *
		      device->gemm_efficiency * (1 - device->throttling);
	double bytes;

	if (layout == LAYOUT_CUT || layout == LAYOUT_SEQUENCE)
		tokens /= tensor;
	cost->parameters = operator->custom_parameters /
			   (layout == LAYOUT_CUT ? tensor : 1);
	cost->forward_flops = tokens * operator->custom_flops;
	cost->backward_flops = 2 * cost->forward_flops;
	bytes = tokens * (operator->custom_read_bytes +
			  operator->custom_write_bytes);
	move(walk, index, bytes, 2 * bytes);
	if (peak > 0) {
		double work_s = cost->forward_flops / peak;

		if (work_s > cost->forward_s)
			cost->forward_s = work_s;
		if (2 * work_s > cost->backward_s)
			cost->backward_s = 2 * work_s;
	}
}

/* A product, and kernels over the scores of all experts. */
static void router_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	const struct ir_device *device = &walk->ir->topology.device;
	struct operator_cost *cost = &walk->result->operator[index];
	enum ir_precision precision = walk->ir->job.precision;
	double m = layout_value_rows(walk, operator->input[0],
				     walk->operator[index].input_layout);
	double k = extent(walk, &operator->from, LAYOUT_WHOLE);
	double n = extent(walk, &operator->to, LAYOUT_WHOLE);

	if (precision == IR_FP8)
		precision = IR_BF16;
	cost->weight_from = k;
	cost->weight_to = n;
	cost->weight_count = 1;
	cost->parameters = k * n + (operator->bias ? n : 0);
	cost->forward_flops = 2 * m * k * n;
	cost->backward_flops = 2 * cost->forward_flops;
	move(walk, index, ROUTER_FORWARD_BYTES * m * n,
	     ROUTER_BACKWARD_BYTES * m * n);
	cost->forward_s += operator_time_gemm(device, precision, m, k, n);
	cost->backward_s += operator_time_gemm(device, precision, m, n, k) +
			    operator_time_gemm(device, precision, k, m, n) +
			    operator_time_accumulate(device, k * n);
}

/* Bytes of the rows that a device sends to the experts, or gets back. */
static double sent_bytes(const struct layout_walk *walk, uint32_t routed)
{
	return layout_value_bytes(walk, routed, LAYOUT_WHOLE) /
	       walk->shape->expert_tensor;
}

/* Rows are put in the order of the ranks they go to, on the way out and back;
 * what has come together is put in the order of the experts and back again. */
static void permute_cost(struct layout_walk *walk, uint32_t index)
{
	const struct ir_operator *operator = &walk->class->operator[index];
	bool out = operator->kind == IR_DISPATCH;
	uint32_t routed = out ? operator->output : operator->input[0];
	uint32_t tokens = out ? operator->input[0] : operator->output;
	double held = layout_value_bytes(walk, tokens, LAYOUT_SEQUENCE);
	double sent = sent_bytes(walk, routed);
	double all = layout_value_bytes(walk, routed, LAYOUT_WHOLE);
	const struct ir_operator *router =
		&walk->class->operator[walk->class->value[routed].router];

	move(walk, index, held + sent, held + sent);
	if (walk->shape->expert * walk->shape->expert_tensor > 1 &&
	    layout_local_experts(walk, router) > 1)
		move(walk, index, 2 * all, 2 * all);
}

static void operator_cost(struct layout_walk *walk, uint32_t index)
{
	switch (walk->class->operator[index].kind) {
	case IR_LINEAR:
	case IR_LM_HEAD:
		product_time(walk, index);
		return;
	case IR_ATTENTION:
		attention_cost(walk, index);
		return;
	case IR_EMBEDDING:
		embedding_cost(walk, index);
		return;
	case IR_RMSNORM:
	case IR_LAYERNORM:
		norm_cost(walk, index);
		return;
	case IR_CROSS_ENTROPY:
		loss_cost(walk, index);
		return;
	case IR_ADD:
	case IR_MULTIPLY:
		binary_cost(walk, index);
		return;
	case IR_CUSTOM:
		custom_cost(walk, index);
		return;
	case IR_ROUTER:
		router_cost(walk, index);
		return;
	case IR_DISPATCH:
	case IR_COMBINE:
		permute_cost(walk, index);
		return;
	case IR_AUXILIARY_LOSS:
		return;
	default:
		unary_cost(walk, index);
		return;
	}
}

/* Size and shape of what the operator produces. A partial value is as large as
 * a whole one. */
static void output_shape(struct layout_walk *walk, uint32_t index)
{
	struct operator_cost *cost = &walk->result->operator[index];
	uint32_t output = walk->class->operator[index].output;
	const struct ir_value *value = &walk->class->value[output];

	for (uint32_t i = 0; i < value->rank; i++)
		cost->local[i] = layout_extent_size(walk, &value->extent[i],
						    cost->output_layout);
	if (value->router != IR_NONE) {
		double experts = layout_local_experts(
			walk, &walk->class->operator[value->router]);

		cost->local[0] = (uint64_t)experts;
		cost->local[1] = (uint64_t)llround(
			layout_value_rows(walk, output, LAYOUT_WHOLE) / experts);
	}
	cost->output_bytes =
		layout_value_bytes(walk, output, cost->output_layout);
}

/* The host launches the kernels of every operator that is not part of another's;
 * where that takes longer than the kernels, the device waits. */
static void wait_for_host(struct layout_walk *walk)
{
	struct layout_result *result = walk->result;
	double host_s = 0;

	for (uint32_t i = 0; i < walk->class->operator_count; i++)
		if (!walk->operator[i].is_fused &&
		    walk->operator[i].leader == i)
			host_s += walk->ir->topology.device.host_operator_s;
	if (result->forward_s < host_s)
		result->forward_s = host_s;
	if (result->backward_s < host_s)
		result->backward_s = host_s;
}

void layout_walk_costs(struct layout_walk *walk)
{
	const struct ir_class *class = walk->class;
	struct layout_result *result = walk->result;

	for (uint32_t i = 0; i < class->operator_count; i++)
		if (layout_is_product(&class->operator[i]))
			product_work(walk, i);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		struct operator_cost *cost = &result->operator[i];

		operator_cost(walk, i);
		output_shape(walk, i);
		result->forward_s += cost->forward_s;
		result->backward_s += cost->backward_s;
		if (cost->is_expert)
			result->expert_parameters += cost->parameters;
		else
			result->parameters += cost->parameters;
		result->tied_parameters += cost->tied_parameters;
	}
	wait_for_host(walk);
}

/* How long each hidden collective has, see HIDDEN_SHARE. Gradients of keys and values travel with
 * the keys and values: each has half of the attention's time. */
void layout_walk_hidden(struct layout_walk *walk)
{
	double ring = (double)(walk->shape->context - 1) / walk->shape->context;

	for (size_t i = 0; i < walk->inferred.count; i++) {
		struct inferred *inferred = &walk->inferred.at[i];
		const struct operator_state *by;

		if (inferred->hidden == HIDDEN_NOT)
			continue;
		by = &walk->operator[inferred->hidden_by];
		if (inferred->hidden == HIDDEN_INPUT_GRADIENT)
			inferred->hidden_s = by->input_gradient_s;
		else if (inferred->hidden == HIDDEN_WEIGHT_GRADIENT)
			inferred->hidden_s = by->weight_gradient_s;
		else if (inferred->backward)
			inferred->hidden_s = by->core_backward_s * ring / 2;
		else
			inferred->hidden_s = by->core_forward_s * ring;
		inferred->hidden_s *= HIDDEN_SHARE;
	}
}

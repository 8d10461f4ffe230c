/* SPDX-License-Identifier: MIT
 *
 * Placement programs made by hand, for tests of what comes after the language.
 */
#ifndef NEST_TESTS_IR_BUILD_H
#define NEST_TESTS_IR_BUILD_H

#include "compiler/ir.h"
#include "lang/base/arena.h"

struct class_build {
	struct arena *arena;
	struct ir_class *class;
};

enum { BATCH, SEQ };	/* axes of every class, as the lowering makes them */

static inline uint32_t build_axis(struct class_build *build, const char *name,
				  uint64_t size, enum ir_split split)
{
	struct ir_class *class = build->class;

	class->axis[class->axis_count] = (struct ir_axis){
		.name = name, .size = size, .split = split,
		.span = { .begin = 10, .end = 20 },
		.split_span = { .begin = 30, .end = 40 },
	};
	return class->axis_count++;
}

static inline struct class_build build_class(struct arena *arena,
					     const char *name, uint64_t tokens,
					     struct ir_class *class)
{
	struct class_build build = { arena, class };

	*class = (struct ir_class){
		.name = name,
		.tokens = IR_NONE,
		.axis = ARENA_ARRAY(arena, struct ir_axis, 16),
		.value = ARENA_ARRAY(arena, struct ir_value, 64),
		.operator = ARENA_ARRAY(arena, struct ir_operator, 64),
	};
	build_axis(&build, "batch", 0, IR_SPLIT_DATA);
	build_axis(&build, "seq", tokens, IR_SPLIT_CONTEXT);
	return build;
}

/* The extent a x b (b IR_NONE: a alone). */
static inline struct ir_extent extent_of(uint32_t a, uint32_t b)
{
	return (struct ir_extent){
		.term = { { .coefficient = 1, .axis = { a, b },
			    .axis_count = b == IR_NONE ? 1 : 2 } },
		.term_count = 1,
	};
}

/* [batch, seq, last] */
static inline uint32_t build_value(struct class_build *build,
				   struct ir_extent last, uint32_t producer)
{
	struct ir_class *class = build->class;

	class->value[class->value_count] = (struct ir_value){
		.rank = 3,
		.extent = { extent_of(BATCH, IR_NONE), extent_of(SEQ, IR_NONE),
			    last },
		.producer = producer,
		.router = IR_NONE,
	};
	return class->value_count++;
}

static inline struct ir_operator *last_operator(struct class_build *build)
{
	return &build->class->operator[build->class->operator_count - 1];
}

/* An operator with the last extent of its output; returns the output. */
static inline uint32_t build_operator(struct class_build *build,
				      enum ir_operator_kind kind, uint32_t a,
				      uint32_t b, uint32_t c,
				      struct ir_extent last)
{
	struct ir_class *class = build->class;
	uint32_t index = class->operator_count++;
	struct ir_operator *operator = &class->operator[index];

	*operator = (struct ir_operator){ .kind = kind, .input = { a, b, c },
					  .span = { .begin = 100 + index,
						    .end = 101 + index } };
	operator->input_count = b == IR_NONE ? 1 : c == IR_NONE ? 2 : 3;
	operator->output = build_value(build, last, index);
	return operator->output;
}

static inline uint32_t build_unary(struct class_build *build,
				   enum ir_operator_kind kind, uint32_t input)
{
	return build_operator(build, kind, input, IR_NONE, IR_NONE,
			      build->class->value[input].extent[2]);
}

static inline uint32_t build_binary(struct class_build *build,
				    enum ir_operator_kind kind, uint32_t a,
				    uint32_t b)
{
	return build_operator(build, kind, a, b, IR_NONE,
			      build->class->value[a].extent[2]);
}

static inline uint32_t build_linear(struct class_build *build, uint32_t input,
				    struct ir_extent to)
{
	uint32_t output = build_operator(build, IR_LINEAR, input, IR_NONE,
					 IR_NONE, to);

	last_operator(build)->from = build->class->value[input].extent[2];
	last_operator(build)->to = to;
	return output;
}

static inline uint32_t build_dropout(struct class_build *build, uint32_t input)
{
	uint32_t output = build_unary(build, IR_DROPOUT, input);

	last_operator(build)->dropout = 0.1;
	return output;
}

struct block_sizes {
	uint64_t tokens, hidden, heads, kv_heads, ffn;
	bool gated;		/* Llama: RMSNorm, SwiGLU, no bias, no dropout */
	bool flash, causal;
};

static inline uint32_t build_norm(struct class_build *build,
				  const struct block_sizes *sizes, uint32_t x)
{
	uint32_t output = build_unary(build, sizes->gated ? IR_RMSNORM :
							    IR_LAYERNORM, x);

	last_operator(build)->bias = !sizes->gated;
	return output;
}

/* A pre-norm decoder block: GPT with dropout and biases, or Llama. */
static inline void build_block(struct arena *arena,
			       const struct block_sizes *sizes,
			       struct ir_class *class)
{
	struct class_build build = build_class(arena, "block", sizes->tokens,
					       class);
	bool gpt = !sizes->gated;
	uint32_t hidden = build_axis(&build, "hidden", sizes->hidden,
				     IR_SPLIT_NONE);
	uint32_t heads = build_axis(&build, "heads", sizes->heads,
				    IR_SPLIT_TENSOR);
	uint32_t kv_heads = build_axis(&build, "kv_heads", sizes->kv_heads,
				       IR_SPLIT_TENSOR);
	uint32_t ffn = build_axis(&build, "ffn", sizes->ffn, IR_SPLIT_TENSOR);
	uint32_t head = build_axis(&build, "head_dim",
				   sizes->hidden / sizes->heads, IR_SPLIT_NONE);
	struct ir_extent wide = extent_of(heads, head);
	struct ir_extent narrow = extent_of(kv_heads, head);
	struct ir_extent rest = extent_of(hidden, IR_NONE);
	uint32_t x, n, q, k, v, a, y, m, g;

	class->is_block = true;
	class->axis[kv_heads].replicable = true;
	x = class->input = build_value(&build, rest, IR_NONE);
	n = build_norm(&build, sizes, x);
	q = build_linear(&build, n, wide);
	last_operator(&build)->bias = gpt;
	k = build_linear(&build, n, narrow);
	last_operator(&build)->bias = gpt;
	v = build_linear(&build, n, narrow);
	last_operator(&build)->bias = gpt;
	a = build_operator(&build, IR_ATTENTION, q, k, v, wide);
	last_operator(&build)->heads_axis = heads;
	last_operator(&build)->kv_heads_axis = kv_heads;
	last_operator(&build)->head_size = sizes->hidden / sizes->heads;
	last_operator(&build)->value_size = sizes->hidden / sizes->heads;
	last_operator(&build)->causal = sizes->causal;
	last_operator(&build)->flash = sizes->flash;
	last_operator(&build)->dropout = gpt ? 0.1 : 0;
	a = build_linear(&build, a, rest);
	last_operator(&build)->bias = gpt;
	if (gpt)
		a = build_dropout(&build, a);
	y = build_binary(&build, IR_ADD, x, a);
	m = build_norm(&build, sizes, y);
	g = build_linear(&build, m, extent_of(ffn, IR_NONE));
	last_operator(&build)->bias = gpt;
	if (gpt) {
		g = build_unary(&build, IR_GELU, g);
	} else {
		uint32_t up;

		g = build_unary(&build, IR_SILU, g);
		up = build_linear(&build, m, extent_of(ffn, IR_NONE));
		g = build_binary(&build, IR_MULTIPLY, g, up);
	}
	g = build_linear(&build, g, rest);
	last_operator(&build)->bias = gpt;
	if (gpt)
		g = build_dropout(&build, g);
	class->output = build_binary(&build, IR_ADD, y, g);
}

/* Token numbers [batch, seq] to [batch, seq, hidden]. */
static inline void build_embedding(struct arena *arena, uint64_t tokens,
				   uint64_t vocab, uint64_t hidden_size,
				   uint32_t pad, struct ir_class *class)
{
	struct class_build build = build_class(arena, "embedding", tokens,
					       class);
	uint32_t hidden = build_axis(&build, "hidden", hidden_size,
				     IR_SPLIT_NONE);
	uint32_t words = build_axis(&build, "vocab", vocab, IR_SPLIT_TENSOR);

	class->axis[words].pad = pad;
	class->input = build_value(&build, extent_of(hidden, IR_NONE), IR_NONE);
	class->value[class->input].rank = 2;
	class->output = build_operator(&build, IR_EMBEDDING, class->input,
				       IR_NONE, IR_NONE,
				       extent_of(hidden, IR_NONE));
	last_operator(&build)->from = extent_of(words, IR_NONE);
	last_operator(&build)->to = extent_of(hidden, IR_NONE);
}

/* The head and the loss, without a norm unless it is asked for. */
static inline void build_head(struct arena *arena, uint64_t tokens,
			      uint64_t vocab, uint64_t hidden_size,
			      uint32_t pad, bool norm, bool tied,
			      struct ir_class *class)
{
	struct class_build build = build_class(arena, "lm_head", tokens, class);
	uint32_t hidden = build_axis(&build, "hidden", hidden_size,
				     IR_SPLIT_NONE);
	uint32_t words = build_axis(&build, "vocab", vocab, IR_SPLIT_TENSOR);
	uint32_t x;

	class->axis[words].pad = pad;
	x = class->input = build_value(&build, extent_of(hidden, IR_NONE),
				       IR_NONE);
	if (norm)
		x = build_unary(&build, IR_RMSNORM, x);
	x = build_operator(&build, IR_LM_HEAD, x, IR_NONE, IR_NONE,
			   extent_of(words, IR_NONE));
	last_operator(&build)->from = extent_of(hidden, IR_NONE);
	last_operator(&build)->to = extent_of(words, IR_NONE);
	last_operator(&build)->tied = tied;
	class->output = build_operator(&build, IR_CROSS_ENTROPY, x, IR_NONE,
				       IR_NONE, extent_of(words, IR_NONE));
	class->value[class->output].rank = 2;
}

/* A device with round numbers, so that times can be computed by hand where a
 * test wants to: see the test. */
static inline struct ir_device build_device(void)
{
	return (struct ir_device){
		.name = "device",
		.memory_bytes = 80e9,
		.memory_bandwidth_Bps = 3e12,
		.memory_efficiency = 0.8,
		.peak_flops = { 1e15, 1e15, 6e13, 2e15 },
		.gemm_efficiency = 0.8,
		.gemm_efficiency_fp8 = 0.7,
		.gemm_half_k = 100,
		.gemm_wave = 0.1,
		.gemm_narrow = 0.95,
		.attention_efficiency = 0.6,
		.attention_backward_efficiency = 0.5,
		.attention_half_sequence = 500,
		.tile_m = 128,
		.tile_n = 256,
		.multiprocessors = 132,
		.kernel_overhead_s = 2e-6,
		.reserve_bytes = 3e9,
		.group_bytes = 5e8,
	};
}

/* Embedding, layers blocks, head on 8 x 4 devices. */
static inline void build_model(struct arena *arena, struct ir *ir,
			       const struct block_sizes *sizes,
			       uint32_t layers, uint64_t vocab, bool tied)
{
	struct ir_model *model = &ir->model;

	*ir = (struct ir){ 0 };
	model->name = "model";
	model->sequence_length = sizes->tokens;
	model->class = ARENA_ARRAY(arena, struct ir_class, 3);
	model->class_count = 3;
	model->run = ARENA_ARRAY(arena, struct ir_run, 3);
	model->run_count = 3;
	model->layer_count = layers;
	model->tied = tied;
	build_embedding(arena, sizes->tokens, vocab, sizes->hidden, 128,
			&model->class[0]);
	build_block(arena, sizes, &model->class[1]);
	build_head(arena, sizes->tokens, vocab, sizes->hidden, 128,
		   sizes->gated, tied, &model->class[2]);
	for (uint32_t i = 0; i < 3; i++)
		model->run[i] = (struct ir_run){ i, i == 1 ? layers : 1 };
	ir->topology = (struct ir_topology){
		.name = "cluster",
		.device = build_device(),
		.level = {
			{ .name = "node",
			  .network = { .fanout = 8, .bandwidth_Bps = 450e9,
				       .latency_s = 1e-6, .oversubscription = 1,
				       .efficiency = 1 } },
			{ .name = "rack",
			  .network = { .fanout = 4, .bandwidth_Bps = 50e9,
				       .latency_s = 3e-6, .oversubscription = 1,
				       .efficiency = 1 } },
		},
		.level_count = 2,
		.device_count = 32,
	};
	ir->job.name = "job";
	ir->job.global_batch = 64;
	ir->job.global_batch_span = (struct span){ .begin = 50, .end = 60 };
	ir->job.memory_limit_bytes = 80e9;
}

#endif

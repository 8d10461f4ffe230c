/* SPDX-License-Identifier: MIT
 *
 * Layouts, collectives and saved activations against published closed forms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/flops.h"
#include "compiler/layout.h"
#include "compiler/operator_time.h"
#include "compiler/recompute_module.h"
#include "tests/unit/fixture.h"
#include "tests/unit/ir_build.h"

/* s, b, h, a of most tests; 4 h wide feed-forward. */
enum { TOKENS = 2048, MICRO_BATCH = 3, HIDDEN = 1024, HEADS = 16 };
static const double SBH = (double)TOKENS * MICRO_BATCH * HIDDEN;
static const double ASSB = (double)HEADS * TOKENS * TOKENS * MICRO_BATCH;

static struct block_sizes gpt_sizes(bool flash)
{
	return (struct block_sizes){ .tokens = TOKENS, .hidden = HIDDEN,
				     .heads = HEADS, .kv_heads = HEADS,
				     .ffn = 4 * HIDDEN, .flash = flash,
				     .causal = true };
}

/* Grouped queries: 16 heads over 4 key-value heads. */
static struct block_sizes llama_sizes(void)
{
	return (struct block_sizes){ .tokens = TOKENS, .hidden = HIDDEN,
				     .heads = HEADS, .kv_heads = 4,
				     .ffn = 2816, .gated = true, .flash = true,
				     .causal = true };
}

static struct problem_shape shape_of(uint32_t tensor, bool sequence,
				     uint32_t context)
{
	return (struct problem_shape){ .tensor = tensor, .context = context,
				       .expert = 1, .expert_tensor = 1,
				       .sequence = sequence,
				       .micro_batch = MICRO_BATCH };
}

static struct layout_result infer(struct arena *arena,
				  const struct block_sizes *sizes,
				  uint32_t class_index,
				  struct problem_shape shape)
{
	struct ir ir;
	struct layout_result result;

	build_model(arena, &ir, sizes, 4, 51200, false);
	layout_infer(&ir, class_index, &shape, arena, &result);
	return result;
}

/* A block trained in 8 bits. */
static struct layout_result infer_fp8(struct arena *arena,
				      const struct block_sizes *sizes,
				      struct problem_shape shape, uint32_t modules)
{
	struct ir ir;
	struct layout_result result;

	build_model(arena, &ir, sizes, 4, 51200, false);
	ir.job.precision = IR_FP8;
	ir.job.recompute_modules = modules;
	layout_infer(&ir, 1, &shape, arena, &result);
	return result;
}

/* How many collectives of that kind and direction, all of `bytes` if not 0. */
static int count(const struct layout_result *result, enum collective kind,
		 enum group group, bool backward, double bytes)
{
	int found = 0;

	for (uint32_t i = 0; i < result->inferred_count; i++) {
		const struct inferred *inferred = &result->inferred[i];

		if (inferred->kind != kind || inferred->group != group ||
		    inferred->backward != backward)
			continue;
		if (bytes > 0)
			assert_number(inferred->bytes, bytes);
		found++;
	}
	return found;
}

/* Korthikanti et al. 2022, "Reducing Activation Recomputation in Large
 * Transformer Models", table 2, in bytes per layer. */
static void saved_unfused(void **state)
{
	struct block_sizes sizes = gpt_sizes(false);
	struct layout_result result;

	result = infer(*state, &sizes, 1, shape_of(1, false, 1));
	assert_number(result.saved_bytes, 34 * SBH + 5 * ASSB);
	assert_number(result.saved_bytes - result.selective_saved_bytes, 5 * ASSB);
	for (uint32_t t = 2; t <= 16; t *= 2) {
		result = infer(*state, &sizes, 1, shape_of(t, false, 1));
		assert_number(result.saved_bytes,
			      SBH * (10 + 24.0 / t) + 5 * ASSB / t);
		assert_number(result.saved_bytes - result.selective_saved_bytes, 5 * ASSB / t);
		assert_number(result.input_bytes, 2 * SBH);
		result = infer(*state, &sizes, 1, shape_of(t, true, 1));
		assert_number(result.saved_bytes,
			      34 * SBH / t + 5 * ASSB / t);
		assert_number(result.saved_bytes - result.selective_saved_bytes, 5 * ASSB / t);
		assert_number(result.input_bytes, 2 * SBH / t);
	}
}

/* Of table 2's 34 s b h the inputs of the four products, 2 + 2 + 2 + 8, are kept as
 * 8-bit copies, 1 + 1 + 1 + 4; flash attention still needs its result in 16 bits:
 * 34 - 14 + 7 + 2 = 29. */
static void saved_fp8(void **state)
{
	struct block_sizes gpt = gpt_sizes(true), llama = llama_sizes();
	uint32_t mlp = recompute_module_bit(MODULE_MLP);
	uint32_t core = recompute_module_bit(MODULE_CORE_ATTENTION);
	double sb = (double)TOKENS * MICRO_BATCH;
	struct layout_result result;

	result = infer_fp8(*state, &gpt, shape_of(1, false, 1), core);
	assert_number(result.saved_bytes, 29 * SBH);
	/* Attention redone, its result in 16 bits goes; the projection's copy stays. */
	assert_number(result.saved_bytes - result.selective_saved_bytes, 2 * SBH);
	result = infer_fp8(*state, &gpt, shape_of(4, true, 1), core);
	assert_number(result.saved_bytes, 29 * SBH / 4);
	/* Inputs and results of two norms 2 (2 + 1) h; queries 2 h, keys and values 2 x
	 * 2 x 256, result of attention 3 h; gate and up 2 x 2 x 2816, and the copy of
	 * what they make, 2816. Redone, of the last part only the input stays. */
	result = infer_fp8(*state, &llama, shape_of(1, false, 1), mlp);
	assert_number(result.saved_bytes,
		      sb * (11 * HIDDEN + 4 * 256 + 5 * 2816));
	assert_number(result.selective_saved_bytes,
		      sb * ((11 - 1) * HIDDEN + 4 * 256));
}

static void saved_flash(void **state)
{
	struct block_sizes sizes = gpt_sizes(true);
	struct layout_result result;

	result = infer(*state, &sizes, 1, shape_of(1, false, 1));
	assert_number(result.saved_bytes, 34 * SBH);
	/* The result of attention is kept by the projection after it. */
	assert_number(result.saved_bytes - result.selective_saved_bytes, 0);
	result = infer(*state, &sizes, 1, shape_of(4, false, 1));
	assert_number(result.saved_bytes, SBH * (10 + 24.0 / 4));
	result = infer(*state, &sizes, 1, shape_of(4, true, 1));
	assert_number(result.saved_bytes, 34 * SBH / 4);
	/* Context divides the sequence everywhere. */
	result = infer(*state, &sizes, 1, shape_of(4, true, 8));
	assert_number(result.saved_bytes, 34 * SBH / 4 / 8);
}

/* Llama block, 2-byte elements: inputs of both norms, both norms' results (8 sbh);
 * q and result of attention (4 sbh / t), k and v (2 x 2 sb kv head_dim / t); gate,
 * up and their product (6 sb ffn / t). The gate's activation is not kept. */
static void saved_llama(void **state)
{
	struct block_sizes sizes = llama_sizes();
	double sb = (double)TOKENS * MICRO_BATCH;
	double cut = 4 * SBH + 4 * sb * 4 * (HIDDEN / HEADS) + 6 * sb * 2816;
	struct layout_result result;

	result = infer(*state, &sizes, 1, shape_of(1, false, 1));
	assert_number(result.saved_bytes, 8 * SBH + cut);
	result = infer(*state, &sizes, 1, shape_of(4, false, 1));
	assert_number(result.saved_bytes, 8 * SBH + cut / 4);
	result = infer(*state, &sizes, 1, shape_of(4, true, 1));
	assert_number(result.saved_bytes, 8 * SBH / 4 + cut / 4);
}

/* A norm of many kernels keeps its input in 32 bits and the normalised rows, 6 bytes an
 * element for 2. Per element it moves, forward: 2 + 4 to convert, 4 + 4 to square, 4
 * to average, 4 + 4 to scale, 4 + 2 to convert back, 2 + 2 to weight, 36 in all; and
 * twice 4 + 4 a row. Backward 92 and twice 12. */
static void eager_norms(void **state)
{
	struct block_sizes sizes = llama_sizes();
	struct layout_result fused = infer(*state, &sizes, 1, shape_of(2, true, 1));
	struct problem_shape shape = shape_of(2, true, 1);
	double rows = (double)TOKENS * MICRO_BATCH / 2;
	struct layout_result eager;
	struct ir ir;

	build_model(*state, &ir, &sizes, 4, 51200, false);
	for (uint32_t i = 0; i < ir.model.class[1].operator_count; i++)
		ir.model.class[1].operator[i].eager =
			ir.model.class[1].operator[i].kind == IR_RMSNORM;
	layout_infer(&ir, 1, &shape, *state, &eager);
	assert_number(eager.saved_bytes, fused.saved_bytes + 2 * 4 * SBH / 2);
	assert_number(eager.operator[0].forward_bytes, 36 * SBH / 2 + 16 * rows);
	assert_number(eager.operator[0].backward_bytes, 92 * SBH / 2 + 24 * rows);
	assert_true(eager.operator[0].forward_s > fused.operator[0].forward_s);
}

/* Korthikanti et al. 2022, section 4.3: embedding dropout aside, the head keeps
 * its input (2 sbh) and the logits in 32 bits (4 sbv/t). The norm before it
 * keeps its own input (2 sbh). */
static void saved_head(void **state)
{
	struct block_sizes sizes = llama_sizes();
	double logits = (double)TOKENS * MICRO_BATCH * 51200;
	struct layout_result result;

	result = infer(*state, &sizes, 2, shape_of(4, true, 1));
	assert_number(result.saved_bytes, 4 * SBH / 4 + 4 * logits / 4);
	result = infer(*state, &sizes, 2, shape_of(1, false, 1));
	assert_number(result.saved_bytes, 4 * SBH + 4 * logits);
	assert_number(result.output_bytes, 0);
}

/* Shoeybi et al. 2019, figure 4: two all-reduces forward, two backward. */
static void collectives_tensor(void **state)
{
	struct block_sizes sizes = llama_sizes();
	struct layout_result result =
		infer(*state, &sizes, 1, shape_of(4, false, 1));

	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       false, 2 * SBH), 2);
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       true, 2 * SBH), 2);
	assert_int_equal(result.inferred_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(result.inferred[i].hidden,
				 result.inferred[i].backward ?
					 HIDDEN_WEIGHT_GRADIENT : HIDDEN_NOT);
	assert_number(result.output_bytes, 2 * SBH);
}

/* Korthikanti et al. 2022, figure 5, and the second gather of section 4.2.2. */
static void collectives_sequence(void **state)
{
	struct block_sizes sizes = llama_sizes();
	struct layout_result result =
		infer(*state, &sizes, 1, shape_of(4, true, 2));
	double bytes = 2 * SBH / 2;	/* the context has half of the tokens */

	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_TENSOR,
			       false, bytes), 2);
	assert_int_equal(count(&result, COLLECTIVE_REDUCE_SCATTER, GROUP_TENSOR,
			       false, bytes), 2);
	assert_int_equal(count(&result, COLLECTIVE_REDUCE_SCATTER, GROUP_TENSOR,
			       true, bytes), 2);
	/* two transposes and two second gathers */
	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_TENSOR,
			       true, bytes), 4);
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       false, 0), 0);
	assert_number(result.output_bytes, 2 * SBH / 2 / 4);
}

/* A second gather runs behind the input-gradient products of query, key and value
 * as one, 3/2 h wide over 4 ranks: (h + 2 h/4) / 4. Of a product's time a
 * collective beside it has four fifths. */
static void collectives_hidden(void **state)
{
	struct block_sizes sizes = llama_sizes();
	struct layout_result result =
		infer(*state, &sizes, 1, shape_of(4, true, 1));
	struct ir_device device = build_device();
	double m = TOKENS * MICRO_BATCH, n = HIDDEN * 1.5 / 4;
	int gathers = 0, scatters = 0;

	for (uint32_t i = 0; i < result.inferred_count; i++) {
		const struct inferred *inferred = &result.inferred[i];

		if (inferred->hidden_by != 1)
			continue;
		if (inferred->hidden == HIDDEN_INPUT_GRADIENT) {
			assert_int_equal(inferred->kind, COLLECTIVE_ALL_GATHER);
			assert_number(inferred->hidden_s,
				      0.8 * operator_time_gemm(&device, IR_BF16,
							       m, n, HIDDEN));
			gathers++;
		} else {
			assert_int_equal(inferred->kind,
					 COLLECTIVE_REDUCE_SCATTER);
			assert_number(inferred->hidden_s,
				      0.8 * (operator_time_gemm(&device, IR_BF16,
								HIDDEN, m, n) +
					     operator_time_accumulate(&device,
								      HIDDEN * n)));
			scatters++;
		}
		assert_true(inferred->backward);
		assert_int_equal(inferred->split_span.begin, 30);
	}
	assert_int_equal(gathers, 1);
	assert_int_equal(scatters, 1);
}

/* Keys and values are 4 heads of 64 over 2 tensor ranks: k and v of all tokens are
 * 2 x 2 bytes x s b x 128. */
static void collectives_context(void **state)
{
	struct block_sizes sizes = llama_sizes();
	double bytes = 4.0 * TOKENS * MICRO_BATCH * 128;
	struct layout_result result =
		infer(*state, &sizes, 1, shape_of(2, false, 4));
	const struct operator_cost *attention = &result.operator[4];
	double hidden_s = 0;

	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_CONTEXT,
			       false, bytes), 1);
	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_CONTEXT,
			       true, bytes), 1);
	assert_int_equal(count(&result, COLLECTIVE_REDUCE_SCATTER,
			       GROUP_CONTEXT, true, bytes), 1);
	for (uint32_t i = 0; i < result.inferred_count; i++)
		if (result.inferred[i].group == GROUP_CONTEXT &&
		    result.inferred[i].backward)
			hidden_s += result.inferred[i].hidden_s;
	/* Together backward has four fifths of three quarters of attention. */
	assert_number(hidden_s, 0.8 * attention->backward_s * 3 / 4);
	/* 4 b s^2 (8 heads x 64) / 2 causal / 4 ranks, 2.5 times that backward */
	assert_number(attention->forward_flops,
		      4.0 * MICRO_BATCH * TOKENS * TOKENS * 512 / 2 / 4);
	assert_number(attention->backward_flops,
		      2.5 * attention->forward_flops);
}

static void collectives_ends(void **state)
{
	struct block_sizes sizes = llama_sizes();
	double row_bytes = 4.0 * TOKENS * MICRO_BATCH;
	struct layout_result result;

	result = infer(*state, &sizes, 0, shape_of(4, false, 1));
	assert_int_equal(result.inferred_count, 1);
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       false, 2 * SBH), 1);
	result = infer(*state, &sizes, 0, shape_of(4, true, 1));
	assert_int_equal(result.inferred_count, 2);
	assert_int_equal(count(&result, COLLECTIVE_REDUCE_SCATTER, GROUP_TENSOR,
			       false, 2 * SBH), 1);
	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_TENSOR,
			       true, 2 * SBH), 1);
	assert_number(result.output_bytes, 2 * SBH / 4);

	/* Logits are never gathered: three numbers a row are added up. */
	result = infer(*state, &sizes, 2, shape_of(4, false, 1));
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       false, row_bytes), 3);
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       true, 2 * SBH), 1);
	assert_int_equal(result.inferred_count, 4);
}

static void no_collectives_alone(void **state)
{
	struct block_sizes sizes = llama_sizes();

	for (uint32_t i = 0; i < 3; i++) {
		struct layout_result result =
			infer(*state, &sizes, i, shape_of(1, false, 1));

		assert_int_equal(result.inferred_count, 0);
	}
}

/* x + attention + mlp of one norm: both branches' partial sums are added before
 * one all-reduce. */
static void partial_sums_add(void **state)
{
	struct ir ir;
	struct block_sizes sizes = llama_sizes();
	struct problem_shape shape = shape_of(4, false, 1);
	struct layout_result result;
	struct class_build build;
	struct ir_class *class;
	uint32_t hidden, ffn, x, a, b;

	build_model(*state, &ir, &sizes, 1, 51200, false);
	class = &ir.model.class[1];
	build = build_class(*state, "parallel", TOKENS, class);
	hidden = build_axis(&build, "hidden", HIDDEN, IR_SPLIT_NONE);
	ffn = build_axis(&build, "ffn", 4096, IR_SPLIT_TENSOR);
	x = class->input = build_value(&build, extent_of(hidden, IR_NONE),
				       IR_NONE);
	a = build_linear(&build, x, extent_of(ffn, IR_NONE));
	a = build_linear(&build, a, extent_of(hidden, IR_NONE));
	b = build_linear(&build, x, extent_of(ffn, IR_NONE));
	b = build_linear(&build, b, extent_of(hidden, IR_NONE));
	class->output = build_binary(&build, IR_ADD, x,
				     build_binary(&build, IR_ADD, a, b));
	layout_infer(&ir, 1, &shape, *state, &result);
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       false, 2 * SBH), 1);
	assert_int_equal(count(&result, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       true, 2 * SBH), 1);
	assert_int_equal(result.inferred_count, 2);
}

/* GPT block: 12 h^2 + 13 h (Narayanan et al. 2021, section 3, formula 2:
 * P = 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h))). */
static void parameters_gpt(void **state)
{
	struct block_sizes sizes = gpt_sizes(true);
	double h = HIDDEN;
	struct layout_result result;

	result = infer(*state, &sizes, 1, shape_of(1, false, 1));
	assert_number(result.parameters, 12 * h * h + 13 * h);
	/* Norms (4 h) and the biases of the two row-cut products (2 h) are on
	 * every rank. */
	result = infer(*state, &sizes, 1, shape_of(8, false, 1));
	assert_number(result.parameters, (12 * h * h + 7 * h) / 8 + 6 * h);
}

/* With 8 ranks and 4 key-value heads each rank has one head, so two hold the
 * same. */
static void parameters_replicated(void **state)
{
	struct block_sizes sizes = llama_sizes();
	double h = HIDDEN;
	struct layout_result result =
		infer(*state, &sizes, 1, shape_of(8, true, 1));

	assert_number(result.parameters, 2 * h + (2 * h * h + 3 * h * 2816) / 8 +
						 2 * h * 64);
	assert_int_equal(result.operator[2].local[2], 64);
	assert_int_equal(result.operator[2].local[1], TOKENS);
	assert_int_equal(result.operator[2].local[0], MICRO_BATCH);
	assert_int_equal(result.operator[0].local[1], TOKENS / 8);
}

/* 50257 rounded up to 128 x 8 is 51200, of which each rank has 6400. */
static void parameters_padded(void **state)
{
	struct ir ir;
	struct block_sizes sizes = gpt_sizes(true);
	struct problem_shape shape = shape_of(8, false, 1);
	struct layout_result result;

	build_model(*state, &ir, &sizes, 1, 50257, true);
	layout_infer(&ir, 0, &shape, *state, &result);
	assert_number(result.parameters, 6400.0 * HIDDEN);
	assert_number(result.tied_parameters, 0);
	layout_infer(&ir, 2, &shape, *state, &result);
	assert_number(result.tied_parameters, 6400.0 * HIDDEN);
}

static bool legal(const struct ir *ir, uint32_t class_index,
		  struct problem_shape shape, const char **name,
		  uint32_t *degree)
{
	const struct ir_axis *axis = NULL;
	bool is_legal = layout_is_legal(&ir->model.class[class_index],
					&ir->model, &shape, &axis, degree);

	*name = axis ? axis->name : NULL;
	return is_legal;
}

static void legality(void **state)
{
	struct ir ir;
	struct block_sizes sizes = llama_sizes();
	const char *name;
	uint32_t degree;

	build_model(*state, &ir, &sizes, 1, 51200, false);
	/* 16 heads, 4 key-value heads, 2816 = 2^8 x 11 wide */
	for (uint32_t t = 1; t <= 32; t++)
		assert_int_equal(legal(&ir, 1, shape_of(t, false, 1), &name,
				       &degree),
				 t == 1 || t == 2 || t == 4 || t == 8 ||
					 t == 16);
	assert_false(legal(&ir, 1, shape_of(3, false, 1), &name, &degree));
	assert_string_equal(name, "heads");
	assert_int_equal(degree, 3);
	/* A padded vocabulary goes with every degree. */
	assert_true(legal(&ir, 0, shape_of(7, false, 1), &name, &degree));
	/* 2048 tokens in 2 c equal pieces, and by 4 tensor ranks in each */
	assert_true(legal(&ir, 1, shape_of(4, true, 512), &name, &degree));
	assert_false(legal(&ir, 1, shape_of(4, true, 1024), &name, &degree));
	assert_true(legal(&ir, 1, shape_of(1, false, 1024), &name, &degree));
	assert_false(legal(&ir, 1, shape_of(1, false, 2048), &name, &degree));
	assert_string_equal(name, "seq");
	assert_false(legal(&ir, 1, shape_of(1, true, 1), &name, &degree));
	assert_false(legal(&ir, 1, shape_of(1, false, 3), &name, &degree));
}

/* Narayanan et al. 2021, formula 3, attention counted whole:
 * 96 B s l h^2 (1 + s/(6h) + V/(16 l h)) with full recomputation. */
static void flops_gpt(void **state)
{
	struct ir ir;
	struct block_sizes sizes = gpt_sizes(false);
	double B = 64, s = TOKENS, l = 24, h = HIDDEN, V = 51200;
	struct flops flops;

	build_model(*state, &ir, &sizes, 24, 51200, true);
	flops = ir_flops(&ir, RECOMPUTE_FULL);
	assert_number(flops.hardware, 96 * B * s * l * h * h *
		      (1 + s / (6 * h) + V / (16 * l * h)));
	/* Without recomputation three quarters of the layers' part remain. */
	assert_number(flops.model, 72 * B * s * l * h * h *
		      (1 + s / (6 * h) + V / (12 * l * h)));
	assert_number(ir_model_flops(&ir), flops.model);
	/* The causal half is 6 B l s^2 h of 12. */
	assert_number(flops.model_causal, flops.model - 6 * B * l * s * s * h);
	/* Stored scores are all computed. */
	assert_number(flops.executed, flops.hardware);
	flops = ir_flops(&ir, RECOMPUTE_SELECTIVE);
	assert_number(flops.hardware, flops.model + 4 * B * l * s * s * h);
}

static void flops_flash(void **state)
{
	struct ir ir;
	struct block_sizes sizes = gpt_sizes(true);
	double B = 64, s = TOKENS, l = 24, h = HIDDEN;
	struct flops flops;

	build_model(*state, &ir, &sizes, 24, 51200, true);
	flops = ir_flops(&ir, RECOMPUTE_NONE);
	/* 3.5 times the causal half of 4 B l s^2 h instead of 3 times */
	assert_number(flops.executed,
		      flops.model_causal + 0.5 * 2 * B * l * s * s * h);
	assert_number(flops.hardware, flops.model);
}

/* Times add up over operators, and the fused group costs one product. */
static void times(void **state)
{
	struct block_sizes sizes = llama_sizes();
	struct ir_device device = build_device();
	struct layout_result result =
		infer(*state, &sizes, 1, shape_of(4, true, 1));
	double forward_s = 0, backward_s = 0, m = TOKENS * MICRO_BATCH;
	double bytes = 2 * SBH / 4;

	for (int i = 0; i < 14; i++) {
		forward_s += result.operator[i].forward_s;
		backward_s += result.operator[i].backward_s;
	}
	assert_number(result.forward_s, forward_s);
	assert_number(result.backward_s, backward_s);
	assert_number(result.operator[1].forward_s +
			      result.operator[2].forward_s +
			      result.operator[3].forward_s,
		      operator_time_gemm(&device, IR_BF16, m, HIDDEN,
					 HIDDEN * 1.5 / 4));
	/* the norm by sequence reads and writes a quarter */
	assert_number(result.operator[0].forward_bytes, 2 * bytes);
	/* x, dy and dx; x and dy again for the weight's gradient */
	assert_number(result.operator[0].backward_bytes, 5 * bytes);
	/* gate and up are read and the product written, by one kernel */
	assert_number(result.operator[9].forward_s, 0);
	assert_number(result.operator[11].forward_bytes,
		      3.0 * 2 * m * 2816 / 4);
}

/* Ten kernels of the block are launched: two norms, two additions, attention,
 * the multiplication with its activation, and four products (query, key and
 * value are one, gate and up another). */
static void host_bound(void **state)
{
	struct ir ir;
	struct block_sizes sizes = llama_sizes();
	struct problem_shape shape = shape_of(4, true, 1);
	struct layout_result result;

	build_model(*state, &ir, &sizes, 1, 51200, false);
	ir.topology.device.host_operator_s = 1;
	layout_infer(&ir, 1, &shape, *state, &result);
	assert_number(result.forward_s, 10);
	assert_number(result.backward_s, 10);
}

/* The kernels of Megatron-LM's cross entropy: per logit 38 bytes forward (cast
 * 2 + 4, max 4, subtract 8, exp 8, sum 4, divide 8), 14 backward (scale 8, cast
 * 4 + 2). */
static void loss_bytes(void **state)
{
	struct block_sizes sizes = llama_sizes();
	struct layout_result result =
		infer(*state, &sizes, 2, shape_of(4, true, 1));
	double logits = (double)TOKENS * MICRO_BATCH * 51200 / 4;

	assert_number(result.operator[2].forward_bytes, 38 * logits);
	assert_number(result.operator[2].backward_bytes, 14 * logits);
}

/* The bias of GPT's first product adds up m rows of 4 h / 4 in 16 bits. */
static void bias_gradient(void **state)
{
	struct block_sizes sizes = gpt_sizes(true), bare = sizes;
	struct ir_device device = build_device();
	struct ir ir;
	struct problem_shape shape = shape_of(4, true, 1);
	struct layout_result with, without;
	double m = TOKENS * MICRO_BATCH;
	uint32_t up = 0;

	build_model(*state, &ir, &bare, 1, 51200, false);
	layout_infer(&ir, 1, &shape, *state, &with);
	while (ir.model.class[1].operator[up + 1].kind != IR_GELU)
		up++;
	ir.model.class[1].operator[up].bias = false;
	layout_infer(&ir, 1, &shape, *state, &without);
	assert_number(with.operator[up].backward_s,
		      without.operator[up].backward_s +
			      operator_time_memory(&device, 2 * m * HIDDEN));
	assert_number(with.operator[up].forward_s,
		      without.operator[up].forward_s);
}

/* 8 experts, 2 for each token with room for 1.5 times the mean, gated and 512
 * wide; hidden stays whole. Operators: 0 router, 1 dispatch, 2 gate, 3 silu, 4 up,
 * 5 product, 6 down, 7 combine, 8 addition. */
enum { EXPERTS = 8, TOP_K = 2, EXPERT_FFN = 512 };

static void build_experts(struct arena *arena, struct ir *ir)
{
	struct block_sizes sizes = llama_sizes();
	struct class_build build;
	struct ir_class *class;
	uint32_t hidden, experts, ffn, x, r, e, gate, up, z;

	build_model(arena, ir, &sizes, 4, 51200, false);
	class = &ir->model.class[1];
	build = build_class(arena, "experts", TOKENS, class);
	class->is_block = true;
	hidden = build_axis(&build, "hidden", HIDDEN, IR_SPLIT_NONE);
	experts = build_axis(&build, "experts", EXPERTS, IR_SPLIT_EXPERT);
	ffn = build_axis(&build, "ffn", EXPERT_FFN, IR_SPLIT_EXPERT_TENSOR);
	x = class->input = build_value(&build, extent_of(hidden, IR_NONE),
				       IR_NONE);
	r = build_operator(&build, IR_ROUTER, x, IR_NONE, IR_NONE,
			   extent_of(experts, IR_NONE));
	last_operator(&build)->from = extent_of(hidden, IR_NONE);
	last_operator(&build)->to = extent_of(experts, IR_NONE);
	last_operator(&build)->top_k = TOP_K;
	last_operator(&build)->capacity = 1.5;
	e = build_operator(&build, IR_DISPATCH, x, r, IR_NONE,
			   extent_of(hidden, IR_NONE));
	gate = build_linear(&build, e, extent_of(ffn, IR_NONE));
	gate = build_unary(&build, IR_SILU, gate);
	up = build_linear(&build, e, extent_of(ffn, IR_NONE));
	z = build_binary(&build, IR_MULTIPLY, gate, up);
	z = build_linear(&build, z, extent_of(hidden, IR_NONE));
	for (uint32_t i = e; i <= z; i++)
		class->value[i].router = 0;
	z = build_operator(&build, IR_COMBINE, z, r, IR_NONE,
			   extent_of(hidden, IR_NONE));
	class->output = build_binary(&build, IR_ADD, x, z);
}

static struct problem_shape expert_shape(uint32_t tensor, uint32_t expert,
					 uint32_t expert_tensor)
{
	struct problem_shape shape = shape_of(tensor, tensor > 1, 1);

	shape.expert = expert;
	shape.expert_tensor = expert_tensor;
	return shape;
}

/* Each rank sends 2 x 1.5 copies of its tokens, a half of them under tensor 2:
 * R = 3 x 2 sbh / 2 bytes by all-to-all; two ranks with parts of the same
 * experts have 2 R together. */
static void collectives_of_experts(void **state)
{
	struct problem_shape shape = expert_shape(2, 4, 2);
	struct layout_result result;
	double sent = 3 * 2 * SBH / 2;
	struct ir ir;

	build_experts(*state, &ir);
	layout_infer(&ir, 1, &shape, *state, &result);
	for (int backward = 0; backward < 2; backward++) {
		assert_int_equal(count(&result, COLLECTIVE_ALL_TO_ALL,
				       GROUP_EXPERT, backward, sent), 2);
		assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER,
				       GROUP_EXPERT_TENSOR, backward, 2 * sent), 1);
		assert_int_equal(count(&result, COLLECTIVE_REDUCE_SCATTER,
				       GROUP_EXPERT_TENSOR, backward, 2 * sent), 1);
	}
	/* The tokens lie by sequence: the tensor group says nothing. */
	assert_int_equal(result.inferred_count, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(result.inferred[i].hidden, HIDDEN_NOT);
	/* Alone or with all experts at home nothing is sent. */
	shape = expert_shape(1, 1, 1);
	layout_infer(&ir, 1, &shape, *state, &result);
	assert_int_equal(result.inferred_count, 0);
	shape = expert_shape(2, 8, 1);
	layout_infer(&ir, 1, &shape, *state, &result);
	assert_int_equal(result.inferred_count, 4);
}

/* Overlapped, the two all-to-alls of the forward pass share four fifths of the work of
 * the backward pass, and the other way round. */
static void exchange_hidden(void **state)
{
	struct problem_shape shape = expert_shape(2, 4, 1);
	struct layout_result result;
	double hidden_s[2] = { 0 };
	struct ir ir;

	build_experts(*state, &ir);
	layout_infer(&ir, 1, &shape, *state, &result);
	for (uint32_t i = 0; i < result.inferred_count; i++)
		if (result.inferred[i].group == GROUP_EXPERT)
			assert_exact(result.inferred[i].hidden_s, 0);
	ir.job.overlap_experts = true;
	layout_infer(&ir, 1, &shape, *state, &result);
	for (uint32_t i = 0; i < result.inferred_count; i++)
		if (result.inferred[i].group == GROUP_EXPERT)
			hidden_s[result.inferred[i].backward] +=
				result.inferred[i].hidden_s;
	for (uint32_t i = 0; i < result.inferred_count; i++)
		assert_number(result.inferred[i].slowing,
			      result.inferred[i].group == GROUP_EXPERT ? 0.2 : 0);
	assert_number(hidden_s[false], 0.8 * result.backward_s);
	assert_number(hidden_s[true], 0.8 * result.forward_s);
}

/* Of 8 experts of 3 x 1024 x 512 each rank has two halves; the router is whole.
 * 3 n rows (n = s b / 2 tokens of the rank) meet 2 ranks' parts: 6 n rows. */
static void work_of_experts(void **state)
{
	struct problem_shape shape = expert_shape(2, 4, 2);
	struct ir_device device = build_device();
	struct layout_result result;
	double n = TOKENS * MICRO_BATCH / 2.0, rows = 6 * n;
	struct ir ir;

	build_experts(*state, &ir);
	layout_infer(&ir, 1, &shape, *state, &result);
	assert_number(result.parameters, HIDDEN * EXPERTS);
	assert_number(result.expert_parameters,
		      2 * 3.0 * HIDDEN * EXPERT_FFN / 2);
	assert_int_equal(result.operator[2].local[0], 2);
	assert_int_equal(result.operator[2].local[1], (uint64_t)(rows / 2));
	assert_int_equal(result.operator[2].local[2], EXPERT_FFN / 2);
	assert_number(result.operator[6].forward_flops,
		      2 * rows * (EXPERT_FFN / 2.0) * HIDDEN);
	assert_number(result.operator[2].forward_s + result.operator[4].forward_s,
		      operator_time_grouped(&device, IR_BF16, 2, rows / 2, HIDDEN,
					    EXPERT_FFN));
	/* Kept: the input by sequence, the scores, the rows as they arrive, gate
	 * and up and their product. */
	assert_number(result.saved_bytes,
		      2 * n * HIDDEN + 4 * n * EXPERTS +
		      2 * rows * (HIDDEN + 3 * EXPERT_FFN / 2.0));
	/* Tokens out: read once, written three times; then put in order. */
	assert_number(result.operator[1].forward_bytes,
		      2 * HIDDEN * (4 * n + 2 * rows));
	assert_number(result.output_bytes, 2 * n * HIDDEN);
}

/* Model operations: two experts a token, whatever room there is. */
static void flops_of_experts(void **state)
{
	double tokens = 64.0 * TOKENS, head = 2 * tokens * HIDDEN * 51200;
	struct flops flops;
	struct ir ir;

	build_experts(*state, &ir);
	flops = ir_flops(&ir, RECOMPUTE_NONE);
	assert_number(flops.model, 3 * (head + 4 * 2 * tokens *
		      (HIDDEN * EXPERTS + TOP_K * 3.0 * HIDDEN * EXPERT_FFN)));
}

static void legality_of_experts(void **state)
{
	const struct ir_axis *axis = NULL;
	struct problem_shape shape;
	uint32_t degree = 0;
	struct ir ir;

	build_experts(*state, &ir);
	for (uint32_t e = 1; e <= 16; e++) {
		shape = expert_shape(1, e, 1);
		assert_int_equal(layout_is_legal(&ir.model.class[1], &ir.model,
						 &shape, &axis, &degree),
				 8 % e == 0);
	}
	shape = expert_shape(1, 3, 1);
	assert_false(layout_is_legal(&ir.model.class[1], &ir.model, &shape, &axis,
				     &degree));
	assert_string_equal(axis->name, "experts");
	assert_int_equal(degree, 3);
	shape = expert_shape(1, 1, 1024);
	assert_false(layout_is_legal(&ir.model.class[1], &ir.model, &shape, &axis,
				     &degree));
	assert_string_equal(axis->name, "ffn");
	/* Tensor ranks must cut the sequence; layers without experts need not. */
	shape = shape_of(2, false, 1);
	assert_false(layout_is_legal(&ir.model.class[1], &ir.model, &shape, NULL,
				     NULL));
	assert_true(layout_is_legal(&ir.model.class[2], &ir.model, &shape, NULL,
				    NULL));
	/* Nothing of the class is cut by the dimension. */
	ir.model.class[1].axis[3].split = IR_SPLIT_NONE;
	shape = expert_shape(1, 2, 1);
	assert_false(layout_is_legal(&ir.model.class[1], &ir.model, &shape, NULL,
				     NULL));
	ir.model.class[1].axis[4].split = IR_SPLIT_NONE;
	shape = expert_shape(1, 1, 2);
	assert_false(layout_is_legal(&ir.model.class[1], &ir.model, &shape, NULL,
				     NULL));
}

/* Queries of 96, keys of 64 with 32 that all heads share, values of 64: as in
 * DeepSeek-V2 and V3, arXiv 2405.04434 section 2.1, by parts. */
static void latent_attention(void **state)
{
	struct ir ir;
	struct block_sizes sizes = gpt_sizes(true);
	struct problem_shape shape = shape_of(4, true, 1);
	struct layout_result result;
	struct class_build build;
	struct ir_class *class;
	uint32_t heads, hidden, nope, rope, both, x, q, k, v, shared;
	double sb = (double)TOKENS * MICRO_BATCH, local = HEADS / 4.0;

	build_model(*state, &ir, &sizes, 1, 51200, false);
	class = &ir.model.class[1];
	build = build_class(*state, "latent", TOKENS, class);
	hidden = build_axis(&build, "hidden", HIDDEN, IR_SPLIT_NONE);
	heads = build_axis(&build, "heads", HEADS, IR_SPLIT_TENSOR);
	nope = build_axis(&build, "nope", 64, IR_SPLIT_NONE);
	rope = build_axis(&build, "rope", 32, IR_SPLIT_NONE);
	both = build_axis(&build, "both", 96, IR_SPLIT_NONE);
	x = class->input = build_value(&build, extent_of(hidden, IR_NONE),
				       IR_NONE);
	q = build_linear(&build, x, extent_of(heads, both));
	k = build_linear(&build, x, extent_of(heads, nope));
	v = build_linear(&build, x, extent_of(heads, nope));
	shared = build_linear(&build, x, extent_of(rope, IR_NONE));
	x = build_operator(&build, IR_ATTENTION, q, k, v, extent_of(heads, nope));
	last_operator(&build)->input[3] = shared;
	last_operator(&build)->input_count = 4;
	last_operator(&build)->heads_axis = heads;
	last_operator(&build)->kv_heads_axis = heads;
	last_operator(&build)->head_size = 96;
	last_operator(&build)->value_size = 64;
	last_operator(&build)->flash = true;
	class->output = build_linear(&build, x, extent_of(hidden, IR_NONE));
	layout_infer(&ir, 1, &shape, *state, &result);
	/* 2 b s^2 per head and unit of key and value width */
	assert_number(result.operator[4].forward_flops,
		      2 * sb * TOKENS * local * (96 + 64));
	/* The input by sequence; per head q and whole keys of 96, v and the
	 * result of 64. The shared key itself is not kept. */
	assert_number(result.saved_bytes,
		      2 * SBH / 4 + 2 * sb * local * (2 * 96 + 2 * 64));
	/* The shared part is gathered, and its gradient scattered. */
	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_TENSOR,
			       false, 0), 2);
	shape = shape_of(1, false, 2);
	layout_infer(&ir, 1, &shape, *state, &result);
	assert_int_equal(count(&result, COLLECTIVE_ALL_GATHER, GROUP_CONTEXT,
			       false, 2 * sb * HEADS * (96 + 64)), 1);
}

static uint32_t random_below(uint64_t *seed, uint32_t bound)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % bound;
}

static bool same_extent(const struct ir_extent *a, const struct ir_extent *b)
{
	return a->term[0].axis[0] == b->term[0].axis[0] &&
	       a->term[0].axis_count == b->term[0].axis_count;
}

/* A graph of count operators over cut and uncut widths, most of which no
 * person would write. */
static void random_graph(struct arena *arena, uint64_t *seed, uint32_t operators,
			 struct ir_class *class)
{
	static const enum ir_operator_kind unary[] = {
		IR_RMSNORM, IR_LAYERNORM, IR_GELU, IR_SILU, IR_DROPOUT,
		IR_CROSS_ENTROPY,
	};
	struct class_build build = build_class(arena, "random", TOKENS, class);
	uint32_t hidden = build_axis(&build, "hidden", HIDDEN, IR_SPLIT_NONE);
	uint32_t heads = build_axis(&build, "heads", HEADS, IR_SPLIT_TENSOR);
	uint32_t kv_heads = build_axis(&build, "kv_heads", 4, IR_SPLIT_TENSOR);
	uint32_t ffn = build_axis(&build, "ffn", 2048, IR_SPLIT_TENSOR);
	uint32_t head = build_axis(&build, "head_dim", 64, IR_SPLIT_NONE);
	const struct ir_extent width[] = {
		extent_of(hidden, IR_NONE), extent_of(heads, head),
		extent_of(kv_heads, head), extent_of(ffn, IR_NONE),
	};
	uint32_t last;

	class->is_block = true;
	class->axis[kv_heads].replicable = true;
	last = class->input = build_value(&build, width[random_below(seed, 4)],
					  IR_NONE);
	while (class->operator_count < operators) {
		uint32_t a = random_below(seed, class->value_count);
		uint32_t b = random_below(seed, class->value_count);

		switch (random_below(seed, 5)) {
		case 0:
			last = build_unary(&build, unary[random_below(seed, 6)],
					   a);
			break;
		case 1:
			if (!same_extent(&class->value[a].extent[2],
					 &class->value[b].extent[2]))
				continue;
			last = build_binary(&build, random_below(seed, 2) ?
						    IR_ADD : IR_MULTIPLY, a, b);
			break;
		case 2:
			if (!same_extent(&class->value[a].extent[2], &width[1]) ||
			    !same_extent(&class->value[b].extent[2], &width[2]))
				continue;
			last = build_operator(&build, IR_ATTENTION, a, b, b,
					      width[1]);
			last_operator(&build)->heads_axis = heads;
			last_operator(&build)->kv_heads_axis = kv_heads;
			last_operator(&build)->head_size = class->axis[head].size;
			last_operator(&build)->value_size = class->axis[head].size;
			last_operator(&build)->flash = random_below(seed, 2);
			last_operator(&build)->causal = random_below(seed, 2);
			break;
		default:
			last = build_linear(&build, a,
					    width[random_below(seed, 4)]);
			break;
		}
	}
	class->output = last;
}

static double forward_flops(const struct layout_result *result, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += result->operator[i].forward_flops;
	return sum;
}

/* Whatever the graph: numbers are finite and not negative, one device has no
 * collective, cutting never adds work or saved bytes, and never divides the
 * work by more than the ranks. */
static void random_graphs(void **state)
{
	uint64_t seed = 1;

	for (int i = 0; i < 1000; i++) {
		struct arena_mark mark = arena_mark(*state);
		uint32_t operators = 1 + random_below(&seed, 20);
		uint32_t tensor = 2u << random_below(&seed, 4);
		struct block_sizes sizes = llama_sizes();
		struct problem_shape alone = shape_of(1, false, 1);
		struct problem_shape shape =
			shape_of(tensor, random_below(&seed, 2),
				 1u << random_below(&seed, 3));
		double ranks = tensor * (double)shape.context;
		struct layout_result one, cut;
		struct ir ir;

		build_model(*state, &ir, &sizes, 1, 51200, false);
		random_graph(*state, &seed, operators, &ir.model.class[1]);
		layout_infer(&ir, 1, &alone, *state, &one);
		layout_infer(&ir, 1, &shape, *state, &cut);
		assert_int_equal(one.inferred_count, 0);
		assert_true(cut.forward_s > 0 && cut.forward_s < 1e3);
		assert_true(cut.backward_s > 0 && cut.backward_s < 1e3);
		assert_true(cut.selective_saved_bytes >= 0);
		assert_true(cut.saved_bytes >= cut.selective_saved_bytes);
		assert_true(cut.saved_bytes <= one.saved_bytes * (1 + 1e-12));
		assert_true(cut.parameters <= one.parameters);
		assert_true(cut.working_bytes > 0);
		assert_true(forward_flops(&cut, operators) <=
			    forward_flops(&one, operators) * (1 + 1e-12));
		assert_true(forward_flops(&cut, operators) * ranks >=
			    forward_flops(&one, operators) * (1 - 1e-12));
		for (uint32_t j = 0; j < cut.inferred_count; j++) {
			assert_true(cut.inferred[j].bytes > 0);
			assert_true(cut.inferred[j].hidden_s >= 0);
		}
		arena_rewind(*state, mark);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_unfused),
		cmocka_unit_test(saved_flash),
		cmocka_unit_test(saved_fp8),
		cmocka_unit_test(saved_llama),
		cmocka_unit_test(eager_norms),
		cmocka_unit_test(saved_head),
		cmocka_unit_test(collectives_tensor),
		cmocka_unit_test(collectives_sequence),
		cmocka_unit_test(collectives_hidden),
		cmocka_unit_test(collectives_context),
		cmocka_unit_test(collectives_ends),
		cmocka_unit_test(no_collectives_alone),
		cmocka_unit_test(partial_sums_add),
		cmocka_unit_test(parameters_gpt),
		cmocka_unit_test(parameters_replicated),
		cmocka_unit_test(parameters_padded),
		cmocka_unit_test(legality),
		cmocka_unit_test(flops_gpt),
		cmocka_unit_test(flops_flash),
		cmocka_unit_test(times),
		cmocka_unit_test(host_bound),
		cmocka_unit_test(loss_bytes),
		cmocka_unit_test(bias_gradient),
		cmocka_unit_test(collectives_of_experts),
		cmocka_unit_test(exchange_hidden),
		cmocka_unit_test(work_of_experts),
		cmocka_unit_test(flops_of_experts),
		cmocka_unit_test(legality_of_experts),
		cmocka_unit_test(latent_attention),
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}

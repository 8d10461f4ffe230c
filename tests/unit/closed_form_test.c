/* SPDX-License-Identifier: MIT
 *
 * GPT models written in the language against published closed forms: activations
 * a layer keeps (Korthikanti et al. 2022, "Reducing Activation Recomputation in
 * Large Transformer Models", table 2 and section 4.3), operations of an iteration
 * (Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU
 * Clusters Using Megatron-LM", formula 3) and parameters (its formula 2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/flops.h"
#include "compiler/problem_from_ir.h"
#include "tests/unit/fixture.h"
#include "tests/unit/lower_spec.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { VOCABULARY = 51200, BATCH_SIZE = 64 };

struct size {
	uint32_t heads, hidden, layers, tokens;
};

/* The models of Korthikanti et al., table 3, and two with other lengths. */
static const struct size activation_sizes[] = {
	{ 64, 6144, 48, 2048 },	  { 96, 12288, 96, 2048 },
	{ 128, 20480, 105, 2048 }, { 160, 25600, 128, 2048 },
	{ 16, 1024, 4, 512 },	  { 40, 5120, 4, 8192 },
};

static void lower_gpt(struct spec *spec, const struct size *size, bool flash)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "nest 1\n"
		 "import std.device.h100\nimport std.topology.spine_leaf\n"
		 "import std.model.gpt\n"
		 "model gpt(seq) { layers {\n"
		 "  embedding(vocab = %d, hidden = %u, dropout = 10%%, positions = seq)\n"
		 "  %u * gpt_block(hidden = %u, heads = %u, flash = %s)\n"
		 "  lm_head(vocab = %d, hidden = %u, tied = true, norm = layernorm)\n"
		 "} }\n"
		 "job j { model = gpt(seq = %u) global_batch = %d\n"
		 "  topology = spine_leaf(device = h100_sxm)\n"
		 "  search { tensor in { 1, 2, 4, 8 } context in { 1 } micro_batch in { 1, 4 } }\n"
		 "}\n",
		 VOCABULARY, size->hidden, size->layers, size->hidden, size->heads,
		 flash ? "true" : "false", VOCABULARY, size->hidden, size->tokens,
		 BATCH_SIZE);
	spec_lower(spec, text);
	if (spec->ir)
		return;
	spec_show(spec);
	fail_msg("%u heads, %u wide was refused", size->heads, size->hidden);
}

/* Every row of table 2 for one shape; the scores' share of selective
 * recomputation is what flash attention does not keep either. */
static void check_block(const struct problem *problem, uint32_t shape,
			const struct size *size, bool flash)
{
	double b = problem->shape[shape].micro_batch, s = size->tokens;
	double h = size->hidden, a = size->heads;
	double t = problem->shape[shape].tensor;
	double sbh = s * b * h, scores = flash ? 0 : 5 * a * s * s * b / t;
	bool sequence = problem->shape[shape].sequence;
	double rest = sequence ? sbh * 34 / t : sbh * (10 + 24 / t);

	assert_exact(problem_cost_at(problem, shape, 1, RECOMPUTE_NONE)
			      ->saved_bytes, rest + scores);
	assert_exact(problem_cost_at(problem, shape, 1, RECOMPUTE_SELECTIVE)
			      ->saved_bytes, rest);
	/* The input of a layer lies by sequence where sequence parallelism is on. */
	assert_exact(problem_cost_at(problem, shape, 1, RECOMPUTE_FULL)
			      ->saved_bytes, 2 * sbh / (sequence ? t : 1));
}

/* Section 4.3: a mask byte of the embedding's dropout; the input of the last norm
 * and of the output layer, 16 bits each; the logits in 32 bits. */
static void check_ends(const struct problem *problem, uint32_t shape,
		       const struct size *size)
{
	double sb = (double)size->tokens * problem->shape[shape].micro_batch;
	double t = problem->shape[shape].tensor;
	double cut = problem->shape[shape].sequence ? t : 1;

	for (int i = 0; i < RECOMPUTE_COUNT; i++) {
		assert_exact(problem_cost_at(problem, shape, 0, (enum recompute)i)
				      ->saved_bytes, sb * size->hidden / cut);
		assert_exact(problem_cost_at(problem, shape, 2, (enum recompute)i)
				      ->saved_bytes,
			      4 * sb * size->hidden / cut + 4 * sb * VOCABULARY / t);
	}
}

static void check_activations(const struct size *size, bool flash)
{
	const struct problem *problem;
	uint32_t by_sequence = 0, whole = 0, alone = 0;
	struct spec spec;

	lower_gpt(&spec, size, flash);
	problem = problem_from_ir(&spec.compilation, spec.ir);
	assert_non_null(problem);
	for (uint32_t i = 0; i < problem->shape_count; i++) {
		check_block(problem, i, size, flash);
		check_ends(problem, i, size);
		by_sequence += problem->shape[i].sequence;
		whole += !problem->shape[i].sequence &&
			 problem->shape[i].tensor > 1;
		alone += problem->shape[i].tensor == 1;
	}
	/* 2, 4 and 8 ranks with two micro-batches each, with and without. */
	assert_int_equal(by_sequence, 6);
	assert_int_equal(whole, 6);
	assert_int_equal(alone, 2);
	spec_release(&spec);
}

static void activations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(activation_sizes); i++) {
		check_activations(&activation_sizes[i], false);
		check_activations(&activation_sizes[i], true);
	}
}

/* The models of Narayanan et al., table 1. */
static const struct size published_sizes[] = {
	{ 24, 2304, 24, 2048 },	   { 32, 3072, 30, 2048 },
	{ 32, 4096, 36, 2048 },	   { 48, 6144, 40, 2048 },
	{ 64, 8192, 48, 2048 },	   { 80, 10240, 60, 2048 },
	{ 96, 12288, 80, 2048 },   { 128, 16384, 96, 2048 },
	{ 128, 20480, 105, 2048 }, { 160, 25600, 128, 2048 },
};

/* Formula 2 leaves out the last norm, 2 h. */
static void parameters(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(published_sizes); i++) {
		const struct size *size = &published_sizes[i];
		uint64_t h = size->hidden, l = size->layers, s = size->tokens;
		struct spec spec;

		lower_gpt(&spec, size, true);
		assert_true(spec.ir->model.parameters ==
			    12 * l * h * h + 13 * l * h +
				    (VOCABULARY + s) * h + 2 * h);
		spec_release(&spec);
	}
}

/* 96 B s l h^2 (1 + s/(6h) + V/(16 l h)) multiplied out: products 96 B s l h^2,
 * attention 16 B s^2 l h, output layer 6 B s h V. A quarter of the layers' part is
 * recomputation; that of attention proper alone is 4 B s^2 l h. */
static void operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(published_sizes); i++) {
		const struct size *size = &published_sizes[i];
		double B = BATCH_SIZE, s = size->tokens, l = size->layers;
		double h = size->hidden, products = 24 * B * s * l * h * h;
		double attention = 4 * B * s * s * l * h;
		double head = 6 * B * s * h * VOCABULARY;
		struct spec spec;

		for (int flash = 0; flash < 2; flash++) {
			lower_gpt(&spec, size, flash);
			assert_exact(ir_flops(spec.ir, RECOMPUTE_FULL).hardware,
				      4 * (products + attention) + head);
			assert_exact(ir_flops(spec.ir, RECOMPUTE_SELECTIVE).hardware,
				      3 * products + 4 * attention + head);
			assert_exact(ir_flops(spec.ir, RECOMPUTE_NONE).hardware,
				      3 * (products + attention) + head);
			assert_exact(ir_flops(spec.ir, RECOMPUTE_FULL).model,
				      3 * (products + attention) + head);
			spec_release(&spec);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activations),
		cmocka_unit_test(parameters),
		cmocka_unit_test(operations),
	};

	return cmocka_run_group_tests_name("closed_form", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Muon: which weights are matrices and what their steps take, by hand on a device
 * that reaches 1 TFLOP/s in every product and has no other costs; 8-bit Adam: which
 * weights have 8-bit states.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/apart.h"
#include "compiler/matrices.h"
#include "compiler/training.h"
#include "tests/unit/fixture.h"
#include "tests/unit/ir_build.h"
#include "tests/unit/lower_spec.h"

/* Tiles of one element: no waves, no ramps, no kernels. */
static struct ir_device plain_device(void)
{
	return (struct ir_device){
		.name = "plain", .memory_bytes = 80e9,
		.memory_bandwidth_Bps = 1e30, .memory_efficiency = 1,
		.peak_flops = { 1e12, 1e12, 1e12, 1e12 },
		.gemm_efficiency = 1, .gemm_narrow = 1,
		.tile_m = 1, .tile_n = 1, .multiprocessors = 1,
	};
}

/* Five times X X^T, A A and A X: 2 r^2 c + 2 r^3 + 2 r^2 c with r <= c. */
static double orthogonalise_flops(double r, double c)
{
	return 5 * (4 * r * r * c + 2 * r * r * r);
}

/* Jordan et al. 2024 count 2 (2 n m^2 + m^3) for each of T iterations on n x m, m <=
 * n, and of that 6 n m^2 at most: for a square one 5 x 6 x m^3. */
static void newton_schulz(void **state)
{
	struct ir_device device = plain_device();

	(void)state;
	assert_number(matrix_orthogonalise_s(&device, 1024, 1024),
		      5 * 6.0 * (1 << 30) / 1e12);
	/* 5 (4 x 256^2 x 1024 + 2 x 256^3) = 1,509,949,440, either way round */
	assert_number(matrix_orthogonalise_s(&device, 256, 1024),
		      1509949440 / 1e12);
	assert_number(matrix_orthogonalise_s(&device, 1024, 256),
		      1509949440 / 1e12);
}

/* What orthogonalising an m x k matrix adds to the work of its products on so many
 * tokens, forward and backward. */
static double overhead(double m, double k, double tokens)
{
	struct ir_device device = plain_device();

	return 1e12 * matrix_orthogonalise_s(&device, m, k) / (6 * m * k * tokens);
}

/* Jordan et al. 2024 (kellerjordan.github.io/posts/muon, "Runtime analysis"): at most T m / B, for
 * the NanoGPT speedrun and for Llama 405B, "below 1 %" for both. The copy of the post that could be
 * read has lost its formulas, so m and B are those of the runs themselves: m = 768, B = 8 x 65,536
 * (KellerJordan/modded-nanogpt, train_gpt2.py); m = 16,384 (meta-llama/llama-models), B =
 * 16,000,000 (Balaji, SC 24). 5 x 768 / 524,288 = 0.73 %, 5 x 16,384 / 16e6 = 0.51 %; that the post
 * rounds to 0.7 and 0.5 % is from memory. Square matrices reach the bound; one with n >> m takes
 * two thirds. */
static void published_overheads(void **state)
{
	static const struct {
		double width, tokens, share;
	} published[] = {
		{ 768, 524288, 0.007 },
		{ 16384, 16e6, 0.005 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(published); i++) {
		double m = published[i].width, tokens = published[i].tokens;

		assert_number(overhead(m, m, tokens), 5 * m / tokens);
		assert_true(overhead(m, m, tokens) < 1.05 * published[i].share);
		assert_true(overhead(m, m, tokens) > 0.95 * published[i].share);
		assert_true(overhead(m, 1000 * m, tokens) <
			    0.668 * 5 * m / tokens);
	}
}

/* Hidden 1024, 16 heads of 64 over 4 key-value heads, feed-forward 2816. */
static struct ir *small_llama(struct arena *arena)
{
	const struct block_sizes sizes = { .tokens = 2048, .hidden = 1024,
					   .heads = 16, .kv_heads = 4,
					   .ffn = 2816, .gated = true,
					   .flash = true, .causal = true };
	struct ir *ir = ARENA_NEW(arena, struct ir);

	build_model(arena, ir, &sizes, 6, 51200, false);
	ir->topology.device = plain_device();
	ir->job.optimizer = IR_MUON;
	return ir;
}

/* The matrices of a class; each of their parameters takes 1 ns besides. */
static struct problem_weight fill(struct arena *arena, const struct ir *ir,
				  uint32_t class_index,
				  const struct problem_shape *shape)
{
	struct problem_weight weight = { 0 };
	struct layout_result result;

	layout_infer(ir, class_index, shape, arena, &result);
	matrices_fill(ir, &ir->model.class[class_index], &result, 4, 4e9,
		      arena, &weight);
	return weight;
}

static const struct problem_shape alone = {
	.tensor = 1, .context = 1, .expert = 1, .expert_tensor = 1,
	.micro_batch = 1,
};

/* Query 1024 x 1024, key and value 1024 x 256, result 1024 x 1024, gate, up and down
 * 1024 x 2816: 2 x 1,048,576 + 2 x 262,144 + 3 x 2,883,584 = 11,272,192. */
static void weights_apart(void **state)
{
	const struct ir *ir = small_llama(*state);
	struct problem_weight weight = fill(*state, ir, 1, &alone);
	double wide = orthogonalise_flops(1024, 2816);

	assert_exact(weight.apart.parameters, 11272192);
	assert_exact(weight.apart.largest, 2883584);
	assert_number(weight.apart.step_s,
		      (2 * orthogonalise_flops(1024, 1024) +
		       2 * orthogonalise_flops(256, 1024) + 3 * wide) / 1e12 +
		      11272192 * 1e-9);
	assert_number(weight.apart.largest_step_s,
		      wide / 1e12 + 2883584 * 1e-9);
	assert_exact(weight.expert_apart.parameters, 0);
	/* Embedding and head are Adam's. */
	for (uint32_t i = 0; i < 3; i += 2)
		assert_exact(fill(*state, ir, i, &alone).apart.parameters, 0);
}

/* Megatron-LM keeps query, key and value as 1024 x 1536 and steps them apart; gate
 * and up are one matrix of 1024 x 5632. */
static void weights_of_megatron(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem_weight weight;
	double gate = orthogonalise_flops(1024, 5632);

	ir->job.target = IR_TARGET_MEGATRON;
	weight = fill(*state, ir, 1, &alone);
	assert_exact(weight.apart.parameters, 11272192);
	assert_exact(weight.apart.largest, 1024 * 5632);
	assert_number(weight.apart.step_s,
		      (2 * orthogonalise_flops(1024, 1024) +
		       2 * orthogonalise_flops(256, 1024) + gate +
		       orthogonalise_flops(1024, 2816)) / 1e12 +
		      11272192 * 1e-9);
	assert_number(weight.apart.largest_step_s,
		      gate / 1e12 + 1024 * 5632 * 1e-9);
}

/* Four ranks step a quarter each: 1024 x 256, 1024 x 64, 256 x 1024, 1024 x 704 twice
 * and 704 x 1024. */
static void weights_cut(void **state)
{
	const struct ir *ir = small_llama(*state);
	struct problem_shape shape = alone;
	struct problem_weight weight;

	shape.tensor = 4;
	weight = fill(*state, ir, 1, &shape);
	assert_exact(weight.apart.parameters, 11272192 / 4);
	assert_exact(weight.apart.largest, 704 * 1024);
	assert_number(weight.apart.step_s,
		      (2 * orthogonalise_flops(256, 1024) +
		       2 * orthogonalise_flops(64, 1024) +
		       3 * orthogonalise_flops(704, 1024)) / 1e12 +
		      11272192 / 4 * 1e-9);
}

/* Two ranks on a node of eight at 450 GB/s and 1 us. Whole matrices after an all-gather: of n
 * elements in 32 bits half comes from the other rank, 2 n bytes; 12 bytes more of
 * the other half are moved at 4 GB/s. */
static void mode_duplicated(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem_shape shape = alone;
	struct problem_weight weight;
	double elements = 11272192, gather_s = 2 * elements / 450e9;

	shape.tensor = 2;
	ir->job.muon_mode = IR_MUON_DUPLICATED;
	weight = fill(*state, ir, 1, &shape);
	assert_exact(weight.apart.parameters, elements / 2);
	assert_number(weight.apart.step_s,
		      (2 * orthogonalise_flops(1024, 1024) +
		       2 * orthogonalise_flops(256, 1024) +
		       3 * orthogonalise_flops(1024, 2816)) / 1e12 +
			      gather_s + 7 * 1e-6 +
			      elements / 2 * (1e-9 + 12 / 4e9));
	/* Nothing is cut. */
	assert_number(fill(*state, ir, 1, &alone).apart.step_s,
		      (2 * orthogonalise_flops(1024, 1024) +
		       2 * orthogonalise_flops(256, 1024) +
		       3 * orthogonalise_flops(1024, 2816)) / 1e12 +
			      elements * 1e-9);
}

/* Five times 2 w^2 u + 2 w^3 + 2 w^2 u, and w x w numbers of 16 bits added up over two
 * ranks: 2 x 1/2 of 2 w^2 bytes, and two steps. The side that is not cut is 1024 wide
 * in every product: queries 512, keys and values 128, result 512, the feed-forward
 * part 1408 a rank. */
static void mode_distributed(void **state)
{
	static const double cut[] = { 512, 128, 128, 512, 1408, 1408, 1408 };
	struct ir *ir = small_llama(*state);
	struct problem_shape shape = alone;
	struct problem_weight weight;
	double w = 1024, expected = 11272192 / 2 * 1e-9;

	for (size_t i = 0; i < COUNT(cut); i++)
		expected += 5 * ((4 * w * w * cut[i] + 2 * w * w * w) / 1e12 +
				 2 * w * w / 450e9 + 2 * 1e-6);
	shape.tensor = 2;
	ir->job.muon_mode = IR_MUON_DISTRIBUTED;
	weight = fill(*state, ir, 1, &shape);
	assert_number(weight.apart.step_s, expected);
	assert_exact(weight.apart.parameters, 11272192 / 2);
}

/* DeepSeek-V3's block with experts, under Megatron-LM: 256 experts over 8 ranks,
 * 7168 wide. */
static void weights_of_experts(void **state)
{
	struct problem_shape shape = alone;
	struct problem_weight weight;
	struct spec spec;
	double gate = orthogonalise_flops(4096, 7168);
	double down = orthogonalise_flops(2048, 7168);

	(void)state;
	spec_good(&spec, "import std.model.deepseek",
		  "model = deepseek_v3() optimizer = muon target = megatron");
	spec.ir->topology.device = plain_device();
	shape.expert = 8;
	weight = fill(&spec.compilation.arena, spec.ir, 2, &shape);
	/* 32 experts with gate and up 7168 x 4096 and down 2048 x 7168 */
	assert_exact(weight.expert_apart.parameters,
		     32 * (7168.0 * 4096 + 2048 * 7168));
	assert_exact(weight.expert_apart.largest, 7168 * 4096);
	assert_number(weight.expert_apart.step_s,
		      32 * ((gate + down) / 1e12 +
			    (7168 * 4096 + 2048 * 7168) * 1e-9));
	assert_number(weight.expert_apart.largest_step_s,
		      gate / 1e12 + 7168 * 4096 * 1e-9);
	/* Queries out of 1536, keys and values (128 heads of 128 each) out of 512, the
	 * rotary key, the result of 16384, the shared expert, the router. */
	assert_exact(weight.apart.parameters,
		     7168.0 * 1536 + 1536 * 24576 + 7168 * 512 + 512 * 32768 +
		     7168 * 64 + 16384 * 7168 + 3 * 7168 * 2048 + 7168 * 256);
	assert_exact(weight.apart.largest, 16384 * 7168);
	/* In that order; latent and rotary key, keys and values, gate and up are one. */
	assert_number(weight.apart.step_s,
		      (orthogonalise_flops(1536, 7168) +
		       orthogonalise_flops(1536, 24576) +
		       orthogonalise_flops(576, 7168) +
		       orthogonalise_flops(512, 32768) +
		       orthogonalise_flops(7168, 16384) + gate + down +
		       orthogonalise_flops(256, 7168)) / 1e12 +
			      weight.apart.parameters * 1e-9);
	spec_release(&spec);
}

/* 8-bit Adam keeps 32-bit moments of the table, whose weight the head may share. */
static void quantised(void **state)
{
	struct ir *ir = small_llama(*state);
	double bandwidth_Bps = 1e12, bytes = 18 + 2 * 2 * (1 + 4.0 / 256);
	double table = 51200.0 * 1024;

	ir->job.optimizer = IR_ADAM_8BIT;
	for (int tied = 0; tied < 2; tied++) {
		/* Table; products and two norms; a norm and the head. */
		const double parameters[] = {
			0, 11272192 + 2 * 1024, 1024 + (tied ? 0 : table),
		};

		ir->model.tied = tied;
		ir->model.class[2].operator[1].tied = tied;
		for (uint32_t i = 0; i < 3; i++) {
			struct problem_weight weight = { 0 };
			struct layout_result result;

			layout_infer(ir, i, &alone, *state, &result);
			apart_fill(ir, &ir->model.class[i], &result,
				   bandwidth_Bps, *state, &weight);
			assert_exact(weight.apart.parameters, parameters[i]);
			assert_number(weight.apart.step_s,
				      parameters[i] * bytes / bandwidth_Bps);
			assert_exact(weight.apart.largest, 0);
		}
	}
}

/* bf16: 12 bytes with Adam, a copy and a momentum with Muon. The step of a matrix
 * moves what every step moves (18), the momentum twice and 12 around the products. */
static void constants(void **state)
{
	struct ir *ir = small_llama(*state);
	struct training training = training_of(&ir->job);

	assert_exact(training.optimizer, 12);
	assert_exact(training.apart, 4 + 4);
	assert_exact(training.step, 18 + 16);
	assert_exact(training.apart_step, 18 + 8 + 12);
	assert_true(training_needs_whole(IR_MUON));
	for (int i = 0; i < IR_MUON; i++)
		assert_false(training_needs_whole((enum ir_optimizer)i));
	ir->job.precision = IR_FP32;	/* no copies: 8 and 4 */
	training = training_of(&ir->job);
	assert_exact(training.optimizer, 8);
	assert_exact(training.apart, 4);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(newton_schulz),
		TEST(published_overheads),
		TEST(weights_apart),
		TEST(weights_of_megatron),
		TEST(weights_cut),
		TEST(mode_duplicated),
		TEST(mode_distributed),
		TEST(weights_of_experts),
		TEST(quantised),
		TEST(constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Recomputation of chosen modules: which operators belong to which, what the
 * backward pass still keeps, and what is computed and sent again. Expected sizes
 * are written out for each block from what its operators keep (layout_saved.c):
 * T tokens, 2 bytes an element.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/flops.h"
#include "compiler/layout.h"
#include "compiler/recompute_module.h"
#include "tests/unit/fixture.h"
#include "tests/unit/lower_spec.h"

#define JOB "nest 1\n" \
	"import std.device.h100\nimport std.topology.spine_leaf\n" \
	"import std.model.bert\nimport std.model.deepseek\n" \
	"import std.model.gpt3\nimport std.model.llama3\n" \
	"import std.model.mixtral\n" \
	"job j { topology = single_node(device = h100_sxm) global_batch = 8 "

static void lower_modules(struct spec *spec, const char *model,
			  const char *modules)
{
	char text[1024];

	snprintf(text, sizeof(text), JOB "model = %s recompute_modules = [%s] }",
		 model, modules);
	spec_lower(spec, text);
	if (spec->ir)
		return;
	spec_show(spec);
	fail_msg("%s with %s was refused", model, modules);
}

static const struct problem_shape alone = {
	.tensor = 1, .context = 1, .expert = 1, .expert_tensor = 1,
	.micro_batch = 1,
};
static const struct problem_shape cut = {
	.tensor = 4, .context = 1, .expert = 1, .expert_tensor = 1,
	.sequence = true, .micro_batch = 1,
};

/* The named class of the model under a shape. */
static struct layout_result infer(struct spec *spec, const char *class,
				  const struct problem_shape *shape)
{
	struct layout_result result = { 0 };
	uint32_t i = 0;

	while (strcmp(spec->ir->model.class[i].name, class))
		i++;
	layout_infer(spec->ir, i, shape, &spec->compilation.arena, &result);
	return result;
}

/* Kept in all and with the modules redone, per token. */
static void check_kept(const char *model, const char *class,
		       const char *modules, double tokens, double all,
		       double selective)
{
	struct layout_result result;
	double sum = 0;
	struct spec spec;
	uint32_t i = 0;

	lower_modules(&spec, model, modules);
	result = infer(&spec, class, &alone);
	assert_exact(result.saved_bytes / tokens, all);
	assert_exact(result.selective_saved_bytes / tokens, selective);
	/* What is shown for each operator adds up. */
	while (strcmp(spec.ir->model.class[i].name, class))
		i++;
	for (uint32_t j = 0; j < spec.ir->model.class[i].operator_count; j++)
		sum += result.operator[j].selective_saved_bytes;
	assert_exact(sum / tokens, selective);
	spec_release(&spec);
}

/* Norm's input and result, twice; query, attention's result; key and value of 8
 * heads of 128; gate, up and their product, 28,672 wide. */
static void kept_llama(void **state)
{
	double h = 2 * 8192, ffn = 2 * 28672, all = 6 * h + 4 * 1024 + 3 * ffn;

	(void)state;
	/* Flash attention keeps nothing that its reader does not keep. */
	check_kept("llama3_70b", "llama_block", "core_attn", 8192, all, all);
	/* The second norm is part of the MLP: its input alone stays. */
	check_kept("llama3_70b", "llama_block", "mlp", 8192, all,
		   all - h - 3 * ffn);
}

/* Korthikanti et al. 2022, section 4: 11 sbh of attention, 19 of the MLP, 4 of the
 * norms. Of the MLP's all but the mask of the dropout behind it (1) is made again,
 * the result of its norm, which it reads, included: 18. */
static void kept_gpt(void **state)
{
	double h = 12288;

	(void)state;
	check_kept("gpt3_175b", "gpt_block", "core_attn, mlp", 2048, 34 * h,
		   16 * h);
}

/* Post-norm: four values of attention (8 h) and its input (2 h), a mask (1 h), the
 * norm's input and result (4 h), gelu's input and result (16 h), a mask (1 h), the
 * last norm's input (2 h). */
static void kept_bert(void **state)
{
	double h = 1024;

	(void)state;
	check_kept("bert_large", "bert_block", "mlp", 512, 34 * h, 18 * h);
	check_kept("bert_large", "bert_block", "layernorm", 512, 34 * h, 32 * h);
	check_kept("bert_large", "bert_block", "layernorm, mlp", 512, 34 * h,
		   16 * h);
}

/* 2 of 8 experts a token. The norm before attention is part of the products
 * behind it, that before the router is not. */
static void kept_mixtral(void **state)
{
	double h = 2 * 4096, kv = 2 * 1024, rows = 2, ffn = 2 * 14336;
	double scores = 4 * 8;
	double routed = rows * (h + 3 * ffn);
	double all = 6 * h + 2 * kv + scores + routed;

	(void)state;
	check_kept("mixtral_8x7b", "moe_block", "moe", 4096, all,
		   all - scores - routed);
	check_kept("mixtral_8x7b", "moe_block", "moe_act", 4096, all,
		   all - rows * ffn);
	check_kept("mixtral_8x7b", "moe_block", "layernorm", 4096, all, all - h);
	check_kept("mixtral_8x7b", "moe_block", "layernorm, moe", 4096, all,
		   all - h - scores - routed);
}

/* Latents 1,536 and 512 wide, before and after their norms; 128 heads of 192 for
 * query and key (with its shared part), of 128 for value and result. */
static void kept_deepseek(void **state)
{
	double h = 2 * 7168, latents = 2 * (1536 + 512), query = 2 * 128 * 192;
	double value = 2 * 128 * 128, shared = 2 * 2048, expert = 8 * 2 * 2048;
	double scores = 4 * 256;
	double all = 4 * h + 2 * latents + 2 * query + 2 * value + 3 * shared +
		     scores + 8 * h + 3 * expert;
	/* The shared key's own 64 numbers stay in the place of the keys. */
	double up = latents + 2 * query + value - 2 * 64;

	(void)state;
	check_kept("deepseek_v3", "latent_moe_block", "mla_up_proj", 4096, all,
		   all - up);
	check_kept("deepseek_v3", "latent_moe_block", "layernorm", 4096, all,
		   all - 2 * h);
	check_kept("deepseek_v3", "latent_moe_block", "shared_experts", 4096, all,
		   all - 3 * shared);
	check_kept("deepseek_v3", "latent_moe_block",
		   "mla_up_proj, layernorm, moe_act", 4096, all,
		   all - up - 2 * h - expert);
}

/* The block of a prediction layer is recomputed as the others are, what joins it
 * and its head are not; no layer at the ends takes part. */
static void policies_of_classes(void **state)
{
	const struct ir_class *class;
	struct spec spec;

	(void)state;
	lower_modules(&spec, "deepseek_v3(prediction = 1)", "mla_up_proj");
	for (uint32_t i = 0; i < spec.ir->model.class_count; i++) {
		class = &spec.ir->model.class[i];
		if (class->is_block) {
			assert_int_equal(recompute_of_class(class, RECOMPUTE_FULL),
					 RECOMPUTE_FULL);
			continue;
		}
		assert_int_equal(recompute_of_class(class, RECOMPUTE_FULL),
				 RECOMPUTE_NONE);
		assert_int_equal(recompute_of_class(class, RECOMPUTE_SELECTIVE),
				 strcmp(class->name, "latent_prediction") ?
					 RECOMPUTE_NONE : RECOMPUTE_SELECTIVE);
	}
	spec_release(&spec);
}

static double forward_s(const struct layout_result *result,
			uint32_t first, uint32_t end)
{
	double sum = 0;

	for (uint32_t i = first; i < end; i++)
		sum += result->operator[i].forward_s;
	return sum;
}

static int redone(const struct layout_result *result, enum collective kind)
{
	int count = 0;

	for (uint32_t i = 0; i < result->inferred_count; i++)
		count += result->inferred[i].selective &&
			 result->inferred[i].kind == kind;
	return count;
}

/* llama_block: norm, q, k, v, attention, o, +, norm, gate, silu, up, *, down, + */
static void work_of_mlp(void **state)
{
	struct layout_result result;
	struct spec spec;

	(void)state;
	lower_modules(&spec, "llama3_70b", "mlp");
	result = infer(&spec, "llama_block", &cut);
	assert_exact(result.selective_forward_s, forward_s(&result, 7, 13));
	/* The gather before the first product, the scatter behind the last. */
	assert_int_equal(redone(&result, COLLECTIVE_ALL_GATHER), 1);
	assert_int_equal(redone(&result, COLLECTIVE_REDUCE_SCATTER), 1);
	/* Norm's result, gate, up, product: what is dropped is held again. */
	assert_exact(result.selective_working_bytes,
		      8192.0 * 2 * (8192 / 4 + 3 * 28672 / 4));
	spec_release(&spec);
}

/* Query, key and value enter attention proper as they were saved. */
static void work_of_attention(void **state)
{
	struct problem_shape shape = cut;
	struct layout_result result;
	struct spec spec;

	(void)state;
	shape.context = 2;
	lower_modules(&spec, "llama3_70b", "core_attn");
	result = infer(&spec, "llama_block", &shape);
	assert_int_equal(redone(&result, COLLECTIVE_ALL_GATHER), 1);
	assert_int_equal(redone(&result, COLLECTIVE_REDUCE_SCATTER), 0);
	/* The rotation is not redone. */
	assert_true(result.selective_forward_s < result.operator[4].forward_s);
	assert_true(result.selective_forward_s > 0);
	spec_release(&spec);
}

/* Dispatch and combination are exchanged again with `moe`, and with nothing less. */
static void work_of_experts(void **state)
{
	struct problem_shape shape = alone;
	struct layout_result result;
	struct spec spec;

	(void)state;
	shape.expert = 8;
	lower_modules(&spec, "mixtral_8x7b", "moe");
	result = infer(&spec, "moe_block", &shape);
	assert_int_equal(redone(&result, COLLECTIVE_ALL_TO_ALL), 2);
	spec_release(&spec);
	lower_modules(&spec, "mixtral_8x7b", "layernorm, moe_act");
	result = infer(&spec, "moe_block", &shape);
	assert_int_equal(redone(&result, COLLECTIVE_ALL_TO_ALL), 0);
	assert_true(result.selective_forward_s > 0);
	spec_release(&spec);
}

/* Three products of the feed-forward part, 2 x 3 h ffn a token and layer. */
static void flops_of_mlp(void **state)
{
	struct flops flops;
	struct spec spec;

	(void)state;
	lower_modules(&spec, "llama3_8b", "mlp");
	flops = ir_flops(spec.ir, RECOMPUTE_SELECTIVE);
	assert_exact(flops.hardware - flops.model,
		      8.0 * 8192 * 32 * 2 * 3 * 4096 * 14336);
	assert_exact(ir_flops(spec.ir, RECOMPUTE_NONE).hardware, flops.model);
	spec_release(&spec);
}

static void wrong_modules(void **state)
{
	static const char *const wrong[] = {
		"model = llama3_8b recompute_modules = [rmsnorm]",
		"model = llama3_8b recompute_modules = mlp",
		"model = llama3_8b recompute_modules = []",
		"model = llama3_8b recompute_modules = [mlp, mlp]",
		"model = llama3_8b recompute_modules = [moe]",
		"model = llama3_8b recompute_modules = [mla_up_proj]",
		/* Both norms are part of products. */
		"model = llama3_8b recompute_modules = [layernorm]",
		"model = mixtral_8x7b recompute_modules = [mlp]",
		"model = mixtral_8x7b recompute_modules = [shared_experts]",
		"model = mixtral_8x7b recompute_modules = [moe_act, moe]",
		"model = deepseek_v3 recompute_modules = [moe, shared_experts]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[1024];
		struct spec spec;

		snprintf(text, sizeof(text), JOB "%s }", wrong[i]);
		spec_lower(&spec, text);
		if (spec.ir || spec_error(&spec) != E_JOB_VALUE) {
			spec_show(&spec);
			fail_msg("no error of: %s", wrong[i]);
		}
		spec_release(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_llama),
		cmocka_unit_test(kept_gpt),
		cmocka_unit_test(kept_bert),
		cmocka_unit_test(kept_mixtral),
		cmocka_unit_test(kept_deepseek),
		cmocka_unit_test(policies_of_classes),
		cmocka_unit_test(work_of_mlp),
		cmocka_unit_test(work_of_attention),
		cmocka_unit_test(work_of_experts),
		cmocka_unit_test(flops_of_mlp),
		cmocka_unit_test(wrong_modules),
	};

	return cmocka_run_group_tests_name("recompute", tests, NULL, NULL);
}

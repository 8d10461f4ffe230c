/* SPDX-License-Identifier: MIT
 *
 * From the placement program to the solver's problem: shapes, costs under each
 * recomputation policy, constants of training, rules of the target, reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler/layout.h"
#include "compiler/problem_from_ir.h"
#include "lang/compilation.h"
#include "lang/module.h"
#include "tests/unit/fixture.h"
#include "tests/unit/ir_build.h"

/* A small Llama on 8 x 4 devices, global batch 64. */
static struct ir *small_llama(struct compilation *compilation)
{
	const struct block_sizes sizes = { .tokens = 2048, .hidden = 1024,
					   .heads = 16, .kv_heads = 4,
					   .ffn = 2816, .gated = true,
					   .flash = true, .causal = true };
	struct ir *ir = ARENA_NEW(&compilation->arena, struct ir);

	build_model(&compilation->arena, ir, &sizes, 6, 51200, false);
	return ir;
}

static void set_domain(struct compilation *compilation, struct ir *ir,
		       enum plan_variable variable, uint32_t count,
		       const uint32_t *at)
{
	struct ir_domain *domain = &ir->job.domain[variable];

	domain->given = true;
	domain->span = (struct span){ .begin = 70 + variable, .end = 80 };
	domain->count = count;
	domain->at = ARENA_ARRAY(&compilation->arena, uint32_t, count);
	memcpy(domain->at, at, count * sizeof(*at));
}

#define SET_DOMAIN(compilation, ir, variable, ...)                            \
	set_domain((compilation), (ir), (variable),                           \
		   sizeof((const uint32_t[]){ __VA_ARGS__ }) /                \
			   sizeof(uint32_t),                                  \
		   (const uint32_t[]){ __VA_ARGS__ })

static struct problem *make(struct compilation *compilation,
			    const struct ir *ir)
{
	struct problem *problem = problem_from_ir(compilation, ir);

	assert_non_null(problem);
	assert_null(problem_check(problem));
	return problem;
}

/* The one shape with these degrees. */
static uint32_t find_shape(const struct problem *problem, uint32_t tensor,
			   uint32_t context, bool sequence,
			   uint32_t micro_batch)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];

		if (shape->tensor != tensor || shape->context != context ||
		    shape->sequence != sequence ||
		    shape->micro_batch != micro_batch)
			continue;
		assert_int_equal(found, UINT32_MAX);
		found = i;
	}
	assert_int_not_equal(found, UINT32_MAX);
	return found;
}

/* Tensor 1, 2, 4, 8, 16 (heads 16, kv heads 4, 2816 = 2^8 x 11) and context 1, 2,
 * 4, 8, 16, 32 with tensor x context <= 32; sequence both ways where tensor > 1;
 * micro-batch the seven divisors of 64. Pairs: tensor 1: 6; 2: 5; 4: 4; 8: 3;
 * 16: 2. Shapes: (6 + 2 x (5 + 4 + 3 + 2)) x 7 = 238. */
static void all_shapes(void **state)
{
	struct problem *problem = make(*state, small_llama(*state));

	assert_int_equal(problem->shape_count, 238);
	assert_int_equal(problem->class_count, 3);
	assert_int_equal(problem_chain_length(problem), 8);
	assert_int_equal(problem->device_count, 32);
	assert_int_equal(problem->global_batch, 64);
	assert_false(problem->class_is_block[0]);
	assert_true(problem->class_is_block[1]);
	assert_false(problem->class_is_block[2]);
	assert_true(problem->zero[0] && problem->zero[1]);
	assert_false(problem->zero[2] || problem->zero[3]);
}

static void domains_limit_shapes(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem *problem;

	/* 3 divides neither heads nor width, 32 not the heads: skipped. */
	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 2, 3, 8, 32);
	SET_DOMAIN(*state, ir, VARIABLE_CONTEXT, 1);
	SET_DOMAIN(*state, ir, VARIABLE_SEQUENCE, 1);
	SET_DOMAIN(*state, ir, VARIABLE_MICRO_BATCH, 1, 2, 3);
	SET_DOMAIN(*state, ir, VARIABLE_PIPELINE, 1, 2);
	SET_DOMAIN(*state, ir, VARIABLE_RECOMPUTE, RECOMPUTE_NONE,
		   RECOMPUTE_FULL);
	SET_DOMAIN(*state, ir, VARIABLE_ZERO, 1);
	problem = make(*state, ir);
	assert_int_equal(problem->shape_count, 4);
	find_shape(problem, 2, 1, true, 1);
	find_shape(problem, 8, 1, true, 2);
	assert_int_equal(problem->pipeline.count, 2);
	assert_int_equal(problem->data.count, 0);
	assert_false(problem->zero[0]);
	assert_true(problem->zero[1]);
	assert_true(problem->recompute[RECOMPUTE_NONE]);
	assert_false(problem->recompute[RECOMPUTE_SELECTIVE]);
	assert_true(problem->recompute[RECOMPUTE_FULL]);
}

/* Collectives of a policy by kind and direction. */
static int count(const struct problem *problem, const struct problem_cost *cost,
		 enum collective kind, bool backward)
{
	int found = 0;

	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[cost->collective_first + i];

		found += collective->kind == kind &&
			 collective->backward == backward;
	}
	return found;
}

static void policies(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem *problem = make(*state, ir);
	uint32_t shape = find_shape(problem, 4, 2, true, 2);
	const struct problem_cost *none, *selective, *full;
	struct layout_result result;

	none = problem_cost_at(problem, shape, 1, RECOMPUTE_NONE);
	selective = problem_cost_at(problem, shape, 1, RECOMPUTE_SELECTIVE);
	full = problem_cost_at(problem, shape, 1, RECOMPUTE_FULL);
	layout_infer(ir, 1, &problem->shape[shape],
		     &((struct compilation *)*state)->arena, &result);

	assert_number(none->forward_s, result.forward_s);
	assert_number(full->forward_s, result.forward_s);
	assert_number(full->backward_s, result.backward_s + result.forward_s);
	assert_number(selective->backward_s,
		      result.backward_s + result.operator[4].forward_s);
	/* 2 sbh / (t c), 2 x 2048 x 2 x 1024 / 8 */
	assert_number(full->saved_bytes, 1048576);
	assert_number(none->saved_bytes, result.saved_bytes);
	assert_number(full->working_bytes, none->working_bytes +
						   none->saved_bytes - 1048576);

	/* Two gathers, two scatters and one exchange forward; backward two
	 * transposed gathers, two again of inputs, one exchange; two scatters
	 * and one of the exchange. */
	assert_int_equal(count(problem, none, COLLECTIVE_ALL_GATHER, false), 3);
	assert_int_equal(count(problem, none, COLLECTIVE_REDUCE_SCATTER, false),
			 2);
	assert_int_equal(count(problem, none, COLLECTIVE_ALL_GATHER, true), 5);
	assert_int_equal(count(problem, none, COLLECTIVE_REDUCE_SCATTER, true),
			 3);
	assert_int_equal(none->collective_count, 13);
	/* The core again is the exchange again. */
	assert_int_equal(selective->collective_count, 14);
	assert_int_equal(count(problem, selective, COLLECTIVE_ALL_GATHER, true),
			 6);
	assert_int_equal(problem->collective[selective->collective_first].group,
			 GROUP_CONTEXT);
	/* All of the forward pass again. */
	assert_int_equal(full->collective_count, 18);
	assert_int_equal(count(problem, full, COLLECTIVE_ALL_GATHER, false), 3);
	assert_int_equal(count(problem, full, COLLECTIVE_ALL_GATHER, true), 8);
	assert_int_equal(count(problem, full, COLLECTIVE_REDUCE_SCATTER, true),
			 5);
}

/* Recomputation leaves the embedding and the head alone. */
static void policies_of_ends(void **state)
{
	struct problem *problem = make(*state, small_llama(*state));
	uint32_t shape = find_shape(problem, 4, 1, true, 1);

	for (uint32_t class_index = 0; class_index < 3; class_index += 2) {
		const struct problem_cost *none = problem_cost_at(
			problem, shape, class_index, RECOMPUTE_NONE);

		for (int i = RECOMPUTE_SELECTIVE; i < RECOMPUTE_COUNT; i++)
			assert_memory_equal(
				none,
				problem_cost_at(problem, shape, class_index,
						(enum recompute)i),
				sizeof(*none));
	}
}

static void origins(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem *problem = make(*state, ir);

	for (uint32_t i = 0; i < problem->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[i];
		const struct problem_origin *origin =
			problem_origin(problem, collective->source);
		const struct ir_class *class =
			&ir->model.class[origin->class_index];

		assert_int_equal(origin->kind, collective->kind);
		assert_int_equal(origin->group, collective->group);
		assert_int_equal(origin->backward, collective->backward);
		assert_true(origin->operator < class->operator_count);
		assert_int_equal(origin->span.begin, 100 + origin->operator);
	}
}

/* 18 bytes a parameter in bf16, of which 12 are sharded: Megatron-LM,
 * docs/source/api-guide/dist_optimizer.md; fp16 4 + 16/d, fp32 8 + 8/d. */
static void memory_constants(void **state)
{
	static const double kept[IR_FP8][2] = {
		[IR_BF16] = { 6, 12 }, [IR_FP16] = { 4, 16 },
		[IR_FP32] = { 8, 8 },
	};
	struct ir *ir = small_llama(*state);

	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 1);
	for (int i = 0; i < IR_FP8; i++) {
		struct problem *problem;

		ir->job.precision = (enum ir_precision)i;
		problem = make(*state, ir);
		assert_number(problem->memory.weight_bytes +
				      problem->memory.gradient_bytes, kept[i][0]);
		assert_number(problem->memory.optimizer_bytes, kept[i][1]);
		assert_number(problem->memory.reserve_bytes, 3e9);
		assert_number(problem->memory.group_bytes, 5e8);
		assert_number(problem->memory.limit_bytes, 80e9);
		assert_number(problem->sync.memory_bandwidth_Bps, 3e12 * 0.8);
	}
}

static void tied_weights(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem *problem = make(*state, ir);
	uint32_t shape;

	assert_int_equal(problem->tied_class, CLASS_NONE);
	ir->model.tied = true;
	ir->model.class[2].operator[1].tied = true;
	problem = make(*state, ir);
	shape = find_shape(problem, 4, 1, false, 1);
	assert_int_equal(problem->tied_class, 2);
	assert_int_equal(problem->tied_with_class, 0);
	/* 51200 / 4 x 1024 words; the head has a norm of 1024 as well */
	for (uint32_t i = 0; i < 3; i += 2)
		assert_number(problem_weight_at(problem, shape, i)
				      ->tied_parameters, 12800 * 1024);
	assert_number(problem_weight_at(problem, shape, 2)->parameters,
		      12800 * 1024 + 1024);
	assert_number(problem_weight_at(problem, shape, 1)->tied_parameters, 0);
}

static double evaluate(const struct problem *problem, uint32_t index,
		       double virtual_stages, double pipeline, double context)
{
	struct predicate_input input = { .stage_count = 0 };

	input.value[VARIABLE_VIRTUAL] = virtual_stages;
	input.value[VARIABLE_PIPELINE] = pipeline;
	input.value[VARIABLE_CONTEXT] = context;
	return predicate_evaluate(&problem->requirement[index], &input);
}

static void megatron_rules(void **state)
{
	struct ir *ir = small_llama(*state);
	struct problem *problem;

	ir->job.target = IR_TARGET_MEGATRON;
	problem = make(*state, ir);
	assert_int_equal(problem->requirement_count, 1);
	assert_true(evaluate(problem, 0, 1, 1, 1) > 0);
	assert_true(evaluate(problem, 0, 2, 2, 1) > 0);
	assert_true(evaluate(problem, 0, 2, 1, 1) <= 0);
	assert_non_null(problem_requirement(problem, 0)->rule);
	assert_true(problem->sync.overlap_reduce);
	assert_true(problem->sync.overlap_gather);
	assert_false(problem->uniform_stages);

	/* Stored scores cannot be cut by context; SGD has no sharded form. */
	ir->model.class[1].operator[4].flash = false;
	ir->job.optimizer = IR_SGD;
	problem = make(*state, ir);
	assert_int_equal(problem->requirement_count, 2);
	assert_true(evaluate(problem, 1, 1, 1, 1) > 0);
	assert_true(evaluate(problem, 1, 1, 1, 2) <= 0);
	assert_int_equal(problem->requirement[1].source, 1);
	assert_false(problem->zero[1]);
}

/* One error with this code, at this domain; returns its message. */
static const char *refusal(struct compilation *compilation,
			   const struct ir *ir, enum diag_code code,
			   uint32_t begin)
{
	const struct diagnostic *diagnostic;

	assert_null(problem_from_ir(compilation, ir));
	assert_int_equal(compilation->diags.count, 1);
	diagnostic = compilation->diags.at[0];
	assert_int_equal(diagnostic->code, code);
	assert_int_equal(diagnostic->span.begin, begin);
	return diagnostic->message;
}

static void indivisible(void **state)
{
	struct compilation *compilation = *state;
	struct ir *ir = small_llama(*state);
	const struct diag_part *part;

	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 3, 12);
	assert_string_equal(refusal(*state, ir, E_INDIVISIBLE,
				    70 + VARIABLE_TENSOR),
			    "'heads = 16' cannot be split over 'tensor = 3'");
	part = compilation->diags.at[0]->parts;
	assert_int_equal(part->kind, DIAG_REMARK);
	assert_int_equal(part->span.begin, 30);
	assert_string_equal(part->text, "'heads' is split by 'tensor' here");
	assert_int_equal(part->next->kind, DIAG_HELP);
	assert_string_equal(part->next->text,
			    "all layers can be split by 'tensor' in 1, 2, 4, 8, 16");
}

static void indivisible_context(void **state)
{
	struct ir *ir = small_llama(*state);

	SET_DOMAIN(*state, ir, VARIABLE_CONTEXT, 3);
	assert_string_equal(refusal(*state, ir, E_INDIVISIBLE,
				    70 + VARIABLE_CONTEXT),
			    "'seq = 2048' cannot be split over 'context = 3'");
}

static void too_few_devices(void **state)
{
	struct ir *ir = small_llama(*state);

	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 64);
	refusal(*state, ir, E_NO_SHAPE, 70 + VARIABLE_TENSOR);
}

static void no_split(void **state)
{
	struct ir *ir = small_llama(*state);

	for (int i = 0; i < 3; i++)
		for (uint32_t j = 0; j < ir->model.class[i].axis_count; j++)
			ir->model.class[i].axis[j].split =
				j == BATCH ? IR_SPLIT_DATA : IR_SPLIT_NONE;
	/* Nothing to cut: only data and pipeline are left. */
	assert_int_equal(make(*state, ir)->shape_count, 7);
	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 2);
	refusal(*state, ir, E_NO_SHAPE, 70 + VARIABLE_TENSOR);
}

/* Turns the feed-forward part of the small Llama into 8 experts, 2 for a token:
 * its first product over the width is routed. */
static struct ir *small_mixture(struct compilation *compilation)
{
	struct ir *ir = small_llama(compilation);
	struct ir_class *class = &ir->model.class[1];
	struct class_build build;
	uint32_t hidden, experts, ffn, x, r, e, z;

	build = build_class(&compilation->arena, "experts", 2048, class);
	class->is_block = true;
	hidden = build_axis(&build, "hidden", 1024, IR_SPLIT_NONE);
	experts = build_axis(&build, "experts", 8, IR_SPLIT_EXPERT);
	ffn = build_axis(&build, "ffn", 1024, IR_SPLIT_EXPERT_TENSOR);
	x = class->input = build_value(&build, extent_of(hidden, IR_NONE),
				       IR_NONE);
	r = build_operator(&build, IR_ROUTER, x, IR_NONE, IR_NONE,
			   extent_of(experts, IR_NONE));
	last_operator(&build)->from = extent_of(hidden, IR_NONE);
	last_operator(&build)->to = extent_of(experts, IR_NONE);
	last_operator(&build)->top_k = 2;
	last_operator(&build)->capacity = 1;
	e = build_operator(&build, IR_DISPATCH, x, r, IR_NONE,
			   extent_of(hidden, IR_NONE));
	z = build_linear(&build, e, extent_of(ffn, IR_NONE));
	z = build_linear(&build, z, extent_of(hidden, IR_NONE));
	for (uint32_t i = e; i <= z; i++)
		class->value[i].router = 0;
	z = build_operator(&build, IR_COMBINE, z, r, IR_NONE,
			   extent_of(hidden, IR_NONE));
	class->output = build_binary(&build, IR_ADD, x, z);
	return ir;
}

/* 32 devices; the vocabulary is padded, so tensor may be anything that divides the
 * sequence, here 1 or 4, the latter by sequence only. Expert 1, 2, 4, 8; expert
 * tensor the divisors of tensor where it is left out: 4 + 3 x 4 ways. */
static void expert_shapes(void **state)
{
	struct ir *ir = small_mixture(*state);
	struct problem *problem;
	const struct problem_weight *weight;

	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 1, 4);
	SET_DOMAIN(*state, ir, VARIABLE_CONTEXT, 1);
	SET_DOMAIN(*state, ir, VARIABLE_MICRO_BATCH, 1);
	problem = make(*state, ir);
	assert_int_equal(problem->shape_count, 16);
	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];

		assert_true(shape->sequence == (shape->tensor > 1));
		weight = problem_weight_at(problem, i, 1);
		assert_number(weight->parameters, 1024 * 8);
		assert_number(weight->expert_parameters,
			      8.0 * 2 * 1024 * 1024 / shape->expert /
				      shape->expert_tensor);
	}
	/* What is given is taken. */
	SET_DOMAIN(*state, ir, VARIABLE_EXPERT, 4);
	SET_DOMAIN(*state, ir, VARIABLE_EXPERT_TENSOR, 8);
	assert_int_equal(make(*state, ir)->shape_count, 2);
}

static void forget_reports(struct compilation *compilation)
{
	compilation->diags.count = 0;
	compilation->diags.errors = 0;
}

static void expert_refusals(void **state)
{
	struct ir *ir = small_mixture(*state);

	SET_DOMAIN(*state, ir, VARIABLE_EXPERT, 3, 16);
	assert_string_equal(refusal(*state, ir, E_INDIVISIBLE,
				    70 + VARIABLE_EXPERT),
			    "'experts = 8' cannot be split over 'expert = 3'");
	forget_reports(*state);
	ir = small_mixture(*state);
	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 2);
	SET_DOMAIN(*state, ir, VARIABLE_SEQUENCE, 0);
	assert_string_equal(refusal(*state, ir, E_NO_SHAPE,
				    70 + VARIABLE_SEQUENCE),
			    "layers with experts need 'sequence = on' with tensor > 1");
	forget_reports(*state);
	ir = small_llama(*state);
	SET_DOMAIN(*state, ir, VARIABLE_EXPERT, 2);
	assert_string_equal(refusal(*state, ir, E_NO_SHAPE,
				    70 + VARIABLE_EXPERT),
			    "no axis of model 'model' is split by 'expert'");
}

static void micro_batch_divides(void **state)
{
	struct ir *ir = small_llama(*state);

	SET_DOMAIN(*state, ir, VARIABLE_MICRO_BATCH, 3, 5);
	assert_string_equal(refusal(*state, ir, E_MICRO_BATCH,
				    70 + VARIABLE_MICRO_BATCH),
			    "no value of 'micro_batch' divides 'global_batch = 64'");
}

static void sequence_needs_tensor(void **state)
{
	struct ir *ir = small_llama(*state);

	SET_DOMAIN(*state, ir, VARIABLE_TENSOR, 1);
	SET_DOMAIN(*state, ir, VARIABLE_SEQUENCE, 1);
	refusal(*state, ir, E_NO_SHAPE, 70 + VARIABLE_SEQUENCE);
}

/* Without a word about them: ZeRO 0 and 1, all layers, the usual schedules. */
static void what_is_asked_for(void **state)
{
	const uint32_t zero[] = { 2, 3 }, layers[] = { 2, 4 }, first = 0;
	const uint32_t gpipe = SCHEDULE_GPIPE, none = RECOMPUTE_NONE;
	struct ir *ir = small_llama(*state);
	const struct problem *problem = problem_from_ir(*state, ir);

	assert_true(problem->zero[0] && problem->zero[1]);
	assert_false(problem->zero[2] || problem->zero[3]);
	assert_int_equal(problem->recompute_layers.count, 0);
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		assert_false(problem->schedule[i]);
	set_domain(*state, ir, VARIABLE_ZERO, 2, zero);
	set_domain(*state, ir, VARIABLE_RECOMPUTE_LAYERS, 2, layers);
	set_domain(*state, ir, VARIABLE_SCHEDULE, 1, &gpipe);
	set_domain(*state, ir, VARIABLE_SHARD_LEVEL, 1, &first);
	problem = problem_from_ir(*state, ir);
	assert_null(problem_check(problem));
	assert_false(problem->zero[0] || problem->zero[1]);
	assert_true(problem->zero[2] && problem->zero[3]);
	assert_int_equal(problem->recompute_layers.count, 2);
	assert_int_equal(problem->recompute_layers.at[1], 4);
	assert_true(problem->schedule[SCHEDULE_GPIPE]);
	assert_false(problem->schedule[SCHEDULE_1F1B]);
	assert_true(problem->shard_level[0]);
	set_domain(*state, ir, VARIABLE_RECOMPUTE, 1, &none);
	refusal(*state, ir, E_SEARCH_VALUE, 70 + VARIABLE_RECOMPUTE_LAYERS);
}

/* bf16: a 32-bit copy and the states; the step moves 18 bytes and every state twice. */
static void optimizers(void **state)
{
	static const struct {
		enum ir_optimizer optimizer;
		double bytes, step, apart;
	} known[] = {
		{ IR_ADAM, 4 + 8, 18 + 16, 0 },
		{ IR_SGD, 4, 18, 0 },
		{ IR_SGD_MOMENTUM, 4 + 4, 18 + 8, 0 },
		{ IR_ADAFACTOR, 4, 18, 0 },
		/* Of embeddings; else 2 (1 + 4 / 256). */
		{ IR_ADAM_8BIT, 4 + 8, 18 + 16, 4 + 2 + 2 * 4.0 / 256 },
		{ IR_MUON, 4 + 8, 18 + 16, 4 + 4 },	/* matrices apart */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct ir *ir = small_llama(*state);
		const struct problem *problem;

		ir->job.optimizer = known[i].optimizer;
		problem = make(*state, ir);
		assert_float_equal(problem->memory.optimizer_bytes,
				   known[i].bytes, 0);
		assert_float_equal(problem->memory.apart_bytes, known[i].apart, 0);
		assert_int_equal(problem->states_apart, known[i].apart > 0);
		assert_float_equal(problem->sync.step_bytes, known[i].step, 0);
	}
}

/* A block under Muon: 1024-wide products of a small Llama with grouped queries, 2 x
 * 1024 x 1024 + 2 x 1024 x 256 + 3 x 1024 x 2816 parameters in matrices and two norms
 * besides; none elsewhere. ZeRO 2 and 3 would cut them. */
static void muon(void **state)
{
	struct ir *ir = small_llama(*state);
	const struct problem *problem;
	const struct problem_weight *block;

	ir->job.optimizer = IR_MUON;
	problem = make(*state, ir);
	assert_true(problem->states_apart);
	assert_exact(problem->memory.apart_bytes, 4 + 4);
	block = problem_weight_at(problem, find_shape(problem, 1, 1, false, 1), 1);
	assert_exact(block->apart.parameters, 11272192);
	assert_exact(block->parameters, 11272192 + 2 * 1024);
	assert_true(block->apart.step_s > 0);
	for (uint32_t i = 0; i < 3; i += 2)
		assert_exact(problem_weight_at(problem, 0, i)->apart.parameters,
			     0);
	assert_true(problem->zero[0] && problem->zero[1]);
	SET_DOMAIN(*state, ir, VARIABLE_ZERO, 1, 2);
	problem = make(*state, ir);
	assert_true(problem->zero[1] && !problem->zero[2]);
	SET_DOMAIN(*state, ir, VARIABLE_ZERO, 2, 3);
	refusal(*state, ir, E_SEARCH_VALUE, 70 + VARIABLE_ZERO);
}

/* Megatron-LM deals them out over all replicas, and has no Muon in fp16. */
static void muon_of_megatron(void **state)
{
	struct ir *ir = small_llama(*state);
	struct predicate_input input = { .stage_count = 0 };
	const struct problem *problem;

	ir->job.optimizer = IR_MUON;
	ir->job.target = IR_TARGET_MEGATRON;
	ir->job.span = (struct span){ .begin = 5, .end = 6 };
	problem = make(*state, ir);
	assert_true(problem->zero[1]);
	assert_int_equal(problem->requirement_count, 2);
	for (int level = 0; level < 2; level++) {
		double holds;

		input.value[VARIABLE_SHARD_LEVEL] = level;
		holds = predicate_evaluate(&problem->requirement[0], &input);
		assert_int_equal(holds > 0, level == 0);
	}
	ir->job.precision = IR_FP16;
	refusal(*state, ir, E_TARGET_RULE, 5);
}

/* 180 ways to cut (tensor 1 to 16, both ways of sequence, 20 powers of two for
 * context) times 1600 micro-batches. */
static void too_many_shapes(void **state)
{
	struct ir *ir = small_llama(*state);

	ir->job.global_batch = 2095133040;	/* highly composite: 1600 divisors */
	for (int i = 0; i < 3; i++)
		ir->model.class[i].axis[SEQ].size = 1 << 20;
	ir->model.sequence_length = 1 << 20;
	ir->topology.device_count = 1 << 20;
	ir->job.span = (struct span){ .begin = 5, .end = 6 };
	refusal(*state, ir, E_SHAPES_MANY, 5);
}

/* Every class of the examples: uncut, the inference counts the parameters that
 * the lowering counts, but for the padding of the vocabulary and for tied
 * weights, which belong to the embedding. */
static void examples(void **state)
{
	static const struct {
		const char *path;
		double padding;		/* words added x hidden */
	} example[] = {
		{ "examples/llama3-70b-1024h100/llama3.nest", 0 },
		{ "examples/llama2-7b-64h100/llama2.nest", 0 },
		/* 50257 is rounded up to 50304 = 393 x 128 */
		{ "examples/gpt3-175b-1024h100/gpt3.nest", 47.0 * 12288 },
	};
	const char *root = getenv("top_srcdir");

	for (size_t i = 0; i < sizeof(example) / sizeof(*example); i++) {
		const struct problem_shape alone = {
			.tensor = 1, .context = 1, .expert = 1,
			.expert_tensor = 1, .micro_batch = 1,
		};
		struct compilation *compilation = *state;
		struct arena *arena = &compilation->arena;
		const struct module *module = module_load(
			compilation, arena_printf(arena, "%s/%s", root ? root : ".",
						  example[i].path));
		struct ir *ir;
		double parameters = 0;

		assert_non_null(module);
		assert_true(module->clean);
		ir = lower_job(compilation, module, NULL);
		assert_non_null(ir);
		make(compilation, ir);
		for (uint32_t j = 0; j < ir->model.run_count; j++) {
			struct layout_result result;

			layout_infer(ir, ir->model.run[j].class_index, &alone,
				     arena, &result);
			parameters += ir->model.run[j].count *
				      (result.parameters -
				       result.tied_parameters);
		}
		assert_number(parameters,
			      (double)ir->model.parameters + example[i].padding);
	}
}

#define TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, compilation_setup,       \
					compilation_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_shapes),
		TEST(domains_limit_shapes),
		TEST(policies),
		TEST(policies_of_ends),
		TEST(origins),
		TEST(memory_constants),
		TEST(tied_weights),
		TEST(megatron_rules),
		TEST(indivisible),
		TEST(indivisible_context),
		TEST(too_few_devices),
		TEST(no_split),
		TEST(micro_batch_divides),
		TEST(sequence_needs_tensor),
		TEST(expert_shapes),
		TEST(expert_refusals),
		TEST(what_is_asked_for),
		TEST(optimizers),
		TEST(muon),
		TEST(muon_of_megatron),
		TEST(too_many_shapes),
		TEST(examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Rules of Megatron-LM beyond what the inference itself demands (heads,
 * feed-forward width and key-value groups against tensor, the sequence against
 * 2 x context and context x tensor, micro-batches against the pipeline under
 * interleaving; experts against expert, the expert grid against the ranks, sequence
 * parallelism beside experts). Uneven stages go through --pipeline-model-parallel-layout, and the
 * vocabulary is padded as the template's `pad` says (--make-vocab-size-divisible-by).
 * Read in megatron/training/arguments.py (validate_args),
 * megatron/core/transformer/transformer_config.py and
 * megatron/core/optimizer/distrib_optimizer.py.
 */
#include "compiler/target.h"

#include "compiler/job_names.h"
#include "compiler/recompute_module.h"
#include "lang/compilation.h"

static const struct predicate_step interleaving[] = {
	TARGET_LOAD(VARIABLE_VIRTUAL),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
	TARGET_LOAD(VARIABLE_PIPELINE),
	TARGET_PUSH(1),
	{ .op = PREDICATE_GREATER },
	{ .op = PREDICATE_OR },
};

static const struct predicate_step whole_context[] = {
	TARGET_LOAD(VARIABLE_CONTEXT),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
};

static const struct predicate_step whole_experts[] = {
	TARGET_LOAD(VARIABLE_EXPERT_TENSOR),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
};

static const struct predicate_step whole_pipeline[] = {
	TARGET_LOAD(VARIABLE_ZERO),
	TARGET_PUSH(1),
	{ .op = PREDICATE_LESS_EQUAL },
	TARGET_LOAD(VARIABLE_PIPELINE),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
	{ .op = PREDICATE_OR },
};

static const struct predicate_step whole_groups[] = {
	TARGET_LOAD(VARIABLE_SHARD_LEVEL),
	TARGET_PUSH(0),
	{ .op = PREDICATE_EQUAL },
};

static bool stores_scores(const struct ir_model *model)
{
	for (uint32_t i = 0; i < model->class_count; i++)
		for (uint32_t j = 0; j < model->class[i].operator_count; j++) {
			const struct ir_operator *operator =
				&model->class[i].operator[j];

			if (operator->kind == IR_ATTENTION && !operator->flash)
				return true;
		}
	return false;
}

/* Whether products of experts have biases. */
static bool has_expert_biases(const struct ir_model *model)
{
	for (uint32_t i = 0; i < model->class_count; i++)
		for (uint32_t j = 0; j < model->class[i].operator_count; j++) {
			const struct ir_operator *operator =
				&model->class[i].operator[j];

			if (operator->kind == IR_LINEAR && operator->bias &&
			    ir_operator_router(&model->class[i], operator))
				return true;
		}
	return false;
}

/* --fp8-format scales with delay unless told otherwise; parts that make their
 * result again cannot go with it. */
static bool modules_fit_precision(struct compilation *compilation,
				  const struct ir *ir)
{
	const enum recompute_module refused[] = { MODULE_EXPERT_ACTIVATION,
						  MODULE_NORM };
	const struct ir_job *job = &ir->job;

	for (size_t i = 0; job->precision == IR_FP8 && i < 2; i++) {
		if (!(job->recompute_modules & recompute_module_bit(refused[i])))
			continue;
		diag_error(&compilation->diags, E_TARGET_RULE,
			   job->recompute_modules_span,
			   "Megatron-LM does not recompute '%s' in fp8 with delayed scaling",
			   recompute_module_name(refused[i]));
		diag_help(&compilation->diags, "leave it out, or use 'precision = bf16'");
		return false;
	}
	return true;
}

/* Optimizers the framework has, in the precisions it has them for. */
static bool check_optimizer(struct compilation *compilation, const struct ir *ir)
{
	if (ir->job.optimizer == IR_ADAFACTOR ||
	    ir->job.optimizer == IR_ADAM_8BIT) {
		diag_error(&compilation->diags, E_TARGET_RULE, ir->job.span,
			   "Megatron-LM has no optimizer '%s'",
			   optimizer_name(ir->job.optimizer));
		diag_help(&compilation->diags,
			  "use 'optimizer = adam', 'muon' or 'sgd', or leave 'target' out");
		return false;
	}
	if (ir->job.optimizer != IR_MUON || ir->job.precision != IR_FP16)
		return true;
	diag_error(&compilation->diags, E_TARGET_RULE, ir->job.span,
		   "Megatron-LM has no optimizer 'muon' in fp16");
	diag_help(&compilation->diags,
		  "use 'precision = bf16', or 'optimizer = adam'");
	return false;
}

static bool check_positions(struct compilation *compilation,
			    const struct ir_model *model)
{
	if (!model->facts.max_positions ||
	    model->facts.max_positions >= model->sequence_length)
		return true;
	diag_error(&compilation->diags, E_TARGET_RULE, model->span,
		   "Megatron-LM needs as many positions as tokens, but "
		   "'max_positions' is %llu and 'seq' %llu",
		   (unsigned long long)model->facts.max_positions,
		   (unsigned long long)model->sequence_length);
	diag_help(&compilation->diags,
		  "set max_positions = %llu in the model, or leave it out",
		  (unsigned long long)model->sequence_length);
	return false;
}

bool target_megatron_rules(struct compilation *compilation,
			   const struct ir *ir, struct target_rules *rules)
{
	const struct ir_model *model = &ir->model;
	bool adam = ir->job.optimizer == IR_ADAM;
	bool muon = ir->job.optimizer == IR_MUON;

	*rules = (struct target_rules){
		/* ZeRO 1 is --use-distributed-optimizer, which knows Adam, and deals
		 * Muon's matrices out whole (core/optimizer/layer_wise_optimizer.py);
		 * 2 and 3 are Megatron-FSDP, which takes over a rank's whole model
		 * and knows Adam only. */
		.zero = { true, adam || muon, adam, adam },
		.zero_searched = { true, true },
		/* --overlap-grad-reduce, --overlap-param-gather */
		.overlap_reduce = true,
		.overlap_gather = true,
	};
	if (!check_optimizer(compilation, ir))
		return false;
	if (muon)
		TARGET_ADD_RULE(rules, whole_groups,
			 "Megatron-LM shares the states of 'muon' out over all replicas");
	TARGET_ADD_RULE(rules, interleaving,
		 "Megatron-LM interleaves only where pipeline > 1");
	if (ir->job.domain[VARIABLE_ZERO].given)
		TARGET_ADD_RULE(rules, whole_pipeline,
			 "Megatron-LM has ZeRO 2 and 3 (Megatron-FSDP) only without a pipeline");
	if (stores_scores(model))
		TARGET_ADD_RULE(rules, whole_context,
			 "Megatron-LM cuts the context only with flash attention");
	if (has_expert_biases(model))
		TARGET_ADD_RULE(rules, whole_experts,
			 "Megatron-LM cuts experts by expert_tensor only without biases");
	return modules_fit_precision(compilation, ir) &&
	       check_positions(compilation, model);
}

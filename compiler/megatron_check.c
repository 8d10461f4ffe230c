/* SPDX-License-Identifier: MIT
 *
 * The rules of Megatron-LM that a plan found without `target = megatron` may break;
 * with it, they are part of the search (target_megatron.c). Source of the rules:
 * megatron/training/arguments.py (validate_args),
 * megatron/core/transformer/transformer_config.py, megatron/core/parallel_state.py.
 */
#include "compiler/emit_megatron.h"

#include "lang/compilation.h"

static bool refuse(struct megatron *megatron, struct span span,
		   const char *what)
{
	struct diags *diags = &megatron->input->compilation->diags;

	if (span_is_nowhere(span))
		span = megatron->ir->job.span;
	diag_error(diags, E_TARGET_PLAN, span,
		   "megatron cannot run this plan: %s", what);
	diag_help(diags, "write 'target = megatron' in the job: then only plans it can run are "
			 "searched");
	return false;
}

/* The framework's rules, which a plan found without a target may break. */
static bool check_model_cuts(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;
	uint64_t sequence = megatron->ir->model.sequence_length;
	uint32_t tensor = megatron->shape->tensor;
	uint32_t context = megatron->shape->context;

	if (block->heads % tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "its number of heads must be a multiple of tensor");
	if (block->kv_heads % tensor != 0 && tensor % block->kv_heads != 0)
		return refuse(megatron, SPAN_NONE,
			      "tensor must divide its key-value heads or be a multiple of them");
	if (block->ffn % tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "its feed-forward width must be a multiple of tensor");
	if (context > 1 && sequence % (2 * (uint64_t)context) != 0)
		return refuse(megatron, SPAN_NONE,
			      "the sequence must be a multiple of 2 x context");
	if (megatron->shape->sequence && sequence / context % tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "with sequence parallelism, sequence / context must be a multiple "
			      "of tensor");
	if (context > 1 && !block->flash)
		return refuse(megatron, SPAN_NONE,
			      "the context is cut only with flash attention");
	if (megatron_positions(megatron) < sequence)
		return refuse(megatron, megatron->ir->model.span,
			      "it needs as many positions as tokens");
	return true;
}

static bool check_experts(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;
	const struct problem_shape *shape = megatron->shape;

	if (!block->experts)
		return (shape->expert == 1 && shape->expert_tensor == 1) ||
		       refuse(megatron, SPAN_NONE,
			      "the model has no experts to divide");
	if (block->experts % shape->expert != 0)
		return refuse(megatron, SPAN_NONE,
			      "its number of experts must be a multiple of expert");
	if (block->expert_ffn % shape->expert_tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "the width of its experts must be a multiple of expert_tensor");
	if (block->shared_ffn % shape->tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "the width of its shared expert must be a multiple of tensor");
	if (block->expert_bias && shape->expert_tensor > 1)
		return refuse(megatron, SPAN_NONE,
			      "experts with biases are not cut by expert_tensor");
	return shape->tensor == 1 || shape->sequence ||
	       refuse(megatron, SPAN_NONE,
		      "experts with tensor > 1 need sequence parallelism");
}

/* Matrices are whole, and dealt out over all replicas. */
static bool check_muon(struct megatron *megatron)
{
	const struct ir_job *job = &megatron->ir->job;

	if (job->optimizer != IR_MUON)
		return true;
	if (job->precision == IR_FP16)
		return refuse(megatron, job->span, "it has no muon in fp16");
	if (megatron->choice->zero > 1)
		return refuse(megatron, job->domain[VARIABLE_ZERO].span,
			      "its ZeRO 2 and 3 (Megatron-FSDP) have no muon");
	if (megatron->choice->zero && megatron->instances > 1)
		return refuse(megatron, job->domain[VARIABLE_SHARD_LEVEL].span,
			      "it shares the states of muon out over all replicas");
	return true;
}

bool megatron_check(struct megatron *megatron)
{
	const struct choice *choice = megatron->choice;
	const struct ir_job *job = &megatron->ir->job;

	if (!check_experts(megatron))
		return false;
	if (choice->zero > 1 && choice->pipeline > 1)
		return refuse(megatron, job->domain[VARIABLE_ZERO].span,
			      "its ZeRO 2 and 3 (Megatron-FSDP) have no pipeline");
	if (choice->zero && !megatron->instances)
		return refuse(megatron, job->domain[VARIABLE_SHARD_LEVEL].span,
			      "the replicas that share out do not follow one another");
	if (choice->schedule == SCHEDULE_GPIPE)
		return refuse(megatron, job->domain[VARIABLE_SCHEDULE].span,
			      "it has no GPipe schedule");
	if (job->optimizer == IR_ADAFACTOR || job->optimizer == IR_ADAM_8BIT)
		return refuse(megatron, job->span, "it has no such optimizer");
	if (choice->zero && job->optimizer != IR_ADAM &&
	    job->optimizer != IR_MUON)
		return refuse(megatron, job->domain[VARIABLE_ZERO].span,
			      "its distributed optimizer knows adam and muon only");
	if (!check_muon(megatron))
		return false;
	if (choice->virtual_stages > 1 &&
	    (choice->pipeline == 1 ||
	     choice->micro_batches % choice->pipeline != 0))
		return refuse(megatron, job->domain[VARIABLE_VIRTUAL].span,
			      "virtual stages need a pipeline that divides the micro-batches");
	return check_model_cuts(megatron);
}

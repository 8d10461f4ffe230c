/* SPDX-License-Identifier: MIT
 *
 * Arguments of Megatron-LM for the batch, the optimizer and its exchange,
 * recomputation and precision.
 */
#include "compiler/emit_megatron.h"

#include "compiler/job_names.h"
#include "compiler/recompute_module.h"
#include "lang/compilation.h"

static void add_batch(struct megatron *megatron)
{
	flag_heading(megatron, "batch");
	flag_number(megatron, FLAG_MICRO_BATCH, megatron->shape->micro_batch);
	flag_number(megatron, FLAG_GLOBAL_BATCH, megatron->ir->job.global_batch);
}

/* Its ZeRO 2 and 3, which keep checkpoints in a format of their own. */
static void add_fsdp(struct megatron *megatron)
{
	if (megatron->choice->zero < 2)
		return;
	flag_switch(megatron, FLAG_FSDP);
	flag_text(megatron, FLAG_SHARDING, megatron->choice->zero == 2 ?
		  "optim_grads" : "optim_grads_params");
	flag_switch(megatron, FLAG_NO_FUSION);
	flag_text(megatron, FLAG_CHECKPOINTS, "fsdp_dtensor");
}

static void add_optimizer_kind(struct megatron *megatron)
{
	switch (megatron->ir->job.optimizer) {
	case IR_ADAM:
		flag_text(megatron, FLAG_OPTIMIZER, "adam");
		return;
	case IR_MUON:
		flag_text(megatron, FLAG_OPTIMIZER, "muon");
		/* What is priced; the default differs between releases. */
		flag_text(megatron, FLAG_MUON_MODE,
			  muon_mode_name(megatron->ir->job.muon_mode));
		/* Overlapping exchanges, and Adam's part under the distributed
		 * optimizer: pull requests 3524 and 4771. */
		megatron_need(megatron, 18, 2);
		return;
	default:
		/* Left out, its momentum is 0.9. */
		flag_text(megatron, FLAG_OPTIMIZER, "sgd");
		if (megatron->ir->job.optimizer == IR_SGD)
			flag_number(megatron, FLAG_MOMENTUM, 0);
	}
}

static void add_optimizer(struct megatron *megatron)
{
	const struct problem_sync *sync = &megatron->input->problem->sync;
	bool half = megatron->ir->job.precision != IR_FP32;

	flag_heading(megatron, "optimizer and its exchange");
	add_optimizer_kind(megatron);
	if (megatron->choice->zero)
		flag_switch(megatron, FLAG_ZERO);
	if (megatron->choice->zero && megatron->instances > 1) {
		flag_number(megatron, FLAG_INSTANCES, megatron->instances);
		if (megatron->model.block.experts)
			megatron_need(megatron, 13, 1);
	}
	add_fsdp(megatron);
	if (sync->overlap_reduce)
		flag_switch(megatron, FLAG_OVERLAP_REDUCE);
	if (megatron->choice->zero && sync->overlap_reduce &&
	    sync->overlap_gather)
		flag_switch(megatron, FLAG_OVERLAP_GATHER);
	if (half && sync->reduce_bytes == 2)
		flag_switch(megatron, FLAG_REDUCE_BF16);
}

/* Left out they are attention proper. */
static void add_recompute_modules(struct megatron *megatron)
{
	struct text names;

	if (!megatron->ir->job.recompute_modules)
		return;
	if (megatron->ir->job.recompute_modules &
	    recompute_module_bit(MODULE_SHARED_EXPERT))
		megatron_need(megatron, 14, 0);
	text_init(&names, &megatron->input->compilation->arena);
	recompute_modules_print(megatron->ir->job.recompute_modules, " ", &names);
	flag_words(megatron, FLAG_RECOMPUTE_MODULES, names.at);
}

static void add_recompute(struct megatron *megatron)
{
	if (megatron->choice->recompute == RECOMPUTE_NONE)
		return;
	flag_heading(megatron, "recomputation");
	flag_text(megatron, FLAG_RECOMPUTE,
		  recompute_name(megatron->choice->recompute));
	if (megatron->choice->recompute == RECOMPUTE_SELECTIVE)
		add_recompute_modules(megatron);
	if (megatron->choice->recompute != RECOMPUTE_FULL)
		return;
	if (megatron->choice->recompute_layers) {
		flag_text(megatron, FLAG_RECOMPUTE_METHOD, "block");
		flag_number(megatron, FLAG_RECOMPUTE_LAYERS,
			    megatron->choice->recompute_layers);
		return;
	}
	flag_text(megatron, FLAG_RECOMPUTE_METHOD, "uniform");
	flag_number(megatron, FLAG_RECOMPUTE_LAYERS, 1);
}

static void add_precision(struct megatron *megatron)
{
	switch (megatron->ir->job.precision) {
	case IR_BF16:
		flag_heading(megatron, "precision");
		flag_switch(megatron, FLAG_BF16);
		return;
	case IR_FP16:
		flag_heading(megatron, "precision");
		flag_switch(megatron, FLAG_FP16);
		return;
	case IR_FP8:
		flag_heading(megatron, "precision");
		flag_switch(megatron, FLAG_BF16);
		flag_text(megatron, FLAG_FP8, "hybrid");
		return;
	default:
		return;		/* 32 bit is what it does without a flag */
	}
}

void megatron_add_training(struct megatron *megatron)
{
	add_batch(megatron);
	add_optimizer(megatron);
	add_recompute(megatron);
	add_precision(megatron);
}

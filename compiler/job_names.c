/* SPDX-License-Identifier: MIT
 *
 * Words for settings of jobs and policies of plans.
 */
#include "compiler/job_names.h"

const char *const precision_names[IR_PRECISION_COUNT] = {
	[IR_BF16] = "bf16",
	[IR_FP16] = "fp16",
	[IR_FP32] = "fp32",
	[IR_FP8] = "fp8",
};

const char *const optimizer_names[IR_OPTIMIZER_COUNT] = {
	[IR_ADAM] = "adam",
	[IR_SGD] = "sgd",
	[IR_SGD_MOMENTUM] = "sgd_momentum",
	[IR_ADAFACTOR] = "adafactor",
	[IR_ADAM_8BIT] = "adam_8bit",
	[IR_MUON] = "muon",
};

const char *const muon_mode_names[IR_MUON_MODE_COUNT] = {
	[IR_MUON_BLOCKWISE] = "blockwise",
	[IR_MUON_DUPLICATED] = "duplicated",
	[IR_MUON_DISTRIBUTED] = "distributed",
};

const char *const target_names[IR_TARGET_COUNT] = {
	[IR_TARGET_NONE] = "none",
	[IR_TARGET_MEGATRON] = "megatron",
};

const char *const dispatcher_names[IR_DISPATCHER_COUNT] = {
	[IR_DISPATCHER_ALLTOALL] = "alltoall",
	[IR_DISPATCHER_DEEPEP] = "deepep",
};

const char *const recompute_names[RECOMPUTE_COUNT] = {
	[RECOMPUTE_NONE] = "none",
	[RECOMPUTE_SELECTIVE] = "selective",
	[RECOMPUTE_FULL] = "full",
};

const char *const schedule_names[SCHEDULE_COUNT] = {
	[SCHEDULE_1F1B] = "one_f_one_b",
	[SCHEDULE_INTERLEAVED] = "interleaved",
	[SCHEDULE_GPIPE] = "gpipe",
};

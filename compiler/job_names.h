/* SPDX-License-Identifier: MIT
 *
 * The words of the language for what a job sets and a plan chooses, the same in specs,
 * reports and files. The order of a table is that of its enum.
 */
#ifndef NEST_COMPILER_JOB_NAMES_H
#define NEST_COMPILER_JOB_NAMES_H

#include "compiler/ir.h"
#include "solver/problem.h"

extern const char *const precision_names[IR_PRECISION_COUNT];
extern const char *const optimizer_names[IR_OPTIMIZER_COUNT];
extern const char *const muon_mode_names[IR_MUON_MODE_COUNT];
extern const char *const target_names[IR_TARGET_COUNT];
extern const char *const dispatcher_names[IR_DISPATCHER_COUNT];
extern const char *const recompute_names[RECOMPUTE_COUNT];
extern const char *const schedule_names[SCHEDULE_COUNT];

static inline const char *precision_name(enum ir_precision precision)
{
	return precision_names[precision];
}

static inline const char *optimizer_name(enum ir_optimizer optimizer)
{
	return optimizer_names[optimizer];
}

static inline const char *muon_mode_name(enum ir_muon_mode mode)
{
	return muon_mode_names[mode];
}

static inline const char *recompute_name(enum recompute recompute)
{
	return recompute_names[recompute];
}

static inline const char *schedule_name(enum schedule schedule)
{
	return schedule_names[schedule];
}

#endif

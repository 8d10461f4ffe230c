/* SPDX-License-Identifier: MIT
 *
 * A target framework's own rules, as limits on the plans that are searched, so
 * that none is found that the framework cannot run. A model that it cannot
 * build at all is refused when the plan is emitted.
 */
#ifndef NEST_COMPILER_TARGET_H
#define NEST_COMPILER_TARGET_H

#include <stdbool.h>

#include "compiler/ir.h"

struct compilation;

#define TARGET_RULES_MAX 8

struct target_rules {
	bool zero[4];			/* ZeRO stages it has */
	bool zero_searched[4];		/* of these, where a job does not say */
	bool gpipe;			/* has that schedule */
	bool uniform_stages;		/* can only cut evenly */
	bool overlap_reduce;		/* as problem_sync; the emitter switches */
	bool overlap_gather;		/*   the same on */
	/* Requirements to add, `rule` set; sources are numbered by the caller. */
	struct ir_requirement requirement[TARGET_RULES_MAX];
	uint32_t requirement_count;
};

/* Adds a requirement; the steps and the text are kept. The span is of the option it
 * comes with, or none. */
void target_add_rule(struct target_rules *rules, struct span span,
		     const struct predicate_step *step, uint32_t step_count,
		     const char *rule);

#define TARGET_PUSH(value) { .op = PREDICATE_CONSTANT, .number = (value) }
#define TARGET_LOAD(name) { .op = PREDICATE_VARIABLE, .variable = (name) }
#define TARGET_ADD_RULE(rules, step, rule) \
	target_add_rule((rules), SPAN_NONE, (step), sizeof(step) / sizeof(*(step)), (rule))

/* What overlapping the exchange of experts asks of plans, whatever the target: layers are
 * not recomputed whole, and a pipeline has several chunks a device (Megatron-LM,
 * core/transformer/transformer_config.py, overlap_moe_expert_parallel_comm). */
void target_overlap_rules(const struct ir_job *job, struct target_rules *rules);

/* Megatron-LM core 0.13 and later. False after a reported error. */
bool target_megatron_rules(struct compilation *compilation,
			   const struct ir *ir, struct target_rules *rules);

#endif

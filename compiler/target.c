/* SPDX-License-Identifier: MIT
 *
 * Rules of targets in general, and those of overlapping the exchange of experts.
 */
#include "compiler/target.h"

static const struct predicate_step kept_layers[] = {
	TARGET_LOAD(VARIABLE_EXPERT),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
	TARGET_LOAD(VARIABLE_RECOMPUTE),
	TARGET_PUSH(RECOMPUTE_FULL),
	{ .op = PREDICATE_LESS },
	{ .op = PREDICATE_OR },
};

static const struct predicate_step several_chunks[] = {
	TARGET_LOAD(VARIABLE_EXPERT),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
	TARGET_LOAD(VARIABLE_PIPELINE),
	TARGET_PUSH(1),
	{ .op = PREDICATE_EQUAL },
	{ .op = PREDICATE_OR },
	TARGET_LOAD(VARIABLE_VIRTUAL),
	TARGET_PUSH(1),
	{ .op = PREDICATE_GREATER },
	{ .op = PREDICATE_OR },
};

void target_add_rule(struct target_rules *rules, struct span span,
		     const struct predicate_step *step, uint32_t step_count,
		     const char *rule)
{
	rules->requirement[rules->requirement_count++] =
		(struct ir_requirement){
			.predicate = { .step = step, .step_count = step_count },
			.span = span,
			.rule = rule,
		};
}

void target_overlap_rules(const struct ir_job *job, struct target_rules *rules)
{
	target_add_rule(rules, job->overlap_experts_span, kept_layers,
			sizeof(kept_layers) / sizeof(*kept_layers),
			"overlap_expert_exchange goes without full recomputation");
	target_add_rule(rules, job->overlap_experts_span, several_chunks,
			sizeof(several_chunks) / sizeof(*several_chunks),
			"overlap_expert_exchange needs virtual > 1 in a pipeline");
}

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

void target_add_rule(struct target_rules *rules,
		     const struct predicate_step *step, uint32_t step_count,
		     const char *rule)
{
	rules->requirement[rules->requirement_count++] =
		(struct ir_requirement){
			.predicate = { .step = step, .step_count = step_count },
			.span = SPAN_NONE,
			.rule = rule,
		};
}

void target_overlap_rules(struct target_rules *rules)
{
	TARGET_ADD_RULE(rules, kept_layers,
			"overlap_expert_exchange goes without full recomputation");
	TARGET_ADD_RULE(rules, several_chunks,
			"overlap_expert_exchange needs virtual > 1 in a pipeline");
}

/* SPDX-License-Identifier: MIT
 *
 * The independent checker: the chain laid out layer by layer, and whether the
 * plan cuts it as it may.
 */
#include "solver/feasible_check.h"

static bool expand_chain(struct check *c)
{
	const struct problem *problem = c->problem;
	uint64_t total = 0;
	uint32_t at = 0;

	for (uint32_t r = 0; r < problem->run_count; r++) {
		total += problem->run[r].count;
		if (total > CHAIN_MAX ||
		    problem->run[r].class_index >= problem->class_count) {
			text_printf(c->reason, "run %u of the chain", r);
			return false;
		}
	}
	c->layer_count = (uint32_t)total;
	c->class_of = ARENA_ARRAY(c->scratch, uint32_t, total);
	c->chunk_of = ARENA_ARRAY(c->scratch, uint32_t, total);
	c->policy_of = ARENA_ARRAY(c->scratch, enum recompute, total);
	for (uint32_t r = 0; r < problem->run_count; r++)
		for (uint32_t i = 0; i < problem->run[r].count; i++)
			c->class_of[at++] = problem->run[r].class_index;
	return true;
}

/* Interleaved cuts are nearly even (even.h). */
static bool check_nearly_even(struct check *c, const uint32_t *blocks)
{
	uint32_t last = c->plan->chunk_count - 1;

	for (uint32_t i = 0; i <= last; i++)
		for (uint32_t j = 1; j < last; j++) {
			if (blocks[i] <= blocks[j] + 1)
				continue;
			text_printf(c->reason, "chunk %u has %u layers and chunk %u "
				    "has %u: interleaved chunks differ by at most one",
				    i, blocks[i], j, blocks[j]);
			return false;
		}
	return true;
}

static bool check_even(struct check *c)
{
	const struct plan *plan = c->plan;
	uint32_t *blocks = ARENA_ARRAY(c->scratch, uint32_t, plan->chunk_count);

	for (uint32_t i = 0; i < c->layer_count; i++)
		blocks[c->chunk_of[i]] +=
			c->problem->class_is_block[c->class_of[i]];
	if (plan->choice.virtual_stages > 1 && !check_nearly_even(c, blocks))
		return false;
	if (!c->problem->uniform_stages)
		return true;
	for (uint32_t i = 1; i < plan->chunk_count; i++)
		if (blocks[i] != blocks[0]) {
			text_printf(c->reason, "chunk %u has %u layers and chunk 0 "
				    "has %u, though cuts must be even", i,
				    blocks[i], blocks[0]);
			return false;
		}
	return true;
}

/* Of the blocks of a chunk the first recompute_layers recompute. */
static void give_policies(struct check *c)
{
	const struct choice *choice = &c->plan->choice;

	for (uint32_t i = 0, blocks = 0; i < c->layer_count; i++) {
		if (i > 0 && c->chunk_of[i] != c->chunk_of[i - 1])
			blocks = 0;
		c->policy_of[i] = choice->recompute;
		if (!c->problem->class_is_block[c->class_of[i]])
			continue;
		blocks++;
		if (choice->recompute_layers > 0 &&
		    blocks > choice->recompute_layers)
			c->policy_of[i] = RECOMPUTE_NONE;
	}
}

bool feasible_cut(struct check *c)
{
	const struct plan *plan = c->plan;
	const uint32_t *first = plan->chunk_first;
	uint64_t count = (uint64_t)plan->choice.pipeline *
			 plan->choice.virtual_stages;

	if (!expand_chain(c))
		return false;
	if (plan->chunk_count != count || count > c->layer_count) {
		text_printf(c->reason, "%u chunks for pipeline %u x virtual %u "
			    "over %u layers", plan->chunk_count,
			    plan->choice.pipeline, plan->choice.virtual_stages,
			    c->layer_count);
		return false;
	}
	if (first[0] != 0 || first[count] != c->layer_count) {
		text_append(c->reason, "the cut does not cover the chain");
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (first[i + 1] <= first[i] || first[i + 1] > c->layer_count) {
			text_printf(c->reason, "chunk %u is empty", i);
			return false;
		}
		for (uint32_t j = first[i]; j < first[i + 1]; j++)
			c->chunk_of[j] = i;
	}
	give_policies(c);
	return check_even(c);
}

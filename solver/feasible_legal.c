/* SPDX-License-Identifier: MIT
 *
 * The independent checker: whether degrees, policies, batch and placement lie
 * in the space of solver.h.
 */
#include "solver/feasible_check.h"

static bool domain_allows(const struct problem_domain *domain, uint32_t value)
{
	if (domain->count == 0)
		return true;
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return false;
}

static bool check_policy(struct check *c)
{
	const struct problem *problem = c->problem;
	const struct choice *choice = &c->plan->choice;

	if (choice->zero > 3 || !problem->zero[choice->zero]) {
		text_printf(c->reason, "ZeRO stage %u is not allowed", choice->zero);
		return false;
	}
	if ((unsigned)choice->recompute >= RECOMPUTE_COUNT ||
	    !problem->recompute[choice->recompute]) {
		text_printf(c->reason, "recomputation policy %u is not allowed",
			    (unsigned)choice->recompute);
		return false;
	}
	if (choice->recompute_layers > 0 &&
	    (choice->recompute != RECOMPUTE_FULL ||
	     problem->recompute_layers.count == 0)) {
		text_printf(c->reason, "%u recomputed layers where that is no choice",
			    choice->recompute_layers);
		return false;
	}
	if (choice->recompute == RECOMPUTE_FULL &&
	    !domain_allows(&problem->recompute_layers,
			   choice->recompute_layers)) {
		text_printf(c->reason, "%u recomputed layers are outside the domain",
			    choice->recompute_layers);
		return false;
	}
	return true;
}

static bool any_of(const bool *allowed, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (allowed[i])
			return true;
	return false;
}

static bool check_shard_level(struct check *c)
{
	const struct problem *problem = c->problem;
	uint32_t level = c->plan->choice.shard_level;
	bool allowed = level == 0;

	if (level >= problem->level_count) {
		text_printf(c->reason, "shard level %u of %u", level,
			    problem->level_count);
		return false;
	}
	if (c->plan->choice.zero > 0 && any_of(problem->shard_level, LEVEL_MAX))
		allowed = problem->shard_level[level];
	if (!allowed)
		text_printf(c->reason, "shard level %u is not allowed", level);
	return allowed;
}

static bool check_schedule(struct check *c)
{
	const struct choice *choice = &c->plan->choice;
	bool allowed;

	if (choice->pipeline == 1)
		allowed = choice->schedule == SCHEDULE_1F1B;
	else if (choice->virtual_stages > 1)
		allowed = choice->schedule == SCHEDULE_INTERLEAVED;
	else
		allowed = choice->schedule == SCHEDULE_1F1B ||
			  choice->schedule == SCHEDULE_GPIPE;
	if (allowed && choice->pipeline > 1) {
		if (any_of(c->problem->schedule, SCHEDULE_COUNT))
			allowed = c->problem->schedule[choice->schedule];
		else
			allowed = choice->schedule != SCHEDULE_GPIPE;
	}
	if (!allowed)
		text_printf(c->reason, "schedule %u is not allowed with pipeline %u "
			    "and virtual %u", (unsigned)choice->schedule,
			    choice->pipeline, choice->virtual_stages);
	return allowed;
}

static bool check_experts(struct check *c)
{
	uint64_t members = (uint64_t)c->degree[DIMENSION_TENSOR] *
			   c->degree[DIMENSION_CONTEXT] *
			   c->degree[DIMENSION_DATA];
	uint64_t cut = (uint64_t)c->shape->expert * c->shape->expert_tensor;

	if (cut == 0 || members % cut != 0) {
		text_printf(c->reason, "expert %u x expert tensor %u do not divide "
			    "a stage's %u devices", c->shape->expert,
			    c->shape->expert_tensor, (uint32_t)members);
		return false;
	}
	c->replicas = (double)c->degree[DIMENSION_DATA] *
		      c->degree[DIMENSION_CONTEXT];
	c->expert_replicas = (double)(members / cut);
	return true;
}

static bool check_batch(struct check *c)
{
	const struct choice *choice = &c->plan->choice;
	uint64_t replica_batch = (uint64_t)c->shape->micro_batch * choice->data;

	if (replica_batch == 0 || c->problem->global_batch % replica_batch != 0) {
		text_printf(c->reason, "a global batch of %u is no multiple of "
			    "micro-batch %u x data %u", c->problem->global_batch,
			    c->shape->micro_batch, choice->data);
		return false;
	}
	if (choice->micro_batches != c->problem->global_batch / replica_batch) {
		text_printf(c->reason, "%u micro-batches where the batch gives %u",
			    choice->micro_batches,
			    (uint32_t)(c->problem->global_batch / replica_batch));
		return false;
	}
	if (choice->virtual_stages > 1 && choice->pipeline == 1) {
		text_append(c->reason, "virtual stages need more than one stage");
		return false;
	}
	if (choice->virtual_stages > 1 &&
	    choice->micro_batches % choice->pipeline != 0) {
		text_printf(c->reason, "interleaving needs micro-batches (%u) in "
			    "multiples of the pipeline (%u)",
			    choice->micro_batches, choice->pipeline);
		return false;
	}
	return true;
}

bool feasible_degrees(struct check *c)
{
	const struct problem *problem = c->problem;
	const struct plan *plan = c->plan;
	const struct choice *choice = &plan->choice;
	uint64_t devices = 1;

	if (choice->shape >= problem->shape_count) {
		text_printf(c->reason, "shape %u of %u", choice->shape,
			    problem->shape_count);
		return false;
	}
	c->shape = &problem->shape[choice->shape];
	c->degree[DIMENSION_TENSOR] = c->shape->tensor;
	c->degree[DIMENSION_CONTEXT] = c->shape->context;
	c->degree[DIMENSION_DATA] = choice->data;
	c->degree[DIMENSION_PIPELINE] = choice->pipeline;
	for (int d = 0; d < DIMENSION_COUNT; d++) {
		if (c->degree[d] == 0) {
			text_append(c->reason, "a degree of 0");
			return false;
		}
		devices *= c->degree[d];
		if (devices > problem->device_count) {
			text_printf(c->reason, "more devices than the %u there are",
				    problem->device_count);
			return false;
		}
	}
	if (plan->devices != devices) {
		text_printf(c->reason, "%u devices where the degrees use %u",
			    plan->devices, (uint32_t)devices);
		return false;
	}
	if (choice->virtual_stages == 0 ||
	    !domain_allows(&problem->data, choice->data) ||
	    !domain_allows(&problem->pipeline, choice->pipeline) ||
	    !domain_allows(&problem->virtual_stages, choice->virtual_stages) ||
	    !domain_allows(&problem->devices, plan->devices)) {
		text_printf(c->reason, "data %u, pipeline %u, virtual %u or "
			    "devices %u outside its domain", choice->data,
			    choice->pipeline, choice->virtual_stages,
			    plan->devices);
		return false;
	}
	return check_policy(c) && check_schedule(c) && check_shard_level(c) &&
	       check_batch(c) && check_experts(c);
}

/* The groups of experts cover strides too: 1 .. x, x .. x e and the rest. Each of
 * the two borders must fall between digits or divide the digit it falls into. */
static bool check_expert_digits(struct check *c)
{
	uint64_t inner = c->shape->expert_tensor;
	uint64_t outer = inner * c->shape->expert;
	uint64_t from, to;

	for (int d = 0; d < DIMENSION_PIPELINE; d++)
		for (uint32_t l = 0; l < c->problem->level_count; l++) {
			feasible_digit_strides(c, d, l, &from, &to);
			if ((inner % to == 0 || to % inner == 0) &&
			    (outer % to == 0 || to % outer == 0))
				continue;
			text_printf(c->reason, "level %u: the factors do not fit "
				    "expert %u x expert tensor %u", l,
				    c->shape->expert, c->shape->expert_tensor);
			return false;
		}
	return true;
}

bool feasible_placement(struct check *c)
{
	const struct problem *problem = c->problem;
	const struct placement *placement = &c->plan->placement;
	uint64_t row[DIMENSION_COUNT] = { 1, 1, 1, 1 };

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint64_t column = 1;

		for (int d = 0; d < DIMENSION_COUNT; d++) {
			uint32_t factor = placement->factor[d][l];

			column *= factor;
			row[d] *= factor;
			if (factor > 1 && problem->within[d] &&
			    l >= problem->within[d]) {
				text_printf(c->reason, "level %u: a dimension goes "
					    "beyond the level it must stay within", l);
				return false;
			}
			if (factor == 0 || column > problem->level[l].fanout ||
			    row[d] > c->degree[d]) {
				text_printf(c->reason, "level %u: factors beyond "
					    "the fan-out or the degree", l);
				return false;
			}
		}
		c->below[l] = l ? c->below[l - 1] * problem->level[l - 1].fanout : 1;
		if (l == 0)
			c->used[l] = 1;
		if (l + 1 < problem->level_count)
			c->used[l + 1] = c->used[l] * (double)column;
	}
	for (uint32_t l = problem->level_count; l < LEVEL_MAX; l++)
		for (int d = 0; d < DIMENSION_COUNT; d++)
			if (placement->factor[d][l] > 1) {
				text_printf(c->reason, "a factor at level %u of %u",
					    l, problem->level_count);
				return false;
			}
	for (int d = 0; d < DIMENSION_COUNT; d++)
		if (row[d] != c->degree[d]) {
			text_printf(c->reason, "dimension %d: factors multiply to "
				    "%u and not to %u", d, (uint32_t)row[d],
				    c->degree[d]);
			return false;
		}
	if (!check_expert_digits(c))
		return false;
	c->shards = feasible_size(c, feasible_shard(c, GROUP_DATA_CONTEXT));
	c->expert_shards = feasible_size(c, feasible_shard(c, GROUP_EXPERT_DATA));
	return true;
}

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
	uint32_t level = c->plan->choice.shard_level;
	bool allowed = level == 0;

	if (c->plan->choice.zero > 0 &&
	    any_of(c->problem->shard_level, LEVEL_MAX))
		allowed = level < LEVEL_MAX && c->problem->shard_level[level];
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
	uint64_t members = (uint64_t)c->shape->tensor * c->shape->context *
			   c->plan->choice.data;
	uint64_t cut = (uint64_t)c->shape->expert * c->shape->expert_tensor;

	if (cut == 0 || members % cut != 0) {
		text_printf(c->reason, "expert %u x expert tensor %u do not divide "
			    "a stage's %u devices", c->shape->expert,
			    c->shape->expert_tensor, (uint32_t)members);
		return false;
	}
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
	double devices;

	if (choice->shape >= problem->shape_count) {
		text_printf(c->reason, "shape %u of %u", choice->shape,
			    problem->shape_count);
		return false;
	}
	c->shape = &problem->shape[choice->shape];
	devices = (double)c->shape->tensor * c->shape->context * choice->data *
		  choice->pipeline;
	if (devices == 0 || plan->devices != devices) {
		text_printf(c->reason, "%u devices where the degrees use %.0f",
			    plan->devices, devices);
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

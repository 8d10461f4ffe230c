/* SPDX-License-Identifier: MIT
 *
 * The independent checker: what a plan states against what was found.
 */
#include "solver/feasible_check.h"

#include <math.h>

#define TOLERANCE 1e-9

/* Equal to within the tolerance; scale is the size of the terms that were
 * added and subtracted on the way, where those are larger than the result. */
static bool near(double a, double b, double scale)
{
	double size = fmax(fmax(fabs(a), fabs(b)), fabs(scale));

	if (!isfinite(a) || !isfinite(b))
		return false;
	return fabs(a - b) <= TOLERANCE * size;
}

static bool agrees(struct check *c, const char *what, double stated,
		   double found, double scale)
{
	if (near(stated, found, scale))
		return true;
	text_append(c->reason, what);
	text_append(c->reason, " is stated as ");
	text_append_number(c->reason, stated);
	text_append(c->reason, " and is ");
	text_append_number(c->reason, found);
	return false;
}

static bool compare_memory(struct check *c, uint32_t k)
{
	const struct stage_memory *stated = &c->plan->stage[k].memory;
	const struct stage_memory *found = &c->stage[k].memory;
	double limit_bytes = feasible_site(c, k)->problem->memory.limit_bytes;

	if (!agrees(c, "parameter memory", stated->parameters, found->parameters, 0) ||
	    !agrees(c, "gradient memory", stated->gradients, found->gradients, 0) ||
	    !agrees(c, "optimizer memory", stated->optimizer, found->optimizer, 0) ||
	    !agrees(c, "activation memory", stated->activations,
		    found->activations, 0) ||
	    !agrees(c, "working memory", stated->working, found->working, 0) ||
	    !agrees(c, "reserved memory", stated->reserve, found->reserve, 0) ||
	    !agrees(c, "total memory", stated->total, found->total, 0))
		return false;
	if (found->total > limit_bytes && !near(found->total, limit_bytes, 0)) {
		text_append(c->reason, "it needs ");
		text_append_number(c->reason, found->total);
		text_append(c->reason, " bytes of ");
		text_append_number(c->reason, limit_bytes);
		return false;
	}
	return true;
}

static bool compare_stage(struct check *c, uint32_t k)
{
	const struct stage_cost *stated = &c->plan->stage[k];
	const struct stage_cost *found = &c->stage[k];
	double pass_s = found->forward_s + found->backward_s;

	if (stated->layers != found->layers) {
		text_printf(c->reason, "%u layers are stated and it holds %u",
			    stated->layers, found->layers);
		return false;
	}
	if (stated->send_level != found->send_level) {
		text_printf(c->reason, "its boundary crosses level %u and not %u",
			    found->send_level, stated->send_level);
		return false;
	}
	return agrees(c, "parameters", stated->parameters, found->parameters, 0) &&
	       agrees(c, "expert parameters", stated->expert_parameters,
		      found->expert_parameters, 0) &&
	       agrees(c, "parameters with states apart", stated->apart_parameters,
		      found->apart_parameters, 0) &&
	       agrees(c, "states apart", stated->apart_states,
		      found->apart_states, 0) &&
	       agrees(c, "step of states apart", stated->apart_step_s,
		      found->apart_step_s, 0) &&
	       agrees(c, "forward time", stated->forward_s, found->forward_s, 0) &&
	       agrees(c, "backward time", stated->backward_s, found->backward_s, 0) &&
	       agrees(c, "compute time", stated->compute_s, found->compute_s, 0) &&
	       agrees(c, "tensor time", stated->tensor_s, found->tensor_s, pass_s) &&
	       agrees(c, "context time", stated->context_s, found->context_s,
		      pass_s) &&
	       agrees(c, "expert time", stated->expert_s, found->expert_s, pass_s) &&
	       agrees(c, "sharding time", stated->sharding_s, found->sharding_s,
		      pass_s) &&
	       agrees(c, "send time", stated->send_s, found->send_s, 0) &&
	       agrees(c, "reduction", stated->reduce_s, found->reduce_s, 0) &&
	       agrees(c, "exposed reduction", stated->reduce_exposed_s,
		      found->reduce_exposed_s, found->reduce_s) &&
	       agrees(c, "gather", stated->gather_s, found->gather_s, 0) &&
	       agrees(c, "exposed gather", stated->gather_exposed_s,
		      found->gather_exposed_s, found->gather_s) &&
	       agrees(c, "optimizer step", stated->step_s, found->step_s, 0) &&
	       compare_memory(c, k);
}

static bool compare_stages(struct check *c)
{
	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct text why;

		text_init(&why, c->scratch);
		text_printf(&why, "stage %u: ", k);
		{
			struct check inner = *c;

			inner.reason = &why;
			if (compare_stage(&inner, k))
				continue;
		}
		text_append(c->reason, why.at);
		return false;
	}
	return true;
}

/* Whether the stated breakdown is that of device k, with k_step deciding the
 * second maximum. */
static bool breakdown_is_of(const struct check *c, uint32_t k, uint32_t k_step)
{
	const struct breakdown *stated = &c->plan->breakdown;
	const struct stage_cost *stage = &c->stage[k];
	double m = c->plan->choice.micro_batches;
	double idle_s = fmax(0, c->finish_s[k] -
			     m * (stage->forward_s + stage->backward_s));
	double wait_s = fmin(idle_s, fmax(0, c->end_s - c->end_free_s));
	double scale = c->time_s;

	return near(stated->compute_s, m * stage->compute_s, scale) &&
	       near(stated->tensor_s, m * stage->tensor_s, scale) &&
	       near(stated->context_s, m * stage->context_s, scale) &&
	       near(stated->expert_s, m * stage->expert_s, scale) &&
	       near(stated->pipeline_s, wait_s, scale) &&
	       near(stated->bubble_s, idle_s - wait_s, scale) &&
	       near(stated->data_s, m * stage->sharding_s +
		    stage->reduce_exposed_s +
		    c->stage[k_step].gather_exposed_s, scale) &&
	       near(stated->optimizer_s, c->stage[k_step].step_s, scale);
}

static bool compare_breakdown(struct check *c)
{
	const struct breakdown *b = &c->plan->breakdown;
	uint32_t pipeline = c->plan->choice.pipeline;
	double sum_s = b->compute_s + b->tensor_s + b->context_s + b->expert_s +
		       b->pipeline_s + b->bubble_s + b->data_s + b->optimizer_s;

	if (!agrees(c, "the breakdown's sum", sum_s, c->time_s, 0))
		return false;
	for (uint32_t k = 0; k < pipeline; k++) {
		if (!near(c->finish_s[k] + c->stage[k].reduce_exposed_s,
			  c->reduce_end_s, c->time_s))
			continue;
		for (uint32_t j = 0; j < pipeline; j++)
			if (near(c->stage[j].step_s + c->stage[j].gather_exposed_s,
				 c->step_end_s, c->time_s) &&
			    breakdown_is_of(c, k, j))
				return true;
	}
	text_append(c->reason, "the breakdown is that of no deciding stage");
	return false;
}

bool feasible_compare(struct check *c)
{
	const struct plan *plan = c->plan;
	uint32_t k = plan->memory_peak_stage;

	for (uint32_t i = 0; i < plan->choice.pipeline; i++) {
		const struct stage_cost *stage = &c->stage[i];

		c->reduce_end_s = fmax(c->reduce_end_s, c->finish_s[i] +
				       stage->reduce_exposed_s);
		c->step_end_s = fmax(c->step_end_s, stage->step_s +
				     stage->gather_exposed_s);
	}
	c->time_s = c->reduce_end_s + c->step_end_s;
	if (!compare_stages(c) ||
	    !agrees(c, "the iteration time", plan->time_s, c->time_s, 0) ||
	    !agrees(c, "peak memory", plan->memory_peak_bytes, c->peak_bytes, 0))
		return false;
	if (k >= plan->choice.pipeline ||
	    !near(c->stage[k].memory.total, c->peak_bytes, 0)) {
		text_printf(c->reason, "stage %u does not have the peak memory", k);
		return false;
	}
	return compare_breakdown(c);
}

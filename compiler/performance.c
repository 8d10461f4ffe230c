/* SPDX-License-Identifier: MIT
 *
 * Rates and utilisation of a plan. Utilisation is a share of the peak of the
 * devices used, in the convention compiler/flops.h states.
 */
#include "compiler/performance.h"

#include "compiler/flops.h"
#include "compiler/site.h"
#include "solver/mixed.h"

void plan_performance(const struct ir *ir, const struct problem *problem,
		      const struct plan *plan, struct performance *out)
{
	struct flops flops = ir_plan_flops(ir, plan, &out->recompute_layers);
	uint32_t recomputed = out->recompute_layers;
	double device_s = plan->time_s * plan->devices;
	struct sites sites = plan_sites(ir, problem, plan);
	struct mixed_rate rate = mixed_rate(problem, plan);
	double peak = sites_peak_flops(&sites);

	*out = (struct performance){ .model_flops = flops.model };
	out->tokens = (double)ir->job.global_batch *
		      (double)ir->model.sequence_length;
	out->tokens_per_s = out->tokens / plan->time_s;
	out->executed_flops = flops.hardware;
	out->model_flops_per_s = flops.model / device_s;
	if (peak > 0) {
		out->mfu = out->model_flops_per_s / peak;
		out->hfu = flops.hardware / device_s / peak;
	}
	out->dollars = device_s * rate.dollars_per_s;
	out->joules = device_s * rate.watts;
	out->recompute_layers = recomputed;
}

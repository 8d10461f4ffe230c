/* SPDX-License-Identifier: MIT
 *
 * Answers to the published problems, in the form of the published solver.
 */
#include <jansson.h>

#include "compiler/json_print.h"
#include "compiler/json_set.h"
#include "compiler/published_json.h"

static json_t *stages_json(const struct published_file *file,
			   const struct published_plan *plan)
{
	json_t *stages = json_array();

	for (uint32_t i = 0; i < plan->stages; i++) {
		json_t *nodes = json_array();

		for (uint32_t v = plan->cut[i]; v < plan->cut[i + 1]; v++)
			json_array_append_new(nodes, json_integer(file->node_id[v]));
		json_array_append_new(stages, json_pack("{s:o, s:i}", "nodes", nodes,
			"devicesForStage", (int)plan->devices_per_stage));
	}
	return stages;
}

/* Device and positions of the nodes on it, for the first replica. */
static json_t *skeleton_json(const struct published_plan *plan)
{
	json_t *skeleton = json_array();

	for (uint32_t s = plan->stages; s-- > 0;)
		for (uint32_t i = 0; i < plan->devices_per_stage; i++) {
			uint32_t device = (plan->stages - 1 - s) *
				plan->devices_per_stage + i;
			json_t *nodes = json_array();

			for (uint32_t v = plan->cut[s]; v < plan->cut[s + 1]; v++)
				json_array_append_new(nodes, json_integer(v));
			json_array_append_new(skeleton,
				json_pack("[i, o]", (int)device, nodes));
		}
	return skeleton;
}

static bool find_width(const struct published_problem *problem, uint32_t tensor,
		       uint32_t *width)
{
	for (*width = 0; *width < problem->width_count; (*width)++)
		if (problem->width[*width].tensor == tensor)
			return true;
	return false;
}

static json_t *baselines_json(const struct published_file *file,
			      enum published_objective objective,
			      struct arena *arena)
{
	json_t *all = json_object();

	for (uint32_t i = 0; i < file->baseline_count; i++) {
		const struct published_baseline *baseline = &file->baseline[i];
		struct published_plan plan;
		uint32_t width;
		bool good = find_width(&file->problem, baseline->tensor, &width) &&
			published_best_cut(&file->problem, width, baseline->data,
					   baseline->pipeline, objective, arena,
					   &plan);

		json_set(all, baseline->name,
			 good ? json_real(plan.time) : json_null());
	}
	return all;
}

void published_write(const struct published_file *file,
		     enum published_objective objective,
		     const struct published_plan *plan, struct arena *arena,
		     struct text *out)
{
	json_t *answer = json_pack(
		"{s:f, s:i, s:i, s:o, s:o, s:o, s:{s:s, s:f, s:f}}",
		"finalTimePerBatch", plan->time,
		"dataParallelDegree", (int)plan->data,
		"tensorParallelDegree",
		(int)file->problem.width[plan->width].tensor,
		"stages", stages_json(file, plan),
		"networkSkeleton", skeleton_json(plan),
		"baselineResults", baselines_json(file, objective, arena),
		"certificate",
		"objective", objective == PUBLISHED_NEST ? "nest" : "nest-all-replicas",
		"lower_bound", plan->time, "gap", 0.0);
	if (plan->zero)
		json_set(answer, "zeroStage",
			 json_integer((json_int_t)plan->zero));

	json_print(answer, 0, out);
	text_append_char(out, '\n');
	json_decref(answer);
}

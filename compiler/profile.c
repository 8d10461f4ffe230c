/* SPDX-License-Identifier: MIT
 *
 * Looking up measured layer times.
 */
#include "compiler/profile.h"

#include <stdlib.h>

#include "compiler/json_file.h"

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

int profile_compare(const struct ir_measurement *a,
		    const struct ir_measurement *b)
{
	const uint32_t left[] = {
		a->class_index, a->shape.tensor, a->shape.context,
		a->shape.expert, a->shape.expert_tensor, a->shape.sequence,
		a->shape.micro_batch, a->recompute,
	};
	const uint32_t right[] = {
		b->class_index, b->shape.tensor, b->shape.context,
		b->shape.expert, b->shape.expert_tensor, b->shape.sequence,
		b->shape.micro_batch, b->recompute,
	};
	int order = 0;

	for (size_t i = 0; !order && i < sizeof(left) / sizeof(*left); i++)
		order = compare(left[i], right[i]);
	return order;
}

static int compare_elements(const void *a, const void *b)
{
	return profile_compare(a, b);
}

uint32_t profile_position(const struct ir_model *model, uint32_t class_index)
{
	uint32_t position = 0;

	for (uint32_t i = 0; i < model->run_count; i++) {
		if (model->run[i].class_index == class_index)
			break;
		position += model->run[i].count;
	}
	return position;
}

struct problem_shape profile_shape(const struct ir_class *class,
				   const struct problem_shape *shape)
{
	struct problem_shape plain = *shape;

	if (!ir_find_operator(class, IR_ROUTER)) {
		plain.expert = 1;
		plain.expert_tensor = 1;
	}
	return plain;
}

const struct ir_measurement *profile_find(const struct ir *ir,
					  uint32_t class_index,
					  const struct problem_shape *shape,
					  enum recompute recompute)
{
	const struct ir_profile *profile = &ir->job.profile;
	const struct ir_class *class = &ir->model.class[class_index];
	struct ir_measurement wanted = {
		.class_index = class_index,
		.shape = profile_shape(class, shape),
		.recompute = class->is_block ? recompute : RECOMPUTE_NONE,
	};

	if (!profile->measurement_count)
		return NULL;
	return bsearch(&wanted, profile->measurement, profile->measurement_count,
		       sizeof(wanted), compare_elements);
}

bool profile_covers(const struct ir *ir, uint32_t class_index,
		    const struct problem_shape *shape, enum recompute recompute)
{
	return profile_find(ir, class_index, shape, recompute) ||
	       profile_find(ir, class_index, shape, RECOMPUTE_NONE);
}

struct span profile_place(const struct compilation *compilation,
			  const struct ir *ir,
			  const struct ir_measurement *measured,
			  const char *key)
{
	const struct json_file file = {
		.text = compilation->sources.at[ir->job.profile.source],
		.source = ir->job.profile.source,
	};
	struct span layers = json_file_member(&file, json_file_root(&file),
					      "layers");

	return json_file_member(&file,
				json_file_element(&file, layers,
						  measured->entry),
				key);
}

/* ---- coverage ---- */

/* Marks the entries that count for a class under a shape; whether there are
 * some. */
static bool mark_used(const struct ir *ir, uint32_t class_index,
		      const struct problem_shape *shape, bool *used)
{
	bool any = false;

	for (int i = 0; i < RECOMPUTE_COUNT; i++) {
		const struct ir_measurement *found = profile_find(
			ir, class_index, shape, (enum recompute)i);

		if (!found)
			continue;
		used[found - ir->job.profile.measurement] = true;
		any = true;
	}
	return any;
}

static double plan_share(const struct ir *ir, const struct problem *problem,
			 const struct choice *choice)
{
	const struct problem_shape *shape = &problem->shape[choice->shape];
	double all_s = 0, measured_s = 0;

	for (uint32_t i = 0; i < ir->model.run_count; i++) {
		const struct ir_run *run = &ir->model.run[i];
		const struct problem_cost *cost =
			problem_cost_at(problem, choice->shape,
					run->class_index, choice->recompute);
		double run_s = run->count * (cost->forward_s + cost->backward_s);

		all_s += run_s;
		if (profile_covers(ir, run->class_index, shape,
				   choice->recompute))
			measured_s += run_s;
	}
	return all_s > 0 ? measured_s / all_s : 0;
}

struct profile_coverage profile_coverage(const struct ir *ir,
					 const struct problem *problem,
					 const struct plan *plan,
					 struct arena *arena)
{
	struct profile_coverage coverage = {
		.plan_share = plan_share(ir, problem, &plan->choice),
	};
	bool *used = ARENA_ARRAY(arena, bool,
				 ir->job.profile.measurement_count);

	for (uint32_t i = 0; i < problem->shape_count; i++)
		for (uint32_t j = 0; j < ir->model.class_count; j++) {
			coverage.pairs++;
			coverage.pairs_measured += mark_used(
				ir, j, &problem->shape[i], used);
		}
	for (uint32_t i = 0; i < ir->job.profile.measurement_count; i++)
		coverage.used += used[i];
	return coverage;
}

/* SPDX-License-Identifier: MIT
 *
 * Measured layer times in place of modelled ones (doc/profile.md).
 */
#include <math.h>

#include "compiler/describe.h"
#include "compiler/problem_build.h"
#include "compiler/profile.h"

/* Keeps the measurement that is furthest from the model. */
static void compare_with_model(struct problem_build *build,
			       const struct ir_measurement *measured,
			       double modelled_s)
{
	double times = measured->forward_s / modelled_s;

	if (!(modelled_s > 0))
		return;
	if (build->doubtful.measured &&
	    fabs(log(times)) <= fabs(log(build->doubtful.measured->forward_s /
					 build->doubtful.modelled_s)))
		return;
	build->doubtful.measured = measured;
	build->doubtful.modelled_s = modelled_s;
}

/* Geometric means of measured over modelled times of one class, over what is
 * measured without recomputation. */
static struct profile_scale class_scale(struct problem_build *build,
					uint32_t class_index)
{
	const struct ir_profile *profile = &build->ir->job.profile;
	const struct ir_class *class = &build->ir->model.class[class_index];
	struct arena_mark mark = arena_mark(build->arena);
	double forward = 0, backward = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < profile->measurement_count; i++) {
		const struct ir_measurement *at = &profile->measurement[i];
		struct layout_result modelled;

		if (at->class_index != class_index ||
		    at->recompute != RECOMPUTE_NONE ||
		    !layout_is_legal(class, &build->ir->model, &at->shape, NULL,
				     NULL))
			continue;
		layout_infer(build->ir, class_index, &at->shape, build->arena,
			     &modelled);
		if (modelled.forward_s > 0 && modelled.backward_s > 0) {
			forward += log(at->forward_s / modelled.forward_s);
			backward += log(at->backward_s / modelled.backward_s);
			count++;
		}
		arena_rewind(build->arena, mark);
	}
	if (!count)
		return (struct profile_scale){ 1, 1 };
	return (struct profile_scale){ exp(forward / count),
				       exp(backward / count) };
}

void problem_prepare_profile(struct problem_build *build)
{
	uint32_t classes = build->ir->model.class_count;

	if (!build->ir->job.profile.scaled)
		return;
	build->scale = ARENA_ARRAY(build->arena, struct profile_scale, classes);
	for (uint32_t i = 0; i < classes; i++)
		build->scale[i] = class_scale(build, i);
}

void problem_take_measured(struct problem_build *build, uint32_t shape,
			   uint32_t class_index, struct layout_result *result)
{
	const struct ir_measurement *measured = profile_find(
		build->ir, class_index, &build->shape.at[shape],
		RECOMPUTE_NONE);

	if (!measured && build->scale) {
		result->forward_s *= build->scale[class_index].forward;
		result->selective_forward_s *= build->scale[class_index].forward;
		result->backward_s *= build->scale[class_index].backward;
	}
	if (!measured)
		return;
	compare_with_model(build, measured, result->forward_s);
	result->forward_s = measured->forward_s;
	result->backward_s = measured->backward_s;
	if (build->ir->job.profile.with_communication)
		result->inferred_count = 0;
}

void problem_take_measured_policy(const struct problem_build *build,
				  uint32_t shape, uint32_t class_index,
				  enum recompute recompute,
				  struct problem_cost *cost)
{
	const struct ir_measurement *measured = profile_find(
		build->ir, class_index, &build->shape.at[shape], recompute);

	if (!measured)
		return;
	cost->forward_s = measured->forward_s;
	cost->backward_s = measured->backward_s;
	if (build->ir->job.profile.with_communication)
		cost->collective_count = 0;
}

/* A factor of a thousand is most likely a wrong unit. */
#define DOUBTFUL_TIMES 30

void problem_report_doubtful(struct problem_build *build)
{
	const struct ir_measurement *measured = build->doubtful.measured;
	struct text with, without;

	if (!measured ||
	    fabs(log(measured->forward_s / build->doubtful.modelled_s)) <
		    log(DOUBTFUL_TIMES))
		return;
	text_init(&with, build->arena);
	text_init(&without, build->arena);
	describe_seconds(measured->forward_s, &with);
	describe_seconds(build->doubtful.modelled_s, &without);
	diag_warning(build->diags, E_PROFILE_UNIT,
		     profile_place(build->compilation, build->ir, measured,
				   "forward"),
		     "'%s' takes %s forward by this profile, and %s by the model",
		     build->ir->model.class[measured->class_index].name,
		     with.at, without.at);
	diag_note(build->diags, build->ir->job.profile.span,
		  "in the profile named here");
	diag_help(build->diags, "see whether \"unit\" is that of these times");
}

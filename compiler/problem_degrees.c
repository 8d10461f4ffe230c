/* SPDX-License-Identifier: MIT
 *
 * Degrees that a search or plan asks for and that cannot be together, whatever
 * else is chosen: more devices than there are, more stages than layers. The
 * search would find the same, but not say it in one sentence.
 */
#include "compiler/problem_build.h"

#include "compiler/variable.h"

static const enum plan_variable factors[] = {
	VARIABLE_TENSOR, VARIABLE_CONTEXT, VARIABLE_DATA, VARIABLE_PIPELINE,
};

#define FACTOR_COUNT (sizeof(factors) / sizeof(*factors))

/* The least value of a variable; 1 where all are allowed. */
static uint32_t least(const struct ir_job *job, enum plan_variable variable)
{
	const struct ir_domain *domain = &job->domain[variable];

	return domain->given && domain->count ? domain->at[0] : 1;
}

static uint32_t devices_of(const struct ir *ir)
{
	return ir->topology.cluster_devices ? ir->topology.cluster_devices :
					      ir->topology.device_count;
}

/* Points at every domain that takes part, the first of them with the error. */
static bool check_product(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint32_t first = FACTOR_COUNT, devices = devices_of(build->ir);
	double product = 1;
	struct text list;

	text_init(&list, build->arena);
	for (uint32_t i = 0; i < FACTOR_COUNT; i++) {
		uint32_t degree = least(job, factors[i]);

		product *= degree;
		if (degree == 1)
			continue;
		text_printf(&list, "%s'%s = %u'",
			    first == FACTOR_COUNT ? "" : " x ",
			    variable_name(factors[i]), degree);
		if (first == FACTOR_COUNT)
			first = i;
	}
	if (product <= devices)
		return true;
	diag_error(build->diags, E_NO_SHAPE, job->domain[factors[first]].span,
		   "%s needs %.0f devices, and the topology has %u", list.at,
		   product, devices);
	for (uint32_t i = first + 1; i < FACTOR_COUNT; i++)
		if (least(job, factors[i]) > 1)
			diag_label(build->diags, job->domain[factors[i]].span,
				   "and this");
	diag_help(build->diags, "allow smaller degrees, or give the topology more devices");
	return false;
}

static bool check_devices(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint32_t wanted = least(job, VARIABLE_DEVICES);

	if (wanted <= devices_of(build->ir))
		return true;
	diag_error(build->diags, E_NO_SHAPE, job->domain[VARIABLE_DEVICES].span,
		   "no plan uses %u devices: the topology has %u", wanted,
		   devices_of(build->ir));
	diag_note(build->diags, build->ir->topology.span,
		  "the topology is this one");
	return false;
}

static bool check_stages(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint32_t pipeline = least(job, VARIABLE_PIPELINE);
	uint32_t chunks = least(job, VARIABLE_VIRTUAL), layers = 0;

	for (uint32_t i = 0; i < build->ir->model.run_count; i++)
		layers += build->ir->model.run[i].count;
	if ((double)pipeline * chunks <= layers)
		return true;
	diag_error(build->diags, E_NO_SHAPE,
		   job->domain[pipeline > 1 ? VARIABLE_PIPELINE :
					      VARIABLE_VIRTUAL].span,
		   "%u stages%s need as many layers, and the chain of model '%s' has %u",
		   pipeline,
		   chunks > 1 ? arena_printf(build->arena, " of %u chunks each",
					     chunks) : "",
		   build->ir->model.name, layers);
	if (pipeline > 1 && chunks > 1)
		diag_label(build->diags, job->domain[VARIABLE_VIRTUAL].span,
			   "and this");
	diag_help(build->diags, "allow fewer stages");
	return false;
}

bool problem_check_degrees(struct problem_build *build)
{
	return check_product(build) && check_devices(build) &&
	       check_stages(build);
}

/* SPDX-License-Identifier: MIT
 *
 * From the checked tree to the placement program: the list of passes.
 */
#include "compiler/lower.h"

#include "lang/module.h"

/* Every pass runs, so that one run reports what is wrong everywhere; a pass
 * that needs what an earlier one could not find does nothing. */
static bool (*const passes[])(struct lower *) = {
	lower_job_fields,
	lower_topology,
	lower_model,
	lower_recompute_modules,
	lower_exchange,
	lower_search,
	lower_plans,
	lower_requirements,
	lower_place,
	lower_objective,
	lower_profile,
	lower_precision,
};

/* The job on one topology of alike devices; NULL after reported errors. */
static struct ir *lower_variant(struct lower *lower)
{
	bool good = true;

	eval_init(&lower->eval, lower->compilation);
	lower->ir = ARENA_NEW(lower->arena, struct ir);
	lower->scope = scope_new(lower->arena, lower->module->scope);
	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++)
		good = passes[i](lower) && good;
	return good ? lower->ir : NULL;
}

struct ir *lower_job(struct compilation *compilation,
		     const struct module *module, const char *job_name)
{
	struct lower lower = {
		.compilation = compilation,
		.arena = &compilation->arena,
		.diags = &compilation->diags,
		.module = module,
	};
	const struct lower blank = lower;
	struct ir *ir;

	lower.job = module_find_job(compilation, module, job_name);
	if (!lower.job)
		return NULL;
	ir = lower_variant(&lower);
	if (ir)
		lower_model_ends(&lower);
	for (uint32_t k = 0; ir && k < ir->topology.kind_count; k++) {
		struct lower kind = blank;

		kind.job = lower.job;
		kind.variant = &lower.kinds->at[k];
		ir->topology.kind[k].only = lower_variant(&kind);
		if (!ir->topology.kind[k].only)
			return NULL;
	}
	return ir;
}

bool model_count_parameters(const struct eval *eval, const struct record *model,
			    double *count)
{
	struct compilation *compilation = eval->compilation;
	struct record copy = *model;
	struct lower lower = {
		.compilation = compilation,
		.arena = &compilation->arena,
		.diags = &compilation->diags,
		/* Limits and chains of what is evaluated now go on. */
		.eval = *eval,
		.model = &copy,
	};

	lower.ir = ARENA_NEW(lower.arena, struct ir);
	if (!lower_model(&lower))
		return false;
	*count = (double)lower.ir->model.parameters;
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * Plans as records. A job is compiled when a test first names it; its binding
 * keeps the record.
 */
#include "compiler/plan_value.h"

#include "compiler/describe.h"
#include "compiler/job_names.h"
#include "compiler/pipeline.h"
#include "compiler/site.h"
#include "compiler/variable.h"
#include "lang/base/vec.h"
#include "lang/eval.h"
#include "lang/module.h"
#include "solver/mixed.h"

/* A record under construction: names and values of its fields. */
struct fields {
	struct compilation *compilation;
	struct span span;
	VEC(struct field) all;
};

static void add_value(struct fields *fields, const char *name,
		      struct value value)
{
	struct value *kept = ARENA_NEW(&fields->compilation->arena,
				       struct value);
	struct field field = {
		.name = intern_string(&fields->compilation->intern, name),
		.span = fields->span,
		.value = kept,
	};

	*kept = value;
	kept->span = fields->span;
	VEC_PUSH(&fields->all, &fields->compilation->arena, field);
}

static void add_number(struct fields *fields, const char *name, double number,
		       struct unit unit)
{
	add_value(fields, name, value_of_number(number, unit, fields->span));
}

static void add_word(struct fields *fields, const char *name, const char *word)
{
	struct value value = { .kind = VALUE_SYMBOL };

	value.string = intern_string(&fields->compilation->intern, word);
	add_value(fields, name, value);
}

static struct value record_of(struct fields *fields, enum record_kind kind,
			      const char *name)
{
	struct value value = { .kind = VALUE_RECORD, .span = fields->span };

	value.record = ARENA_NEW(&fields->compilation->arena, struct record);
	value.record->kind = kind;
	value.record->name = name;
	value.record->span = fields->span;
	value.record->field = fields->all.at;
	value.record->field_count = (uint32_t)fields->all.count;
	return value;
}

static void add_variables(struct fields *fields, const struct problem *problem,
			  const struct plan *plan)
{
	for (int i = 0; i <= VARIABLE_DEVICES; i++) {
		enum plan_variable variable = (enum plan_variable)i;
		uint32_t number = variable_of_plan(variable, problem, plan);

		if (variable == VARIABLE_RECOMPUTE)
			add_word(fields, variable_name(variable),
				 recompute_name((enum recompute)number));
		else if (variable == VARIABLE_SEQUENCE)
			add_word(fields, variable_name(variable),
				 number ? "on" : "off");
		else if (variable == VARIABLE_SCHEDULE)
			add_word(fields, variable_name(variable),
				 schedule_name((enum schedule)number));
		else
			add_number(fields, variable_name(variable), number,
				   UNIT_NONE);
	}
}

static void add_outcomes(struct fields *fields, const struct problem *problem,
			 const struct plan *plan)
{
	static const struct unit joule = { { [BASE_WATT] = 1,
					     [BASE_SECOND] = 1 } };
	static const struct unit dollar = { { [BASE_DOLLAR] = 1 } };
	double device_s = plan->time_s * plan->devices;
	struct mixed_rate rate = mixed_rate(problem, plan);
	double bubble = plan->time_s > 0 ?
				plan->breakdown.bubble_s / plan->time_s : 0;

	add_number(fields, "time", plan->time_s, UNIT_SECOND);
	add_number(fields, "memory", plan->memory_peak_bytes, UNIT_BYTE);
	add_number(fields, "bubble", bubble, UNIT_NONE);
	add_number(fields, "cost", device_s * rate.dollars_per_s, dollar);
	add_number(fields, "energy", device_s * rate.watts, joule);
	add_number(fields, "gap", plan->certificate.gap, UNIT_NONE);
}

/* The type of a stage's devices, as it is declared. */
static void add_device(struct fields *fields, const char *name)
{
	struct value value = { .kind = VALUE_STRING,
			       .string = intern_string(&fields->compilation->intern,
						       name) };

	add_value(fields, "device", value);
}

static void add_stages(struct fields *fields, const struct ir *ir,
		       const struct problem *problem, const struct plan *plan)
{
	struct sites sites = plan_sites(ir, problem, plan);
	struct arena *arena = &fields->compilation->arena;
	struct value *item = ARENA_ARRAY(arena, struct value,
					 plan->choice.pipeline);
	struct value list = { .kind = VALUE_LIST };

	for (uint32_t i = 0; i < plan->choice.pipeline; i++) {
		struct fields stage = {
			.compilation = fields->compilation,
			.span = fields->span,
		};

		add_number(&stage, "layers", plan->stage[i].layers, UNIT_NONE);
		add_number(&stage, "memory", plan->stage[i].memory.total,
			   UNIT_BYTE);
		add_device(&stage, site_of_stage(&sites, i)->ir->topology.device.name);
		item[i] = record_of(&stage, RECORD_BLOCK, "stage");
	}
	list.item = item;
	list.item_count = plan->choice.pipeline;
	add_value(fields, "stage", list);
}

static const struct module *module_of(const struct compilation *compilation,
				      const struct scope *scope)
{
	const struct module *module = compilation->modules;

	while (module && module->scope != scope)
		module = module->next;
	return module;
}

static bool plan_of_job(const struct eval *eval, const struct ast *job,
			const struct scope *home, struct value *value)
{
	struct compilation *compilation = eval->compilation;
	const struct module *module = module_of(compilation, home);
	struct fields fields = {
		.compilation = compilation, .span = job->name_span
	};
	struct pipeline pipeline;

	if (!module || pipeline_run(compilation->plan_context, compilation,
				    module, job->name,
				    &pipeline) != STATUS_DONE)
		return false;
	add_variables(&fields, pipeline.problem, &pipeline.result.plan);
	add_outcomes(&fields, pipeline.problem, &pipeline.result.plan);
	add_stages(&fields, pipeline.ir, pipeline.problem, &pipeline.result.plan);
	*value = record_of(&fields, RECORD_PLAN, job->name);
	return true;
}

void plan_value_allow(const struct cli *cli, struct compilation *compilation)
{
	compilation->plan_of_job = plan_of_job;
	compilation->plan_context = cli;
}

void plan_value_forbid(struct compilation *compilation)
{
	compilation->plan_of_job = NULL;
	compilation->plan_context = NULL;
}

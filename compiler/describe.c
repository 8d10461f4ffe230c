/* SPDX-License-Identifier: MIT
 *
 * Words for plans and numbers.
 */
#include "compiler/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/job_names.h"
#include "compiler/ranks.h"
#include "compiler/variable.h"

uint32_t variable_of_plan(enum plan_variable variable,
			  const struct problem *problem,
			  const struct plan *plan)
{
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	const struct choice *choice = &plan->choice;

	switch (variable) {
	case VARIABLE_TENSOR:
		return shape->tensor;
	case VARIABLE_SEQUENCE:
		return shape->sequence;
	case VARIABLE_CONTEXT:
		return shape->context;
	case VARIABLE_EXPERT:
		return shape->expert;
	case VARIABLE_EXPERT_TENSOR:
		return shape->expert_tensor;
	case VARIABLE_DATA:
		return choice->data;
	case VARIABLE_PIPELINE:
		return choice->pipeline;
	case VARIABLE_VIRTUAL:
		return choice->virtual_stages;
	case VARIABLE_MICRO_BATCH:
		return shape->micro_batch;
	case VARIABLE_MICRO_BATCHES:
		return choice->micro_batches;
	case VARIABLE_ZERO:
		return choice->zero;
	case VARIABLE_RECOMPUTE:
		return choice->recompute;
	case VARIABLE_RECOMPUTE_LAYERS:
		return choice->recompute != RECOMPUTE_FULL ? 0 :
		       choice->recompute_layers ? choice->recompute_layers :
						  problem_block_count(problem);
	case VARIABLE_SCHEDULE:
		return choice->schedule;
	case VARIABLE_SHARD_LEVEL:
		return choice->shard_level;
	case VARIABLE_DEVICES:
		return plan->devices;
	default:
		return 0;
	}
}

void describe_degrees(const struct problem *problem, const struct plan *plan,
		      struct text *out)
{
	static const char *const name[DIMENSION_COUNT] = {
		[DIMENSION_TENSOR] = "tensor",
		[DIMENSION_CONTEXT] = "context",
		[DIMENSION_DATA] = "data",
		[DIMENSION_PIPELINE] = "pipeline",
	};
	const struct problem_shape *shape = &problem->shape[plan->choice.shape];
	uint32_t degree[DIMENSION_COUNT];
	bool first = true;

	plan_degrees(problem, plan, degree);
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		if (degree[i] == 1)
			continue;
		text_printf(out, "%s%s %u", first ? "" : " x ", name[i],
			    degree[i]);
		first = false;
	}
	if (first)
		text_append(out, "one device");
	if (shape->expert > 1)
		text_printf(out, ", experts over %u", shape->expert);
	if (shape->expert_tensor > 1)
		text_printf(out, ", each cut by %u", shape->expert_tensor);
}

void describe_choice(const struct problem *problem, const struct plan *plan,
		     struct text *out)
{
	const struct choice *choice = &plan->choice;

	describe_degrees(problem, plan, out);
	if (choice->virtual_stages > 1)
		text_printf(out, ", virtual %u", choice->virtual_stages);
	if (choice->schedule == SCHEDULE_GPIPE)
		text_append(out, ", GPipe");
	text_printf(out, ", micro-batch %u, ",
		    problem->shape[choice->shape].micro_batch);
	describe_policy(plan, out);
}

void describe_policy(const struct plan *plan, struct text *out)
{
	const struct choice *choice = &plan->choice;

	text_printf(out, "ZeRO %u", choice->zero);
	if (choice->shard_level)
		text_printf(out, " in shards of %u", plan_shards(plan));
	text_printf(out, ", recompute %s", recompute_name(choice->recompute));
	if (choice->recompute_layers)
		text_printf(out, " (%u layer%s of a chunk)",
			    choice->recompute_layers,
			    choice->recompute_layers == 1 ? "" : "s");
}

uint32_t plan_shards(const struct plan *plan)
{
	const struct placement *placement = &plan->placement;
	uint32_t end = plan->choice.shard_level, members = 1;

	for (uint32_t l = 0; l < (end ? end : LEVEL_MAX); l++)
		members *= placement->factor[DIMENSION_DATA][l] *
			   placement->factor[DIMENSION_CONTEXT][l];
	return members;
}

void describe_count(uint64_t count, struct text *out)
{
	char digits[24];
	size_t length;

	snprintf(digits, sizeof(digits), "%" PRIu64, count);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text_append_char(out, ',');
		text_append_char(out, digits[i]);
	}
}

void describe_bytes(double bytes, struct text *out)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	if (bytes < 1024) {
		text_printf(out, "%.0f B", bytes);
		return;
	}
	for (bytes /= 1024; bytes >= 1024 && i < 3; i++)
		bytes /= 1024;
	text_printf(out, "%.1f %s", bytes, unit[i]);
}

/* Three significant digits without an exponent. */
static void append_three(struct text *out, double number)
{
	int decimals = 2;

	for (double limit = 9.995; decimals > 0 && number >= limit; limit *= 10)
		decimals--;
	text_printf(out, "%.*f", decimals, number);
}

void describe_seconds(double seconds, struct text *out)
{
	if (seconds >= 0.9995 || seconds <= 0) {
		append_three(out, seconds);
		text_append(out, " s");
	} else if (seconds >= 0.9995e-3) {
		append_three(out, seconds * 1e3);
		text_append(out, " ms");
	} else {
		append_three(out, seconds * 1e6);
		text_append(out, " us");
	}
}

static void describe_joules(double joules, struct text *out)
{
	static const char *const unit[] = { "J", "kJ", "MJ", "GJ" };
	size_t i = 0;

	for (; joules >= 1e4 && i < 3; i++)
		joules /= 1000;
	text_printf(out, "%.4g %s", joules, unit[i]);
}

void describe_outcome(enum plan_variable variable, double value,
		      struct text *out)
{
	switch (variable) {
	case VARIABLE_TIME:
		describe_seconds(value, out);
		return;
	case VARIABLE_MEMORY:
		describe_bytes(value, out);
		return;
	case VARIABLE_COST:
		text_printf(out, "$%.4g", value);
		return;
	case VARIABLE_ENERGY:
		describe_joules(value, out);
		return;
	case VARIABLE_BUBBLE:
		text_printf(out, "%.3g %%", 100 * value);
		return;
	case VARIABLE_DEVICES:
		text_printf(out, "%.4g device%s", value, value == 1 ? "" : "s");
		return;
	default:
		text_printf(out, "%.6g", value);
		return;
	}
}

/* The outcome that a job minimises first, alone or with preferences; VARIABLE_COUNT if
 * that is an expression. *rest is what its name has besides. */
static enum plan_variable only_outcome(const struct ir_job *job, const char **rest)
{
	static const enum plan_variable alone[] = {
		VARIABLE_TIME, VARIABLE_MEMORY, VARIABLE_COST, VARIABLE_ENERGY,
		VARIABLE_BUBBLE, VARIABLE_DEVICES,
	};
	const char *name = objective_name(job);

	for (size_t i = 0; i < sizeof(alone) / sizeof(*alone); i++) {
		size_t length = strlen(variable_name(alone[i]));

		*rest = name + length;
		if (strncmp(variable_name(alone[i]), name, length) == 0 &&
		    (!**rest || !strcmp(*rest, " with preferences")))
			return alone[i];
	}
	return VARIABLE_COUNT;
}

const char *objective_name(const struct ir_job *job)
{
	return job->objective_count && job->objective_name[0] ?
		       job->objective_name[0] : "time";
}

bool objective_is_time(const struct ir_job *job)
{
	return strcmp(objective_name(job), "time") == 0;
}

void describe_objective(const struct ir_job *job, double value, struct text *out)
{
	const char *rest;
	enum plan_variable variable = only_outcome(job, &rest);

	if (variable == VARIABLE_COUNT) {
		text_printf(out, "%s = %.6g", objective_name(job), value);
		return;
	}
	describe_outcome(variable, value, out);
	text_append(out, rest);
}

void describe_objective_number(const struct ir_job *job, double value,
			       struct text *out)
{
	const char *rest;

	describe_outcome(only_outcome(job, &rest), value, out);
}

void describe_parameters(double count, struct text *out)
{
	if (count >= 1e12)
		text_printf(out, "%.2f T", count / 1e12);
	else if (count >= 1e9)
		text_printf(out, "%.2f B", count / 1e9);
	else if (count >= 1e6)
		text_printf(out, "%.2f M", count / 1e6);
	else
		describe_count((uint64_t)count, out);
}

const char *level_kind_name(enum level_kind kind)
{
	return kind == LEVEL_RING ? "ring" : kind == LEVEL_FULL ? "full" : "switch";
}

static void describe_field(struct text *out, const char *name, double number)
{
	text_printf(out, " %s=", name);
	text_append_number(out, number);
}

void describe_level(const struct problem_level *level, struct text *out)
{
	text_printf(out, "fanout=%u", level->fanout);
	describe_field(out, "bandwidth", level->bandwidth_Bps);
	describe_field(out, "latency", level->latency_s);
	describe_field(out, "oversubscription", level->oversubscription);
	describe_field(out, "efficiency", level->efficiency);
	if (level->overhead_s > 0)
		describe_field(out, "overhead", level->overhead_s);
	if (level->short_efficiency > 0) {
		describe_field(out, "short_efficiency", level->short_efficiency);
		describe_field(out, "short_overhead", level->short_overhead_s);
	}
	if (level->nics)
		text_printf(out, " nics=%u", level->nics);
	if (level->rails)
		text_printf(out, " rails=%u", level->rails);
	if (level->reduction_efficiency > 0)
		describe_field(out, "reduction_efficiency",
			       level->reduction_efficiency);
	if (level->kind != LEVEL_SWITCH)
		text_printf(out, " kind=%s", level_kind_name(level->kind));
	text_append(out, level->wrap ? " wrap" : "");
	text_append(out, level->joined ? " joined" : "");
	text_append(out, level->in_network_reduction ? " in_network_reduction" : "");
}

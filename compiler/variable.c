/* SPDX-License-Identifier: MIT
 *
 * Names of plan variables and the symbols that are values of some.
 */
#include "compiler/variable.h"

#include <string.h>

#include "compiler/job_names.h"

static const char *const variable_names[VARIABLE_COUNT] = {
	[VARIABLE_TENSOR] = "tensor",
	[VARIABLE_SEQUENCE] = "sequence",
	[VARIABLE_CONTEXT] = "context",
	[VARIABLE_EXPERT] = "expert",
	[VARIABLE_EXPERT_TENSOR] = "expert_tensor",
	[VARIABLE_DATA] = "data",
	[VARIABLE_PIPELINE] = "pipeline",
	[VARIABLE_VIRTUAL] = "virtual",
	[VARIABLE_MICRO_BATCH] = "micro_batch",
	[VARIABLE_MICRO_BATCHES] = "micro_batches",
	[VARIABLE_ZERO] = "zero",
	[VARIABLE_RECOMPUTE] = "recompute",
	[VARIABLE_RECOMPUTE_LAYERS] = "recompute_layers",
	[VARIABLE_SCHEDULE] = "schedule",
	[VARIABLE_SHARD_LEVEL] = "shard_level",
	[VARIABLE_DEVICES] = "devices",
	[VARIABLE_TIME] = "time",
	[VARIABLE_MEMORY] = "memory",
	[VARIABLE_BUBBLE] = "bubble",
	[VARIABLE_COST] = "cost",
	[VARIABLE_ENERGY] = "energy",
	[VARIABLE_STAGE_LAYERS] = "stage[i].layers",
	[VARIABLE_STAGES_UNIFORM] = "stages.uniform",
};

const char *variable_name(enum plan_variable variable)
{
	return variable_names[variable];
}

const char *const *variable_name_list(void)
{
	return variable_names;
}

enum plan_variable variable_find(const char *name)
{
	for (int i = 0; i < VARIABLE_STAGE_LAYERS; i++)
		if (!strcmp(variable_names[i], name))
			return (enum plan_variable)i;
	return VARIABLE_COUNT;
}

static bool find_name(const char *const *names, uint32_t count,
		      const char *symbol, uint32_t *number)
{
	for (*number = 0; *number < count; (*number)++)
		if (!strcmp(names[*number], symbol))
			return true;
	return false;
}

bool variable_symbol(enum plan_variable variable, const char *symbol,
		     uint32_t *number)
{
	if (variable == VARIABLE_SEQUENCE) {
		*number = !strcmp(symbol, "on");
		return *number || !strcmp(symbol, "off");
	}
	if (variable == VARIABLE_RECOMPUTE)
		return find_name(recompute_names, RECOMPUTE_COUNT, symbol, number);
	return variable == VARIABLE_SCHEDULE &&
	       find_name(schedule_names, SCHEDULE_COUNT, symbol, number);
}

const char *variable_symbols(enum plan_variable variable)
{
	if (variable == VARIABLE_SEQUENCE)
		return "on or off";
	if (variable == VARIABLE_RECOMPUTE)
		return "none, selective or full";
	if (variable == VARIABLE_SCHEDULE)
		return "one_f_one_b, interleaved or gpipe";
	return NULL;
}

void variable_value_print(enum plan_variable variable, uint32_t value,
			  struct text *out)
{
	switch (variable) {
	case VARIABLE_SEQUENCE:
		text_append(out, value ? "on" : "off");
		return;
	case VARIABLE_RECOMPUTE:
		text_append(out, recompute_name((enum recompute)value));
		return;
	case VARIABLE_SCHEDULE:
		text_append(out, schedule_name((enum schedule)value));
		return;
	default:
		text_printf(out, "%u", value);
		return;
	}
}

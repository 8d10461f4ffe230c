/* SPDX-License-Identifier: MIT
 *
 * The topology's record and its device to numbers, each checked for range.
 */
#include <math.h>
#include <string.h>

#include "compiler/lower.h"

/* ---- device ---- */

/* Names of all fields a device may have, "block.field" for those in blocks. */
static const char *const device_fields[] = {
#define FIELD(member, name, unit, required, fallback) name,
#include "compiler/device_fields.def"
#undef FIELD
};

#define DEVICE_FIELD_COUNT (sizeof(device_fields) / sizeof(*device_fields))

/* Shares of something; of some there may be nothing at all. */
static bool is_share(const char *name, bool *may_be_zero)
{
	*may_be_zero = !strcmp(name, "gemm.wave") || !strcmp(name, "throttling");
	return strstr(name, "efficiency") || *may_be_zero ||
	       !strcmp(name, "gemm.narrow");
}

static bool is_count(const char *name)
{
	return !strcmp(name, "multiprocessors") || !strcmp(name, "gemm.tile_m") ||
	       !strcmp(name, "gemm.tile_n");
}

static bool check_device_number(struct lower *lower, struct span span,
				const char *name, bool required, double number)
{
	bool may_be_zero;

	if (!isfinite(number) || number < 0)
		return diag_error(lower->diags, E_DEVICE_VALUE, span,
				  "'%s' must be finite and from 0 on", name);
	if (required && number == 0)
		return diag_error(lower->diags, E_DEVICE_VALUE, span,
				  "'%s' must be above 0", name);
	if (is_share(name, &may_be_zero) &&
	    (number > 1 || (number == 0 && !may_be_zero)))
		return diag_error(lower->diags, E_DEVICE_VALUE, span,
				  "'%s' is a share and must be above 0%% and at most 100%%",
				  name);
	if (!strcmp(name, "throttling") && number >= 1)
		return diag_error(lower->diags, E_DEVICE_VALUE, span,
				  "'%s' is the share lost and must be below 100%%",
				  name);
	if (!strcmp(name, "throttling") && number == 1)
		return diag_error(lower->diags, E_DEVICE_VALUE, span,
				  "'throttling' must be below 100%%: nothing would be left");
	if (is_count(name) && number < 1)
		return diag_error(lower->diags, E_DEVICE_VALUE, span,
				  "'%s' must be at least 1", name);
	return true;
}

/* The record that holds the last part of "block.field"; NULL if it is absent. */
static const struct record *inner_record(struct lower *lower,
					 const struct record *record,
					 const char **name)
{
	const char *dot = strchr(*name, '.');
	const struct field *block;

	if (!dot)
		return record;
	block = record_find(record, intern_bytes(&lower->compilation->intern, *name,
						 (size_t)(dot - *name)));
	*name = dot + 1;
	if (!block || block->value->kind != VALUE_RECORD)
		return NULL;
	return block->value->record;
}

static bool device_number(struct lower *lower, const struct record *record,
			  const char *name, struct unit unit, bool required,
			  double fallback, double *number)
{
	const char *last = name;
	const struct record *inner = inner_record(lower, record, &last);
	const struct field *field = NULL;

	*number = fallback;
	if (!inner)
		return true;
	if (!eval_field_number(&lower->eval, inner, last, unit, required, number))
		return false;
	field = record_find(inner, intern_string(&lower->compilation->intern, last));
	return check_device_number(lower, field ? field->span : record->span, name,
				   required, *number);
}

static bool device_numbers(struct lower *lower, const struct record *record,
			   struct ir_device *device)
{
	bool good = true;

#define FIELD(member, name, unit, required, fallback)                         \
	good = device_number(lower, record, name, unit, required, fallback,   \
			     &device->member) && good;
#include "compiler/device_fields.def"
#undef FIELD
	return good;
}

/* Whether "prefix.name" (prefix NULL: name) is a field; or the name of a block
 * of fields. */
static bool device_field_known(const char *prefix, const char *name,
			       bool *is_block)
{
	size_t length = strlen(name);

	*is_block = false;
	for (size_t i = 0; i < DEVICE_FIELD_COUNT; i++) {
		const char *at = device_fields[i];

		if (prefix) {
			size_t skip = strlen(prefix);

			if (strncmp(at, prefix, skip) || at[skip] != '.')
				continue;
			at += skip + 1;
		}
		if (!strcmp(at, name))
			return true;
		if (!prefix && !strncmp(at, name, length) && at[length] == '.') {
			*is_block = true;
			return true;
		}
	}
	return false;
}

/* Offers names at one depth: a field's own name, or its block's. */
static void suggest_device_field(struct lower *lower, const char *prefix,
				 const char *name)
{
	const char *known[DEVICE_FIELD_COUNT];
	uint32_t count = 0;

	for (size_t i = 0; i < DEVICE_FIELD_COUNT; i++) {
		const char *at = device_fields[i];
		const char *dot = strchr(at, '.');
		size_t length = dot ? (size_t)(dot - at) : strlen(at);

		if (!prefix)
			known[count++] = intern_bytes(&lower->compilation->intern, at,
						      length);
		else if (dot && strlen(prefix) == length &&
			 !strncmp(at, prefix, length))
			known[count++] = dot + 1;
	}
	lower_suggest(lower, name, known, count);
}

static bool check_device_fields(struct lower *lower,
				const struct record *record, const char *prefix)
{
	bool good = true;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];
		bool is_block;

		if (!device_field_known(prefix, field->name, &is_block)) {
			good = diag_error(lower->diags, E_DEVICE_FIELD, field->span,
					  "a device has no %s '%s%s%s'",
					  field->value->kind == VALUE_RECORD ?
					  "block" : "field", prefix ? prefix : "",
					  prefix ? "." : "", field->name);
			suggest_device_field(lower, prefix, field->name);
			continue;
		}
		if (!is_block)
			continue;
		if (field->value->kind == VALUE_RECORD)
			good = check_device_fields(lower, field->value->record,
						   field->name) && good;
		else
			good = diag_error(lower->diags, E_DEVICE_FIELD, field->span,
					  "'%s' of a device is a block: %s { .. }",
					  field->name, field->name);
	}
	return good;
}

static bool lower_device(struct lower *lower, const struct record *topology)
{
	struct ir_device *device = &lower->ir->topology.device;
	const struct field *field =
		record_find(topology, intern_string(&lower->compilation->intern,
						    "device"));
	const struct record *record;
	bool good;

	if (!field) {
		diag_error(lower->diags, E_TOPOLOGY_FIELD, topology->span,
			   "topology '%s' does not say its device", topology->name);
		diag_help(lower->diags, "add for instance: device = h100_sxm");
		return false;
	}
	if (field->value->kind == VALUE_ERROR)
		return false;
	if (field->value->kind != VALUE_RECORD ||
	    field->value->record->kind != RECORD_DEVICE) {
		struct text scratch;

		text_init(&scratch, lower->arena);
		return diag_error(lower->diags, E_TOPOLOGY_FIELD, field->span,
				  "'device' must be a device, and this is %s",
				  value_describe(field->value, &scratch));
	}
	record = field->value->record;
	device->name = record->name;
	device->span = record->span;
	good = check_device_fields(lower, record, NULL);
	return device_numbers(lower, record, device) && good;
}

/* ---- items ---- */

/* Fields that topologies do not have. */
static bool check_topology_fields(struct lower *lower,
				 const struct record *record)
{
	bool good = true;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];

		if (!strcmp(field->name, "device"))
			continue;
		good = diag_error(lower->diags, E_TOPOLOGY_FIELD, field->span,
				  "a topology has no field '%s'", field->name);
		diag_help(lower->diags, "a topology has 'device' and levels; "
			  "name other values with let");
	}
	return good;
}

/* What is wrong in such a topology comes from what it was given. */
static bool is_in_library(const struct lower *lower, const struct record *record)
{
	const struct sources *sources = &lower->compilation->sources;

	return record->declaration &&
	       sources->at[record->declaration->span.file]->is_embedded;
}

/* The parts of a topology. */
static bool lower_parts(struct lower *lower, const struct record *record)
{
	bool good = check_topology_fields(lower, record);

	good = lower_device(lower, record) && good;
	if (record->graph)
		return lower_graph(lower, record) && good;
	return lower_levels(lower, record) && good;
}

bool lower_plain_topology(struct lower *lower, const struct record *record)
{
	struct diag_frame frame;
	bool good;

	lower->ir->topology.name = record->name;
	lower->ir->topology.span = record->span;
	if (!is_in_library(lower, record))
		return lower_parts(lower, record);
	diag_push_frame(lower->diags, &frame, record->span,
			arena_printf(lower->arena, "in topology '%s' used here",
				     record->name));
	good = lower_parts(lower, record);
	diag_pop_frame(lower->diags);
	return good;
}

bool lower_topology(struct lower *lower)
{
	if (!lower->topology)
		return false;
	if (lower->variant) {
		lower->ir->topology = lower->variant->topology;
		return true;
	}
	/* Children that differ and could not be joined were reported. */
	if (lower->topology->part_count && lower->topology->part[0]->part_count)
		return false;
	return lower_plain_topology(lower, lower->topology);
}

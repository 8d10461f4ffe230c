/* SPDX-License-Identifier: MIT
 *
 * The entries of a profile: the times of one kind of layer under one shape.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/lower_profile.h"

/* Wrong entries told of; people fix the first ones and run again. */
#define WRONG_MAX 8

static struct span entry_place(const struct profile_reader *reader, size_t entry)
{
	struct span layers = json_file_member(
		&reader->json, json_file_root(&reader->json), "layers");

	return json_file_element(&reader->json, layers, entry);
}

/* The value of a key of the entry being read, or all of the entry. */
static struct span value_place(const struct profile_reader *reader, const char *key)
{
	return json_file_member(&reader->json,
				entry_place(reader, reader->entry), key);
}

static struct span current_place(const struct profile_reader *reader)
{
	return entry_place(reader, reader->entry);
}

static bool read_degree(struct profile_reader *reader, const json_t *entry,
			const char *key, bool required, uint32_t *degree)
{
	struct diags *diags = reader->lower->diags;
	const json_t *value = json_object_get(entry, key);
	json_int_t number = json_integer_value(value);

	*degree = 1;
	if (!value && !required)
		return true;
	if (!value) {
		diag_error(diags, E_PROFILE, current_place(reader),
			   "the entry does not say its '%s'", key);
		diag_help(diags, "add for instance \"%s\": 1", key);
		return false;
	}
	if (!json_is_integer(value) || number < 1 || number > DEVICES_MAX)
		return diag_error(diags, E_PROFILE, value_place(reader, key),
				  "'%s' must be a whole number from 1 to %u",
				  key, DEVICES_MAX);
	*degree = (uint32_t)number;
	return true;
}

static bool read_sequence(struct profile_reader *reader, const json_t *entry,
			  bool *sequence)
{
	const json_t *value = json_object_get(entry, "sequence");

	*sequence = json_is_true(value);
	if (!value || json_is_boolean(value))
		return true;
	return diag_error(reader->lower->diags, E_PROFILE,
			  value_place(reader, "sequence"),
			  "'sequence' must be true or false");
}

static bool read_recompute(struct profile_reader *reader, const json_t *entry,
			   enum recompute *recompute)
{
	const json_t *value = json_object_get(entry, "recompute");
	const char *word = json_string_value(value);
	uint32_t number = RECOMPUTE_NONE;

	if (value && (!word || !variable_symbol(VARIABLE_RECOMPUTE, word,
						&number)))
		return diag_error(reader->lower->diags, E_PROFILE,
				  value_place(reader, "recompute"),
				  "'recompute' must be %s",
				  variable_symbols(VARIABLE_RECOMPUTE));
	*recompute = (enum recompute)number;
	return true;
}

static bool read_time(struct profile_reader *reader, const json_t *entry,
		      const char *key, double *seconds)
{
	struct diags *diags = reader->lower->diags;
	const json_t *value = json_object_get(entry, key);

	if (!value)
		return diag_error(diags, E_PROFILE, current_place(reader),
				  "the entry does not say its '%s' time", key);
	if (!json_is_number(value)) {
		diag_error(diags, E_PROFILE, value_place(reader, key),
			   "'%s' must be a number", key);
		diag_help(diags, "the unit of all times is said once, in \"unit\"");
		return false;
	}
	*seconds = json_number_value(value) / reader->per_second;
	if (*seconds > 0 && *seconds <= PROFILE_SECONDS_MAX)
		return true;
	diag_error(diags, E_PROFILE, value_place(reader, key),
		   *seconds > 0 ? "'%s' is longer than an hour" :
		   *seconds < 0 ? "'%s' is negative" :
				  "'%s' is 0: nothing takes no time", key);
	if (*seconds > 0)
		diag_help(diags, "times are in seconds, or say \"unit\": \"ms\" or \"us\"");
	return false;
}

/* The kind of layer at a position of the chain. */
static uint32_t class_at(const struct ir_model *model, json_int_t position)
{
	for (uint32_t i = 0; i < model->run_count; i++) {
		if (position < model->run[i].count)
			return model->run[i].class_index;
		position -= model->run[i].count;
	}
	return IR_NONE;
}

static bool unknown_layer(struct profile_reader *reader, const char *name)
{
	struct lower *lower = reader->lower;
	const struct ir_model *model = &lower->ir->model;
	const char **names = ARENA_ARRAY(lower->arena, const char *,
					 model->class_count);
	struct text list;

	text_init(&list, lower->arena);
	for (uint32_t i = 0; i < model->class_count; i++) {
		names[i] = model->class[i].name;
		if (i < 8)
			text_printf(&list, "%s'%s'", i ? ", " : "", names[i]);
	}
	diag_error(lower->diags, E_PROFILE_LAYER,
		   json_file_inside(&reader->json, value_place(reader, "layer")),
		   "model '%s' has no layer '%s'", model->name, name);
	if (!lower_suggest(lower, name, names, model->class_count))
		diag_help(lower->diags, "its layers are %s%s", list.at,
			  model->class_count > 8 ? ", .." : "");
	return false;
}

/* Several kinds of layers may come from one template. */
static bool report_ambiguous(struct profile_reader *reader, const char *name,
			     uint32_t first, uint32_t second)
{
	struct diags *diags = reader->lower->diags;
	const struct ir_model *model = &reader->lower->ir->model;

	diag_error(diags, E_PROFILE_LAYER, value_place(reader, "layer"),
		   "model '%s' has several kinds of layers '%s'", model->name,
		   name);
	diag_note(diags, model->class[first].span, "one is made here");
	diag_note(diags, model->class[second].span, "and another one here");
	diag_help(diags,
		  "say which: add the place in the chain of one such layer, \"position\": %u or %u",
		  profile_position(model, first), profile_position(model, second));
	return false;
}

static bool find_by_name(struct profile_reader *reader, const char *name,
			 uint32_t *class_index)
{
	const struct ir_model *model = &reader->lower->ir->model;

	*class_index = IR_NONE;
	for (uint32_t i = 0; i < model->class_count; i++) {
		if (strcmp(model->class[i].name, name) != 0)
			continue;
		if (*class_index != IR_NONE)
			return report_ambiguous(reader, name, *class_index, i);
		*class_index = i;
	}
	return *class_index != IR_NONE || unknown_layer(reader, name);
}

static bool find_by_position(struct profile_reader *reader, const json_t *position,
			     const char *name, uint32_t *class_index)
{
	struct diags *diags = reader->lower->diags;
	const struct ir_model *model = &reader->lower->ir->model;
	struct span span = value_place(reader, "position");

	if (!json_is_integer(position) || json_integer_value(position) < 0)
		return diag_error(diags, E_PROFILE, span,
				  "'position' must be a whole number from 0");
	*class_index = class_at(model, json_integer_value(position));
	if (*class_index == IR_NONE)
		return diag_error(diags, E_PROFILE_LAYER, span,
				  "the chain of model '%s' has no layer at %lld",
				  model->name,
				  (long long)json_integer_value(position));
	if (!strcmp(model->class[*class_index].name, name))
		return true;
	return diag_error(diags, E_PROFILE_LAYER, span,
			  "the layer at %lld is '%s', not '%s'",
			  (long long)json_integer_value(position),
			  model->class[*class_index].name, name);
}

static bool read_layer(struct profile_reader *reader, const json_t *entry,
		       uint32_t *class_index)
{
	struct diags *diags = reader->lower->diags;
	const char *name = json_string_value(json_object_get(entry, "layer"));
	const json_t *position = json_object_get(entry, "position");

	if (!name)
		return diag_error(diags, E_PROFILE, current_place(reader),
				  "the entry does not name its 'layer'");
	return position ? find_by_position(reader, position, name, class_index) :
			  find_by_name(reader, name, class_index);
}

static bool read_entry(struct profile_reader *reader, const json_t *entry,
		       struct ir_measurement *measurement)
{
	static const char *const keys[] = {
		"layer", "position", "tensor", "context", "expert",
		"expert_tensor", "sequence", "micro_batch", "recompute",
		"forward", "backward", "comment",
	};
	struct problem_shape *shape = &measurement->shape;
	bool good;

	if (!json_is_object(entry))
		return diag_error(reader->lower->diags, E_PROFILE,
				  current_place(reader),
				  "an entry of 'layers' must be an object");
	good = profile_check_keys(reader, entry, current_place, "an entry", keys,
			  sizeof(keys) / sizeof(*keys));
	good = read_layer(reader, entry, &measurement->class_index) && good;
	good = read_degree(reader, entry, "tensor", true, &shape->tensor) && good;
	good = read_degree(reader, entry, "context", false, &shape->context) && good;
	good = read_degree(reader, entry, "expert", false, &shape->expert) && good;
	good = read_degree(reader, entry, "expert_tensor", false,
			   &shape->expert_tensor) && good;
	good = read_degree(reader, entry, "micro_batch", true,
			   &shape->micro_batch) && good;
	good = read_sequence(reader, entry, &shape->sequence) && good;
	good = read_recompute(reader, entry, &measurement->recompute) && good;
	good = read_time(reader, entry, "forward", &measurement->forward_s) && good;
	good = read_time(reader, entry, "backward", &measurement->backward_s) && good;
	if (good)
		*shape = profile_shape(
			&reader->lower->ir->model.class[measurement->class_index],
			shape);
	return good;
}

static int by_key(const void *a, const void *b)
{
	const struct ir_measurement *left = a, *right = b;
	int order = profile_compare(left, right);

	/* Of two equal ones the later is the second. */
	return order ? order :
		       (left->entry > right->entry) - (left->entry < right->entry);
}

static bool sort_entries(struct profile_reader *reader)
{
	struct ir_profile *profile = reader->profile;
	struct diags *diags = reader->lower->diags;

	qsort(profile->measurement, profile->measurement_count,
	      sizeof(*profile->measurement), by_key);
	for (uint32_t i = 1; i < profile->measurement_count; i++) {
		const struct ir_measurement *one = &profile->measurement[i - 1];
		const struct ir_measurement *two = &profile->measurement[i];

		if (profile_compare(one, two))
			continue;
		diag_error(diags, E_PROFILE, entry_place(reader, two->entry),
			   "the same layer and shape is measured twice");
		diag_label(diags, entry_place(reader, one->entry),
			   "first measured here");
		diag_help(diags, "keep one of them, for instance the median of all runs");
		return false;
	}
	return true;
}

bool profile_read_entries(struct profile_reader *reader)
{
	struct diags *diags = reader->lower->diags;
	const json_t *layers = json_object_get(reader->json.root, "layers");
	struct ir_profile *profile = reader->profile;
	size_t count = json_array_size(layers);
	struct span span = json_file_member(&reader->json, json_file_root(&reader->json),
					    "layers");

	if (!json_is_array(layers))
		return diag_error(diags, E_PROFILE, span,
				  layers ? "'layers' must be a list" :
					   "the profile has no 'layers'");
	if (count > PROFILE_ENTRIES_MAX)
		return diag_error(diags, E_PROFILE, span,
				  "the profile has %zu entries, and at most %u are read",
				  count, PROFILE_ENTRIES_MAX);
	profile->measurement = ARENA_ARRAY(reader->lower->arena,
					   struct ir_measurement, count);
	for (reader->entry = 0; reader->entry < count &&
				reader->wrong < WRONG_MAX; reader->entry++) {
		uint32_t *next = &profile->measurement_count;

		profile->measurement[*next].entry = (uint32_t)reader->entry;
		if (read_entry(reader, json_array_get(layers, reader->entry),
			       &profile->measurement[*next]))
			(*next)++;
		else
			reader->wrong++;
	}
	return !reader->wrong && sort_entries(reader);
}

/* SPDX-License-Identifier: MIT
 *
 * The field `profile` of a job: reads the file of measured layer times, and
 * holds against the job what it says it was measured for. Everything is checked:
 * such files come from people's scripts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/json_file.h"
#include "compiler/lower.h"
#include "compiler/profile.h"
#include "lang/base/path.h"

#define SCHEMA "nest.profile/1"

/* Wrong entries told of; people fix the first ones and run again. */
#define WRONG_MAX 8

struct reader {
	struct lower *lower;
	struct json_file json;
	struct ir_profile *profile;
	double per_second;		/* units of the times in the file */
	uint32_t wrong;			/* entries reported */
	size_t entry;			/* being read */
};

/* ---- places ---- */

static struct span entry_place(const struct reader *reader, size_t entry)
{
	struct span layers = json_file_member(
		&reader->json, json_file_root(&reader->json), "layers");

	return json_file_element(&reader->json, layers, entry);
}

/* The value of a key of the entry being read, or all of the entry. */
static struct span value_place(const struct reader *reader, const char *key)
{
	return json_file_member(&reader->json,
				entry_place(reader, reader->entry), key);
}

/* Keys a file or an entry may have; another is most likely a slip, and would
 * be ignored in silence. */
static bool check_keys(struct reader *reader, const json_t *object,
		       struct span (*place)(const struct reader *),
		       const char *what, const char *const *known,
		       uint32_t count)
{
	struct lower *lower = reader->lower;
	const char *key;
	json_t *value;
	bool good = true;

	json_object_foreach((json_t *)object, key, value) {
		uint32_t i = 0;

		while (i < count && strcmp(known[i], key) != 0)
			i++;
		if (i < count)
			continue;
		good = diag_error(lower->diags, E_PROFILE,
				  json_file_key(&reader->json, place(reader),
						key),
				  "%s has no '%s'", what, key);
		lower_suggest(lower, key, known, count);
	}
	return good;
}

static struct span root_place(const struct reader *reader)
{
	return json_file_root(&reader->json);
}

static struct span current_place(const struct reader *reader)
{
	return entry_place(reader, reader->entry);
}

/* ---- what it was measured for ---- */

static bool read_text(struct reader *reader, const char *key,
		      const char *example, const char **text)
{
	struct lower *lower = reader->lower;
	const json_t *value = json_object_get(reader->json.root, key);

	*text = json_string_value(value);
	if (*text)
		return true;
	diag_error(lower->diags, E_PROFILE,
		   json_file_member(&reader->json, root_place(reader), key),
		   value ? "'%s' must be a string" :
			   "the profile does not say its '%s'", key);
	diag_help(lower->diags, "add for instance \"%s\": \"%s\"", key, example);
	return false;
}

/* Times of something else would be wrong in silence. */
static bool check_same(struct reader *reader, const char *key,
		       const char *measured, const char *wanted,
		       struct span span)
{
	struct lower *lower = reader->lower;

	if (!wanted || !strcmp(measured, wanted))
		return true;
	diag_error(lower->diags, E_PROFILE_OTHER,
		   json_file_member(&reader->json, root_place(reader), key),
		   "the profile was measured for %s '%s', and the job has '%s'",
		   key, measured, wanted);
	if (!span_is_nowhere(span))
		diag_note(lower->diags, span, "'%s' comes from here", wanted);
	diag_help(lower->diags,
		  "measure again, or leave the profile out of this job");
	return false;
}

static bool check_sequence(struct reader *reader)
{
	struct lower *lower = reader->lower;
	const struct ir_model *model = &lower->ir->model;
	const char *key = "sequence_length";
	const json_t *value = json_object_get(reader->json.root, key);
	struct span span = json_file_member(&reader->json, root_place(reader),
					    key);

	if (!json_is_integer(value)) {
		diag_error(lower->diags, E_PROFILE, span,
			   value ? "'%s' must be a whole number" :
				   "the profile does not say its '%s'", key);
		diag_help(lower->diags, "add for instance \"%s\": %llu", key,
			  (unsigned long long)model->sequence_length);
		return false;
	}
	if (json_integer_value(value) == (json_int_t)model->sequence_length)
		return true;
	diag_error(lower->diags, E_PROFILE_OTHER, span,
		   "the profile was measured with sequences of %lld tokens, and the model has %llu",
		   (long long)json_integer_value(value),
		   (unsigned long long)model->sequence_length);
	diag_note(lower->diags, model->span, "'%s' is made here", model->name);
	diag_help(lower->diags,
		  "measure again, or leave the profile out of this job");
	return false;
}

/* One of a few words, the first of them where the key is left out. */
static bool read_word(struct reader *reader, const char *key,
		      const char *const *words, uint32_t count, uint32_t *index)
{
	struct lower *lower = reader->lower;
	const json_t *value = json_object_get(reader->json.root, key);
	const char *text = json_string_value(value);
	struct text list;

	*index = 0;
	if (!value)
		return true;
	for (; text && *index < count; (*index)++)
		if (!strcmp(words[*index], text))
			return true;
	text_init(&list, lower->arena);
	for (uint32_t i = 0; i < count; i++)
		text_printf(&list, "%s\"%s\"", i ? ", " : "", words[i]);
	return diag_error(lower->diags, E_PROFILE,
			  json_file_member(&reader->json, root_place(reader),
					   key),
			  "'%s' must be one of: %s", key, list.at);
}

/* The model's layer times, which would be scaled, are without communication. */
static bool check_scaled(struct reader *reader)
{
	struct diags *diags = reader->lower->diags;

	if (!reader->profile->scaled || !reader->profile->with_communication)
		return true;
	diag_error(diags, E_PROFILE,
		   json_file_member(&reader->json, root_place(reader),
				    "unmeasured"),
		   "modelled times cannot be scaled to times that include communication");
	diag_help(diags, "measure without communication, or write \"unmeasured\": \"modelled\"");
	return false;
}

static bool read_facts(struct reader *reader)
{
	static const char *const units[] = { "s", "ms", "us" };
	static const double per_second[] = { 1, 1e3, 1e6 };
	static const char *const exchanges[] = { "excluded", "included" };
	static const char *const others[] = { "modelled", "scaled" };
	const struct ir *ir = reader->lower->ir;
	const char *text;
	uint32_t index;
	bool good = true;

	if (read_text(reader, "model", ir->model.name, &text))
		good = check_same(reader, "model", text, ir->model.name,
				  ir->model.span);
	else
		good = false;
	if (read_text(reader, "device", ir->topology.device.name, &text))
		good = check_same(reader, "device", text,
				  ir->topology.device.name,
				  ir->topology.device.span) && good;
	else
		good = false;
	if (read_text(reader, "precision", precision_name(ir->job.precision),
		      &text))
		good = check_same(reader, "precision", text,
				  precision_name(ir->job.precision),
				  SPAN_NONE) && good;
	else
		good = false;
	good = check_sequence(reader) && good;
	good = read_word(reader, "unit", units, 3, &index) && good;
	reader->per_second = per_second[index < 3 ? index : 0];
	good = read_word(reader, "communication", exchanges, 2, &index) && good;
	reader->profile->with_communication = index == 1;
	good = read_word(reader, "unmeasured", others, 2, &index) && good;
	reader->profile->scaled = index == 1;
	return good && check_scaled(reader);
}

/* ---- entries ---- */

static bool read_degree(struct reader *reader, const json_t *entry,
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

static bool read_sequence(struct reader *reader, const json_t *entry,
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

static bool read_recompute(struct reader *reader, const json_t *entry,
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

static bool read_time(struct reader *reader, const json_t *entry,
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

static bool unknown_layer(struct reader *reader, const char *name)
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
static bool report_ambiguous(struct reader *reader, const char *name,
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

static bool find_by_name(struct reader *reader, const char *name,
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

static bool find_by_position(struct reader *reader, const json_t *position,
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

static bool read_layer(struct reader *reader, const json_t *entry,
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

static bool read_entry(struct reader *reader, const json_t *entry,
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
	good = check_keys(reader, entry, current_place, "an entry", keys,
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

static bool sort_entries(struct reader *reader)
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

static bool read_entries(struct reader *reader)
{
	struct diags *diags = reader->lower->diags;
	const json_t *layers = json_object_get(reader->json.root, "layers");
	struct ir_profile *profile = reader->profile;
	size_t count = json_array_size(layers);
	struct span span = json_file_member(&reader->json, root_place(reader),
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

static bool read_profile(struct reader *reader)
{
	static const char *const keys[] = {
		"schema", "comment", "model", "device", "precision",
		"sequence_length", "unit", "communication", "unmeasured",
		"layers",
	};
	struct diags *diags = reader->lower->diags;
	const char *schema =
		json_string_value(json_object_get(reader->json.root, "schema"));
	bool good;

	if (!json_is_object(reader->json.root))
		return diag_error(diags, E_PROFILE, root_place(reader),
				  "a profile must be a JSON object");
	if (!schema || strcmp(schema, SCHEMA)) {
		diag_error(diags, E_PROFILE,
			   json_file_member(&reader->json, root_place(reader),
					    "schema"),
			   schema ? "'%s' is no schema of profiles this nestc knows" :
				    "the profile does not say its 'schema'",
			   schema);
		diag_help(diags, "write \"schema\": \"" SCHEMA "\"");
		return false;
	}
	good = check_keys(reader, reader->json.root, root_place, "a profile",
			  keys, sizeof(keys) / sizeof(*keys));
	good = read_facts(reader) && good;
	return read_entries(reader) && good;
}

/* Whether the job's model and topology are known well enough. */
static bool is_ready(const struct lower *lower)
{
	return lower->ir->model.class_count && lower->ir->model.run_count &&
	       lower->ir->topology.device.name;
}

bool lower_profile(struct lower *lower)
{
	const struct ast *field = lower_field(lower_body(lower->job), "profile");
	struct reader reader = { .lower = lower };
	struct compilation *compilation = lower->compilation;
	struct diag_frame frame;
	struct value value;
	const char *path;
	bool good;

	if (!field)
		return true;
	reader.profile = &lower->ir->job.profile;
	if (!eval_expression(&lower->eval, lower->scope, field->child[0],
			     &value) || value.kind == VALUE_ERROR)
		return false;
	if (value.kind != VALUE_STRING) {
		diag_error(lower->diags, E_JOB_VALUE, field->child[0]->span,
			   "'profile' must be the name of a file");
		diag_help(lower->diags, "for instance: profile = \"measured.json\"");
		return false;
	}
	path = path_join(lower->arena,
			 path_directory(lower->arena,
					compilation->sources.at
						[field->span.file]->name),
			 value.string);
	if (!is_ready(lower) ||
	    !json_file_read(compilation, path, field->child[0]->span, E_PROFILE,
			    &reader.json))
		return false;
	reader.profile->file = value.string;
	reader.profile->span = field->child[0]->span;
	reader.profile->source = reader.json.source;
	diag_push_frame(lower->diags, &frame, reader.profile->span,
			"in the profile named here");
	good = read_profile(&reader);
	diag_pop_frame(lower->diags);
	json_file_release(&reader.json);
	return good;
}

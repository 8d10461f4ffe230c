/* SPDX-License-Identifier: MIT
 *
 * The field `profile` of a job: reads the file of measured layer times, and
 * holds against the job what it says it was measured for. Everything is checked:
 * such files come from people's scripts.
 */
#include <string.h>

#include "compiler/job_names.h"
#include "compiler/lower_profile.h"
#include "lang/base/path.h"

#define SCHEMA "nest.profile/1"

static struct span root_place(const struct profile_reader *reader)
{
	return json_file_root(&reader->json);
}

bool profile_check_keys(struct profile_reader *reader, const json_t *object,
			struct span (*place)(const struct profile_reader *),
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

/* ---- what it was measured for ---- */

static bool read_text(struct profile_reader *reader, const char *key,
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
static bool check_same(struct profile_reader *reader, const char *key,
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

static bool check_sequence(struct profile_reader *reader)
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
static bool read_word(struct profile_reader *reader, const char *key,
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
static bool check_scaled(struct profile_reader *reader)
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

static bool read_facts(struct profile_reader *reader)
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

static bool read_profile(struct profile_reader *reader)
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
	good = profile_check_keys(reader, reader->json.root, root_place, "a profile",
			  keys, sizeof(keys) / sizeof(*keys));
	good = read_facts(reader) && good;
	return profile_read_entries(reader) && good;
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
	struct profile_reader reader = { .lower = lower };
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

/* SPDX-License-Identifier: MIT
 *
 * Diagnostics for machines: one JSON object a line (format_version 1.0), or a
 * SARIF 2.1.0 document. Lines and columns count from one, columns are Unicode
 * characters, ends are exclusive, byte offsets count from zero.
 */
#include "lang/diag.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define SARIF_SCHEMA \
	"https://json.schemastore.org/sarif-2.1.0.json"

/* A string; bytes that are not UTF-8 (from a file that is not text, or a file
 * name) become question marks. */
static json_t *json_text(struct arena *arena, const char *text)
{
	json_t *value = json_string(text);
	char *ascii;

	if (value)
		return value;
	ascii = arena_copy(arena, text, strlen(text));
	for (char *at = ascii; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	return json_string(ascii);
}

static const struct source *source_of(const struct diags *diags,
				      struct span span)
{
	if (span.file >= diags->sources->count)
		return NULL;
	return diags->sources->at[span.file];
}

/* The whole text of a document, appended; frees the document. */
static void append_json(json_t *document, size_t flags, struct text *out)
{
	char *bytes = json_dumps(document, flags);

	if (bytes) {
		text_append(out, bytes);
		text_append_char(out, '\n');
	}
	free(bytes);
	json_decref(document);
}

/* The fields of a place in a JSON line; NULL for a span that is nowhere. */
static json_t *json_span(const struct diags *diags, struct span span)
{
	const struct source *source = source_of(diags, span);
	struct place begin, end;
	json_t *object;

	if (!source)
		return NULL;
	begin = source_place(source, span.begin);
	end = source_place(source, span.end);
	object = json_object();
	json_object_set_new(object, "file",
			    json_text(diags->arena, source->name));
	json_object_set_new(object, "byte_start", json_integer(span.begin));
	json_object_set_new(object, "byte_end", json_integer(span.end));
	json_object_set_new(object, "line", json_integer(begin.line));
	json_object_set_new(object, "column", json_integer(begin.column));
	json_object_set_new(object, "end_line", json_integer(end.line));
	json_object_set_new(object, "end_column", json_integer(end.column));
	return object;
}

static void add_span(const struct diags *diags, json_t *list, struct span span,
		     const char *label, bool is_primary)
{
	json_t *object = json_span(diags, span);

	if (!object)
		return;
	if (label && *label)
		json_object_set_new(object, "label",
				    json_text(diags->arena, label));
	json_object_set_new(object, "primary", json_boolean(is_primary));
	json_array_append_new(list, object);
}

static void add_remark(const struct diags *diags, json_t *list,
		       const struct diag_part *part)
{
	json_t *object = json_object();
	json_t *span = json_span(diags, part->span);

	json_object_set_new(object, "kind",
			    json_string(part->kind == DIAG_HELP ? "help"
								: "note"));
	json_object_set_new(object, "message",
			    json_text(diags->arena, part->text));
	if (span)
		json_object_set_new(object, "span", span);
	json_array_append_new(list, object);
}

static void add_fix(const struct diags *diags, json_t *list,
		    const struct diag_part *part)
{
	json_t *object = json_object();
	json_t *edit = json_span(diags, part->span);

	if (!edit)
		edit = json_object();
	json_object_set_new(edit, "replacement",
			    json_text(diags->arena, part->text));
	json_object_set_new(object, "applicability",
			    json_string(part->kind == DIAG_FIX_SAFE ? "safe" :
								      "maybe"));
	json_object_set_new(object, "edits", json_pack("[o]", edit));
	json_array_append_new(list, object);
}

void diag_render_json(const struct diags *diags, const struct diagnostic *diag,
		      struct text *out)
{
	json_t *object = json_object();
	json_t *spans = json_array(), *notes = json_array();
	json_t *fixes = json_array();
	const struct diag_part *part;
	struct text rendered;

	add_span(diags, spans, diag->span, diag->label, true);
	for (part = diag->parts; part; part = part->next) {
		if (part->kind == DIAG_LABEL)
			add_span(diags, spans, part->span, part->text, false);
		else if (part->kind == DIAG_FIX ||
			 part->kind == DIAG_FIX_SAFE)
			add_fix(diags, fixes, part);
		else
			add_remark(diags, notes, part);
	}
	text_init(&rendered, diags->arena);
	diag_render_text(diags, diag, false, &rendered);

	json_object_set_new(object, "format_version", json_string("1.0"));
	json_object_set_new(object, "severity",
			    json_string(diag_severity_name(diag->severity)));
	json_object_set_new(object, "code",
			    json_string(diag_code_name(diag->code)));
	json_object_set_new(object, "name",
			    json_string(diag_code_short_name(diag->code)));
	json_object_set_new(object, "message",
			    json_text(diags->arena, diag->message));
	json_object_set_new(object, "spans", spans);
	json_object_set_new(object, "notes", notes);
	json_object_set_new(object, "fixes", fixes);
	json_object_set_new(object, "rendered",
			    json_text(diags->arena, rendered.at));
	append_json(object, JSON_COMPACT, out);
}

static json_t *sarif_text(const struct diags *diags, const char *text)
{
	return json_pack("{so}", "text", json_text(diags->arena, text));
}

/* A file name as a relative URI reference: everything but the plainest
 * characters is escaped. */
static json_t *sarif_uri(const struct diags *diags, const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789-._~/";
	struct text uri;

	text_init(&uri, diags->arena);
	for (; *name; name++) {
		if (strchr(plain, *name))
			text_append_char(&uri, *name);
		else
			text_printf(&uri, "%%%02X", (unsigned char)*name);
	}
	return json_string(uri.at);
}

static json_t *sarif_region(const struct source *source, struct span span)
{
	struct place begin = source_place(source, span.begin);
	struct place end = source_place(source, span.end);

	return json_pack("{si si si si si si}",
			 "startLine", (int)begin.line,
			 "startColumn", (int)begin.column,
			 "endLine", (int)end.line,
			 "endColumn", (int)end.column,
			 "byteOffset", (int)span.begin,
			 "byteLength", (int)(span.end - span.begin));
}

/* A location object; NULL for a span that is nowhere. */
static json_t *sarif_location(const struct diags *diags, struct span span,
			      const char *message)
{
	const struct source *source = source_of(diags, span);
	json_t *location;

	if (!source)
		return NULL;
	location = json_pack("{s{s{so} so}}", "physicalLocation",
			     "artifactLocation", "uri",
			     sarif_uri(diags, source->name),
			     "region", sarif_region(source, span));
	if (message && *message)
		json_object_set_new(location, "message",
				    sarif_text(diags, message));
	return location;
}

static json_t *sarif_fix(const struct diags *diags,
			 const struct diag_part *part)
{
	const struct source *source = source_of(diags, part->span);

	if (!source)
		return NULL;
	return json_pack("{s[{s{so} s[{so so}]}]}",
			 "artifactChanges",
			 "artifactLocation", "uri",
			 sarif_uri(diags, source->name),
			 "replacements",
			 "deletedRegion", sarif_region(source, part->span),
			 "insertedContent", sarif_text(diags, part->text));
}

/* The message with its notes and advice without a place, which SARIF has no
 * field for. */
static json_t *sarif_message(const struct diags *diags,
			     const struct diagnostic *diag)
{
	const struct diag_part *part;
	struct text message;

	text_init(&message, diags->arena);
	text_append(&message, diag->message);
	for (part = diag->parts; part; part = part->next) {
		if (part->kind == DIAG_HELP)
			text_printf(&message, "\nhelp: %s", part->text);
		else if (part->kind == DIAG_REMARK &&
			 span_is_nowhere(part->span))
			text_printf(&message, "\nnote: %s", part->text);
	}
	return sarif_text(diags, message.at);
}

static void append_if(json_t *list, json_t *element)
{
	if (element)
		json_array_append_new(list, element);
}

static json_t *sarif_result(const struct diags *diags,
			    const struct diagnostic *diag)
{
	json_t *locations = json_array(), *related = json_array();
	json_t *fixes = json_array(), *result;
	const struct diag_part *part;

	append_if(locations, sarif_location(diags, diag->span, diag->label));
	for (part = diag->parts; part; part = part->next) {
		if (part->kind == DIAG_FIX || part->kind == DIAG_FIX_SAFE)
			append_if(fixes, sarif_fix(diags, part));
		else
			append_if(related, sarif_location(diags, part->span,
							  part->text));
	}
	result = json_pack("{ss si ss so so}",
			   "ruleId", diag_code_name(diag->code),
			   "ruleIndex", (int)diag->code,
			   "level", diag_severity_name(diag->severity),
			   "message", sarif_message(diags, diag),
			   "locations", locations);
	if (json_array_size(related))
		json_object_set(result, "relatedLocations", related);
	if (json_array_size(fixes))
		json_object_set(result, "fixes", fixes);
	json_decref(related);
	json_decref(fixes);
	return result;
}

static json_t *sarif_rules(void)
{
	json_t *rules = json_array();

	for (int i = 0; i < DIAG_CODE_COUNT; i++) {
		enum diag_code code = (enum diag_code)i;

		json_array_append_new(
			rules,
			json_pack("{ss ss s{ss}}", "id", diag_code_name(code),
				  "name", diag_code_short_name(code),
				  "shortDescription", "text",
				  diag_code_title(code)));
	}
	return rules;
}

void diag_render_sarif(const struct diags *diags,
		       struct diagnostic *const *list, size_t count,
		       struct text *out)
{
	json_t *results = json_array(), *document;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(results, sarif_result(diags, list[i]));
	document = json_pack("{ss ss s[{s{s{ss ss so}} ss so}]}",
			     "$schema", SARIF_SCHEMA, "version", "2.1.0",
			     "runs", "tool", "driver", "name", "nestc",
			     "version", PACKAGE_VERSION,
			     "rules", sarif_rules(),
			     "columnKind", "unicodeCodePoints",
			     "results", results);
	append_json(document, JSON_INDENT(2), out);
}

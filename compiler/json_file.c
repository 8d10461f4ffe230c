/* SPDX-License-Identifier: MIT
 *
 * Reads JSON files and finds places in them. The text is known to be valid
 * JSON wherever a place is looked for, so that skipping is counting brackets.
 */
#include "compiler/json_file.h"

#include <string.h>

/* jansson stops behind the word it complains of, and cites it at the end. */
static struct span fault_place(const struct json_file *file,
			       const json_error_t *error)
{
	uint32_t end = error->position > 0 ? (uint32_t)error->position : 1;
	const char *near = strstr(error->text, "near '");
	size_t length = near ? strlen(near + strlen("near '")) - 1 : 1;

	if (!length || length > end)
		length = 1;
	return (struct span){ file->source, end - (uint32_t)length, end };
}

bool json_file_read(struct compilation *compilation, const char *path,
		    struct span asked, enum diag_code code,
		    struct json_file *file)
{
	json_error_t error;

	if (!compilation_read(compilation, path, asked, &file->source))
		return false;
	file->text = compilation->sources.at[file->source];
	file->root = json_loadb(file->text->bytes, file->text->length,
				JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
				&error);
	if (file->root)
		return true;
	diag_error(&compilation->diags, code, fault_place(file, &error),
		   "this is no JSON: %s", error.text);
	if (!span_is_nowhere(asked))
		diag_note(&compilation->diags, asked, "in the file named here");
	return false;
}

void json_file_release(struct json_file *file)
{
	json_decref(file->root);
	file->root = NULL;
}

/* ---- places ---- */

static uint32_t skip_blanks(const struct source *text, uint32_t at)
{
	while (at < text->length && strchr(" \t\r\n", text->bytes[at]))
		at++;
	return at;
}

/* The offset after the string that begins at an offset. */
static uint32_t skip_string(const struct source *text, uint32_t at)
{
	for (at++; at < text->length && text->bytes[at] != '"'; at++)
		at += text->bytes[at] == '\\';
	return at < text->length ? at + 1 : text->length;
}

/* The offset after the value that begins at an offset. */
static uint32_t skip_value(const struct source *text, uint32_t at)
{
	size_t open = 0;

	while (at < text->length) {
		switch (text->bytes[at]) {
		case '"':
			at = skip_string(text, at);
			break;
		case '{': case '[':
			open++;
			at++;
			break;
		case '}': case ']':
			if (!open)
				return at;
			open--;
			at++;
			break;
		case ',': case ' ': case '\t': case '\r': case '\n':
			if (!open)
				return at;
			at++;
			continue;
		default:
			at++;
			continue;
		}
		if (!open)
			return at;
	}
	return at;
}

static struct span value_at_offset(const struct json_file *file, uint32_t at)
{
	at = skip_blanks(file->text, at);
	return (struct span){ file->source, at, skip_value(file->text, at) };
}

struct span json_file_root(const struct json_file *file)
{
	return value_at_offset(file, 0);
}

/* After a value: the first byte of the next item, or the closing bracket. */
static uint32_t next_item(const struct json_file *file, uint32_t at)
{
	at = skip_blanks(file->text, at);
	if (at < file->text->length && file->text->bytes[at] == ',')
		at = skip_blanks(file->text, at + 1);
	return at;
}

struct span json_file_element(const struct json_file *file, struct span array,
			      size_t index)
{
	uint32_t at = next_item(file, array.begin + 1);

	while (at + 1 < array.end) {
		struct span item = value_at_offset(file, at);

		if (!index--)
			return item;
		at = next_item(file, item.end);
	}
	return array;
}

/* Keys may hold escapes: then jansson says what they mean. */
static bool is_key(const struct json_file *file, struct span string,
		   const char *key)
{
	json_t *value = json_loadb(file->text->bytes + string.begin,
				   string.end - string.begin, JSON_DECODE_ANY,
				   NULL);
	const char *found = json_string_value(value);
	bool same = found && strcmp(found, key) == 0;

	json_decref(value);
	return same;
}

static bool find_member(const struct json_file *file, struct span object,
			const char *key, struct span *name, struct span *value)
{
	uint32_t at = next_item(file, object.begin + 1);

	while (at + 1 < object.end) {
		*name = value_at_offset(file, at);
		at = skip_blanks(file->text, name->end);
		*value = value_at_offset(file, at + 1);
		if (is_key(file, *name, key))
			return true;
		at = next_item(file, value->end);
	}
	return false;
}

struct span json_file_member(const struct json_file *file, struct span object,
			     const char *key)
{
	struct span name, value;

	return find_member(file, object, key, &name, &value) ? value : object;
}

struct span json_file_inside(const struct json_file *file, struct span string)
{
	if (string.end >= string.begin + 2 &&
	    file->text->bytes[string.begin] == '"') {
		string.begin++;
		string.end--;
	}
	return string;
}

struct span json_file_key(const struct json_file *file, struct span object,
			  const char *key)
{
	struct span name, value;

	return find_member(file, object, key, &name, &value) ?
		       json_file_inside(file, name) : object;
}

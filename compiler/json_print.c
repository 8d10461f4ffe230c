/* SPDX-License-Identifier: MIT
 *
 * Prints jansson values with shortest numbers. The values are made by nestc
 * itself, so their depth is small.
 */
#include "compiler/json_print.h"

#include <stdbool.h>
#include <stdlib.h>

/* Columns of a line that holds a whole object or array. */
#define WIDTH 96

static void print_string(const json_t *value, struct text *out)
{
	char *quoted = json_dumps(value, JSON_ENCODE_ANY);

	text_append(out, quoted ? quoted : "\"\"");
	free(quoted);
}

static void print_key(const char *key, struct text *out)
{
	json_t *string = json_string(key);

	print_string(string, out);
	json_decref(string);
	text_append(out, ": ");
}

static void print_scalar(const json_t *value, struct text *out)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		print_string(value, out);
		return;
	case JSON_INTEGER:
		text_printf(out, "%" JSON_INTEGER_FORMAT,
			    json_integer_value(value));
		return;
	case JSON_REAL:
		text_append_number(out, json_real_value(value));
		return;
	case JSON_TRUE:
		text_append(out, "true");
		return;
	case JSON_FALSE:
		text_append(out, "false");
		return;
	default:
		text_append(out, "null");
		return;
	}
}

static void break_line(struct text *out, bool first, bool flat,
		       unsigned indentation)
{
	if (!first)
		text_append(out, flat ? ", " : ",");
	if (!flat)
		text_printf(out, "\n%*s", (int)indentation, "");
}

static void print_value(const json_t *value, bool flat, unsigned indentation,
			struct text *out)
{
	if (flat)
		json_print_flat(value, out);
	else
		json_print(value, indentation, out);
}

static void print_members(const json_t *value, bool flat, unsigned indentation,
			  struct text *out)
{
	bool first = true;

	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++) {
			break_line(out, first, flat, indentation);
			print_value(json_array_get(value, i), flat, indentation,
				    out);
			first = false;
		}
		return;
	}
	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at)) {
		break_line(out, first, flat, indentation);
		print_key(json_object_iter_key(at), out);
		print_value(json_object_iter_value(at), flat, indentation, out);
		first = false;
	}
}

void json_print_flat(const json_t *value, struct text *out)
{
	if (!json_is_array(value) && !json_is_object(value)) {
		print_scalar(value, out);
		return;
	}
	text_append_char(out, json_is_array(value) ? '[' : '{');
	print_members(value, true, 0, out);
	text_append_char(out, json_is_array(value) ? ']' : '}');
}

void json_print(const json_t *value, unsigned indentation, struct text *out)
{
	size_t start = out->length;

	json_print_flat(value, out);
	if ((!json_is_array(value) && !json_is_object(value)) ||
	    out->length - start + indentation <= WIDTH)
		return;
	out->length = start;
	out->at[start] = '\0';
	text_append_char(out, json_is_array(value) ? '[' : '{');
	print_members(value, false, indentation + 2, out);
	text_printf(out, "\n%*s", (int)indentation, "");
	text_append_char(out, json_is_array(value) ? ']' : '}');
}

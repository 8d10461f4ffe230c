/* SPDX-License-Identifier: MIT
 *
 * Describing and printing of values, and the elements of those that have any.
 */
#include "lang/value.h"

#include <math.h>

/* Elements shown of a list in a message. */
#define PRINT_ITEMS_MAX 8
/* Records and lists inside each other that a message shows. */
#define PRINT_DEPTH_MAX 4

struct value value_of_number(double number, struct unit unit, struct span span)
{
	struct value value = { .kind = VALUE_NUMBER, .span = span };

	value.number = number;
	value.unit = unit;
	return value;
}

const struct field *record_find(const struct record *record, const char *name)
{
	for (uint32_t i = 0; i < record->field_count; i++)
		if (record->field[i].name == name)
			return &record->field[i];
	return NULL;
}

const char *record_kind_name(enum record_kind kind)
{
	switch (kind) {
	case RECORD_DEVICE:
		return "device";
	case RECORD_TOPOLOGY:
		return "topology";
	case RECORD_LEVEL:
		return "level";
	case RECORD_MODEL:
		return "model";
	case RECORD_LAYER:
		return "layer";
	case RECORD_PLAN:
		return "plan";
	case RECORD_BLOCK:
		break;
	}
	return "block of fields";
}

static const char *callable_describe(const struct ast *declaration)
{
	switch (declaration->kind) {
	case AST_FUNCTION:
	case AST_EXTERN:
		return "a function";
	case AST_DEVICE:
		return "a device without its arguments";
	case AST_TOPOLOGY:
		return "a topology without its arguments";
	case AST_TEMPLATE:
		return "a template without its arguments";
	case AST_MODEL:
		return "a model without its arguments";
	default:
		return "a declaration";
	}
}

const char *value_describe(const struct value *value, struct text *scratch)
{
	switch (value->kind) {
	case VALUE_ERROR:
		return "an erroneous value";
	case VALUE_NONE:
		return "nothing";
	case VALUE_BOOL:
		return "a truth value";
	case VALUE_NUMBER:
		return unit_describe(value->unit, scratch);
	case VALUE_STRING:
		return "a string";
	case VALUE_SYMBOL:
		return "a word";
	case VALUE_LIST:
		return "a list";
	case VALUE_SET:
		return "a set";
	case VALUE_RANGE:
		return "a range";
	case VALUE_RECORD:
		text_printf(scratch, "a %s", record_kind_name(value->record->kind));
		return scratch->at;
	case VALUE_CALLABLE:
		return callable_describe(value->callable.declaration);
	case VALUE_PLAN_VARIABLE:
		return "a variable of the plan";
	}
	return "a value";
}

static void print_string(const char *string, struct text *out)
{
	text_append_char(out, '"');
	for (; *string; string++) {
		if (*string == '\n') {
			text_append(out, "\\n");
		} else if (*string == '\t') {
			text_append(out, "\\t");
		} else {
			if (*string == '"' || *string == '\\')
				text_append_char(out, '\\');
			text_append_char(out, *string);
		}
	}
	text_append_char(out, '"');
}

static void print_value(const struct value *value, unsigned depth,
			struct text *out);

static void print_items(const struct value *value, const char *open,
			const char *close, unsigned depth, struct text *out)
{
	text_append(out, open);
	for (uint32_t i = 0; i < value->item_count; i++) {
		if (i)
			text_append(out, ", ");
		if (i == PRINT_ITEMS_MAX || depth >= PRINT_DEPTH_MAX) {
			text_append(out, "...");
			break;
		}
		print_value(&value->item[i], depth + 1, out);
	}
	text_append(out, close);
}

static void print_record(const struct record *record, struct text *out)
{
	text_append(out, record_kind_name(record->kind));
	if (record->name)
		text_printf(out, " '%s'", record->name);
}

static void print_value(const struct value *value, unsigned depth,
			struct text *out)
{
	switch (value->kind) {
	case VALUE_ERROR:
		text_append(out, "error");
		break;
	case VALUE_NONE:
		text_append(out, "nothing");
		break;
	case VALUE_BOOL:
		text_append(out, value->boolean ? "true" : "false");
		break;
	case VALUE_NUMBER:
		unit_print(value->number, value->unit, out);
		break;
	case VALUE_STRING:
		print_string(value->string, out);
		break;
	case VALUE_SYMBOL:
	case VALUE_PLAN_VARIABLE:
		text_append(out, value->string);
		break;
	case VALUE_LIST:
		print_items(value, "[", "]", depth, out);
		break;
	case VALUE_SET:
		print_items(value, value->item_count ? "{ " : "{",
			    value->item_count ? " }" : "}", depth, out);
		break;
	case VALUE_RANGE:
		text_printf(out, "%lld .. %lld", (long long)value->range.low,
			    (long long)value->range.high);
		if (value->range.step != 1)
			text_printf(out, " step %lld",
				    (long long)value->range.step);
		break;
	case VALUE_RECORD:
		print_record(value->record, out);
		break;
	case VALUE_CALLABLE:
		text_printf(out, "%s '%s'",
			    ast_kind_name(value->callable.declaration->kind),
			    value->callable.declaration->name);
		break;
	}
}

void value_print(const struct value *value, struct text *out)
{
	print_value(value, 0, out);
}

bool value_is_integer(const struct value *value)
{
	return value->kind == VALUE_NUMBER && unit_is_none(value->unit) &&
	       fabs(value->number) <= VALUE_INTEGER_MAX &&
	       floor(value->number) == value->number;
}

bool value_count(const struct value *value, uint64_t *count)
{
	switch (value->kind) {
	case VALUE_LIST:
	case VALUE_SET:
		*count = value->item_count;
		return true;
	case VALUE_RANGE:
		*count = 0;
		if (value->range.high >= value->range.low)
			*count = (uint64_t)(value->range.high - value->range.low) /
				 (uint64_t)value->range.step + 1;
		return true;
	default:
		return false;
	}
}

struct value value_at(const struct value *value, uint64_t index)
{
	int64_t number;

	if (value->kind != VALUE_RANGE)
		return value->item[index];
	number = value->range.low + (int64_t)index * value->range.step;
	return value_of_number((double)number, UNIT_NONE, value->span);
}

/* SPDX-License-Identifier: MIT
 *
 * Values in full. How deep they nest is bounded by the evaluator.
 */
#include "compiler/value_show.h"

#include <string.h>

#include "compiler/json_set.h"
#include "lang/call.h"
#include "lang/scope.h"

/* The value bound to a parameter of a record; NULL where there is none. */
static const struct value *argument_of(const struct record *record,
				       const struct ast *parameter)
{
	const struct binding *binding =
		record->scope ? scope_find_here(record->scope, parameter->name)
			      : NULL;

	return binding && binding->state == BINDING_DONE ? &binding->value
							 : NULL;
}

static const struct ast *parameters_of(const struct record *record)
{
	return record->declaration && record->kind != RECORD_BLOCK &&
			       record->kind != RECORD_LEVEL ?
		       declaration_parameters(record->declaration) : NULL;
}

/* ---- text ---- */

static void show(const struct value *value, uint32_t indent, struct text *out);

static void show_items(const struct value *value, uint32_t indent,
		       struct text *out)
{
	bool is_set = value->kind == VALUE_SET;

	text_append(out, is_set ? "{ " : "[");
	for (uint32_t i = 0; i < value->item_count; i++) {
		if (i)
			text_append(out, ", ");
		show(&value->item[i], indent, out);
	}
	text_append(out, is_set ? " }" : "]");
}

static void show_arguments(const struct record *record, uint32_t indent,
			   struct text *out)
{
	const struct ast *parameters = parameters_of(record);
	uint32_t count = 0;

	if (!parameters || !parameters->child_count)
		return;
	text_append_char(out, '(');
	for (uint32_t i = 0; i < parameters->child_count; i++) {
		const struct ast *parameter = parameters->child[i];
		const struct value *value = argument_of(record, parameter);

		if (!value)
			continue;
		text_printf(out, "%s%s = ", count++ ? ", " : "",
			    parameter->name);
		if (value->kind == VALUE_RECORD && value->record->name)
			text_append(out, value->record->name);
		else
			show(value, indent, out);
	}
	text_append_char(out, ')');
}

static void show_indent(uint32_t indent, struct text *out)
{
	while (indent--)
		text_append_char(out, ' ');
}

static void show_record(const struct record *record, uint32_t indent,
			struct text *out);

static void show_layers(const struct record *model, uint32_t indent,
			struct text *out)
{
	show_indent(indent, out);
	text_append(out, "layers {\n");
	for (uint32_t i = 0; i < model->part_count; i++) {
		show_indent(indent + 2, out);
		if (model->part_repeat[i] != 1)
			text_printf(out, "%u * ", model->part_repeat[i]);
		show_record(model->part[i], indent + 2, out);
		text_append_char(out, '\n');
	}
	show_indent(indent, out);
	text_append(out, "}\n");
}

/* The children of a level as the list that made them. */
static void show_children(const struct record *level, struct text *out)
{
	text_append(out, "[");
	for (uint32_t i = 0; i < level->part_count; i++) {
		text_append(out, i ? ", " : "");
		if (level->part_repeat[i] != 1)
			text_printf(out, "%u * ", level->part_repeat[i]);
		text_append(out, level->part[i]->name);
		show_arguments(level->part[i], 0, out);
	}
	text_append(out, "]\n");
}

static void show_fields(const struct record *record, uint32_t indent,
			struct text *out)
{
	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];

		show_indent(indent, out);
		text_append(out, field->name);
		if (field->value->kind == VALUE_RECORD &&
		    field->value->record->kind == RECORD_BLOCK) {
			text_append(out, " {\n");
			show_fields(field->value->record, indent + 2, out);
			show_indent(indent, out);
			text_append(out, "}\n");
			continue;
		}
		text_append(out, " = ");
		if (record->kind == RECORD_LEVEL && record->part_count &&
		    !strcmp(field->name, "children")) {
			show_children(record, out);
			continue;
		}
		if (field->value->kind == VALUE_RECORD &&
		    field->value->record->name)
			text_append(out, field->value->record->name);
		else
			show(field->value, indent, out);
		text_append_char(out, '\n');
	}
}

/* A layer is shown as the call that made it. */
static void show_record(const struct record *record, uint32_t indent,
			struct text *out)
{
	if (record->kind == RECORD_LAYER) {
		text_append(out, record->name);
		show_arguments(record, indent, out);
		return;
	}
	if (record->kind != RECORD_BLOCK)
		text_printf(out, "%s ", record_kind_name(record->kind));
	if (record->name)
		text_append(out, record->name);
	show_arguments(record, indent, out);
	text_append(out, " {\n");
	show_fields(record, indent + 2, out);
	if (record->kind == RECORD_MODEL) {
		show_layers(record, indent + 2, out);
	} else if (record->kind != RECORD_LEVEL) {
		for (uint32_t i = 0; i < record->part_count; i++) {
			show_indent(indent + 2, out);
			show_record(record->part[i], indent + 2, out);
			text_append_char(out, '\n');
		}
	}
	show_indent(indent, out);
	text_append_char(out, '}');
}

static void show(const struct value *value, uint32_t indent, struct text *out)
{
	if (value->kind == VALUE_RECORD)
		show_record(value->record, indent, out);
	else if ((value->kind == VALUE_LIST || value->kind == VALUE_SET) &&
		 value->item_count)
		show_items(value, indent, out);
	else
		value_print(value, out);
}

void value_show(const struct value *value, struct text *out)
{
	show(value, 0, out);
}

/* ---- JSON ---- */

static json_t *number_json(double number)
{
	if (number >= -VALUE_INTEGER_MAX && number <= VALUE_INTEGER_MAX &&
	    (double)(json_int_t)number == number)
		return json_integer((json_int_t)number);
	return json_real(number);
}

static const char *printed(const struct value *value, struct arena *arena)
{
	struct text text;

	text_init(&text, arena);
	value_print(value, &text);
	return text.at;
}

/* "byte/second", "flop", "dollar/second^2". */
static const char *unit_name(struct unit unit, struct arena *arena)
{
	static const char *const names[BASE_DIMENSION_COUNT] = {
		[BASE_BYTE] = "byte", [BASE_SECOND] = "second",
		[BASE_FLOP] = "flop", [BASE_WATT] = "watt",
		[BASE_DOLLAR] = "dollar",
	};
	struct text text;

	text_init(&text, arena);
	for (int sign = 1; sign >= -1; sign -= 2) {
		for (int i = 0; i < BASE_DIMENSION_COUNT; i++) {
			int power = sign * unit.power[i];

			if (power <= 0)
				continue;
			if (sign < 0)
				text_append(&text, text.length ? "/" : "1/");
			else if (text.length)
				text_append_char(&text, ' ');
			text_append(&text, names[i]);
			if (power > 1)
				text_printf(&text, "^%d", power);
		}
	}
	return text.at;
}

static json_t *record_json(const struct record *record, struct arena *arena);

static json_t *items_json(const struct value *value, struct arena *arena)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < value->item_count; i++)
		json_array_append_new(array, value_json(&value->item[i], arena));
	return array;
}

static json_t *parts_json(const struct record *record, struct arena *arena)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < record->part_count; i++) {
		json_t *part = record_json(record->part[i], arena);

		if (record->kind != RECORD_TOPOLOGY)
			json_set(part, "count",
				 json_integer(record->part_repeat[i]));
		json_array_append_new(array, part);
	}
	return array;
}

static json_t *record_json(const struct record *record, struct arena *arena)
{
	const struct ast *parameters = parameters_of(record);
	json_t *object = json_object(), *fields = json_object();

	json_set(object, "kind",
		 json_string(record->kind == RECORD_BLOCK ?
				     "block" :
				     record_kind_name(record->kind)));
	if (record->name)
		json_set(object, "name", json_string(record->name));
	for (uint32_t i = 0; parameters && i < parameters->child_count; i++) {
		const struct value *value =
			argument_of(record, parameters->child[i]);

		if (value)
			json_set(fields, parameters->child[i]->name,
				 value_json(value, arena));
	}
	for (uint32_t i = 0; i < record->field_count; i++) {
		/* The parts show the children with their numbers. */
		if (record->kind == RECORD_LEVEL && record->part_count &&
		    !strcmp(record->field[i].name, "children"))
			continue;
		json_set(fields, record->field[i].name,
			 value_json(record->field[i].value, arena));
	}
	json_set(object, "fields", fields);
	if (record->kind == RECORD_MODEL)
		json_set(object, "layers", parts_json(record, arena));
	else if (record->kind == RECORD_TOPOLOGY)
		json_set(object, "levels", parts_json(record, arena));
	else if (record->kind == RECORD_LEVEL && record->part_count)
		json_set(object, "children", parts_json(record, arena));
	return object;
}

json_t *value_json(const struct value *value, struct arena *arena)
{
	switch (value->kind) {
	case VALUE_BOOL:
		return json_boolean(value->boolean);
	case VALUE_NUMBER:
		if (unit_is_none(value->unit))
			return number_json(value->number);
		return json_pack("{s:o,s:s,s:s}", "value",
				 number_json(value->number), "unit",
				 unit_name(value->unit, arena), "text",
				 printed(value, arena));
	case VALUE_STRING:
	case VALUE_SYMBOL:
		return json_string(value->string);
	case VALUE_LIST:
	case VALUE_SET:
		return items_json(value, arena);
	case VALUE_RANGE:
		return json_pack("{s:I,s:I,s:I}", "low",
				 (json_int_t)value->range.low, "high",
				 (json_int_t)value->range.high, "step",
				 (json_int_t)value->range.step);
	case VALUE_RECORD:
		return record_json(value->record, arena);
	case VALUE_NONE:
	case VALUE_ERROR:
		return json_null();
	default:
		return json_string(printed(value, arena));
	}
}

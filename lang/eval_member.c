/* SPDX-License-Identifier: MIT
 *
 * Members of records: written ones, parameters, and computed ones.
 */
#include <string.h>

#include "lang/eval_record.h"

/* Members that are not written in the record; *found is false for others. */
static bool computed_member(struct eval *eval, const struct record *record,
			    const char *name, struct span span,
			    struct value *member, bool *found)
{
	*found = true;
	if (record->kind == RECORD_MODEL && !strcmp(name, "layers"))
		return eval_finish_number(eval, model_layer_count(record),
					  UNIT_NONE, span, member);
	if (record->kind == RECORD_MODEL && !strcmp(name, "parameters") &&
	    eval->compilation->count_parameters)
		return eval_model_parameters(eval, record, span, member);
	if (record->kind == RECORD_TOPOLOGY) {
		if (!strcmp(name, "devices"))
			return eval_topology_devices(eval, record, span,
						     member);
		if (!strcmp(name, "levels")) {
			if (!eval_steps(eval, record->part_count, span))
				return false;
			eval_topology_levels(eval, record, span, member);
			return true;
		}
		for (uint32_t i = 0; i < record->part_count; i++) {
			if (record->part[i]->name != name)
				continue;
			member->kind = VALUE_RECORD;
			member->record = record->part[i];
			member->span = span;
			return true;
		}
	}
	*found = false;
	return false;
}

static const char *suggest_member(const struct record *record, const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 0, distance;

	for (uint32_t i = 0; i < record->field_count; i++) {
		if (diag_resembles(name, record->field[i].name, &distance) &&
		    (!best || distance < best_distance)) {
			best = record->field[i].name;
			best_distance = distance;
		}
	}
	if (!best && record->scope) {
		struct scope own = *record->scope;

		own.outer = NULL;
		best = scope_suggest(&own, name);
	}
	return best;
}

static bool report_unknown_member(struct eval *eval,
				  const struct record *record, const char *name,
				  struct span span)
{
	struct diags *diags = &eval->compilation->diags;
	const char *suggestion = suggest_member(record, name);

	diag_error(diags, E_UNKNOWN_MEMBER, span, "%s '%s' has no '%s'",
		   record_kind_name(record->kind),
		   record->name ? record->name : "", name);
	if (record->declaration)
		diag_note(diags, record->declaration->name_span,
			  "'%s' is declared here", record->name);
	if (suggestion) {
		diag_help(diags, "did you mean '%s'?", suggestion);
		diag_fix(diags, span, suggestion);
	}
	return false;
}

bool eval_member(struct eval *eval, const struct value *value, const char *name,
		 struct span span, struct value *member)
{
	const struct record *record = value->record;
	const struct field *field;
	struct binding *binding;
	bool found, ok;

	*member = VALUE_FAILED;
	if (value->kind != VALUE_RECORD)
		return eval_wrong_kind(eval, value, value->span,
				       arena_printf(arena_of(eval),
						    "what has a member '%s'",
						    name),
				       "a record such as a device");
	field = record_find(record, name);
	if (field) {
		*member = *field->value;
		return member->kind != VALUE_ERROR;
	}
	binding = record->scope ? scope_find_here(record->scope, name) : NULL;
	if (binding)
		return eval_binding(eval, binding, span, member);
	ok = computed_member(eval, record, name, span, member, &found);
	return found ? ok : report_unknown_member(eval, record, name, span);
}

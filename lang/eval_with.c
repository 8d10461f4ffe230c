/* SPDX-License-Identifier: MIT
 *
 * Copies of records made by `with`.
 */
#include <string.h>

#include "lang/eval_record.h"

/* Shows where the old value stands: in the same drawing where that is one
 * file, else as a note of its own. */
static void show_old(struct maker *maker, const struct ast *item,
		     const struct value *old)
{
	struct diags *diags = &maker->eval->compilation->diags;

	if (old->span.file == item->span.file)
		diag_label(diags, old->span, "given here first");
	else
		diag_note(diags, old->span, "given here first");
}

/* The new value of a field must be of the old one's kind and dimension. */
static bool replaces(struct maker *maker, const struct ast *item,
		     const struct value *old, struct value *new)
{
	struct eval *eval = maker->eval;
	struct diags *diags = &eval->compilation->diags;

	if (old->kind == VALUE_ERROR || new->kind == VALUE_ERROR)
		return true;
	if (old->kind != new->kind) {
		diag_error(diags, E_WITH, item->span,
			   "'%s' is %s, and cannot become %s", item->name,
			   eval_describe(eval, old), eval_describe(eval, new));
		show_old(maker, item, old);
		eval_suggest_unquoted(eval, item->child[0], new);
		return false;
	}
	if (old->kind != VALUE_NUMBER || unit_equal(old->unit, new->unit))
		return true;
	if (unit_is_none(new->unit) && new->number == 0) {
		new->unit = old->unit;
		return true;
	}
	/* A zero without a unit says nothing about the dimension. */
	if (unit_is_none(old->unit) && old->number == 0)
		return true;
	diag_error(diags, E_DIMENSION, item->child[0]->span,
		   "'%s' is %s, and %s is %s", item->name,
		   eval_describe(eval, old), eval_show(eval, new),
		   eval_describe(eval, new));
	show_old(maker, item, old);
	if (unit_is_none(new->unit))
		eval_suggest_unit(eval, item->child[0], new, old->unit);
	return false;
}

static void change_field(struct maker *maker, const struct ast *item)
{
	struct eval *eval = maker->eval;
	struct record *record = maker->record;
	const struct field *old = maker_find(maker, item->name);
	struct diags *diags = &eval->compilation->diags;
	struct value value;

	if (!old && record->scope && scope_find_here(record->scope, item->name)) {
		maker->ok = diag_error(diags, E_WITH, item->name_span,
				       "'%s' of '%s' is no field, so 'with' cannot change it",
				       item->name, record->name);
		diag_note(diags, record->span, "'%s' is made here",
			  record->name);
		diag_help(diags, "give it as an argument: '%s(%s = ..)'",
			  record->name, item->name);
		return;
	}
	if (!eval_expression(eval, maker->inside, item->child[0], &value) ||
	    (old && !replaces(maker, item, old->value, &value))) {
		maker->ok = false;
		return;
	}
	value.span = item->child[0]->span;
	maker_set(maker, item, value);
}

static bool change_record(struct eval *eval, struct scope *scope,
			  const struct record *old, const struct ast *body,
			  struct span span, struct record **record);

static void change_block(struct maker *maker, const struct ast *item)
{
	struct record none = { .kind = RECORD_BLOCK, .name = item->name };
	const struct field *old = maker_find(maker, item->name);
	struct value value = { .kind = VALUE_RECORD, .span = item->span };

	if (old && (old->value->kind != VALUE_RECORD ||
		    old->value->record->kind != RECORD_BLOCK)) {
		maker->ok = diag_error(&maker->eval->compilation->diags, E_WITH,
				       item->name_span,
				       "'%s' is a field, not a block",
				       item->name);
		return;
	}
	if (!change_record(maker->eval, maker->inside,
			   old ? old->value->record : &none, item->child[0],
			   item->span, &value.record)) {
		maker->ok = false;
		return;
	}
	maker_set(maker, item, value);
}

static void change_level(struct maker *maker, const struct ast *item)
{
	const struct ast *label = item->child[0];
	struct diags *diags = &maker->eval->compilation->diags;

	for (size_t i = 0; i < maker->part.count; i++) {
		struct record **level = &maker->part.at[i];

		if ((*level)->name != label->name)
			continue;
		if (!change_record(maker->eval, maker->inside, *level,
				   item->child[1], item->span, level))
			maker->ok = false;
		return;
	}
	maker->ok = diag_error(diags, E_WITH, label->span,
			       "'%s' has no level '%s'", maker->record->name,
			       label->name);
	diag_note(diags, maker->record->span, "'%s' is made here",
		  maker->record->name);
}

/* A copy of a record into a maker, ready to be changed. */
static void maker_copy(struct maker *maker, const struct record *old,
		       struct span span)
{
	struct arena *arena = arena_of(maker->eval);

	maker->record = ARENA_NEW(arena, struct record);
	*maker->record = *old;
	maker->record->span = span;
	for (uint32_t i = 0; i < old->field_count; i++)
		VEC_PUSH(&maker->field, arena, old->field[i]);
	for (uint32_t i = 0; i < old->part_count; i++) {
		VEC_PUSH(&maker->part, arena, old->part[i]);
		VEC_PUSH(&maker->repeat, arena,
			 old->part_repeat ? old->part_repeat[i] : 1);
	}
}

/* Names in a change are those of the place where it is written. */
static bool change_record(struct eval *eval, struct scope *scope,
			  const struct record *old, const struct ast *body,
			  struct span span, struct record **record)
{
	struct maker maker = { .eval = eval, .inside = scope, .ok = true };

	if (!eval_steps(eval, 1 + (uint64_t)old->field_count + old->part_count,
			span))
		return false;
	if (eval->depth >= eval->compilation->depth_max)
		return diag_error(&eval->compilation->diags, E_DEPTH_LIMIT, span,
				  "changes are nested more than %lu levels deep",
				  (unsigned long)eval->compilation->depth_max);
	eval->depth++;
	maker_copy(&maker, old, span);
	if (old->graph && body->child_count) {
		diag_error(&eval->compilation->diags, E_WITH, span,
			   "'%s' is a graph, which 'with' cannot change",
			   old->name);
		diag_help(&eval->compilation->diags,
			  "give its topology a parameter for what differs");
		eval->depth--;
		return false;
	}
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind == AST_FIELD && maker_is_children(&maker, item))
			maker_children(&maker, item);
		else if (item->kind == AST_FIELD)
			change_field(&maker, item);
		else if (item->kind == AST_BLOCK && old->kind != RECORD_MODEL &&
			 old->kind != RECORD_TOPOLOGY)
			change_block(&maker, item);
		else if (item->kind == AST_NAMED_BLOCK &&
			 old->kind == RECORD_TOPOLOGY &&
			 !strcmp(item->name, "level"))
			change_level(&maker, item);
		else
			maker_refuse(&maker, item);
	}
	eval->depth--;
	maker_finish(&maker);
	*record = maker.record;
	return maker.ok;
}

bool eval_with(struct eval *eval, struct scope *scope, const struct ast *with,
	       struct value *value)
{
	struct value base;

	if (!eval_expression(eval, scope, with->child[0], &base) ||
	    !eval_force(eval, with->child[0]->span, &base))
		return false;
	if (base.kind != VALUE_RECORD)
		return eval_wrong_kind(eval, &base, with->child[0]->span,
				       "what 'with' changes",
				       "a device, a topology, a level or a model");
	if (base.record->kind == RECORD_LAYER) {
		diag_error(&eval->compilation->diags, E_WITH, with->span,
			   "a layer has no fields that 'with' could change");
		diag_help(&eval->compilation->diags,
			  "give '%s' other arguments", base.record->name);
		return false;
	}
	value->kind = VALUE_RECORD;
	return change_record(eval, scope, base.record, with->child[1],
			     with->span, &value->record);
}

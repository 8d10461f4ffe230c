/* SPDX-License-Identifier: MIT
 *
 * Records: the bodies of declarations, with their fields and blocks.
 *
 * In a body a name means, innermost first: a `let` or parameter of the
 * declaration, a field given further up in the body, a name of the module.
 */
#include <string.h>

#include "lang/eval_record.h"

struct record *record_new(struct eval *eval, enum record_kind kind,
			  const char *name, const struct ast *declaration,
			  struct span span)
{
	struct record *record = ARENA_NEW(arena_of(eval), struct record);

	record->kind = kind;
	record->name = name;
	record->declaration = declaration;
	record->span = span;
	return record;
}

void maker_finish(struct maker *maker)
{
	struct record *record = maker->record;

	record->field = maker->field.at;
	record->field_count = (uint32_t)maker->field.count;
	if (maker->part.count) {
		record->part = maker->part.at;
		record->part_count = (uint32_t)maker->part.count;
		record->part_repeat = maker->repeat.at;
	}
}

struct field *maker_find(struct maker *maker, const char *name)
{
	for (size_t i = 0; i < maker->field.count; i++)
		if (maker->field.at[i].name == name)
			return &maker->field.at[i];
	return NULL;
}

/* Refuses a second field of one name. */
bool maker_is_new(struct maker *maker, const struct ast *item)
{
	const struct field *field = maker_find(maker, item->name);
	struct diags *diags = &maker->eval->compilation->diags;

	if (!field)
		return true;
	maker->ok = diag_error(diags, E_DUPLICATE_FIELD, item->name_span,
			       "'%s' is given twice", item->name);
	diag_label(diags, field->span, "given here first");
	return false;
}

void maker_set(struct maker *maker, const struct ast *item,
	       struct value value)
{
	struct value *kept = ARENA_NEW(arena_of(maker->eval), struct value);
	struct field field = { .name = item->name, .span = item->span };
	struct field *old = maker_find(maker, item->name);

	*kept = value;
	field.value = kept;
	if (old)
		*old = field;
	else
		VEC_PUSH(&maker->field, arena_of(maker->eval), field);
	if (maker->visible)
		scope_set(maker->visible, item->name, value);
}

void maker_refuse(struct maker *maker, const struct ast *item)
{
	const char *what = ast_kind_name(item->kind);

	if (item->kind == AST_ERROR) {
		maker->ok = false;
		return;
	}
	if (item->kind == AST_BLOCK || item->kind == AST_NAMED_BLOCK)
		what = arena_printf(arena_of(maker->eval), "block '%s'",
				    item->name);
	maker->ok = diag_error(&maker->eval->compilation->diags,
			       E_MISPLACED_ITEM, item->span,
			       "a %s cannot stand in a %s", what,
			       record_kind_name(maker->record->kind));
}

void maker_not_yet(struct maker *maker, const struct ast *item,
		   const char *what)
{
	maker->ok = diag_error(&maker->eval->compilation->diags, E_NOT_YET,
			       item->span,
			       "'%s' is not available in this version of nestc",
			       what);
}

/* ---- items common to all bodies ---- */

static void make_let(struct maker *maker, const struct ast *item)
{
	struct binding *binding = scope_declare(maker->inside, item,
						maker->inside);
	struct value value;

	if (!binding)
		return;		/* a second one was reported by the checker */
	if (!eval_binding(maker->eval, binding, item->name_span, &value))
		maker->ok = false;
}

/* A function of the body; its parameters hide names of the body. */
static void make_function(struct maker *maker, const struct ast *item)
{
	scope_declare(maker->inside, item, maker->inside);
}

static void make_field(struct maker *maker, const struct ast *item)
{
	struct value value;

	if (!maker_is_new(maker, item))
		return;
	if (!eval_expression(maker->eval, maker->inside, item->child[0],
			     &value)) {
		/* Kept, so that it is not reported as missing as well. */
		value = VALUE_FAILED;
		maker->ok = false;
	}
	value.span = item->child[0]->span;
	maker_set(maker, item, value);
}

static void make_block(struct maker *maker, const struct ast *item)
{
	struct value value = { .kind = VALUE_RECORD, .span = item->span };

	if (!maker_is_new(maker, item))
		return;
	if (!maker_block_record(maker, item->child[0], RECORD_BLOCK, item->name,
				item, &value.record))
		maker->ok = false;
	maker_set(maker, item, value);
}

void maker_item(struct maker *maker, const struct ast *item)
{
	enum record_kind kind = maker->record->kind;

	switch (item->kind) {
	case AST_LET:
		make_let(maker, item);
		return;
	case AST_FUNCTION:
		make_function(maker, item);
		return;
	case AST_FIELD:
		if (!maker_is_children(maker, item))
			make_field(maker, item);
		else if (maker_is_new(maker, item))
			maker_children(maker, item);
		return;
	case AST_BLOCK:
		if (kind == RECORD_DEVICE || kind == RECORD_BLOCK ||
		    kind == RECORD_LEVEL)
			make_block(maker, item);
		else
			maker_refuse(maker, item);
		return;
	case AST_NAMED_BLOCK:
		if (kind == RECORD_TOPOLOGY && !strcmp(item->name, "level"))
			maker_level(maker, item);
		else
			maker_refuse(maker, item);
		return;
	case AST_NODE_ITEM:
	case AST_SWITCH_ITEM:
	case AST_LINK:
	case AST_FOR:
		if (kind == RECORD_TOPOLOGY)
			maker_graph_item(maker, item);
		else
			maker_refuse(maker, item);
		return;
	default:
		maker_refuse(maker, item);
	}
}

/* The depth of blocks is that of the syntax, which the parser bounds; it
 * counts as nesting all the same. */
bool maker_block_record(struct maker *outer, const struct ast *body,
			enum record_kind kind, const char *name,
			const struct ast *item, struct record **record)
{
	struct eval *eval = outer->eval;
	struct maker maker = { .eval = eval, .ok = true };

	*record = maker.record = record_new(eval, kind, name, NULL, item->span);
	if (!eval_step(eval, item->span))
		return false;
	if (eval->depth >= eval->compilation->depth_max)
		return diag_error(&eval->compilation->diags, E_DEPTH_LIMIT,
				  item->span,
				  "blocks are nested more than %lu levels deep",
				  (unsigned long)eval->compilation->depth_max);
	eval->depth++;
	maker.visible = scope_new(arena_of(eval), outer->inside);
	maker.inside = scope_new(arena_of(eval), maker.visible);
	for (uint32_t i = 0; i < body->child_count; i++)
		maker_item(&maker, body->child[i]);
	eval->depth--;
	maker_finish(&maker);
	return maker.ok;
}

/* ---- declarations ---- */

static enum record_kind record_kind_of(const struct ast *declaration)
{
	switch (declaration->kind) {
	case AST_DEVICE:
		return RECORD_DEVICE;
	case AST_TOPOLOGY:
		return RECORD_TOPOLOGY;
	case AST_TEMPLATE:
		return RECORD_LAYER;
	default:
		return RECORD_MODEL;
	}
}

bool eval_declaration_record(struct eval *eval, const struct ast *declaration,
			     struct scope *inside, struct scope *visible,
			     struct span span, struct value *value)
{
	struct maker maker = {
		.eval = eval, .inside = inside, .visible = visible, .ok = true
	};
	const struct ast *body = declaration_body(declaration);
	bool has_layers = false;

	maker.record = record_new(eval, record_kind_of(declaration),
				  declaration->name, declaration, span);
	maker.record->scope = inside;
	value->kind = VALUE_RECORD;
	value->record = maker.record;
	if (declaration->kind == AST_TEMPLATE)
		return true;
	for (uint32_t i = 0; i < body->child_count; i++) {
		if (declaration->kind == AST_MODEL)
			maker_model_item(&maker, body->child[i], &has_layers);
		else
			maker_item(&maker, body->child[i]);
	}
	if (maker.graph)
		maker_graph_finish(&maker);
	maker_finish(&maker);
	if (declaration->kind == AST_MODEL && !has_layers) {
		diag_error(&eval->compilation->diags, E_MISSING_FIELD,
			   declaration->name_span, "model '%s' has no 'layers'",
			   declaration->name);
		diag_help(&eval->compilation->diags,
			  "add 'layers { .. }' with its chain of layers");
		return false;
	}
	return maker.ok;
}

bool eval_record(struct eval *eval, struct scope *scope,
		 const struct ast *expression, enum record_kind kind,
		 const char *what, struct record **record)
{
	struct value value;

	if (!eval_expression(eval, scope, expression, &value) ||
	    !eval_force(eval, expression->span, &value))
		return false;
	if (value.kind != VALUE_RECORD || value.record->kind != kind)
		return eval_wrong_kind(eval, &value, expression->span, what,
				       arena_printf(arena_of(eval), "a %s",
						    record_kind_name(kind)));
	*record = value.record;
	return true;
}

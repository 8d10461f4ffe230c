/* SPDX-License-Identifier: MIT
 *
 * Bodies of devices, topologies and models: their fields, blocks, levels, layers and
 * graphs.
 */
#include "lang/check_internal.h"

#include <string.h>

struct record_body {
	enum { IN_DEVICE, IN_TOPOLOGY, IN_LEVEL, IN_BLOCK, IN_MODEL } kind;
	struct scope *inside;	/* parameters and lets */
	struct scope *visible;	/* fields so far */
	struct scope *levels;	/* of a topology */
};

static void check_record_body(struct check *check, const struct ast *body,
			      struct record_body record);

static const char *body_name(const struct record_body *record)
{
	static const char *const names[] = {
		[IN_DEVICE] = "device", [IN_TOPOLOGY] = "topology",
		[IN_LEVEL] = "level", [IN_BLOCK] = "block", [IN_MODEL] = "model",
	};

	return names[record->kind];
}

static void check_inner(struct check *check, const struct ast *body,
			const struct record_body *outer, int kind)
{
	struct record_body record = { .kind = kind };

	record.visible = scope_new(check->arena, outer->inside);
	record.inside = scope_new(check->arena, record.visible);
	check_record_body(check, body, record);
}

/* Declares a field, or reports that it is given twice. */
static void check_field_name(struct check *check, struct scope *visible,
			     const struct ast *item)
{
	if (scope_declare(visible, item, visible))
		return;
	diag_error(check->diags, E_DUPLICATE_FIELD, item->name_span,
		   "'%s' is given twice", item->name);
	diag_label(check->diags,
		   scope_find_here(visible, item->name)->declaration->name_span,
		   "given here first");
}

/* A function inside a body; it can name only what stands before it. */
static void check_function(struct check *check, struct scope *scope,
			   const struct ast *item)
{
	struct scope *inside = scope_new(check->arena, scope);

	check_parameters(check, inside, item);
	check_expression(check, inside, item->child[1]);
	check_declare(check, scope, item);
}

static void check_layers(struct check *check, struct scope *scope,
			 const struct ast *body)
{
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];
		struct scope *inner;

		if (!item)
			continue;
		switch (item->kind) {
		case AST_ITEM:
			check_expression(check, scope, item->child[0]);
			break;
		case AST_LET:
			check_let(check, scope, item);
			break;
		case AST_FOR:
			check_expression(check, scope, item->child[0]);
			inner = scope_new(check->arena, scope);
			check_some_value(check, inner, item->name);
			check_layers(check, inner, item->child[1]);
			break;
		default:
			check_refuse(check, item, "list of layers");
		}
	}
	check->body = here.outer;
}

static void check_block(struct check *check, const struct ast *item,
			const struct record_body *record)
{
	if (record->kind == IN_MODEL && !strcmp(item->name, "layers")) {
		check_layers(check, scope_new(check->arena, record->inside),
			     item->child[0]);
		check_field_name(check, record->visible, item);
		return;
	}
	if (record->kind == IN_MODEL || record->kind == IN_TOPOLOGY) {
		diag_error(check->diags, E_UNKNOWN_BLOCK, item->name_span,
			   "a %s has no block '%s'", body_name(record),
			   item->name);
		diag_help(check->diags, record->kind == IN_MODEL ?
			  "its layers stand in 'layers { .. }'" :
			  "a level has a name: 'level node { .. }'");
		return;
	}
	check_inner(check, item->child[0], record, IN_BLOCK);
	check_field_name(check, record->visible, item);
}

static void check_named_block(struct check *check, const struct ast *item,
			      const struct record_body *record)
{
	const struct ast *label = item->child[0];

	if (record->kind == IN_TOPOLOGY && !strcmp(item->name, "level")) {
		check_inner(check, item->child[1], record, IN_LEVEL);
		if (scope_declare(record->levels, label, record->levels))
			return;
		diag_error(check->diags, E_DUPLICATE_NAME, label->span,
			   "the level '%s' is given twice", label->name);
		diag_label(check->diags,
			   scope_find_here(record->levels, label->name)
				   ->declaration->span,
			   "given here first");
		return;
	}
	diag_error(check->diags, E_UNKNOWN_BLOCK, item->name_span,
		   "a %s has no block '%s' with a name", body_name(record),
		   item->name);
}

/* Nodes and links have names of their own kind, whose indices are values. */
static void check_place(struct check *check, const struct ast *place,
			struct scope *scope)
{
	while (place->kind != AST_NAME) {
		if (place->kind == AST_INDEX)
			check_expression(check, scope, place->child[1]);
		place = place->child[0];
	}
}

static void check_graph_item(struct check *check, const struct ast *item,
			     const struct record_body *record)
{
	const struct ast *body = item->kind == AST_SWITCH_ITEM ?
					 NULL : item->child[2];

	if (record->kind != IN_TOPOLOGY) {
		check_refuse(check, item, body_name(record));
		return;
	}
	check_place(check, item->child[0], record->inside);
	if (item->kind == AST_NODE_ITEM)
		check_expression(check, record->inside, item->child[1]);
	if (item->kind == AST_LINK)
		check_place(check, item->child[1], record->inside);
	if (body)
		check_inner(check, body, record, IN_BLOCK);
}

static void check_graph_loop(struct check *check, const struct ast *item,
			     const struct record_body *record)
{
	struct record_body inner = *record;

	check_expression(check, record->inside, item->child[0]);
	inner.inside = scope_new(check->arena, record->inside);
	check_some_value(check, inner.inside, item->name);
	check_record_body(check, item->child[1], inner);
}

static void check_record_item(struct check *check, const struct ast *item,
			      const struct record_body *record)
{
	switch (item->kind) {
	case AST_LET:
		check_let(check, record->inside, item);
		return;
	case AST_FUNCTION:
		check_function(check, record->inside, item);
		return;
	case AST_FIELD:
		check_expression(check, record->inside, item->child[0]);
		check_field_name(check, record->visible, item);
		return;
	case AST_BLOCK:
		check_block(check, item, record);
		return;
	case AST_NAMED_BLOCK:
		check_named_block(check, item, record);
		return;
	case AST_NODE_ITEM:
	case AST_SWITCH_ITEM:
	case AST_LINK:
		check_graph_item(check, item, record);
		return;
	case AST_FOR:
		if (record->kind == IN_TOPOLOGY)
			check_graph_loop(check, item, record);
		else
			check_refuse(check, item, body_name(record));
		return;
	default:
		check_refuse(check, item, body_name(record));
	}
}

static void check_record_body(struct check *check, const struct ast *body,
			      struct record_body record)
{
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i])
			check_record_item(check, body->child[i], &record);
	check->body = here.outer;
}

void check_record(struct check *check, const struct ast *item)
{
	struct record_body record = {
		.kind = item->kind == AST_DEVICE   ? IN_DEVICE :
			item->kind == AST_TOPOLOGY ? IN_TOPOLOGY :
						     IN_MODEL,
	};

	record.visible = scope_new(check->arena, check->module->scope);
	record.inside = scope_new(check->arena, record.visible);
	record.levels = scope_new(check->arena, NULL);
	check_parameters(check, record.inside, item);
	check_record_body(check, item->child[1], record);
}

/* SPDX-License-Identifier: MIT
 *
 * Records: the bodies of devices, topologies and models, copies made by
 * `with`, and members.
 *
 * In a body a name means, innermost first: a `let` or parameter of the
 * declaration, a field given further up in the body, a name of the module.
 */
#include <string.h>

#include "lang/base/vec.h"
#include "lang/call.h"
#include "lang/eval_internal.h"

/* Most layers that one `N *` may stand for. */
#define REPEAT_MAX 1000000

/* A record while its body is read. */
struct maker {
	struct eval *eval;
	struct record *record;
	struct scope *inside;		/* parameters and lets */
	struct scope *visible;		/* fields so far; encloses `inside` */
	VEC(struct field) field;
	VEC(struct record *) part;
	VEC(uint32_t) repeat;
	bool ok;
};

static struct arena *arena_of(struct eval *eval)
{
	return &eval->compilation->arena;
}

static struct record *record_new(struct eval *eval, enum record_kind kind,
				 const char *name,
				 const struct ast *declaration,
				 struct span span)
{
	struct record *record = ARENA_NEW(arena_of(eval), struct record);

	record->kind = kind;
	record->name = name;
	record->declaration = declaration;
	record->span = span;
	return record;
}

static void maker_finish(struct maker *maker)
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

static struct field *maker_find(struct maker *maker, const char *name)
{
	for (size_t i = 0; i < maker->field.count; i++)
		if (maker->field.at[i].name == name)
			return &maker->field.at[i];
	return NULL;
}

/* Refuses a second field of one name. */
static bool is_new(struct maker *maker, const struct ast *item)
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

static void maker_set(struct maker *maker, const struct ast *item,
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

static void refuse(struct maker *maker, const struct ast *item)
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

static void not_yet(struct maker *maker, const struct ast *item,
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

	if (!is_new(maker, item))
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

static bool make_block_record(struct maker *outer, const struct ast *body,
			      enum record_kind kind, const char *name,
			      const struct ast *item, struct record **record);

static void make_block(struct maker *maker, const struct ast *item)
{
	struct value value = { .kind = VALUE_RECORD, .span = item->span };

	if (!is_new(maker, item))
		return;
	if (!make_block_record(maker, item->child[0], RECORD_BLOCK, item->name,
			       item, &value.record))
		maker->ok = false;
	maker_set(maker, item, value);
}

/* ---- topologies ---- */

static void make_level(struct maker *maker, const struct ast *item)
{
	const struct ast *label = item->child[0];
	struct diags *diags = &maker->eval->compilation->diags;
	struct record *level;

	for (size_t i = 0; i < maker->part.count; i++) {
		if (maker->part.at[i]->name != label->name)
			continue;
		maker->ok = diag_error(diags, E_DUPLICATE_NAME, label->span,
				       "the level '%s' is given twice",
				       label->name);
		diag_label(diags, maker->part.at[i]->span, "given here first");
		return;
	}
	if (!make_block_record(maker, item->child[1], RECORD_LEVEL, label->name,
			       item, &level))
		maker->ok = false;
	VEC_PUSH(&maker->part, arena_of(maker->eval), level);
	VEC_PUSH(&maker->repeat, arena_of(maker->eval), 1);
}

/* What a later version understands. */
static bool is_later_field(const struct maker *maker, const struct ast *item)
{
	if (maker->record->kind != RECORD_LEVEL &&
	    maker->record->kind != RECORD_TOPOLOGY)
		return false;
	return !strcmp(item->name, "children");
}

static void make_item(struct maker *maker, const struct ast *item)
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
		if (is_later_field(maker, item))
			not_yet(maker, item, item->name);
		else
			make_field(maker, item);
		return;
	case AST_BLOCK:
		if (kind == RECORD_DEVICE || kind == RECORD_BLOCK ||
		    kind == RECORD_LEVEL)
			make_block(maker, item);
		else
			refuse(maker, item);
		return;
	case AST_NAMED_BLOCK:
		if (kind == RECORD_TOPOLOGY && !strcmp(item->name, "level"))
			make_level(maker, item);
		else
			refuse(maker, item);
		return;
	case AST_NODE_ITEM:
	case AST_LINK:
	case AST_FOR:
		if (kind == RECORD_TOPOLOGY)
			not_yet(maker, item, ast_kind_name(item->kind));
		else
			refuse(maker, item);
		return;
	default:
		refuse(maker, item);
	}
}

/* The depth of blocks is that of the syntax, which the parser bounds; it
 * counts as nesting all the same. */
static bool make_block_record(struct maker *outer, const struct ast *body,
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
		make_item(&maker, body->child[i]);
	eval->depth--;
	maker_finish(&maker);
	return maker.ok;
}

/* ---- models ---- */

static void push_layer(struct maker *maker, struct record *layer,
		       int64_t repeat)
{
	if (!repeat)
		return;
	VEC_PUSH(&maker->part, arena_of(maker->eval), layer);
	VEC_PUSH(&maker->repeat, arena_of(maker->eval), (uint32_t)repeat);
}

/* The expression as `count * layer`: which side is the layer shows only when
 * it is evaluated, but a call or name of a template is never a number. */
static bool split_repeat(struct maker *maker, struct scope *scope,
			 const struct ast *expression, const struct ast **layer,
			 int64_t *repeat)
{
	struct eval *eval = maker->eval;
	const struct ast *count = expression->child[0];

	*layer = expression->child[1];
	if (count->kind == AST_CALL && (*layer)->kind != AST_CALL) {
		*layer = count;
		count = expression->child[1];
	}
	return eval_integer(eval, scope, count, 0, REPEAT_MAX,
			    "the number of equal layers", repeat);
}

static void make_layers(struct maker *maker, struct scope *scope,
			const struct ast *body);

static bool make_layer(struct maker *maker, struct scope *scope,
		       const struct ast *expression, int64_t repeat)
{
	struct eval *eval = maker->eval;
	struct value value;

	/* `if` may choose between repeated layers. */
	while (expression->kind == AST_IF) {
		bool condition;

		if (!eval_boolean(eval, scope, expression->child[0],
				  "the condition of 'if'", &condition))
			return false;
		expression = expression->child[condition ? 1 : 2];
	}
	if (expression->kind == AST_BINARY && !strcmp(expression->name, "*") &&
	    repeat < 0) {
		if (!split_repeat(maker, scope, expression, &expression,
				  &repeat))
			return false;
		return make_layer(maker, scope, expression, repeat);
	}
	if (!eval_expression(eval, scope, expression, &value) ||
	    !eval_force(eval, expression->span, &value))
		return false;
	if (value.kind == VALUE_RECORD && value.record->kind == RECORD_LAYER) {
		push_layer(maker, value.record, repeat < 0 ? 1 : repeat);
		return true;
	}
	diag_error(&eval->compilation->diags, E_LAYER, expression->span,
		   "'layers' holds layers, and this is %s",
		   eval_describe(eval, &value));
	diag_help(&eval->compilation->diags,
		  "a layer is a template with its arguments, for instance 'N * block(hidden = ..)'");
	return false;
}

static void make_layers_for(struct maker *maker, struct scope *scope,
			    const struct ast *item)
{
	struct eval *eval = maker->eval;
	struct value range;
	uint64_t count;

	if (!eval_expression(eval, scope, item->child[0], &range)) {
		maker->ok = false;
		return;
	}
	if (!value_count(&range, &count)) {
		maker->ok = eval_wrong_kind(eval, &range, item->child[0]->span,
					    "what 'for' runs over",
					    "a range, a list or a set");
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		struct scope *inner = scope_new(arena_of(eval), scope);

		if (!eval_step(eval, item->span)) {
			maker->ok = false;
			return;
		}
		scope_set(inner, item->name, value_at(&range, i));
		eval->depth++;
		make_layers(maker, inner, item->child[1]);
		eval->depth--;
		/* One wrong round tells enough. */
		if (!maker->ok)
			return;
	}
}

static void make_layers(struct maker *maker, struct scope *scope,
			const struct ast *body)
{
	struct eval *eval = maker->eval;
	struct value ignored;

	if (eval->depth >= eval->compilation->depth_max) {
		maker->ok = diag_error(&eval->compilation->diags, E_DEPTH_LIMIT,
				       body->span,
				       "loops are nested more than %lu levels deep",
				       (unsigned long)eval->compilation->depth_max);
		return;
	}
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];
		struct binding *binding;

		switch (item->kind) {
		case AST_ITEM:
			if (!make_layer(maker, scope, item->child[0], -1))
				maker->ok = false;
			break;
		case AST_FOR:
			make_layers_for(maker, scope, item);
			break;
		case AST_LET:
			binding = scope_declare(scope, item, scope);
			if (binding && !eval_binding(eval, binding,
						     item->name_span, &ignored))
				maker->ok = false;
			break;
		default:
			maker->ok = diag_error(&eval->compilation->diags,
					       E_MISPLACED_ITEM, item->span,
					       "a %s cannot stand in 'layers'",
					       ast_kind_name(item->kind));
		}
	}
}

static void make_model_item(struct maker *maker, const struct ast *item,
			    bool *has_layers)
{
	if (item->kind != AST_BLOCK || strcmp(item->name, "layers")) {
		make_item(maker, item);
		return;
	}
	if (*has_layers) {
		maker->ok = diag_error(&maker->eval->compilation->diags,
				       E_DUPLICATE_FIELD, item->name_span,
				       "'layers' is given twice");
		return;
	}
	*has_layers = true;
	make_layers(maker, scope_new(arena_of(maker->eval), maker->inside),
		    item->child[0]);
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
			make_model_item(&maker, body->child[i], &has_layers);
		else
			make_item(&maker, body->child[i]);
	}
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

/* ---- with ---- */

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
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind == AST_FIELD && is_later_field(&maker, item))
			not_yet(&maker, item, item->name);
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
			refuse(&maker, item);
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

/* ---- members ---- */

/* Whether a template computes attention somewhere: then it is what people
 * count as a layer of a model. */
static bool calls_attention(const struct ast *node, unsigned depth)
{
	if (!node || depth > 64)
		return false;
	if (node->kind == AST_CALL && node->child[0]->kind == AST_NAME &&
	    !strcmp(node->child[0]->name, "attention"))
		return true;
	for (uint32_t i = 0; i < node->child_count; i++)
		if (calls_attention(node->child[i], depth + 1))
			return true;
	return false;
}

static double model_layers(const struct record *model)
{
	double layers = 0;

	for (uint32_t i = 0; i < model->part_count; i++)
		if (model->part_repeat[i] > 1 ||
		    calls_attention(model->part[i]->declaration->child[1], 0))
			layers += model->part_repeat[i];
	return layers;
}

/* What a level joins: its fanout, or the product of its torus. */
static bool level_children(struct eval *eval, const struct record *level,
			   double *children)
{
	const struct field *torus = record_find(
		level, intern_string(&eval->compilation->intern, "torus"));

	*children = 1;
	if (!torus)
		return eval_field_number(eval, level, "fanout", UNIT_NONE, true,
					 children);
	if (torus->value->kind != VALUE_LIST)
		return torus->value->kind != VALUE_ERROR &&
		       eval_wrong_kind(eval, torus->value, torus->span,
				       "'torus'", "a list such as [4, 4, 4]");
	for (uint32_t i = 0; i < torus->value->item_count; i++) {
		const struct value *item = &torus->value->item[i];

		if (!value_is_integer(item) || item->number < 1)
			return eval_wrong_kind(eval, item, torus->span,
					       "a size of 'torus'",
					       "a whole number from 1");
		*children *= item->number;
	}
	return true;
}

static bool model_parameters(struct eval *eval, const struct record *model,
			     struct span span, struct value *value)
{
	double count;

	if (!eval_steps(eval, 1 + (uint64_t)model->part_count, span) ||
	    !eval->compilation->count_parameters(eval, model, &count))
		return false;
	return eval_finish_number(eval, count, UNIT_NONE, span, value);
}

/* topology.devices: the product of all fanouts. */
static bool topology_devices(struct eval *eval, const struct record *topology,
			     struct span span, struct value *value)
{
	double devices = 1;

	for (uint32_t i = 0; i < topology->part_count; i++) {
		double children;

		if (!level_children(eval, topology->part[i], &children))
			return false;
		devices *= children;
	}
	return eval_finish_number(eval, devices, UNIT_NONE, span, value);
}

static void topology_levels(struct eval *eval, const struct record *topology,
			    struct span span, struct value *value)
{
	struct value *item = ARENA_ARRAY(arena_of(eval), struct value,
					 topology->part_count);

	for (uint32_t i = 0; i < topology->part_count; i++) {
		item[i].kind = VALUE_RECORD;
		item[i].record = topology->part[i];
		item[i].span = span;
	}
	value->kind = VALUE_LIST;
	value->item = item;
	value->item_count = topology->part_count;
}

/* Members that are not written in the record; *found is false for others. */
static bool computed_member(struct eval *eval, const struct record *record,
			    const char *name, struct span span,
			    struct value *member, bool *found)
{
	*found = true;
	if (record->kind == RECORD_MODEL && !strcmp(name, "layers"))
		return eval_finish_number(eval, model_layers(record), UNIT_NONE,
					  span, member);
	if (record->kind == RECORD_MODEL && !strcmp(name, "parameters") &&
	    eval->compilation->count_parameters)
		return model_parameters(eval, record, span, member);
	if (record->kind == RECORD_TOPOLOGY) {
		if (!strcmp(name, "devices"))
			return topology_devices(eval, record, span, member);
		if (!strcmp(name, "levels")) {
			if (!eval_steps(eval, record->part_count, span))
				return false;
			topology_levels(eval, record, span, member);
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

/* SPDX-License-Identifier: MIT
 *
 * Models: the chain of layers, and the members computed from it.
 */
#include <string.h>

#include "lang/eval_record.h"

/* Most layers that one `N *` may stand for. */
#define REPEAT_MAX 1000000

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

	if (!eval_loop(eval, scope, item->child[0], &range, &count)) {
		maker->ok = false;
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

void maker_model_item(struct maker *maker, const struct ast *item,
		      bool *has_layers)
{
	if (item->kind == AST_FIELD && !strcmp(item->name, "layers")) {
		*has_layers = true;
		maker->ok = diag_error(&maker->eval->compilation->diags,
				       E_MISPLACED_ITEM, item->span,
				       "'layers' is a block, not a value");
		diag_help(&maker->eval->compilation->diags,
			  "write 'layers { .. }' with the chain of layers inside");
		return;
	}
	if (item->kind != AST_BLOCK || strcmp(item->name, "layers")) {
		maker_item(maker, item);
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

double model_layer_count(const struct record *model)
{
	double layers = 0;

	for (uint32_t i = 0; i < model->part_count; i++)
		if (model->part_repeat[i] > 1 ||
		    calls_attention(model->part[i]->declaration->child[1], 0))
			layers += model->part_repeat[i];
	return layers;
}

bool eval_model_parameters(struct eval *eval, const struct record *model,
			   struct span span, struct value *value)
{
	double count;

	if (!eval_steps(eval, 1 + (uint64_t)model->part_count, span) ||
	    !eval->compilation->count_parameters(eval, model, &count))
		return false;
	return eval_finish_number(eval, count, UNIT_NONE, span, value);
}

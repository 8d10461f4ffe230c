/* SPDX-License-Identifier: MIT
 *
 * Calls of `attention`: which axes of its inputs count heads, and how large
 * one head of queries, keys and values is.
 */
#include <inttypes.h>

#include "compiler/lower_operator.h"

/* What an input that holds heads is made of. */
struct heads {
	uint32_t axis;			/* that counts them */
	struct ir_extent one;		/* the rest */
};

static bool heads_error(struct template *template, const struct call *call,
			uint32_t input, const char *problem)
{
	struct diags *diags = template->lower->diags;

	diag_error(diags, E_HEADS, call->input_ast[input]->span,
		   "%s ends in %s, %s", call_describe_input(template, call, input),
		   template_describe(template,
				     template_last(template, call->input[input])),
		   problem);
	template_label(template, call->input[input], call->ast->span);
	return false;
}

/* Which axis of a term counts heads: the one named by the argument, else the
 * one that is split by tensor. IR_NONE when neither is clear. */
static uint32_t heads_axis(struct template *template, const struct ir_term *term,
			   uint32_t given)
{
	uint32_t found = IR_NONE;

	for (uint32_t i = 0; i < term->axis_count; i++) {
		uint32_t axis = term->axis[i];

		if (axis == given)
			return given;
		if (template->axis.at[axis].split != IR_SPLIT_TENSOR)
			continue;
		if (found != IR_NONE)
			return IR_NONE;
		found = axis;
	}
	return given == IR_NONE ? found : IR_NONE;
}

/* Takes the axis out of every term; false if one lacks it, or is left with
 * nothing that could be the size of a head. */
static bool divide_extent(const struct ir_extent *extent, uint32_t axis,
			  struct ir_extent *rest)
{
	*rest = (struct ir_extent){ 0 };
	for (uint32_t i = 0; i < extent->term_count; i++) {
		struct ir_extent one = { .term = { { .coefficient =
						     extent->term[i].coefficient } },
					 .term_count = 1 };
		struct ir_term *term = &one.term[0];
		bool taken = false;

		for (uint32_t j = 0; j < extent->term[i].axis_count; j++) {
			uint32_t at = extent->term[i].axis[j];

			if (at == axis && !taken)
				taken = true;
			else
				term->axis[term->axis_count++] = at;
		}
		if (!taken || (term->axis_count == 0 && term->coefficient == 1) ||
		    !extent_add(rest, &one, rest))
			return false;
	}
	return true;
}

static bool find_heads(struct template *template, const struct call *call,
		       uint32_t input, const char *argument, struct heads *heads)
{
	const struct ir_extent *last = template_last(template, call->input[input]);
	struct diags *diags = template->lower->diags;
	uint32_t given;

	if (!call_axis(template, call, argument, &given))
		return false;
	if (last->term[0].axis_count + (last->term[0].coefficient > 1) < 2) {
		heads_error(template, call, input, "which is no product of a number "
			    "of heads and the size of one head");
		diag_help(diags, "make it with linear(.., hidden -> heads * head_dim)");
		return false;
	}
	heads->axis = heads_axis(template, &last->term[0], given);
	if (heads->axis == IR_NONE) {
		heads_error(template, call, input, given != IR_NONE ?
			    "which does not hold that axis" :
			    "and it is not clear which of these counts heads");
		diag_help(diags, "split the axis that counts heads by tensor, or name "
			  "it: attention(.., heads = heads, kv_heads = kv_heads)");
		return false;
	}
	if (divide_extent(last, heads->axis, &heads->one))
		return true;
	return heads_error(template, call, input,
			   "which is not the same size for every head");
}

/* The size of a query is that of a key, with the part all keys share. */
static bool check_sizes(struct template *template, const struct call *call,
			const struct heads *q, const struct heads *k,
			const struct ir_extent *shared)
{
	struct ir_extent key = k->one;

	if (shared && !extent_add(&key, shared, &key))
		return call_error(template, call, call->ast->span,
				  "has too many parts in one key");
	if (extent_equal(&q->one, &key))
		return true;
	diag_error(template->lower->diags, E_HEADS, call->input_ast[1]->span,
		   "heads of %s have size %s but those of %s %s%s",
		   call_describe_input(template, call, 0),
		   template_describe(template, &q->one),
		   call_describe_input(template, call, 1),
		   template_describe(template, &key),
		   shared ? " with the shared part" : "");
	return false;
}

static bool check_heads(struct template *template, const struct call *call,
			const struct heads *q, const struct heads *k,
			const struct heads *v)
{
	const struct ir_axis *heads = &template->axis.at[q->axis];
	const struct ir_axis *kv_heads = &template->axis.at[k->axis];
	struct diags *diags = template->lower->diags;

	if (k->axis != v->axis) {
		diag_error(diags, E_HEADS, call->input_ast[2]->span,
			   "keys have '%s' heads but values '%s'", kv_heads->name,
			   template->axis.at[v->axis].name);
		return false;
	}
	if (heads->size % kv_heads->size) {
		diag_error(diags, E_HEADS, call->ast->span,
			   "'%s' = %" PRIu64 " is no multiple of '%s' = %" PRIu64,
			   heads->name, heads->size, kv_heads->name, kv_heads->size);
		diag_note(diags, SPAN_NONE,
			  "equally many query heads share each key and value head");
		return false;
	}
	if (heads->split == kv_heads->split)
		return true;
	diag_error(diags, E_HEADS, call->ast->span,
		   "'%s' is split by tensor but '%s' is not",
		   heads->split ? heads->name : kv_heads->name,
		   heads->split ? kv_heads->name : heads->name);
	diag_label(diags, heads->split ? heads->split_span : kv_heads->split_span,
		   "split here");
	diag_help(diags, "split both: where there are fewer key and value heads "
		  "than the degree, they are copied");
	return false;
}

static bool check_ranks(struct template *template, const struct call *call)
{
	for (uint32_t i = 0; i < 3; i++)
		if (!call_expect_rank(template, call, i, 3,
				      "[batch, seq, heads * head_dim]"))
			return false;
	return true;
}

/* The tensor given as shared_key becomes the fourth input. */
static bool take_shared_key(struct template *template, const struct call *call,
			    struct ir_operator *operator,
			    const struct ir_extent **last)
{
	const struct ast *expression = call_named(call, "shared_key");
	uint32_t value;

	*last = NULL;
	if (!expression)
		return true;
	if (!template_tensor(template, expression, &value))
		return false;
	operator->input[operator->input_count++] = value;
	*last = template_last(template, value);
	if (template->value.at[value].rank == 3)
		return true;
	return call_error(template, call, expression->span,
			  "expects [batch, seq, size] as its shared key");
}

/* Heads of the three inputs. Multi-head attention need not name its heads
 * twice. */
static bool find_all_heads(struct template *template, const struct call *call,
			   struct heads *q, struct heads *k, struct heads *v)
{
	const char *kv = call_named(call, "kv_heads") ? "kv_heads" : "heads";

	if (!find_heads(template, call, 0, "heads", q))
		return false;
	if (!extent_has_axis(template_last(template, call->input[1]), q->axis))
		kv = "kv_heads";
	return find_heads(template, call, 1, kv, k) &&
	       find_heads(template, call, 2, kv, v);
}

bool build_attention(struct template *template, const struct call *call,
		     uint32_t *value)
{
	struct ir_operator operator = call_operator(call);
	const struct ir_extent *shared;
	struct ir_extent axis, last;
	struct heads q, k, v;

	operator.flash = true;
	if (!check_ranks(template, call) ||
	    !take_shared_key(template, call, &operator, &shared) ||
	    !find_all_heads(template, call, &q, &k, &v) ||
	    !check_sizes(template, call, &q, &k, shared) ||
	    !check_heads(template, call, &q, &k, &v) ||
	    !call_boolean(template, call, "causal", &operator.causal) ||
	    !call_boolean(template, call, "flash", &operator.flash) ||
	    !call_integer(template, call, "window", &operator.window) ||
	    !call_probability(template, call, "dropout", &operator.dropout))
		return false;
	operator.heads_axis = q.axis;
	operator.kv_heads_axis = k.axis;
	extent_size(template->axis.at, &q.one, &operator.head_size);
	extent_size(template->axis.at, &v.one, &operator.value_size);
	template->axis.at[k.axis].replicable = k.axis != q.axis;
	extent_of_axis(q.axis, &axis);
	if (!extent_multiply(&axis, &v.one, &last))
		return call_error(template, call, call->ast->span,
				  "has too many parts in one head");
	return template_append(template, call->ast, operator, call->input[0],
			       &last, value);
}

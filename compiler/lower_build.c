/* SPDX-License-Identifier: MIT
 *
 * The operators without a story of their own: what they demand of their
 * inputs, and what they give.
 */
#include <inttypes.h>

#include "compiler/lower_operator.h"

bool build_linear(struct template *template, const struct call *call,
			 uint32_t *value)
{
	struct ir_operator operator = call_operator(call);

	return call_weight(template, call, &operator) &&
	       call_expect_last(template, call, &operator.from) &&
	       call_boolean(template, call, "bias", &operator.bias) &&
	       template_append(template, call->ast, operator, call->input[0],
		      &operator.to, value);
}

/* `over` names the axis that is normalised for itself, as the size of one head. */
static bool take_over(struct template *template, const struct call *call,
		      struct ir_operator *operator)
{
	const struct ir_extent *last = template_last(template, call->input[0]);
	struct diags *diags = template->lower->diags;
	uint32_t axis;

	if (!call_axis(template, call, "over", &axis))
		return false;
	if (axis == IR_NONE)
		return true;
	extent_of_axis(axis, &operator->from);
	for (uint32_t i = 0; i < last->term_count; i++) {
		struct ir_extent term = { .term = { last->term[i] },
					  .term_count = 1 };

		if (extent_has_axis(&term, axis))
			continue;
		diag_error(diags, E_SHAPE, call_named(call, "over")->span,
			   "'%s' cannot go over '%s': %s ends in %s", call->name,
			   template->axis.at[axis].name,
			   call_describe_input(template, call, 0),
			   template_describe(template, last));
		template_label(template, call->input[0], call->ast->span);
		return false;
	}
	return true;
}

bool build_norm(struct template *template, const struct call *call,
		uint32_t *value)
{
	struct ir_operator operator = call_operator(call);
	bool fused = true;

	operator.bias = operator.kind == IR_LAYERNORM;
	if (operator.bias &&
	    !call_boolean(template, call, "bias", &operator.bias))
		return false;
	if (operator.kind == IR_RMSNORM &&
	    !call_boolean(template, call, "fused", &fused))
		return false;
	operator.eager = !fused;
	return take_over(template, call, &operator) &&
	       template_append(template, call->ast, operator, call->input[0],
			       NULL, value);
}

bool build_element(struct template *template, const struct call *call,
			  uint32_t *value)
{
	return template_append(template, call->ast, call_operator(call), call->input[0],
		      NULL, value);
}

/* Dropping nothing is no operator. */
bool build_dropout(struct template *template, const struct call *call,
			  uint32_t *value)
{
	struct ir_operator operator = call_operator(call);

	if (!call_named(call, "p"))
		return call_error(template, call, call->ast->span,
				      "needs the share of elements to drop, p");
	if (!call_probability(template, call, "p", &operator.dropout))
		return false;
	*value = call->input[0];
	return operator.dropout == 0 ||
	       template_append(template, call->ast, operator, call->input[0], NULL, value);
}

bool build_embedding(struct template *template, const struct call *call,
			    uint32_t *value)
{
	struct ir_operator operator = call_operator(call);
	uint64_t seq = template->axis.at[AXIS_SEQ].size;
	struct ir_value *result;

	if (!call_expect_rank(template, call, 0, 2, "token numbers [batch, seq]") ||
	    !call_weight(template, call, &operator) ||
	    !call_integer(template, call, "positions", &operator.positions) ||
	    !call_integer(template, call, "types", &operator.types) ||
	    !call_boolean(template, call, "tied", &operator.tied))
		return false;
	if (operator.positions && operator.positions < seq) {
		diag_error(template->lower->diags, E_OPERATOR_VALUE,
			   call_named(call, "positions")->span,
			   "%" PRIu64 " learned positions are fewer than the %" PRIu64
			   " tokens of a sequence", operator.positions, seq);
		diag_note(template->lower->diags, template->axis.at[AXIS_SEQ].span,
			  "the sequence length comes from here");
		return false;
	}
	if (!template_append(template, call->ast, operator, call->input[0], NULL, value))
		return false;
	result = &template->value.at[*value];
	result->extent[result->rank++] = operator.to;
	return true;
}

bool build_head(struct template *template, const struct call *call,
		       uint32_t *value)
{
	struct ir_operator operator = call_operator(call);

	return call_weight(template, call, &operator) &&
	       call_expect_last(template, call, &operator.from) &&
	       call_boolean(template, call, "tied", &operator.tied) &&
	       call_boolean(template, call, "bias", &operator.bias) &&
	       template_append(template, call->ast, operator, call->input[0],
		      &operator.to, value);
}

bool build_loss(struct template *template, const struct call *call,
		       uint32_t *value)
{
	struct ir_operator operator = call_operator(call);

	if (!call_expect_rank(template, call, 0, 3, "logits [batch, seq, vocab]") ||
	    !template_append(template, call->ast, operator, call->input[0], NULL, value))
		return false;
	template->value.at[*value].rank--;
	return true;
}

bool build_custom(struct template *template, const struct call *call,
			 uint32_t *value)
{
	struct ir_operator operator = call_operator(call);

	return call_number(template, call, "flops", UNIT_FLOP,
			   &operator.custom_flops) &&
	       call_number(template, call, "read", UNIT_BYTE,
			   &operator.custom_read_bytes) &&
	       call_number(template, call, "write", UNIT_BYTE,
			   &operator.custom_write_bytes) &&
	       call_number(template, call, "params", UNIT_NONE,
			   &operator.custom_parameters) &&
	       call_number(template, call, "saves", UNIT_BYTE,
			   &operator.custom_saved_bytes) &&
	       template_append(template, call->ast, operator, call->input[0], NULL, value);
}

/* The first input goes on; the loss is added to that of the last layer. */
bool build_auxiliary_loss(struct template *template, const struct call *call,
			  uint32_t *value)
{
	uint32_t producer = template->value.at[call->input[1]].producer;

	if (producer == IR_NONE ||
	    template->operator.at[producer].kind != IR_CROSS_ENTROPY) {
		diag_error(template->lower->diags, E_SHAPE,
			   call->input_ast[1]->span,
			   "'auxiliary_loss' expects a loss as its second input");
		diag_help(template->lower->diags,
			  "make it with cross_entropy(lm_head(..))");
		return false;
	}
	return template_append(template, call->ast, call_operator(call),
			       call->input[0], NULL, value);
}

/* SPDX-License-Identifier: MIT
 *
 * Calls of operators in a template's body: which operators there are, and
 * arguments against the operator's form.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/lower_operator.h"

/* ADD and MULTIPLY are written between their inputs; DISPATCH and COMBINE are the
 * ends of `experts`: these have no form. */
static const struct operator_form forms[IR_OPERATOR_COUNT] = {
	[IR_LINEAR] = { "linear(x, hidden -> ffn, bias = false)",
		.arrow = true, .in_experts = true, .named = { "bias" },
		.build = build_linear },
	[IR_ATTENTION] = { "attention(q, k, v, causal = true)",
		.named = { "causal", "flash", "window", "dropout", "heads",
			   "kv_heads", "shared_key" },
		.build = build_attention },
	[IR_RMSNORM] = { "rmsnorm(x)", .named = { "over", "fused" },
		.build = build_norm },
	[IR_LAYERNORM] = { "layernorm(x, bias = true)",
		.named = { "bias", "over" }, .build = build_norm },
	[IR_EMBEDDING] = { "embedding(ids, vocab -> hidden, positions = 0)",
		.arrow = true, .named = { "positions", "types", "tied" },
		.build = build_embedding },
	[IR_LM_HEAD] = { "lm_head(x, hidden -> vocab, tied = false)",
		.arrow = true, .named = { "tied", "bias" },
		.build = build_head },
	[IR_CROSS_ENTROPY] = { "cross_entropy(logits)", .build = build_loss },
	[IR_GELU] = { "gelu(x)", .in_experts = true, .build = build_element },
	[IR_SILU] = { "silu(x)", .in_experts = true, .build = build_element },
	[IR_RELU] = { "relu(x)", .in_experts = true, .build = build_element },
	[IR_DROPOUT] = { "dropout(x, p = 0.1)", .number_by_position = true,
		.in_experts = true, .named = { "p" }, .build = build_dropout },
	[IR_CUSTOM] = { "custom(x, flops = 0FLOP, read = 0B, write = 0B, "
			"params = 0, saves = 0B)",
		.named = { "flops", "read", "write", "params", "saves" },
		.build = build_custom },
	[IR_ROUTER] = { "router(x, experts, top_k, capacity = 1, groups = 1, "
			"top_groups = 1, bias = false)",
		.named = { "experts", "top_k", "capacity", "groups",
			   "top_groups", "bias" },
		.build = build_router },
	[IR_AUXILIARY_LOSS] = { "auxiliary_loss(x, loss)",
		.build = build_auxiliary_loss },
};

static const char experts_name[] = "experts";

static const struct {
	const char *name;
	uint32_t inputs;
} operators[IR_OPERATOR_COUNT] = {
#define OPERATOR(kind, name, inputs) { name, inputs },
#include "compiler/operators.def"
#undef OPERATOR
};

/* IR_OPERATOR_COUNT when there is none that is called like a function. */
static enum ir_operator_kind operator_find(const char *name)
{
	for (int i = 0; i < IR_OPERATOR_COUNT; i++)
		if (forms[i].build && !strcmp(operators[i].name, name))
			return (enum ir_operator_kind)i;
	return IR_OPERATOR_COUNT;
}

bool operator_is_known(const char *name)
{
	return operator_find(name) != IR_OPERATOR_COUNT ||
	       !strcmp(name, experts_name);
}

/* ---- arguments ---- */

static uint32_t named_count(const struct operator_form *form)
{
	uint32_t count = 0;

	while (count < NAMED_MAX && form->named[count])
		count++;
	return count;
}

static bool take_named(struct template *template, struct call *call,
		       const struct ast *argument, const char *name,
		       const struct ast *expression)
{
	struct lower *lower = template->lower;
	uint32_t index = form_named(call->form, name);

	if (index == NAMED_MAX) {
		diag_error(lower->diags, E_OPERATOR_ARGUMENT, argument->span,
			   "'%s' has no argument '%s'", call->name, name);
		if (!lower_suggest(lower, name, call->form->named,
				   named_count(call->form)))
			diag_help(lower->diags, "it is written %s",
				  call->form->usage);
		return false;
	}
	if (call->named[index])
		return call_error(template, call, argument->span,
				      arena_printf(lower->arena,
						   "is given '%s' twice", name));
	call->named[index] = expression;
	return true;
}

static bool take_position(struct template *template, struct call *call,
			  const struct ast *argument)
{
	uint32_t inputs = operators[call->kind].inputs;
	struct lower *lower = template->lower;

	if (call->input_count < inputs) {
		call->input_ast[call->input_count] = argument;
		return template_tensor(template, argument,
				       &call->input[call->input_count++]);
	}
	if (argument->kind == AST_NAME &&
	    form_named(call->form, argument->name) != NAMED_MAX)
		return take_named(template, call, argument, argument->name,
				  argument);
	if (call->form->number_by_position && !call->named[0])
		return take_named(template, call, argument, call->form->named[0],
				  argument);
	return call_error(template, call, argument->span,
			      arena_printf(lower->arena, "takes %u tensor%s, and "
					   "everything else by name",
					   inputs, inputs == 1 ? "" : "s"));
}

static bool take_argument(struct template *template, struct call *call,
			  const struct ast *argument)
{
	switch (argument->kind) {
	case AST_ERROR:
		return false;
	case AST_ARGUMENT:
		return take_named(template, call, argument, argument->name,
				  argument->child[0]);
	case AST_ARROW:
		if (!call->form->arrow)
			return call_error(template, call, argument->span,
					      "has no weight, so it takes no '->'");
		if (call->arrow)
			return call_error(template, call, argument->span,
					      "is given '->' twice");
		call->arrow = argument;
		return true;
	default:
		return take_position(template, call, argument);
	}
}

static bool take_arguments(struct template *template, struct call *call)
{
	const struct ast *list = call->ast->child[1];
	uint32_t inputs = operators[call->kind].inputs;
	struct lower *lower = template->lower;

	if (call->ast->child_count > 2 && call->ast->child[2])
		return call_error(template, call, call->ast->child[2]->span,
				      "takes no block");
	for (uint32_t i = 0; list && i < list->child_count; i++)
		if (!take_argument(template, call, list->child[i]))
			return false;
	if (call->input_count < inputs)
		return call_error(template, call, call->ast->span,
				      arena_printf(lower->arena,
						   "needs %u tensor%s and is given %u",
						   inputs, inputs == 1 ? "" : "s",
						   call->input_count));
	if (call->form->arrow && !call->arrow)
		return call_error(template, call, call->ast->span,
				      "needs the axes of its weight, from -> to");
	return true;
}

/* ---- entry points ---- */

static bool unknown_operator(struct template *template, const struct ast *call)
{
	struct lower *lower = template->lower;
	const struct ast *callee = call->child[0];
	const char *names[IR_OPERATOR_COUNT + 1];
	struct text list;
	uint32_t count = 0;

	if (callee->kind != AST_NAME)
		return diag_error(lower->diags, E_UNKNOWN_OPERATOR, callee->span,
				  "only an operator can be applied to tensors");
	for (int i = 0; i < IR_OPERATOR_COUNT; i++)
		if (forms[i].build)
			names[count++] = operators[i].name;
	names[count++] = experts_name;
	if (scope_find(template->scope, callee->name))
		diag_error(lower->diags, E_UNKNOWN_OPERATOR, callee->span,
			   "'%s' is no operator and cannot be applied to tensors",
			   callee->name);
	else
		diag_error(lower->diags, E_UNKNOWN_OPERATOR, callee->span,
			   "unknown operator '%s'", callee->name);
	if (lower_suggest(lower, callee->name, names, count))
		return false;
	text_init(&list, lower->arena);
	for (uint32_t i = 0; i < count; i++)
		text_printf(&list, "%s%s", i ? ", " : "", names[i]);
	diag_help(lower->diags, "the operators are %s", list.at);
	return false;
}

/* Within experts each row is a token by itself, and has a weight of its own
 * expert: not everything can be done there. */
static bool check_place(struct template *template, const struct call *call)
{
	struct diags *diags = template->lower->diags;

	if (template->router == IR_NONE || call->form->in_experts)
		return true;
	diag_error(diags, E_EXPERTS, call->ast->span,
		   "'%s' cannot stand within 'experts'", call->name);
	diag_note(diags, SPAN_NONE, "experts are made of linear, gelu, silu, relu, "
		  "dropout, '+' and '*'");
	return false;
}

bool template_call(struct template *template, const struct ast *call_ast,
		   uint32_t *value)
{
	const struct ast *callee = call_ast->child[0];
	struct call call = { .ast = call_ast };
	enum ir_operator_kind kind;

	if (callee->kind == AST_ERROR)
		return false;
	if (callee->kind != AST_NAME)
		return unknown_operator(template, call_ast);
	if (!strcmp(callee->name, experts_name))
		return template_experts(template, call_ast, value);
	kind = operator_find(callee->name);
	if (kind == IR_OPERATOR_COUNT)
		return unknown_operator(template, call_ast);
	call.name = operators[kind].name;
	call.kind = kind;
	call.form = &forms[kind];
	return check_place(template, &call) && take_arguments(template, &call) &&
	       call.form->build(template, &call, value);
}

static bool same_shapes(struct template *template, const struct ast *binary,
			const uint32_t input[2])
{
	const struct ir_value *a = &template->value.at[input[0]];
	const struct ir_value *b = &template->value.at[input[1]];
	struct diags *diags = template->lower->diags;

	if (a->rank != b->rank) {
		diag_error(diags, E_SHAPE, binary->span,
			   "'%s' joins tensors of one shape, but these have %u and %u axes",
			   binary->name, a->rank, b->rank);
		return false;
	}
	for (uint32_t i = 0; i < a->rank; i++) {
		if (extent_equal(&a->extent[i], &b->extent[i]))
			continue;
		diag_error(diags, E_SHAPE, binary->name_span,
			   "'%s' joins tensors of one shape, but one has %s and the other %s",
			   binary->name, template_describe(template, &a->extent[i]),
			   template_describe(template, &b->extent[i]));
		diag_label(diags, binary->child[0]->span, "has %s",
			   template_describe(template, &a->extent[i]));
		diag_label(diags, binary->child[1]->span, "has %s",
			   template_describe(template, &b->extent[i]));
		template_note_size(template, &a->extent[i], &b->extent[i]);
		return false;
	}
	return true;
}

static bool binary_operand(struct template *template, const struct ast *binary,
			   uint32_t side, uint32_t *value)
{
	struct diags *diags = template->lower->diags;

	if (template_has_tensor(template, binary->child[side]))
		return template_tensor(template, binary->child[side], value);
	diag_error(diags, E_NOT_A_TENSOR, binary->child[side]->span,
		   "'%s' joins two tensors, and this is a number", binary->name);
	diag_help(diags, "leave a constant factor out: it is part of the kernel "
		  "before it and costs nothing");
	return false;
}

bool template_binary(struct template *template, const struct ast *binary,
		     uint32_t *value)
{
	struct diags *diags = template->lower->diags;
	bool sum = !strcmp(binary->name, "+");
	struct ir_operator operator = {
		.kind = sum ? IR_ADD : IR_MULTIPLY,
		.input_count = 2,
		.heads_axis = IR_NONE,
		.kv_heads_axis = IR_NONE,
	};

	if (!sum && strcmp(binary->name, "*")) {
		diag_error(diags, E_UNKNOWN_OPERATOR, binary->name_span,
			   "'%s' is not known for tensors", binary->name);
		diag_help(diags, "tensors are joined by '+' and '*'; anything else can "
			  "be described with custom(..)");
		return false;
	}
	return binary_operand(template, binary, 0, &operator.input[0]) &&
	       binary_operand(template, binary, 1, &operator.input[1]) &&
	       same_shapes(template, binary, operator.input) &&
	       template_append(template, binary, operator, operator.input[0], NULL, value);
}

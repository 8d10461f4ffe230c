/* SPDX-License-Identifier: MIT
 *
 * Mixtures of experts: `router`, and `experts(m, r) { e -> .. }`, whose body
 * becomes ordinary operators on routed rows between a DISPATCH and a COMBINE.
 */
#include <inttypes.h>

#include "compiler/lower_operator.h"

/* More than any real imbalance; beyond it the number is a mistake. */
#define CAPACITY_MAX 1024

static bool take_capacity(struct template *template, const struct call *call,
			  struct ir_operator *operator)
{
	operator->capacity = 1;
	if (!call_number(template, call, "capacity", UNIT_NONE,
			 &operator->capacity))
		return false;
	if (operator->capacity >= 1 && operator->capacity <= CAPACITY_MAX)
		return true;
	diag_error(template->lower->diags, E_OPERATOR_VALUE,
		   call_named(call, "capacity")->span,
		   "'capacity' of 'router' must be from 1 to %d", CAPACITY_MAX);
	diag_note(template->lower->diags, SPAN_NONE,
		  "it is the rows that the busiest expert has room for over "
		  "those of a mean one");
	return false;
}

static bool take_top_k(struct template *template, const struct call *call,
		       uint64_t experts, struct ir_operator *operator)
{
	struct diags *diags = template->lower->diags;
	const struct ast *expression = call_named(call, "top_k");

	if (!expression)
		return call_error(template, call, call->ast->span,
				  "needs the number of experts a token goes to, top_k");
	if (!call_integer(template, call, "top_k", &operator->top_k))
		return false;
	if (operator->top_k >= 1 && operator->top_k <= experts)
		return true;
	diag_error(diags, E_OPERATOR_VALUE, expression->span,
		   "'top_k' of 'router' is %" PRIu64 ", and must be from 1 to the "
		   "%" PRIu64 " experts", operator->top_k, experts);
	return false;
}

static bool group_error(struct template *template, const struct call *call,
			const char *name, const char *why, uint64_t number)
{
	const struct ast *at = call_named(call, name);

	return diag_error(template->lower->diags, E_OPERATOR_VALUE,
			  at ? at->span : call->ast->span,
			  "'%s' of 'router' must %s %" PRIu64, name, why, number);
}

/* Groups of experts, of which a token's experts lie in a few. */
static bool take_groups(struct template *template, const struct call *call,
			uint64_t experts, struct ir_operator *operator)
{
	operator->groups = operator->top_groups = 1;
	if (!call_integer(template, call, "groups", &operator->groups) ||
	    !call_integer(template, call, "top_groups", &operator->top_groups))
		return false;
	if (!operator->groups || experts % operator->groups)
		return group_error(template, call, "groups",
				   "divide the number of experts,", experts);
	if (!operator->top_groups || operator->top_groups > operator->groups)
		return group_error(template, call, "top_groups",
				   "be from 1 to 'groups', that is", operator->groups);
	if (operator->top_k > operator->top_groups * (experts / operator->groups))
		return group_error(template, call, "top_groups",
				   "be enough groups for 'top_k' experts of a token,",
				   operator->top_k);
	return true;
}

bool build_router(struct template *template, const struct call *call,
		  uint32_t *value)
{
	struct ir_operator operator = call_operator(call);
	uint32_t axis;

	if (!call_expect_rank(template, call, 0, 3, "[batch, seq, hidden]") ||
	    !call_axis(template, call, "experts", &axis))
		return false;
	if (axis == IR_NONE)
		return call_error(template, call, call->ast->span,
				  "needs the axis that counts its experts");
	if (axis == AXIS_BATCH || axis == AXIS_SEQ)
		return call_error(template, call, call_named(call, "experts")->span,
				  "cannot have an expert for each token");
	operator.from = *template_last(template, call->input[0]);
	extent_of_axis(axis, &operator.to);
	return take_top_k(template, call, template->axis.at[axis].size,
			  &operator) &&
	       take_groups(template, call, template->axis.at[axis].size,
			   &operator) &&
	       take_capacity(template, call, &operator) &&
	       call_boolean(template, call, "bias", &operator.bias) &&
	       template_append(template, call->ast, operator, call->input[0],
			       &operator.to, value);
}

/* ---- experts ---- */

static bool form_error(struct template *template, struct span span,
		       const char *what)
{
	diag_error(template->lower->diags, E_EXPERTS, span, "'experts' %s", what);
	diag_help(template->lower->diags, "it is written experts(m, router(m, "
		  "experts, top_k)) { e -> linear(gelu(linear(e, hidden -> ffn)), "
		  "ffn -> hidden) }");
	return false;
}

/* The tokens and the router's choice. */
static bool take_inputs(struct template *template, const struct ast *call,
			struct ir_operator *dispatch)
{
	const struct ast *list = call->child[1];

	if (!list || list->child_count != 2 ||
	    list->child[0]->kind == AST_ARGUMENT ||
	    list->child[1]->kind == AST_ARGUMENT)
		return form_error(template, call->span,
				  "takes two tensors: tokens, and what a router "
				  "gave for them");
	for (uint32_t i = 0; i < 2; i++)
		if (!template_tensor(template, list->child[i],
				     &dispatch->input[i]))
			return false;
	dispatch->input_count = 2;
	return true;
}

/* The router that made the second input. */
static bool find_router(struct template *template, const struct ast *call,
			const struct ir_operator *dispatch, uint32_t *router)
{
	const struct ast *choice = call->child[1]->child[1];
	const struct ir_value *tokens = &template->value.at[dispatch->input[0]];
	const struct ir_operator *operator;

	*router = template->value.at[dispatch->input[1]].producer;
	if (*router == IR_NONE ||
	    template->operator.at[*router].kind != IR_ROUTER)
		return form_error(template, choice->span,
				  "needs what a router gave as its second tensor");
	operator = &template->operator.at[*router];
	if (tokens->rank == 3 &&
	    extent_equal(&tokens->extent[2], &operator->from))
		return true;
	diag_error(template->lower->diags, E_SHAPE,
		   call->child[1]->child[0]->span,
		   "'experts' and its router read tokens of one shape, but these "
		   "end in %s and %s",
		   template_describe(template, template_last(template,
							     dispatch->input[0])),
		   template_describe(template, &operator->from));
	return false;
}

static bool dispatch(struct template *template, const struct ast *call,
		     struct ir_operator operator, uint32_t router,
		     uint32_t *routed)
{
	operator.kind = IR_DISPATCH;
	if (!template_append(template, call, operator, operator.input[0], NULL,
			     routed))
		return false;
	template->value.at[*routed].router = router;
	return true;
}

/* The body, with the lambda's name standing for the routed rows. */
static bool experts_body(struct template *template, const struct ast *lambda,
			 uint32_t routed, uint32_t *result)
{
	struct template_name *name;
	size_t index = template->known.count;
	bool good;

	if (!template_name_is_free(template, lambda))
		return false;
	template_name_value(template, lambda, routed);
	if (!template_has_tensor(template, lambda->child[0])) {
		diag_error(template->lower->diags, E_EXPERTS,
			   lambda->child[0]->span,
			   "what experts give must come from '%s'", lambda->name);
		return false;
	}
	template->router = template->value.at[routed].router;
	good = template_tensor(template, lambda->child[0], result);
	template->router = IR_NONE;
	name = &template->known.at[index];
	name->gone = true;
	return good;
}

static bool combine(struct template *template, const struct ast *call,
		    const struct ir_operator *dispatched, uint32_t result,
		    uint32_t *value)
{
	struct ir_operator operator = *dispatched;

	operator.kind = IR_COMBINE;
	operator.input[0] = result;
	if (!template_append(template, call, operator, result, NULL, value))
		return false;
	template->value.at[*value].router = IR_NONE;
	return true;
}

bool template_experts(struct template *template, const struct ast *call,
		      uint32_t *value)
{
	const struct ast *lambda = call->child_count > 2 ? call->child[2] : NULL;
	struct ir_operator operator = { .heads_axis = IR_NONE,
					.kv_heads_axis = IR_NONE };
	uint32_t router, routed, result;

	if (template->router != IR_NONE)
		return form_error(template, call->span,
				  "cannot stand within other experts");
	if (!lambda || lambda->kind != AST_LAMBDA)
		return form_error(template, call->span,
				  "needs what each expert does, in braces");
	return take_inputs(template, call, &operator) &&
	       find_router(template, call, &operator, &router) &&
	       dispatch(template, call, operator, router, &routed) &&
	       experts_body(template, lambda, routed, &result) &&
	       combine(template, call, &operator, result, value);
}

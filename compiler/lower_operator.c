/* SPDX-License-Identifier: MIT
 *
 * Calls of operators in a template's body: arguments against the operator's
 * form, shapes against each other, and the new operator with its result.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/lower.h"

#define NAMED_MAX 6

/* A call with its arguments sorted out. */
struct call {
	const struct ast *ast;
	const char *name;			/* of the operator */
	const struct operator_form *form;
	uint32_t input[OPERATOR_INPUT_MAX];
	const struct ast *input_ast[OPERATOR_INPUT_MAX];
	uint32_t input_count;
	const struct ast *arrow;		/* from -> to */
	const struct ast *named[NAMED_MAX];	/* expression, by form->named */
};

/* How an operator is written. */
struct operator_form {
	const char *usage;
	bool arrow;			/* takes from -> to */
	bool number_by_position;	/* named[0] may come without its name */
	const char *named[NAMED_MAX];
	bool (*build)(struct template *template, const struct call *call,
		      uint32_t *value);
};

static bool build_linear(struct template *, const struct call *, uint32_t *);
static bool build_attention(struct template *, const struct call *, uint32_t *);
static bool build_norm(struct template *, const struct call *, uint32_t *);
static bool build_embedding(struct template *, const struct call *, uint32_t *);
static bool build_head(struct template *, const struct call *, uint32_t *);
static bool build_loss(struct template *, const struct call *, uint32_t *);
static bool build_element(struct template *, const struct call *, uint32_t *);
static bool build_dropout(struct template *, const struct call *, uint32_t *);
static bool build_custom(struct template *, const struct call *, uint32_t *);

/* ADD and MULTIPLY are written between their inputs and have no form. */
static const struct operator_form forms[IR_OPERATOR_COUNT] = {
	[IR_LINEAR] = { "linear(x, hidden -> ffn, bias = false)",
		.arrow = true, .named = { "bias" }, .build = build_linear },
	[IR_ATTENTION] = { "attention(q, k, v, causal = true)",
		.named = { "causal", "flash", "window", "dropout", "heads",
			   "kv_heads" },
		.build = build_attention },
	[IR_RMSNORM] = { "rmsnorm(x)", .build = build_norm },
	[IR_LAYERNORM] = { "layernorm(x, bias = true)",
		.named = { "bias" }, .build = build_norm },
	[IR_EMBEDDING] = { "embedding(ids, vocab -> hidden, positions = 0)",
		.arrow = true, .named = { "positions" },
		.build = build_embedding },
	[IR_LM_HEAD] = { "lm_head(x, hidden -> vocab, tied = false)",
		.arrow = true, .named = { "tied" }, .build = build_head },
	[IR_CROSS_ENTROPY] = { "cross_entropy(logits)", .build = build_loss },
	[IR_GELU] = { "gelu(x)", .build = build_element },
	[IR_SILU] = { "silu(x)", .build = build_element },
	[IR_RELU] = { "relu(x)", .build = build_element },
	[IR_DROPOUT] = { "dropout(x, p = 0.1)", .number_by_position = true,
		.named = { "p" }, .build = build_dropout },
	[IR_CUSTOM] = { "custom(x, flops = 0FLOP, read = 0B, write = 0B, "
			"params = 0, saves = 0B)",
		.named = { "flops", "read", "write", "params", "saves" },
		.build = build_custom },
};

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

/* Operators of mixtures of experts: known by name so far. */
static bool operator_is_later(const char *name)
{
	return !strcmp(name, "router") || !strcmp(name, "experts");
}

bool operator_is_known(const char *name)
{
	return operator_find(name) != IR_OPERATOR_COUNT ||
	       operator_is_later(name);
}

/* ---- arguments ---- */

static bool argument_error(struct template *template, const struct call *call,
			   struct span span, const char *what)
{
	diag_error(template->lower->diags, E_OPERATOR_ARGUMENT, span,
		   "'%s' %s", call->name, what);
	diag_help(template->lower->diags, "it is written %s", call->form->usage);
	return false;
}

/* Index of a named argument of the form; NAMED_MAX if it has none such. */
static uint32_t named_find(const struct operator_form *form, const char *name)
{
	for (uint32_t i = 0; i < NAMED_MAX && form->named[i]; i++)
		if (!strcmp(form->named[i], name))
			return i;
	return NAMED_MAX;
}

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
	uint32_t index = named_find(call->form, name);

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
		return argument_error(template, call, argument->span,
				      arena_printf(lower->arena,
						   "is given '%s' twice", name));
	call->named[index] = expression;
	return true;
}

static bool take_position(struct template *template, struct call *call,
			  const struct ast *argument)
{
	uint32_t inputs = operators[call->form - forms].inputs;
	struct lower *lower = template->lower;

	if (call->input_count < inputs) {
		call->input_ast[call->input_count] = argument;
		return template_tensor(template, argument,
				       &call->input[call->input_count++]);
	}
	if (argument->kind == AST_NAME &&
	    named_find(call->form, argument->name) != NAMED_MAX)
		return take_named(template, call, argument, argument->name,
				  argument);
	if (call->form->number_by_position && !call->named[0])
		return take_named(template, call, argument, call->form->named[0],
				  argument);
	return argument_error(template, call, argument->span,
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
			return argument_error(template, call, argument->span,
					      "has no weight, so it takes no '->'");
		if (call->arrow)
			return argument_error(template, call, argument->span,
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
	uint32_t inputs = operators[call->form - forms].inputs;
	struct lower *lower = template->lower;

	if (call->ast->child_count > 2 && call->ast->child[2])
		return argument_error(template, call, call->ast->child[2]->span,
				      "takes no block");
	for (uint32_t i = 0; list && i < list->child_count; i++)
		if (!take_argument(template, call, list->child[i]))
			return false;
	if (call->input_count < inputs)
		return argument_error(template, call, call->ast->span,
				      arena_printf(lower->arena,
						   "needs %u tensor%s and is given %u",
						   inputs, inputs == 1 ? "" : "s",
						   call->input_count));
	if (call->form->arrow && !call->arrow)
		return argument_error(template, call, call->ast->span,
				      "needs the axes of its weight, from -> to");
	return true;
}

static const struct ast *named(const struct call *call, const char *name)
{
	return call->named[named_find(call->form, name)];
}

static const char *what(struct template *template, const struct call *call,
			const char *name)
{
	return arena_printf(template->lower->arena, "'%s' of '%s'", name,
			    call->name);
}

/* These keep what is there when the argument is left out. */
static bool take_boolean(struct template *template, const struct call *call,
			 const char *name, bool *boolean)
{
	const struct ast *expression = named(call, name);

	return !expression ||
	       eval_boolean(&template->lower->eval, template->scope, expression,
			    what(template, call, name), boolean);
}

static bool take_integer(struct template *template, const struct call *call,
			 const char *name, uint64_t *integer)
{
	const struct ast *expression = named(call, name);
	int64_t number;

	if (!expression)
		return true;
	if (!eval_integer(&template->lower->eval, template->scope, expression, 0,
			  (int64_t)SIZE_MAX_EXACT, what(template, call, name),
			  &number))
		return false;
	*integer = (uint64_t)number;
	return true;
}

static bool take_number(struct template *template, const struct call *call,
			const char *name, struct unit unit, double *number)
{
	const struct ast *expression = named(call, name);

	if (!expression)
		return true;
	if (!eval_number(&template->lower->eval, template->scope, expression,
			 unit, what(template, call, name), number))
		return false;
	if (*number >= 0 && *number <= (double)SIZE_MAX_EXACT * 1024)
		return true;
	return diag_error(template->lower->diags, E_OPERATOR_VALUE,
			  expression->span, "%s must be from 0 on and finite",
			  what(template, call, name));
}

static bool take_probability(struct template *template,
			     const struct call *call, const char *name,
			     double *number)
{
	if (!take_number(template, call, name, UNIT_NONE, number))
		return false;
	if (*number < 1)
		return true;
	diag_error(template->lower->diags, E_OPERATOR_VALUE,
		   named(call, name)->span, "%s must be below 1",
		   what(template, call, name));
	diag_help(template->lower->diags,
		  "it is the share of elements set to zero, for instance 0.1");
	return false;
}

/* ---- shapes ---- */

/* "'heads * head_dim' = 4096" */
static const char *describe(struct template *template,
			    const struct ir_extent *extent)
{
	uint64_t size = 0;
	struct text text;

	text_init(&text, template->lower->arena);
	text_append_char(&text, '\'');
	extent_print(template->axis.at, extent, &text);
	text_append_char(&text, '\'');
	if (extent_has_axis(extent, AXIS_BATCH))
		return text.at;
	extent_size(template->axis.at, extent, &size);
	text_printf(&text, " = %" PRIu64, size);
	return text.at;
}

/* "'n'" or "its input". */
static const char *describe_input(struct template *template,
				  const struct call *call, uint32_t i)
{
	if (call->input_ast[i]->kind == AST_NAME)
		return arena_printf(template->lower->arena, "'%s'",
				    call->input_ast[i]->name);
	return "its input";
}

/* Points at the place a value was made, unless that is within the use. */
static void label_value(struct template *template, uint32_t value,
			struct span use)
{
	struct span made = template->value.at[value].span;

	if (made.file == use.file &&
	    (made.begin >= use.end || made.end <= use.begin))
		diag_label(template->lower->diags, made, "made here");
}

static void note_same_size(struct template *template,
			   const struct ir_extent *a, const struct ir_extent *b)
{
	uint64_t size_a = 0, size_b = 1;

	extent_size(template->axis.at, a, &size_a);
	extent_size(template->axis.at, b, &size_b);
	if (size_a == size_b)
		diag_note(template->lower->diags, SPAN_NONE,
			  "axes are compared by name and not by size, because "
			  "each may be cut differently");
}

static const struct ir_extent *last_extent(const struct template *template,
					   uint32_t value)
{
	const struct ir_value *at = &template->value.at[value];

	return &at->extent[at->rank - 1];
}

/* The first input's last axis against the weight's `from`. */
static bool expect_last(struct template *template, const struct call *call,
			const struct ir_extent *from)
{
	const struct ir_extent *last = last_extent(template, call->input[0]);
	struct diags *diags = template->lower->diags;

	if (extent_equal(last, from))
		return true;
	diag_error(diags, E_SHAPE, call->arrow->child[0]->span,
		   "'%s' expects its input's last axis %s but %s ends in %s",
		   call->name, describe(template, from),
		   describe_input(template, call, 0), describe(template, last));
	label_value(template, call->input[0], call->ast->span);
	note_same_size(template, from, last);
	return false;
}

static bool expect_rank(struct template *template, const struct call *call,
			uint32_t input, uint32_t rank, const char *shape)
{
	const struct ir_value *value = &template->value.at[call->input[input]];

	if (value->rank == rank)
		return true;
	diag_error(template->lower->diags, E_SHAPE, call->input_ast[input]->span,
		   "'%s' expects %s, but %s has %u axes", call->name, shape,
		   describe_input(template, call, input), value->rank);
	label_value(template, call->input[input], call->ast->span);
	return false;
}

/* Appends an operator and its result, which has the shape of value `like`
 * with the last extent replaced unless last is NULL. */
static bool append(struct template *template, const struct ast *ast,
		   struct ir_operator operator, uint32_t like,
		   const struct ir_extent *last, uint32_t *value)
{
	struct lower *lower = template->lower;
	struct ir_value result = template->value.at[like];

	if (template->operator.count == OPERATORS_MAX)
		return diag_error(lower->diags, E_TEMPLATE_SIZE, ast->span,
				  "template '%s' has more than %d operators",
				  template->name, OPERATORS_MAX);
	result.name = NULL;
	result.span = ast->span;
	result.producer = (uint32_t)template->operator.count;
	if (last)
		result.extent[result.rank - 1] = *last;
	*value = (uint32_t)template->value.count;
	operator.span = ast->span;
	operator.output = *value;
	VEC_PUSH(&template->value, lower->arena, result);
	VEC_PUSH(&template->operator, lower->arena, operator);
	return true;
}

static struct ir_operator operator_of(const struct call *call)
{
	struct ir_operator operator = {
		.kind = (enum ir_operator_kind)(call->form - forms),
		.input_count = call->input_count,
		.heads_axis = IR_NONE,
		.kv_heads_axis = IR_NONE,
		.head_axis = IR_NONE,
	};

	memcpy(operator.input, call->input, sizeof(operator.input));
	return operator;
}

static bool take_weight(struct template *template, const struct call *call,
			struct ir_operator *operator)
{
	struct diags *diags = template->lower->diags;
	uint64_t from, to, elements;

	if (!template_extent(template, call->arrow->child[0], &operator->from) ||
	    !template_extent(template, call->arrow->child[1], &operator->to))
		return false;
	for (uint32_t side = 0; side < 2; side++) {
		const struct ir_extent *extent =
			side ? &operator->to : &operator->from;

		if (extent_has_axis(extent, AXIS_BATCH) ||
		    extent_has_axis(extent, AXIS_SEQ))
			return diag_error(diags, E_SHAPE,
					  call->arrow->child[side]->span,
					  "a weight has no axis 'batch' or 'seq'");
	}
	extent_size(template->axis.at, &operator->from, &from);
	extent_size(template->axis.at, &operator->to, &to);
	if (!__builtin_mul_overflow(from, to, &elements) &&
	    elements <= SIZE_MAX_EXACT)
		return true;
	return diag_error(diags, E_AXIS_SIZE, call->arrow->span,
			  "this weight has more than 2^53 elements");
}

/* ---- the operators ---- */

static bool build_linear(struct template *template, const struct call *call,
			 uint32_t *value)
{
	struct ir_operator operator = operator_of(call);

	return take_weight(template, call, &operator) &&
	       expect_last(template, call, &operator.from) &&
	       take_boolean(template, call, "bias", &operator.bias) &&
	       append(template, call->ast, operator, call->input[0],
		      &operator.to, value);
}

static bool build_norm(struct template *template, const struct call *call,
		       uint32_t *value)
{
	struct ir_operator operator = operator_of(call);

	if (operator.kind == IR_LAYERNORM) {
		operator.bias = true;
		if (!take_boolean(template, call, "bias", &operator.bias))
			return false;
	}
	return append(template, call->ast, operator, call->input[0], NULL, value);
}

static bool build_element(struct template *template, const struct call *call,
			  uint32_t *value)
{
	return append(template, call->ast, operator_of(call), call->input[0],
		      NULL, value);
}

/* Dropping nothing is no operator. */
static bool build_dropout(struct template *template, const struct call *call,
			  uint32_t *value)
{
	struct ir_operator operator = operator_of(call);

	if (!named(call, "p"))
		return argument_error(template, call, call->ast->span,
				      "needs the share of elements to drop, p");
	if (!take_probability(template, call, "p", &operator.dropout))
		return false;
	*value = call->input[0];
	return operator.dropout == 0 ||
	       append(template, call->ast, operator, call->input[0], NULL, value);
}

static bool build_embedding(struct template *template, const struct call *call,
			    uint32_t *value)
{
	struct ir_operator operator = operator_of(call);
	uint64_t seq = template->axis.at[AXIS_SEQ].size;
	struct ir_value *result;

	if (!expect_rank(template, call, 0, 2, "token numbers [batch, seq]") ||
	    !take_weight(template, call, &operator) ||
	    !take_integer(template, call, "positions", &operator.positions))
		return false;
	if (operator.positions && operator.positions < seq) {
		diag_error(template->lower->diags, E_OPERATOR_VALUE,
			   named(call, "positions")->span,
			   "%" PRIu64 " learned positions are fewer than the %" PRIu64
			   " tokens of a sequence", operator.positions, seq);
		diag_note(template->lower->diags, template->axis.at[AXIS_SEQ].span,
			  "the sequence length comes from here");
		return false;
	}
	if (!append(template, call->ast, operator, call->input[0], NULL, value))
		return false;
	result = &template->value.at[*value];
	result->extent[result->rank++] = operator.to;
	return true;
}

static bool build_head(struct template *template, const struct call *call,
		       uint32_t *value)
{
	struct ir_operator operator = operator_of(call);

	return take_weight(template, call, &operator) &&
	       expect_last(template, call, &operator.from) &&
	       take_boolean(template, call, "tied", &operator.tied) &&
	       append(template, call->ast, operator, call->input[0],
		      &operator.to, value);
}

static bool build_loss(struct template *template, const struct call *call,
		       uint32_t *value)
{
	struct ir_operator operator = operator_of(call);

	if (!expect_rank(template, call, 0, 3, "logits [batch, seq, vocab]") ||
	    !append(template, call->ast, operator, call->input[0], NULL, value))
		return false;
	template->value.at[*value].rank--;
	return true;
}

static bool build_custom(struct template *template, const struct call *call,
			 uint32_t *value)
{
	struct ir_operator operator = operator_of(call);

	return take_number(template, call, "flops", UNIT_FLOP,
			   &operator.custom_flops) &&
	       take_number(template, call, "read", UNIT_BYTE,
			   &operator.custom_read_bytes) &&
	       take_number(template, call, "write", UNIT_BYTE,
			   &operator.custom_write_bytes) &&
	       take_number(template, call, "params", UNIT_NONE,
			   &operator.custom_parameters) &&
	       take_number(template, call, "saves", UNIT_BYTE,
			   &operator.custom_saved_bytes) &&
	       append(template, call->ast, operator, call->input[0], NULL, value);
}

/* ---- attention ---- */

/* The two axes of an input that holds heads: counts and size of one head. */
struct head_axes {
	uint32_t heads, head;
};

static bool heads_error(struct template *template, const struct call *call,
			uint32_t input, const char *problem)
{
	struct diags *diags = template->lower->diags;

	diag_error(diags, E_HEADS, call->input_ast[input]->span,
		   "%s ends in %s, %s", describe_input(template, call, input),
		   describe(template, last_extent(template, call->input[input])),
		   problem);
	label_value(template, call->input[input], call->ast->span);
	return false;
}

/* Which of a term's two axes counts heads: the one named by the argument,
 * else the one that is split by tensor. IR_NONE when neither is clear. */
static uint32_t heads_axis(struct template *template, const struct ir_term *term,
			   uint32_t given)
{
	bool cut[2];

	for (uint32_t i = 0; i < 2; i++) {
		if (term->axis[i] == given)
			return given;
		cut[i] = template->axis.at[term->axis[i]].split == IR_SPLIT_TENSOR;
	}
	if (given != IR_NONE || cut[0] == cut[1])
		return IR_NONE;
	return term->axis[cut[0] ? 0 : 1];
}

static bool find_heads(struct template *template, const struct call *call,
		       uint32_t input, const char *argument,
		       struct head_axes *axes)
{
	const struct ir_extent *last = last_extent(template, call->input[input]);
	const struct ast *expression = named(call, argument);
	const struct ir_term *term = &last->term[0];
	struct diags *diags = template->lower->diags;
	uint32_t given = IR_NONE;

	if (expression && expression->kind != AST_NAME)
		return argument_error(template, call, expression->span,
				      arena_printf(template->lower->arena,
						   "expects the name of an axis as '%s'",
						   argument));
	if (expression) {
		given = template_axis(template, expression->name, expression->span);
		if (given == IR_NONE)
			return false;
	}
	if (last->term_count != 1 || term->coefficient != 1 ||
	    term->axis_count != 2) {
		heads_error(template, call, input, "which is no product of a number "
			    "of heads and the size of one head");
		diag_help(diags, "make it with linear(.., hidden -> heads * head_dim)");
		return false;
	}
	axes->heads = heads_axis(template, term, given);
	if (axes->heads == IR_NONE) {
		heads_error(template, call, input,
			    expression ? "which does not hold that axis" :
					 "and it is not clear which of these counts heads");
		diag_help(diags, "split the axis that counts heads by tensor, or name "
			  "it: attention(.., heads = heads, kv_heads = kv_heads)");
		return false;
	}
	axes->head = term->axis[0] == axes->heads ? term->axis[1] : term->axis[0];
	return true;
}

static bool check_heads(struct template *template, const struct call *call,
			struct head_axes q, struct head_axes k)
{
	const struct ir_axis *heads = &template->axis.at[q.heads];
	const struct ir_axis *kv_heads = &template->axis.at[k.heads];
	struct diags *diags = template->lower->diags;

	if (q.head != k.head) {
		diag_error(diags, E_HEADS, call->input_ast[1]->span,
			   "heads of %s have size '%s' but those of %s '%s'",
			   describe_input(template, call, 0),
			   template->axis.at[q.head].name,
			   describe_input(template, call, 1),
			   template->axis.at[k.head].name);
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

static bool attention_shapes(struct template *template, const struct call *call)
{
	const struct ir_value *k = &template->value.at[call->input[1]];
	const struct ir_value *v = &template->value.at[call->input[2]];

	for (uint32_t i = 0; i < 3; i++)
		if (!expect_rank(template, call, i, 3, "[batch, seq, heads * head_dim]"))
			return false;
	if (extent_equal(&k->extent[2], &v->extent[2]))
		return true;
	diag_error(template->lower->diags, E_SHAPE, call->input_ast[2]->span,
		   "'attention' expects keys and values of one shape, but they end in "
		   "%s and %s", describe(template, &k->extent[2]),
		   describe(template, &v->extent[2]));
	return false;
}

static bool build_attention(struct template *template, const struct call *call,
			    uint32_t *value)
{
	struct ir_operator operator = operator_of(call);
	struct head_axes q, k;
	const char *kv = named(call, "kv_heads") ? "kv_heads" : "heads";

	operator.flash = true;
	if (!attention_shapes(template, call) ||
	    !find_heads(template, call, 0, "heads", &q))
		return false;
	/* Multi-head attention need not name its heads twice. */
	if (!extent_equal(last_extent(template, call->input[0]),
			  last_extent(template, call->input[1])))
		kv = "kv_heads";
	if (!find_heads(template, call, 1, kv, &k) ||
	    !check_heads(template, call, q, k) ||
	    !take_boolean(template, call, "causal", &operator.causal) ||
	    !take_boolean(template, call, "flash", &operator.flash) ||
	    !take_integer(template, call, "window", &operator.window) ||
	    !take_probability(template, call, "dropout", &operator.dropout))
		return false;
	operator.heads_axis = q.heads;
	operator.kv_heads_axis = k.heads;
	operator.head_axis = q.head;
	template->axis.at[k.heads].replicable = k.heads != q.heads;
	return append(template, call->ast, operator, call->input[0], NULL, value);
}

/* ---- entry points ---- */

static bool unknown_operator(struct template *template, const struct ast *call)
{
	struct lower *lower = template->lower;
	const struct ast *callee = call->child[0];
	const char *names[IR_OPERATOR_COUNT];
	struct text list;
	uint32_t count = 0;

	if (callee->kind != AST_NAME)
		return diag_error(lower->diags, E_UNKNOWN_OPERATOR, callee->span,
				  "only an operator can be applied to tensors");
	for (int i = 0; i < IR_OPERATOR_COUNT; i++)
		if (forms[i].build)
			names[count++] = operators[i].name;
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
	if (operator_is_later(callee->name))
		return lower_not_yet(template->lower, callee->span,
				     arena_printf(template->lower->arena,
						  "operator '%s'", callee->name));
	kind = operator_find(callee->name);
	if (kind == IR_OPERATOR_COUNT)
		return unknown_operator(template, call_ast);
	call.name = operators[kind].name;
	call.form = &forms[kind];
	return take_arguments(template, &call) &&
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
			   binary->name, describe(template, &a->extent[i]),
			   describe(template, &b->extent[i]));
		diag_label(diags, binary->child[0]->span, "has %s",
			   describe(template, &a->extent[i]));
		diag_label(diags, binary->child[1]->span, "has %s",
			   describe(template, &b->extent[i]));
		note_same_size(template, &a->extent[i], &b->extent[i]);
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
		.head_axis = IR_NONE,
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
	       append(template, binary, operator, operator.input[0], NULL, value);
}

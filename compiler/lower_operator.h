/* SPDX-License-Identifier: MIT
 *
 * Inside the lowering of operator calls: one call with its arguments sorted
 * out, and what the builders of all operators use. Only the lower_*.c files
 * include this. What returns bool reports what is wrong itself.
 */
#ifndef NEST_COMPILER_LOWER_OPERATOR_H
#define NEST_COMPILER_LOWER_OPERATOR_H

#include "compiler/lower_template.h"

#define NAMED_MAX 8

struct operator_form;

/* A call with its arguments sorted out. */
struct call {
	const struct ast *ast;
	const char *name;			/* of the operator */
	enum ir_operator_kind kind;
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
	bool in_experts;		/* may stand within experts { } */
	const char *named[NAMED_MAX];
	bool (*build)(struct template *template, const struct call *call,
		      uint32_t *value);
};

/* ---- arguments, in lower_call.c ---- */

/* Reports "'linear' WHAT" with the usage as help; false. */
bool call_error(struct template *template, const struct call *call,
		struct span span, const char *what);

/* Index of a named argument of the form; NAMED_MAX if it has none such. */
uint32_t form_named(const struct operator_form *form, const char *name);

/* The expression given for a named argument of the form, or NULL. */
const struct ast *call_named(const struct call *call, const char *name);

/* These keep what is there when the argument is left out. */
bool call_boolean(struct template *template, const struct call *call,
		  const char *name, bool *boolean);
bool call_integer(struct template *template, const struct call *call,
		  const char *name, uint64_t *integer);
bool call_number(struct template *template, const struct call *call,
		 const char *name, struct unit unit, double *number);
bool call_probability(struct template *template, const struct call *call,
		      const char *name, double *number);

/* An argument that names an axis; *axis is IR_NONE when it is left out. */
bool call_axis(struct template *template, const struct call *call,
	       const char *name, uint32_t *axis);

/* The extents of the arrow become the operator's weight. */
bool call_weight(struct template *template, const struct call *call,
		 struct ir_operator *operator);

/* The first input's last extent must be that. */
bool call_expect_last(struct template *template, const struct call *call,
		      const struct ir_extent *from);
/* An input must have so many axes; shape says which. */
bool call_expect_rank(struct template *template, const struct call *call,
		      uint32_t input, uint32_t rank, const char *shape);

/* "'n'" or "its input". */
const char *call_describe_input(struct template *template,
				const struct call *call, uint32_t i);

/* An operator with the call's inputs and nothing else. */
struct ir_operator call_operator(const struct call *call);

/* ---- shapes ---- */

/* "'heads * head_dim' = 4096" */
const char *template_describe(struct template *template,
			      const struct ir_extent *extent);
const struct ir_extent *template_last(const struct template *template,
				      uint32_t value);
/* Points at the place a value was made, unless that is within the use. */
void template_label(struct template *template, uint32_t value, struct span use);
/* Says that axes go by name, where sizes agree. */
void template_note_size(struct template *template, const struct ir_extent *a,
			const struct ir_extent *b);

/* Appends an operator and its result, which is like value `like` with the last
 * extent replaced unless last is NULL. */
bool template_append(struct template *template, const struct ast *ast,
		     struct ir_operator operator, uint32_t like,
		     const struct ir_extent *last, uint32_t *value);

/* ---- the builders ---- */

bool build_linear(struct template *, const struct call *, uint32_t *);
bool build_norm(struct template *, const struct call *, uint32_t *);
bool build_embedding(struct template *, const struct call *, uint32_t *);
bool build_head(struct template *, const struct call *, uint32_t *);
bool build_loss(struct template *, const struct call *, uint32_t *);
bool build_element(struct template *, const struct call *, uint32_t *);
bool build_dropout(struct template *, const struct call *, uint32_t *);
bool build_custom(struct template *, const struct call *, uint32_t *);
bool build_auxiliary_loss(struct template *, const struct call *, uint32_t *);
bool build_attention(struct template *, const struct call *, uint32_t *);
bool build_router(struct template *, const struct call *, uint32_t *);

/* `experts(m, r) { e -> .. }`, in lower_experts.c. */
bool template_experts(struct template *template, const struct ast *call,
		      uint32_t *value);

#endif

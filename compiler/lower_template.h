/* SPDX-License-Identifier: MIT
 *
 * Inside the lowering of templates: one template whose body is being read. Only the
 * lower_*.c files include this. What returns bool reports what is wrong itself and
 * returns false then.
 */
#ifndef NEST_COMPILER_LOWER_TEMPLATE_H
#define NEST_COMPILER_LOWER_TEMPLATE_H

#include "compiler/extent.h"
#include "compiler/lower.h"

/* Bounds on one template; each has its own diagnostic. */
#define AXES_MAX 64
#define OPERATORS_MAX 1024

/* A name of a template's body. */
struct template_name {
	const char *name;
	struct span span;
	uint32_t value;			/* tensor, or IR_NONE: a number */
	const struct ast *expression;	/* of a number */
	bool used;
	bool gone;			/* of experts whose body has ended */
};

/* One template being lowered. Arrays grow here and are copied to the class. */
struct template {
	struct lower *lower;
	const struct record *layer;
	const char *name;
	struct scope *scope;		/* parameters, batch, seq, lets */
	VEC(struct ir_axis) axis;
	VEC(struct ir_value) value;
	VEC(struct ir_operator) operator;
	VEC(struct template_name) known;
	uint32_t input;			/* value, or IR_NONE */
	uint32_t tokens;		/* value of token numbers besides it, or IR_NONE */
	uint32_t output;
	uint32_t router;		/* of the experts whose body this is, or IR_NONE */
};

/* Tensor expressions, in lower_tensor.c. */

/* A tensor expression; appends the operators it needs. */
bool template_tensor(struct template *template, const struct ast *expression,
		     uint32_t *value);
/* Whether the expression has a tensor in it (else it is a number). */
bool template_has_tensor(struct template *template,
			 const struct ast *expression);
/* What the body names so; NULL if nothing (left). */
struct template_name *template_find(struct template *template,
				    const char *name);
/* Marks every tensor an expression names as used. */
void template_use(struct template *template, const struct ast *expression);

/* Names of the body, in lower_template.c. */

/* Whether the name of an item is free; reports what it stands for otherwise. */
bool template_name_is_free(struct template *template, const struct ast *item);
/* Gives an item's name to a tensor. */
void template_name_value(struct template *template, const struct ast *item,
			 uint32_t value);
/* Splits, in lower_split.c. */

/* Takes one `split` item. */
bool template_split(struct template *template, const struct ast *item);
/* Whether everything in the finished class can be cut as its axes are split. */
bool template_check_splits(struct lower *lower, const struct ir_class *class);

/* Calls of operators, in lower_operator.c. */
bool operator_is_known(const char *name);
/* These append the operators of a call, of `a + b` or `a * b`. */
bool template_call(struct template *template, const struct ast *call,
		   uint32_t *value);
bool template_binary(struct template *template, const struct ast *binary,
		     uint32_t *value);

/* Axes and extents, in lower_extent.c. */

/* The axis called so, made on first use; IR_NONE after a report. */
uint32_t template_axis(struct template *template, const char *name,
		       struct span span);
/* A sum of products of axes and integers, in normal form. */
bool template_extent(struct template *template, const struct ast *expression,
		     struct ir_extent *extent);

/* The finished class, in lower_needed.c and lower_parameters.c. */

/* Copies what the result needs into the class, with new numbers. */
void template_keep_needed(struct template *template, struct ir_class *class);
/* Fills the class's numbers of parameters; false, reported, beyond SIZE_MAX_EXACT. */
bool class_count_parameters(struct lower *lower, struct ir_class *class);

#endif

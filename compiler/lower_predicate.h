/* SPDX-License-Identifier: MIT
 *
 * Inside the lowering of requirements and objectives: a stack program under
 * construction, and what its parts are. Only the lower_*.c files include this. What
 * returns bool reports what is wrong itself and returns false then.
 */
#ifndef NEST_COMPILER_LOWER_PREDICATE_H
#define NEST_COMPILER_LOWER_PREDICATE_H

#include "compiler/lower.h"

/* Steps of one requirement. */
#define PREDICATE_STEPS_MAX 16384

/* What a part of a requirement is. */
enum operand_kind {
	OPERAND_NUMBER,
	OPERAND_BOOLEAN,
	OPERAND_CHOICE,		/* a plan variable whose values are symbols */
	OPERAND_SYMBOL,		/* a symbol, its number still unknown */
};

struct operand {
	enum operand_kind kind;
	struct span span;
	struct unit unit;		/* NUMBER */
	enum plan_variable variable;	/* CHOICE */
	const char *symbol;		/* SYMBOL */
	size_t step;			/* SYMBOL: the constant to fill in */
	bool is_zero;			/* the constant 0, which fits every unit */
};

/* A program under construction. */
struct predicate_builder {
	struct lower *lower;
	VEC(struct predicate_step) step;
	uint32_t depth;			/* numbers on the stack now */
	bool needs_outcome;
};

/* Appends the steps of an expression, which leave one number. */
bool predicate_compile(struct predicate_builder *builder,
		       const struct ast *expression, struct operand *operand);
/* Appends one step; false, reported at span, when the program gets too long. */
bool predicate_push(struct predicate_builder *builder, struct span span,
		    struct predicate_step step);
/* A step that takes what it needs from the stack. */
bool predicate_push_op(struct predicate_builder *builder, struct span span,
		       enum predicate_op op);
/* A step that puts a constant there. */
bool predicate_push_number(struct predicate_builder *builder, struct span span,
			   double number);
/* The finished program; `source` is the requirement it belongs to. */
struct predicate predicate_finish(const struct predicate_builder *builder,
				  uint32_t source);

/* ---- operands, in lower_operand.c ---- */

/* What a constant is, and its number (NaN for a symbol). False, without a report,
 * for a value that cannot stand in a requirement. */
bool operand_of_value(const struct value *value, struct operand *operand,
		      double *number);
/* "a size", "true or false", "the word 'full'". */
const char *operand_describe(struct predicate_builder *builder,
			     const struct operand *operand);
/* Reports that something else is wanted; false. */
bool operand_error(struct predicate_builder *builder,
		   const struct operand *operand, const char *wanted);
/* These demand something of what was compiled last. */
bool operand_want_number(struct predicate_builder *builder,
			 const struct operand *operand);
bool operand_want_truth(struct predicate_builder *builder, struct operand *operand);
/* Both numbers of one dimension; a constant 0 fits any. */
bool operand_same_unit(struct predicate_builder *builder, const struct ast *binary,
		       struct operand *left, struct operand *right);
/* == and != of any two alike; order only of numbers. */
bool operand_check_comparison(struct predicate_builder *builder,
			      const struct ast *binary, enum predicate_op op,
			      struct operand *left, struct operand *right);
/* Checks both sides of an operator and leaves in *left what the result is. */
bool operand_check_binary(struct predicate_builder *builder,
			  const struct ast *binary, enum predicate_op op,
			  struct operand *left, struct operand *right);

/* ---- what has no instruction, in lower_predicate_unfold.c ---- */

/* `x in {a, b}` and `x in a .. b`. */
bool predicate_unfold_in(struct predicate_builder *builder,
			 const struct ast *binary, struct operand *operand);
bool predicate_unfold_if(struct predicate_builder *builder,
			 const struct ast *choice, struct operand *operand);
/* min (least) or max of two. */
bool predicate_unfold_extreme(struct predicate_builder *builder,
			      const struct ast *call, bool least,
			      struct operand *operand);
/* floor (down) or ceil. */
bool predicate_unfold_rounded(struct predicate_builder *builder,
			      const struct ast *call, bool down,
			      struct operand *operand);

#endif

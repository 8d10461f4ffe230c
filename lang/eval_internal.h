/* SPDX-License-Identifier: MIT
 *
 * What the files of the evaluator share. Only eval*.c and builtin.c include this.
 */
#ifndef NEST_LANG_EVAL_INTERNAL_H
#define NEST_LANG_EVAL_INTERNAL_H

#include "lang/compilation.h"
#include "lang/eval.h"

/* Several steps at once: for work that grows with the size of a value. */
bool eval_steps(struct eval *eval, uint64_t steps, struct span span);

/* The value of a binding, evaluated now if it has not been. */
bool eval_binding(struct eval *eval, struct binding *binding, struct span span,
		  struct value *value);

/* The value of a name: of what declares it, or the word itself. */
bool eval_name(struct eval *eval, struct scope *scope,
	       const struct ast *expression, struct value *value);

/* A declaration that needs no argument is applied; any other value stays. */
bool eval_force(struct eval *eval, struct span span, struct value *value);

/* A plain whole number of a value already evaluated; the expression is where
 * it came from (its division is explained) and may be NULL. */
bool eval_whole(struct eval *eval, struct scope *scope,
		const struct ast *expression, const struct value *value,
		int64_t low, int64_t high, const char *what, int64_t *number);

/* Reports that a value has the wrong kind: "`what` must be `wanted`, and this
 * is a list"; says so of a plan variable in its own way. Returns false. */
bool eval_wrong_kind(struct eval *eval, const struct value *value,
		     struct span span, const char *what, const char *wanted);

/* What a loop runs over, and how many rounds that makes. False, reported, if it is
 * nothing to run over. */
bool eval_loop(struct eval *eval, struct scope *scope,
	       const struct ast *expression, struct value *range,
	       uint64_t *count);

/* Adds "write 80GiB" for a plain number that needs a unit. */
void eval_suggest_unit(struct eval *eval, const struct ast *expression,
		       const struct value *value, struct unit unit);

/* Adds "write it without the quotes" for a string that is a number with its
 * unit, or a word. */
void eval_suggest_unquoted(struct eval *eval, const struct ast *expression,
			   const struct value *value);

/* The parts of the evaluator, each for one kind of node. */
bool eval_call(struct eval *eval, struct scope *scope, const struct ast *call,
	       struct value *value);
bool eval_operator(struct eval *eval, struct scope *scope,
		   const struct ast *expression, struct value *value);
bool eval_with(struct eval *eval, struct scope *scope, const struct ast *with,
	       struct value *value);
bool eval_param(struct eval *eval, struct binding *binding,
		struct value *value);

/* Whether a value may be given to something declared with this type (an
 * AST_TYPE, or NULL for any); reports otherwise. An integer type demands a
 * whole number. */
bool eval_check_type(struct eval *eval, struct scope *scope,
		     const struct ast *type, const char *name,
		     const struct ast *expression, struct value *value);

/* The record of a declaration whose parameters are bound in `inside`; fields
 * evaluated so far are made visible in `visible`, which encloses it. */
bool eval_declaration_record(struct eval *eval, const struct ast *declaration,
			     struct scope *inside, struct scope *visible,
			     struct span span, struct value *value);

/* value->number of both operands brought to one unit; reports a mismatch at
 * the operator expression. */
bool eval_same_dimension(struct eval *eval, const struct ast *operator,
			 const struct ast *left_ast, struct value *left,
			 const struct ast *right_ast, struct value *right);

/* A finite number becomes *value; anything else is reported. */
bool eval_finish_number(struct eval *eval, double number, struct unit unit,
			struct span span, struct value *value);

/* Shows a value in the arena, for messages. */
const char *eval_show(struct eval *eval, const struct value *value);
const char *eval_describe(struct eval *eval, const struct value *value);
const char *eval_describe_unit(struct eval *eval, struct unit unit);
/* The text of an expression as written, shortened. */
const char *eval_source_text(struct eval *eval, struct span span);

#endif
